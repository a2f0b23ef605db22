package kb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// project makes a project of notes, given as names and texts.
func project(t *testing.T, notes map[string]string) *Base {
	t.Helper()
	root := t.TempDir()
	for name, text := range notes {
		write(t, filepath.Join(root, ".claude", "memories", filepath.FromSlash(name)), text)
	}
	return open(t, root)
}

// files searches and returns the notes found.
func files(t *testing.T, b *Base, query string) (out []string) {
	t.Helper()
	hits, err := b.Search(query, 0)
	if err != nil {
		t.Fatalf("%q: %v", query, err)
	}
	for _, h := range hits {
		out = append(out, h.File)
	}
	return out
}

// What a query finds in notes of which each has one thing to find.
func TestWords(t *testing.T) {
	b := project(t, map[string]string{
		"snake.md":                      "The column `order_line_total` is derived.",
		"camel.md":                      "Call `ManifestCloser` and `HTTPServerPool` first.",
		"path.md":                       "See services/booking/saga.go for it.",
		"stem.md":                       "Consumers were rebalancing; the connection was cancelled.",
		"stop.md":                       "To be or not to be, that is it.",
		"accent.md":                     "Öffnungszeiten am Café.",
		"flag.md":                       "Pass --no-cache and set max.poll.interval.ms to 5.",
		"version.md":                    "Fixed in v1.62.0 of the driver.",
		"meta.md":                       "---\nname: Untitled thing\ndescription: Wherefore of zeppelins\ntags: [quagga, two words]\ndate: 2031-07-05\n---\nnothing",
		"heading.md":                    "# Top\n\nx\n\n## Xylophone maintenance\n\ny\n",
		"in-the-file-name-wolverine.md": "z",
	})
	for query, want := range map[string]string{
		"order_line_total": "snake.md", "order line total": "snake.md", "orderLineTotal": "snake.md", "line_total": "snake.md",
		"ManifestCloser": "camel.md", "manifestcloser": "camel.md", "manifest_closer": "camel.md", "closer": "camel.md", "server pool": "camel.md", "HTTPServerPool": "camel.md",
		"services/booking/saga.go": "path.md", "saga.go": "path.md", "saga": "path.md",
		"rebalance": "stem.md", "rebalances": "stem.md", "connections": "stem.md", "cancelling": "stem.md",
		"to be or not to be": "stop.md", "not": "stop.md",
		"cafe": "accent.md", "CAFÉ": "accent.md", "öffnungszeiten": "accent.md", "offnungszeiten": "accent.md",
		"--no-cache": "flag.md", "max.poll.interval.ms": "flag.md", "v1.62.0": "version.md",
		"untitled": "meta.md", "zeppelin": "meta.md", "quagga": "meta.md", "2031-07-05": "meta.md", "2031": "meta.md",
		"xylophones": "heading.md", "wolverine": "in-the-file-name-wolverine.md",
		"quag": "meta.md", "manifestc": "camel.md", // nothing has the word, so its beginning counts
		`"AND" NEAR(zeppelins) -qq ^qq * col:qq "`: "meta.md", // FTS5's own syntax has no meaning
	} {
		if got := files(t, b, query); len(got) == 0 || got[0] != want {
			t.Errorf("%q found %q, want %s first", query, got, want)
		}
	}
	for _, query := range []string{"", " ", "***", `"`, "unfindable", "\x00", "'; drop table note; --unfindable"} {
		if got := files(t, b, query); len(got) != 0 {
			t.Errorf("%q found %q", query, got)
		}
	}
	if got := files(t, b, strings.Repeat("qqa qqb qqc qqd ", 10_000)+"quagga"); len(got) != 0 {
		t.Errorf("a query of 270 kB found %q", got)
	}
}

