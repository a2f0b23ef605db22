package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/config"
	"plimsoll/internal/hookcmd"
	"plimsoll/internal/kbgate"
	"plimsoll/internal/statefile"
	"plimsoll/internal/zonewatch"
)

// The section knows the rules by the names that they give themselves.
func TestGateRuleNames(t *testing.T) {
	for name, rule := range map[string]string{
		ruleZoneGate: zonewatch.Gate(zonewatch.Watch{}, 0).Name,
		ruleCeiling:  ceiling.Rule(ceiling.Guard{}).Name,
		ruleKBGate:   kbgate.Rule(kbgate.Gate{}).Name,
		ruleCrossing: zonewatch.Crossing(zonewatch.Watch{}).Name,
		ruleMarker:   zonewatch.Marker(zonewatch.Watch{}).Name,
	} {
		if name != rule {
			t.Errorf("%q, the rule calls itself %q", name, rule)
		}
	}
}

// logs is a decision log and projects with KB gate logs in a folder of their own.
type logs struct {
	t   *testing.T
	dir string
}

func newLogs(t *testing.T) logs { return logs{t, t.TempDir()} }

func (l logs) decisions() string { return filepath.Join(l.dir, "decisions.jsonl") }

func (l logs) write(path string, lines ...string) {
	l.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// project makes a project with a KB gate log.
func (l logs) project(name string, lines ...string) (root string) {
	l.t.Helper()
	root = filepath.Join(l.dir, name)
	if err := os.MkdirAll(filepath.Join(root, ".git"), 0o700); err != nil {
		l.t.Fatal(err)
	}
	l.write(kbgate.LogPath(root), lines...)
	return root
}

// day is when the tests' decisions are made: clock adds hh:mm:ss.
const day = "2026-09-01T"

// decided is a line of the decision log.
func decided(clock, session, rule, decision string, more ...string) string {
	return fmt.Sprintf(`{"ts":"%s%s.250Z","session":%q,"event":"PreToolUse","tool":"Skill","rule":%q,"decision":%q%s}`,
		day, clock, session, rule, decision, strings.Join(more, ""))
}

// Lines of a KB gate log.
func kbTurn(clock, session string) string {
	return fmt.Sprintf(`{"ts":"%s%sZ","session":%q,"event":"UserPromptSubmit","decision":"turn_start","turn":1}`, day, clock, session)
}

func kbStart(clock, session, decision, why string) string {
	return fmt.Sprintf(`{"ts":"%s%sZ","session":%q,"event":"PreToolUse","phase":"discovery","satisfied":%v,"decision":%q,"skip_reason":%q}`,
		day, clock, session, decision == "allow" && why == "", decision, why)
}

func at(clock string) time.Time {
	t, err := time.Parse(time.RFC3339, day+clock+"Z")
	if err != nil {
		panic(err)
	}
	return t
}

// short is a rule's counts: notes, denials, releases, fail-opens, sessions, and what was obeyed.
func short(r GateRule) string {
	obeyed := "null"
	if o := r.Obeyed; o != nil {
		obeyed = fmt.Sprintf("%d/%d in %d/%d", o.Denials, o.DenialsJudged, o.Sessions, o.SessionsJudged)
	}
	return fmt.Sprintf("n%d d%d r%d f%d s%d obeyed %s", r.Notes, r.Denials, r.Releases, r.FailOpens, r.Sessions, obeyed)
}

func ruleOf(t *testing.T, g Gates, name string) GateRule {
	t.Helper()
	for _, r := range g.Rules {
		if r.Rule == name {
			return r
		}
	}
	t.Fatalf("no rule %q in %+v", name, g.Rules)
	return GateRule{}
}

// What hand-offs say of the ceiling and the zone gate.
func TestHandoffsAfterDenials(t *testing.T) {
	denial := func(clock, session string, more ...string) string {
		return decided(clock, session, "ceiling", "denial", more...)
	}
	for _, c := range []struct {
		name      string
		decisions []string
		handoffs  map[string][]time.Time
		want      string
	}{
		{"without transcripts nothing is known", []string{denial("08:00:00", "a")}, nil, "d1 r0 f0 s1 obeyed null"},
		{"a session whose transcript was not read", []string{denial("08:00:00", "a")}, map[string][]time.Time{"b": {at("09:00:00")}}, "d1 r0 f0 s1 obeyed null"},
		{"a transcript without a hand-off", []string{denial("08:00:00", "a")}, map[string][]time.Time{"a": {}}, "d1 r0 f0 s1 obeyed 0/1 in 0/1"},
		{"a hand-off before", []string{denial("08:00:00", "a")}, map[string][]time.Time{"a": {at("07:59:59")}}, "d1 r0 f0 s1 obeyed 0/1 in 0/1"},
		{"a hand-off after, whatever their order", []string{denial("08:00:00", "a")}, map[string][]time.Time{"a": {at("08:00:01"), at("07:00:00")}}, "d1 r0 f0 s1 obeyed 1/1 in 1/1"},
		{"one hand-off answers all before it, none after", []string{denial("08:00:00", "a"), denial("08:00:01", "a"), denial("09:00:00", "a")},
			map[string][]time.Time{"a": {at("08:30:00")}}, "d3 r0 f0 s1 obeyed 2/3 in 0/1"},
		{"of several sessions", []string{denial("08:00:00", "a"), denial("08:00:00", "b"), denial("08:00:00", "c")},
			map[string][]time.Time{"a": {at("08:30:00")}, "b": nil}, "d3 r0 f0 s3 obeyed 1/2 in 1/2"},
		{"a sub-agent cannot hand off", []string{denial("08:00:00", "a", `,"agent":"x1"`)}, map[string][]time.Time{"a": {at("08:30:00")}}, "d1 r0 f0 s1 obeyed null"},
		{"warnings and releases ask for nothing", []string{decided("08:00:00", "a", "ceiling", "release")}, map[string][]time.Time{"a": {at("08:30:00")}}, "d0 r1 f0 s1 obeyed null"},
	} {
		for _, rule := range []string{"ceiling", "zone-gate"} {
			t.Run(c.name+"/"+rule, func(t *testing.T) {
				l := newLogs(t)
				l.write(l.decisions(), strings.ReplaceAll(strings.Join(c.decisions, "\n"), `"ceiling"`, fmt.Sprintf("%q", rule)))
				g := GatesOf(GateInput{Decisions: l.decisions(), Handoffs: c.handoffs})
				if got := short(ruleOf(t, g, rule)); got != "n0 "+c.want {
					t.Errorf("%s, want n0 %s", got, c.want)
				}
			})
		}
	}
}

// What the KB gate's own log says of its denials.
func TestStartsAfterDenials(t *testing.T) {
	for _, c := range []struct {
		name string
		log  []string
		want string
	}{
		{"complied", []string{kbStart("08:00:00", "a", "deny", ""), kbStart("08:00:05", "a", "allow", "")}, "d1 r0 f0 s1 obeyed 1/1 in 1/1"},
		{"released", []string{kbStart("08:00:00", "a", "deny", ""), kbStart("08:00:05", "a", "allow", "budget_no_progress")}, "d1 r1 f0 s1 obeyed 0/1 in 0/1"},
		{"another gate's call of the same revision's log", []string{kbStart("08:00:00", "a", "deny", ""), strings.Replace(kbStart("08:00:05", "a", "allow", ""), "discovery", "memory_write", 1)}, "d1 r0 f0 s1 obeyed 0/1 in 0/1"},
		{"could not be counted", []string{kbStart("08:00:00", "a", "deny", ""), kbStart("08:00:05", "a", "allow", "budget_unwritable")}, "d1 r0 f1 s1 obeyed 0/1 in 0/1"},
		{"not judged", []string{kbStart("08:00:00", "a", "deny", ""), kbStart("08:00:05", "a", "skip", "agent_type_not_gated")}, "d1 r0 f0 s1 obeyed 0/1 in 0/1"},
		{"another session's start", []string{kbStart("08:00:00", "a", "deny", ""), kbStart("08:00:05", "b", "allow", "")}, "d1 r0 f0 s1 obeyed 0/1 in 0/1"},
		{"in the next turn", []string{kbStart("08:00:00", "a", "deny", ""), kbTurn("08:00:03", "a"), kbStart("08:00:05", "a", "allow", "")}, "d1 r0 f0 s1 obeyed 0/1 in 0/1"},
		{"another session's turn ends nothing", []string{kbStart("08:00:00", "a", "deny", ""), kbTurn("08:00:03", "b"), kbStart("08:00:05", "a", "allow", "")}, "d1 r0 f0 s1 obeyed 1/1 in 1/1"},
		{"the start came before", []string{kbStart("08:00:00", "a", "allow", ""), kbStart("08:00:05", "a", "deny", "")}, "d1 r0 f0 s1 obeyed 0/1 in 0/1"},
		{"a start answers one denial, the latest", []string{kbStart("08:00:00", "a", "deny", ""), kbStart("08:00:00", "a", "deny", ""), kbStart("08:00:05", "a", "allow", ""), kbStart("08:00:07", "b", "deny", "")}, "d3 r0 f0 s2 obeyed 1/3 in 1/2"},
		{"a fan-out that comes back whole", []string{kbStart("08:00:00", "a", "deny", ""), kbStart("08:00:00", "a", "deny", ""), kbStart("08:00:05", "a", "allow", ""), kbStart("08:00:05", "a", "allow", ""), kbStart("08:00:05", "a", "allow", "")}, "d2 r0 f0 s1 obeyed 2/2 in 1/1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLogs(t)
			g := GatesOf(GateInput{Folders: []string{l.project("p", c.log...)}})
			if got := short(ruleOf(t, g, "kb-gate")); got != "n0 "+c.want {
				t.Errorf("%s, want n0 %s", got, c.want)
			}
		})
	}
	t.Run("a denial that is in no KB gate log", func(t *testing.T) {
		l := newLogs(t)
		l.write(l.decisions(), decided("08:00:00", "a", "kb-gate", "denial"))
		if got := short(ruleOf(t, GatesOf(GateInput{Decisions: l.decisions()}), "kb-gate")); got != "n0 d1 r0 f0 s1 obeyed null" {
			t.Error(got)
		}
	})
}

