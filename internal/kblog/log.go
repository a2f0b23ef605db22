package kblog

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"plimsoll/internal/harness"
	"plimsoll/internal/kbgate"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/statefile"
)

// maxLine bounds a line of a transcript, in bytes. Rows of hundreds of kilobytes are common.
const maxLine = 64 << 20

// Summary is what a project's log adds up to.
type Summary struct {
	Project string    `json:"project"`
	First   time.Time `json:"first,omitzero"` // UTC, of the oldest line that is kept
	Last    time.Time `json:"last,omitzero"`

	Sessions         int     `json:"sessions"`
	Turns            int     `json:"turns"`    // begun within the log
	Searches         int     `json:"searches"` // that count for a turn
	SearchesPerTurn  float64 `json:"searches_per_turn"`
	SearchesInAgents int     `json:"searches_in_subagents"` // inside sub-agents; they count for no turn
	SearchesLost     int     `json:"searches_lost"`         // that could not be recorded
	Spawns           Spawns  `json:"spawns"`
	Briefings        int     `json:"briefings"`
	BadLines         int     `json:"unreadable_lines"`

	Transcripts *Transcripts `json:"transcripts,omitempty"` // nil when none were given
}

// Spawns counts the starts of sub-agents that the hook heard, by what became of them.
type Spawns struct {
	Total     int            `json:"total"`
	Satisfied int            `json:"satisfied"`
	Warned    int            `json:"warned"`
	Observed  int            `json:"observed"`
	Denied    int            `json:"denied"`
	Released  map[string]int `json:"released"` // would have been denied; by reason
	Skipped   map[string]int `json:"skipped"`  // not judged; by reason
}

// heard is the spawns of the log, to be found again in transcripts.
type heard struct {
	ids     map[string]bool // by the id of the call
	without map[string]int  // by session; lines of the Bash original have no id
}

// The bounds of a log, in bytes. The gate cuts its log down from 512 KiB on and keeps its lines below 4 KiB; the Bash
// original logs whole queries, and its first versions let the log grow.
const (
	maxLogFile = 64 << 20
	maxLogLine = 1 << 20
)

// Line is one line of a log. docs/kb-gate.md has its members.
type Line struct {
	At         time.Time // zero when the line has none
	Session    string    // as kbgate.SessionName makes it
	Event      string
	Phase      string
	Decision   string
	SkipReason string
	ToolUseID  string
	Satisfied  bool // the knowledge base was searched, and the prompt carried what was found
}

// Each calls f for every line of the log of the project at root, in the log's order. Lines that cannot be read are
// counted. The log is streamed.
func Each(root string, f func(Line)) (bad int, err error) {
	long, err := statefile.EachLine(kbgate.LogPath(root), maxLogFile, maxLogLine, func(line []byte) {
		row, err := rawjson.Parse(line)
		if err != nil || row.Kind() != rawjson.Object {
			bad++
			return
		}
		text := func(key string) string { return row.Get(key).TextOr("") }
		l := Line{
			Session: text("session"), Event: text("event"), Phase: text("phase"), Decision: text("decision"),
			SkipReason: text("skip_reason"), ToolUseID: text("tool_use_id"), Satisfied: row.Get("satisfied").Kind() == rawjson.True,
		}
		if at, err := time.Parse(time.RFC3339, text("ts")); err == nil {
			l.At = at
		}
		f(l)
	})
	return bad + long, err
}

// IsSpawn tells whether a line is about the start of a sub-agent. A later revision of the Bash original judges other
// calls too and writes them down with a phase of their own.
func (l Line) IsSpawn() bool {
	return l.Event == harness.PreToolUse && (l.Phase == "" || l.Phase == "discovery")
}

// IsSearch tells whether a line is a search that counts for a turn.
func (l Line) IsSearch() bool { return l.Decision == "recorded" }

// IsTurn tells whether a line begins a turn.
func (l Line) IsTurn() bool { return l.Decision == "turn_start" }

// Complied tells whether a line is a start that passed because it had its lookup, and not by a release.
func (l Line) Complied() bool { return l.IsSpawn() && l.Satisfied }

// Verdict is what the decision log has of a line, in that log's words; silent is what it does not have.
func (l Line) Verdict() (decision harness.Decision, why string) {
	switch {
	case l.Decision == "briefed":
		return harness.Note, l.Decision
	case l.Decision == "skip" && l.SkipReason == "search_unwritable":
		return harness.FailOpen, l.SkipReason
	case !l.IsSpawn():
	case l.SkipReason == "budget_unwritable" || l.SkipReason == "budget_unreadable":
		return harness.FailOpen, l.SkipReason
	case strings.HasPrefix(l.SkipReason, "budget_"):
		return harness.Release, l.SkipReason
	case l.Decision == "deny":
		return harness.Denial, ""
	case l.Decision == "warn":
		return harness.Note, ""
	}
	return harness.Silent, ""
}

// read adds up the log of the project at root. A log that does not exist is empty.
func read(root, session string) (Summary, heard, error) {
	s := Summary{Project: root, Spawns: NewSpawns()}
	h := heard{map[string]bool{}, map[string]int{}}
	sessions := map[string]bool{}
	bad, err := Each(root, func(l Line) {
		if session != "" && l.Session != session {
			return
		}
		if !l.At.IsZero() && (s.First.IsZero() || l.At.Before(s.First)) {
			s.First = l.At
		}
		if l.At.After(s.Last) {
			s.Last = l.At
		}
		sessions[l.Session] = true
		s.count(l)
		if l.IsSpawn() {
			if l.ToolUseID != "" {
				h.ids[l.ToolUseID] = true
			} else {
				h.without[l.Session]++
			}
		}
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	s.BadLines = bad
	s.Sessions = len(sessions)
	if s.Turns > 0 {
		s.SearchesPerTurn = float64(s.Searches) / float64(s.Turns)
	}
	return s, h, err
}

func (s *Summary) count(l Line) {
	switch {
	case l.IsSpawn():
		s.Spawns.Count(l)
	case l.IsTurn():
		s.Turns++
	case l.IsSearch():
		s.Searches++
	case l.Decision == "briefed":
		s.Briefings++
	case l.Decision == "skip" && l.SkipReason == "search_unwritable":
		s.SearchesLost++
	case l.Decision == "skip" && l.Event == harness.PostToolUse:
		s.SearchesInAgents++
	}
}

// NewSpawns is nothing counted yet.
func NewSpawns() Spawns { return Spawns{Released: map[string]int{}, Skipped: map[string]int{}} }

// Count adds the start that a line is about.
func (s *Spawns) Count(l Line) {
	s.Total++
	switch why := l.SkipReason; {
	case strings.HasPrefix(why, "budget_"):
		s.Released[why]++
	case l.Decision == "skip":
		s.Skipped[why]++
	case l.Decision == "allow":
		s.Satisfied++
	case l.Decision == "warn":
		s.Warned++
	case l.Decision == "observe":
		s.Observed++
	case l.Decision == "deny":
		s.Denied++
	}
}

// eachLine calls f for every line of a file that is not empty.
func eachLine(path string, f func(line []byte)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() {
		if len(lines.Bytes()) > 0 {
			f(lines.Bytes())
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}
