// Package setup wires Plimsoll into Claude Code's settings and takes it out again. It plans first: a plan is the bytes
// of every file before and after, so that what is shown, what is asked and what is done are one thing. Nothing that is
// not ours is changed by a byte.
package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"plimsoll/internal/config"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/settings"
	"plimsoll/internal/settings/edit"
	"plimsoll/internal/snapshot"
	"plimsoll/internal/statefile"
	"plimsoll/internal/zone"
)

// What to do with the status line.
const (
	Wrap = "wrap" // ours in front of what is there, or alone where nothing is
	Own  = "own"  // ours in place of what is there
	None = "none" // leave it
)

// Parts of the wiring for Options.Only.
const (
	OnlyHooks      = "hooks"
	OnlyStatusline = "statusline"
	OnlyKB         = "kb"
)

// Options say what to wire, and where.
type Options struct {
	Scope      settings.Scope // User, Project or Local
	Project    string         // the project's folder
	Env        config.Env
	Hook       string // absolute path of plimsoll-hook
	Tool       string // absolute path of plimsoll, for the knowledge-base server
	Only       string // one part alone; "": all
	Statusline string // Wrap, Own or None
	Zones      string // config.Advisory or config.Blocking; "": leave
	KB         string // a mode of the KB gate; "": leave
	KBServer   bool
}

// Change is one file before and after. Before is nil when the file does not exist; After is nil when it goes.
type Change struct {
	Path          string // as the client finds it
	Target        string // what is written: the end of symlinks
	Before, After []byte
	Mode          fs.FileMode
}

// Plan is everything that a setup or an uninstall does.
type Plan struct {
	Changes []Change
	Notes   []string // what a person should know besides the diff

	keep  []entry  // the record as it will be
	undo  bool     // this takes an earlier setup back
	spent []string // backups that are not needed after it
}

// Empty tells whether there is nothing to do.
func (p Plan) Empty() bool { return len(p.Changes) == 0 }

// Diff shows every change, byte for byte, as a unified diff.
func (p Plan) Diff() string {
	var b strings.Builder
	for _, c := range p.Changes {
		from, to := c.Path, c.Path
		if c.Before == nil {
			from = os.DevNull
		}
		if c.After == nil {
			to = os.DevNull
		}
		b.WriteString(udiff.Unified(from, to, string(c.Before), string(c.After)))
	}
	return b.String()
}

// maxSettings bounds a file that is edited, in bytes.
const maxSettings = 16 << 20

// draft collects the edits of one setup, file by file.
type draft struct {
	plan  Plan
	files map[string]*Change
	order []string
}

// open returns the draft of a file, reading it at first.
func (d *draft) open(path string, mode fs.FileMode) (*Change, error) {
	if c, ok := d.files[path]; ok {
		return c, nil
	}
	c, err := read(path, mode)
	if err != nil {
		return nil, err
	}
	if d.files == nil {
		d.files = map[string]*Change{}
	}
	d.files[path] = c
	d.order = append(d.order, path)
	return c, nil
}

func read(path string, mode fs.FileMode) (*Change, error) {
	c := &Change{Path: path, Target: path, Mode: mode}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", path, err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if c.Target, err = filepath.EvalSymlinks(path); err != nil {
			return nil, fmt.Errorf("follow %s: %w", path, err)
		}
		if info, err = os.Stat(c.Target); err != nil {
			return nil, fmt.Errorf("look at %s: %w", c.Target, err)
		}
	}
	if info.Mode().IsRegular() && info.Mode().Perm()&0o200 == 0 {
		return nil, fmt.Errorf("edit %s: the file is read-only", c.Target)
	}
	c.Mode = info.Mode().Perm()
	if c.Before, err = statefile.Read(c.Target, maxSettings); err != nil {
		return nil, err
	}
	if c.Before == nil {
		c.Before = []byte{}
	}
	c.After = c.Before
	return c, nil
}

// edit applies a change to the file at path. An error names the file.
func (d *draft) edit(path string, mode fs.FileMode, change func(data []byte) ([]byte, error)) error {
	c, err := d.open(path, mode)
	if err != nil {
		return err
	}
	after, err := change(c.After)
	if err != nil {
		return fmt.Errorf("edit %s: %w", path, err)
	}
	c.After = after
	return nil
}

