package hookcmd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The specs: one behaviour a file, run against the hook binary's own main.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exitcode":   exitCode,
			"bigpayload": bigPayload,
			"deepjson":   deepJSON,
			"snapshot":   placeSnapshot,
			"untrust":    untrust,
		},
	})
}

// exitcode N CMD ARG... runs a command on the file named by the last stdin command and compares its exit code.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if (code == want) == neg {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// bigpayload FILE BYTES writes a payload of session "big" of about that size.
func bigPayload(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(`{"session_id":"big","pad":"`+strings.Repeat("0123456789", n/10)+`"}`), 0o600))
}

// deepjson FILE DEPTH writes an event nested that deep.
func deepJSON(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(`{"hook_event_name":`+strings.Repeat("[", n)), 0o600))
}

// snapshot SESSION PERCENT places a fresh snapshot.
func placeSnapshot(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs("home/.claude/context-guard/context/" + args[0] + ".json")
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	ts.Check(os.WriteFile(path, fmt.Appendf(nil, `{"captured_at":%q,"session_id":%q,"context_window":{"used_percentage":%s,"current_usage":{"input_tokens":1}}}`,
		time.Now().UTC().Format("2006-01-02T15:04:05Z"), args[0], args[1]), 0o600))
}

// untrust FILE DIR puts the folder into a trust record.
func untrust(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	ts.Check(os.WriteFile(path, []byte(strings.ReplaceAll(string(data), "PROJECT", args[1])), 0o600))
}
