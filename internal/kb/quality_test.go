package kb

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/config"
)

// question is a line of testdata/queries.tsv: what somebody asks, and the note that answers it.
type question struct{ text, note string }

// questions returns the test set's halves. The lines were written before there was a ranking; the even ones are held
// out, to be looked at by this test alone.
func questions(t testing.TB) (development, heldOut []question) {
	t.Helper()
	data, err := os.ReadFile("testdata/queries.tsv")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, line := range strings.Split(string(data), "\n") {
		text, note, ok := strings.Cut(line, "\t")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		if n++; n%2 == 0 {
			heldOut = append(heldOut, question{text, note})
		} else {
			development = append(development, question{text, note})
		}
	}
	return development, heldOut
}

// env is an environment of a home folder and nothing else.
func env(home string) config.Env {
	return func(name string) (string, bool) { return home, name == "HOME" }
}

// ferry copies the test set's project and opens it.
func ferry(t testing.TB) *Base {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("testdata/ferry")); err != nil {
		t.Fatal(err)
	}
	return open(t, root)
}

func open(t testing.TB, dir string) *Base {
	t.Helper()
	b, err := Open(dir, env(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// recall is how many of the questions have their note among the first k that rank gives.
func recall(t *testing.T, qs []question, k int, rank func(string) []string) (found int, missed []string) {
	t.Helper()
	for _, q := range qs {
		got := rank(q.text)
		if slices.Contains(got[:min(k, len(got))], q.note) {
			found++
		} else {
			missed = append(missed, q.text)
		}
	}
	return found, missed
}

// grepCount ranks as somebody with grep would: by how often a note has any of the question's words, in any case, as
// whole words or within others. Ties go to the note with more different words.
func grepCount(t *testing.T, dir string) func(string) []string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		texts[filepath.ToSlash(name)] = strings.ToLower(string(data))
		return err
	})
	if err != nil || len(texts) != 60 {
		t.Fatalf("%d notes, %v", len(texts), err)
	}
	return func(query string) []string {
		type hit struct {
			name         string
			count, kinds int
		}
		var hits []hit
		for name, text := range texts {
			h := hit{name: name}
			for _, w := range strings.Fields(strings.ToLower(query)) {
				if n := strings.Count(text, strings.Trim(w, `",.?`)); n > 0 {
					h.count += n
					h.kinds++
				}
			}
			if h.count > 0 {
				hits = append(hits, h)
			}
		}
		slices.SortFunc(hits, func(a, b hit) int {
			return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(b.kinds, a.kinds), cmp.Compare(a.name, b.name))
		})
		var names []string
		for _, h := range hits {
			names = append(names, h.name)
		}
		return names
	}
}

// The search finds the right note among its first three for at least nine of ten held-out questions, and more often
// than counting matches does.
func TestQuality(t *testing.T) {
	b := ferry(t)
	search := func(query string) (files []string) {
		hits, err := b.Search(query, 3)
		if err != nil {
			t.Fatalf("%q: %v", query, err)
		}
		for _, h := range hits {
			files = append(files, h.File)
		}
		return files
	}
	grep := grepCount(t, filepath.Join("testdata", "ferry", ".claude", "memories"))
	development, heldOut := questions(t)
	if len(development) < 30 || len(heldOut) < 30 {
		t.Fatalf("%d and %d questions", len(development), len(heldOut))
	}
	for _, half := range []struct {
		name string
		qs   []question
	}{{"development", development}, {"held out", heldOut}} {
		share := func(rank func(string) []string, k int) float64 {
			n, _ := recall(t, half.qs, k, rank)
			return float64(n) / float64(len(half.qs))
		}
		ours, theirs := share(search, 3), share(grep, 3)
		t.Logf("%-11s %d questions: recall@3 %.3f, by grep count %.3f, margin %+.3f; recall@1 %.3f, by grep count %.3f",
			half.name, len(half.qs), ours, theirs, ours-theirs, share(search, 1), share(grep, 1))
		if half.name == "development" {
			_, missed := recall(t, half.qs, 1, search)
			t.Logf("not first: %q", missed)
			continue
		}
		if ours < 0.9 {
			t.Errorf("recall@3 on the held-out half is %.3f", ours)
		}
		if ours <= theirs {
			t.Errorf("no better than grep count: %.3f to %.3f", ours, theirs)
		}
	}
}
