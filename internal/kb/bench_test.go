package kb

import (
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// helper is the environment variable that makes the test binary a process of its own that does one thing.
const helper = "PLIMSOLL_KB_TEST_HELPER"

func TestMain(m *testing.M) {
	switch os.Getenv(helper) {
	case "query":
		helperQuery(os.Args[1], os.Args[2])
	case "update":
		helperUpdate(os.Args[1], os.Args[2], os.Args[3])
	default:
		os.Exit(m.Run())
	}
}

// run starts the test binary as a helper.
func helperCommand(t testing.TB, what string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), helper+"="+what)
	return cmd
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func helperQuery(root, query string) {
	b, err := Open(root, env(root))
	must(err)
	hits, err := b.Search(query, 0)
	must(err)
	for _, h := range hits {
		fmt.Println(h.File)
	}
}

// thousand makes a project of 1,000 notes of 5 kB out of a vocabulary with the skew of language: the k-th word is used
// about 1/k as often as the first.
func thousand(b *testing.B) (root string) {
	root = b.TempDir()
	dir := filepath.Join(root, ".claude", "memories")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewSource(1))
	zipf := rand.NewZipf(r, 1.1, 4, 19_999)
	day := time.Now().AddDate(0, 0, -1)
	for i := range 1000 {
		var t strings.Builder
		fmt.Fprintf(&t, "---\nname: Note %d on w%d\ndescription: About w%d and w%d\ntags: [w%d]\ndate: 2026-01-02\n---\n# Note %d\n", i, zipf.Uint64(), zipf.Uint64(), zipf.Uint64(), zipf.Uint64(), i)
		for s := 0; t.Len() < 5000; s++ {
			fmt.Fprintf(&t, "\n## Section %d w%d\n\n", s, zipf.Uint64())
			for range 120 {
				fmt.Fprintf(&t, "w%ding ", zipf.Uint64())
			}
		}
		name := filepath.Join(dir, fmt.Sprintf("note%04d.md", i))
		if err := os.WriteFile(name, []byte(t.String()), 0o644); err != nil {
			b.Fatal(err)
		}
		// Files that were just written are read again by the next use.
		if err := os.Chtimes(name, day, day); err != nil {
			b.Fatal(err)
		}
	}
	return root
}

// The speeds that docs/kb.md states: go test -run '^$' -bench . ./internal/kb
func BenchmarkFirstIndexOf1000(b *testing.B) {
	root := thousand(b)
	for b.Loop() {
		b.StopTimer()
		if err := os.RemoveAll(filepath.Join(root, ".claude", ".kb-gate")); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		search(b, root)
	}
}

// A whole process: start, look for changes in 1,000 files, open the index, search, end.
func BenchmarkQueryInFreshProcess(b *testing.B) {
	root := thousand(b)
	search(b, root)
	for b.Loop() {
		if out, err := helperCommand(b, "query", root, "w17ing w230 w1999ing").CombinedOutput(); err != nil || len(out) == 0 {
			b.Fatalf("%v: %s", err, out)
		}
	}
}

// A change of one of 1,000 files, and the search that takes it in.
func BenchmarkUpdateOfOne(b *testing.B) {
	root := thousand(b)
	search(b, root)
	name := filepath.Join(root, ".claude", "memories", "note0500.md")
	text, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if err := os.WriteFile(name, fmt.Appendf(text, "\nchange number %d\n", i), 0o644); err != nil {
			b.Fatal(err)
		}
		search(b, root)
	}
}

func search(b *testing.B, root string) {
	base, err := Open(root, env(root))
	if err != nil {
		b.Fatal(err)
	}
	defer base.Close()
	if hits, err := base.Search("w17ing w230 w1999ing", 0); err != nil || len(hits) == 0 || base.why != "" {
		b.Fatalf("%d hits, %v, %s", len(hits), err, base.why)
	}
}
