package kbgate

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"plimsoll/internal/config"
	"plimsoll/internal/harness"
)

var (
	namedCommand = regexp.MustCompile(`the Bash command "([^"]*) <words>"`)
	namedTool    = regexp.MustCompile(`the tool ([^\s,]+)`)
	namedMarker  = regexp.MustCompile(`a line starting with "([^"]*)"`)
)

// instructions are the ways to comply that a denial names.
type instructions struct {
	search []func(p *project)
	prompt string
}

// read takes a denial at its word: what it does not say is not done.
func read(t *testing.T, denial string) (in instructions) {
	t.Helper()
	_, way, ok := strings.Cut(denial, "What lets it through: ")
	if !ok {
		t.Fatalf("a denial that names no way out: %s", denial)
	}
	if strings.HasPrefix(way, "search once with ") {
		for _, m := range namedCommand.FindAllStringSubmatch(way, -1) {
			in.search = append(in.search, func(p *project) { p.use("Bash", map[string]any{"command": m[1] + " some words"}) })
		}
		for _, m := range namedTool.FindAllStringSubmatch(way, -1) {
			in.search = append(in.search, func(p *project) {
				p.use(strings.ReplaceAll(m[1], "*", "any"), map[string]any{"query": "some words"})
			})
		}
		if len(in.search) == 0 {
			t.Fatalf("a denial that asks for a search and names none: %s", denial)
		}
	}
	marker := namedMarker.FindStringSubmatch(way)
	if marker == nil {
		t.Fatalf("a denial that names no marker: %s", denial)
	}
	in.prompt = "Find the parser.\n" + marker[1] + " none."
	return in
}

// F35: performing exactly what the denial says lets the next spawn through, whichever of the named searches is used,
// whatever was missing.
func TestDoingWhatTheDenialSaysLetsTheSpawnThrough(t *testing.T) {
	kbs := map[string]config.KB{"defaults": config.Default().KB}
	own := config.Default().KB
	own.SearchTools.V, own.SearchCommands.V, own.Marker.V = []string{"mcp__wiki__*", "find_notes"}, []string{"notes  find", "rg -i"}, "[findings]"
	kbs["own"] = own
	tried := 0
	for name, kb := range kbs {
		for _, missing := range []string{"both", "block", "search"} {
			for way := 0; ; way++ {
				p := inProject(t)
				kb.Mode.V = config.KBEnforce
				p.kb = kb
				p.prompt()
				prompt := "Find the parser."
				switch missing {
				case "block":
					p.use(strings.ReplaceAll(kb.SearchTools.V[0], "*", ""), map[string]any{"query": "q"})
				case "search":
					prompt += " " + kb.Marker.V
				}
				spawn := func(prompt string) string {
					return p.spawnWith(map[string]any{"subagent_type": "Explore", "prompt": prompt})
				}
				out := spawn(prompt)
				if !denied(out) {
					t.Fatalf("%s, %s missing: not denied", name, missing)
				}
				in := read(t, text(t, out, "permissionDecisionReason"))
				if missing == "block" != (len(in.search) == 0) {
					t.Fatalf("%s, %s missing: %d searches are asked for", name, missing, len(in.search))
				}
				if way < len(in.search) {
					in.search[way](p)
				}
				if out := spawn(in.prompt); out != "" {
					t.Errorf("%s, %s missing, way %d: doing what the denial says: %s", name, missing, way, out)
				}
				tried++
				if way+1 >= len(in.search) {
					break
				}
			}
		}
	}
	if tried < 18 { // every way in each of the two settings, for each of the two gaps that a search closes; one for the third
		t.Errorf("only %d ways were tried", tried)
	}
}

func TestTextsAreShort(t *testing.T) {
	long := config.Default().KB
	long.Marker.V = strings.Repeat("M", harness.MaxLabel)
	for i := range 40 {
		long.SearchTools.V = append(long.SearchTools.V, fmt.Sprintf("mcp__%060d__*", i))
		long.SearchCommands.V = append(long.SearchCommands.V, fmt.Sprintf("%079d", i))
	}
	for name, kb := range map[string]config.KB{"defaults": config.Default().KB, "long": long} {
		for _, l := range []lookup{{"Explore", false, false}, {"Explore", true, false}, {"Explore", false, true}, {strings.Repeat("k", 500), false, false}} {
			for what, text := range map[string]string{"denial": denialForModel(kb, l), "advice": adviceForModel(kb, l), "briefing": briefing(kb)} {
				if n := utf8.RuneCountInString(text); n > MaxText {
					t.Errorf("%s, %s: %d characters: %s", name, what, n, text)
				}
				for _, setting := range []string{"PLIMSOLL", "plimsoll.json", "kb.mode", "enforce"} {
					if strings.Contains(text, setting) {
						t.Errorf("%s, %s tells the model of %s", name, what, setting)
					}
				}
				if strings.Contains(text, "\n") {
					t.Errorf("%s, %s has line feeds", name, what)
				}
			}
			for _, text := range []string{adviceForOperator(l), denialForOperator(l), releaseForOperator(l, whyTurn)} {
				if strings.Contains(text, "\n") {
					t.Errorf("for the operator: %q", text)
				}
			}
		}
	}
}

func TestSearchNames(t *testing.T) {
	kb := config.Default().KB
	if got, want := searchNames(kb), `the Bash command "plimsoll kb search <words>", the tool mcp__plimsoll__query, the tool mcp__plugin_plimsoll_kb__query, the tool mcp__memory-loop__query or the tool mcp__docs-mcp-server__search_docs`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	kb.SearchTools.V, kb.SearchCommands.V = []string{"one"}, nil
	if got := searchNames(kb); got != "the tool one" {
		t.Error(got)
	}
	kb.SearchTools.V = []string{strings.Repeat("x", 81), "bad\x1bname"}
	if got := searchNames(kb); got != "the project's knowledge-base search" {
		t.Error(got)
	}
}
