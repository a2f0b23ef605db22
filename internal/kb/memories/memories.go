// Package memories finds the memory folders that apply in a folder and reads what is in them, and nothing outside
// them: every path goes through an os.Root, symlinks are not followed out of a folder, and parents that somebody else
// owns do not count.
package memories

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"unicode/utf8"

	"plimsoll/internal/config"
	"plimsoll/internal/kbgate"
)

// MaxFile is the largest file that is a note, in bytes. A note that does not fit a model's reading is none; what is
// larger is a log or a dump that strayed in.
const MaxFile = 1 << 20

// The labels of folders. Further parents, going outwards, are parent2, parent3 and so on.
const (
	Project = "project"
	Parent  = "parent"
	User    = "user"
)

// Folder is one memory folder.
type Folder struct {
	Label string
	Root  string // what holds .claude: the project, a folder above it, or the home folder
	Dir   string // the folder itself, <Root>/.claude/memories
}

func in(label, root string) Folder {
	return Folder{label, root, filepath.Join(root, ".claude", "memories")}
}

// Places are the memory folders of a working folder.
type Places struct {
	Project Folder   // where the project's notes are or would be
	Home    Folder   // where the user's notes are or would be; Dir is "" without a home
	Found   []Folder // those that exist, innermost first: project, parents, user
	Ignored []Ignored
}

// Ignored is a folder or file that is left out, and why.
type Ignored struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Find returns the memory folders for a session in dir: of its project, which is the one that the KB gate finds, of the
// folders above it, and the user's. A link to a folder counts as one.
func Find(dir string, env config.Env) Places {
	root := kbgate.Root(dir, env.Get("CLAUDE_PROJECT_DIR"))
	p := Places{Project: in(Project, root)}
	home := env.Home()
	if home != "" {
		p.Home = in(User, home)
	}
	if isDir(p.Project.Dir) && root != home {
		p.Found = append(p.Found, p.Project)
	}
	parents := 0
	for at := root; filepath.Dir(at) != at; {
		at = filepath.Dir(at)
		f := in(Parent, at)
		if at == home || !isDir(f.Dir) {
			continue
		}
		if !trusted(f, root) {
			p.Ignored = append(p.Ignored, Ignored{f.Dir, "it belongs to another user"})
			continue
		}
		if parents++; parents > 1 {
			f.Label += strconv.Itoa(parents)
		}
		p.Found = append(p.Found, f)
	}
	if home != "" && isDir(p.Home.Dir) {
		p.Found = append(p.Found, p.Home)
	}
	return p
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// File is one note's file.
type File struct {
	Name    string // relative to the folder, with slashes
	Size    int64  // bytes
	ModTime int64  // nanoseconds since 1970
}

// Open is a memory folder opened for reading.
type Open struct {
	Folder
	root *os.Root
}

// Open opens the folder.
func (f Folder) Open() (*Open, error) {
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return nil, err
	}
	return &Open{f, root}, nil
}

// Close ends the use of the folder.
func (o *Open) Close() { o.root.Close() }

var tooLarge = fmt.Sprintf("larger than %d MiB", MaxFile>>20)

// ErrNotText reports a file that is not UTF-8.
var ErrNotText = errors.New("not UTF-8")

// Read returns a note's text. name is relative to the folder; one that leads out of it, through .. or a link, is an
// error.
func (o *Open) Read(name string) (string, error) {
	// Without O_NONBLOCK the open of a FIFO waits for a writer that may never come.
	f, err := o.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("read %s: not a file", name)
	}
	if info.Size() > MaxFile {
		return "", fmt.Errorf("read %s: %s", name, tooLarge)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return "", err
	}
	if len(data) > MaxFile {
		return "", fmt.Errorf("read %s: %s", name, tooLarge)
	}
	if !utf8.Valid(data) {
		return "", fmt.Errorf("read %s: %w", name, ErrNotText)
	}
	return string(data), nil
}