// A decision that both logs have is one; near ones of other sessions, kinds, reasons and moments are not.
func TestDecisionInBothLogsCountsOnce(t *testing.T) {
	line := func(clock, session string) string { return kbStart(clock, session, "deny", "") }
	decision := func(clock, session string) string { return decided(clock, session, "kb-gate", "denial") }
	for _, c := range []struct {
		name          string
		decisions, kb []string
		denials, both int
	}{
		{"the same", []string{decision("08:00:00", "a")}, []string{line("08:00:00", "a")}, 1, 1},
		{"the decision log a little late", []string{decision("08:00:09", "a")}, []string{line("08:00:00", "a")}, 1, 1},
		{"a minute late", []string{decision("08:01:00", "a")}, []string{line("08:00:00", "a")}, 2, 0},
		{"a minute early", []string{decision("08:00:00", "a")}, []string{line("08:01:00", "a")}, 2, 0},
		{"of another session", []string{decision("08:00:00", "a")}, []string{line("08:00:00", "b")}, 2, 0},
		{"of another rule", []string{decided("08:00:00", "a", "ceiling", "denial")}, []string{line("08:00:00", "a")}, 1, 0},
		{"of another kind", []string{decided("08:00:00", "a", "kb-gate", "note")}, []string{line("08:00:00", "a")}, 1, 0},
		{"of another reason", []string{decided("08:00:00", "a", "kb-gate", "denial", `,"why":"x"`)}, []string{line("08:00:00", "a")}, 2, 0},
		{"a fan-out", []string{decision("08:00:01", "a"), decision("08:00:00", "a"), decision("08:00:00", "a")}, []string{line("08:00:00", "a"), line("08:00:00", "a"), line("08:00:00", "a")}, 3, 3},
		{"more in one than in the other", []string{decision("08:00:00", "a")}, []string{line("08:00:00", "a"), line("08:00:00", "a")}, 2, 1},
		{"an older line that only one has", []string{decision("08:10:00", "a")}, []string{line("08:00:00", "a"), line("08:10:00", "a")}, 2, 1},
		{"lines that are not in order", []string{decision("08:00:00", "a"), decision("08:10:00", "a")}, []string{line("08:10:00", "a"), line("08:00:00", "a")}, 2, 2},
		{"decisions that are not in order", []string{decision("08:10:00", "a"), decision("08:00:00", "a")}, []string{line("08:00:00", "a"), line("08:10:00", "a")}, 2, 2},
		{"a session id that the decision log does not keep", []string{decision("08:00:00", "")}, []string{line("08:00:00", "a_b")}, 1, 1},
		{"a named line is its own decision's first", []string{decision("08:00:00", ""), decision("08:00:01", "a")}, []string{line("08:00:00", "a")}, 2, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLogs(t)
			l.write(l.decisions(), c.decisions...)
			g := GatesOf(GateInput{Decisions: l.decisions(), Folders: []string{l.project("p", c.kb...)}})
			if got := ruleOf(t, g, "kb-gate").Denials; got != c.denials || g.Logs.InBoth != c.both {
				t.Errorf("%d denials, %d in both logs, want %d, %d", got, g.Logs.InBoth, c.denials, c.both)
			}
		})
	}
}

