package kblog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/internal/kbgate"
	"plimsoll/internal/rawjson"
)

// Transcripts is what transcripts of sessions say of the spawns in them. A transcript has every spawn of the main
// thread; one that the log lacks was never heard by the hook.
type Transcripts struct {
	Files     int       `json:"files"`
	Spawns    int       `json:"spawns"`
	Heard     int       `json:"heard"`
	Before    int       `json:"before_the_log"` // older than the oldest line of the log
	Elsewhere int       `json:"elsewhere"`      // made in a folder of another project, which has a log of its own
	Unheard   []Unheard `json:"unheard"`
}

// Unheard is a spawn that the log lacks.
type Unheard struct {
	Session   string    `json:"session"`
	At        time.Time `json:"at,omitzero"` // UTC
	AgentType string    `json:"agent_type"`
	ToolUseID string    `json:"tool_use_id"`
}

// compare finds the spawns of the log in transcripts. Paths are files, or folders of which the transcripts are taken
// that stand right in them: below are those of sub-agents, whose spawns the gate does not judge.
func compare(s Summary, h heard, session string, paths []string) (*Transcripts, error) {
	files, err := transcriptsIn(paths)
	if err != nil {
		return nil, err
	}
	t := &Transcripts{Files: len(files), Unheard: []Unheard{}}
	seen := map[string]bool{}         // a session that was resumed repeats its rows
	ours := map[string]bool{"": true} // by working directory
	for _, file := range files {
		err := eachLine(file, func(line []byte) {
			for _, sp := range spawnsOf(line) {
				name := kbgate.SessionName(sp.Session)
				if seen[sp.ToolUseID] || session != "" && name != session {
					continue
				}
				seen[sp.ToolUseID] = true
				t.Spawns++
				here, ok := ours[sp.cwd]
				if !ok {
					here = sameFolder(kbgate.Root(sp.cwd, s.Project), s.Project)
					ours[sp.cwd] = here
				}
				switch {
				case h.ids[sp.ToolUseID]:
					t.Heard++
				case !here:
					t.Elsewhere++
				case !s.First.IsZero() && !sp.At.IsZero() && sp.At.Before(s.First):
					t.Before++
				case h.without[name] > 0:
					h.without[name]--
					t.Heard++
				default:
					t.Unheard = append(t.Unheard, sp.Unheard)
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

func sameFolder(a, b string) bool {
	if a == b {
		return true
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

func transcriptsIn(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, err
		}
		n := len(files)
		for _, e := range entries {
			// agent-<id>.jsonl: clients up to 2.0 kept the sub-agents' beside the sessions'
			if !e.IsDir() && filepath.Ext(e.Name()) == ".jsonl" && !strings.HasPrefix(e.Name(), "agent-") {
				files = append(files, filepath.Join(path, e.Name()))
			}
		}
		if len(files) == n {
			return nil, fmt.Errorf("read %s: no transcript (*.jsonl) in it", path)
		}
	}
	return files, nil
}

type spawn struct {
	Unheard
	cwd string
}

// spawnsOf returns the spawns in one row of a transcript: calls of Agent, which was called Task before client 2.1.63, in
// the main thread.
func spawnsOf(line []byte) (spawns []spawn) {
	if !bytes.Contains(line, []byte(`"tool_use"`)) {
		return nil
	}
	row, err := rawjson.Parse(line)
	if err != nil || row.Get("type").TextOr("") != "assistant" || row.Get("isSidechain").Kind() == rawjson.True {
		return nil
	}
	for block := range row.Get("message").Get("content").Elements() {
		name := block.Get("name").TextOr("")
		if block.Get("type").TextOr("") != "tool_use" || name != "Agent" && name != "Task" {
			continue
		}
		sp := spawn{cwd: row.Get("cwd").TextOr("")}
		sp.Session = row.Get("sessionId").TextOr("")
		sp.ToolUseID = block.Get("id").TextOr("")
		sp.AgentType = block.Get("input").Get("subagent_type").TextOr("general-purpose")
		if at, err := time.Parse(time.RFC3339, row.Get("timestamp").TextOr("")); err == nil {
			sp.At = at.UTC().Truncate(time.Second) // the log's precision
		}
		spawns = append(spawns, sp)
	}
	return spawns
}