func (d *draft) note(format string, args ...any) {
	d.plan.Notes = append(d.plan.Notes, fmt.Sprintf(format, args...))
}

// finish leaves out the files that nothing is changed in.
func (d *draft) finish() Plan {
	for _, path := range d.order {
		c := d.files[path]
		if !bytes.Equal(c.Before, c.After) || c.Before == nil && c.After != nil {
			d.plan.Changes = append(d.plan.Changes, *c)
		}
	}
	return d.plan
}

// Modes of files that setup makes: settings may hold secrets in their env, a project's files are everybody's.
func fileMode(scope settings.Scope) fs.FileMode {
	if scope == settings.Project {
		return 0o644
	}
	return statefile.FileMode
}

// SettingsPath is the settings file of a scope.
func SettingsPath(o Options) (string, error) {
	switch o.Scope {
	case settings.User:
		if dir := settings.ConfigDir(o.Env); dir != "" {
			return filepath.Join(dir, "settings.json"), nil
		}
		return "", errors.New("find the user settings: neither CLAUDE_CONFIG_DIR nor HOME is set")
	case settings.Project:
		return filepath.Join(o.Project, ".claude", "settings.json"), nil
	case settings.Local:
		return filepath.Join(o.Project, ".claude", "settings.local.json"), nil
	}
	return "", fmt.Errorf("unknown scope %q", o.Scope)
}

// Make plans a setup. It reads and never writes.
func Make(o Options) (Plan, error) {
	home := o.Env.Home()
	if home == "" {
		return Plan{}, errors.New("find the home folder: HOME is not set to an absolute path")
	}
	path, err := SettingsPath(o)
	if err != nil {
		return Plan{}, err
	}
	var d draft
	cfg := config.Load(o.Env)
	kb := cfg.KB
	if o.Scope != settings.User {
		kb = cfg.KBFor(o.Project, o.Env)
	}
	part := func(name string) bool { return o.Only == "" || o.Only == name }
	if part(OnlyHooks) {
		if plugin, _ := settings.EnabledPlugin(settings.Load(o.Env, o.Project)); plugin != "" {
			d.note("the plugin %s is enabled and registers the hooks; a second registration would run every rule twice, so none is written", plugin)
		} else if err := d.edit(path, fileMode(o.Scope), func(data []byte) ([]byte, error) { return wireHooks(data, o.Hook, kb) }); err != nil {
			return Plan{}, err
		}
	}
	if part(OnlyStatusline) && o.Statusline != None {
		if err := d.edit(path, fileMode(o.Scope), func(data []byte) ([]byte, error) {
			out, c, err := wireStatusline(data, o.Hook, o.Statusline)
			if err == nil && c.Renderer != "" {
				d.note("the status line %q goes on drawing; Plimsoll reads along", c.Renderer)
			}
			return out, err
		}); err != nil {
			return Plan{}, err
		}
		if shadow := shadowing(o, path); shadow != "" {
			d.note("%s has a statusLine of its own, which wins over this one", shadow)
		}
	}
	if o.Only == "" {
		store, _ := snapshot.In(home)
		if err := d.edit(store.ZonesPath(), statefile.FileMode, seedZones); err != nil {
			return Plan{}, err
		}
	}
	userFile := config.PathsIn(home).Config()
	if o.Zones != "" && o.Only != OnlyKB {
		if err := d.edit(userFile, statefile.FileMode, setter(o.Zones, "zones", "mode")); err != nil {
			return Plan{}, err
		}
	}
	if o.KB != "" && (o.Only == "" || o.Only == OnlyKB) {
		kbFile, mode := userFile, statefile.FileMode
		if o.Scope == settings.Project {
			kbFile, mode = config.ProjectPath(o.Project), fileMode(o.Scope)
		}
		if err := d.edit(kbFile, mode, setter(o.KB, "kb", "mode")); err != nil {
			return Plan{}, err
		}
	}
	if o.KBServer && (o.Only == "" || o.Only == OnlyKB) {
		serverFile, mode, at := serverPath(o)
		if err := d.edit(serverFile, mode, setServer(o.Tool, at)); err != nil {
			return Plan{}, err
		}
	}
	plan := d.finish()
	return plan, plan.remember(home)
}

