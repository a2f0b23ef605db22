//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/test/e2e/client"
)

// somebodys are settings as a person leaves them: a hook and a status line of their own, and no formatter in sight. The
// last key is one that the client would add, and write the whole file in its own way.
const somebodys = `{
    "env": {"MY_OWN": "1"},   
	"statusLine": { "type":"command",
	  "command": "cat >/dev/null; echo 'my own line'", "padding": 0 },

  "hooks": {"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"true"}]}]},
  "permissions":{ "allow" : [ ] }, "skipDangerousModePermissionPrompt" : true }`

// From setup to uninstall, as a newcomer goes: what setup wires acts in a session, the doctor finds nothing wrong and has
// heard every event, and in the end the settings are the very bytes that they were.
func TestSetup(t *testing.T) {
	eachVersion(t, func(t *testing.T, c client.Client) {
		full := usage{Input: 1000, CacheRead: 499_000, Output: 100}
		w := newWorld(t, c,
			step{Text: "answer one", Usage: full},
			step{Text: "answer crossed", Usage: full},
			step{Calls: []call{skill("toolu_plan", "plan"), bash("toolu_search", "plimsoll kb search tuesdays")}, Usage: full},
			step{Text: "answer two", Usage: full},
			step{Calls: []call{agent("toolu_agent", "You are the HELPER.\nKB context:\n- none relevant.")}, Usage: usage{Input: 20_000}},
			step{Agent: "HELPER", Text: "helped", Usage: usage{Input: 500}},
			step{Text: "answer three", Usage: usage{Input: 20_000, Output: 100}},
			step{Text: "and its completion heard", Usage: usage{Input: 20_000}, Optional: true},
		)
		w.write(".claude/settings.json", somebodys)
		w.ready = true
		w.write(".claude/skills/plan/SKILL.md", "---\nname: plan\ndescription: A skill named plan.\n---\nDo it.\n")
		w.writeProject(".claude/memories/releases.md", "# Releases\n\nThey are cut on tuesdays.\n")
		w.session.Env = []string{"PATH=" + filepath.Dir(prepared.Tool) + string(os.PathListSeparator) + os.Getenv("PATH")}
		w.plimsoll("setup", "--yes")
		wired := w.read(".claude/settings.json")

		v := w.open()
		v.says("prompt one")
		v.sees("answer one")
		v.sees("my own line")
		v.until("a dumb zone", func() bool { return w.onlySession() != "" && w.zone(w.onlySession()) == "dumb" })
		v.says("prompt two")
		v.sees("answer crossed")
		v.sees("yours to choose")
		v.says("prompt three")
		v.sees("answer two")
		w.denied("toolu_plan", "500000 of 1000000 tokens", "[blocked: context ceiling]")
		if n := w.api.Main()[len(w.api.Main())-1].Count("crossed from the unobserved into the dumb context zone"); n != 1 {
			t.Errorf("the model was told %d times of the crossing", n)
		}
		if result := w.toolResult("toolu_search"); result.IsError || !strings.Contains(result.Text, "releases.md") {
			t.Errorf("the search found %+v", result)
		}
		v.says("/compact")
		v.until("a compaction", func() bool { return len(w.api.Compactions()) == 1 })
		v.until("an unknown zone", func() bool { return w.zone(w.onlySession()) == "unknown" })
		v.says("prompt four")
		v.sees("answer three")
		v.until("the sub-agent", func() bool { return len(w.api.Agent("HELPER")) == 1 })
		v.until("a smart zone", func() bool { return w.zone(w.onlySession()) == "smart" })

		w.healthy(w.onlySession())
		if got := w.read(".claude/settings.json"); got != wired {
			t.Fatalf("the client itself changed its settings, so this test shows nothing: %s", got)
		}
		w.plimsoll("setup", "--uninstall", "--yes")
		if got := w.read(".claude/settings.json"); got != somebodys {
			t.Errorf("after the uninstall the settings are %s", got)
		}
	})
}

// healthy fails the test unless the doctor finds nothing wrong with a session and has heard every event that is wired.
func (w *world) healthy(session string) {
	w.t.Helper()
	out := w.plimsoll("doctor", "--json")
	var report struct {
		OK      bool
		Session struct{ ID string }
		Checks  []struct{ ID, Status, What, Why string }
		Heard   []struct {
			Event string
			At    *string
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		w.t.Fatalf("doctor: %v in %s", err, out)
	}
	if !report.OK || report.Session.ID != session || len(report.Checks) == 0 {
		w.t.Errorf("the doctor looked at session %q, want %q; ok is %v", report.Session.ID, session, report.OK)
	}
	for _, check := range report.Checks {
		if check.Status == "FAIL" {
			w.t.Errorf("doctor: %+v", check)
		}
	}
	if len(report.Heard) != 7 {
		w.t.Errorf("the doctor listens for %+v, want the seven events that are wired", report.Heard)
	}
	for _, heard := range report.Heard {
		if heard.At == nil {
			w.t.Errorf("%s was never heard", heard.Event)
		}
	}
}
