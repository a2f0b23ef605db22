package kbgate

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/internal/config"
)

// script plays a row of the cases. A step is a word; in enforce mode, in a fresh session after one prompt, unless the
// row begins with a mode.
//
//	D  a bare spawn is denied             A  a bare spawn is not denied
//	b  a bare spawn, unasserted           P  a spawn with the marker is not denied
//	N  a spawn with the marker is denied  s  a search          t  a new turn
//	4=REASON  the last log line is a spawn's and has that skip reason
//
// It returns how many denials there really were.
func script(t *testing.T, name, steps string) (denials int) {
	p := inProject(t)
	p.prompt()
	for i, step := range strings.Fields(steps) {
		want, answer := true, ""
		switch {
		case step == "D" || step == "A" || step == "b":
			answer = p.bare()
			want = step == "D" || step == "b" && denied(answer)
		case step == "P" || step == "N":
			answer = p.primed()
			want = step == "N"
		case step == "s":
			want = denied(p.search())
		case step == "t":
			want = denied(p.prompt())
		case strings.HasPrefix(step, "="):
			p.has(map[string]any{"event": "PreToolUse", "skip_reason": step[1:]})
			want = false
		case step == config.KBWarn || step == config.KBObserve || step == config.KBOff:
			p.mode(step)
			want = false
		default:
			t.Fatalf("%s: unknown step %q", name, step)
		}
		if denied(answer) != want {
			t.Errorf("%s: step %d (%s): denied is %v", name, i+1, step, !want)
		}
		if denied(answer) {
			denials++
		}
	}
	return denials
}

func TestCases(t *testing.T) {
	denials := 0
	for _, c := range []struct{ name, steps string }{
		{"14a 1-3", "s P D D"},
		{"14a 4-6", "D s P D"},
		{"14a 7-10", "b b b D A =budget_no_progress A"},
		{"14a 11-13", "b s b s b s b s b s b s b s D s A =budget_turn"},
		{"14a 14", "s t N"},
		{"14a 19", "warn A"},
		{"14a 21", "observe A"},
		{"14a 22", "off A"},
		{"14b sanity and fan-out", "D D D"},
		{"14b complying in mid-turn", "D s P P D"},
		{"14b no progress", "D D D D A =budget_no_progress A"},
		{"14b ceiling", "D s D s D s D s D s D s D s D s A =budget_turn"},
		{"14b stale search", "s P t N"},
		{"14b modes", "warn A observe A off A"},
		{"14c 3", "D D D D A A t D s D s D s D s D s D s D s D s A =budget_turn"},
		{"9, one search after the fifth", "D D D D A s D D D D A A"},
		{"searching alone re-arms, the block alone does not", "D D D D P"},
		{"a block without a search spends the same budget", "N N D N P =budget_no_progress s P"},
		{"being satisfied neither spends nor restores", "s P P P D P D P D P D P A P A"},
	} {
		denials += script(t, c.name, c.steps)
	}
	// Without this, a project that lacks .claude/memories would pass every row of the other kind.
	if denials == 0 {
		t.Fatal("no case was really denied")
	}
	t.Logf("%d real denials", denials)
}

func TestSkips(t *testing.T) {
	p := inProject(t)
	p.prompt()
	// 14a 15; it searches for nobody but itself, either
	p.extra = map[string]any{"agent_id": "agent-42", "agent_type": "Explore"}
	if out := p.bare(); out != "" {
		t.Errorf("nested: %s", out)
	}
	p.has(map[string]any{"decision": "skip", "skip_reason": "nested_subagent", "tool_use_id": "toolu_1"})
	p.search()
	p.has(map[string]any{"decision": "skip", "skip_reason": "nested_subagent", "query": "how it works"})
	p.prompt()
	p.has(map[string]any{"decision": "skip", "skip_reason": "nested_subagent"})
	if p.content(turnExt) != "1\n" || p.content(queriesExt) != "" {
		t.Errorf("a sub-agent moved the turn to %q or searched: %q", p.content(turnExt), p.content(queriesExt))
	}
	p.extra = nil
	// 14a 16
	for _, kind := range []string{"code-reviewer", "explore", "Explore ", "Explore general-purpose"} {
		if out := p.spawnWith(map[string]any{"subagent_type": kind, "prompt": "x"}); out != "" {
			t.Errorf("type %q: %s", kind, out)
		}
		p.has(map[string]any{"decision": "skip", "skip_reason": "agent_type_not_gated", "agent_type": kind})
	}
	// 15: a missing or empty type is the client's default
	for _, input := range []map[string]any{{"prompt": "x"}, {"prompt": "x", "subagent_type": ""}, {"prompt": "x", "subagent_type": nil}, {}} {
		p.search()
		p.spawnWith(input)
		p.has(map[string]any{"decision": "deny", "agent_type": "general-purpose"})
	}
	// The type of the main thread (claude --agent) is not that of the spawn.
	p.extra = map[string]any{"agent_type": "code-reviewer"}
	p.search()
	p.spawnWith(map[string]any{"prompt": "x"})
	p.has(map[string]any{"decision": "deny", "agent_type": "general-purpose"})
}

