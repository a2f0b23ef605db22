package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// hook is the built binary in a project with a knowledge base.
type hook struct {
	bin, home, root string
	mode            string // PLIMSOLL_KB_MODE; "" leaves it out
}

func inKB(t *testing.T) hook {
	t.Helper()
	return inProject(t, build(t, ""))
}

func inProject(t *testing.T, bin string) hook {
	t.Helper()
	h := hook{bin: bin, home: t.TempDir(), root: t.TempDir(), mode: "enforce"}
	for _, dir := range []string{".git", ".claude/memories", "sub"} {
		if err := os.MkdirAll(filepath.Join(h.root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// send runs one process on one payload. Every process exits with 0, whatever it answers.
func (h hook) send(t *testing.T, event, more string) string {
	t.Helper()
	cmd := exec.Command(h.bin)
	cmd.Env = []string{"HOME=" + h.home, "PLIMSOLL_DEBUG=" + filepath.Join(h.home, "debug.log")}
	if h.mode != "" {
		cmd.Env = append(cmd.Env, "PLIMSOLL_KB_MODE="+h.mode)
	}
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"s1","cwd":%q,"hook_event_name":%q,%s}`, filepath.Join(h.root, "sub"), event, more))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil || stderr.Len() > 0 {
		t.Errorf("%s: %v, stderr %q", event, err, &stderr)
	}
	return stdout.String()
}

func (h hook) bare(t *testing.T) bool {
	t.Helper()
	out := h.send(t, "PreToolUse", `"tool_name":"Agent","tool_input":{"subagent_type":"Explore","prompt":"Find it."}`)
	return strings.Contains(out, `"permissionDecision":"deny"`)
}

// fanOut starts n bare spawns at once and tells how many were denied.
func (h hook) fanOut(t *testing.T, n int) (denied int) {
	t.Helper()
	var wg sync.WaitGroup
	results := make([]bool, n)
	for i := range n {
		wg.Go(func() { results[i] = h.bare(t) })
	}
	wg.Wait()
	for _, d := range results {
		if d {
			denied++
		}
	}
	return denied
}

const search = `"tool_name":"mcp__plimsoll__query","tool_input":{"query":"how it works"},"tool_response":"none"`

// Of spawns that start at once, in real processes, exactly as many are denied as one budget has, and the racers that
// were let go have spent nothing of the next.
func TestBudgetsAreExactBetweenProcesses(t *testing.T) {
	h := inKB(t)
	h.send(t, "UserPromptSubmit", `"prompt":"go","prompt_id":"p1"`)
	if n := h.fanOut(t, 3); n != 3 {
		t.Fatalf("a fan-out of 3: %d denied", n)
	}
	h.send(t, "UserPromptSubmit", `"prompt":"go","prompt_id":"p2"`)
	if n := h.fanOut(t, 12); n != 4 {
		t.Errorf("12 at once: %d denied, want 4", n)
	}
	h.send(t, "PostToolUse", search)
	if !h.bare(t) {
		t.Error("after a search the next bare spawn is not denied")
	}
	h.send(t, "UserPromptSubmit", `"prompt":"go","prompt_id":"p3"`)
	for searches, want := range []int{4, 4, 0} {
		if n := h.fanOut(t, 12); n != want {
			t.Errorf("12 at once after %d searches in one turn: %d denied, want %d", searches, n, want)
		}
		h.send(t, "PostToolUse", search)
	}
	data, err := os.ReadFile(filepath.Join(h.root, ".claude", ".kb-gate.log"))
	if err != nil {
		t.Fatal(err)
	}
	decisions := map[any]int{}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n") {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Errorf("log line %q: %v", line, err)
		}
		if m["event"] == "PreToolUse" {
			decisions[m["decision"]]++
		}
	}
	if decisions["deny"] != 3+4+1+4+4 || decisions["allow"] != 8+8+8+12 {
		t.Errorf("the log counts %v", decisions)
	}
}

// Of notes that are due at once the operator gets one.
func TestTheOperatorHearsOnceBetweenProcesses(t *testing.T) {
	h := inKB(t)
	h.mode = ""
	h.send(t, "UserPromptSubmit", `"prompt":"go","prompt_id":"p1"`)
	var wg sync.WaitGroup
	answers := make([]string, 12)
	for i := range answers {
		wg.Go(func() {
			answers[i] = h.send(t, "PreToolUse", `"tool_name":"Agent","tool_input":{"subagent_type":"Plan","prompt":"x"}`)
		})
	}
	wg.Wait()
	model, operator := 0, 0
	for _, a := range answers {
		model += strings.Count(a, `"additionalContext"`)
		operator += strings.Count(a, `"systemMessage"`)
	}
	if model != 12 || operator != 1 {
		t.Errorf("12 notes in one turn: %d for the model, %d for the operator", model, operator)
	}
}

// The mode is the project's, the environment is over it, and off leaves no trace in the project.
func TestKBMode(t *testing.T) {
	bin := build(t, "")
	for _, c := range []struct {
		env, project string
		denies, logs bool
	}{
		{"", "", false, true},
		{"", "enforce", true, true},
		{"warn", "enforce", false, true},
		{" Enforce ", "off", true, true},
		{"off", "enforce", false, false},
		{"", "off", false, false},
		{"loud", "enforce", false, true},
	} {
		h := inProject(t, bin)
		h.mode = c.env
		if c.project != "" {
			if err := os.WriteFile(filepath.Join(h.root, ".claude", "plimsoll.json"), fmt.Appendf(nil, `{"kb":{"mode":%q}}`, c.project), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		h.send(t, "UserPromptSubmit", `"prompt":"go"`)
		denies := h.bare(t)
		_, err := os.Stat(filepath.Join(h.root, ".claude", ".kb-gate.log"))
		if logs := err == nil; denies != c.denies || logs != c.logs {
			t.Errorf("environment %q, project %q: denies %v, logs %v", c.env, c.project, denies, logs)
		}
	}
}
