// Package settings reads Claude Code's own settings files: user, project, local and managed, in the order in which
// the client lets them win.
package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"

	"plimsoll/internal/config"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/statefile"
)

// maxFile bounds a settings file, in bytes; real ones are a few kB.
const maxFile = 16 << 20

// Scope is where a settings file applies.
type Scope string

// The scopes, the one that wins first.
const (
	Managed Scope = "managed"
	Local   Scope = "local"
	Project Scope = "project"
	User    Scope = "user"
)

// File is one settings file. Root is nil when the file does not exist or, with Err, cannot be used.
type File struct {
	Scope Scope
	Path  string
	Root  rawjson.Value
	Err   error
}

// ConfigDir is the client's configuration folder.
func ConfigDir(env config.Env) string {
	if dir := env.Get("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	if home := env.Home(); home != "" {
		return filepath.Join(home, ".claude")
	}
	return ""
}

// Load reads the settings files that apply in project, those that win first. Files that do not exist are listed too.
func Load(env config.Env, project string) []File {
	var files []File
	for _, path := range managedPaths(managedDir()) {
		files = append(files, load(Managed, path))
	}
	if project != "" {
		for _, path := range localPaths(project) {
			files = append(files, load(Local, path))
		}
		files = append(files, load(Project, filepath.Join(project, ".claude", "settings.json")))
	}
	if dir := ConfigDir(env); dir != "" {
		files = append(files, load(User, filepath.Join(dir, "settings.json")))
	}
	return files
}

func load(scope Scope, path string) File {
	f := File{Scope: scope, Path: path}
	data, err := statefile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return f
	}
	if err == nil {
		f.Root, err = rawjson.Parse(data)
	}
	if err == nil && f.Root.Kind() != rawjson.Object {
		f.Root, err = nil, errors.New("the root is no object")
	}
	f.Err = err
	return f
}

func managedDir() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/ClaudeCode"
	case "windows":
		return `C:\Program Files\ClaudeCode`
	}
	return "/etc/claude-code"
}

// managedPaths lists the managed files, those that win first: the drop-ins, last name first, then the file itself.
func managedPaths(dir string) []string {
	entries, _ := os.ReadDir(filepath.Join(dir, "managed-settings.d"))
	var names []string
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	sort.Sort(sort.Reverse(sort.StringSlice(names)))
	var paths []string
	for _, name := range names {
		paths = append(paths, filepath.Join(dir, "managed-settings.d", name))
	}
	return append(paths, filepath.Join(dir, "managed-settings.json"))
}

// Lookup returns a key's value from the scope that wins, and the file it stands in.
func Lookup(files []File, key string) (rawjson.Value, File) {
	for _, f := range files {
		if v := f.Root.Get(key); v != nil {
			return v, f
		}
	}
	return nil, File{}
}
