//go:build unix

package memories

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// readDir lists an open folder but for hidden names. What goes away meanwhile is not in it.
func readDir(dir *os.File) ([]dirEntry, error) {
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	conn, err := dir.SyscallConn()
	if err != nil {
		return nil, err
	}
	entries := make([]dirEntry, 0, len(names))
	var looked error
	err = conn.Control(func(fd uintptr) {
		var st unix.Stat_t
		for _, name := range names {
			if hidden(name) {
				continue
			}
			if lerr := lstatAt(int(fd), name, &st); lerr == unix.ENOENT {
				continue
			} else if lerr != nil {
				looked = &fs.PathError{Op: "lstat", Path: name, Err: lerr}
				return
			}
			entries = append(entries, dirEntry{name, kind(uint32(st.Mode)), st.Size, st.Mtim.Nano()})
		}
	})
	if err == nil {
		err = looked
	}
	return entries, err
}

func lstatAt(dir int, name string, st *unix.Stat_t) error {
	for {
		err := unix.Fstatat(dir, name, st, unix.AT_SYMLINK_NOFOLLOW)
		if err != unix.EINTR {
			return err
		}
	}
}

func kind(mode uint32) fs.FileMode {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return 0
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFLNK:
		return fs.ModeSymlink
	}
	return fs.ModeIrregular
}
