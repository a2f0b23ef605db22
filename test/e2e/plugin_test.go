//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"plimsoll/test/e2e/client"
)

// plug has the client load a copy of the plugin, and puts our two binaries on its search path and nowhere else: a plugin
// finds them by name. Nothing is wired in the settings.
func (w *world) plug() {
	w.t.Helper()
	plugin, bin := filepath.Join(w.Root, "plugin"), filepath.Join(w.Root, "bin")
	if _, err := os.Stat(bin); err != nil {
		if err := os.CopyFS(plugin, os.DirFS("../../plugin")); err != nil {
			w.t.Fatal(err)
		}
		if err := os.Mkdir(bin, 0o755); err != nil {
			w.t.Fatal(err)
		}
		for name, path := range map[string]string{"plimsoll": prepared.Tool, "plimsoll-hook": prepared.Hook} {
			if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	w.session.Env = append(w.session.Env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	w.session.Args = append(w.session.Args, "--plugin-dir", plugin)
}

// The client's own check passes, and names what the plugin brings. Clients that have no --strict make the plain one.
func TestPluginValidates(t *testing.T) {
	eachVersion(t, func(t *testing.T, c client.Client) {
		w := newWorld(t, c)
		w.plug()
		validate := func(args ...string) (string, error) {
			running <- struct{}{}
			defer func() { <-running }()
			cmd := exec.CommandContext(t.Context(), c.Path, append([]string{"plugin", "validate"}, args...)...)
			cmd.Dir, cmd.Env = w.Project, w.Environ(w.api.URL())
			out, err := cmd.CombinedOutput()
			return string(out), err
		}
		help, err := validate("--help")
		if err != nil {
			t.Fatalf("%v: %s", err, help)
		}
		market, err := filepath.Abs("../..")
		if err != nil {
			t.Fatal(err)
		}
		for _, what := range []string{filepath.Join(w.Root, "plugin"), market} {
			args := []string{what}
			if strings.Contains(help, "--strict") {
				args = []string{"--strict", what}
			} else if c.Version != client.Floor {
				t.Error("the client has no strict check any more")
			}
			if out, err := validate(args...); err != nil || !strings.Contains(out, "Validation passed") {
				t.Errorf("plugin validate %q: %v\n%s", args, err, out)
			}
		}
	})
}

// named is the skill that a denial tells the model to run.
var named = regexp.MustCompile(`run /([A-Za-z:_-]+)`)

// A full session is saved and a fresh one goes on from it, with the plugin alone: a Skill past the ceiling is denied, the
// name in the denial is one that the Skill tool knows, that skill loads although the window is full, and the note that it
// asks for is what the next session's /plimsoll:continue leads to.
func TestHandoffAndRecovery(t *testing.T) {
	const (
		name  = "20261201T093000Z-seat-holds.md"
		goal  = "Expire seat holds after ten minutes"
		next  = "add the sweeper to holds/expire.go"
		note  = "# " + goal + "\n\n## Goal\n" + goal + ".\n\n## State\nnone\n\n## Next step\n" + next + "\n"
		saves = "Write down what a session that knows nothing of this conversation needs to go on."
		goes  = "The note tells what an earlier session knew."
		plans = "Plan it in three parts."
	)
	eachVersion(t, func(t *testing.T, c client.Client) {
		full := usage{Input: 1000, CacheRead: 399_000, Output: 50}
		w := newWorld(t, c)
		path := filepath.Join(w.Project, ".handoffs", name)
		w = worldAt(t, c, w.Home,
			step{Calls: []call{bash("toolu_fill", "echo full")}, Usage: full},
			step{Calls: []call{skill("toolu_plan", "plan")}, Usage: full},
			step{Calls: []call{skill("toolu_handoff", "handoff")}, Usage: full},
			step{Calls: []call{{ID: "toolu_note", Name: "Write", Input: input{"file_path": path, "content": note}}}, Usage: full},
			step{Text: "saved", Usage: full},
		)
		w.plug()
		w.write(".claude/skills/plan/SKILL.md", "---\nname: plan\ndescription: Makes plans.\n---\n"+plans+"\n")
		first := w.print("begin").SessionID()

		w.denied("toolu_plan", "[blocked: context ceiling]")
		if m := named.FindStringSubmatch(w.toolResult("toolu_plan").Text); m == nil || m[1] != "handoff" {
			t.Errorf("the denial tells to run %q, the script runs handoff", m)
		}
		if result := w.toolResult("toolu_handoff"); result.IsError {
			t.Errorf("the way out was stopped: %+v", result)
		}
		turns := w.api.Main()
		if len(turns) != 5 {
			t.Fatalf("the model was asked %d times", len(turns))
		}
		if n := turns[2].Count(saves); n != 0 {
			t.Errorf("the skill's text was there %d times before it was loaded", n)
		}
		if n := turns[3].Count(saves); n != 1 {
			t.Errorf("the skill was loaded %d times:\n%s", n, turns[3].Text())
		}
		if n := turns[len(turns)-1].Count(plans); n != 0 {
			t.Error("the skill that was denied was loaded")
		}
		if result := w.toolResult("toolu_note"); result.IsError {
			t.Errorf("the note was stopped: %+v", result)
		}
		if got := w.readFile(path); got != note {
			t.Errorf("the note is %q", got)
		}

		fresh := worldAt(t, c, w.Home,
			step{Calls: []call{bash("toolu_list", "ls .handoffs/*.md")}, Usage: usage{Input: 20_000}},
			step{Calls: []call{{ID: "toolu_read", Name: "Read", Input: input{"file_path": path}}}, Usage: usage{Input: 20_000}},
			step{Calls: []call{skill("toolu_fresh", "plan")}, Usage: usage{Input: 20_000}},
			step{Text: "going on", Usage: usage{Input: 20_000}},
		)
		fresh.plug()
		if second := fresh.print("/plimsoll:continue").SessionID(); second == first || second == "" {
			t.Errorf("sessions %q and %q", first, second)
		}
		if turns = fresh.api.Main(); len(turns) != 4 {
			t.Fatalf("in the fresh session the model was asked %d times", len(turns))
		}
		if n := turns[0].Count(goes); n != 1 {
			t.Errorf("the fresh session was given the skill's text %d times:\n%s", n, turns[0].Text())
		}
		if turns[0].Count(goal) != 0 {
			t.Error("the fresh session knew the note before it read it")
		}
		fresh.passed("toolu_list", ".handoffs/"+name)
		if result := fresh.toolResult("toolu_read"); result.IsError || !strings.Contains(result.Text, goal) || !strings.Contains(result.Text, next) {
			t.Errorf("of the note the fresh session read %+v", result)
		}
		if result := fresh.toolResult("toolu_fresh"); result.IsError {
			t.Errorf("the fresh session is held up as the full one was: %+v", result)
		}
	})
}

// The plugin's server answers under the name that the KB gate knows, and a search through it is the lookup that lets a
// sub-agent start.
func TestPluginsKnowledgeBase(t *testing.T) {
	eachVersion(t, func(t *testing.T, c client.Client) {
		w := newWorld(t, c,
			step{Calls: []call{agent("toolu_bare", "Find the seat holds.")}, Usage: usage{Input: 1000}},
			step{Calls: []call{{ID: "toolu_query", Name: "mcp__plugin_plimsoll_kb__query", Input: input{"query": "seat holds"}}}, Usage: usage{Input: 2000}},
			step{Calls: []call{agent("toolu_told", "You are the HELPER.\nKB context:\n- seats.md: holds end after ten minutes.")}, Usage: usage{Input: 3000}},
			step{Agent: "HELPER", Text: "helped", Usage: usage{Input: 500}},
			step{Text: "all done", Usage: usage{Input: 4000}},
		)
		w.plug()
		w.writeProject(".claude/memories/seats.md", "# Seats\n\nSeat holds end after ten minutes.\n")
		w.writeProject(".claude/plimsoll.json", `{"kb":{"mode":"enforce"}}`)
		w.print("begin")
		w.denied("toolu_bare", "KB context:")
		if result := w.toolResult("toolu_query"); result.IsError || !strings.Contains(result.Text, "seats.md") {
			t.Errorf("the search came to %+v", result)
		}
		if result := w.toolResult("toolu_told"); result.IsError {
			t.Errorf("after the search the spawn was stopped: %+v", result)
		}
	})
}