// A note with an identifier comes before one that has its words here and there, and more often.
func TestWholeIdentifiersFirst(t *testing.T) {
	scattered := strings.Repeat("The total of a line; an order has a total. ", 3)
	b := project(t, map[string]string{
		"a.md": scattered, "b.md": scattered + "Or services first, saga next, booking last, go.",
		"snake.md": "We store `order_line_total` in a column of that table, next to some other columns that matter less here.",
		"path.md":  "It is done in services/booking/saga.go and nowhere else, whatever the other file of the same name says about it.",
	})
	for query, want := range map[string]string{"order_line_total": "snake.md", "OrderLineTotal": "snake.md", "booking/saga.go": "path.md"} {
		if got := files(t, b, query); len(got) == 0 || got[0] != want {
			t.Errorf("%q found %q, want %s first", query, got, want)
		}
	}
}

func TestHit(t *testing.T) {
	b := project(t, map[string]string{"sub/note.md": "---\nname: Holds\ndescription: About holds\ntags: [redis, cabin]\ndate: 2026-01-19\n---\n# Holds\n\nIntro.\n\n## Lease\n\nA hold has a \x1b[31mlease\u202e of 12 minutes.\n\n### Renewal\n\nThe lease is renewed once; the lease never twice.\n\n## Other\n\nNothing.\n"})
	hits, err := b.Search("lease minutes", 0)
	if err != nil || len(hits) != 1 {
		t.Fatal(hits, err)
	}
	h := hits[0]
	if h.Score <= 0 {
		t.Errorf("score %v", h.Score)
	}
	h.Score = 0
	h.note, h.passage, h.more = 0, 0, nil
	want := Hit{
		File: "sub/note.md", Folder: "project", Path: filepath.Join(b.Places.Project.Dir, "sub", "note.md"), Heading: "Lease", Headings: "Holds > Lease",
		First: 11, Last: 13, Name: "Holds", Description: "About holds", Tags: "redis, cabin", Date: "2026-01-19", Snippet: "A hold has a [31mlease of 12 minutes.",
		More: []Range{{"Renewal", 15, 17}},
	}
	if len(hits[0].More) == 0 {
		want.More = nil // whether the second passage is close enough is the ranking's to say
	}
	if !reflect.DeepEqual(h, want) {
		t.Errorf("hit\n%+v, want\n%+v", h, want)
	}
}

// A note that fits by its front matter alone shows how its text begins; one of which several passages fit equally names
// them, each hit its own.
func TestHitsOfBothKinds(t *testing.T) {
	b := project(t, map[string]string{
		"about.md": "---\ndescription: Wherefore of zeppelins\n---\n# Airships\n\nNothing to see.\n",
		"two.md":   "# Top\n\n## One\n\nA zeppelin is here.\n\n## Two\n\nA zeppelin is here.\n",
	})
	hits, err := b.Search("zeppelins", 0)
	if err != nil || len(hits) != 2 {
		t.Fatal(hits, err)
	}
	for _, h := range hits {
		switch h.File {
		case "about.md":
			if h.Snippet != "Nothing to see." || h.Heading != "Airships" || h.First != 4 || len(h.More) != 0 {
				t.Errorf("by its front matter: %+v", h)
			}
		case "two.md":
			if want := []Range{{"Two", 7, 9}}; h.Heading != "One" || h.First != 3 || h.Snippet != "A zeppelin is here." || !reflect.DeepEqual(h.More, want) {
				t.Errorf("by two passages: %+v", h)
			}
		}
	}
}

func TestLimit(t *testing.T) {
	notes := map[string]string{}
	for i := range 60 {
		notes[fmt.Sprintf("n%02d.md", i)] = strings.Repeat("filler ", i) + "common"
	}
	b := project(t, notes)
	for limit, want := range map[int]int{0: 6, -1: 6, 1: 1, 7: 7, 50: 50, 1000: 50} {
		hits, err := b.Search("common", limit)
		if err != nil || len(hits) != want {
			t.Errorf("limit %d: %d hits, %v", limit, len(hits), err)
		}
		for i := 1; i < len(hits); i++ {
			if hits[i].Score > hits[i-1].Score {
				t.Errorf("limit %d: hit %d has a higher score than the one before", limit, i)
			}
		}
	}
}