func TestOtherToolsAreNoSpawns(t *testing.T) {
	p := inProject(t)
	for _, tool := range []string{"Write", "Edit", "Bash", "Skill", "Workflow", "TaskCreate", "TaskStop", "ListAgents", ""} {
		if out := p.send(map[string]any{"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": map[string]any{"prompt": "x"}}); out != "" {
			t.Errorf("%s: %s", tool, out)
		}
	}
	if log := p.log(); log != nil {
		t.Errorf("logged: %v", log)
	}
	if out := p.send(map[string]any{"hook_event_name": "PreToolUse", "tool_name": "Task", "tool_input": map[string]any{"prompt": "x"}}); !denied(out) {
		t.Errorf("Task, the old name of Agent: %q", out)
	}
}

// 14a 17, 15: a project without a knowledge base.
func TestNoMemories(t *testing.T) {
	for _, prepare := range []func(root string) error{
		func(root string) error { return os.RemoveAll(filepath.Join(root, ".claude")) },
		func(root string) error { return os.Remove(filepath.Join(root, ".claude", "memories")) },
		func(root string) error {
			dir := filepath.Join(root, ".claude", "memories")
			if err := os.Remove(dir); err != nil {
				return err
			}
			return os.WriteFile(dir, nil, 0o600)
		},
	} {
		p := inProject(t)
		if err := prepare(p.root); err != nil {
			t.Fatal(err)
		}
		before := len(files(t, p.root))
		if out := p.prompt() + p.search() + p.bare() + p.primed() + p.start("Explore"); out != "" {
			t.Errorf("answered %s", out)
		}
		if after := files(t, p.root); len(after) != before {
			t.Errorf("wrote %v", after)
		}
		// Such projects are the common case: a look at the folders has to be all that they cost.
		if p.asked != 0 {
			t.Errorf("the settings were read %d times", p.asked)
		}
		if len(p.debug) != 2 || !strings.Contains(p.debug[0], "no_memories_dir") {
			t.Errorf("debug log: %q", p.debug)
		}
	}
}

func TestMemoriesMayBeASymlink(t *testing.T) {
	p := inProject(t)
	memories := filepath.Join(p.root, ".claude", "memories")
	if err := os.Remove(memories); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), memories); err != nil {
		t.Skip(err)
	}
	if !denied(p.bare()) {
		t.Error("not gated")
	}
}

func TestWarn(t *testing.T) {
	for _, mode := range []string{config.KBWarn, "__KB_GATE_MODE__", "ENFORCE"} { // 14a 19-20, 14c 5 and 8
		p := inProject(t)
		p.mode(mode)
		p.prompt()
		first, second := p.bare(), p.bare()
		p.has(map[string]any{"decision": "warn", "satisfied": false, "mode": mode})
		if strings.Contains(first+second, "permissionDecision") {
			t.Errorf("%s: decides: %s", mode, first)
		}
		if text(t, first, "additionalContext") == "" || text(t, second, "additionalContext") == "" {
			t.Errorf("%s: the model hears nothing: %s %s", mode, first, second)
		}
		if text(t, first, "systemMessage") == "" || text(t, second, "systemMessage") != "" {
			t.Errorf("%s: the operator hears once in a turn: %s %s", mode, first, second)
		}
		p.prompt()
		if text(t, p.bare(), "systemMessage") == "" {
			t.Errorf("%s: the operator hears again in the next turn", mode)
		}
		p.search()
		if out := p.primed(); out != "" {
			t.Errorf("%s: a satisfied spawn: %s", mode, out)
		}
		if got := p.content(denialsExt); got != "" {
			t.Errorf("%s: denials %q", mode, got)
		}
	}
}

