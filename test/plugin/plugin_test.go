// Package plugin checks the files of the Claude Code plugin against the code that they speak of.
package plugin

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cli"
	"plimsoll/internal/config"
)

// root is the repository, where the marketplace is.
const root = "../.."

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

type option struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Default     any      `json:"default"`
	Min         *float64 `json:"min"`
	Max         *float64 `json:"max"`
}

// manifest has the keys that our plugin.json may have. hooks, mcpServers and skills are not among them: the client finds
// those files by itself, and would load what is named here a second time.
type manifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	Author      map[string]string `json:"author"`
	License     string            `json:"license"`
	Keywords    []string          `json:"keywords"`
	UserConfig  map[string]option `json:"userConfig"`
}

func readManifest(t *testing.T) (m manifest) {
	t.Helper()
	readJSON(t, "plugin/.claude-plugin/plugin.json", &m)
	return m
}

func TestMarketplaceLeadsToThePlugin(t *testing.T) {
	var market struct {
		Name        string            `json:"name"`
		Description string            `json:"description"`
		Owner       map[string]string `json:"owner"`
		Plugins     []struct {
			Name, Source, Description, Category string
		} `json:"plugins"`
	}
	readJSON(t, ".claude-plugin/marketplace.json", &market)
	if len(market.Plugins) != 1 || market.Name == "" || market.Owner["name"] == "" {
		t.Fatalf("marketplace %+v", market)
	}
	p := market.Plugins[0]
	if !strings.HasPrefix(p.Source, "./") || filepath.Join(root, p.Source) != filepath.Join(root, "plugin") {
		t.Errorf("source %q", p.Source)
	}
	// Setup and doctor know the plugin by this name, whatever the marketplace.
	if m := readManifest(t); p.Name != m.Name || m.Name != "plimsoll" {
		t.Errorf("listed as %q, calls itself %q", p.Name, m.Name)
	}
}

// Each option arrives as the variable that the zone rules read, and what the client shows as default is the default.
func TestOptionsAreTheZoneRulesSettings(t *testing.T) {
	defaults := config.Default().Zones
	shown := map[string]any{
		"context_guard_hooks_enabled": defaults.Enabled.V,
		"zone_hook_mode":              defaults.Mode.V,
		"zone_gate_grace_calls":       float64(defaults.Grace.V),
	}
	types := map[string]string{"context_guard_hooks_enabled": "boolean", "zone_hook_mode": "string", "zone_gate_grace_calls": "number"}
	m := readManifest(t)
	if len(m.UserConfig) != len(shown) {
		t.Errorf("options %v", m.UserConfig)
	}
	for key, o := range m.UserConfig {
		if o.Default != shown[key] || o.Type != types[key] || o.Title == "" || o.Description == "" {
			t.Errorf("option %s is %+v, want default %v and type %s", key, o, shown[key], types[key])
		}
	}
	values := map[string]string{"context_guard_hooks_enabled": "false", "zone_hook_mode": config.Blocking, "zone_gate_grace_calls": "7"}
	env := func(name string) (string, bool) {
		for key, v := range values {
			if name == "CLAUDE_PLUGIN_OPTION_"+strings.ToUpper(key) {
				return v, true
			}
		}
		return "", false
	}
	c := config.Load(env)
	if c.Zones.Enabled.V || c.Zones.Mode.V != config.Blocking || c.Zones.Grace.V != 7 || len(c.Problems) > 0 {
		t.Errorf("the options make %+v, problems %q", c.Zones, c.Problems)
	}
}

// A search through the plugin's server counts for the KB gate, under the name that the client gives its tool.
func TestServersSearchCounts(t *testing.T) {
	var mcp struct {
		Servers map[string]struct {
			Type, Command string
			Args          []string
		} `json:"mcpServers"`
	}
	readJSON(t, "plugin/.mcp.json", &mcp)
	if len(mcp.Servers) != 1 {
		t.Fatalf("servers %v", mcp.Servers)
	}
	for name, s := range mcp.Servers {
		tool := "mcp__plugin_" + readManifest(t).Name + "_" + name + "__query"
		if !slices.Contains(config.Default().KB.SearchTools.V, tool) {
			t.Errorf("%s is not among the default search tools", tool)
		}
		if s.Command != "plimsoll" || !slices.Equal(s.Args, []string{"kb", "serve"}) || s.Type != "stdio" {
			t.Errorf("server %s is %+v", name, s)
		}
	}
}

// frontmatter has the keys of a skill that we use; the client knows more.
type frontmatter struct {
	Name         string `yaml:"name"`
	Description  string `yaml:"description"`
	ArgumentHint string `yaml:"argument-hint"`
	AllowedTools string `yaml:"allowed-tools"`
	OperatorOnly bool   `yaml:"disable-model-invocation"`
}

type skill struct {
	frontmatter
	body string
}

