//go:build e2e

package e2e

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"plimsoll/test/e2e/client"
	"plimsoll/test/e2e/compat"
	"plimsoll/test/e2e/fakeapi"
)

var update = flag.Bool("update", false, "write what is measured to docs/compatibility.md instead of comparing")

const page = "../../docs/compatibility.md"

// preface is what docs/compatibility.md begins with.
const preface = `# Compatibility with Claude Code

Measured, not read: ` + "`make compatibility`" + ` runs each version below against a scripted API and writes this page from what came
of it. Do not edit it; a test compares it with what the versions do.

"-" means no. The oldest version that Plimsoll supports is 2.1.132.

`

// What the clients of each version do is what the page says, for every version chosen; with -update, the page is
// written.
func TestCompatibility(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := make(map[string]observed)
	t.Run("measure", func(t *testing.T) {
		for _, version := range prepared.Versions {
			t.Run(version, func(t *testing.T) {
				t.Parallel()
				c, ok := prepared.Clients[version]
				if !ok {
					t.Skip(prepared.Missing)
				}
				o := observe(t, c)
				mu.Lock()
				defer mu.Unlock()
				seen[version] = o
			})
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	var versions []string
	for _, v := range prepared.Versions {
		if _, ok := seen[v]; ok {
			versions = append(versions, v)
		}
	}
	sections := measure(seen)
	if *update {
		pins, err := pinned()
		if err != nil {
			t.Fatal(err)
		}
		if matrix, err := pins.Select("matrix"); err != nil || !slices.Equal(versions, matrix) {
			t.Fatalf("-update takes every pinned version; measured %v, pinned %v, %v", versions, matrix, err)
		}
		if err := os.WriteFile(page, []byte(preface+compat.Render(versions, sections)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	said, err := compat.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, diff := range compat.Differences(said, sections, versions) {
		t.Errorf("%s (make compatibility brings the page up to date)", diff)
	}
}

// observed is all that was seen of one version: three sessions, from which each capability is read off.
type observed struct {
	told     map[string][]payload // what hooks were told, by event, in a headless and a terminal session
	line     []payload            // what the status line was told
	headless headlessTalk
	order    []string // events around /compact
	screen   string   // all that was on the screen at some time
	columns  bool     // the status line's environment had COLUMNS

	warned bool // a terminal session began with a warning about an event that no version knows

	// A sub-agent in the background that ended while the turn that started it lasted, and one that ended after it.
	during, after background

	lineHeadless bool // the status line ran in a headless session
	zone         string
	afterCompact string
}

// headlessTalk is what came of hooks that say something on every channel.
type headlessTalk struct {
	denied, blocked fakeapi.ToolResult // a denial, and exit code 2
	main, helper    string             // all that the main thread and the sub-agent were sent
	shown           string             // all of stream-json
}

func observe(t *testing.T, c client.Client) observed {
	o := observed{told: make(map[string][]payload)}
	o.headless = observeTalk(t, c)
	observeCalm(t, c, &o)
	observeTerminal(t, c, &o)
	return o
}

// silent is a hook that hears all and says nothing.
var silent = []string{"sh", "-c", "cat >/dev/null"}

// observeCalm listens to an ordinary headless session.
func observeCalm(t *testing.T, c client.Client, o *observed) {
	script := ordinary()
	script = append(script[:len(script)-1],
		step{Calls: []call{launch("toolu_launch", "You are the SLEEPER. Sleep.")}},
		step{Agent: "SLEEPER", Calls: []call{bash("toolu_sleep", "sleep 1")}},
		step{Agent: "SLEEPER", Text: "slept"},
		step{Calls: []call{bash("toolu_longer", "sleep 3")}},
		step{Text: "all done"},
		step{Text: "noted", Optional: true},
	)
	w := newWorld(t, c, script...)
	w.hookAll(silent...)
	w.statusLine(w.witnessed("StatusLine", silent...)...)
	w.print("begin")
	for _, event := range events {
		o.told[event] = w.payloads(event)
	}
	o.during = backgroundOf(w)
	o.lineHeadless = len(w.payloads("StatusLine")) > 0
}

// speak makes a hook that says something on every channel, each with a word of its own. The words are not on its command
// line, which some versions show around.
func (w *world) speak(name, event string, more input) string {
	specific := input{"hookEventName": event, "additionalContext": "NOTE-" + name}
	for k, v := range more {
		specific[k] = v
	}
	w.write(name+".json", show(input{"systemMessage": "TELL-" + name, "hookSpecificOutput": specific}))
	return w.shellScript(name+".sh", `cat >/dev/null; echo "MUTTER-`+name+`" >&2; cat "$HOME/`+name+`.json"`)
}

// observeTalk runs a headless session whose hooks say something on every channel.
func observeTalk(t *testing.T, c client.Client) headlessTalk {
	w := newWorld(t, c,
		step{Calls: []call{bash("toolu_hi", "echo hi")}},
		step{Calls: []call{{ID: "toolu_denied", Name: "Write", Input: input{"file_path": "a.txt", "content": "a"}}}},
		step{Calls: []call{{ID: "toolu_blocked", Name: "Read", Input: input{"file_path": "a.txt"}}}},
		step{Calls: []call{agent("toolu_agent", "You are the HELPER. Help.")}},
		step{Agent: "HELPER", Text: "helped"},
		step{Text: "all done"},
	)
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolBatch", "SubagentStart"} {
		w.hook(event, "", w.speak(event, event, nil))
	}
	w.hook("PreToolUse", "Bash", w.speak("PreToolUse", "PreToolUse", nil))
	w.hook("PreToolUse", "Write", w.speak("denial", "PreToolUse", input{
		"permissionDecision": "deny", "permissionDecisionReason": "REASON",
	}))
	w.hook("PreToolUse", "Read", w.shellScript("block.sh", "echo EXIT-TWO >&2; exit 2"))
	out := w.print("begin")
	talk := headlessTalk{denied: w.toolResult("toolu_denied"), blocked: w.toolResult("toolu_blocked"), shown: shownText(out)}
	for _, r := range w.api.Main() {
		talk.main = r.Text()
	}
	for _, r := range w.api.Agent("HELPER") {
		talk.helper = r.Text()
	}
	return talk
}

// shownText is stream-json without the client's own report of what a hook printed, which is no message to anybody.
func shownText(out client.Output) string {
	var b strings.Builder
	for _, e := range out.Events {
		if e.Subtype != "hook_response" {
			b.Write(e.Raw)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// observeTerminal listens to a session in a terminal that fills up, starts a sub-agent in the client's own way, and is
// compacted.
func observeTerminal(t *testing.T, c client.Client, o *observed) {
	full := usage{Input: 2000, CacheRead: 308_000, Output: 100}
	w := newWorld(t, c,
		step{Text: "answer one", Usage: usage{Input: 1000, CacheRead: 50_000, Output: 100}},
		step{Calls: []call{launch("toolu_launch", "You are the SLEEPER. Sleep.")}, Usage: full},
		step{Agent: "SLEEPER", Calls: []call{bash("toolu_sleep", "sleep 1")}},
		step{Agent: "SLEEPER", Text: "slept"},
		step{Text: "answer two", Usage: full},
		// One is the answer to the last prompt; the other, to the news that the sub-agent is done, if that comes as a prompt.
		step{Text: "answer three", Usage: full},
		step{Text: "answer three", Usage: full, Optional: true},
	)
	for _, event := range events {
		switch event {
		case "UserPromptSubmit", "PreToolUse", "PostToolBatch":
			w.hook(event, "", w.speak(event, event, nil))
		default:
			w.hook(event, "", silent...)
		}
	}
	w.statusLine(w.witnessed("StatusLine", "sh", "-c", `echo "${COLUMNS-}" >>"$2"; "$1" statusline`, "sh", prepared.Hook, w.log+"/columns")...)
	w.hook("NoSuchEvent", "", silent...)
	v := w.open()
	o.warned = v.warned
	look := func() { o.screen += v.Screen() + "\n" }

	v.says("prompt one")
	v.sees("answer one")
	look()
	v.says("prompt two")
	v.sees("answer two")
	look()
	if returnedEarly(w) {
		v.until("word of the sub-agent", func() bool { return len(w.api.Main()) == 4 })
	}
	v.until("a snapshot of the full context", func() bool {
		return strings.Contains(w.read(".claude/context-guard/context/"+w.onlySession()+".json"), `"used_percentage":31`)
	})
	o.zone = w.zone(w.onlySession())
	look()
	v.says("/compact")
	v.until("a compaction", func() bool { return len(w.api.Compactions()) == 1 })
	v.until("the status line after it", func() bool {
		line := last(w.payloads("StatusLine"))
		return line != nil && !answered(line)
	})
	v.until("the end of the compaction", func() bool {
		return slices.Contains(w.ranInOrder(), "SessionStart") && strings.Contains(v.Screen(), "Compacted")
	})
	v.until("a snapshot of the compacted context", func() bool {
		return !strings.Contains(w.read(".claude/context-guard/context/"+w.onlySession()+".json"), `"used_percentage":31`)
	})
	o.afterCompact = w.zone(w.onlySession())
	look()
	turns := len(w.api.Main())
	v.says("prompt three")
	v.until("the last answer", func() bool { return len(w.api.Main()) > turns })

	o.after = backgroundOf(w)
	o.line = w.payloads("StatusLine")
	o.columns = strings.Trim(w.readFile(w.log+"/columns"), "\n") != ""
	for _, event := range events {
		o.told[event] = append(o.told[event], w.payloads(event)...)
	}
	o.order = aroundCompact(w.ranInOrder())
}

// background is how the client treats a sub-agent that was started without saying in what way.
type background struct {
	early    bool // the call returned before the sub-agent was done
	prompted bool // the end of it came as a prompt
	sameTurn bool // that prompt had the prompt_id of the turn that started it
}

func (b background) prompt() string {
	switch {
	case !b.prompted:
		return "-"
	case b.sameTurn:
		return "yes, with the turn's `prompt_id`"
	default:
		return "yes, with a new `prompt_id`"
	}
}

// launch is a call of the Agent tool that leaves it to the client whether to wait.
func launch(id, prompt string) call {
	c := agent(id, prompt)
	delete(c.Input, "run_in_background")
	return c
}

func returnedEarly(w *world) bool {
	return strings.Contains(w.toolResult("toolu_launch").Text, "launched")
}

// backgroundOf looks at how the sub-agent of "toolu_launch" went.
func backgroundOf(w *world) background {
	b := background{early: returnedEarly(w)}
	var turn any
	for _, p := range w.payloads("PreToolUse") {
		if p["tool_use_id"] == "toolu_launch" {
			turn = p["prompt_id"]
		}
	}
	for _, p := range w.payloads("UserPromptSubmit") {
		if prompt, _ := p["prompt"].(string); strings.HasPrefix(prompt, "<task-notification>") {
			b.prompted = true
			b.sameTurn = turn != nil && p["prompt_id"] == turn
		}
	}
	return b
}

// answered tells whether a status line was told of an answer that the context holds.
func answered(line payload) bool {
	current, _ := line.get("context_window.current_usage").(map[string]any)
	for _, n := range current {
		if n != 0.0 {
			return true
		}
	}
	return false
}

// aroundCompact keeps of a session's events those from PreCompact to the next prompt.
func aroundCompact(ran []string) []string {
	start := slices.Index(ran, "PreCompact")
	if start < 0 {
		return nil
	}
	var order []string
	for _, event := range ran[start:] {
		if event == "UserPromptSubmit" {
			break
		}
		if slices.Contains([]string{"PreCompact", "SubagentStop", "SessionStart", "PostCompact"}, event) {
			order = append(order, event)
		}
	}
	return order
}

// ranInOrder lists the events whose hooks ran, in order.
func (w *world) ranInOrder() []string {
	var ran []string
	for line := range strings.Lines(w.readFile(w.log + "/ran")) {
		event, _, _ := strings.Cut(line, " ")
		ran = append(ran, event)
	}
	return ran
}

func last(all []payload) payload {
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// get returns the value at a path of keys, nil if there is none.
func (p payload) get(path string) any {
	var v any = map[string]any(p)
	for key := range strings.SplitSeq(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

// measure reads every capability off what was observed of each version.
func measure(seen map[string]observed) []compat.Section {
	var sections []compat.Section
	for _, s := range capabilities() {
		section := compat.Section{Title: s.title}
		for _, c := range s.rows {
			row := compat.Row{Name: c.name, Cells: make(map[string]string)}
			for version, o := range seen {
				row.Cells[version] = c.of(o)
			}
			section.Rows = append(section.Rows, row)
		}
		sections = append(sections, section)
	}
	return sections
}

type capability struct {
	name string
	of   func(o observed) string
}

type group struct {
	title string
	rows  []capability
}

// capabilities are the rows of the page.
func capabilities() []group {
	heard := group{title: "Events that hooks hear"}
	for _, event := range []string{
		"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch",
		"SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "Stop", "SessionEnd",
	} {
		heard.rows = append(heard.rows, capability{"`" + event + "`", func(o observed) string { return yes(len(o.told[event]) > 0) }})
	}
	heard.rows = append(heard.rows, capability{"an unknown event in the settings", func(o observed) string {
		if o.warned {
			return "stops a terminal session with a warning"
		}
		return "ignored"
	}})
	heard.rows = append(heard.rows, capability{"order around `/compact`", func(o observed) string { return strings.Join(o.order, ", ") }})

	told := group{"What hooks are told", []capability{
		{"`transcript_path`, `tool_use_id` with a tool call", func(o observed) string {
			return yes(every(o.told["PreToolUse"], "transcript_path") && every(o.told["PreToolUse"], "tool_use_id"))
		}},
		{"`prompt_id`", func(o observed) string { return yes(every(o.told["PreToolUse"], "prompt_id")) }},
		{"`agent_id` in a sub-agent's calls, and only there", func(o observed) string {
			return yes(some(o.told["PreToolUse"], "agent_id") && !every(o.told["PreToolUse"], "agent_id"))
		}},
		{"`duration_ms` with a result", func(o observed) string { return yes(every(o.told["PostToolUse"], "duration_ms")) }},
	}}

	agents := group{"Sub-agents that are started without saying how", []capability{
		{"run in the background", func(o observed) string { return yes(o.during.early && o.after.early) }},
		{"their end comes as a prompt, during the turn", func(o observed) string { return o.during.prompt() }},
		{"their end comes as a prompt, after the turn", func(o observed) string { return o.after.prompt() }},
	}}

	reaches := group{"What reaches whom", []capability{
		{"a denial's reason reaches the model", func(o observed) string { return inResult(o.headless.denied, "REASON") }},
		{"exit code 2 blocks a call, and stderr reaches the model", func(o observed) string {
			return yes(o.headless.blocked.IsError && strings.Contains(o.headless.blocked.Text, "EXIT-TWO"))
		}},
		{"the hook's command line reaches the model with a denial", func(o observed) string { return yes(strings.Contains(o.headless.main, "denial.sh")) }},
		{"the hook's command line reaches the model with exit code 2", func(o observed) string { return yes(strings.Contains(o.headless.main, "block.sh")) }},
		{"a silent hook is named on the screen after `/compact`", func(o observed) string { return yes(strings.Contains(o.screen, "completed successfully")) }},
		{"stderr with exit code 0 reaches anybody", func(o observed) string {
			return yes(strings.Contains(o.headless.main+o.headless.helper+o.headless.shown+o.screen, "MUTTER-"))
		}},
	}}
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch"} {
		reaches.rows = append(reaches.rows, capability{"`additionalContext` of `" + event + "` reaches the model", func(o observed) string {
			return yes(strings.Contains(o.headless.main, "NOTE-"+event))
		}})
	}
	reaches.rows = append(reaches.rows,
		capability{"`additionalContext` beside a denial reaches the model", func(o observed) string { return yes(strings.Contains(o.headless.main, "NOTE-denial")) }},
		capability{"`additionalContext` of `SubagentStart` reaches the sub-agent, not its parent", func(o observed) string {
			return yes(strings.Contains(o.headless.helper, "NOTE-SubagentStart") && !strings.Contains(o.headless.main, "NOTE-SubagentStart"))
		}},
		capability{"`systemMessage` reaches the model", func(o observed) string { return yes(strings.Contains(o.headless.main+o.headless.helper, "TELL-")) }},
	)
	for _, event := range []string{"UserPromptSubmit", "PreToolUse", "PostToolBatch"} {
		reaches.rows = append(reaches.rows, capability{"`systemMessage` of `" + event + "` is in stream-json", func(o observed) string {
			return yes(strings.Contains(o.headless.shown, "TELL-"+event))
		}}, capability{"`systemMessage` of `" + event + "` is on the screen", func(o observed) string {
			return yes(strings.Contains(o.screen, "TELL-"+event))
		}})
	}

	line := group{"Status line", []capability{
		{"runs headless", func(o observed) string { return yes(o.lineHeadless) }},
		{"runs before the first answer", func(o observed) string { return yes(len(o.line) > 0 && !answered(o.line[0])) }},
		{"`version`", func(o observed) string { return yes(every(o.line, "version")) }},
		{"`total_input_tokens`", func(o observed) string {
			full := beforeCompact(o.line)
			if full.get("context_window.total_input_tokens") == 310_000.0 {
				return "the context now"
			}
			return "summed up over the session"
		}},
		{"`used_percentage` at 310,000 of 1,000,000", func(o observed) string { return show(beforeCompact(o.line).get("context_window.used_percentage")) }},
		{"`current_usage` after `/compact`", func(o observed) string {
			current, ok := afterCompact(o.line).get("context_window.current_usage").(map[string]any)
			switch {
			case !ok:
				return "null"
			default:
				// There is no other case: afterCompact looks for a line without an answer.
				return fmt.Sprintf("%d figures, all 0", len(current))
			}
		}},
		{"`used_percentage` after `/compact`", func(o observed) string { return show(afterCompact(o.line).get("context_window.used_percentage")) }},
		{"`total_input_tokens` after `/compact`", func(o observed) string { return show(afterCompact(o.line).get("context_window.total_input_tokens")) }},
		{"`prompt_cache`", func(o observed) string { return yes(some(o.line, "prompt_cache")) }},
		{"`COLUMNS` in the environment", func(o observed) string { return yes(o.columns) }},
	}}

	makes := group{"What that makes of Plimsoll", []capability{
		{"zone at 310,000 of 1,000,000 tokens", func(o observed) string { return o.zone }},
		{"zone after `/compact`, until the next answer", func(o observed) string { return o.afterCompact }},
		{"a crossing can be said", func(o observed) string {
			if len(o.told["PostToolBatch"]) > 0 {
				return "after each batch of calls"
			}
			return "at the next prompt"
		}},
		{"a compaction can be marked on", func(o observed) string {
			return cmp.Or(strings.Join(slices.DeleteFunc(slices.Clone(o.order), func(event string) bool {
				return event != "SessionStart" && event != "PostCompact"
			}), ", "), "-")
		}},
	}}
	return []group{heard, told, agents, reaches, line, makes}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "-"
}

func show(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// inResult says as what the model gets a text in the result of a call.
func inResult(r fakeapi.ToolResult, text string) string {
	before, _, ok := strings.Cut(r.Text, text)
	if !ok || !r.IsError {
		return "-"
	}
	if before == "" {
		return "yes"
	}
	return "after `" + before + "`"
}

func every(all []payload, key string) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(p payload) bool { return p[key] == nil })
}

func some(all []payload, key string) bool {
	return slices.ContainsFunc(all, func(p payload) bool { return p[key] != nil })
}

// beforeCompact is the last status line of the full context.
func beforeCompact(line []payload) payload {
	for i := len(line) - 1; i > 0; i-- {
		if !answered(line[i]) && answered(line[i-1]) {
			return line[i-1]
		}
	}
	return nil
}

// afterCompact is the first status line after the compaction: the first without an answer after one with.
func afterCompact(line []payload) payload {
	for i := 1; i < len(line); i++ {
		if !answered(line[i]) && answered(line[i-1]) {
			return line[i]
		}
	}
	return nil
}
