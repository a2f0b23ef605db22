package settings

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"

	"plimsoll/internal/statefile"
)

// maxPointer bounds the files by which git points from one folder to another, in bytes.
const maxPointer = 64 << 10

// localPaths lists the local settings files of a session that is started in project, the one that wins first: the
// repository's and the start folder's. Measured with 2.1.270 and 2.1.332, both are read, the repository's wins, and a
// linked worktree's repository is the main worktree, not the linked one; 2.1.132 and 2.1.201 read the start folder's
// alone.
func localPaths(project string) []string {
	var paths []string
	for _, dir := range []string{repository(project), project} {
		if dir != "" {
			paths = append(paths, filepath.Join(dir, ".claude", "settings.local.json"))
		}
	}
	return slices.Compact(paths)
}

// repository is the root of the main worktree of the repository that dir is in, "" outside of one.
func repository(dir string) string {
	for dir = filepath.Clean(dir); ; {
		info, err := os.Stat(filepath.Join(dir, ".git"))
		if err == nil && info.Mode().IsRegular() {
			return mainWorktree(dir)
		}
		if err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// mainWorktree follows the .git file of a folder: in a linked worktree to the main one. A submodule has such a file too
// and is a repository of its own; so is, for want of another folder, a worktree of a bare repository.
func mainWorktree(dir string) string {
	pointer, err := statefile.Read(filepath.Join(dir, ".git"), maxPointer)
	gitdir, ok := bytes.CutPrefix(bytes.TrimSpace(pointer), []byte("gitdir: "))
	if err != nil || !ok {
		return dir
	}
	private := below(dir, string(gitdir))
	common, err := statefile.Read(filepath.Join(private, "commondir"), maxPointer)
	if err != nil {
		return dir
	}
	if shared := below(private, string(bytes.TrimSpace(common))); filepath.Base(shared) == ".git" {
		return filepath.Dir(shared)
	}
	return dir
}

// below is path, seen from dir where it is relative.
func below(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
