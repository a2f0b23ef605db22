//go:build unix

package history

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// special adds what only some systems have: a FIFO, and a file and a folder that may not be read.
func special(t *testing.T, dir string, want map[string]string) {
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo.jsonl"), 0o600); err == nil {
		want["fifo.jsonl"] = "is no regular file;"
	}
	if os.Getuid() == 0 {
		return // who may read anything
	}
	put(t, filepath.Join(dir, "secret.jsonl"), "x")
	put(t, filepath.Join(dir, "closed", "x.jsonl"), "x")
	for _, name := range []string{"secret.jsonl", "closed"} {
		path := filepath.Join(dir, name)
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(path, 0o700) })
		want[name] = "permission denied;"
	}
}
