package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fullSession makes a home whose session s has a fresh snapshot at that percentage.
func fullSession(t *testing.T, percent int) (home string) {
	t.Helper()
	home = t.TempDir()
	placeSnapshot(t, home, percent)
	return home
}

func placeSnapshot(t *testing.T, home string, percent int) {
	t.Helper()
	dir := filepath.Join(home, ".claude", "context-guard", "context")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"captured_at":%q,"session_id":"s","context_window":{"used_percentage":%d,"current_usage":{"input_tokens":1}}}`,
		time.Now().UTC().Format("2006-01-02T15:04:05Z"), percent)
	if err := os.WriteFile(filepath.Join(dir, "s.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// runHook runs one process on a payload.
func runHook(bin, home, payload string, env ...string) (stdout string, err error) {
	cmd := exec.Command(bin)
	cmd.Env = append([]string{"HOME=" + home}, env...)
	cmd.Stdin = strings.NewReader(payload)
	var out bytes.Buffer
	cmd.Stdout = &out
	err = cmd.Run()
	return out.String(), err
}

// together runs n processes at once and returns what they answered.
func together(t *testing.T, n int, run func() (string, error)) []string {
	t.Helper()
	answers := make([]string, n)
	start := make(chan struct{})
	var group sync.WaitGroup
	for i := range n {
		group.Add(1)
		go func() {
			defer group.Done()
			<-start
			out, err := run()
			if err != nil {
				t.Errorf("process %d: %v", i, err)
			}
			answers[i] = out
		}()
	}
	close(start)
	group.Wait()
	return answers
}

const batch = `{"session_id":"s","hook_event_name":"PostToolBatch"}`

// 200 hooks of one session at once report a crossing exactly once, and leave one valid state.
func TestCrossingIsReportedOnce(t *testing.T) {
	bin, home := build(t, ""), fullSession(t, 90)
	reports := 0
	for _, answer := range together(t, 200, func() (string, error) { return runHook(bin, home, batch) }) {
		if answer != "" {
			reports++
		}
	}
	if reports != 1 {
		t.Errorf("%d reports, want 1", reports)
	}
	for name, want := range map[string]string{"s.zone": "dumb\n", "s.armed": "dumb\n"} {
		if got, _ := os.ReadFile(filepath.Join(home, ".claude", "context-guard", "state", name)); string(got) != want {
			t.Errorf("%s is %q", name, got)
		}
	}
}

// Of 24 calls at once with a grace of 4 exactly 4 pass (G20, G21, B1).
func TestGateCountsExactly(t *testing.T) {
	bin, home := build(t, ""), fullSession(t, 95)
	const write = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/a"}}`
	passed := 0
	for _, answer := range together(t, 24, func() (string, error) {
		return runHook(bin, home, write, "CLAUDE_PLUGIN_OPTION_ZONE_HOOK_MODE=blocking", "CLAUDE_PLUGIN_OPTION_ZONE_GATE_GRACE_CALLS=4")
	}) {
		if answer == "" {
			passed++
		}
	}
	if passed != 4 {
		t.Errorf("%d passed, want 4", passed)
	}
}

func TestZoneSwitches(t *testing.T) {
	bin := build(t, "")
	const write = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/a"}}`
	blocking := []string{"CLAUDE_PLUGIN_OPTION_ZONE_HOOK_MODE=blocking", "CLAUDE_PLUGIN_OPTION_ZONE_GATE_GRACE_CALLS=0"}
	for _, c := range []struct {
		n, payload string
		env        []string
		answered   bool
	}{
		{"G1 advisory by default", write, nil, false},
		{"blocking", write, blocking, true},
		{"G10 kill switch", write, append(blocking, "CLAUDE_PLUGIN_OPTION_CONTEXT_GUARD_HOOKS_ENABLED=false"), false},
		{"I35 kill switch", batch, []string{"CLAUDE_PLUGIN_OPTION_CONTEXT_GUARD_HOOKS_ENABLED=false"}, false},
		{"PLIMSOLL=off", batch, []string{"PLIMSOLL= Off "}, false},
		{"reported", batch, nil, true},
	} {
		out, err := runHook(bin, fullSession(t, 95), c.payload, c.env...)
		if err != nil || (out != "") != c.answered {
			t.Errorf("%s: %q, %v", c.n, out, err)
		}
	}
	// I66-I67, G23-G24, B6: without a home nothing is kept, and nothing lands in the working directory.
	cmd := exec.Command(bin)
	cmd.Dir, cmd.Env, cmd.Stdin = t.TempDir(), []string{"HOME="}, strings.NewReader(batch)
	if out, err := cmd.Output(); err != nil || len(out) > 0 {
		t.Errorf("without a home: %q, %v", out, err)
	}
	if entries, _ := os.ReadDir(cmd.Dir); len(entries) > 0 {
		t.Errorf("left %v in the working directory", entries)
	}
}

// The process is killed between any two steps: no report is lost, and one comes twice at most.
func TestKilledAnywhere(t *testing.T) {
	killer, bin := build(t, "plimsoll_kill"), build(t, "")
	points := 0
	for at := 1; at < 100; at++ {
		home := fullSession(t, 90)
		first, err := runHook(killer, home, batch, "PLIMSOLL_KILL_AT="+strconv.Itoa(at))
		if err == nil {
			if first == "" {
				t.Fatalf("point %d: an unkilled process reported nothing", at)
			}
			break
		}
		points++
		second, err := runHook(bin, home, batch)
		if err != nil {
			t.Fatalf("after point %d: %v", at, err)
		}
		third, _ := runHook(bin, home, batch)
		if first == "" && second == "" {
			t.Errorf("killed at point %d: the report is lost", at)
		}
		if third != "" {
			t.Errorf("killed at point %d: reported a third time", at)
		}
		// And the way back still works.
		placeSnapshot(t, home, 10)
		if out, _ := runHook(bin, home, batch); out != "" {
			t.Errorf("killed at point %d: smart is reported: %s", at, out)
		}
		placeSnapshot(t, home, 60)
		if out, _ := runHook(bin, home, batch); !strings.Contains(out, "acceptable") {
			t.Errorf("killed at point %d: the next crossing is lost: %q", at, out)
		}
	}
	if points < 6 {
		t.Errorf("only %d points to be killed at", points)
	}
}
