//go:build unix

package doctor

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// long is a limit that nothing here reaches.
const long = time.Minute

func TestRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tool := write("a tool", "#!/bin/sh\necho \"$#:$1\"\nexit 3\n", 0o700)
	write("named", "#!/bin/sh\necho named\n", 0o700)
	plain := write("plain", "no program", 0o600)
	path := "PATH=" + dir + ":/usr/bin:/bin"
	for _, c := range []struct {
		name    string
		command Command
		want    Outcome
	}{
		{"shell form", Command{Line: `echo "$X"; echo e >&2; exit 4`, Env: []string{path, "X=a b"}}, Outcome{Code: 4, Stdout: "a b\n", Stderr: "e\n"}},
		{"shell form, quoted path", Command{Line: "'" + tool + "' 'x y'"}, Outcome{Code: 3, Stdout: "1:x y\n"}},
		{"shell form, blank in the path", Command{Line: tool}, Outcome{Code: 127}},
		{"exec form takes no quotes", Command{Argv: []string{tool, "$HOME; x"}}, Outcome{Code: 3, Stdout: "1:$HOME; x\n"}},
		{"exec form by name", Command{Argv: []string{"named"}, Env: []string{"PATH=/nowhere", path}}, Outcome{Stdout: "named\n"}},
		{"exec form, relative", Command{Argv: []string{"./named"}, Dir: dir}, Outcome{Stdout: "named\n"}},
		{"standard input is empty", Command{Line: "cat; echo end", Env: []string{path}}, Outcome{Stdout: "end\n"}},
		{"the folder", Command{Line: "ls named", Dir: dir, Env: []string{path}}, Outcome{Stdout: "named\n"}},
		{"missing", Command{Line: dir + "/none"}, Outcome{Code: 127}},
		{"not executable", Command{Line: plain}, Outcome{Code: 126}},
		{"killed", Command{Line: "kill -9 $$"}, Outcome{Code: 137}},
	} {
		got := Run(c.command, long)
		if c.want.Stderr == "" {
			got.Stderr = ""
		}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	if o := Run(Command{Argv: []string{"named"}, Env: []string{"PATH=/nowhere"}}, long); !errors.Is(o.Err, exec.ErrNotFound) {
		t.Errorf("a name that is not on PATH: %+v", o)
	}
	if o := Run(Command{Argv: []string{plain}}, long); o.Err == nil {
		t.Errorf("a file that is no program: %+v", o)
	}
	if o := Run(Command{Line: "head -c 100000 /dev/zero", Env: []string{path}}, long); len(o.Stdout) != maxOutput || o.Code != 0 {
		t.Errorf("%d bytes kept, code %d", len(o.Stdout), o.Code)
	}
	if o := Run(Command{Line: "echo $0", Shell: "bash", Env: []string{path}}, long); o.Stdout != "bash\n" && o.Err == nil {
		t.Errorf("bash: %+v", o)
	}
}

// gone polls until a process is gone, or gives up.
func gone(t *testing.T, pid int) bool {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for syscall.Kill(pid, 0) == nil {
		if state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil && strings.Contains(string(state), ") Z ") {
			return true // it is dead and waits for somebody to notice
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(5 * time.Millisecond)
	}
	return true
}

func childOf(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// A command that does not end is stopped with everything that it started.
func TestRunStopsTheGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	o := Run(Command{Line: "sleep 1000 & echo $! >" + file + "; echo started; wait", Env: os.Environ()}, 2*time.Second)
	if !o.TimedOut || o.Stdout != "started\n" {
		t.Fatalf("%+v", o)
	}
	if pid := childOf(t, file); !gone(t, pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Error("the child still runs")
	}
}

// One that ends and leaves a child with its output does not hold doctor up, and the child does not stay.
func TestRunStopsWhatIsLeft(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	o := Run(Command{Line: "sleep 1000 & echo $! >" + file + "; exit 0", Env: os.Environ()}, long)
	if o.TimedOut || o.Err != nil || o.Code != 0 {
		t.Fatalf("%+v", o)
	}
	if pid := childOf(t, file); !gone(t, pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Error("the child still runs")
	}
}
