// Command kblibraries measures one full-text library on the knowledge base's own data; compare.sh builds it once for
// each library (by build tag) and runs them in turns. It is a module of its own, so that the tool does not depend on
// libraries that it does not use.
package main

import (
	"bufio"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/internal/kb/note"
)

// doc is one note as every library gets it.
type doc struct{ file, name, description, tags, headings, body string }

// weights of name, description, tags, headings and body: the same for every library.
var weights = [5]float64{3, 2, 1, 2, 1}

func main() {
	if len(os.Args) < 3 {
		return // what it costs to start
	}
	index, dir := os.Args[2], ""
	if len(os.Args) > 3 {
		dir = os.Args[3]
	}
	start := time.Now()
	switch os.Args[1] {
	case "make": // DIR: a thousand notes of 5 kB
		generate(index)
	case "index":
		check(create(index, read(dir)))
		fmt.Printf("index %.1f ms\n", ms(start))
	case "update": // one note, in the existing index
		docs := read(dir)[:1]
		docs[0].body += " changed"
		start = time.Now()
		check(update(index, docs))
		fmt.Printf("update %.1f ms\n", ms(start))
	case "query":
		hits, err := query(index, dir, 3)
		check(err)
		fmt.Printf("query %.1f ms, %d hits\n", ms(start), len(hits))
	case "rank": // the development half only
		rank(index, dir)
	}
}

func ms(start time.Time) float64 { return float64(time.Since(start).Microseconds()) / 1000 }

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(dir string) (docs []doc) {
	check(filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n := note.Parse(string(text))
		d := doc{file: strings.TrimPrefix(path, dir+"/"), name: n.Name, description: n.Description, tags: strings.Join(n.Tags, " ")}
		for _, h := range n.Headings {
			d.headings += h.Title + "\n"
		}
		for _, p := range n.Passages {
			d.body += p.Body + "\n"
		}
		docs = append(docs, d)
		return nil
	}))
	return docs
}

func rank(index, queries string) {
	f, err := os.Open(queries)
	check(err)
	n, total, found := 0, 0, 0
	for in := bufio.NewScanner(f); in.Scan(); {
		q, want, ok := strings.Cut(in.Text(), "\t")
		if !ok || strings.HasPrefix(q, "#") {
			continue
		}
		if n++; n%2 == 0 {
			continue
		}
		total++
		hits, err := query(index, q, 3)
		check(err)
		for _, h := range hits {
			if h == want {
				found++
			}
		}
	}
	fmt.Printf("recall@3 %d of %d\n", found, total)
}

// generate writes notes out of a vocabulary with the skew of language: word k is used about 1/k as often as the first.
func generate(dir string) {
	r := rand.New(rand.NewSource(1))
	zipf := rand.NewZipf(r, 1.1, 4, 19_999)
	check(os.MkdirAll(dir, 0o755))
	for i := range 1000 {
		var b strings.Builder
		fmt.Fprintf(&b, "---\nname: Note %d on w%d\ndescription: About w%d and w%d\ntags: [w%d]\ndate: 2026-01-02\n---\n# Note %d\n", i, zipf.Uint64(), zipf.Uint64(), zipf.Uint64(), zipf.Uint64(), i)
		for s := 0; b.Len() < 5000; s++ {
			fmt.Fprintf(&b, "\n## Section %d w%d\n\n", s, zipf.Uint64())
			for range 120 {
				fmt.Fprintf(&b, "w%ding ", zipf.Uint64())
			}
		}
		check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("note%04d.md", i)), []byte(b.String()), 0o644))
	}
}