func TestTheOperatorHearsOnceAtOnce(t *testing.T) {
	p := inProject(t)
	// Long, so that who decides by what was read before the append is wrong.
	p.write(p.path(toldExt), strings.Repeat("1\tdeny\n", 50_000))
	var wg sync.WaitGroup
	var told atomic.Int32
	for range 40 {
		wg.Go(func() {
			if stateOf(p.root, p.session).firstTold(2, "deny") {
				told.Add(1)
			}
		})
	}
	wg.Wait()
	if n := told.Load(); n != 1 {
		t.Errorf("told %d times", n)
	}
}

// 14a 21, 14c 6
func TestObserve(t *testing.T) {
	p := inProject(t)
	p.mode(config.KBObserve)
	p.prompt()
	for range 10 {
		if out := p.bare(); out != "" {
			t.Errorf("observe: %s", out)
		}
		p.has(map[string]any{"decision": "observe", "fresh_query": false, "had_kb_block": false})
	}
	if p.content(denialsExt) != "" {
		t.Error("observing spends the budget")
	}
}

// 14a 22-23, 14c 7
func TestOff(t *testing.T) {
	p := inProject(t)
	p.mode(config.KBOff)
	before := len(files(t, p.root))
	if out := p.prompt() + p.search() + p.bare() + p.start("Explore"); out != "" {
		t.Errorf("off: %s", out)
	}
	if after := files(t, p.root); len(after) != before {
		t.Errorf("off: wrote %v", after)
	}
	if _, err := os.Stat(filepath.Join(p.root, ".claude", ".kb-gate")); err == nil {
		t.Error("off: made the state folder")
	}
	if len(p.debug)+len(p.decided) > 0 {
		t.Errorf("off: logged %q %q", p.debug, p.decided)
	}
}

