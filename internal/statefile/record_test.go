package statefile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestAppendRecord(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "f")
	for _, r := range []string{"a\n", "b\n"} {
		if err := AppendRecord(path, []byte(r)); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile(path); string(got) != "a\nb\n" {
		t.Errorf("file holds %q", got)
	}
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	if err := AppendRecord(link, []byte("x\n")); err == nil {
		t.Error("a symlink was followed")
	}
	if err := AppendRecord(dir, []byte("x\n")); err == nil {
		t.Error("a record went into a directory")
	}
	if got, _ := os.ReadFile(target); string(got) != "mine\n" {
		t.Errorf("the target of a symlink holds %q", got)
	}
}

func TestKeepTail(t *testing.T) {
	var ten []byte
	for i := range 10 {
		ten = fmt.Appendf(ten, "line %d\n", i)
	}
	for _, c := range []struct {
		name, data, want string
		max              int64
		lines            int
	}{
		{"at the bound", string(ten), string(ten), int64(len(ten)), 2},
		{"over it", string(ten), "line 8\nline 9\n", int64(len(ten)) - 1, 2},
		{"part line at the end", string(ten) + "part", "line 9\npart", 1, 2},
		{"fewer lines than are kept", string(ten), string(ten), 1, 11},
		{"as many", string(ten), string(ten), 1, 10},
		{"one line without end", "long", "long", 1, 1},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, []byte(c.data), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := KeepTail(path, filepath.Join(dir, "stage"), c.max, c.lines); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got, _ := os.ReadFile(path); !bytes.Equal(got, []byte(c.want)) {
			t.Errorf("%s: file holds %q, want %q", c.name, got, c.want)
		}
		if left, _ := os.ReadDir(dir); len(left) != 1 {
			t.Errorf("%s: left behind %v", c.name, left)
		}
	}
	dir := t.TempDir()
	if err := KeepTail(filepath.Join(dir, "none"), filepath.Join(dir, "stage"), 1, 1); err != nil {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := KeepTail(dir, filepath.Join(dir, "stage"), 0, 1); err == nil {
		t.Error("a directory was shortened")
	}
}
