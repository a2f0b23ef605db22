//go:build e2e

package e2e

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/test/e2e/client"
)

// ordinary is a session that touches most tools: two calls in one batch, one that fails, a file written and read, and
// a sub-agent with a call of its own.
func ordinary() []step {
	return []step{
		{Text: "two at once", Calls: []call{bash("toolu_hi", "echo hi"), bash("toolu_fail", "false")}, Usage: usage{Input: 1000, Output: 20}},
		{Calls: []call{{ID: "toolu_write", Name: "Write", Input: input{"file_path": "note.txt", "content": "a note\n"}}}, Usage: usage{Input: 2000, Output: 20}},
		{Calls: []call{{ID: "toolu_read", Name: "Read", Input: input{"file_path": "note.txt"}}}, Usage: usage{Input: 3000, Output: 20}},
		{Calls: []call{agent("toolu_agent", "You are the HELPER. Help.")}, Usage: usage{Input: 4000, Output: 20}},
		{Agent: "HELPER", Calls: []call{bash("toolu_inner", "echo inner")}, Usage: usage{Input: 500, Output: 20}},
		{Agent: "HELPER", Text: "helped", Usage: usage{Input: 600, Output: 20}},
		{Text: "all done", Usage: usage{Input: 5000, Output: 20}},
	}
}

// Wired to every event, Plimsoll leaves an ordinary session as it would be without: the model is sent the same words,
// the operator is told nothing, and no call is held up. Also where it cannot or may not work.
func TestSessionIsUndisturbed(t *testing.T) {
	eachVersion(t, func(t *testing.T, c client.Client) {
		control := newWorld(t, c, ordinary()...)
		sawWithout := shown(control.print("begin"))
		want := control.sentToModel()
		for _, s := range []struct {
			name    string
			prepare func(w *world)
		}{
			{"by default", func(*world) {}},
			{"PLIMSOLL=off", func(w *world) { w.session.Env = []string{"PLIMSOLL=off"} }},
			{"corrupted state", func(w *world) {
				w.write(".claude/context-guard/context", "a file where a folder belongs")
				w.write(".claude/context-guard/state", "another")
				w.write(".claude/context-guard/zones.json", `{"smart_max_used_percentage":`)
				w.write(".claude/plimsoll/config.json", "[[[")
				w.write(".claude/plimsoll/decisions.jsonl/in the way", "")
			}},
			{"read-only home", (*world).readOnly},
		} {
			t.Run(s.name, func(t *testing.T) {
				w := newWorld(t, c, ordinary()...)
				w.hookAll(prepared.Hook)
				s.prepare(w)
				out := w.print("begin")

				ran := w.ran()
				for _, event := range []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStop", "Stop"} {
					if ran[event+" 0"] == 0 {
						t.Errorf("the hook did not run on %s: %v", event, ran)
					}
				}
				for what := range ran {
					if !strings.HasSuffix(what, " 0") {
						t.Errorf("exit code: %s", what)
					}
				}
				if said := w.said(); said != "" {
					t.Errorf("the hook said %q", said)
				}
				if diff := difference(want, w.sentToModel()); diff != "" {
					t.Errorf("the model was sent other words than without Plimsoll:\n%s", diff)
				}
				if saw := shown(out); !slices.Equal(saw, sawWithout) {
					t.Errorf("the operator was shown %q, without Plimsoll %q", saw, sawWithout)
				}
				if out.ExitCode != 0 || out.Stderr != "" {
					t.Errorf("exit code %d, stderr %q", out.ExitCode, out.Stderr)
				}
				w.passed("toolu_hi", "hi")
				if got := w.readFile(filepath.Join(w.Project, "note.txt")); got != "a note\n" {
					t.Errorf("the file that was written holds %q", got)
				}
			})
		}
	})
}

// A Plimsoll that panics on every event blocks nothing and says nothing.
func TestPanicIsNoDenial(t *testing.T) {
	eachVersion(t, func(t *testing.T, c client.Client) {
		w := newWorld(t, c, ordinary()...)
		w.hookAll(prepared.Panics)
		out := w.print("begin")
		if log := w.read(".claude/plimsoll/decisions.jsonl"); !strings.Contains(log, "planted-panic") {
			t.Fatalf("no panic in the decision log: %q", log)
		}
		for what, n := range w.ran() {
			if !strings.HasSuffix(what, " 0") {
				t.Errorf("%d times: %s", n, what)
			}
		}
		if said := w.said(); said != "" {
			t.Errorf("the hook said %q", said)
		}
		w.passed("toolu_hi", "hi")
		w.passed("toolu_inner", "inner")
		if out.ExitCode != 0 || out.Stderr != "" {
			t.Errorf("exit code %d, stderr %q", out.ExitCode, out.Stderr)
		}
	})
}

// Headless sessions have no instrument: the client never runs the status line there, and the zone says so.
func TestStatusLineNeverRunsHeadless(t *testing.T) {
	eachVersion(t, func(t *testing.T, c client.Client) {
		w := newWorld(t, c, ordinary()...)
		w.statusLine(prepared.Hook, "statusline")
		out := w.print("begin")
		if session := w.onlySession(); session != "" {
			t.Errorf("session %s has a snapshot", session)
		}
		if got := w.zone(out.SessionID()); got != "unknown" {
			t.Errorf("zone %s", got)
		}
	})
}

// shown lists the kinds of things that the operator was shown, without the client's report that a hook ran: how many of
// a kind there are is up to timing.
func shown(out client.Output) []string {
	var kinds []string
	for _, e := range out.Events {
		if e.Subtype != "hook_started" && e.Subtype != "hook_response" {
			kinds = append(kinds, e.Type+"/"+e.Subtype)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// volatile is what differs between two runs of one script: where the home is, and what the client draws by lot or reads
// off a clock.
var volatile = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}` +
	`|\ba[0-9a-f]{16}\b|\b[0-9a-f]{8}\b|\bcch=[0-9a-f]+|duration_ms: \d+`)

// noLetter is what the client replaces by a dash when it names a folder after a path.
var noLetter = regexp.MustCompile(`[^A-Za-z0-9]`)

// sentToModel is all that the model was sent in all turns, without what differs between runs, as sorted lines: calls of
// one batch end in any order.
func (w *world) sentToModel() []string {
	var texts []string
	for _, r := range slices.Concat(w.api.Main(), w.api.Agent("HELPER")) {
		text := r.Text()
		for _, place := range []struct{ path, name string }{
			{filepath.Join(w.Root, "config"), "CLAUDE"}, {w.Claude(), "CLAUDE"}, {w.Root, "ROOT"},
		} {
			text = strings.ReplaceAll(text, place.path, place.name)
			text = strings.ReplaceAll(text, noLetter.ReplaceAllString(place.path, "-"), place.name)
		}
		texts = append(texts, volatile.ReplaceAllString(text, "*"))
	}
	lines := strings.Split(strings.Join(texts, "\n"), "\n")
	slices.Sort(lines)
	return lines
}

// difference lists what only one of two sorted lists holds.
func difference(without, with []string) string {
	var only []string
	for len(without) > 0 || len(with) > 0 {
		switch {
		case len(with) == 0 || len(without) > 0 && without[0] < with[0]:
			only = append(only, "without: "+without[0])
			without = without[1:]
		case len(without) == 0 || with[0] < without[0]:
			only = append(only, "with:    "+with[0])
			with = with[1:]
		default:
			without, with = without[1:], with[1:]
		}
	}
	return strings.Join(only, "\n")
}