// 14a 25-29, 14c 13-14
func TestHousekeeping(t *testing.T) {
	p := inProject(t)
	p.prompt()
	p.bare()
	old := func(name string, age time.Duration) string {
		path := filepath.Join(p.root, ".claude", ".kb-gate", name)
		p.write(path, "1\n")
		if err := os.Chtimes(path, p.now.Add(-age), p.now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const day = 24 * time.Hour
	gone := []string{old("a.turn", 9*365*day), old("a.queries", 8*day+time.Second), old("a.denials", 9*day), old("a.prompt", 9*day), old("a.warned", 9*day),
		old("a.skills", 9*day), old("log.tmp", 9*day), old(".a.turn.tmp.12.x", 9*day)}
	kept := []string{old("b.turn", 7*day+time.Hour), old("b.queries", time.Hour), old("notes.md", 99*day), p.path(denialsExt)}
	p.prompt()
	for _, path := range append(gone, kept...) {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("a later prompt of the same session: %v", err)
		}
	}
	p.session = "s2"
	p.prompt()
	for _, path := range gone {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
	for _, path := range append(kept, p.path(turnExt)) {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("not to be swept: %v", err)
		}
	}

	log := LogPath(p.root)
	p.write(log, strings.Repeat(`{"pad":"`+strings.Repeat("x", 170)+"\"}\n", 4000))
	p.prompt()
	if n := len(p.log()); n != keepLines+1 {
		t.Errorf("a log past its cap has %d lines, want %d", n, keepLines+1)
	}
	before, err := os.Stat(log)
	if err != nil || before.Size() > 256<<10 {
		t.Fatalf("log: %v, %v", before, err)
	}
	p.prompt()
	if after, err := os.Stat(log); err != nil || !os.SameFile(before, after) {
		t.Errorf("a log below its cap was replaced: %v", err)
	}
	for _, f := range files(t, p.root) {
		if strings.Contains(f, ".tmp") || filepath.Base(f) == "log" {
			t.Errorf("left behind: %s", f)
		}
	}
	// 14a 30: what is kept is well below the cap
	if keepLines*200 >= maxLog/2 {
		t.Error("a shortened log is near its cap")
	}
}

// 14a 31-35
func TestSearches(t *testing.T) {
	p := inProject(t)
	p.prompt()
	p.searchWith(map[string]any{"intent": "why it fails"})
	if got := p.content(queriesExt); got != "" {
		t.Errorf("an intent alone: %q", got)
	}
	if !denied(p.primed()) {
		t.Error("an intent alone cleared the barrier")
	}
	p.searchWith(map[string]any{"query": "plain query field"})
	p.searchWith(map[string]any{"searches": []any{map[string]any{"type": "lex", "query": "one"}, map[string]any{"type": "vec", "query": "two"}}})
	if got, want := p.content(queriesExt), "1\tplain query field\n1\tone two\n"; got != want {
		t.Errorf("queries %q, want %q", got, want)
	}
	p.has(map[string]any{"decision": "recorded", "query": "one two", "event": "PostToolUse"})
	if denied(p.primed()) {
		t.Error("a typed search did not clear the barrier")
	}
	p.prompt()
	p.use("Bash", map[string]any{"command": "plimsoll kb search parser errors"})
	if denied(p.primed()) {
		t.Error("a search command did not clear the barrier")
	}
	p.prompt()
	p.use("Bash", map[string]any{"command": "ls"})
	p.use("Grep", map[string]any{"query": "x"})
	if !denied(p.primed()) {
		t.Error("other tools cleared the barrier")
	}
}

// 14c 1-2, 4, 9
func TestStateFiles(t *testing.T) {
	p := inProject(t)
	p.prompt()
	p.has(map[string]any{"decision": "turn_start", "turn": 1, "session": "s1", "mode": "enforce", "ts": "2026-09-01T08:00:00Z"})
	p.searchWith(map[string]any{"query": "plain query\nwith tabs\tand trailing newline\n"})
	if got, want := p.content(queriesExt), "1\tplain query\nwith tabs\tand trailing newline\n"; got != want {
		t.Errorf("queries %q, want %q", got, want)
	}
	p.primed()
	p.has(map[string]any{"decision": "allow", "satisfied": true, "fresh_query": true, "had_kb_block": true, "phase": "discovery", "agent_type": "Explore", "skip_reason": nil})
	p.prompt()
	if got := p.content(turnExt); got != "2\n" {
		t.Errorf("turn %q", got)
	}
	p.bare()
	p.bare()
	p.search()
	p.primed()
	p.bare()
	p.has(map[string]any{"decision": "deny", "denials_state": 1, "denials_turn": 3})
	if got, want := p.content(denialsExt), "2\tdiscovery\t0\n2\tdiscovery\t0\n2\tdiscovery\t1\n"; got != want {
		t.Errorf("denials %q, want %q", got, want)
	}
	p.prompt()
	if got := p.content(denialsExt); got == "" {
		t.Error("a prompt truncated the denials")
	}
	p.bare()
	p.has(map[string]any{"decision": "deny", "denials_state": 1, "denials_turn": 1})
	for _, f := range files(t, filepath.Join(p.root, ".claude", ".kb-gate")) {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: mode %v", f, info.Mode())
		}
	}
}

// A line has the members of the original, in its order; scripts grep for pieces of lines.
func TestLogLine(t *testing.T) {
	p := inProject(t)
	p.prompt()
	p.search()
	for range 5 {
		p.bare()
	}
	data, err := os.ReadFile(LogPath(p.root))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	for i, want := range map[int]string{
		0: `{"ts":"2026-09-01T08:00:00Z","session":"s1","event":"UserPromptSubmit","mode":"enforce","decision":"turn_start","turn":1}`,
		1: `{"ts":"2026-09-01T08:00:00Z","session":"s1","event":"PostToolUse","mode":"enforce","decision":"recorded","query":"how it works"}`,
		2: `{"ts":"2026-09-01T08:00:00Z","session":"s1","event":"PreToolUse","mode":"enforce","phase":"discovery","agent_type":"Explore","fresh_query":true,"had_kb_block":false,"satisfied":false,"decision":"deny","denials_turn":1,"denials_state":1,"tool_use_id":"toolu_1"}`,
		6: `{"ts":"2026-09-01T08:00:00Z","session":"s1","event":"PreToolUse","mode":"enforce","phase":"discovery","agent_type":"Explore","fresh_query":true,"had_kb_block":false,"satisfied":false,"decision":"allow","skip_reason":"budget_no_progress","denials_turn":4,"denials_state":4,"tool_use_id":"toolu_1"}`,
	} {
		if lines[i] != want {
			t.Errorf("line %d\n%s\nwant\n%s", i, lines[i], want)
		}
	}
}

