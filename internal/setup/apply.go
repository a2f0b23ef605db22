package setup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"plimsoll/internal/config"
	"plimsoll/internal/settings/edit"
	"plimsoll/internal/statefile"
)

// entry remembers what setup did to one file, so that uninstall can give the very bytes of before back.
type entry struct {
	Path    string `json:"path"`
	Created bool   `json:"created"`          // there was no file before
	Backup  string `json:"backup,omitempty"` // where the bytes of before are
	Before  string `json:"before_sha256,omitempty"`
	After   string `json:"after_sha256"`
	Mixed   bool   `json:"mixed,omitempty"` // the file was edited between two setups: its backup is no way back
}

// recordFile is where the entries are kept.
func recordFile(home string) string { return filepath.Join(config.PathsIn(home).Root(), "setup.json") }

type record struct {
	Schema string  `json:"schema"`
	Files  []entry `json:"files"`
}

const recordSchema = "plimsoll-setup/v1"

// loadRecord reads the record; none is an empty one.
func loadRecord(home string) ([]entry, error) {
	data, err := statefile.Read(recordFile(home), maxSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var r record
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return nil, fmt.Errorf("read the record of earlier setups: %w", err)
	}
	return r.Files, nil
}

func saveRecord(home string, files []entry, step func(string) error) error {
	if len(files) == 0 {
		err := os.Remove(recordFile(home))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	data, err := json.MarshalIndent(record{recordSchema, files}, "", "  ")
	if err != nil {
		return err
	}
	return statefile.ReplaceDurable(recordFile(home), append(data, '\n'), statefile.FileMode, step)
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// remember works out what the record will say of each changed file.
func (p *Plan) remember(home string) error {
	old, err := loadRecord(home)
	if err != nil {
		return err
	}
	p.keep = old
	for _, c := range p.Changes {
		e := entry{Path: c.Path, Created: c.Before == nil, After: hash(c.After)}
		if !e.Created {
			e.Before = hash(c.Before)
		}
		i := indexOf(p.keep, c.Path)
		switch {
		case i < 0:
			p.keep = append(p.keep, e)
			continue
		case p.keep[i].After == e.Before:
			// Nobody came between: the way back leads to the bytes before the first setup.
			p.keep[i].After = e.After
		default:
			e.Mixed = true
			p.keep[i] = e
		}
	}
	return nil
}

func indexOf(files []entry, path string) int {
	for i, e := range files {
		if e.Path == path {
			return i
		}
	}
	return -1
}

// ErrChanged reports a file that somebody wrote between the plan and its application.
var ErrChanged = errors.New("the file was changed meanwhile; nothing was written to it")

// Applier carries a plan out.
type Applier struct {
	Home string
	Now  time.Time
	Step func(stage string) error // tests stop the work at a stage; nil in use
}

// Apply writes every change: first the backup, then the record, then the file itself, each durable before the next.
// After an interruption at any moment every file is whole, and uninstall finds its way back. It returns the backups.
func (a Applier) Apply(p Plan) (backups []string, err error) {
	for _, c := range p.Changes {
		if err := unchanged(c); err != nil {
			return backups, err
		}
	}
	if p.undo {
		return nil, a.undo(p)
	}
	for _, c := range p.Changes {
		i := indexOf(p.keep, c.Path)
		if c.Before == nil || i < 0 || p.keep[i].Backup != "" {
			continue
		}
		backup, err := a.backUp(c)
		if err != nil {
			return backups, fmt.Errorf("back up %s: %w", c.Target, err)
		}
		p.keep[i].Backup = backup
		backups = append(backups, backup)
	}
	if err := saveRecord(a.Home, p.keep, a.Step); err != nil {
		return backups, fmt.Errorf("write the record: %w", err)
	}
	return backups, a.writeAll(p)
}

func (a Applier) writeAll(p Plan) error {
	for _, c := range p.Changes {
		// Again, and as late as can be: the client writes its settings too.
		if err := unchanged(c); err != nil {
			return err
		}
		if err := a.write(c); err != nil {
			return fmt.Errorf("write %s: %w", c.Target, err)
		}
	}
	return nil
}

// undo writes the files first and forgets the record last, so that an interrupted uninstall can be run again. The
// backups whose bytes are in their place again are removed.
func (a Applier) undo(p Plan) error {
	if err := a.writeAll(p); err != nil {
		return err
	}
	if err := saveRecord(a.Home, nil, a.Step); err != nil {
		return fmt.Errorf("remove the record: %w", err)
	}
	for _, path := range p.spent {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func unchanged(c Change) error {
	now, err := statefile.Read(c.Target, maxSettings)
	if errors.Is(err, fs.ErrNotExist) {
		now, err = nil, nil
	} else if err == nil && now == nil {
		now = []byte{}
	}
	if err != nil {
		return err
	}
	if !bytes.Equal(now, c.Before) || (now == nil) != (c.Before == nil) {
		return fmt.Errorf("%s: %w", c.Path, ErrChanged)
	}
	return nil
}

func (a Applier) backUp(c Change) (string, error) {
	name := backupName(c.Target, a.Now)
	for n := 2; ; n++ {
		_, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return "", err
		}
		name = fmt.Sprintf("%s-%d", backupName(c.Target, a.Now), n)
	}
	return name, statefile.ReplaceDurable(name, c.Before, c.Mode, a.Step)
}

func (a Applier) write(c Change) error {
	if c.After != nil {
		return statefile.ReplaceDurable(c.Target, c.After, c.Mode, a.Step)
	}
	if a.Step != nil {
		if err := a.Step("remove"); err != nil {
			return err
		}
	}
	return os.Remove(c.Target)
}

// Undo plans an uninstall: the bytes of before where nothing else changed since, and otherwise the removal of what is
// ours, with a note on what stays.
func Undo(o Options) (Plan, error) {
	home := o.Env.Home()
	if home == "" {
		return Plan{}, errors.New("find the home folder: HOME is not set to an absolute path")
	}
	entries, err := loadRecord(home)
	if err != nil {
		return Plan{}, err
	}
	var d draft
	var spent []string
	for _, e := range entries {
		c, err := d.open(e.Path, statefile.FileMode)
		if err != nil {
			return Plan{}, err
		}
		if c.Before == nil {
			d.note("%s is gone already", e.Path)
			continue
		}
		if back, ok := wayBack(e, c.Before); ok {
			c.After = back
			if e.Backup != "" {
				spent = append(spent, e.Backup)
			}
			continue
		}
		if err := d.edit(e.Path, statefile.FileMode, func(data []byte) ([]byte, error) { return d.takeOut(o, e.Path, data) }); err != nil {
			return Plan{}, err
		}
		if bytes.Equal(c.Before, c.After) {
			d.note("%s is left as it is: it changed since setup, and nothing in it is Plimsoll's alone", e.Path)
		} else {
			d.note("%s changed since setup: only Plimsoll's parts are taken out, the rest stays", e.Path)
		}
	}
	// What an earlier record does not know: the files of the scope that was asked for.
	path, err := SettingsPath(o)
	if err != nil {
		return Plan{}, err
	}
	if _, known := d.files[path]; !known {
		if _, err := os.Lstat(path); err == nil {
			if err := d.edit(path, statefile.FileMode, func(data []byte) ([]byte, error) { return d.takeOut(o, path, data) }); err != nil {
				return Plan{}, err
			}
		}
	}
	plan := d.finish()
	plan.undo, plan.spent = true, spent
	return plan, nil
}

// wayBack returns the bytes before setup when the file is just as setup left it; nil bytes when there was no file.
func wayBack(e entry, now []byte) ([]byte, bool) {
	if e.Mixed || hash(now) != e.After {
		return nil, false
	}
	if e.Created {
		return nil, true
	}
	before, err := statefile.Read(e.Backup, maxSettings)
	if err != nil || hash(before) != e.Before {
		return nil, false
	}
	if before == nil {
		before = []byte{}
	}
	return before, true
}

// takeOut removes what is recognisably ours from a file.
func (d *draft) takeOut(o Options, path string, data []byte) ([]byte, error) {
	doc, err := edit.Parse(data)
	if err != nil {
		return nil, err
	}
	switch {
	case doc.Value("hooks") != nil || doc.Value("statusLine") != nil:
		if err := checkHooks(data); err != nil {
			return nil, err
		}
		if data, err = unwireHooks(data); err != nil {
			return nil, err
		}
		out, renderer, was, err := unwireStatusline(data)
		if was && renderer != "" {
			d.note("the status line of %s is %q again", path, renderer)
		}
		return out, err
	case doc.Value("mcpServers") != nil || doc.Value("projects") != nil:
		_, _, at := serverPath(o)
		for _, p := range [][]string{at, {"mcpServers", serverName}} {
			if v := doc.Value(p...); ourServer(v) {
				if data, err = edit.Remove(data, p...); err != nil {
					return nil, err
				}
				return removeEmpty(data, p[:len(p)-1]...)
			}
		}
	}
	return data, nil
}
