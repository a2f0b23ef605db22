//go:build e2e

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/test/e2e/client"
)

// kbQuery is a call of our server's search, as the client names it.
func kbQuery(id, query string) call {
	return call{ID: id, Name: "mcp__plimsoll__query", Input: input{"query": query}}
}

// What setup registers is all that a project needs: a spawn without a lookup is denied and told which search there is,
// the model finds our server's tool, the search counts, and a spawn that carries what was found starts.
func TestKBServer(t *testing.T) {
	const (
		query   = "prepared statement does not exist"
		passage = "Use exec mode instead of the statement cache with transaction pooling"
		block   = "KB context:\n- " + passage + " (gotchas/pgx.md)"
	)
	eachVersion(t, func(t *testing.T, c client.Client) {
		w := newWorld(t, c,
			step{Calls: []call{agent("toolu_bare", "You are the HELPER. Find out why statements vanish.")}, Usage: usage{Input: 1000}},
			step{Calls: []call{kbQuery("toolu_query", query)}, Usage: usage{Input: 2000}},
			step{Calls: []call{agent("toolu_carries", "You are the HELPER. Find out why statements vanish.\n"+block)}, Usage: usage{Input: 3000}},
			step{Agent: "HELPER", Text: "helped", Usage: usage{Input: 500}},
			step{Text: "all done", Usage: usage{Input: 4000}},
		)
		w.writeProject(".claude/memories/gotchas/pgx.md", "# pgx behind PgBouncer\n\nSymptom: a prepared statement does not exist, only under load.\n"+passage+".\n")
		w.writeProject(".claude/memories/other.md", "# Releases\n\nThey are cut on Tuesdays.\n")
		w.plimsoll("setup", "--kb-server", "--kb", "enforce", "--scope", "project", "--yes")
		w.print("begin")

		w.denied("toolu_bare", "KB gate", "the tool mcp__plimsoll__query (whichever")
		if text := w.toolResult("toolu_bare").Text; strings.Contains(text, "mcp__memory-loop__query") {
			t.Errorf("the denial names a search that is not there: %s", text)
		}
		offered := w.api.Main()[1].Tools() // with the request that the search answers
		for _, tool := range []string{"mcp__plimsoll__query", "mcp__plimsoll__get"} {
			if !slices.Contains(offered, tool) {
				t.Errorf("the model was offered %v, not %s", offered, tool)
			}
		}
		found := w.toolResult("toolu_query")
		if found.IsError || !strings.Contains(found.Text, passage) || !strings.Contains(found.Text, "gotchas/pgx.md") {
			t.Errorf("the search found %+v", found)
		}
		// Newer clients frame what a sub-agent hands back.
		if result := w.toolResult("toolu_carries"); result.IsError || !strings.Contains(result.Text, "helped") {
			t.Errorf("the spawn with findings came to %+v", result)
		}
		first := w.api.Agent("HELPER")
		if len(first) != 1 || !strings.Contains(first[0].FirstPrompt(), block) {
			t.Errorf("%d requests of the sub-agent, want one with the findings", len(first))
		}

		queries, err := filepath.Glob(filepath.Join(w.Project, ".claude", ".kb-gate", "*.queries"))
		if err != nil || len(queries) != 1 || w.readFile(queries[0]) != "1\t"+query+"\n" {
			t.Errorf("recorded searches: %v, %v", queries, err)
		}
		log := w.readFile(filepath.Join(w.Project, ".claude", ".kb-gate.log"))
		if decisions := decided(log); !slices.Equal(decisions, []string{"turn_start", "deny", "recorded", "allow", "briefed"}) {
			t.Errorf("the log has %v:\n%s", decisions, log)
		}
	})
}

// decided lists the decisions of a gate's log.
func decided(log string) (decisions []string) {
	for line := range strings.Lines(log) {
		_, rest, _ := strings.Cut(line, `"decision":"`)
		decision, _, _ := strings.Cut(rest, `"`)
		decisions = append(decisions, decision)
	}
	return decisions
}
