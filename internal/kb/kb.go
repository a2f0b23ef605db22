// Package kb is the knowledge base: the notes of all memory folders that apply, searchable as one.
//
// The index is a cache. Every use of it first takes in what changed in the folders, under a lock, so that an answer is
// never older than the files; one that is damaged is made anew; and where none can be written or locked the search
// works all the same, on an index in memory.
package kb

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"

	"plimsoll/internal/config"
	"plimsoll/internal/kb/memories"
	"plimsoll/internal/kb/note"
)

// Base is the knowledge base of one working folder. It may be used from several goroutines.
type Base struct {
	Places memories.Places

	wait   time.Duration // for the lock
	mu     sync.Mutex
	memory *index // where the index on disk cannot be used
	why    string // why it cannot
}

// ErrNone reports that there is no memory folder.
var ErrNone = errors.New("no .claude/memories folder here, above, or in the home folder")

// Open returns the knowledge base for a session in dir, an absolute path. The error is ErrNone.
func Open(dir string, env config.Env) (*Base, error) {
	b := &Base{Places: memories.Find(dir, env), wait: lockWait}
	if len(b.Places.Found) == 0 {
		return nil, ErrNone
	}
	return b, nil
}

// Close gives the memory of the index back.
func (b *Base) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.memory != nil {
		b.memory.close()
		b.memory = nil
	}
}

// Dir is the folder of the index: beside the innermost memory folder, with the KB gate's files.
func (b *Base) Dir() string {
	return filepath.Join(b.Places.Found[0].Root, ".claude", ".kb-gate", "index")
}

// use runs f on an index that knows the files as they are now. f may run twice: a damaged index shows when it is read.
func (b *Base) use(f func(*index) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.memory == nil {
		err := b.onDisk(f)
		var dbErr *sqlite3.Error
		var dirErr *dirError
		switch {
		case errors.As(err, &dirErr):
			b.why = dirErr.err.Error()
		case errors.As(err, &dbErr):
			b.why = dbErr.Error()
		default:
			return err
		}
		if b.memory, err = openIndex(":memory:"); err != nil {
			return err
		}
	}
	if err := b.memory.refresh(b.Places.Found); err != nil {
		return err
	}
	return f(b.memory)
}

func (b *Base) onDisk(f func(*index) error) error {
	unlock, err := lockDir(b.Dir(), b.wait)
	if err != nil {
		return &dirError{err}
	}
	defer unlock()
	// The folders are listed, now that nobody else takes anything in, while the index is being opened.
	listing := sync.OnceValues(func() (listing, error) { return look(b.Places.Found) })
	go listing()
	defer func() {
		l, _ := listing()
		l.close()
	}()
	path := filepath.Join(b.Dir(), indexName)
	for again := true; ; again = false {
		err := withIndex(path, func(ix *index) error {
			l, err := listing()
			if err != nil {
				return err
			}
			if err := ix.take(l); err != nil {
				return err
			}
			return f(ix)
		})
		if !again || !damaged(err) {
			return err
		}
		// Nobody else has it open: every use holds the lock.
		if err := removeIndex(path); err != nil {
			return &dirError{err}
		}
	}
}

// dirError says that the folder of the index cannot be used.
type dirError struct{ err error }

func (e *dirError) Error() string { return e.err.Error() }

// Key names a note in results; Get takes it. Notes of the project go by their name in the folder, all others have the
// folder's label before it: user:gotchas/x.md.
func Key(label, name string) string {
	if label == memories.Project {
		return name
	}
	return label + ":" + name
}

// Text is a note or one section of it.
type Text struct {
	File    string `json:"file"`   // Key
	Folder  string `json:"folder"` // label
	Path    string `json:"path"`   // absolute
	Name    string `json:"name"`
	Heading string `json:"heading,omitempty"` // "" for the whole note
	First   int    `json:"first_line"`
	Last    int    `json:"last_line"`
	Text    string `json:"text"` // as in the file, without control characters
}

// ErrNoHeading reports a heading that a note does not have. HeadingError has those that it does have.
var ErrNoHeading = errors.New("no such heading")

// HeadingError is an ErrNoHeading.
type HeadingError struct {
	File, Heading string
	Have          []string
}

func (e *HeadingError) Error() string {
	return fmt.Sprintf("%s: %v: %s", e.File, ErrNoHeading, e.Heading)
}

// Unwrap makes it an ErrNoHeading.
func (e *HeadingError) Unwrap() error { return ErrNoHeading }

// Get returns a note, or the section of it that heading names (note.Section). file is a key from a result, a name in a
// memory folder (looked for from the project outwards, the extension .md may be left out), or a path into one. A file
// that no folder has is fs.ErrNotExist.
func (b *Base) Get(file, heading string) (Text, error) {
	f, name, text, err := b.read(file)
	if err != nil {
		return Text{}, err
	}
	n := note.Parse(text)
	t := Text{
		File: Key(f.Label, name), Folder: f.Label, Path: filepath.Join(f.Dir, filepath.FromSlash(name)),
		Name: Line(n.Name), First: 1, Last: n.Lines(),
	}
	if heading = strings.TrimSpace(heading); heading != "" {
		h, last, ok := n.Section(heading)
		if !ok {
			e := &HeadingError{File: t.File, Heading: Line(heading)}
			for _, h := range n.Headings {
				e.Have = append(e.Have, Line(h.Title))
			}
			return Text{}, e
		}
		t.Heading, t.First, t.Last = Line(h.Title), h.Line, last
	}
	lines := strings.Split(text, "\n")
	t.Text = Clean(strings.TrimRight(strings.Join(lines[t.First-1:t.Last], "\n"), " \t\r\n"))
	return t, nil
}

func (b *Base) read(file string) (memories.Folder, string, string, error) {
	for _, f := range b.Places.Found {
		name := file
		if label, rest, ok := strings.Cut(file, ":"); ok && label == f.Label {
			name = rest
		} else if filepath.IsAbs(file) {
			rel, err := filepath.Rel(f.Dir, file)
			if err != nil || !filepath.IsLocal(rel) {
				continue
			}
			name = rel
		} else if rest, ok := strings.CutPrefix(filepath.ToSlash(file), ".claude/memories/"); ok {
			name = rest
		}
		name = filepath.ToSlash(filepath.Clean(filepath.FromSlash(name)))
		o, err := f.Open()
		if err != nil {
			continue
		}
		text, err := o.Read(name)
		if errors.Is(err, fs.ErrNotExist) && filepath.Ext(name) == "" {
			name += ".md"
			text, err = o.Read(name)
		}
		o.Close()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return f, name, text, err
	}
	return memories.Folder{}, "", "", fmt.Errorf("%s: %w in any memory folder", Line(file), fs.ErrNotExist)
}

// GetAt is Get for a file that may have the heading behind it, as FILE#HEADING. A file whose name holds a # comes first.
func (b *Base) GetAt(file, heading string) (Text, error) {
	t, err := b.Get(file, heading)
	if name, rest, ok := strings.Cut(file, "#"); ok && heading == "" && errors.Is(err, fs.ErrNotExist) {
		return b.Get(name, rest)
	}
	return t, err
}
