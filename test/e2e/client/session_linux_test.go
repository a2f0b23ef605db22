package client

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// standIn is a session whose client is a shell script, so that the driving can be tested without the real one.
func standIn(t *testing.T, script string) Session {
	t.Helper()
	h := newHome(t)
	path := filepath.Join(h.Dir, "claude")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return Session{Client: Client{Version: "0.0.0", Path: path}, Home: h, BaseURL: "http://127.0.0.1:1"}
}

// limit is far more than any of these tests needs; it only keeps a broken one from hanging.
const limit = 30 * time.Second

func TestPrint(t *testing.T) {
	s := standIn(t, `echo '{"type":"system","subtype":"init","session_id":"abc"}'; echo "{\"type\":\"result\",\"pwd\":\"$PWD\",\"args\":\"$*\"}"; echo oops >&2; exit 3`)
	s.Args = []string{"--model", "m"}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	out, err := s.Print(ctx, "say hi")
	if err != nil {
		t.Fatal(err)
	}
	if out.ExitCode != 3 || out.Stderr != "oops\n" || out.SessionID() != "abc" || len(out.Events) != 2 {
		t.Errorf("output %+v", out)
	}
	for _, want := range []string{s.Home.Project, "-p say hi", "--model m"} {
		if !strings.Contains(out.Text(), want) {
			t.Errorf("%q is not in %s", want, out.Text())
		}
	}
}

// A client that hangs ends at the deadline, and what it started ends with it.
func TestPrintEndsAtItsDeadline(t *testing.T) {
	s := standIn(t, `sleep 1000 & echo $! >"$HOME/pid"; wait`)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	pidFile := filepath.Join(s.Home.Dir, "pid")
	go func() {
		// The deadline is this moment: the grandchild is there.
		for len(read(pidFile)) == 0 {
			time.Sleep(poll)
		}
		cancel()
	}()
	if _, err := s.Print(ctx, "hang"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(read(pidFile)))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(limit); running(pid); time.Sleep(poll) {
		if time.Now().After(deadline) {
			t.Fatal("what the client started is still running")
		}
	}
}

// running tells whether a process is there and not merely waiting to be reaped by whoever inherited it.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	_, state, _ := strings.Cut(read("/proc/"+strconv.Itoa(pid)+"/stat"), ") ")
	return state != "" && state[0] != 'Z'
}

func read(path string) string {
	data, _ := os.ReadFile(path)
	return string(data)
}

func TestTerminal(t *testing.T) {
	// The title holds U+2733, whose middle byte is the C1 string terminator when read outside UTF-8: an emulator that
	// does so prints the rest of the title.
	s := standIn(t, `stty -echo; printf '\033]0;\342\234\263 title\007ready\n'; read a; printf '\033[31mgot\033[0m <%s>\n' "$a"; read b`)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	term, err := s.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := term.WaitFor(ctx, "ready"); err != nil {
		t.Fatal(err)
	}
	if err := term.Type("häl lo\r"); err != nil {
		t.Fatal(err)
	}
	if err := term.WaitFor(ctx, "got <häl lo>"); err != nil {
		t.Fatal(err)
	}
	if got, want := term.Screen(), "ready\ngot <häl lo>"; got != want {
		t.Errorf("screen %q, want %q", got, want)
	}
	if err := term.Close(); err != nil {
		t.Error(err)
	}
	if err := term.WaitFor(ctx, "never"); err == nil || !strings.Contains(err.Error(), "the client ended\nready") {
		t.Errorf("waiting on an ended client: %v", err)
	}
}
