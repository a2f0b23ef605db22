package statefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// ReplaceDurable writes data to path so that, whatever happens at whatever moment, the old file or the new one is
// there whole, also after a power cut: a temporary file beside it is written and synced, renamed over it, and the
// folder synced. The folder is made when missing.
//
// step hears of every stage before it begins and may end the write with an error; tests stop it there. Nil: nobody
// listens.
func ReplaceDurable(path string, data []byte, mode fs.FileMode, step func(stage string) error) error {
	if step == nil {
		step = func(string) error { return nil }
	}
	dir, base := filepath.Split(path)
	if err := step("make folder"); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, DirMode); err != nil {
		return err
	}
	if err := step("create temporary file"); err != nil {
		return err
	}
	temp := filepath.Join(dir, "."+base+".tmp."+strconv.Itoa(os.Getpid())+"."+strconv.FormatInt(time.Now().UnixNano(), 36))
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	err = fill(f, data, mode, step)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = step("rename")
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if err := step("sync folder"); err != nil {
		return err
	}
	return syncDir(dir)
}

func fill(f *os.File, data []byte, mode fs.FileMode, step func(string) error) error {
	half := len(data) / 2
	if err := step("write first half"); err != nil {
		return err
	}
	if _, err := f.Write(data[:half]); err != nil {
		return err
	}
	if err := step("write second half"); err != nil {
		return err
	}
	if _, err := f.Write(data[half:]); err != nil {
		return err
	}
	// The umask took bits away that the file before had.
	if err := f.Chmod(mode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := step("sync"); err != nil {
		return err
	}
	return f.Sync()
}

// syncDir makes a rename durable. Systems that cannot sync a folder do without.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	_ = d.Sync()
	return nil
}