// Added, changed, renamed, deleted, emptied: the next search knows.
func TestChangesAreSeen(t *testing.T) {
	b := project(t, map[string]string{"a.md": "aardvark", "b.md": "bison"})
	dir := b.Places.Project.Dir
	expect := func(query string, want ...string) {
		t.Helper()
		if got := files(t, b, query); !reflect.DeepEqual(got, want) {
			t.Errorf("%q found %q, want %q", query, got, want)
		}
	}
	expect("aardvark", "a.md")
	write(t, filepath.Join(dir, "c.md"), "camel")
	expect("camel", "c.md")
	write(t, filepath.Join(dir, "a.md"), "antelope")
	expect("antelope", "a.md")
	expect("aardvark")
	if err := os.Rename(filepath.Join(dir, "b.md"), filepath.Join(dir, "z.md")); err != nil {
		t.Fatal(err)
	}
	expect("bison", "z.md")
	if err := os.Remove(filepath.Join(dir, "z.md")); err != nil {
		t.Fatal(err)
	}
	expect("bison")
	write(t, filepath.Join(dir, "c.md"), "not UTF-8 any more: camel \xff")
	expect("camel")
	write(t, filepath.Join(dir, "c.md"), "camel again")
	expect("camel", "c.md")
	write(t, filepath.Join(dir, "c.md"), "")
	expect("camel")
}