// 14c 10
func TestBriefing(t *testing.T) {
	p := inProject(t)
	for _, mode := range []string{config.KBEnforce, config.KBWarn, config.KBObserve} {
		p.mode(mode)
		for _, kind := range []string{"Explore", "general-purpose", "Plan"} {
			out := p.start(kind)
			if brief := text(t, out, "additionalContext"); !strings.Contains(brief, "KB context:") || !strings.Contains(brief, "plimsoll kb search") {
				t.Errorf("%s: %s", kind, out)
			}
			if !strings.HasPrefix(out, `{"hookSpecificOutput":{"hookEventName":"SubagentStart","additionalContext":"`) || strings.Contains(out, "systemMessage") {
				t.Errorf("%s: %s", kind, out)
			}
			p.has(map[string]any{"decision": "briefed", "agent_type": kind, "event": "SubagentStart"})
		}
		n := len(p.log())
		for _, kind := range []string{"code-reviewer", ""} {
			if out := p.start(kind); out != "" || len(p.log()) != n {
				t.Errorf("%q: %s", kind, out)
			}
		}
	}
	for _, ext := range []string{turnExt, queriesExt, denialsExt} {
		if got := p.content(ext); got != "" {
			t.Errorf("a briefing wrote %s: %q", ext, got)
		}
	}
}

// 14c 11-12
func TestOddPayloads(t *testing.T) {
	p := inProject(t)
	for _, input := range []any{map[string]any{"subagent_type": "Explore", "prompt": 5}, map[string]any{"prompt": []any{"x"}}} {
		if out := p.spawnWith(input); out != "" || p.log() != nil {
			t.Errorf("%v: %s", input, out)
		}
	}
	p.send(map[string]any{"hook_event_name": "Stop"})
	if p.log() != nil {
		t.Error("an unknown event is logged")
	}
	// a search before any prompt counts for turn 0
	p.search()
	if got := p.content(queriesExt); got != "0\thow it works\n" {
		t.Errorf("queries %q", got)
	}
	if denied(p.primed()) {
		t.Error("turn 0: denied after a search")
	}
	// another session is another matter
	p.session = "../another/session"
	if !denied(p.primed()) {
		t.Error("a session profits from another one's search")
	}
	p.has(map[string]any{"session": ".._another_session"})
	// 15: a session's id is nobody's path
	for id, want := range map[string]string{"a\nb": "a_b", "": "unknown", "é/ü": "___", "..": "..", strings.Repeat("x", 999): strings.Repeat("x", maxName), "${CLAUDE_SESSION_ID}": "__CLAUDE_SESSION_ID_"} {
		p.session = id
		p.prompt()
		p.has(map[string]any{"session": want})
		if got := p.content(turnExt); got != "1\n" {
			t.Errorf("session %q: turn %q", id, got)
		}
	}
	for _, f := range files(t, p.root) {
		if dir := filepath.Dir(f); dir != filepath.Join(p.root, ".claude", ".kb-gate") && f != LogPath(p.root) {
			t.Errorf("wrote %s", f)
		}
	}
}

// 14c 12, 15; F71
func TestBadTurnFile(t *testing.T) {
	for content, want := range map[string]string{"corrupt": "1\n", "": "1\n", "08": "9\n", "08\n": "9\n", " 3 \n": "4\n", "-3": "1\n", "1x": "1\n",
		strings.Repeat("9", 30): "1\n", strings.Repeat("1\n", 5000): "1\n"} {
		p := inProject(t)
		p.write(p.path(turnExt), content)
		p.prompt()
		if got := p.content(turnExt); got != want {
			t.Errorf("turn file %q: after a prompt %q, want %q", content, got, want)
		}
	}
}

