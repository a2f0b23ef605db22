package statefile

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// MaxCounted bounds a file that is counted, in bytes. At the sizes of our records that is more calls than a session
// of weeks makes.
const MaxCounted = 16 << 20

// AppendOwn appends one record to a file that many processes append to, and returns the file as it is afterwards with
// the offset at which the own record ends. Everything before that offset was there first, in one order that all
// processes see alike: a budget that is decided by the own position is exact, without a lock, as long as nobody
// truncates the file. A record that could not be written whole is an error, and a symlink at path is not followed.
func AppendOwn(path string, record []byte) (content []byte, ownEnd int64, err error) {
	f, err := openCounted(path)
	if os.IsNotExist(err) {
		if err = os.MkdirAll(filepath.Dir(path), DirMode); err == nil {
			f, err = openCounted(path)
		}
	}
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("append to %s: %w", path, ErrNotRegular)
	}
	if info.Size() > MaxCounted {
		return nil, 0, fmt.Errorf("append to %s: %w", path, ErrTooLarge)
	}
	killPoint()
	if ownEnd, err = appendAt(f, record); err != nil {
		return nil, 0, err
	}
	killPoint()
	// Only what stands before the own end decides; later records are other processes' business.
	content = make([]byte, ownEnd)
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, ownEnd), content); err != nil {
		return nil, 0, fmt.Errorf("read back %s: %w", path, err)
	}
	return content, ownEnd, nil
}

func openCounted(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK|noFollow, FileMode)
}
