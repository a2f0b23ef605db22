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
)

// maxLine bounds a line of a log or a transcript, in bytes. Transcript rows of hundreds of kilobytes are common.
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

// read adds up the log of the project at root. A log that does not exist is empty.
func read(root, session string) (Summary, heard, error) {
	s := Summary{Project: root, Spawns: Spawns{Released: map[string]int{}, Skipped: map[string]int{}}}
	h := heard{map[string]bool{}, map[string]int{}}
	sessions := map[string]bool{}
	err := eachLine(kbgate.LogPath(root), func(line []byte) {
		row, err := rawjson.Parse(line)
		if err != nil || row.Kind() != rawjson.Object {
			s.BadLines++
			return
		}
		name := row.Get("session").TextOr("")
		if session != "" && name != session {
			return
		}
		if at, err := time.Parse(time.RFC3339, row.Get("ts").TextOr("")); err == nil {
			if s.First.IsZero() || at.Before(s.First) {
				s.First = at
			}
			if at.After(s.Last) {
				s.Last = at
			}
		}
		sessions[name] = true
		s.count(row)
		if isSpawn(row) {
			if id := row.Get("tool_use_id").TextOr(""); id != "" {
				h.ids[id] = true
			} else {
				h.without[name]++
			}
		}
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	s.Sessions = len(sessions)
	if s.Turns > 0 {
		s.SearchesPerTurn = float64(s.Searches) / float64(s.Turns)
	}
	return s, h, err
}

// isSpawn tells whether a line is about the start of a sub-agent. A later revision of the Bash original judges other
// calls too and writes them down with a phase of their own.
func isSpawn(row rawjson.Value) bool {
	phase := row.Get("phase").TextOr("")
	return row.Get("event").TextOr("") == harness.PreToolUse && (phase == "" || phase == "discovery")
}

func (s *Summary) count(row rawjson.Value) {
	decision, why := row.Get("decision").TextOr(""), row.Get("skip_reason").TextOr("")
	if isSpawn(row) {
		s.Spawns.count(decision, why)
		return
	}
	switch {
	case decision == "turn_start":
		s.Turns++
	case decision == "recorded":
		s.Searches++
	case decision == "briefed":
		s.Briefings++
	case decision == "skip" && why == "search_unwritable":
		s.SearchesLost++
	case decision == "skip" && row.Get("event").TextOr("") == harness.PostToolUse:
		s.SearchesInAgents++
	}
}

func (s *Spawns) count(decision, why string) {
	s.Total++
	switch {
	case strings.HasPrefix(why, "budget_"):
		s.Released[why]++
	case decision == "skip":
		s.Skipped[why]++
	case decision == "allow":
		s.Satisfied++
	case decision == "warn":
		s.Warned++
	case decision == "observe":
		s.Observed++
	case decision == "deny":
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
