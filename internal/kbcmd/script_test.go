package kbcmd

import (
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts call kb as a program of its own: the command behind its name, on a fixed day.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"kb": func() {
			day := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
			p := Process{os.Stdin, os.Stdout, os.Stderr, os.LookupEnv, func() time.Time { return day }, "v1"}
			commands := map[string]func([]string, Process) int{"search": Search, "get": Get, "status": Status, "add": Add, "serve": Serve}
			os.Exit(commands[os.Args[1]](os.Args[2:], p))
		},
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir+"/home")
			e.Setenv("USERPROFILE", e.WorkDir+"/home")
			return os.MkdirAll(e.WorkDir+"/home", 0o700)
		},
	})
}