func skills(t *testing.T) map[string]skill {
	t.Helper()
	dirs, err := os.ReadDir(filepath.Join(root, "plugin/skills"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]skill{}
	for _, d := range dirs {
		data, err := os.ReadFile(filepath.Join(root, "plugin/skills", d.Name(), "SKILL.md"))
		if err != nil {
			t.Fatal(err)
		}
		head, body, ok := strings.Cut(strings.TrimPrefix(string(data), "---\n"), "\n---\n")
		if !ok || !strings.HasPrefix(string(data), "---\n") {
			t.Fatalf("%s: no frontmatter", d.Name())
		}
		s := skill{body: body}
		dec := yaml.NewDecoder(strings.NewReader(head))
		dec.KnownFields(true)
		if err := dec.Decode(&s.frontmatter); err != nil {
			t.Fatalf("%s: %v", d.Name(), err)
		}
		all[d.Name()] = s
	}
	return all
}

// maxListed is where the client cuts a skill's description, in characters.
const maxListed = 1536

func TestSkillsAreListedWhole(t *testing.T) {
	var names []string
	for dir, s := range skills(t) {
		names = append(names, dir)
		if s.Name != dir {
			t.Errorf("%s: called %q", dir, s.Name)
		}
		if n := utf8.RuneCountInString(s.Description); n == 0 || n > maxListed || strings.Contains(s.Description, "\n") {
			t.Errorf("%s: a description of %d characters", dir, n)
		}
		if !strings.Contains(s.Description, "Use ") {
			t.Errorf("%s: the description does not say when to use it", dir)
		}
	}
	slices.Sort(names)
	if want := []string{"context-check", "continue", "handoff", "setup"}; !slices.Equal(names, want) {
		t.Errorf("skills %v, want %v", names, want)
	}
}

// The way out of a full window is open at both ends: no rule of ours stops it, and the client asks nobody. A skill that
// asks for tools is one that the client asks about, which ends an unattended session where it was to be saved.
func TestRecoveryNeedsNobodysLeave(t *testing.T) {
	all := skills(t)
	for _, name := range []string{"handoff", "continue"} {
		if !ceiling.Recovers(name, nil) || !ceiling.Recovers("plimsoll:"+name, nil) {
			t.Errorf("the ceiling stops %s", name)
		}
		if s := all[name]; s.AllowedTools != "" || s.OperatorOnly {
			t.Errorf("%s: allowed-tools %q, operator only %v", name, s.AllowedTools, s.OperatorOnly)
		}
	}
}

var notePath = regexp.MustCompile("`([^` ]*handoff[^` ]*\\.md)`")

// Both ends name the same folder, outside of .claude, whose files the client lets nobody write unasked, and with the
// word that opens the zone gate. They also name the same parts.
func TestHandoffIsFoundAgain(t *testing.T) {
	all := skills(t)
	folder := ""
	for _, name := range []string{"handoff", "continue"} {
		m := notePath.FindStringSubmatch(all[name].body)
		if m == nil {
			t.Fatalf("%s names no note", name)
		}
		dir := filepath.Dir(m[1])
		if folder == "" {
			folder = dir
		}
		if dir != folder || !strings.Contains(dir, "handoff") || strings.Contains(dir, ".claude") {
			t.Errorf("%s looks into %s, the other into %s", name, dir, folder)
		}
	}
	var parts []string
	for line := range strings.Lines(all["handoff"].body) {
		if part, ok := strings.CutPrefix(strings.TrimSpace(line), "## "); ok {
			parts = append(parts, part)
		}
	}
	want := []string{"Goal", "State", "Decisions", "Open questions", "Next step", "Files"}
	if !slices.Equal(parts, want) {
		t.Errorf("the note's parts are %q, want %q", parts, want)
	}
	last := len(want) - 1
	if list := strings.Join(want[:last], ", ") + " and " + want[last]; !strings.Contains(strings.Join(strings.Fields(all["continue"].body), " "), list) {
		t.Errorf("continue does not name the parts %s", list)
	}
	if !strings.Contains(all["handoff"].body, "/plimsoll:continue") {
		t.Error("the hand-off does not say how to go on")
	}
}

func TestSessionIsTheClients(t *testing.T) {
	if body := skills(t)["context-check"].body; strings.Count(body, "${CLAUDE_SESSION_ID}") < 2 || !strings.Contains(body, "plimsoll doctor ${CLAUDE_SESSION_ID}") {
		t.Error("context-check does not ask for its own session")
	}
}

var (
	command = regexp.MustCompile("`plimsoll ([^`]+)`")
	rule    = regexp.MustCompile(`Bash\(plimsoll ([^)]*)\)`)
)

// Every command that a skill runs or asks leave for exists, with the flags that it names.
func TestCommandsExist(t *testing.T) {
	found := 0
	for name, s := range skills(t) {
		lines := command.FindAllStringSubmatch(s.body, -1)
		lines = append(lines, rule.FindAllStringSubmatch(s.AllowedTools, -1)...)
		for _, m := range lines {
			found++
			args := strings.Fields(strings.TrimSuffix(m[1], " *"))
			table := cli.Commands()
			cmd, rest, err := table.Find(args)
			if err != nil || cmd == table {
				t.Errorf("%s: there is no command plimsoll %s", name, m[1])
				continue
			}
			if cmd.DisableFlagParsing {
				continue
			}
			if err := cmd.ParseFlags(rest); err != nil {
				t.Errorf("%s: plimsoll %s: %v", name, m[1], err)
			}
		}
	}
	if found < 8 {
		t.Errorf("only %d commands were found in the skills", found)
	}
}

var file = regexp.MustCompile("`((?:docs|plugin|skills|hooks|\\.claude-plugin)/[A-Za-z0-9_./-]+)`")

// Files that the plugin's texts name are there.
func TestFilesExist(t *testing.T) {
	err := filepath.WalkDir(filepath.Join(root, "plugin"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range file.FindAllStringSubmatch(string(data), -1) {
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
					t.Errorf("%s names %s, which is not there", path, m[1])
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