// 15
func TestStateInTheWay(t *testing.T) {
	dir := func(p *project) string { return filepath.Join(p.root, ".claude", ".kb-gate") }
	for _, c := range []struct {
		name    string
		prepare func(p *project) error
		denials int // of 10 bare spawns
		why     string
	}{
		{"no state folder yet", func(*project) error { return nil }, MaxPerSearch, "budget_no_progress"},
		{"state deleted half-way", func(p *project) error { p.prompt(); return os.RemoveAll(dir(p)) }, MaxPerSearch, "budget_no_progress"},
		{"a file in its place", func(p *project) error { return os.WriteFile(dir(p), nil, 0o600) }, 0, "budget_unwritable"},
		{"a symlink in its place", func(p *project) error { return os.Symlink(t.TempDir(), dir(p)) }, 0, "budget_unwritable"},
		{"a directory for denials", func(p *project) error { return os.MkdirAll(p.path(denialsExt), 0o700) }, 0, "budget_unwritable"},
		{"a directory for queries", func(p *project) error { return os.MkdirAll(p.path(queriesExt), 0o700) }, 0, "budget_unreadable"},
		{"denials elsewhere", func(p *project) error {
			p.prompt()
			return os.Symlink(filepath.Join(t.TempDir(), "x"), p.path(denialsExt))
		}, 0, "budget_unwritable"},
	} {
		p := inProject(t)
		if err := c.prepare(p); err != nil {
			t.Fatal(err)
		}
		n := 0
		for range 10 {
			if denied(p.bare()) {
				n++
			}
		}
		if n != c.denials {
			t.Errorf("%s: %d of 10 denied, want %d", c.name, n, c.denials)
		}
		p.has(map[string]any{"decision": "allow", "skip_reason": c.why})
		// 14c 15
		if out := p.prompt() + p.search(); out != "" {
			t.Errorf("%s: prompt and search answer %s", c.name, out)
		}
	}
}

func TestReadOnlyStateNeverDenies(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root writes everywhere")
	}
	p := inProject(t)
	p.prompt()
	dir := filepath.Join(p.root, ".claude", ".kb-gate")
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	for range 10 {
		if denied(p.bare()) {
			t.Error("denied without a record")
		}
	}
	p.has(map[string]any{"skip_reason": "budget_unwritable"})
}

