package cli

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"plimsoll/internal/hookcmd"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"plimsoll": func() {
			os.Exit(Main(Process{
				Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.LookupEnv, Now: time.Now,
			}))
		},
		// Setup wires the hook binary that it finds on PATH.
		"plimsoll-hook": func() {
			os.Exit(hookcmd.Main(hookcmd.Process{
				Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.LookupEnv, Now: time.Now,
			}))
		},
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("TMPDIR", filepath.Join(env.WorkDir, "tmp"))
			return os.MkdirAll(filepath.Join(env.WorkDir, "tmp"), 0o700)
		},
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"tree": tree},
		RequireExplicitExec: true,
	})
}
