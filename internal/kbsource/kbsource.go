// Package kbsource tells which knowledge-base searches a session in a project has: which of those that the settings
// count are configured and not switched off. It reads Claude Code's files and PATH, and links the standard library only,
// so that the hook may ask.
package kbsource

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"plimsoll/internal/config"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/settings"
	"plimsoll/internal/statefile"
)

// Sources are searches, in the order of the settings.
type Sources struct {
	Tools    []string `json:"tools"`    // names as the model calls them
	Commands []string `json:"commands"` // as the settings have them, without the words to search for
}

// maxFile bounds a file of Claude Code's, in bytes. ~/.claude.json holds the history of all projects.
const maxFile = 32 << 20

// Find returns which of a project's configured searches there are. A tool mcp__S__t is there when a server S is
// registered for the project, the user, or the user in the project, and not refused; mcp__plugin_P_S__t when a plugin P
// is switched on. A command is there when its first word can be run. What cannot be known is whether a server starts.
func Find(kb config.KB, env config.Env, project string) Sources {
	s := Sources{Tools: []string{}, Commands: []string{}}
	servers := servers(env, project)
	for _, tool := range kb.SearchTools.V {
		rest, isMCP := strings.CutPrefix(tool, "mcp__")
		server, _, _ := strings.Cut(rest, "__")
		if !isMCP || strings.HasSuffix(tool, "*") {
			continue
		}
		if slices.ContainsFunc(servers, func(has string) bool {
			// Of a plugin's servers only the plugin is known.
			return has == server || strings.HasSuffix(has, "_") && strings.HasPrefix(server, has)
		}) {
			s.Tools = append(s.Tools, tool)
		}
	}
	for _, command := range kb.SearchCommands.V {
		if first, _, _ := strings.Cut(strings.TrimSpace(command), " "); first != "" && runnable(env, first) {
			s.Commands = append(s.Commands, command)
		}
	}
	return s
}

// servers lists the names of the MCP servers as they stand in tool names; for a plugin it is plugin_P_.
func servers(env config.Env, project string) (names []string) {
	files := settings.Load(env, project)
	add := func(list rawjson.Value, refused func(string) bool) {
		for name := range list.Members() {
			if name = toolPart(name); !refused(name) {
				names = append(names, name)
			}
		}
	}
	state := clientState(env)
	// Keyed by the folder of the session; what was decided in a folder below is not seen.
	own := state.Get("projects").Get(project)
	off := func(name string) bool { return contains(own.Get("disabledMcpServers"), name) }
	add(state.Get("mcpServers"), off)
	add(own.Get("mcpServers"), off)
	if project != "" {
		add(read(filepath.Join(project, ".mcp.json")).Get("mcpServers"), func(name string) bool {
			if off(name) || contains(own.Get("disabledMcpjsonServers"), name) {
				return true
			}
			for _, f := range files {
				if contains(f.Root.Get("disabledMcpjsonServers"), name) {
					return true
				}
			}
			return false
		})
	}
	decided := map[string]bool{}
	for _, f := range files { // those that win first
		for key, v := range f.Root.Get("enabledPlugins").Members() {
			if decided[key] {
				continue
			}
			decided[key] = true
			if name, _, _ := strings.Cut(key, "@"); v.Kind() == rawjson.True {
				names = append(names, "plugin_"+toolPart(name)+"_")
			}
		}
	}
	return names
}

// clientState is the client's own file, ~/.claude.json.
func clientState(env config.Env) rawjson.Value {
	dir := env.Get("CLAUDE_CONFIG_DIR")
	if dir == "" {
		dir = env.Home()
	}
	if dir == "" {
		return nil
	}
	return read(filepath.Join(dir, ".claude.json"))
}

func read(path string) rawjson.Value {
	data, err := statefile.Read(path, maxFile)
	if err != nil {
		return nil
	}
	root, err := rawjson.Parse(data)
	if err != nil {
		return nil
	}
	return root
}

func contains(list rawjson.Value, name string) bool {
	for e := range list.Elements() {
		if s, ok := e.Text(); ok && toolPart(s) == name {
			return true
		}
	}
	return false
}

// toolPart is a name as the client writes it within a tool's name: everything but letters, digits, _ and - becomes _.
func toolPart(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
}

// runnable tells whether a shell finds a command: by its path, or in a folder of PATH.
func runnable(env config.Env, name string) bool {
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		return filepath.IsAbs(name) && executable(name)
	}
	for _, dir := range filepath.SplitList(env.Get("PATH")) {
		// What a relative folder holds depends on where the shell is.
		if filepath.IsAbs(dir) && (executable(filepath.Join(dir, name)) || runtime.GOOS == "windows" && executable(filepath.Join(dir, name+".exe"))) {
			return true
		}
	}
	return false
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}
