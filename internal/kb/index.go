package kb

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"

	"plimsoll/internal/kb/memories"
	"plimsoll/internal/kb/note"
	"plimsoll/internal/statefile"
)

// Files in the index's folder.
const (
	indexName = "notes.db"
	lockName  = "lock"
)

// schemaVersion goes up with every change of the tables or of what is put into them; an index of another version is
// made anew.
const schemaVersion = 2

// lockWait is how long to wait for another process. It needs the lock for a fraction of a second, for a first index of
// thousands of notes for a few; one that holds it longer is stopped.
const lockWait = 10 * time.Second

// racy is how much younger than its note's modification time an index entry must not be to be believed. Two writes
// within the file system's clock tick (2 s on FAT) leave the time as it was.
const racy = 2 * time.Second

const tables = `
create table note (
	id integer primary key, dir text not null, file text not null,
	mtime integer not null, size integer not null, checked integer not null, hash text not null,
	problem text not null, name text not null, description text not null, tags text not null, date text not null,
	unique (dir, file));
create table listing (digest text not null);
create table passage (id integer primary key, headings text not null, first integer not null, last integer not null);
create virtual table note_text using fts5 (name, description, tags, headings, body, code,
	content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2');
create virtual table passage_text using fts5 (heading, body, code, tokenize = 'porter unicode61 remove_diacritics 2');
`

// A passage's id is its note's, shifted, with the passage's number: its note is known without a look at another table, and
// the passages of a note are a range. A file of MaxFile bytes has fewer than 1 << passageBits passages.
const passageBits = 20

// index is one SQLite connection. Notes and their passages stand in two full-text tables: a question's words are often
// spread over a note, so notes are ranked whole, and then passages within them.
type index struct{ db *sqlite3.Conn }

// errVersion reports an index that another version of the program made.
var errVersion = errors.New("index of another version")

// lockDir makes the index's folder and takes its lock, unless that takes longer than wait.
func lockDir(dir string, wait time.Duration) (unlock func(), err error) {
	for _, d := range []string{filepath.Dir(dir), dir} {
		// A repository could carry links that lead our writes elsewhere.
		if info, err := os.Lstat(d); err == nil && !info.IsDir() {
			return nil, fmt.Errorf("%s is not a folder", d)
		}
		if err := os.Mkdir(d, statefile.DirMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	// The index is of no use to anybody else, and no .gitignore of the user's names it yet.
	ignore := filepath.Join(dir, ".gitignore")
	if _, err := os.Lstat(ignore); errors.Is(err, fs.ErrNotExist) {
		if err := statefile.Replace(ignore, []byte("*\n")); err != nil {
			return nil, err
		}
	}
	type locked struct {
		unlock func()
		err    error
	}
	got := make(chan locked, 1)
	go func() {
		unlock, err := statefile.Lock(filepath.Join(dir, lockName))
		got <- locked{unlock, err}
	}()
	select {
	case l := <-got:
		return l.unlock, l.err
	case <-time.After(wait):
		go func() {
			if l := <-got; l.err == nil {
				l.unlock()
			}
		}()
		return nil, fmt.Errorf("lock %s: another process has held it for %s", dir, wait)
	}
}

// withIndex opens the index at path for f.
func withIndex(path string, f func(*index) error) error {
	ix, err := openIndex(path)
	if err != nil {
		return err
	}
	err = f(ix)
	if cerr := ix.close(); err == nil {
		err = cerr
	}
	return err
}

func openIndex(path string) (*index, error) {
	if path != ":memory:" {
		if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
			return nil, &dirError{fmt.Errorf("%s is not a file", path)}
		}
	}
	db, err := sqlite3.Open(path)
	if err != nil {
		return nil, err
	}
	ix := &index{db}
	if err := ix.prepare(); err != nil {
		ix.close()
		return nil, err
	}
	return ix, nil
}

func (ix *index) close() error { return ix.db.Close() }

func (ix *index) prepare() error {
	if err := fts5.Register(ix.db); err != nil {
		return err
	}
	// Whoever has the file open has the folder's lock, so SQLite need not take its own for every statement, nor look each
	// time whether somebody wrote meanwhile.
	if err := ix.db.Exec(`pragma locking_mode = exclusive`); err != nil {
		return err
	}
	version, tableCount := 0, 0
	err := ix.each(`select user_version, (select count(*) from sqlite_schema) from pragma_user_version`, nil, func(s *sqlite3.Stmt) {
		version, tableCount = s.ColumnInt(0), s.ColumnInt(1)
	})
	switch {
	case err != nil:
		return err
	case version == schemaVersion:
		return nil
	case tableCount > 0:
		return errVersion
	}
	// Checksums tell a damaged page from a sound one wherever it is read.
	if err := ix.db.EnableChecksums("main"); err != nil {
		return err
	}
	return ix.db.Exec(`begin immediate;` + tables + fmt.Sprintf(`pragma user_version = %d; commit`, schemaVersion))
}

// damaged tells whether an index cannot be read any more, so that a new one has to be made. A wrong checksum is an IOERR, a
// missing table an ERROR, a row that should not be there a CONSTRAINT.
func damaged(err error) bool {
	return errors.Is(err, errVersion) || errors.Is(err, sqlite3.CORRUPT) || errors.Is(err, sqlite3.NOTADB) || errors.Is(err, sqlite3.IOERR) ||
		errors.Is(err, sqlite3.ERROR) || errors.Is(err, sqlite3.CONSTRAINT)
}

func removeIndex(path string) error {
	for _, suffix := range []string{"-journal", "-wal", "-shm", ""} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// each runs a statement and calls f for every row. The arguments are strings, ints and int64s.
func (ix *index) each(sql string, args []any, f func(*sqlite3.Stmt)) error {
	s, _, err := ix.db.Prepare(sql)
	if err != nil {
		return err
	}
	defer s.Close()
	return run(s, args, f)
}

func run(s *sqlite3.Stmt, args []any, f func(*sqlite3.Stmt)) (err error) {
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			err = s.BindText(i+1, arg)
		case int:
			err = s.BindInt(i+1, arg)
		case int64:
			err = s.BindInt64(i+1, arg)
		default:
			panic(fmt.Sprintf("statement argument of type %T", arg))
		}
		if err != nil {
			return err
		}
	}
	for s.Step() {
		if f != nil {
			f(s)
		}
	}
	err = s.Err()
	if rerr := s.Reset(); err == nil {
		err = rerr
	}
	return err
}

