package kb

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"plimsoll/internal/kb/memories"
)

// yesterday is a time that is believed without a look into the file.
var yesterday = time.Now().AddDate(0, 0, -1)

func writeAt(t *testing.T, name, text string, at time.Time) {
	t.Helper()
	write(t, name, text)
	if err := os.Chtimes(name, at, at); err != nil {
		t.Fatal(err)
	}
}

// digests is what the index on disk has.
func digests(t *testing.T, b *Base) (out []string) {
	t.Helper()
	if err := withIndex(filepath.Join(b.Dir(), indexName), func(ix *index) error {
		return ix.each(`select digest from listing`, nil, func(s *sqlite3.Stmt) { out = append(out, s.ColumnText(0)) })
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// An old version that comes back with its size and time is found, though the folder then looks as it once did.
func TestOldVersionComesBack(t *testing.T) {
	b := project(t, map[string]string{"other.md": "other"})
	dir := b.Places.Project.Dir
	writeAt(t, filepath.Join(dir, "other.md"), "other", yesterday)
	name := filepath.Join(dir, "note.md")
	for _, step := range []struct {
		text string
		at   time.Time
	}{{"quokka", yesterday}, {"wombat!", time.Now()}, {"quokka", yesterday}, {"", yesterday}, {"quokka", yesterday}} {
		want := 1
		if writeAt(t, name, step.text, step.at); step.text == "" {
			want = 0
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		for _, word := range []string{"quokka", "wombat"} {
			expect := 0
			if word == step.text || word+"!" == step.text {
				expect = want
			}
			if got := files(t, b, word); len(got) != expect {
				t.Errorf("the note says %q: %s found %q", step.text, word, got)
			}
		}
	}
}

// The entries are gone through only when something may have changed: while all times can be believed the index has the
// digest of what it took in, and while one cannot it has none.
func TestListingIsRemembered(t *testing.T) {
	b := project(t, map[string]string{"note.md": ""})
	dir := b.Places.Project.Dir
	writeAt(t, filepath.Join(dir, "note.md"), "quokka", yesterday)
	writeAt(t, filepath.Join(dir, "latin.md"), "caf\xe9", yesterday)
	files(t, b, "quokka")
	l, err := look(b.Places.Found)
	l.close()
	if err != nil {
		t.Fatal(err)
	}
	if got := digests(t, b); len(got) != 1 || got[0] != l.digest {
		t.Errorf("digests %q, want %q", got, l.digest)
	}
	writeAt(t, filepath.Join(dir, "note.md"), "wombat", time.Now().Add(time.Hour))
	files(t, b, "wombat")
	if got := digests(t, b); len(got) != 0 {
		t.Errorf("digests %q with a note of the future", got)
	}
}

// What a look saw may be gone when it is read. The index then is not that of the look.
func TestNoteGoneWhileLooking(t *testing.T) {
	b := project(t, map[string]string{"note.md": ""})
	name := filepath.Join(b.Places.Project.Dir, "note.md")
	writeAt(t, name, "quokka", yesterday)
	l, err := look(b.Places.Found)
	defer l.close()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	ix, err := openIndex(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer ix.close()
	if err := ix.take(l); err != nil {
		t.Fatal(err)
	}
	writeAt(t, name, "quokka", yesterday)
	if err := ix.refresh(b.Places.Found); err != nil {
		t.Fatal(err)
	}
	if hits, err := ix.search("quokka", 1); err != nil || len(hits) != 1 {
		t.Errorf("%v, %v", hits, err)
	}
}

// Everything that tells one listing from another is in its digest.
func TestDigest(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	folders := []memories.Folder{{Label: "a", Dir: a}, {Label: "b", Dir: b}}
	seen := map[string]string{}
	note := func(what string) {
		t.Helper()
		l, err := look(folders)
		l.close()
		if err != nil {
			t.Fatal(err)
		}
		if was, have := seen[l.digest]; have {
			t.Errorf("%s looks like %s", what, was)
		}
		seen[l.digest] = what
	}
	note("nothing")
	writeAt(t, filepath.Join(a, "one.md"), "x", yesterday)
	note("a note")
	writeAt(t, filepath.Join(a, "one.md"), "xx", yesterday)
	note("another size")
	writeAt(t, filepath.Join(a, "one.md"), "x", yesterday.Add(time.Microsecond))
	note("another time")
	if err := os.Rename(filepath.Join(a, "one.md"), filepath.Join(a, "two.md")); err != nil {
		t.Fatal(err)
	}
	note("another name")
	if err := os.Rename(filepath.Join(a, "two.md"), filepath.Join(b, "two.md")); err != nil {
		t.Fatal(err)
	}
	note("another folder")
	folders = folders[1:]
	note("a folder less")
	folders[0].Dir = a
	writeAt(t, filepath.Join(a, "two.md"), "x", yesterday.Add(time.Microsecond))
	note("the same in another folder")
}
