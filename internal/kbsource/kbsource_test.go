package kbsource

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"plimsoll/internal/config"
)

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	const ours, plugins, theirs = "mcp__plimsoll__query", "mcp__plugin_plimsoll_kb__query", "mcp__memory-loop__query"
	server := `{"mcpServers":{"plimsoll":{"command":"plimsoll","args":["kb","serve"]}}}`
	for name, c := range map[string]struct {
		files    map[string]string // below the project, or below the home with ~/
		env      map[string]string
		tools    []string
		commands []string
	}{
		"nothing":                  {},
		"project":                  {files: map[string]string{".mcp.json": server}, tools: []string{ours}},
		"project, refused":         {files: map[string]string{".mcp.json": server, ".claude/settings.local.json": `{"disabledMcpjsonServers":["plimsoll"]}`}},
		"project, refused by user": {files: map[string]string{".mcp.json": server, "~/.claude/settings.json": `{"disabledMcpjsonServers":["plimsoll"]}`}},
		"project, off here":        {files: map[string]string{".mcp.json": server, "~/.claude.json": `{"projects":{"PROJECT":{"disabledMcpjsonServers":["plimsoll"]}}}`}},
		"project, other refused":   {files: map[string]string{".mcp.json": server, ".claude/settings.json": `{"disabledMcpjsonServers":["other"]}`}, tools: []string{ours}},
		"user":                     {files: map[string]string{"~/.claude.json": server}, tools: []string{ours}},
		"user, off here":           {files: map[string]string{"~/.claude.json": `{"mcpServers":{"plimsoll":{}},"projects":{"PROJECT":{"disabledMcpServers":["plimsoll"]}}}`}},
		"user, off elsewhere":      {files: map[string]string{"~/.claude.json": `{"mcpServers":{"plimsoll":{}},"projects":{"/other":{"disabledMcpServers":["plimsoll"]}}}`}, tools: []string{ours}},
		"local":                    {files: map[string]string{"~/.claude.json": `{"projects":{"PROJECT":{"mcpServers":{"plimsoll":{}}}}}`}, tools: []string{ours}},
		"local elsewhere":          {files: map[string]string{"~/.claude.json": `{"projects":{"/other":{"mcpServers":{"plimsoll":{}}}}}`}},
		"CLAUDE_CONFIG_DIR":        {files: map[string]string{"~/.claude.json": server, "~/else/.claude.json": `{}`}, env: map[string]string{"CLAUDE_CONFIG_DIR": "HOME/else"}},
		"in CLAUDE_CONFIG_DIR":     {files: map[string]string{"~/else/.claude.json": server}, env: map[string]string{"CLAUDE_CONFIG_DIR": "HOME/else"}, tools: []string{ours}},
		"plugin":                   {files: map[string]string{"~/.claude/settings.json": `{"enabledPlugins":{"plimsoll@market":true}}`}, tools: []string{plugins}},
		"plugin, off":              {files: map[string]string{"~/.claude/settings.json": `{"enabledPlugins":{"plimsoll@market":false}}`}},
		"plugin, off here":         {files: map[string]string{"~/.claude/settings.json": `{"enabledPlugins":{"plimsoll@market":true}}`, ".claude/settings.json": `{"enabledPlugins":{"plimsoll@market":false}}`}},
		"several":                  {files: map[string]string{"~/.claude.json": `{"mcpServers":{"memory-loop":{}}}`, ".mcp.json": server}, tools: []string{ours, theirs}},
		"names with blanks":        {files: map[string]string{"~/.claude.json": `{"mcpServers":{"my notes":{}}}`}, tools: []string{"mcp__my_notes__find"}},
		"another server":           {files: map[string]string{".mcp.json": `{"mcpServers":{"plimsolls":{},"plim":{},"plimsoll_":{}}}`}},
		"broken files":             {files: map[string]string{".mcp.json": `{"mcpServers":`, "~/.claude.json": `[]`, ".claude/settings.json": `nonsense`}},
		"on PATH":                  {files: map[string]string{"~/bin/plimsoll": "#!"}, env: map[string]string{"PATH": "relative:HOME/none:HOME/bin"}, commands: []string{"plimsoll kb search"}},
		"not executable":           {files: map[string]string{"~/doc/plimsoll": "#!"}, env: map[string]string{"PATH": "HOME/doc"}},
		"a folder on PATH":         {files: map[string]string{"~/bin/plimsoll/x": "#!"}, env: map[string]string{"PATH": "HOME/bin"}},
	} {
		home, project := t.TempDir(), t.TempDir()
		fill := strings.NewReplacer("HOME", home, "PROJECT", project)
		for file, text := range c.files {
			mode := os.FileMode(0o644)
			if strings.HasPrefix(file, "~/bin/") {
				mode = 0o755
			}
			path := filepath.Join(project, file)
			if below, ok := strings.CutPrefix(file, "~/"); ok {
				path = filepath.Join(home, below)
			}
			write(t, path, fill.Replace(text), mode)
		}
		env := config.Env(func(name string) (string, bool) {
			if name == "HOME" {
				return home, true
			}
			v, ok := c.env[name]
			return fill.Replace(v), ok
		})
		kb := config.Default().KB
		kb.SearchTools.V = []string{ours, plugins, theirs, "mcp__my_notes__find", "mcp__plimsoll*", "query", ""}
		got := Find(kb, env, project)
		want := Sources{append([]string{}, c.tools...), append([]string{}, c.commands...)}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

// The hook may link this package.
func TestLinksTheStandardLibraryOnly(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dep := range strings.Fields(string(out)) {
		first, _, _ := strings.Cut(dep, "/")
		if strings.Contains(first, ".") || dep == "net" || dep == "regexp" || dep == "encoding/json" || dep == "flag" || strings.Contains(dep, "internal/kb/") {
			t.Errorf("links %s", dep)
		}
	}
}
