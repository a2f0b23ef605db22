// Package statefile is the one way to the disk: whole files are replaced atomically, records are appended with one
// write, old files are pruned, and what is read is a regular file of bounded size.
//
// Nothing here calls fsync. A power cut may lose the newest state, which every rule
// survives (missing state releases, it never denies); a crash of the process or a full disk leaves the old file or
// the new one, never a part.
package statefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// DirMode and FileMode are the permissions of everything that is created: what a session does is its owner's business.
const (
	DirMode  fs.FileMode = 0o700
	FileMode fs.FileMode = 0o600
)

// ErrNotRegular reports a path that holds a directory, a pipe or a device where a file was expected.
var ErrNotRegular = errors.New("not a regular file")

// ErrTooLarge reports a file beyond the reader's bound.
var ErrTooLarge = errors.New("larger than allowed")

// Read returns a regular file's content, following symlinks. A file of more than max bytes is ErrTooLarge. A pipe or
// device in its place is ErrNotRegular and cannot block the caller.
//
// What another process appends during the read is not returned: the file is taken as long as it was at one moment, which
// may be in the middle of a record. A gate that took growth for an error would let calls pass just when many are counted
// at once.
func Read(path string, max int64) ([]byte, error) {
	f, err := openRead(path)
	if err != nil {
		return nil, err
	}
	defer f.close()
	mode, size, err := f.stat()
	if err != nil {
		return nil, err
	}
	if !mode.IsRegular() {
		return nil, fmt.Errorf("read %s: %w", path, ErrNotRegular)
	}
	if size > max {
		return nil, fmt.Errorf("read %s: %d bytes: %w", path, size, ErrTooLarge)
	}
	data := make([]byte, size)
	n := 0
	for n < len(data) {
		m, err := f.read(data[n:])
		if err != nil {
			return nil, err
		}
		if m == 0 {
			break // it shrank
		}
		n += m
	}
	return data[:n], nil
}

// EnsureDir makes dir with its parents and takes away what others may do in an existing one. Only dir itself is
// tightened, its parents may be shared.
func EnsureDir(dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return os.MkdirAll(dir, DirMode)
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("make directory %s: %w", dir, syscall.ENOTDIR)
	}
	if info.Mode().Perm()&0o077 != 0 {
		// A file system without modes cannot be tightened; the state is still useful there.
		_ = os.Chmod(dir, DirMode)
	}
	return nil
}

// Temp is a file being written beside its target.
type Temp struct {
	target, path string
}

// WriteTemp writes data to a new file beside target, named .<base of target>.tmp.<pid>.<unique>. It never follows or
// reuses an existing name. The caller ends it with Commit or Discard.
func WriteTemp(target string, data []byte) (*Temp, error) {
	dir, base := filepath.Split(target)
	prefix := dir + "." + base + ".tmp." + strconv.Itoa(os.Getpid()) + "."
	killPoint()
	var f *os.File
	var err error
	for try := range uint64(10) {
		f, err = os.OpenFile(prefix+strconv.FormatUint(uint64(time.Now().UnixNano())+try, 36), os.O_WRONLY|os.O_CREATE|os.O_EXCL, FileMode)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	killPoint()
	t := &Temp{target, f.Name()}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		t.Discard()
		return nil, err
	}
	killPoint()
	return t, nil
}

// Commit renames the temporary file over its target. After an error it may be tried again. A directory at the target
// is an error: nothing is ever moved into it.
func (t *Temp) Commit() error {
	killPoint()
	defer killPoint()
	return os.Rename(t.path, t.target)
}

// Discard removes the temporary file.
func (t *Temp) Discard() { _ = os.Remove(t.path) }

// Replace writes data to path, atomically for readers; the directory is made when missing.
func Replace(path string, data []byte) error {
	t, err := WriteTemp(path, data)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), DirMode); err == nil {
			t, err = WriteTemp(path, data)
		}
	}
	if err != nil {
		return err
	}
	if err = t.Commit(); err != nil {
		t.Discard()
	}
	return err
}

// AppendLine appends line, which has to end in LF, with one write. When the file already holds rotateAt bytes or
// more it is first renamed to path + ".1", over an older one. Two processes that rotate at once may lose the older
// generation to each other, never a part of a line.
func AppendLine(path string, line []byte, rotateAt int64) error {
	f, err := openAppend(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() >= rotateAt {
		if err := os.Rename(path, path+".1"); err == nil {
			f.Close()
			if f, err = openAppend(path); err != nil {
				return err
			}
		}
	}
	_, err = f.Write(line)
	return err
}

func openAppend(path string) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_APPEND | os.O_CREATE | syscall.O_NONBLOCK
	f, err := os.OpenFile(path, flags, FileMode)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), DirMode); err == nil {
			f, err = os.OpenFile(path, flags, FileMode)
		}
	}
	return f, err
}

// Touch makes sure that path exists with a modification time no older than every.
func Touch(path string, now time.Time, every time.Duration) error {
	info, err := os.Lstat(path)
	if err == nil && info.ModTime().After(now.Add(-every)) && !info.ModTime().After(now.Add(every)) {
		return nil
	}
	f, err := openAppend(path)
	if err != nil {
		return err
	}
	f.Close()
	return os.Chtimes(path, now, now)
}

// Prune removes the regular files of dir whose name match accepts and whose modification time is before cutoff. The
// time is read again right before each removal, so that a file somebody just rewrote stays. Errors are skipped:
// pruning is a courtesy.
func Prune(dir string, match func(name string) bool, cutoff time.Time) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	for {
		names, err := f.Readdirnames(256)
		for _, name := range names {
			if !match(name) {
				continue
			}
			path := filepath.Join(dir, name)
			if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.ModTime().Before(cutoff) {
				_ = os.Remove(path)
			}
		}
		if err != nil || len(names) == 0 {
			return
		}
	}
}
