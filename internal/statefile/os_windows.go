package statefile

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"unsafe"
)

const noFollow = 0

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

// appendAt appends record and returns where it ends. An appending handle does not tell its position on Windows, so
// the write and the look at the size happen under the file's lock.
func appendAt(f *os.File, record []byte) (end int64, err error) {
	if err := lockHandle(f); err != nil {
		return 0, err
	}
	n, err := f.Write(record)
	if err != nil {
		return 0, err
	}
	if n != len(record) {
		return 0, io.ErrShortWrite
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Lock waits for the exclusive lock of the file at path, which is made when missing. The lock ends with unlock or
// with the process, however it ends.
func Lock(path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), DirMode); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, FileMode)
	if err != nil {
		return nil, err
	}
	if err := lockHandle(f); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// lockHandle locks one byte far behind any content; closing the handle releases it.
func lockHandle(f *os.File) error {
	const exclusive = 2 // LOCKFILE_EXCLUSIVE_LOCK
	overlapped := syscall.Overlapped{OffsetHigh: 1 << 30}
	ok, _, err := lockFileEx.Call(f.Fd(), exclusive, 0, 1, 0, uintptr(unsafe.Pointer(&overlapped)))
	if ok == 0 {
		return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return nil
}
