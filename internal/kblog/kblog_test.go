package kblog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"plimsoll/internal/hookcmd"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"kb-log": func() { os.Exit(Run(os.Args[1:], os.Stdout, os.Stderr, os.LookupEnv)) },
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"in": in},
	})
}

// in FILE... puts the work folder's path in place of WORK in files: transcripts hold absolute paths.
func in(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		path := ts.MkAbs(name)
		data, err := os.ReadFile(path)
		ts.Check(err)
		ts.Check(os.WriteFile(path, bytes.ReplaceAll(data, []byte("WORK"), []byte(ts.Getenv("WORK"))), 0o600))
	}
}

// What the hook writes is what the command adds up.
func TestHookAndCommandAgree(t *testing.T) {
	root, home := t.TempDir(), t.TempDir()
	for _, dir := range []string{".git", ".claude/memories"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	vars := map[string]string{"HOME": home, "PLIMSOLL_KB_MODE": "enforce"}
	env := func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
	calls := 0
	send := func(event, more string) {
		calls++
		payload := fmt.Sprintf(`{"session_id":"s1","cwd":%q,"hook_event_name":%q,"tool_use_id":"toolu_%d",%s}`, root, event, calls, more)
		hookcmd.Hook(hookcmd.Process{
			Stdin: strings.NewReader(payload), Stdout: new(bytes.Buffer), Stderr: new(bytes.Buffer), Env: env,
			Now: func() time.Time { return time.Date(2026, 9, 1, 8, calls, 0, 0, time.UTC) },
		})
	}
	spawn := func(kind, prompt string) {
		send("PreToolUse", fmt.Sprintf(`"tool_name":"Agent","tool_input":{"subagent_type":%q,"prompt":%q}`, kind, prompt))
	}
	const query = `"tool_name":"mcp__plimsoll__query","tool_input":{"query":"q"}`
	send("UserPromptSubmit", `"prompt":"go"`)
	for range 6 {
		spawn("Explore", "bare")
	}
	send("PostToolUse", query)
	spawn("Plan", "KB context: none")
	send("SubagentStart", `"agent_type":"Plan"`)
	spawn("reviewer", "x")
	send("UserPromptSubmit", `"prompt":"go"`)
	send("PostToolUse", query)
	send("PostToolUse", query)
	send("PostToolUse", query+`,"agent_id":"a1"`)
	vars["PLIMSOLL_KB_MODE"] = "warn"
	spawn("Explore", "bare")
	vars["PLIMSOLL_KB_MODE"] = "observe"
	spawn("Explore", "bare")

	var out, errs bytes.Buffer
	if code := Run([]string{"--json", "--project", root}, &out, &errs, env); code != ok || errs.Len() > 0 {
		t.Fatalf("exit code %d, %s", code, &errs)
	}
	var got Summary
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%+v", Summary{
		Project: root, First: time.Date(2026, 9, 1, 8, 1, 0, 0, time.UTC), Last: time.Date(2026, 9, 1, 8, calls, 0, 0, time.UTC),
		Sessions: 1, Turns: 2, Searches: 3, SearchesPerTurn: 1.5, SearchesInAgents: 1, Briefings: 1,
		Spawns: Spawns{Total: 10, Satisfied: 1, Warned: 1, Observed: 1, Denied: 4,
			Released: map[string]int{"budget_no_progress": 2}, Skipped: map[string]int{"agent_type_not_gated": 1}},
	})
	if got := fmt.Sprintf("%+v", got); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
