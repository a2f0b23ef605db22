//go:build !unix

package memories

import (
	"errors"
	"io/fs"
	"os"
)

// readDir lists an open folder but for hidden names. What goes away meanwhile is not in it.
func readDir(dir *os.File) ([]dirEntry, error) {
	all, err := dir.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	entries := make([]dirEntry, 0, len(all))
	for _, e := range all {
		if hidden(e.Name()) {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		entries = append(entries, dirEntry{e.Name(), info.Mode().Type(), info.Size(), info.ModTime().UnixNano()})
	}
	return entries, nil
}