// An unchanged file is not read again, a touched one is not indexed again.
func TestUnchangedFilesAreNotRead(t *testing.T) {
	b := project(t, map[string]string{"a.md": "aardvark"})
	name := filepath.Join(b.Places.Project.Dir, "a.md")
	settled := time.Now().Add(-time.Hour)
	if err := os.Chtimes(name, settled, settled); err != nil {
		t.Fatal(err)
	}
	files(t, b, "aardvark")
	ids := func() (s string) {
		err := withIndex(filepath.Join(b.Dir(), indexName), func(ix *index) error {
			s = fmt.Sprint(dump(t, ix), ix.db.TotalChanges())
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	before := ids()
	// Same size and time, other content: if it is found, the file was read without need.
	write(t, name, "anteater")
	if err := os.Chtimes(name, settled, settled); err != nil {
		t.Fatal(err)
	}
	if got := files(t, b, "anteater"); len(got) != 0 {
		t.Errorf("an unchanged file was read: found %q", got)
	}
	if after := ids(); after != before {
		t.Errorf("the index changed:\n%s\n%s", before, after)
	}
	if err := os.Chtimes(name, settled, settled.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if got := files(t, b, "anteater"); len(got) != 1 {
		t.Errorf("a file with a new time was not read: found %q", got)
	}
}

func TestFoldersAreNamed(t *testing.T) {
	home := t.TempDir()
	root := filepath.Join(home, "mono", "app")
	for dir, text := range map[string]string{
		filepath.Join(root, ".claude", "memories"):         "shared wisdom of the project",
		filepath.Join(home, "mono", ".claude", "memories"): "shared wisdom of the parent",
		filepath.Join(home, ".claude", "memories"):         "shared wisdom of the user",
	} {
		write(t, filepath.Join(dir, "same.md"), text)
	}
	write(t, filepath.Join(root, ".git"), "")
	b, err := Open(root, env(home))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	hits, err := b.Search("shared wisdom", 0)
	if err != nil || len(hits) != 3 {
		t.Fatal(hits, err)
	}
	for _, h := range hits {
		text, err := b.Get(h.File, "")
		if err != nil || !strings.HasSuffix(text.Text, " "+h.Folder) || text.Path != h.Path || text.File != h.File {
			t.Errorf("%s of %s: %+v, %v", h.File, h.Folder, text, err)
		}
		byPath, err := b.Get(h.Path, "")
		if err != nil || byPath != text {
			t.Errorf("by path: %+v, %v", byPath, err)
		}
	}
	if text, err := b.Get("same.md", ""); err != nil || text.Folder != "project" {
		t.Errorf("without a label: %+v, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(home, ".claude", ".kb-gate")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a second index beside the user's notes: %v", err)
	}
}

func TestGet(t *testing.T) {
	b := project(t, map[string]string{
		"sub/a.md": "---\nname: A\n---\n# One\n\nfirst\n\n## Two\n\nsecond \x1b[2J\n\n### Three\n\nthird\n\n# Four\n\nfourth\n",
		"odd#x.md": "odd", "bad.md": "\xff",
	})
	for file, want := range map[string]string{
		"sub/a.md#Two": "## Two\n\nsecond [2J\n\n### Three\n\nthird", "sub/a#three": "### Three\n\nthird", ".claude/memories/sub/a.md#Four": "# Four\n\nfourth",
		"./sub/../sub/a.md#One > Two": "## Two\n\nsecond [2J\n\n### Three\n\nthird", "odd#x.md": "odd", "sub/a.md#": "---\nname: A\n---\n# One\n\nfirst\n\n## Two\n\nsecond [2J\n\n### Three\n\nthird\n\n# Four\n\nfourth",
	} {
		if text, err := b.GetAt(file, ""); err != nil || text.Text != want {
			t.Errorf("%s: %q, %v; want %q", file, text.Text, err, want)
		}
	}
	var heading *HeadingError
	if _, err := b.GetAt("sub/a.md", "Five"); !errors.As(err, &heading) || !reflect.DeepEqual(heading.Have, []string{"One", "Two", "Three", "Four"}) {
		t.Errorf("no such heading: %v", err)
	}
	for _, file := range []string{"none.md", "", "..", "../../x", "../.kb-gate/index/notes.db", "sub", "user:sub/a.md", "/etc/passwd", filepath.Join(b.Places.Project.Root, "x.md"), "bad.md"} {
		if text, err := b.GetAt(file, ""); err == nil {
			t.Errorf("%s: %+v", file, text)
		}
	}
}

func TestSnippet(t *testing.T) {
	words := func(n int, w string) string { return strings.TrimSpace(strings.Repeat(w+" ", n)) }
	on := func(s string) string { return markOn + s + markOff }
	for name, c := range map[string]struct{ text, want string }{
		"short":        {"one " + on("two") + "\n three", "one two three"},
		"far in":       {words(200, "filler") + " " + on("here") + " " + words(200, "after"), "here after"},
		"most kinds":   {on("a") + " " + on("a") + " " + on("a") + " " + words(100, "filler") + " " + on("b") + " x " + on("c") + " " + words(100, "filler"), "b x c"},
		"at the end":   {words(200, "filler") + " " + on("end"), "filler end"},
		"nothing fits": {words(200, "filler"), "filler filler"},
		"one word":     {on(strings.Repeat("é", 1000)), "ééé"},
		"not closed":   {words(100, "filler") + markOn + "x", "filler"},
	} {
		got := snippet(c.text)
		if !strings.Contains(got, c.want) || utf8.RuneCountInString(got) > MaxSnippet || strings.ContainsAny(got, markOn+markOff) {
			t.Errorf("%s: %d characters: %q", name, utf8.RuneCountInString(got), got)
		}
	}
}

func FuzzSearch(f *testing.F) {
	b := ferry(f)
	if _, err := b.Search("x", 1); err != nil {
		f.Fatal(err)
	}
	ix, err := openIndex(":memory:")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { ix.close() })
	if err := ix.refresh(b.Places.Found); err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"cabin", `"a" OR NEAR(b c)`, "CamelCase snake_case a/b.c", "\x00\xff", "ǅ İ ß 漢字"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, query string) {
		ts := terms(query)
		for _, expr := range []string{strings.Join(ts, " OR "), strings.Join(ts, "* OR ") + "*"} {
			if len(ts) == 0 {
				continue
			}
			if _, err := ix.search(expr, 6); err != nil {
				t.Fatalf("%q as %q: %v", query, expr, err)
			}
		}
	})
}
