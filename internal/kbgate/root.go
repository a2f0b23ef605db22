package kbgate

import (
	"os"
	"path/filepath"
)

// maxPath is the longest path that is looked at, in bytes: Linux's PATH_MAX.
const maxPath = 4096

// Root is the project that a session works in: the nearest folder at or above cwd that has a .git, which is a file in a
// linked worktree; else projectDir; else cwd. It is "" when all of them are missing or relative.
func Root(cwd, projectDir string) string {
	if len(cwd) > maxPath || !filepath.IsAbs(cwd) {
		cwd = ""
	}
	if cwd != "" {
		cwd = filepath.Clean(cwd)
		for dir := cwd; ; {
			if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
				return dir
			}
			parent := filepath.Dir(dir)
			if parent == dir {
				break
			}
			dir = parent
		}
	}
	if filepath.IsAbs(projectDir) {
		return filepath.Clean(projectDir)
	}
	return cwd
}

// HasMemories tells whether the project at root has a knowledge base: a folder .claude/memories.
func HasMemories(root string) bool {
	info, err := os.Stat(filepath.Join(root, ".claude", "memories"))
	return err == nil && info.IsDir()
}

// LogPath is the gate's log in the project at root.
func LogPath(root string) string { return filepath.Join(root, ".claude", ".kb-gate.log") }
