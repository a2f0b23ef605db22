//go:build unix

package statefile

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
)

const noFollow = syscall.O_NOFOLLOW

// appendAt appends record with one write and returns where it ends. With O_APPEND the kernel moves the file offset to
// the end and writes in one step, so the offset afterwards belongs to this record alone.
func appendAt(f *os.File, record []byte) (end int64, err error) {
	// Not f.Write: that would go on after a short write, and the record would stand in two places.
	n, err := syscall.Write(int(f.Fd()), record)
	if err != nil {
		return 0, &os.PathError{Op: "append to", Path: f.Name(), Err: err}
	}
	if n != len(record) {
		return 0, &os.PathError{Op: "append to", Path: f.Name(), Err: io.ErrShortWrite}
	}
	return f.Seek(0, io.SeekCurrent)
}

// Lock waits for the exclusive lock of the file at path, which is made when missing. The lock ends with unlock or
// with the process, however it ends.
func Lock(path string) (unlock func(), err error) {
	f, err := openLock(path)
	if os.IsNotExist(err) {
		if err = os.MkdirAll(filepath.Dir(path), DirMode); err == nil {
			f, err = openLock(path)
		}
	}
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	return func() { f.Close() }, nil
}

func openLock(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NONBLOCK|noFollow, FileMode)
}
