package kbgate

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/config"
	"plimsoll/internal/guard"
	"plimsoll/internal/harness"
)

// project is one project in which one session's hooks run.
type project struct {
	t       *testing.T
	root    string
	session string
	kb      config.KB
	now     time.Time
	extra   map[string]any // members that every payload gets
	asked   int            // how often the settings were read
	debug   []string
	decided []string // the decision log of the whole program
}

// inProject makes a git project with a knowledge base, in enforce mode.
func inProject(t *testing.T) *project {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{".git", ".claude/memories"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p := &project{t: t, root: root, session: "s1", kb: config.Default().KB, now: time.Date(2026, 9, 1, 8, 0, 0, 0, time.UTC)}
	p.mode(config.KBEnforce)
	return p
}

func (p *project) mode(mode string) { p.kb.Mode.V = mode }

// send answers one payload the way the hook does, and checks what holds for every answer.
func (p *project) send(payload map[string]any) string {
	p.t.Helper()
	full := map[string]any{"cwd": p.root, "session_id": p.session}
	for _, more := range []map[string]any{p.extra, payload} {
		for k, v := range more {
			full[k] = v
		}
	}
	data, err := json.Marshal(full)
	if err != nil {
		p.t.Fatal(err)
	}
	event, err := harness.Decode(data)
	if err != nil {
		p.t.Fatal(err)
	}
	var out bytes.Buffer
	guard.Guard{
		Rules: []guard.Rule{Rule(Gate{
			Settings: func(root string) config.KB {
				if p.asked++; root != p.root {
					p.t.Errorf("settings of %s are asked for", root)
				}
				return p.kb
			},
			Now:   func() time.Time { return p.now },
			Debug: func(err error) { p.debug = append(p.debug, err.Error()) },
		})},
		Now:   func() time.Time { return p.now },
		Log:   func(line []byte) { p.decided = append(p.decided, string(line)) },
		Debug: func(err error) { p.t.Errorf("guard: %v", err) },
	}.Handle(event, &out)
	answer := out.String()
	if answer != "" && (!json.Valid([]byte(answer)) || strings.Count(answer, "\n") != 1 || !strings.HasSuffix(answer, "\n")) {
		p.t.Errorf("an answer that is not one line of JSON: %q", answer)
	}
	return answer
}

func (p *project) prompt() string {
	return p.send(map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": "do it"})
}

func (p *project) promptID(id, text string) string {
	return p.send(map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": text, "prompt_id": id})
}

func (p *project) searchWith(input any) string {
	return p.use("mcp__memory-loop__query", input)
}

func (p *project) use(tool string, input any) string {
	return p.send(map[string]any{"hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": input, "tool_response": "x"})
}

func (p *project) search() string { return p.searchWith(map[string]any{"query": "how it works"}) }

func (p *project) spawnWith(input any) string {
	return p.send(map[string]any{"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": input, "tool_use_id": "toolu_1"})
}

func (p *project) bare() string {
	return p.spawnWith(map[string]any{"subagent_type": "Explore", "prompt": "Find the parser."})
}

func (p *project) primed() string {
	return p.spawnWith(map[string]any{"subagent_type": "Explore", "prompt": "KB context: nothing found.\nFind the parser."})
}

func (p *project) start(kind string) string {
	return p.send(map[string]any{"hook_event_name": "SubagentStart", "agent_id": "a1", "agent_type": kind})
}

func denied(answer string) bool { return strings.Contains(answer, `"permissionDecision":"deny"`) }

// path is a state file of the session.
func (p *project) path(ext string) string { return stateOf(p.root, p.session).path(ext) }

func (p *project) content(ext string) string {
	data, _ := os.ReadFile(p.path(ext))
	return string(data)
}

func (p *project) write(path, content string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// log returns the project's log, and fails on a line that is not JSON.
func (p *project) log() []map[string]any {
	p.t.Helper()
	data, err := os.ReadFile(LogPath(p.root))
	if err != nil {
		return nil
	}
	var lines []map[string]any
	for line := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n") {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			p.t.Errorf("log line %q: %v", line, err)
		}
		lines = append(lines, m)
	}
	return lines
}

// last is the last line of the log.
func (p *project) last() map[string]any {
	p.t.Helper()
	lines := p.log()
	if len(lines) == 0 {
		p.t.Fatal("the log is empty")
	}
	return lines[len(lines)-1]
}

// has checks members of the log's last line.
func (p *project) has(want map[string]any) {
	p.t.Helper()
	last := p.last()
	for k, v := range want {
		got := last[k]
		if f, ok := got.(float64); ok {
			got = int(f)
		}
		if got != v {
			p.t.Errorf("last log line: %s is %v, want %v; line %v", k, got, v, last)
		}
	}
}

// text is a member of an answer, wherever it stands.
func text(t *testing.T, answer, key string) string {
	t.Helper()
	if answer == "" {
		return ""
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(answer), &m); err != nil {
		t.Fatalf("answer %q: %v", answer, err)
	}
	if s, ok := m[key].(string); ok {
		return s
	}
	inner, _ := m["hookSpecificOutput"].(map[string]any)
	s, _ := inner[key].(string)
	return s
}

// files lists what stands below dir, folders left out.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
