//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/test/e2e/client"
	"plimsoll/test/e2e/fakeapi"
)

// skill is a call of the Skill tool.
func skill(id, name string) call { return call{ID: id, Name: "Skill", Input: input{"skill": name}} }

func write(id, path string) call {
	return call{ID: id, Name: "Write", Input: input{"file_path": path, "content": "x\n"}}
}

// unhurried is a call of the Agent tool as the client runs it by itself: in the background, where it can.
func unhurried(id, prompt string) call {
	return call{ID: id, Name: "Agent", Input: input{"description": "a sub-agent", "prompt": prompt, "subagent_type": "general-purpose"}}
}

// wire has the client run Plimsoll where setup wires it.
func (w *world) wire() {
	w.statusLine(prepared.Hook, "statusline")
	for event, match := range map[string]string{
		"PreToolUse": "Write|Edit|NotebookEdit|Agent|Task|Workflow|Skill", "PostToolUse": "Bash", "PostToolBatch": "",
		"UserPromptSubmit": "", "SubagentStart": "", "PostCompact": "", "SessionStart": "compact",
	} {
		w.hook(event, match, prepared.Hook)
	}
}

// denied fails the test unless the model was told that a call was denied, and why.
func (w *world) denied(id string, reasons ...string) {
	w.t.Helper()
	result := w.toolResult(id)
	for _, reason := range reasons {
		if !result.IsError || !strings.Contains(result.Text, reason) {
			w.t.Errorf("the result of %s is %+v, want a denial with %q", id, result, reason)
		}
	}
}

// A crossing reaches the model once and without a menu, and the operator's words are on the screen; past its grace the
// gate denies, and lets a hand-off through; /compact leaves the marker.
func TestZones(t *testing.T) {
	eachVersion(t, func(t *testing.T, c client.Client) {
		w := newWorld(t, c,
			step{Text: "answer one", Usage: usage{Input: 1000, CacheRead: 849_000, Output: 100}},
			step{Text: "answer crossed", Usage: usage{Input: 1000, CacheRead: 849_000, Output: 100}},
			step{Calls: []call{write("toolu_plain", "plain.txt"), write("toolu_handoff", "handoff.md")}, Usage: usage{Input: 1000, CacheRead: 849_000}},
			step{Calls: []call{agent("toolu_agent", "You are the HELPER. Help.")}, Usage: usage{Input: 1000, CacheRead: 849_000}},
			step{Text: "answer two", Usage: usage{Input: 1000, CacheRead: 849_000, Output: 100}},
		)
		w.wire()
		w.session.Env = []string{"CLAUDE_PLUGIN_OPTION_ZONE_HOOK_MODE=blocking", "CLAUDE_PLUGIN_OPTION_ZONE_GATE_GRACE_CALLS=0"}
		v := w.open()
		v.says("prompt one")
		v.sees("answer one")
		v.until("a dumb zone", func() bool { return w.onlySession() != "" && w.zone(w.onlySession()) == "dumb" })
		v.says("prompt two")
		v.sees("answer crossed")
		v.sees("yours to choose")
		v.says("prompt three")
		v.sees("answer two")

		last := w.api.Main()[len(w.api.Main())-1]
		const note = "crossed from the unobserved into the dumb context zone"
		if n := last.Count(note); n != 1 {
			t.Errorf("the model was told %d times of the crossing", n)
		}
		if last.Count("/clear") > 0 && strings.Contains(last.Text()[strings.Index(last.Text(), note):], "- /clear") {
			t.Error("the model was given the operator's menu")
		}
		w.denied("toolu_plain", "Zone gate, blocking mode", "(0 matched calls)")
		if result := w.toolResult("toolu_handoff"); result.IsError {
			t.Errorf("a hand-off was stopped: %+v", result)
		}
		w.denied("toolu_agent", "Zone gate")

		v.says("/compact")
		v.until("the marker", func() bool {
			return strings.Contains(w.read(".claude/context-guard/context/"+w.onlySession()+".compacted"), `"hook_event_name":"PostCompact"`)
		})
	})
}

// A Skill past the ceiling is denied and the model reads why; the way out stays open; a sub-agent runs, with a warning
// to both audiences, and is judged on its own transcript.
func TestCeiling(t *testing.T) {
	eachVersion(t, func(t *testing.T, c client.Client) {
		full := usage{Input: 1000, CacheRead: 399_000, Output: 50}
		w := newWorld(t, c,
			step{Calls: []call{bash("toolu_fill", "echo full")}, Usage: full},
			step{Calls: []call{skill("toolu_plan", "plan")}, Usage: full},
			step{Calls: []call{skill("toolu_handoff", "handoff")}, Usage: full},
			step{Calls: []call{agent("toolu_agent", "You are the HELPER. Help.")}, Usage: full},
			step{Agent: "HELPER", Calls: []call{bash("toolu_inner", "echo inner")}, Usage: usage{Input: 500}},
			step{Agent: "HELPER", Calls: []call{skill("toolu_inside", "plan")}, Usage: usage{Input: 500}},
			step{Agent: "HELPER", Text: "helped", Usage: usage{Input: 600}},
			step{Text: "all done", Usage: full},
		)
		w.wire()
		for _, name := range []string{"plan", "handoff"} {
			w.write(".claude/skills/"+name+"/SKILL.md", fmt.Sprintf("---\nname: %s\ndescription: A skill named %s.\n---\nDo it.\n", name, name))
		}
		w.print("begin")
		w.denied("toolu_plan", "400000 of 1000000 tokens", "effective ceiling of 350000 tokens", "[blocked: context ceiling]", "/handoff")
		for _, id := range []string{"toolu_handoff", "toolu_agent", "toolu_inside"} {
			if result := w.toolResultAnywhere(id); result.IsError {
				t.Errorf("%s was stopped: %+v", id, result)
			}
		}
		last := w.api.Main()[len(w.api.Main())-1]
		if last.Count("[not blocked: delegation]") != 1 {
			t.Error("the model was not warned of the delegation, once")
		}
		if last.Count("DEV_TEAM_CONTEXT") > 0 {
			t.Error("the model was told how to switch its guard off")
		}
		if log := w.read(".claude/plimsoll/decisions.jsonl"); !strings.Contains(log, `"decision":"denial","occupancy":400000`) {
			t.Errorf("decision log %q", log)
		}
	})
}

