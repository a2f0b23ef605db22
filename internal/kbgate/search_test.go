package kbgate

import (
	"strings"
	"testing"

	"plimsoll/internal/config"
	"plimsoll/internal/rawjson"
)

func TestSearchText(t *testing.T) {
	kb := config.Default().KB
	kb.SearchTools.V = append(kb.SearchTools.V, "mcp__wiki__*")
	kb.SearchCommands.V = append(kb.SearchCommands.V, "rg -i  notes")
	for _, c := range []struct{ tool, input, want string }{
		// 14a 31-35
		{"mcp__plimsoll__query", `{"query":"plain query field"}`, "plain query field"},
		{"mcp__plugin_plimsoll_kb__query", `{"query":"by the plugin's name"}`, "by the plugin's name"},
		{"mcp__memory-loop__query", `{"searches":[{"type":"lex","query":"one"},{"type":"vec","query":"two three"}]}`, "one two three"},
		{"mcp__plimsoll__query", `{"intent":"why"}`, ""},
		{"mcp__docs-mcp-server__search_docs", `{"library":"x","query":"y"}`, "y"},
		// 14c 9
		{"mcp__plimsoll__query", `{"query":"plain query\nwith tabs\tand trailing newline\n"}`, "plain query\nwith tabs\tand trailing newline"},
		{"mcp__plimsoll__query", `{"query":"","searches":[{"query":"typed"}]}`, "typed"},
		{"mcp__plimsoll__query", `{"query":null,"searches":[{"query":"typed"}]}`, "typed"},
		// objects without text do not count
		{"mcp__plimsoll__query", `{"searches":[{},{}]}`, ""},
		{"mcp__plimsoll__query", `{"searches":[{}]}`, ""},
		{"mcp__plimsoll__query", `{"searches":[{},{"query":""},{"query":"a"}]}`, "a"},
		{"mcp__plimsoll__query", `{"searches":["a"]}`, ""},
		{"mcp__plimsoll__query", `{"searches":"a"}`, ""},
		{"mcp__plimsoll__query", `{"query":"\n\n"}`, ""},
		{"mcp__plimsoll__query", `{"query":12}`, "12"},
		{"mcp__plimsoll__query", `{"query":["a"]}`, ""},
		{"mcp__plimsoll__query", `"a"`, ""},
		{"mcp__plimsoll__query", ``, ""},
		// names
		{"mcp__wiki__find", `{"query":"q"}`, "q"},
		{"mcp__wiki__", `{"query":"q"}`, "q"},
		{"mcp__wiki", `{"query":"q"}`, ""},
		{"mcp__plimsoll__query_all", `{"query":"q"}`, ""},
		{"Grep", `{"query":"q"}`, ""},
		// commands
		{"Bash", `{"command":"plimsoll kb search how hooks fail"}`, "how hooks fail"},
		{"Bash", `{"command":"  plimsoll\tkb  search --limit 3 'a b' | head -3\n"}`, "--limit 3 'a b' | head -3"},
		{"Bash", `{"command":"rg -i notes x"}`, "x"},
		{"Bash", `{"command":"plimsoll kb search"}`, ""},
		{"Bash", `{"command":"plimsoll kb search --help"}`, ""},
		{"Bash", `{"command":"plimsoll kb search | cat"}`, ""},
		{"Bash", `{"command":"plimsoll kb search; echo a"}`, ""},
		{"Bash", `{"command":"plimsoll kb search\necho a"}`, ""},
		{"Bash", `{"command":"plimsoll kb searching a"}`, ""},
		{"Bash", `{"command":"plimsoll kb log"}`, ""},
		{"Bash", `{"command":"echo plimsoll kb search a"}`, ""},
		{"Bash", `{"command":"plimsoll"}`, ""},
		{"Bash", `{"command":["plimsoll kb search a"]}`, ""},
		{"PowerShell", `{"command":"plimsoll kb search a"}`, ""},
	} {
		if got := searchText(kb, c.tool, rawjson.Value(c.input)); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.tool, c.input, got, c.want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"aéé", 4, "aé"}, {"é", 1, ""}, {"", 0, ""}} {
		if got := cut(c.s, c.n); got != c.want {
			t.Errorf("cut(%q, %d) = %q", c.s, c.n, got)
		}
	}
	if record := searchRecord(1<<40, cut(strings.Repeat("é", maxQuery), maxQuery)); len(record) > 4096 {
		t.Errorf("a record of %d bytes", len(record))
	}
}
