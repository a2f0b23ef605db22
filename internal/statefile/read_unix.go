//go:build unix

package statefile

import (
	"io/fs"
	"os"
	"syscall"
)

// readFile is a file descriptor without the runtime's poller around it: the hook reads several small files on every
// event, and an *os.File costs each of them two system calls more.
type readFile struct {
	fd   int
	path string
}

func openRead(path string) (readFile, error) {
	// Without O_NONBLOCK the open of a FIFO waits for a writer that may never come.
	fd, err := retry(func() (int, error) {
		return syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	})
	if err != nil {
		return readFile{}, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return readFile{fd, path}, nil
}

func (f readFile) stat() (mode fs.FileMode, size int64, err error) {
	var st syscall.Stat_t
	if _, err := retry(func() (int, error) { return 0, syscall.Fstat(f.fd, &st) }); err != nil {
		return 0, 0, &os.PathError{Op: "stat", Path: f.path, Err: err}
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		mode = fs.ModeIrregular
	}
	return mode, st.Size, nil
}

// read returns 0 at the end.
func (f readFile) read(b []byte) (int, error) {
	n, err := retry(func() (int, error) { return syscall.Read(f.fd, b) })
	if err != nil {
		return 0, &os.PathError{Op: "read", Path: f.path, Err: err}
	}
	return n, nil
}

func (f readFile) close() { _ = syscall.Close(f.fd) }

// retry repeats a call that a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != syscall.EINTR {
			return n, err
		}
	}
}