// After /compact nothing is measured until the next answer, and the Skill passes.
func TestCeilingAfterCompaction(t *testing.T) {
	eachVersion(t, func(t *testing.T, c client.Client) {
		full := usage{Input: 1000, CacheRead: 399_000, Output: 50}
		w := newWorld(t, c,
			step{Text: "answer one", Usage: full},
			step{Calls: []call{skill("toolu_before", "plan")}, Usage: full},
			step{Text: "answer two", Usage: full},
			step{Calls: []call{skill("toolu_after", "plan")}, Usage: usage{Input: 20_000}},
			step{Text: "answer three", Usage: usage{Input: 20_000}},
		)
		w.wire()
		w.write(".claude/skills/plan/SKILL.md", "---\nname: plan\ndescription: A skill named plan.\n---\nDo it.\n")
		v := w.open()
		v.says("prompt one")
		v.sees("answer one")
		// The client shows an answer before it writes it down.
		v.until("the answer in the transcript", func() bool {
			files, err := filepath.Glob(filepath.Join(w.Claude(), "projects", "*", "*.jsonl"))
			return err == nil && len(files) == 1 && strings.Contains(w.readFile(files[0]), `"cache_read_input_tokens":399000`)
		})
		v.says("prompt two")
		v.sees("answer two")
		w.denied("toolu_before", "[blocked: context ceiling]")
		v.says("/compact")
		v.until("a compaction", func() bool { return len(w.api.Compactions()) == 1 })
		v.says("prompt three")
		v.sees("answer three")
		if result := w.toolResult("toolu_after"); result.IsError {
			t.Errorf("after /compact the Skill was stopped: %+v", result)
		}
	})
}

// toolResultAnywhere is toolResult for a call of the main thread or of the HELPER.
func (w *world) toolResultAnywhere(id string) fakeapi.ToolResult {
	w.t.Helper()
	for _, r := range w.api.Agent("HELPER") {
		if result, ok := r.ToolResult(id); ok {
			return result
		}
	}
	return w.toolResult(id)
}

// Three bare spawns in one batch are all denied. After a search a spawn that carries the marker runs, and its briefing
// is in the sub-agent's first request.
func TestKBGate(t *testing.T) {
	eachVersion(t, func(t *testing.T, c client.Client) {
		w := newWorld(t, c,
			step{Calls: []call{agent("toolu_1", "Find a."), agent("toolu_2", "Find b."), agent("toolu_3", "Find c.")}, Usage: usage{Input: 1000}},
			step{Calls: []call{bash("toolu_search", "echo kb auth tokens")}, Usage: usage{Input: 2000}},
			step{Calls: []call{agent("toolu_4", "You are the HELPER.\nKB context:\n- none relevant.")}, Usage: usage{Input: 3000}},
			step{Agent: "HELPER", Text: "helped", Usage: usage{Input: 500}},
			step{Calls: []call{unhurried("toolu_5", "You are the SECOND.\nKB context:\n- none relevant.")}, Usage: usage{Input: 4000}},
			step{Agent: "SECOND", Text: "helped too", Usage: usage{Input: 500}},
			step{Text: "all done", Usage: usage{Input: 5000}},
			step{Text: "and its completion heard", Usage: usage{Input: 6000}, Optional: true},
		)
		w.wire()
		w.writeProject(".claude/memories/a.md", "# A\n")
		w.writeProject(".claude/plimsoll.json", `{"kb":{"mode":"enforce","search_commands":["echo kb"]}}`)
		w.print("begin")
		for _, id := range []string{"toolu_1", "toolu_2", "toolu_3"} {
			w.denied(id, "KB context:")
		}
		if result := w.toolResult("toolu_4"); result.IsError {
			t.Errorf("the spawn with findings was stopped: %+v", result)
		}
		first := w.api.Agent("HELPER")
		if len(first) == 0 || first[0].Count("that is the lookup") == 0 {
			t.Error("the sub-agent was not briefed")
		}
		// A sub-agent that ends in the background arrives as a prompt, and begins no turn.
		turns, err := filepath.Glob(filepath.Join(w.Project, ".claude", ".kb-gate", "*.turn"))
		if err != nil || len(turns) != 1 || w.readFile(turns[0]) != "1\n" {
			t.Errorf("turn files %v, %v", turns, err)
		}
	})
}
