package loopback

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

const (
	insideVar = "PLIMSOLL_TEST_INSIDE"
	// insideWell is the exit code that says that everything inside was as promised.
	insideWell = 7
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(insideVar); dir != "" {
		if err := inside(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(insideWell)
	}
	os.Exit(m.Run())
}

func TestRerun(t *testing.T) {
	dir := t.TempDir()
	code, err := Rerun(insideVar + "=" + dir)
	if errors.Is(err, ErrNotPermitted) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if code != insideWell {
		t.Errorf("exit code %d, want %d", code, insideWell)
	}
	if err := os.WriteFile(filepath.Join(dir, "outside"), nil, 0o600); err != nil {
		t.Errorf("a mount of the inside shows outside: %v", err)
	}
}

func inside(dir string) error {
	if err := Up(); err != nil {
		return err
	}
	interfaces, err := net.Interfaces()
	if err != nil {
		return err
	}
	if len(interfaces) != 1 || interfaces[0].Flags&net.FlagLoopback == 0 {
		return fmt.Errorf("interfaces %v, want loopback alone", interfaces)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return fmt.Errorf("loopback does not work: %w", err)
	}
	conn.Close()
	// A documentation address: nobody answers there, and inside there is not even a way to it.
	if _, err := net.Dial("tcp", "192.0.2.1:80"); !errors.Is(err, syscall.ENETUNREACH) {
		return fmt.Errorf("dialled out: %v, want unreachable", err)
	}

	undo, err := ReadOnly(dir)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); !errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("wrote to a read-only folder: %v", err)
	}
	if err := undo(); err != nil {
		return err
	}
	return os.WriteFile(file, nil, 0o600)
}