// entry is what the index knows about a file.
type entry struct {
	id                   int64
	mtime, size, checked int64
	hash                 string
}

// fresh tells whether the entry can be believed without reading the file.
func (e entry) fresh(f memories.File) bool {
	return e.mtime == f.ModTime && e.size == f.Size && e.mtime < e.checked-int64(racy)
}

// listing is the memory folders as one look found them.
type listing struct {
	folders []listed
	digest  string // of everything below: two looks with one digest saw the same
}

type listed struct {
	*memories.Open
	files []memories.File
}

// look lists the folders. What it returns is closed also with an error.
func look(folders []memories.Folder) (l listing, err error) {
	sum := sha256.New()
	var b []byte
	for _, folder := range folders {
		o, err := folder.Open()
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue // it went away since it was found
			}
			return l, err
		}
		files, _, err := o.Files()
		l.folders = append(l.folders, listed{o, files})
		if err != nil {
			return l, fmt.Errorf("list %s: %w", folder.Dir, err)
		}
		// No name has a zero byte, so nothing can be read in two ways.
		b = append(append(b[:0], folder.Dir...), 0)
		for _, f := range files {
			b = append(append(b, f.Name...), 0)
			b = binary.BigEndian.AppendUint64(b, uint64(f.Size))
			b = binary.BigEndian.AppendUint64(b, uint64(f.ModTime))
		}
		sum.Write(append(b, 0))
	}
	l.digest = hex.EncodeToString(sum.Sum(nil))
	return l, nil
}

func (l listing) close() {
	for _, o := range l.folders {
		o.Close()
	}
}

// refresh takes in what changed in the folders since.
func (ix *index) refresh(folders []memories.Folder) error {
	l, err := look(folders)
	defer l.close()
	if err != nil {
		return err
	}
	return ix.take(l)
}

