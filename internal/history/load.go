package history

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"plimsoll/internal/rawjson"
	"plimsoll/internal/statefile"
	"plimsoll/internal/transcript"
)

// Source is where a history is read from.
type Source struct {
	Paths []string // transcripts, and folders that are searched for *.jsonl
	Index string   // the file that remembers what was read; "" for none
	// Progress is told how many bytes of how many are done, from several goroutines at once; may be nil.
	Progress func(done, total int64)
}

// Skipped is a file, or rows in it, that could not be used.
type Skipped struct {
	Path, Reason string
}

// ErrNothing reports paths below which there is no transcript.
var ErrNothing = errors.New("no .jsonl transcripts found")

// Load is Find and Found.Load in one.
func Load(ctx context.Context, s Source) (*History, error) {
	found, err := Find(s.Paths)
	if err != nil {
		return nil, err
	}
	return found.Load(ctx, s)
}

// Found is the transcripts below some paths, not read yet.
type Found struct {
	files   []file
	skipped []Skipped
	metas   []string // sub-agents' descriptions: files beside their transcripts
}

// Find lists the transcripts below the paths. Without any it is ErrNothing.
func Find(paths []string) (*Found, error) {
	f := &Found{}
	if err := f.find(paths); err != nil {
		return nil, err
	}
	if len(f.files) > 0 {
		return f, nil
	}
	err := fmt.Errorf("%w below %s", ErrNothing, strings.Join(paths, ", "))
	if len(f.skipped) > 0 {
		err = fmt.Errorf("%w (%s: %s)", err, f.skipped[0].Path, f.skipped[0].Reason)
	}
	return nil, err
}

// Fingerprint is the same as long as no transcript, nor anything beside one, was written, made or taken away.
func (f *Found) Fingerprint() string {
	h := sha256.New()
	for _, x := range f.files {
		fmt.Fprintf(h, "%q %d %d\n", x.path, x.size, x.mtime)
	}
	fmt.Fprintf(h, "%q %q", f.skipped, f.metas)
	return hex.EncodeToString(h.Sum(nil))
}

// Load reads every transcript, or what the index of the source remembers of it, and puts them together. Files that cannot
// be used are listed in the history and are no error.
func (f *Found) Load(ctx context.Context, s Source) (*History, error) {
	files, skipped := f.files, f.skipped
	known := readIndex(s.Index)
	loaded := make([]loaded, len(files))
	var total int64
	for _, f := range files {
		total += f.size
	}
	var done, next atomic.Int64
	passed := func(n int64) {
		if s.Progress != nil {
			s.Progress(done.Add(n), total)
		}
	}
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		wait.Go(func() {
			var scanner transcript.Scanner
			for {
				i := int(next.Add(1)) - 1
				if i >= len(files) || ctx.Err() != nil {
					return
				}
				loaded[i] = files[i].load(ctx, &scanner, known, passed)
			}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	remember(s, known, files, loaded)
	return assemble(files, loaded, skipped), nil
}

// file is a transcript that was found.
type file struct {
	path  string // absolute
	size  int64
	mtime int64
}

// loaded is a file that was read.
type loaded struct {
	records []*record // of its whole lines, and of the last one where that is not ended
	entry   entry
	fresh   bool // the entry is not what the index has
	torn    bool
	short   bool // the file ended before its size
	err     error
}

// find lists the transcripts below the paths, each once, in the order of their names.
func (f *Found) find(paths []string) error {
	seen := map[string]bool{}
	var files []file
	var skipped []Skipped
	add := func(path string, info fs.FileInfo) {
		switch {
		case !info.Mode().IsRegular():
			skipped = append(skipped, Skipped{path, "is no regular file"})
		case !seen[path]:
			seen[path] = true
			files = append(files, file{path, info.Size(), info.ModTime().UnixNano()})
		}
	}
	for _, path := range paths {
		root, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		// A link that cannot be followed is a path that cannot be read: it is listed, and the others are read.
		target, err := filepath.EvalSymlinks(root)
		if err != nil {
			skipped = append(skipped, Skipped{root, reason(err)})
			continue
		}
		root = target
		info, err := os.Stat(root)
		if err != nil {
			skipped = append(skipped, Skipped{root, reason(err)})
			continue
		}
		if !info.IsDir() {
			add(root, info)
			if _, err := os.Lstat(metaOf(root)); err == nil {
				f.metas = append(f.metas, metaOf(root))
			}
			continue
		}
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			named := filepath.Ext(path) == ".jsonl"
			switch {
			case err != nil:
				skipped = append(skipped, Skipped{path, reason(err)})
			case d.IsDir():
				if named && path != root {
					skipped = append(skipped, Skipped{path, "is a folder"})
				}
			case d.Type()&fs.ModeSymlink != 0:
				target, err := filepath.EvalSymlinks(path)
				if err != nil {
					if named || !errors.Is(err, fs.ErrNotExist) {
						skipped = append(skipped, Skipped{path, reason(err)})
					}
					return nil
				}
				info, err := os.Stat(target)
				switch {
				case err != nil && named:
					skipped = append(skipped, Skipped{path, reason(err)})
				case err == nil && info.IsDir():
					skipped = append(skipped, Skipped{path, "is a link to a folder, which is not followed"})
				case err == nil && named:
					add(target, info)
				}
			case named:
				info, err := d.Info()
				if err != nil {
					skipped = append(skipped, Skipped{path, reason(err)})
					return nil
				}
				add(path, info)
			case strings.HasSuffix(path, metaSuffix):
				f.metas = append(f.metas, path)
			}
			return nil
		})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	slices.SortFunc(skipped, func(a, b Skipped) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Reason, b.Reason))
	})
	f.files, f.skipped = files, slices.Compact(skipped)
	return nil
}

