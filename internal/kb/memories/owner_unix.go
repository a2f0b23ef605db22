//go:build unix

package memories

import (
	"os"
	"syscall"
)

// trusted tells whether a folder above the project may speak to the model: it belongs to this user, to root, or to
// whom the project belongs. Anybody can make a /tmp/.claude/memories.
func trusted(f Folder, root string) bool {
	owner, ok := ownerOf(f.Dir)
	if !ok {
		return false
	}
	project, ok := ownerOf(root)
	return owner == uint32(os.Geteuid()) || owner == 0 || ok && owner == project
}

func ownerOf(path string) (uint32, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Uid, true
}
