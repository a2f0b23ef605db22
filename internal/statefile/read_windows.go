package statefile

import (
	"io"
	"io/fs"
	"os"
)

type readFile struct{ f *os.File }

func openRead(path string) (readFile, error) {
	f, err := os.Open(path)
	return readFile{f}, err
}

func (f readFile) stat() (mode fs.FileMode, size int64, err error) {
	info, err := f.f.Stat()
	if err != nil {
		return 0, 0, err
	}
	return info.Mode(), info.Size(), nil
}

// read returns 0 at the end.
func (f readFile) read(b []byte) (int, error) {
	n, err := f.f.Read(b)
	if err == io.EOF {
		return n, nil
	}
	return n, err
}

func (f readFile) close() { f.f.Close() }
