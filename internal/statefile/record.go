package statefile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// AppendRecord appends one record with one write; the folder is made when missing. A record that was not written whole
// is an error. A symlink at path is not followed: the file may stand in a folder that somebody else filled.
func AppendRecord(path string, record []byte) error {
	f, err := openCounted(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), DirMode); err == nil {
			f, err = openCounted(path)
		}
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("append to %s: %w", path, ErrNotRegular)
	}
	_, err = appendAt(f, record)
	return err
}

// KeepTail cuts the file at path down to its last lines when it has more than max bytes, and leaves it alone
// otherwise. The shorter file is written to stage, on the same file system, and renamed; a line that another process
// appends meanwhile may be lost. A symlink at path is left alone.
func KeepTail(path, stage string, max int64, lines int) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("shorten %s: %w", path, ErrNotRegular)
	}
	if info.Size() <= max {
		return nil
	}
	data, err := Read(path, maxShortened)
	if err != nil {
		return err
	}
	if err := Replace(stage, tail(data, lines)); err != nil {
		return err
	}
	if err := os.Rename(stage, path); err != nil {
		_ = os.Remove(stage)
		return err
	}
	return nil
}

// maxShortened bounds a file that is shortened, in bytes: it is read as a whole.
const maxShortened = 64 << 20

// tail returns the last lines of data; a part line at its end is one.
func tail(data []byte, lines int) []byte {
	end := len(bytes.TrimSuffix(data, []byte{'\n'}))
	for range lines {
		i := bytes.LastIndexByte(data[:end], '\n')
		if i < 0 {
			return data
		}
		end = i
	}
	return data[end+1:]
}
