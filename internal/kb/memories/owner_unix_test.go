//go:build unix

package memories

import (
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"
	"time"
)

// Anybody can put notes into a folder above a project that everybody may write to. They do not count.
func TestParentOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	top := t.TempDir()
	parent := in(Parent, top)
	mkdir(t, parent.Dir)
	project := filepath.Join(top, "project")
	mkdir(t, filepath.Join(project, ".git"))
	find := func() []string { return labels(t, top, Find(project, env(nil))) }
	if got := find(); !reflect.DeepEqual(got, []string{"parent ."}) {
		t.Fatalf("found %q", got)
	}
	if err := os.Chown(parent.Dir, 12345, 12345); err != nil {
		t.Skip(err)
	}
	p := Find(project, env(nil))
	if len(p.Found) != 0 || len(p.Ignored) != 1 || p.Ignored[0].Path != parent.Dir {
		t.Errorf("found %+v, ignored %+v", p.Found, p.Ignored)
	}
	// A checkout and the folders above it may both be somebody else's: a container's bind mount.
	if err := os.Chown(project, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if got := find(); !reflect.DeepEqual(got, []string{"parent ."}) {
		t.Errorf("same owner: found %q", got)
	}
}

// A pipe in the place of a note must not make anybody wait for a writer.
func TestPipe(t *testing.T) {
	f := in(Project, t.TempDir())
	mkdir(t, f.Dir)
	if err := syscall.Mkfifo(filepath.Join(f.Dir, "pipe.md"), 0o600); err != nil {
		t.Skip(err)
	}
	names, ignored := list(t, f)
	if len(names) != 0 || ignored["pipe.md"] != "not a file" {
		t.Errorf("files %q, ignored %q", names, ignored)
	}
	o, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	done := make(chan error, 1)
	go func() {
		_, err := o.Read("pipe.md")
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			t.Error("a pipe was read")
		}
	case <-time.After(20 * time.Second):
		t.Fatal("reading a pipe waits")
	}
}
