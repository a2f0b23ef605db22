package memories

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Files lists the notes, in the order of their names, and what is left out. Folders and files whose name begins with a
// dot are other programs' and are passed over silently.
func (o *Open) Files() (files []File, ignored []Ignored, err error) {
	l := lister{root: o.root}
	if err := l.list("."); err != nil {
		return nil, nil, err
	}
	return l.files, l.ignored, nil
}

type lister struct {
	root    *os.Root
	files   []File
	ignored []Ignored
}

// dirEntry is what there is to know of a name in a folder without following it: fs.DirEntry's type and fs.FileInfo's
// size and time. A search looks at every note, and nothing costs it more than the look at 1,000 notes through those.
type dirEntry struct {
	name          string
	kind          fs.FileMode // type bits
	size, modTime int64       // as in File
}

func (l *lister) leave(name, why string) { l.ignored = append(l.ignored, Ignored{name, why}) }

// list goes through one folder, by its name in the memory folder. The error is that the folder cannot be read.
func (l *lister) list(name string) error {
	// Without O_NONBLOCK the open of a FIFO, which came in the folder's place, waits.
	dir, err := l.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	entries, err := readDir(dir)
	dir.Close()
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b dirEntry) int { return cmp.Compare(a.name, b.name) })
	for _, e := range entries {
		at := path.Join(name, e.name)
		switch {
		case e.kind&fs.ModeSymlink != 0:
			// What a link inside the folder points to is found under its own name.
			if _, err := l.root.Stat(filepath.FromSlash(at)); err != nil {
				l.leave(at, "a link that leaves the folder or leads nowhere")
			}
		case e.kind.IsDir():
			if err := l.list(at); err != nil {
				l.leave(at, unreadable)
			}
		case !strings.EqualFold(path.Ext(e.name), ".md"):
		case !e.kind.IsRegular():
			l.leave(at, "not a file")
		case e.size > MaxFile:
			l.leave(at, tooLarge)
		default:
			l.files = append(l.files, File{at, e.size, e.modTime})
		}
	}
	return nil
}

const unreadable = "it cannot be read"

// hidden tells whether a name is another program's.
func hidden(name string) bool { return strings.HasPrefix(name, ".") }