// What the hook writes into both logs is what the section counts.
func TestHookAndGatesAgree(t *testing.T) {
	root, home := t.TempDir(), t.TempDir()
	for _, dir := range []string{".git", ".claude/memories"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	vars := map[string]string{"HOME": home, "PLIMSOLL_KB_MODE": "enforce"}
	env := func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
	now := at("08:00:00")
	session := "s1"
	send := func(event, more string) {
		now = now.Add(1700 * time.Millisecond)
		payload := fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":%q,%s}`, session, root, event, more)
		hookcmd.Hook(hookcmd.Process{
			Stdin: strings.NewReader(payload), Stdout: new(bytes.Buffer), Stderr: new(bytes.Buffer), Env: env,
			Now: func() time.Time { return now },
		})
	}
	spawn := func(prompt string) {
		send("PreToolUse", fmt.Sprintf(`"tool_name":"Agent","tool_input":{"subagent_type":"Explore","prompt":%q}`, prompt))
	}
	send("UserPromptSubmit", `"prompt":"go"`)
	for range 6 {
		spawn("bare") // four denials, two releases
	}
	send("PostToolUse", `"tool_name":"mcp__plimsoll__query","tool_input":{"query":"q"}`)
	spawn("KB context: none")
	send("SubagentStart", `"agent_type":"Explore"`)
	vars["PLIMSOLL_KB_MODE"] = "warn"
	spawn("bare")
	session = "not fit for a file"
	spawn("bare")
	transcript := filepath.Join(home, "t.jsonl")
	if err := os.WriteFile(transcript, []byte(`{"type":"assistant","message":{"model":"claude-opus-5","usage":{"input_tokens":400000}}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	session = "s2"
	send("PreToolUse", fmt.Sprintf(`"transcript_path":%q,"tool_name":"Skill","tool_input":{"skill":"plan"}`, transcript))

	in := GateInput{
		Decisions: config.PathsIn(home).Decisions(), Folders: []string{filepath.Join(root, ".claude")}, Zone: time.UTC,
		Handoffs: map[string][]time.Time{"s2": {now.Add(time.Hour)}},
	}
	g := GatesOf(in)
	kb := ruleOf(t, g, "kb-gate")
	if got, want := short(kb), "n3 d4 r2 f0 s2 obeyed 1/4 in 1/1"; got != want {
		t.Errorf("KB gate: %s, want %s", got, want)
	}
	if kb.NoteReasons["briefed"] != 1 || kb.ReleaseReasons["budget_no_progress"] != 2 {
		t.Errorf("reasons: %v, %v", kb.NoteReasons, kb.ReleaseReasons)
	}
	if got, want := short(ruleOf(t, g, "ceiling")), "n0 d1 r0 f0 s1 obeyed 1/1 in 1/1"; got != want {
		t.Errorf("ceiling: %s, want %s", got, want)
	}
	if l := g.Logs; l.Decisions != 10 || l.InBoth != 9 || l.Read != 2 || l.Unreadable != 0 || len(l.Skipped) != 0 {
		t.Errorf("logs: %+v, want 10 decisions, 9 of them in both logs", l)
	}
	if g.Sessions != 3 || g.First != "2026-09-01T08:00:03Z" || g.Last != "2026-09-01T08:00:22Z" {
		t.Errorf("%d sessions, %s to %s", g.Sessions, g.First, g.Last)
	}
	if k := g.KB; k == nil || k.Projects != 1 || k.Turns != 1 || k.Searches != 1 || k.Starts.Total != 9 || k.Starts.Satisfied != 1 || k.Starts.Warned != 2 {
		t.Errorf("use of the knowledge base: %+v", k)
	}
}

// The range bounds what is counted, not what follows on it.
func TestGatesInRange(t *testing.T) {
	l := newLogs(t)
	l.write(l.decisions(), decided("08:00:00", "a", "ceiling", "denial"), decided("09:00:00", "a", "ceiling", "denial"), decided("10:00:00", "b", "ceiling", "denial"))
	root := l.project("p", kbTurn("08:00:00", "a"), kbStart("08:59:59", "a", "deny", ""), kbStart("09:59:59", "a", "deny", ""), kbStart("10:00:00", "a", "allow", ""))
	in := GateInput{
		Decisions: l.decisions(), Folders: []string{root}, Since: at("09:00:00"), Until: at("10:00:00"),
		Handoffs: map[string][]time.Time{"a": {at("12:00:00")}},
	}
	g := GatesOf(in)
	if got, want := short(ruleOf(t, g, "ceiling")), "n0 d1 r0 f0 s1 obeyed 1/1 in 1/1"; got != want {
		t.Errorf("ceiling: %s, want %s", got, want)
	}
	if got, want := short(ruleOf(t, g, "kb-gate")), "n0 d1 r0 f0 s1 obeyed 1/1 in 1/1"; got != want {
		t.Errorf("KB gate: %s, want %s", got, want)
	}
	if g.Logs.Decisions != 2 || g.KB.Turns != 0 || g.KB.Starts.Total != 1 || g.Sessions != 1 {
		t.Errorf("%d decisions, %+v, %d sessions", g.Logs.Decisions, g.KB, g.Sessions)
	}
}

func TestBothGenerationsOfTheDecisionLog(t *testing.T) {
	l := newLogs(t)
	l.write(l.decisions()+".1", decided("08:00:00", "a", "crossing", "note"))
	l.write(l.decisions(), decided("09:00:00", "b", "crossing", "note"))
	g := GatesOf(GateInput{Decisions: l.decisions(), Zone: time.FixedZone("", 7200)})
	r := ruleOf(t, g, "crossing")
	if short(r) != "n2 d0 r0 f0 s2 obeyed null" || r.First != "2026-09-01T10:00:00+02:00" || r.Last != "2026-09-01T11:00:00+02:00" {
		t.Errorf("%+v", r)
	}
}

// Whatever stands in the logs' places, the rest is counted, and nothing is passed over in silence.
func TestHostileLogs(t *testing.T) {
	good := decided("08:00:00", "a", "crossing", "note")
	for _, c := range []struct {
		name                string
		lines               []string
		decisions, bad      int
		rules               int // besides the shipped ones
		unwanted, wantedTxt string
	}{
		{name: "junk", lines: []string{good, "nonsense", "{", "\x00\x00\x00", "\xff\xfe", "[]", "7", `{"ts":"2026`, good}, decisions: 2, bad: 7},
		{name: "a huge line", lines: []string{good, strings.Repeat("x", 3<<20), good}, decisions: 2, bad: 1},
		{name: "a huge valid line", lines: []string{`{"session":"` + strings.Repeat("x", 3<<20) + `"}`, good}, decisions: 1, bad: 1},
		{name: "BOM, CRLF and empty lines", lines: []string{"\ufeff" + good + "\r", "", "\r", good + "\r"}, decisions: 2},
		{name: "deep nesting", lines: []string{`{"ts":` + strings.Repeat("[", 3000), good}, decisions: 1, bad: 1},
		{name: "no time, another kind of time", lines: []string{
			`{"session":"a","rule":"crossing","decision":"note"}`, `{"ts":"yesterday","session":"a","rule":"crossing","decision":"note"}`,
			`{"ts":1788249600,"session":"a","rule":"crossing","decision":"note"}`, good}, decisions: 1, bad: 3},
		{name: "a decision that is none", lines: []string{decided("08:00:00", "a", "crossing", "allow"), decided("08:00:00", "a", "crossing", ""), good}, decisions: 1, bad: 2},
		{name: "no rule", lines: []string{decided("08:00:00", "a", "", "note"), `{"ts":"2026-09-01T08:00:00Z","rule":"\u001b\u202e","decision":"note"}`, good}, decisions: 1, bad: 2},
		{name: "a rule that nobody knows", lines: []string{
			`{"ts":"2026-09-01T08:00:00Z","session":"a","rule":"ne\u001b[31mw\u202e\nrule","decision":"release","why":"be\u0007ep"}`, decided("08:00:01", "b", "another", "denial"), good},
			decisions: 3, rules: 2, unwanted: "\x1b\a\u202e", wantedTxt: "releases    ne[31mwrule: beep 1\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLogs(t)
			l.write(l.decisions(), c.lines...)
			g := GatesOf(GateInput{Decisions: l.decisions()})
			if g.Logs.Decisions != c.decisions || g.Logs.Unreadable != c.bad || len(g.Rules) != 5+c.rules {
				t.Errorf("%d decisions, %d bad lines, %d rules; want %d, %d, %d", g.Logs.Decisions, g.Logs.Unreadable, len(g.Rules), c.decisions, c.bad, 5+c.rules)
			}
			text := textOf(t, g)
			if c.unwanted != "" && strings.ContainsAny(text, c.unwanted) || !strings.Contains(text, c.wantedTxt) {
				t.Errorf("text %q", text)
			}
			if c.bad > 0 && !strings.Contains(text, gateCount(c.bad, "line")+" of the logs cannot be read\n") {
				t.Errorf("the bad lines are not told of: %q", text)
			}
			// The same lines in a project's log: what is no line of the KB gate's is counted as one or passed over.
			kb := GatesOf(GateInput{Folders: []string{l.project("p", append(c.lines, kbStart("08:00:00", "a", "deny", ""))...)}})
			if got := ruleOf(t, kb, "kb-gate").Denials; got != 1 || kb.Logs.Read != 1 {
				t.Errorf("%d denials of the project's log, %+v", got, kb.Logs)
			}
		})
	}
}

// What is no file is listed, and the others are read. A log that is not there is nothing.
func TestLogsThatAreNoFiles(t *testing.T) {
	l := newLogs(t)
	if err := os.MkdirAll(l.decisions(), 0o700); err != nil {
		t.Fatal(err)
	}
	l.write(l.decisions()+".1", decided("08:00:00", "a", "crossing", "note"))
	folder := l.project("folder")
	if err := os.Remove(kbgate.LogPath(folder)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(kbgate.LogPath(folder), 0o700); err != nil {
		t.Fatal(err)
	}
	large := l.project("large")
	if err := os.Truncate(kbgate.LogPath(large), 1<<40); err != nil {
		t.Skip(err)
	}
	second := l.project("folder-2")
	if err := os.Truncate(kbgate.LogPath(second), 1<<40); err != nil {
		t.Skip(err)
	}
	// Of what is named the second project's folder comes first, of the projects the first one's.
	g := GatesOf(GateInput{Decisions: l.decisions(), Folders: []string{large, filepath.Join(folder, ".claude"), second, "", "relative", filepath.Join(l.dir, "gone")}})
	want := []Skipped{
		{l.decisions(), statefile.ErrNotRegular.Error()}, {kbgate.LogPath(folder), statefile.ErrNotRegular.Error()},
		{kbgate.LogPath(second), statefile.ErrTooLarge.Error()}, {kbgate.LogPath(large), statefile.ErrTooLarge.Error()},
	}
	if !reflect.DeepEqual(g.Logs.Skipped, want) || g.Logs.Read != 1 || ruleOf(t, g, "crossing").Notes != 1 || g.KB != nil {
		t.Errorf("%+v, want %+v", g, want)
	}
	if text := textOf(t, g); strings.Count(text, "not read: ") != 4 {
		t.Errorf("text %q", text)
	}
}

// Without the name of a decision log none is looked for, and a line of the KB gate's that has no time is no decision.
func TestKBLogAlone(t *testing.T) {
	l := newLogs(t)
	t.Chdir(l.dir)
	l.write(".1", decided("08:00:00", "a", "crossing", "note"))
	root := l.project("p", kbStart("08:00:00", "a", "deny", ""), strings.Replace(kbStart("08:00:00", "a", "deny", ""), "T08", "at 8", 1))
	g := GatesOf(GateInput{Folders: []string{root}})
	if g.Logs.Read != 1 || g.Logs.Decisions != 1 || g.Logs.Unreadable != 1 || g.KB.Starts.Total != 1 {
		t.Errorf("%+v, %+v", g.Logs, g.KB)
	}
}

// The order in which projects are named, and how often, and by which of their folders, changes nothing.
func TestOrderOfProjectsDoesNotMatter(t *testing.T) {
	l := newLogs(t)
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	clock := func() string { return fmt.Sprintf("08:%02d:%02d", random.IntN(3), random.IntN(60)) }
	var decisions, folders []string
	for range 300 {
		decisions = append(decisions, decided(clock(), pick("a", "b", "c", ""), pick("kb-gate", "kb-gate", "ceiling", "x"), pick("denial", "note", "release", "fail-open")))
	}
	l.write(l.decisions(), decisions...)
	for p := range 6 {
		var lines []string
		for range 60 {
			session := pick("a", "b", "c", "d_e")
			switch random.IntN(8) {
			case 0:
				lines = append(lines, kbTurn(clock(), session))
			case 1:
				lines = append(lines, "junk")
			default:
				lines = append(lines, kbStart(clock(), session, pick("deny", "allow", "warn"), pick("", "", "budget_turn", "budget_unreadable")))
			}
		}
		root := l.project(fmt.Sprintf("p%d", p), lines...)
		folders = append(folders, root, filepath.Join(root, ".claude"))
		if err := os.Symlink(root, root+"-link"); err == nil {
			folders = append(folders, root+"-link")
		}
	}
	in := GateInput{Decisions: l.decisions(), Folders: folders, Handoffs: map[string][]time.Time{"a": {at("08:01:30")}, "b": {}}}
	want := GatesOf(in)
	if want.KB.Projects != 6 || want.Logs.InBoth == 0 || ruleOf(t, want, "kb-gate").Obeyed.Denials == 0 {
		t.Fatalf("the data shows nothing: %+v", want)
	}
	for range 15 {
		random.Shuffle(len(folders), func(i, j int) { folders[i], folders[j] = folders[j], folders[i] })
		if got := GatesOf(in); !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
	}
	once := GatesOf(GateInput{Decisions: in.Decisions, Handoffs: in.Handoffs, Folders: []string{
		filepath.Join(l.dir, "p5"), filepath.Join(l.dir, "p4"), filepath.Join(l.dir, "p3"), filepath.Join(l.dir, "p2"), filepath.Join(l.dir, "p1"), filepath.Join(l.dir, "p0")}})
	if !reflect.DeepEqual(once, want) {
		t.Errorf("each named once: %+v\nwant %+v", once, want)
	}
}

// Logs at the size at which they are rotated are streamed: what is held is a small part of them.
func TestGatesHoldDecisionsNotLines(t *testing.T) {
	l := newLogs(t)
	figures := strings.Repeat(`,"figure":"`+strings.Repeat("x", 80)+`"`, 10) // about a thousand bytes
	line := decided("08:00:00", "a", "zone-gate", "denial", figures) + "\n"
	for _, path := range []string{l.decisions(), l.decisions() + ".1"} {
		l.write(path, strings.Repeat(line, 10<<20/len(line)))
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r := gateReader{GateInput: GateInput{Decisions: l.decisions()}, words: map[string]string{}}
	r.readDecisions()
	runtime.GC()
	runtime.ReadMemStats(&after)
	n := len(r.decisions)
	if n < 15_000 {
		t.Fatalf("%d decisions", n)
	}
	// A slice that grew may have a quarter to spare.
	if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > int64(n)*250 {
		t.Errorf("%d bytes held for %d decisions of %d bytes", held, n, len(line))
	}
	runtime.KeepAlive(r)
}

func textOf(t *testing.T, g Gates) string {
	t.Helper()
	var b strings.Builder
	if err := g.Text(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGatesText(t *testing.T) {
	l := newLogs(t)
	l.write(l.decisions(),
		decided("08:00:00", "a", "zone-gate", "denial"), decided("08:00:10", "a", "zone-gate", "release", `,"why":"denials"`),
		decided("08:10:00", "b", "ceiling", "denial"), decided("08:10:00", "c", "ceiling", "denial"), decided("08:11:00", "b", "ceiling", "note", `,"why":"load"`),
		decided("08:12:00", "b", "kb-gate", "denial"), decided("08:12:00", "b", "表の規則", "fail-open", `,"why":"panic"`), "junk")
	root := l.project("p", kbTurn("08:00:00", "b"), kbStart("08:12:00", "b", "deny", ""), kbStart("08:12:00", "b", "allow", ""), kbStart("08:12:09", "b", "skip", "nested_subagent"))
	g := GatesOf(GateInput{Decisions: l.decisions(), Folders: []string{root}, Zone: time.UTC, Handoffs: map[string][]time.Time{"b": {at("09:00:00")}}})
	const want = `  7 decisions in 3 sessions, 2026-09-01 08:00 to 2026-09-01 08:12
  rule       notes  denials  releases  fail-opens  sessions  first             last              denials obeyed
  zone-gate      0        1         1           0         1  2026-09-01 08:00  2026-09-01 08:00  not known
  ceiling        1        2         0           0         2  2026-09-01 08:10  2026-09-01 08:11  1 of 1, in 1 of 1 session; 1 not known
  kb-gate        0        1         0           0         1  2026-09-01 08:12  2026-09-01 08:12  1 of 1, in 1 of 1 session
  crossing       0        0         0           0         0  -                 -                 -
  marker         0        0         0           0         0  -                 -                 -
  表の規則       0        0         0           1         1  2026-09-01 08:12  2026-09-01 08:12  -
  notes       ceiling: load 1
  releases    zone-gate: denials 1
  fail-opens  表の規則: panic 1
  KB gate logs of 1 project: 3 starts of sub-agents: 1 with a lookup, 0 warned, 0 observed, 1 denied, not judged (nested_subagent 1); 0 searches in 1 turn
  2 logs read; 1 decision in two of them, counted once
  1 line of the logs cannot be read
`
	if got := textOf(t, g); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestGatesWithoutLogs(t *testing.T) {
	dir := t.TempDir()
	g := GatesOf(GateInput{Decisions: filepath.Join(dir, "decisions.jsonl"), Folders: []string{dir}})
	if got := textOf(t, g); !strings.HasPrefix(got, "  There are no logs yet:") || strings.Count(got, "\n") != 1 {
		t.Errorf("%q", got)
	}
	out, err := json.Marshal(g)
	const want = `{"first":"","last":"","sessions":0,"rules":[],"kb":null,"logs":{"read":0,"decisions":0,"in_both":0,"unreadable_lines":0,"skipped":[]}}`
	if err != nil || string(out) != want {
		t.Errorf("%s, %v", out, err)
	}
	l := newLogs(t)
	l.write(l.decisions(), decided("08:00:00", "a", "ceiling", "denial"))
	g = GatesOf(GateInput{Decisions: l.decisions(), Since: at("09:00:00")})
	if got := textOf(t, g); got != "  Nothing was said or denied in this range.\n  1 log read\n" {
		t.Errorf("%q", got)
	}
}

// The keys are an interface.
func TestGatesJSON(t *testing.T) {
	l := newLogs(t)
	root := l.project("p", kbTurn("08:00:00", "b"), kbStart("08:12:00", "b", "deny", ""), kbStart("08:12:05", "b", "allow", "budget_turn"))
	g := GatesOf(GateInput{Folders: []string{root}, Zone: time.UTC})
	rule, err := json.Marshal(ruleOf(t, g, "kb-gate"))
	const want = `{"rule":"kb-gate","notes":0,"denials":1,"releases":1,"fail_opens":0,"note_reasons":{},"release_reasons":{"budget_turn":1},"fail_open_reasons":{},` +
		`"sessions":1,"sessions_denied":1,"first":"2026-09-01T08:12:00Z","last":"2026-09-01T08:12:05Z","obeyed":{"denials":0,"denials_judged":1,"sessions":0,"sessions_judged":1}}`
	if err != nil || string(rule) != want {
		t.Errorf("got  %s\nwant %s\n%v", rule, want, err)
	}
	kb, err := json.Marshal(g.KB)
	const wantKB = `{"projects":1,"turns":1,"searches":0,"starts":{"total":2,"satisfied":0,"warned":0,"observed":0,"denied":1,"released":{"budget_turn":1},"skipped":{}}}`
	if err != nil || string(kb) != wantKB {
		t.Errorf("got  %s\nwant %s\n%v", kb, wantKB, err)
	}
}
