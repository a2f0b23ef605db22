package kbgate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"plimsoll/internal/statefile"
)

const (
	// maxLog is the size in bytes from which on the log is shortened to keepLines lines, at the start of a turn. Both
	// are the Bash original's.
	maxLog    = 512 << 10
	keepLines = 1000

	// keepState is how long a session may be silent before its state is taken for that of one that ended: older than
	// seven days in whole days, as the Bash original counts.
	keepState = 8 * 24 * time.Hour

	// maxName bounds the part of a file name that is made from a session's id, in bytes.
	maxName = 200

	// maxSmall bounds the files that hold one number or id, in bytes.
	maxSmall = 4096

	// maxPromptID bounds a prompt's id, in bytes. The client's have 36.
	maxPromptID = 256
)

// state is the files of one session in one project.
type state struct {
	root    string
	session string // fit for a file name
}

func stateOf(root, rawSession string) state { return state{root, SessionName(rawSession)} }

// SessionName is what files and the log call a session: its id with everything but A-Z, a-z, 0-9, dot, _ and - replaced by _, one for each character.
func SessionName(session string) string {
	if session == "" {
		return "unknown"
	}
	var b strings.Builder
	for _, r := range session {
		if b.Len() == maxName {
			break
		}
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-') {
			r = '_'
		}
		b.WriteByte(byte(r))
	}
	return b.String()
}

func (s state) dir() string { return filepath.Join(s.root, ".claude", ".kb-gate") }

// The endings of the files. Those of the Bash original are .turn, .queries and .denials.
const (
	turnExt    = ".turn"    // the turn's number
	promptExt  = ".prompt"  // the id of the prompt that began the turn
	queriesExt = ".queries" // a record for every search
	denialsExt = ".denials" // a record for every denial
	toldExt    = ".warned"  // a record for every kind of thing that the operator was told in a turn
	skillsExt  = ".skills"  // a later revision of the original; only swept here
)

func (s state) path(ext string) string { return filepath.Join(s.dir(), s.session+ext) }

// usable tells what is in the way of state in this project, if anything is. The folder must not be a symlink: the
// project may be somebody else's work, and old files in the folder are deleted.
func (s state) usable() error {
	info, err := os.Lstat(s.dir())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("use %s: %w", s.dir(), syscall.ENOTDIR)
	}
	return nil
}

// turn is the number of the turn; 0 before the first one and when the file holds no number.
func (s state) turn() int {
	data, err := statefile.Read(s.path(turnExt), maxSmall)
	if err != nil {
		return 0
	}
	n, _ := number(data)
	return n
}

// begin writes the number of a new turn and what prompt began it.
func (s state) begin(turn int, promptID string) error {
	if err := statefile.Replace(s.path(turnExt), append(strconv.AppendInt(nil, int64(turn), 10), '\n')); err != nil {
		return err
	}
	if promptID == "" {
		return nil
	}
	return statefile.Replace(s.path(promptExt), []byte(promptID+"\n"))
}

// sameTurn tells whether a prompt belongs to the turn that is on. Sub-agents that finish in the background arrive as
// prompts of the harness, with the id of the human's; clients that send no id are known by how such a prompt begins.
func (s state) sameTurn(promptID, prompt string) bool {
	if strings.HasPrefix(prompt, "<task-notification>") {
		return true
	}
	if promptID == "" {
		return false
	}
	data, err := statefile.Read(s.path(promptExt), maxSmall)
	return err == nil && string(bytes.TrimSuffix(data, []byte{'\n'})) == promptID
}

// searches counts the searches of a turn.
func (s state) searches(turn int) (int, error) {
	data, err := statefile.Read(s.path(queriesExt), statefile.MaxCounted)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	return countSearches(data, turn), nil
}

func (s state) addSearch(turn int, text string) error {
	return statefile.AppendRecord(s.path(queriesExt), searchRecord(turn, cut(text, maxQuery)))
}

// firstTold tells whether the operator hears of a kind of thing for the first time in a turn, and makes it known that
// he did. Of processes that ask at once one gets a yes. Without a record nobody does: the model hears of it anyway.
func (s state) firstTold(turn int, kind string) bool {
	record := append(strconv.AppendInt(nil, int64(turn), 10), '\t')
	record = append(append(record, kind...), '\n')
	path := s.path(toldExt)
	if data, err := statefile.Read(path, statefile.MaxCounted); err == nil && hasLine(data, record) {
		return false
	}
	content, end, err := statefile.AppendOwn(path, record)
	if err != nil {
		return false
	}
	earlier, ok := bytes.CutSuffix(content[:end], record)
	return ok && !hasLine(earlier, record)
}

func hasLine(records, line []byte) bool {
	return bytes.HasPrefix(records, line) || bytes.Contains(records, append([]byte{'\n'}, line...))
}

// sweep removes the state of sessions that ended long ago.
func (s state) sweep(now time.Time) {
	statefile.Prune(s.dir(), func(name string) bool {
		switch filepath.Ext(name) {
		case turnExt, promptExt, queriesExt, denialsExt, toldExt, skillsExt:
			return true
		}
		return strings.Contains(name, ".tmp") // a writer that was killed left it
	}, now.Add(-keepState))
}

func (s state) shortenLog() error {
	return statefile.KeepTail(LogPath(s.root), filepath.Join(s.dir(), "log"), maxLog, keepLines)
}

// cut returns the first bytes of s, at most n and whole characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
