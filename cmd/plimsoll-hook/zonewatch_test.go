package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
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
	left, _ := filepath.Glob(filepath.Join(home, ".claude", "context-guard", "state", ".*"))
	if len(left) > 0 {
		t.Errorf("left %v", left)
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
		{"G1 advisory by default", write, blocking[1:], false},
		{"G36 only the exact word", write, append([]string{"CLAUDE_PLUGIN_OPTION_ZONE_HOOK_MODE=Blocking"}, blocking[1:]...), false},
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

// A session's way through the zones, and the process that reports killed between any two steps of it: no report is lost,
// and one comes twice at most, in the same bytes. What is on disk afterwards is what an unkilled process leaves.
func TestKilledAnywhere(t *testing.T) {
	killer, bin := build(t, "plimsoll_kill"), build(t, "")
	percents := []int{10, 60, 90}
	paths := [][]int{{90}, {60, 90}, {90, 10}, {10, 90}, {90, 60}, {10}}
	r := rand.New(rand.NewPCG(5, 5))
	for range 3 {
		var path []int
		for range 3 + r.IntN(3) {
			path = append(path, percents[r.IntN(3)])
		}
		paths = append(paths, path)
	}
	for _, path := range paths {
		before := t.TempDir()
		last := len(path) - 1
		for _, percent := range path[:last] {
			placeSnapshot(t, before, percent)
			if _, err := runHook(bin, before, batch); err != nil {
				t.Fatal(err)
			}
		}
		placeSnapshot(t, before, path[last])
		control := copyOf(t, before)
		want, err := runHook(bin, control, batch)
		if err != nil {
			t.Fatal(err)
		}
		twice := 0
		for at := 1; ; at++ {
			home := copyOf(t, before)
			first, err := runHook(killer, home, batch, "PLIMSOLL_KILL_AT="+strconv.Itoa(at))
			if err == nil {
				if changed := marksOf(before) != marksOf(control); changed && at < 6 {
					t.Errorf("%v: only %d points to be killed at", path, at-1)
				}
				break
			}
			relapse := copyOf(t, home)
			second, err := runHook(bin, home, batch)
			if err != nil {
				t.Fatal(err)
			}
			third, _ := runHook(bin, home, batch)
			for _, said := range []string{first, second} {
				if said != "" && said != want {
					t.Errorf("%v, killed at point %d: said %q, want %q", path, at, said, want)
				}
			}
			if first != "" && second != "" {
				twice++
			}
			if want != "" && first == "" && second == "" {
				t.Errorf("%v, killed at point %d: the report is lost", path, at)
			}
			if third != "" {
				t.Errorf("%v, killed at point %d: reported a third time", path, at)
			}
			if got := marksOf(home); got != marksOf(control) {
				t.Errorf("%v, killed at point %d: %q on disk, want %q", path, at, got, marksOf(control))
			}
			// The session is elsewhere before the next look: no crossing ends where it began.
			placeSnapshot(t, relapse, 90)
			if said, _ := runHook(bin, relapse, batch); strings.Contains(said, "from the dumb") {
				t.Errorf("%v, killed at point %d: then said %q", path, at, said)
			}
		}
		// Once the answer is out, the next step is the rename that remembers it.
		if twice > 1 {
			t.Errorf("%v: %d points at which a kill repeats the report, want 1", path, twice)
		}
	}
}

// A gate killed at any point passes at most one call too many, the killed one, and still comes to its denial; a marker
// is whole or not there.
func TestGateAndMarkerKilledAnywhere(t *testing.T) {
	killer, bin := build(t, "plimsoll_kill"), build(t, "")
	const write = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/a"}}`
	const compact = `{"session_id":"s","hook_event_name":"PostCompact","trigger":"auto"}`
	env := []string{"CLAUDE_PLUGIN_OPTION_ZONE_HOOK_MODE=blocking", "CLAUDE_PLUGIN_OPTION_ZONE_GATE_GRACE_CALLS=1"}
	for _, payload := range []string{write, compact} {
		for at := 1; ; at++ {
			home := fullSession(t, 95)
			_, err := runHook(killer, home, payload, append(env, "PLIMSOLL_KILL_AT="+strconv.Itoa(at))...)
			if err == nil {
				if at < 3 {
					t.Errorf("only %d points to be killed at", at-1)
				}
				break
			}
			passed := 0
			for range 3 {
				if out, err := runHook(bin, home, write, env...); err == nil && out == "" {
					passed++
				}
			}
			if passed > 1 {
				t.Errorf("killed at point %d of %s: %d passed, want 1 at most", at, payload, passed)
			}
			marker := filepath.Join(home, ".claude", "context-guard", "context", "s.compacted")
			if data, err := os.ReadFile(marker); err == nil && !json.Valid(data) {
				t.Errorf("killed at point %d: half a marker: %q", at, data)
			}
		}
	}
}

func copyOf(t *testing.T, home string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(home)); err != nil {
		t.Fatal(err)
	}
	return to
}

// marksOf are the two words that session s is remembered by.
func marksOf(home string) string {
	state := filepath.Join(home, ".claude", "context-guard", "state")
	seen, _ := os.ReadFile(filepath.Join(state, "s.zone"))
	armed, _ := os.ReadFile(filepath.Join(state, "s.armed"))
	return string(seen) + string(armed)
}
