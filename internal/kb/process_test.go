package kb

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// helperUpdate changes its notes many times and searches after each change: an answer must have the change.
func helperUpdate(root, me, rounds string) {
	n, err := strconv.Atoi(rounds)
	must(err)
	for i := range n {
		name := filepath.Join(root, ".claude", "memories", fmt.Sprintf("%s-%d.md", me, i%3))
		word := fmt.Sprintf("zz%sround%d", me, i)
		must(os.WriteFile(name, fmt.Appendf(nil, "# %s\n\n%s\n", word, word), 0o644))
		b, err := Open(root, env(root))
		must(err)
		hits, err := b.Search(word, 1)
		must(err)
		if len(hits) != 1 || hits[0].Name != word {
			must(fmt.Errorf("round %d: %q found %+v", i, word, hits))
		}
		if b.why != "" {
			must(fmt.Errorf("round %d: index in memory: %s", i, b.why))
		}
	}
}

// dump is everything an index holds, apart from ids and times.
func dump(t *testing.T, ix *index) string {
	t.Helper()
	var out bytes.Buffer
	err := ix.each(`select n.file, n.size, n.hash, n.name, p.headings, p.first, p.last, t.heading, t.body, t.code
		from note n left join passage p on p.id >> 20 = n.id left join passage_text t on t.rowid = p.id order by n.file, p.first`, nil, func(s *sqlite3.Stmt) {
		for i := range s.ColumnCount() {
			fmt.Fprintf(&out, "%q ", s.ColumnText(i))
		}
		out.WriteByte('\n')
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		`select 'integrity: ' || integrity_check from pragma_integrity_check where integrity_check <> 'ok'`,
		`select 'passages: ' || (select count(*) from passage) || ' ' || (select count(*) from passage_text) where (select count(*) from passage) <> (select count(*) from passage_text)`,
		`select 'notes: ' || (select count(*) from note where problem = '') || ' ' || (select count(*) from note_text) where (select count(*) from note where problem = '') <> (select count(*) from note_text)`,
	} {
		if err := ix.each(sql, nil, func(s *sqlite3.Stmt) { t.Error(s.ColumnText(0)) }); err != nil {
			t.Error(err)
		}
	}
	if err := ix.db.Exec(`insert into passage_text (passage_text) values ('integrity-check'); insert into note_text (note_text) values ('integrity-check')`); err != nil {
		t.Error(err)
	}
	return out.String()
}

// Several processes change notes and search at once. Each finds what it has just written, and in the end the index is
// the one that a first run over the files makes.
func TestProcessesUpdateAtOnce(t *testing.T) {
	b := ferry(t)
	root := b.Places.Project.Root
	var wg sync.WaitGroup
	for _, me := range []string{"one", "two", "three"} {
		wg.Go(func() {
			if out, err := helperCommand(t, "update", root, me, "12").CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", me, err, out)
			}
		})
	}
	wg.Wait()
	if _, err := b.Search("anything", 1); err != nil {
		t.Fatal(err)
	}
	fresh, err := openIndex(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.close()
	if err := fresh.refresh(b.Places.Found); err != nil {
		t.Fatal(err)
	}
	err = withIndex(filepath.Join(b.Dir(), indexName), func(ix *index) error {
		if got, want := dump(t, ix), dump(t, fresh); got != want {
			t.Errorf("the index differs from one made anew:\n%s\n%s", got, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// However an index is damaged, the next search gives the right answer and leaves a sound index behind.
func TestDamagedIndex(t *testing.T) {
	garbage := bytes.Repeat([]byte("\xde\xad\xbe\xef"), 1024)
	overwrite := func(at func(size int64) int64) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			info, err := f.Stat()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteAt(garbage, at(info.Size())/4096*4096); err != nil {
				t.Fatal(err)
			}
		}
	}
	damages := map[string]func(*testing.T, string){
		"first page": overwrite(func(int64) int64 { return 0 }),
		"empty":      func(t *testing.T, path string) { write(t, path, "") },
		"a text": func(t *testing.T, path string) {
			write(t, path, "not a database, but longer than its header is, which has a hundred bytes, and so SQLite has a look")
		},
		"truncated": func(t *testing.T, path string) {
			if err := os.Truncate(path, 9000); err != nil {
				t.Fatal(err)
			}
		},
		"no tables": func(t *testing.T, path string) { change(t, path, `drop table passage_text; drop table note`) },
		"row lost": func(t *testing.T, path string) {
			change(t, path, `delete from note where id = (select max(id) from note)`)
		},
		"one digit": func(t *testing.T, path string) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			wrong := bytes.ReplaceAll(data, []byte("a lease of 12 minutes"), []byte("a lease of 99 minutes"))
			if bytes.Equal(wrong, data) {
				t.Fatal("the text to change is not there")
			}
			write(t, path, string(wrong))
		},
		"other version": func(t *testing.T, path string) { change(t, path, `pragma user_version = 99`) },
	}
	for i := int64(1); i < 16; i++ {
		damages[fmt.Sprintf("page at %d/16", i)] = overwrite(func(size int64) int64 { return size * i / 16 })
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			b := ferry(t)
			want, err := b.Search("cabin hold lease redis", 5)
			if err != nil || len(want) != 5 {
				t.Fatal(want, err)
			}
			path := filepath.Join(b.Dir(), indexName)
			damage(t, path)
			// Make the index take something in, which reads and writes more of it than a query does.
			write(t, filepath.Join(b.Places.Project.Dir, "ops", "new.md"), "# New\n\nquokka\n")
			got, err := b.Search("cabin hold lease redis", 5)
			if err != nil || len(got) != len(want) || got[0].File != want[0].File || got[0].Snippet != want[0].Snippet {
				t.Fatalf("after the damage: %v, %v; before: %v", got, err, want)
			}
			if hits, err := b.Search("quokka", 1); err != nil || len(hits) != 1 || hits[0].File != "ops/new.md" {
				t.Fatalf("a new note: %v, %v", hits, err)
			}
			if b.why != "" {
				t.Errorf("index in memory: %s", b.why)
			}
		})
	}
}

func change(t *testing.T, path, sql string) {
	t.Helper()
	if err := withIndex(path, func(ix *index) error {
		if _, err := ix.db.Config(sqlite3.DBCONFIG_DEFENSIVE, false); err != nil {
			return err
		}
		return ix.db.Exec(sql)
	}); err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A search works where no index can be written, says so in the status, and sees changes all the same.
func TestIndexInMemory(t *testing.T) {
	for name, block := range map[string]func(t *testing.T, claude string){
		"the folder is a file": func(t *testing.T, claude string) { write(t, filepath.Join(claude, ".kb-gate", "index"), "x") },
		"the state is a link": func(t *testing.T, claude string) {
			if err := os.Symlink(t.TempDir(), filepath.Join(claude, ".kb-gate")); err != nil {
				t.Skip(err)
			}
		},
		"the index is a folder": func(t *testing.T, claude string) {
			write(t, filepath.Join(claude, ".kb-gate", "index", indexName, "x"), "x")
		},
		"the index is a link": func(t *testing.T, claude string) {
			write(t, filepath.Join(claude, ".kb-gate", "index", ".gitignore"), "*")
			target := filepath.Join(t.TempDir(), "target")
			write(t, target, "")
			if err := os.Symlink(target, filepath.Join(claude, ".kb-gate", "index", indexName)); err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() {
				if data, err := os.ReadFile(target); err != nil || len(data) > 0 {
					t.Errorf("what the link points to has %d bytes, %v", len(data), err)
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := ferry(t)
			block(t, filepath.Join(b.Places.Project.Root, ".claude"))
			for _, word := range []string{"quokka", "wombat"} {
				write(t, filepath.Join(b.Places.Project.Dir, "note.md"), "# "+word)
				if hits, err := b.Search(word, 1); err != nil || len(hits) != 1 {
					t.Errorf("%s: %v, %v", word, hits, err)
				}
			}
			if st, err := b.Status(); err != nil || st.Index.InMemory == "" || st.Index.Dir != "" {
				t.Errorf("status %+v, %v", st.Index, err)
			}
		})
	}
}

// A process that holds the lock and does not go on stops nobody.
func TestLockHeld(t *testing.T) {
	b := ferry(t)
	unlock, err := lockDir(b.Dir(), lockWait)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	b.wait = time.Millisecond
	if hits, err := b.Search("redis", 1); err != nil || len(hits) != 1 || !strings.Contains(b.why, "another process") {
		t.Errorf("%v, %v, %q", hits, err, b.why)
	}
}

// The times of a file can lie: two changes within the clock's tick, a change that keeps size and time. An entry that is
// not clearly younger than its file is checked against the content.
func TestChangeThatKeepsSizeAndTime(t *testing.T) {
	b := ferry(t)
	name := filepath.Join(b.Places.Project.Dir, "note.md")
	at := time.Now()
	for _, word := range []string{"quokka", "wombat", "numbat"} {
		write(t, name, "# "+word)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
		if hits, err := b.Search(word, 1); err != nil || len(hits) != 1 {
			t.Errorf("%s: %v, %v", word, hits, err)
		}
	}
}