// take makes the index one of what a look found. When the digest is the index's there is nothing to do: an entry that
// cannot be believed without reading its file is in no index with a digest.
func (ix *index) take(l listing) (err error) {
	same := false
	if err := ix.each(`select 1 from listing where digest = ?`, []any{l.digest}, func(*sqlite3.Stmt) { same = true }); err != nil || same {
		return err
	}
	type place struct{ dir, file string }
	known := map[place]entry{}
	err = ix.each(`select dir, file, id, mtime, size, checked, hash from note`, nil, func(s *sqlite3.Stmt) {
		known[place{s.ColumnText(0), s.ColumnText(1)}] = entry{s.ColumnInt64(2), s.ColumnInt64(3), s.ColumnInt64(4), s.ColumnInt64(5), s.ColumnText(6)}
	})
	if err != nil {
		return err
	}
	w := writer{ix: ix}
	defer func() { err = w.end(err) }()
	fresh := true
	for _, o := range l.folders {
		for _, f := range o.files {
			at := place{o.Dir, f.Name}
			old, have := known[at]
			delete(known, at)
			if have && old.fresh(f) {
				continue
			}
			now := time.Now().UnixNano()
			text, err := o.Read(f.Name)
			problem := ""
			switch {
			case errors.Is(err, memories.ErrNotText):
				problem = memories.ErrNotText.Error()
			case errors.Is(err, fs.ErrNotExist):
				if have {
					known[at] = old // gone between the list and now
				}
				fresh = false
				continue
			case err != nil:
				problem = "it cannot be read"
				now = 0 // never fresh: permissions change without a trace in the file
			}
			sum := sha256.Sum256([]byte(text))
			hash := problem + hex.EncodeToString(sum[:])
			again := entry{mtime: f.ModTime, size: f.Size, checked: now}.fresh(f)
			fresh = fresh && again
			if have && old.hash == hash {
				if old.mtime != f.ModTime || old.size != f.Size || again {
					err = w.exec(`update note set mtime = ?, size = ?, checked = ? where id = ?`, f.ModTime, f.Size, now, old.id)
				} else {
					err = nil
				}
				if err != nil {
					return err
				}
				continue
			}
			if have {
				if err := w.remove(old.id); err != nil {
					return err
				}
			}
			if err := w.add(o.Dir, f, now, hash, problem, text); err != nil {
				return err
			}
		}
	}
	for _, e := range known {
		if err := w.remove(e.id); err != nil {
			return err
		}
	}
	if fresh {
		return w.exec(`insert into listing (digest) values (?)`, l.digest)
	}
	return nil
}

// writer changes the index in one transaction, which the first change begins. It also takes the digest away, which is
// that of the index before.
type writer struct {
	ix    *index
	tx    sqlite3.Txn
	begun bool
	ready map[string]*sqlite3.Stmt
}

func (w *writer) exec(sql string, args ...any) (err error) {
	if !w.begun {
		if w.tx, err = w.ix.db.BeginImmediate(); err != nil {
			return err
		}
		w.begun, w.ready = true, map[string]*sqlite3.Stmt{}
		if err := w.ix.db.Exec(`delete from listing`); err != nil {
			return err
		}
	}
	s := w.ready[sql]
	if s == nil {
		if s, _, err = w.ix.db.Prepare(sql); err != nil {
			return err
		}
		w.ready[sql] = s
	}
	return run(s, args, nil)
}

// end commits, or takes everything back after an error.
func (w *writer) end(err error) error {
	if !w.begun {
		return err
	}
	for _, s := range w.ready {
		s.Close()
	}
	w.tx.End(&err)
	return err
}

func (w *writer) remove(id int64) error {
	for _, table := range []string{"passage_text where rowid", "passage where id"} {
		if err := w.exec(`delete from `+table+` between ? and ?`, id<<passageBits, (id+1)<<passageBits-1); err != nil {
			return err
		}
	}
	if err := w.exec(`delete from note_text where rowid = ?`, id); err != nil {
		return err
	}
	return w.exec(`delete from note where id = ?`, id)
}

func (w *writer) add(dir string, f memories.File, now int64, hash, problem, text string) error {
	var n note.Note
	if problem == "" {
		n = note.Parse(text)
	}
	tags := strings.Join(n.Tags, ", ")
	err := w.exec(`insert into note (dir, file, mtime, size, checked, hash, problem, name, description, tags, date) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		dir, f.Name, f.ModTime, f.Size, now, hash, problem, Line(n.Name), Line(n.Description), Line(tags), Line(n.Date))
	if err != nil || problem != "" {
		return err
	}
	id := w.ix.db.LastInsertRowID()
	var headings, body, code strings.Builder
	for _, h := range n.Headings {
		headings.WriteString(h.Title + "\n")
	}
	appendParts(&code, f.Name+" "+n.Name+" "+n.Description+" "+headings.String())
	for i, p := range n.Passages {
		at := id<<passageBits + int64(i)
		var parts strings.Builder
		appendParts(&parts, p.Heading()+" "+p.Body)
		body.WriteString(p.Body + "\n")
		code.WriteString(parts.String())
		if err := w.exec(`insert into passage (id, headings, first, last) values (?, ?, ?, ?)`, at, Line(strings.Join(p.Headings, " > ")), p.First, p.Last); err != nil {
			return err
		}
		err := w.exec(`insert into passage_text (rowid, heading, body, code) values (?, ?, ?, ?)`, at, p.Heading(), Clean(p.Body), parts.String())
		if err != nil {
			return err
		}
	}
	// The file's name is a title, too, and the date is searched like a tag.
	return w.exec(`insert into note_text (rowid, name, description, tags, headings, body, code) values (?, ?, ?, ?, ?, ?, ?)`,
		id, n.Name+"\n"+strings.TrimSuffix(f.Name, filepath.Ext(f.Name)), n.Description, tags+"\n"+n.Date, headings.String(), body.String(), code.String())
}
