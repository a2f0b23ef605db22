package registration

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/config"
	"plimsoll/internal/harness"
)

// The plugin ships the table for the default settings, and nothing besides: the client knows no way to make a plugin's
// hooks depend on a user's settings.
func TestPluginShipsTheTable(t *testing.T) {
	data, err := os.ReadFile("../../plugin/hooks/hooks.json")
	if err != nil {
		t.Fatal(err)
	}
	var shipped struct {
		Description string             `json:"description"`
		Hooks       map[string][]Group `json:"hooks"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&shipped); err != nil {
		t.Fatal(err)
	}
	want := Hooks(Table(config.Default().KB), "plimsoll-hook", "hook")
	if !reflect.DeepEqual(shipped.Hooks, want) {
		text, _ := json.MarshalIndent(want, "", "  ")
		t.Errorf("plugin/hooks/hooks.json differs from the table; its hooks should be\n%s", text)
	}
}

// The events and matchers that the design promises, spelled out: a table that is compared with itself alone could lose
// an event.
func TestTable(t *testing.T) {
	want := []Entry{
		{Event: "PreToolUse", Matcher: "Write|Edit|NotebookEdit|Agent|Task|Workflow|Skill"},
		{Event: "PostToolUse", Matcher: "mcp__plimsoll__query|mcp__plugin_plimsoll_kb__query|mcp__memory-loop__query|mcp__docs-mcp-server__search_docs"},
		{Event: "PostToolUse", Matcher: "Bash", If: []string{"Bash(plimsoll kb search *)"}},
		{Event: "PostToolBatch"}, {Event: "UserPromptSubmit"}, {Event: "SubagentStart"}, {Event: "PostCompact"},
		{Event: "SessionStart", Matcher: "compact"},
	}
	if got := Table(config.Default().KB); !reflect.DeepEqual(got, want) {
		t.Errorf("table %+v\nwant  %+v", got, want)
	}
}

func TestSearchMatchers(t *testing.T) {
	for _, c := range []struct {
		tools      []string
		want       string
		hits, miss []string
	}{
		{nil, "", nil, nil},
		{[]string{"mcp__a-b__q"}, "mcp__a-b__q", nil, nil},
		{[]string{"mcp__a__*"}, "^(?:mcp__a__.*)$", []string{"mcp__a__q", "mcp__a__"}, []string{"xmcp__a__q", "mcp__b__q"}},
		{[]string{"one", "mcp__a__*"}, "^(?:one|mcp__a__.*)$", []string{"one", "mcp__a__q"}, []string{"one2", "xone"}},
		{[]string{"a.b"}, `^(?:a\.b)$`, []string{"a.b"}, []string{"axb"}},
		{[]string{"*"}, "^(?:.*)$", []string{"anything"}, nil},
	} {
		kb := config.Default().KB
		kb.SearchTools.V, kb.SearchCommands.V = c.tools, nil
		i := slices.IndexFunc(Table(kb), func(e Entry) bool { return e.Event == harness.PostToolUse })
		got := ""
		if i >= 0 {
			got = Table(kb)[i].Matcher
		}
		if got != c.want {
			t.Errorf("%q: matcher %q, want %q", c.tools, got, c.want)
			continue
		}
		if !strings.HasPrefix(got, "^") {
			continue
		}
		re := regexp.MustCompile(got)
		for _, name := range c.hits {
			if !re.MatchString(name) {
				t.Errorf("%q does not match %s", got, name)
			}
		}
		for _, name := range c.miss {
			if re.MatchString(name) {
				t.Errorf("%q matches %s", got, name)
			}
		}
	}
}

func TestOneHandlerForEachRule(t *testing.T) {
	kb := config.Default().KB
	kb.SearchTools.V, kb.SearchCommands.V = nil, []string{"plimsoll  kb search", "rg notes"}
	i := slices.IndexFunc(Table(kb), func(e Entry) bool { return e.Matcher == "Bash" })
	got := Table(kb)[i].Group("cmd", "arg")
	want := Group{"Bash", []Handler{
		{"command", "cmd", []string{"arg"}, "Bash(plimsoll kb search *)", Timeout},
		{"command", "cmd", []string{"arg"}, "Bash(rg notes *)", Timeout},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