// reason is an error without the path, which stands beside it.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// load reads what the index does not know of a file.
func (f file) load(ctx context.Context, scanner *transcript.Scanner, known index, passed func(bytes int64)) (l loaded) {
	old, ok := known[f.path]
	if ok && old.size == f.size && old.mtime == f.mtime && old.offset == f.size {
		if r, err := decode(old.record); err == nil {
			passed(f.size)
			l = loaded{records: []*record{r}, entry: old}
			// The client may describe a sub-agent after its first rows.
			if old.kind == "" {
				l.entry.kind = agentKind(f.path)
				l.fresh = l.entry.kind != ""
			}
			return l
		}
		ok = false
	}
	r := newRecord()
	l.entry, l.fresh = entry{size: f.size, mtime: f.mtime, kind: agentKind(f.path)}, true
	in, _, err := transcript.Open(f.path)
	if err != nil {
		l.err = err
		return l
	}
	defer in.Close()
	from := int64(0)
	if ok && old.size <= f.size && (old.size < f.size || old.mtime == f.mtime) {
		if p, err := printOf(in, old.offset); err == nil && p == old.print {
			if grown, err := decode(old.record); err == nil {
				r, from = grown, old.offset
			}
		}
	}
	session, agent := sessionOf(f.path), agentOf(f.path)
	var last *record
	passed(from)
	text := &reader{ctx: ctx, r: io.NewSectionReader(in, from, f.size-from), passed: passed}
	done, err := scanner.Scan(text, func(row *transcript.Row) {
		if row.Open {
			// It stands, but the client may not have ended it: it counts now, and is read again next time.
			last = newRecord()
			last.take(row, session, agent)
			return
		}
		r.take(row, session, agent)
	})
	if err != nil {
		l.err = err
		return l
	}
	r.malformed += done.Malformed
	r.tooLong += done.TooLong
	l.records, l.torn = []*record{r}, done.Torn
	if last != nil {
		l.records = append(l.records, last)
	}
	if l.short = from+text.n < f.size; l.short {
		l.fresh = false // what was read is of no one state of the file
		return l
	}
	l.entry.offset = from + done.Offset
	if l.entry.print, err = printOf(in, l.entry.offset); err != nil {
		l.err = err
		return l
	}
	l.entry.record = r.encode(nil)
	return l
}

// reader stops when the context ends, and tells how far it is.
type reader struct {
	ctx    context.Context
	r      io.Reader
	n      int64 // bytes so far
	passed func(bytes int64)
}

func (r *reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.r.Read(b)
	r.n += int64(n)
	r.passed(int64(n))
	return n, err
}

// sessionOf is the session that a transcript belongs to by its name; a sub-agent's lies below its session's folder.
func sessionOf(path string) string {
	dir, name := filepath.Split(path)
	d := filepath.Clean(dir)
	for range 3 { // subagents/workflows/wf_*
		if filepath.Base(d) == "subagents" {
			return filepath.Base(filepath.Dir(d))
		}
		d = filepath.Dir(d)
	}
	return strings.TrimSuffix(name, ".jsonl")
}

// agentOf is the sub-agent whose transcript this is by its name; "" for a session's.
func agentOf(path string) string {
	name, ok := strings.CutPrefix(strings.TrimSuffix(filepath.Base(path), ".jsonl"), "agent-")
	if !ok {
		return ""
	}
	return name
}

// maxMeta bounds the file in which the client describes a sub-agent, in bytes.
const maxMeta = 1 << 20

const metaSuffix = ".meta.json"

// metaOf is where the client describes the sub-agent whose transcript this is.
func metaOf(path string) string { return strings.TrimSuffix(path, ".jsonl") + metaSuffix }

// agentKind is the type of the sub-agent whose transcript this is, as the client wrote it down beside it.
func agentKind(path string) string {
	if agentOf(path) == "" {
		return ""
	}
	data, err := statefile.Read(metaOf(path), maxMeta)
	if err != nil {
		return ""
	}
	meta, err := rawjson.Parse(data)
	if err != nil {
		return ""
	}
	return meta.Get("agentType").TextOr("")
}

// remember writes the index where something is new. That it cannot be written costs time next time and nothing else.
func remember(s Source, known index, files []file, loaded []loaded) {
	if s.Index == "" {
		return
	}
	changed := false
	seen := make(map[string]bool, len(files))
	for i, f := range files {
		seen[f.path] = true
		if l := loaded[i]; l.fresh && l.err == nil {
			known[f.path] = l.entry
			changed = true
		}
	}
	for path := range known {
		if seen[path] {
			continue
		}
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			delete(known, path)
			changed = true
		}
	}
	if changed && statefile.EnsureDir(filepath.Dir(s.Index)) == nil {
		_ = statefile.Replace(s.Index, known.encode())
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
