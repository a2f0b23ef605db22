package statefile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := Read(path, 5); err != nil || string(data) != "12345" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := Read(path, 4); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a file past the bound: %v", err)
	}
	if _, err := Read(dir, 100); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a directory: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "none"), 100); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// A file that grows all the while is never refused, and what is read is a beginning of it.
func TestReadWhileItGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("start\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 300 {
				if _, _, err := AppendOwn(path, []byte("record\n")); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	for range 3000 {
		data, err := Read(path, 1<<20)
		if err != nil || !strings.HasPrefix("start\n"+strings.Repeat("record\n", len(data)/7+1), string(data)) || len(data) < len("start\n") {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
	}
	group.Wait()
}

func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "deep", "f")
	for _, text := range []string{"one", "", "three"} {
		if err := Replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if data, _ := os.ReadFile(path); string(data) != text {
			t.Errorf("%q, want %q", data, text)
		}
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != FileMode {
		t.Errorf("mode %v", info.Mode())
	}
	blocked := filepath.Join(filepath.Dir(path), "dir")
	if err := os.MkdirAll(filepath.Join(blocked, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Replace(blocked, []byte("x")); err == nil {
		t.Error("replaced a directory")
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 2 {
		t.Errorf("left %v", entries)
	}
}

func TestAppendLineRotates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "log")
	for i := range 25 {
		if err := AppendLine(path, fmt.Appendf(nil, "line %02d\n", i), 80); err != nil {
			t.Fatal(err)
		}
	}
	now, _ := os.ReadFile(path)
	before, _ := os.ReadFile(path + ".1")
	if string(now) != "line 20\nline 21\nline 22\nline 23\nline 24\n" || !strings.HasSuffix(string(before), "line 19\n") || len(before) != 80 {
		t.Errorf("log %q, older %q", now, before)
	}
}

// Any number of goroutines append; every record is whole, and every own position is the record's own end.
func TestAppendOwnIsExact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "counted")
	var group sync.WaitGroup
	var mu sync.Mutex
	ends := map[int64]string{}
	for i := range 50 {
		group.Add(1)
		go func() {
			defer group.Done()
			record := fmt.Sprintf("%d%s\n", i, strings.Repeat(".", i))
			content, end, err := AppendOwn(path, []byte(record))
			if err != nil || int64(len(content)) != end || !strings.HasSuffix(string(content), record) {
				t.Errorf("record %q: end %d, %d bytes, %v", record, end, len(content), err)
			}
			mu.Lock()
			defer mu.Unlock()
			if other, taken := ends[end]; taken {
				t.Errorf("%q and %q end at %d", record, other, end)
			}
			ends[end] = record
		}()
	}
	group.Wait()
	if data, _ := os.ReadFile(path); bytes.Count(data, []byte("\n")) != 50 {
		t.Errorf("%d records, want 50", bytes.Count(data, []byte("\n")))
	}
}

func TestAppendOwnRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "target"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"d", "link", "file/below"} {
		if _, _, err := AppendOwn(filepath.Join(dir, path), []byte("x\n")); err == nil {
			t.Errorf("%s: appended", path)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "target")); err == nil {
		t.Error("wrote through a link")
	}
}

func TestLockExcludes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "lock")
	var group sync.WaitGroup
	var inside, total atomic.Int32 // the race detector does not know a file's lock
	for range 20 {
		group.Add(1)
		go func() {
			defer group.Done()
			unlock, err := Lock(path)
			if err != nil {
				t.Error(err)
				return
			}
			if n := inside.Add(1); n != 1 {
				t.Errorf("%d holders at once", n)
			}
			for range 100 {
				runtime.Gosched() // let others in, if they can come in
			}
			total.Add(1)
			inside.Add(-1)
			unlock()
		}()
	}
	group.Wait()
	if n := total.Load(); n != 20 {
		t.Errorf("%d holders in all, want 20", n)
	}
}

func TestTouch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "heard", "PreToolUse")
	base := time.Unix(1_700_000_000, 0)
	at := func() time.Time {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.ModTime()
	}
	for _, c := range []struct{ now, want time.Duration }{
		{0, 0}, {59 * time.Second, 0}, {60 * time.Second, 60 * time.Second}, {61 * time.Second, 60 * time.Second},
		{-time.Hour, -time.Hour}, // a file from the future is brought back
	} {
		if err := Touch(path, base.Add(c.now), time.Minute); err != nil {
			t.Fatal(err)
		}
		if got := at().Sub(base); got != c.want {
			t.Errorf("touched at %s: time %s, want %s", c.now, got, c.want)
		}
	}
}