// setter puts one value, unless it stands there already.
func setter(value any, path ...string) func([]byte) ([]byte, error) {
	return func(data []byte) ([]byte, error) {
		d, err := edit.Parse(data)
		if err != nil {
			return nil, err
		}
		if len(data) > 0 && edit.Same(d.Value(path...), value) {
			return data, nil
		}
		return edit.Set(data, value, path...)
	}
}

// server is an entry of an mcpServers object.
type server struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// serverName is what the KB gate's default search tool, mcp__plimsoll__query, is named after.
const serverName = "plimsoll"

func serverOf(tool string) server { return server{"stdio", tool, []string{"kb", "serve"}} }

// serverPath is the file that holds a scope's MCP servers, and the path of keys to ours in it.
func serverPath(o Options) (path string, mode fs.FileMode, at []string) {
	if o.Scope == settings.Project {
		return filepath.Join(o.Project, ".mcp.json"), fileMode(o.Scope), []string{"mcpServers", serverName}
	}
	path = filepath.Join(o.Env.Home(), ".claude.json")
	if dir := o.Env.Get("CLAUDE_CONFIG_DIR"); dir != "" {
		path = filepath.Join(dir, ".claude.json")
	}
	if o.Scope == settings.Local {
		return path, statefile.FileMode, []string{"projects", o.Project, "mcpServers", serverName}
	}
	return path, statefile.FileMode, []string{"mcpServers", serverName}
}

func setServer(tool string, at []string) func([]byte) ([]byte, error) {
	return func(data []byte) ([]byte, error) {
		d, err := edit.Parse(data)
		if err != nil {
			return nil, err
		}
		if there := d.Value(at...); there != nil && !edit.Same(there, serverOf(tool)) && !ourServer(there) {
			return nil, d.Refuse(at, "an MCP server named %s that is not Plimsoll's stands here", serverName)
		}
		return setter(serverOf(tool), at...)(data)
	}
}

// ourServer recognises an entry that runs our knowledge base, wherever the tool is installed.
func ourServer(v rawjson.Value) bool {
	base := filepath.Base(strings.ReplaceAll(v.Get("command").TextOr(""), `\`, "/"))
	return strings.TrimSuffix(base, ".exe") == "plimsoll" && string(v.Get("args").AppendCompact(nil)) == `["kb","serve"]`
}

// seedZones writes the shipped bands where none are or where they are not valid; what is valid stays, and so does every
// key that is not ours.
func seedZones(data []byte) ([]byte, error) {
	def, have := zone.Default(), zone.ParseBands(data)
	d, err := edit.Parse(data)
	if err != nil {
		return nil, err
	}
	set := func(key string, value any) {
		if err == nil {
			data, err = edit.Set(data, value, key)
		}
	}
	if have.PercentOrigin != zone.Tuned {
		set("smart_max_used_percentage", def.Percent.SmartMax)
		set("acceptable_max_used_percentage", def.Percent.AcceptableMax)
	}
	if d.Value("token_bands") == nil || have.TokensOrigin == zone.Malformed {
		rows := map[string]tokenRow{}
		for _, r := range def.Tokens {
			rows[strconv.FormatFloat(r.Class, 'f', -1, 64)] = tokenRow{r.SmartMax, r.AcceptableMax}
		}
		set("token_bands", rows)
	}
	return data, err
}

type tokenRow struct {
	Smart      float64 `json:"smart_max_tokens"`
	Acceptable float64 `json:"acceptable_max_tokens"`
}

// shadowing is the settings file whose statusLine wins over the one at path.
func shadowing(o Options, path string) string {
	for _, f := range settings.Load(o.Env, o.Project) {
		if f.Path == path {
			return ""
		}
		if line := f.Root.Get("statusLine"); line.Kind() == rawjson.Object {
			return f.Path
		}
	}
	return ""
}

// backupName is where the bytes of before are kept.
func backupName(target string, now time.Time) string {
	return target + ".plimsoll-" + now.UTC().Format("20060102T150405Z")
}

// Scopes lists the scopes that setup can write.
var scopes = []settings.Scope{settings.User, settings.Project, settings.Local}

// ParseScope reads a scope's name.
func ParseScope(s string) (settings.Scope, error) {
	if slices.Contains(scopes, settings.Scope(s)) {
		return settings.Scope(s), nil
	}
	return "", fmt.Errorf("unknown scope %q: user, project or local", s)
}
