package statefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestEachLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	fill := strings.Repeat("x", lineBuffer)
	for _, c := range []struct {
		name, content string
		maxLine       int
		want          []string
		long          int
	}{
		{"empty file", "", 10, nil, 0},
		{"last line without an end", "a\nb", 10, []string{"a", "b"}, 0},
		{"CRLF and empty lines", "a\r\n\r\n\nb\n", 10, []string{"a", "b"}, 0},
		{"as long as allowed", "1234567890\r\n12345678901\nc\n", 10, []string{"1234567890", "c"}, 1},
		{"longer than the buffer", "a\n" + fill + fill + "\nb\n", 10, []string{"a", "b"}, 1},
		{"long last line without an end", "a\n" + fill + fill, 10, []string{"a"}, 1},
		{"as long as allowed beyond the buffer", fill + fill + "\r\nb", 2 * lineBuffer, []string{fill + fill, "b"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(c.content), FileMode); err != nil {
				t.Fatal(err)
			}
			var got []string
			long, err := EachLine(path, 1<<30, c.maxLine, func(line []byte) { got = append(got, string(line)) })
			if err != nil || long != c.long || !slices.Equal(got, c.want) {
				t.Errorf("%d lines, %d long ones, %v; want %d, %d", len(got), long, err, len(c.want), c.long)
			}
		})
	}
}

func TestEachLineRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	if err := os.WriteFile(path, []byte("abc"), FileMode); err != nil {
		t.Fatal(err)
	}
	never := func([]byte) { t.Error("a line was read") }
	for _, c := range []struct {
		path string
		want error
	}{{path, ErrTooLarge}, {dir, ErrNotRegular}, {filepath.Join(dir, "none"), fs.ErrNotExist}} {
		if _, err := EachLine(c.path, 2, 10, never); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.path, err, c.want)
		}
	}
}

// A line is never held beyond its bound.
func TestEachLineHoldsNoLongLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const size = 40 << 20
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	long, err := EachLine(path, size, 4096, func([]byte) { t.Error("the line was passed on") })
	runtime.ReadMemStats(&after)
	if err != nil || long != 1 {
		t.Errorf("%d long lines, %v", long, err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes allocated for a line of %d", n, size)
	}
}