// A cloned project cannot make the log, or the sweep, reach out of its folder.
func TestLinksAreNotFollowed(t *testing.T) {
	p := inProject(t)
	outside := t.TempDir()
	victim := filepath.Join(outside, "old.turn")
	p.write(victim, "mine\n")
	if err := os.Chtimes(victim, time.Unix(0, 0), time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{LogPath(p.root): victim, filepath.Join(p.root, ".claude", ".kb-gate"): outside} {
		if err := os.Symlink(target, link); err != nil {
			t.Skip(err)
		}
	}
	p.prompt()
	p.search()
	p.bare()
	if data, err := os.ReadFile(victim); err != nil || string(data) != "mine\n" {
		t.Errorf("outside the project: %q, %v", data, err)
	}
	if left := files(t, outside); len(left) != 1 {
		t.Errorf("outside the project: %v", left)
	}
}

// 1: the turn is the human's.
func TestTurnIsTheHumans(t *testing.T) {
	const done = "<task-notification>\n<task-id>a1</task-id>\n</task-notification>"
	p := inProject(t)
	for _, c := range []struct{ id, prompt, turn, decision string }{
		{"p1", "go on", "1\n", "turn_start"},
		{"p1", done, "1\n", "skip"},
		{"p1", "queued, same turn", "1\n", "skip"},
		{"p2", "go on", "2\n", "turn_start"},
		{"p1", done, "2\n", "skip"}, // a sub-agent of an earlier turn finishes late
		{"p2", "still the same", "2\n", "skip"},
		{"", done, "2\n", "skip"}, // an older client
		{"", "go on", "3\n", "turn_start"},
		{"", "go on", "4\n", "turn_start"},
		{"p3", "go on", "5\n", "turn_start"},
		{strings.Repeat("x", 9999), "go on", "6\n", "turn_start"},
	} {
		if c.id == "" {
			p.send(map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": c.prompt})
		} else {
			p.promptID(c.id, c.prompt)
		}
		if got := p.content(turnExt); got != c.turn {
			t.Errorf("prompt %.9q %q: turn %q, want %q", c.id, c.prompt, got, c.turn)
		}
		p.has(map[string]any{"decision": c.decision})
	}
}

func TestABackgroundAgentResetsNothing(t *testing.T) {
	p := inProject(t)
	p.promptID("p1", "go on")
	p.search()
	for range 4 {
		p.bare()
	}
	p.promptID("p1", "<task-notification>done</task-notification>")
	if denied(p.primed()) {
		t.Error("the search of this turn no longer counts")
	}
	if denied(p.bare()) {
		t.Error("the budget was refilled")
	}
}

// 14b: neither budget is the last word; the session's is.
func TestASessionComesToItsEnd(t *testing.T) {
	p := inProject(t)
	denials, turns := 0, 0
	for ; denials < MaxPerSession && turns < 100; turns++ {
		p.prompt()
		for range 3 {
			for range 5 {
				if denied(p.bare()) {
					denials++
				}
			}
			p.search()
		}
	}
	if denials != MaxPerSession || turns != MaxPerSession/MaxPerTurn {
		t.Fatalf("%d denials in %d turns", denials, turns)
	}
	p.prompt()
	out := p.bare()
	if denied(out) || text(t, out, "additionalContext") == "" || !strings.Contains(text(t, out, "systemMessage"), "200") {
		t.Errorf("past the end: %s", out)
	}
	p.has(map[string]any{"decision": "warn", "skip_reason": "budget_session"})
	p.session = "s2"
	if !denied(p.bare()) {
		t.Error("the end is another session's, too")
	}
}

func TestSettings(t *testing.T) {
	p := inProject(t)
	p.kb.AgentTypes.V = []string{"scout"}
	p.kb.Marker.V = "[kb]"
	p.kb.SearchTools.V = []string{"mcp__wiki__*"}
	p.kb.SearchCommands.V = nil
	p.prompt()
	scout := func(prompt string) string {
		return p.spawnWith(map[string]any{"subagent_type": "scout", "prompt": prompt})
	}
	if denied(p.bare()) || !denied(scout("x")) {
		t.Error("agent types are not taken from the settings")
	}
	p.use("mcp__wiki__find", map[string]any{"query": "q"})
	if !denied(scout("KB context: x")) || denied(scout("see [kb] x")) {
		t.Error("the marker is not taken from the settings")
	}
	// Where nothing counts as a search nobody could comply.
	p.kb.SearchTools.V = nil
	p.prompt()
	if out := scout("x") + p.start("scout"); out != "" {
		t.Errorf("no search configured: %s", out)
	}
	p.has(map[string]any{"decision": "skip", "skip_reason": "no_search_configured"})
}

// 8, 15: what a log line quotes cannot break it.
func TestLogIsAlwaysJSON(t *testing.T) {
	p := inProject(t)
	odd := []string{`quo"te`, `back\slash`, "line\nfeed", "tab\t", "\x00\x1b[31m", "\u202ereversed", "é漢🎉", strings.Repeat("\n", 9999), strings.Repeat("漢", 9999)}
	for _, s := range odd {
		p.kb.AgentTypes.V = append(p.kb.AgentTypes.V, s)
		p.session = s
		p.prompt()
		p.searchWith(map[string]any{"query": s + "x"})
		p.spawnWith(map[string]any{"subagent_type": s, "prompt": s})
		p.spawnWith(map[string]any{"subagent_type": s + "-", "prompt": s})
		p.start(s)
	}
	lines := p.log()
	if len(lines) != 5*len(odd) {
		t.Errorf("%d log lines, want %d", len(lines), 5*len(odd))
	}
	if got := lines[2]["agent_type"]; got != odd[0] {
		t.Errorf("agent type %q is logged as %q", odd[0], got)
	}
	data, _ := os.ReadFile(LogPath(p.root))
	for line := range strings.SplitSeq(string(data), "\n") {
		if len(line) >= 4096 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}

func TestDecisionLog(t *testing.T) {
	p := inProject(t)
	p.prompt()
	p.search()
	p.primed()
	if len(p.decided) > 0 {
		t.Errorf("silence is logged: %q", p.decided)
	}
	for range 5 {
		p.bare()
	}
	if len(p.decided) != 5 || !strings.Contains(p.decided[3], `"decision":"denial","agent_type":"Explore","fresh_query":true,"had_kb_block":false,"denials_turn":4,"denials_state":4}`) ||
		!strings.Contains(p.decided[4], `"decision":"release","why":"budget_no_progress"`) {
		t.Errorf("decisions: %q", p.decided)
	}
}
