package ceiling

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/config"
	"plimsoll/internal/guard"
	"plimsoll/internal/harness"
	"plimsoll/internal/snapshot"
)

func TestThreshold(t *testing.T) {
	for _, c := range []struct {
		window, percent, absolute, want int64
		bound                           Bound
	}{
		{200_000, 40, 350_000, 80_000, Percentage},
		{1_000_000, 40, 350_000, 350_000, Absolute},
		{1_000_000, 40, 400_000, 400_000, Percentage}, // G38: a tie is the percentage
		{1_000_000, 40, 150_000, 150_000, Absolute},   // G39
		{200_000, 25, 350_000, 50_000, Percentage},    // G9
		{200_000, 200, 350_000, 350_000, Absolute},
		{2, 40, 350_000, 0, Percentage},
		{math.MaxInt64, math.MaxInt64, 350_000, 350_000, Absolute},
	} {
		if got, bound := Threshold(c.window, c.percent, c.absolute); got != c.want || bound != c.bound {
			t.Errorf("Threshold(%d, %d, %d) = %d, %s", c.window, c.percent, c.absolute, got, bound)
		}
	}
}

func TestBandOf(t *testing.T) { // G92-G97, G135-G136
	for occupancy, want := range map[int64]Band{150_000: Nudge, 187_499: Nudge, 187_500: RunNow, 224_999: RunNow, 225_000: FullSummary, 500_000: FullSummary} {
		if got := BandOf(occupancy, 150_000); got != want {
			t.Errorf("BandOf(%d) = %d", occupancy, got)
		}
	}
	if BandOf(100, 0) != Nudge || BandOf(100, 1) != FullSummary {
		t.Error("tiny thresholds")
	}
}

func TestResolveWindow(t *testing.T) {
	for _, c := range []struct {
		n                  string
		override, measured int64
		model              string
		occupancy          int64
		want               Window
	}{
		{"G73 override", 200_000, 1_000_000, "claude-opus-4-8", 100_000, Window{200_000, Override}},
		{"override stands", 200_000, 0, "", 900_000, Window{200_000, Override}},
		{"measured", 0, 200_000, "claude-opus-4-8", 100_000, Window{200_000, Measured}},
		{"measured and full", 0, 200_000, "claude-opus-4-8", 200_000, Window{200_000, Measured}}, // not below the occupancy
		{"measured is disproved", 0, 200_000, "claude-opus-4-8", 300_000, Window{1_000_000, Detected}},
		{"G127 detected", 0, 0, "claude-haiku-4-5", 100_000, Window{200_000, Detected}},
		{"detected and full", 0, 0, "claude-haiku-4-5", 200_000, Window{200_000, Detected}},
		{"detected is disproved", 0, 0, "claude-haiku-4-5", 300_000, Window{1_000_000, Default}},
		{"G74 unknown", 0, 0, "gpt-5-turbo", 100_000, Window{200_000, Default}},
		{"the default and full", 0, 0, "gpt-5-turbo", 200_000, Window{200_000, Default}},
		{"F7 beyond the default", 0, 0, "gpt-5-turbo", 360_236, Window{1_000_000, Default}},
		{"either window", 0, 0, "claude-sonnet-4-5", 100_000, Window{200_000, Default}},
		{"no model", 0, 0, "", 5, Window{200_000, Default}},
	} {
		if got := ResolveWindow(c.override, c.measured, c.model, c.occupancy); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.n, got, c.want)
		}
	}
}

func TestRecovers(t *testing.T) {
	for _, skill := range []string{"handoff", "dev-team:handoff", "a:b:handoff", "/handoff", "dev-team:/handoff", "Handoff", " handoff ", " dev-team:/Handoff\n",
		"any-plugin:continue", "context-loading-protocol", "review-summary", "session-review", "/dev-team:continue", "mine", " /handoff", "//handoff", "/ handoff"} { // G5, G14, G138-G140, G159-G164, E3
		if !Recovers(skill, []string{"/Mine"}) {
			t.Errorf("%q does not recover", skill)
		}
	}
	for _, skill := range []string{"plan", "", "handoff:", "handoff2", "x-handoff", "continue now", ":"} {
		if Recovers(skill, []string{"mine", ""}) {
			t.Errorf("%q recovers", skill)
		}
	}
}

func TestBlockingSetIsSkillAlone(t *testing.T) { // G204
	for _, tool := range []string{"Skill", "Agent", "Task", "Bash", "Read", "skill", ""} {
		if Gated(tool) != (tool == "Skill" || tool == "Agent" || tool == "Task") {
			t.Errorf("%q is gated: %v", tool, Gated(tool))
		}
		if (Policy{}).Blocks(tool) != (tool == "Skill") || (Policy{GateAgent: true}).Blocks(tool) != Gated(tool) {
			t.Errorf("%s", tool)
		}
	}
}

// Only what happens before a call, with a transcript to measure, is judged.
func TestHears(t *testing.T) {
	for _, c := range []struct {
		event, tool, transcript string
		want                    bool
	}{
		{harness.PreToolUse, "Skill", "s.jsonl", true},
		{harness.PreToolUse, "Task", "s.jsonl", true},
		{harness.PostToolUse, "Skill", "s.jsonl", false},
		{harness.PreToolUse, "Write", "s.jsonl", false},
		{harness.PreToolUse, "Skill", "", false}, // G142
	} {
		if got := Rule(Guard{}).Hears(harness.Event{Name: c.event, ToolName: c.tool, TranscriptPath: c.transcript}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// world is a home with a transcript.
type world struct {
	t          *testing.T
	home       string
	transcript string
	vars       map[string]string
}

func newWorld(t *testing.T) *world {
	home := t.TempDir()
	return &world{t, home, filepath.Join(home, "s.jsonl"), map[string]string{"HOME": home}}
}

// holds writes a transcript whose last response was that large.
func (w *world) holds(tokens int, model string) *world {
	w.t.Helper()
	w.rows(fmt.Sprintf(`{"type":"assistant","message":{"model":%q,"usage":{"input_tokens":2,"cache_read_input_tokens":%d}}}`, model, tokens-2))
	return w
}

func (w *world) rows(lines ...string) {
	w.t.Helper()
	if err := os.WriteFile(w.transcript, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) set(vars ...string) *world {
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		w.vars["DEV_TEAM_CONTEXT_"+name] = value
	}
	return w
}

// answer is what was said: raw is the whole, log the decision log's line.
type answer struct{ raw, reason, model, operator, log string }

func (a answer) denied() bool { return strings.Contains(a.raw, `"permissionDecision":"deny"`) }

func (w *world) call(tool, input string, more ...string) answer {
	w.t.Helper()
	env := config.Env(func(name string) (string, bool) { v, ok := w.vars[name]; return v, ok })
	c := config.Load(env).Ceiling
	if !c.Enabled.V {
		return answer{}
	}
	store, ok := snapshot.In(env.Home())
	rule := Rule(Guard{Settings: c, Store: store, HasStore: ok, State: env.StateDir(), Now: time.Now,
		Skills: []string{filepath.Join(w.home, "skills"), filepath.Join(w.home, "user")}, Plugins: filepath.Join(w.home, "cache")})
	payload := fmt.Sprintf(`{"session_id":"s","hook_event_name":"PreToolUse","transcript_path":%q,"tool_name":%q,"tool_input":%s%s}`, w.transcript, tool, input, strings.Join(more, ""))
	e, err := harness.Decode([]byte(payload))
	if err != nil {
		w.t.Fatal(err)
	}
	var out bytes.Buffer
	log := ""
	guard.Guard{Rules: []guard.Rule{rule}, Now: time.Now, Log: func(line []byte) { log += string(line) }}.Handle(e, &out)
	var doc struct {
		HookSpecificOutput struct{ PermissionDecisionReason, AdditionalContext string }
		SystemMessage      string
	}
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
			w.t.Fatal(err)
		}
	}
	return answer{out.String(), doc.HookSpecificOutput.PermissionDecisionReason, doc.HookSpecificOutput.AdditionalContext, doc.SystemMessage, log}
}

const (
	plan  = `{"skill":"plan"}`
	agent = `{"subagent_type":"dev-team:doc-review","prompt":"x"}`
	haiku = "claude-haiku-4-5"
	opus5 = "claude-opus-5"
	opus6 = "claude-opus-6" // in no table
)

// The deliberate failure, under the shipped defaults with no variable set: 400,000 tokens of a 1M window.
func TestSkillPastTheCeilingIsDenied(t *testing.T) {
	w := newWorld(t).holds(400_000, opus5)
	for range 3 { // said every time
		got := w.call("Skill", plan)
		for _, want := range []string{"400000 of 1000000 tokens", "effective ceiling of 350000 tokens", "absolute bound", "window detected", "invoking skill 'plan'", "[nudge]", "[blocked: context ceiling]", "/handoff", "recovery skills always run"} {
			if !strings.Contains(got.reason, want) {
				t.Errorf("the reason lacks %q: %s", want, got.reason)
			}
		}
		if strings.Contains(got.raw[:strings.Index(got.raw, "systemMessage")], "DEV_TEAM") || !strings.Contains(got.operator, "DEV_TEAM_CONTEXT_STRICT=off") {
			t.Errorf("who hears of the switches: %s", got.raw)
		}
	}
	if got := w.call("Skill", `{"skill":"dev-team:handoff"}`); got.raw != "" {
		t.Errorf("the way out is closed: %s", got.raw)
	}
}

// What becomes of one call: "" is silence, "deny", or "warn" with the tag that says why it was no denial.
func TestVerdicts(t *testing.T) {
	const unverified, delegation = "warn [not blocked: window unverified]", "warn [not blocked: delegation]"
	for _, c := range []struct {
		n      string
		tokens int
		model  string
		env    string
		tool   string
		input  string
		want   string
	}{
		{"G2", 50_000, haiku, "WINDOW=200000", "Agent", agent, ""},
		{"G3", 100_000, haiku, "WINDOW=200000 STRICT=off", "Agent", agent, "warn"},
		{"G4", 100_000, haiku, "WINDOW=200000 STRICT=on", "Skill", plan, "deny"},
		{"G5", 180_000, haiku, "WINDOW=200000", "Skill", `{"skill":"dev-team:handoff"}`, ""},
		{"G6", 180_000, haiku, "WINDOW=200000", "Read", `{}`, ""},
		{"G7", 180_000, haiku, "CEILING=off", "Skill", plan, ""},
		{"G8", 100_000, haiku, "WINDOW=1000000", "Agent", agent, ""},
		{"G15", 100_000, haiku, "CEILING_PCT=not-a-number WINDOW=200000", "Skill", plan, "deny"},
		{"G9", 60_000, haiku, "CEILING_PCT=25", "Skill", plan, "deny"},
		{"G16", 100_000, haiku, "WINDOW=bogus", "Skill", plan, "deny"},
		{"G61 small", 100_000, haiku, "", "Agent", agent, delegation},
		{"G63 large", 100_000, "claude-opus-4-8", "", "Agent", agent, ""},
		{"G72", 100_000, "claude-sonnet-4-5", "", "Agent", agent, unverified},
		{"G84", 150_000, opus5, "", "Skill", plan, ""},
		{"G85", 900_000, opus5, "", "Skill", plan, "deny"},
		{"G86", 349_999, opus5, "", "Skill", plan, ""},
		{"G83", 350_000, opus5, "", "Skill", plan, "deny"},
		{"G87a", 79_999, haiku, "", "Skill", plan, ""},
		{"G87b", 80_000, haiku, "", "Skill", plan, "deny"},
		{"G88", 50_000, opus5, "ABS_CEILING=40000", "Skill", plan, "deny"},
		{"G89", 200_000, opus5, "ABS_CEILING=1000000", "Skill", plan, ""},
		{"G137", 100_000, haiku, "", "Task", agent, delegation},
		{"an agent by a recovery skill's name", 100_000, haiku, "", "Agent", `{"skill":"handoff","name":"handoff"}`, delegation},
		{"G141", 100_000, haiku, "", "Agent", `[]`, delegation},
		{"G147", 100_000, haiku, "STRICT=off", "Skill", plan, "warn"},
		{"G148", 100_000, haiku, "STRICT= OFF ", "Skill", plan, "warn"},
		{"G158", 100_000, haiku, "STRICT=0", "Skill", plan, "deny"},
		{"G166", 190_000, haiku, "CEILING=OFF", "Skill", plan, ""},
		{"G179", 100_000, opus6, "", "Skill", plan, unverified},
		{"G180", 100_000, opus6, "", "Agent", agent, unverified},
		{"G181", 400_000, opus5, "", "Skill", plan, "deny"},
		{"G182", 100_000, opus6, "WINDOW=200000", "Skill", plan, "deny"},
		{"G183", 50_000, opus6, "", "Skill", plan, ""},
		{"G184", 100_000, opus6, "STRICT=off", "Skill", plan, "warn"},
		{"G186", 190_000, haiku, "", "Agent", agent, delegation},
		{"G188", 190_000, haiku, "", "Skill", plan, "deny"},
		{"G190", 190_000, haiku, "GATE_AGENT=block", "Agent", agent, "deny"},
		{"G193", 190_000, haiku, "GATE_AGENT= BLOCK ", "Task", agent, "deny"},
		{"G195", 190_000, haiku, "GATE_AGENT=on", "Agent", agent, delegation},
		{"G203", 190_000, haiku, "STRICT=off", "Agent", agent, "warn"},
		{"F8 marker", 300_000, "claude-opus-4-5[1m]", "", "Skill", plan, ""},
	} {
		t.Run(c.n, func(t *testing.T) {
			w := newWorld(t).holds(c.tokens, c.model)
			for _, v := range strings.Split(c.env, " ") {
				if name, value, ok := strings.Cut(v, "="); ok {
					w.set(name + "=" + value)
				}
			}
			if strings.Contains(c.env, "= ") { // a value with white space around it
				name, value, _ := strings.Cut(c.env, "=")
				w.set(name + "=" + value)
			}
			got := w.call(c.tool, c.input)
			verdict := ""
			switch {
			case got.reason != "":
				verdict = "deny"
			case got.model != "":
				verdict = "warn"
				for _, tag := range []string{"[not blocked: window unverified]", "[not blocked: delegation]"} {
					if strings.Contains(got.model, tag) {
						verdict += " " + tag
					}
				}
				if got.operator == "" || strings.Contains(got.model, "DEV_TEAM") {
					t.Errorf("%s", got.raw)
				}
			}
			if verdict != c.want {
				t.Errorf("%q, want %q: %s", verdict, c.want, got.raw)
			}
		})
	}
}

func TestNothingMeasuredIsSilence(t *testing.T) {
	for name, prepare := range map[string]func(w *world){
		"G10 no transcript": func(*world) {},
		"G143 no usage":     func(w *world) { w.rows(`{"message":{"model":"claude-opus-5"}}`) },
		"a folder":          func(w *world) { _ = os.Mkdir(w.transcript, 0o700) },
		"E2 compaction": func(w *world) {
			w.rows(`{"message":{"model":"claude-opus-5","usage":{"input_tokens":900000}}}`, `{"type":"system","subtype":"compact_boundary"}`)
		},
		"G170 side chain": func(w *world) {
			w.rows(`{"message":{"usage":{"input_tokens":20000}}}`, `{"isSidechain":true,"message":{"usage":{"input_tokens":300000}}}`)
		},
	} {
		w := newWorld(t)
		w.skill("skills/plan", 500_000) // nor is its weight held against nothing
		prepare(w)
		got := w.call("Skill", plan)
		if name == "G170 side chain" { // that one is measured
			got = w.call("Skill", `{"skill":"none"}`)
		}
		if got.raw != "" {
			t.Errorf("%s: %s", name, got.raw)
		}
		if failed := strings.Contains(got.log, `"decision":"fail-open","why":"transcript-unreadable"`); failed != (name == "a folder") || !failed && got.log != "" {
			t.Errorf("%s: logged %q", name, got.log)
		}
	}
}

func TestBandsOfAClimb(t *testing.T) { // G101, G13, E14
	w := newWorld(t).set("STRICT=off")
	for _, c := range []struct {
		tokens int
		want   string
	}{
		{350_000, "[nudge]"}, {360_000, ""}, {400_000, "[nudge]"}, {440_000, "[run-now]"}, {445_000, ""}, {530_000, "[full-summary]"}, {530_000, ""}, {500_000, ""},
		{900_000, "[full-summary]"}, {910_000, ""}, {100_000, ""}, {360_000, "[nudge]"}, {360_000, ""}, {900_000, "[full-summary]"},
	} {
		got := w.holds(c.tokens, opus5).call("Skill", plan)
		if c.want == "" && got.raw != "" || !strings.Contains(got.model, c.want) {
			t.Errorf("at %d: %q, want %q", c.tokens, got.model, c.want)
		}
		if c.want == "[full-summary]" && !strings.HasPrefix(got.model, c.want) { // G100
			t.Errorf("what to do does not come first: %s", got.model)
		}
	}
	// A compaction begins a new climb.
	store, _ := snapshot.In(w.home)
	id, _ := harness.ParseID("s")
	if err := store.WriteMarker(id, "auto", time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := w.call("Skill", plan); !strings.Contains(got.model, "[full-summary]") {
		t.Errorf("after a compaction: %q", got.raw)
	}
	if got := w.call("Skill", plan); got.raw != "" {
		t.Errorf("twice after a compaction: %q", got.raw)
	}
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(store.MarkerPath(id), later, later); err != nil {
		t.Fatal(err)
	}
	if got := w.call("Skill", plan); !strings.Contains(got.model, "[full-summary]") {
		t.Errorf("after another compaction: %q", got.raw)
	}
}

// E12: a read-only or hostile state folder neither silences the ceiling nor is written through.
func TestStateInTheWay(t *testing.T) {
	w := newWorld(t).set("STRICT=off").holds(400_000, opus5)
	state := filepath.Join(w.home, ".claude", "context-guard", "state")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "ceiling"), []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := w.call("Skill", plan); got.model == "" {
			t.Error("silent")
		}
	}
	if err := os.Remove(filepath.Join(state, "ceiling")); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(w.home, "target")
	if err := os.MkdirAll(filepath.Join(state, "ceiling", "s"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(state, "ceiling", "s", "8")); err != nil {
		t.Fatal(err)
	}
	w.call("Skill", plan)
	if _, err := os.Stat(target); err == nil {
		t.Error("wrote through a link")
	}
}

// Where no claim can be made every call warns: below a file, for a name that is too long, and without a home.
func TestWarnsWithoutClaims(t *testing.T) {
	long := strings.Repeat("x", 255)
	for name, prepare := range map[string]func(w *world){
		"a file for the state folder": func(w *world) {
			if err := os.MkdirAll(filepath.Join(w.home, ".claude", "context-guard"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(w.home, ".claude", "context-guard", "state"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"no home": func(w *world) { delete(w.vars, "HOME") },
		"a name as long as names get": func(w *world) {
			if err := os.Rename(filepath.Join(w.home, "skills", "heavy"), filepath.Join(w.home, "skills", long)); err != nil {
				t.Skip(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).set("STRICT=off")
			w.skill("skills/heavy", 60_000)
			work := t.TempDir()
			t.Chdir(work)
			prepare(w)
			skill := "heavy"
			if strings.HasPrefix(name, "a name") {
				skill = long
			}
			for range 2 {
				if got := w.holds(300_000, opus5).call("Skill", fmt.Sprintf(`{"skill":%q}`, skill)); got.model == "" {
					t.Error("the weight was silenced")
				}
			}
			for range 2 {
				if got := w.holds(400_000, opus5).call("Skill", plan); got.model == "" && skill == "heavy" {
					t.Error("the warning was silenced")
				}
			}
			if left := tree(t, work); left != "" {
				t.Errorf("left in the working folder: %s", left)
			}
		})
	}
}

// What stands among the claims and is none stays there when a climb ends; a link goes without what it points to.
func TestTheEndOfAClimbTakesClaimsAlone(t *testing.T) {
	w := newWorld(t).set("STRICT=off")
	claims := filepath.Join(w.home, ".claude", "context-guard", "state", "ceiling", "s")
	if err := os.MkdirAll(filepath.Join(claims, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	precious := filepath.Join(w.home, "precious")
	for _, path := range []string{precious, filepath.Join(claims, "note")} {
		if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(precious, filepath.Join(claims, "7")); err != nil {
		t.Skip(err)
	}
	w.holds(400_000, opus5).call("Skill", plan)
	if got := tree(t, claims); got != " /7 /8 /folder /note" {
		t.Errorf("in a climb: %q", got)
	}
	if info, err := os.Stat(filepath.Join(claims, "8")); err != nil || info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		t.Errorf("others may read a claim: %v, %v", info, err)
	}
	w.holds(100_000, opus5).call("Skill", plan)
	if got := tree(t, claims); got != " /folder /note" {
		t.Errorf("after it: %q", got)
	}
	if text, err := os.ReadFile(precious); err != nil || string(text) != "text" {
		t.Errorf("behind the link: %q, %v", text, err)
	}
}

// E12: claims are neither made nor removed behind a link, be it for one context or for all, and no call is silenced.
func TestClaimsFollowNoLink(t *testing.T) {
	for _, link := range []string{"ceiling", "ceiling/s", "ceiling/s+loads"} {
		t.Run(link, func(t *testing.T) {
			w := newWorld(t).set("STRICT=off")
			w.skill("skills/heavy", 60_000)
			precious := filepath.Join(w.home, "precious")
			for _, dir := range []string{"s", "s+loads"} {
				if err := os.MkdirAll(filepath.Join(precious, dir), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for _, file := range []string{"0", "s/0", "s+loads/0"} { // empty, as claims are
				if err := os.WriteFile(filepath.Join(precious, file), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			at := filepath.Join(w.home, ".claude", "context-guard", "state", link)
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(precious, at); err != nil {
				t.Skip(err)
			}
			before := tree(t, precious)
			for range 2 {
				if got := w.holds(400_000, opus5).call("Skill", plan); link != "ceiling/s+loads" && got.model == "" {
					t.Error("the warning was silenced")
				}
				if got := w.holds(300_000, opus5).call("Skill", `{"skill":"heavy"}`); link != "ceiling/s" && got.model == "" {
					t.Error("the weight was silenced")
				}
			}
			if after := tree(t, precious); after != before {
				t.Errorf("behind the link there was %s, and is %s", before, after)
			}
		})
	}
}

func tree(t *testing.T, root string) string {
	t.Helper()
	var paths []string
	if err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		paths = append(paths, strings.TrimPrefix(path, root))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(paths, " ")
}

// skill writes a skill of that many tokens.
func (w *world) skill(dir string, tokens int) {
	w.t.Helper()
	path := filepath.Join(w.home, dir, "SKILL.md")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Repeat([]byte("word"), tokens), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// The hooks of one batch run at once: one warning for all.
func TestOneWarningForABatch(t *testing.T) {
	for range 30 {
		w := newWorld(t).holds(190_000, haiku)
		start, said := make(chan struct{}), make(chan bool)
		const calls = 8
		for range calls {
			go func() {
				<-start
				said <- w.call("Agent", agent).raw != ""
			}()
		}
		close(start)
		n := 0
		for range calls {
			if <-said {
				n++
			}
		}
		if n != 1 {
			t.Fatalf("%d warnings for one batch", n)
		}
	}
}

// Contexts that are not warned any more leave nothing behind; those that are keep their claims.
func TestOldClaimsArePruned(t *testing.T) {
	w := newWorld(t).holds(190_000, haiku)
	root := filepath.Join(w.home, ".claude", "context-guard", "state", "ceiling")
	for dir, age := range map[string]time.Duration{"old": snapshot.PruneAge + time.Hour, "young": snapshot.PruneAge - time.Hour} {
		path := filepath.Join(root, dir)
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "8"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	ago := time.Now().Add(-snapshot.PruneAge - time.Hour)
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil { // nobody's claims
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(root, "file"), ago, ago); err != nil {
		t.Fatal(err)
	}
	w.call("Agent", agent)
	if got := tree(t, root); got != " /file /s /s/2019 /young /young/8" {
		t.Errorf("left: %q", got)
	}
	if info, err := os.Stat(filepath.Join(root, "s")); err != nil || info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		t.Errorf("others may list the claims: %v, %v", info, err)
	}
}

// A session id that is no part of a path keeps no state: no two such sessions may silence each other.
func TestUnsafeSessionKeepsNoState(t *testing.T) {
	w := newWorld(t).holds(190_000, haiku)
	for range 2 {
		if got := w.call("Agent", agent, `,"session_id":"../x"`); got.model == "" {
			t.Error("silent")
		}
	}
	if _, err := os.Stat(filepath.Join(w.home, ".claude")); err == nil {
		t.Error("state was kept")
	}
}

// Nor does it read any: a snapshot without an id is nobody's.
func TestUnsafeSessionHasNoSnapshot(t *testing.T) {
	w := newWorld(t).holds(150_000, opus6)
	store, _ := snapshot.In(w.home)
	if err := os.MkdirAll(store.Dir(), 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"captured_at":%q,"session_id":"","context_window":{"context_window_size":200000,"current_usage":{"input_tokens":1}}}`, time.Now().UTC().Format(snapshot.TimeFormat))
	if err := os.WriteFile(store.Path(harness.ID{}), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := w.call("Skill", plan, `,"session_id":"../x"`); !strings.Contains(got.model, "window default") {
		t.Errorf("%s", got.raw)
	}
}

// Every context has a climb of its own, at whatever figures the others are; a compaction of the main thread is none of
// a sub-agent's.
func TestEveryContextIsWarned(t *testing.T) {
	w := newWorld(t).holds(360_000, opus5)
	for _, id := range []string{"a1", "a2"} {
		own := filepath.Join(w.home, "s", "subagents", "agent-"+id+".jsonl")
		if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(own, []byte(`{"isSidechain":true,"message":{"model":"claude-opus-5","usage":{"input_tokens":360000}}}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, more := range []string{"", `,"agent_id":"a1"`, `,"agent_id":"a2"`} {
		for _, warns := range []bool{true, false} {
			if got := w.call("Agent", agent, more); (got.model != "") != warns {
				t.Errorf("%q warns: %v", more, !warns)
			}
		}
	}
	store, _ := snapshot.In(w.home)
	id, _ := harness.ParseID("s")
	if err := store.WriteMarker(id, "auto", time.Now()); err != nil {
		t.Fatal(err)
	}
	for more, warns := range map[string]bool{"": true, `,"agent_id":"a1"`: false} {
		if got := w.call("Agent", agent, more); (got.model != "") != warns {
			t.Errorf("after the main thread's compaction %q warns: %v", more, !warns)
		}
	}
}

// More recovery skills can be named in the user's file; the five that are built in stay.
func TestConfiguredRecoverySkill(t *testing.T) {
	w := newWorld(t).holds(900_000, opus5)
	file := filepath.Join(w.home, ".claude", "plimsoll", "config.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"ceiling":{"recovery_skills":["save-state"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for skill, denied := range map[string]bool{"save-state": false, "mine:/Save-State": false, "handoff": false, "plan": true} {
		if got := w.call("Skill", fmt.Sprintf(`{"skill":%q}`, skill)); got.denied() != denied || !denied && got.raw != "" {
			t.Errorf("%s: %s", skill, got.raw)
		}
	}
}

func TestMeasuredWindow(t *testing.T) {
	w := newWorld(t).holds(150_000, opus6)
	store, _ := snapshot.In(w.home)
	id, _ := harness.ParseID("s")
	if err := os.MkdirAll(store.Dir(), 0o700); err != nil {
		t.Fatal(err)
	}
	put := func(window int, age time.Duration) {
		text := fmt.Sprintf(`{"captured_at":%q,"session_id":"s","context_window":{"context_window_size":%d,"total_input_tokens":1,"total_output_tokens":1,"current_usage":{"input_tokens":1}}}`,
			time.Now().Add(-age).UTC().Format(snapshot.TimeFormat), window)
		if err := os.WriteFile(store.Path(id), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(200_000, 0)
	if got := w.call("Skill", plan); !strings.Contains(got.reason, "window measured") {
		t.Errorf("fresh snapshot: %s", got.raw)
	}
	put(1_000_000, 0)
	if got := w.call("Skill", plan); got.raw != "" {
		t.Errorf("a window of 1M: %s", got.raw)
	}
	put(200_000, time.Hour)
	if got := w.call("Skill", plan); !strings.Contains(got.model, "window default") {
		t.Errorf("stale snapshot: %s", got.raw)
	}
}

func TestSubagentIsJudgedOnItsOwnTranscript(t *testing.T) { // E5, F27
	w := newWorld(t).holds(900_000, opus5)
	inside := `,"agent_id":"a1"`
	if got := w.call("Skill", plan, inside); got.raw != "" {
		t.Errorf("no transcript of its own: %s", got.raw)
	}
	own := filepath.Join(w.home, "s", "subagents", "agent-a1.jsonl")
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		t.Fatal(err)
	}
	put := func(tokens int) {
		if err := os.WriteFile(own, fmt.Appendf(nil, `{"type":"assistant","isSidechain":true,"message":{"model":"claude-opus-5","usage":{"input_tokens":%d}}}`+"\n", tokens), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(20_000)
	if got := w.call("Skill", plan, inside); got.raw != "" {
		t.Errorf("a small sub-agent of a full parent: %s", got.raw)
	}
	put(360_000)
	if got := w.call("Skill", plan, inside); !strings.Contains(got.reason, "360000 of 1000000") {
		t.Errorf("a full sub-agent: %s", got.raw)
	}
	if got := w.call("Skill", plan, `,"agent_id":"../s"`); got.raw != "" {
		t.Errorf("hostile agent id: %s", got.raw)
	}
	// The main thread's measured window is not the sub-agent's, and its warnings are none of the sub-agent's.
	store, _ := snapshot.In(w.home)
	id, _ := harness.ParseID("s")
	if err := os.MkdirAll(store.Dir(), 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"captured_at":%q,"session_id":"s","context_window":{"context_window_size":5000000,"current_usage":{"input_tokens":1}}}`, time.Now().UTC().Format(snapshot.TimeFormat))
	if err := os.WriteFile(store.Path(id), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, more := range []string{"", inside} {
		want := "360000 of 1000000 tokens"
		if more == "" {
			w.holds(360_000, opus5)
			want = "360000 of 5000000 tokens"
		}
		if got := w.call("Agent", agent, more); !strings.Contains(got.model, want) {
			t.Errorf("%q: %q, want %q", more, got.model, want)
		}
		if got := w.call("Agent", agent, more); got.raw != "" {
			t.Errorf("%q: said twice", more)
		}
	}
}

func TestWeightOfTheLoad(t *testing.T) { // F99
	w := newWorld(t).holds(300_000, opus5)
	for dir, tokens := range map[string]int{
		"skills/heavy": 60_000, "skills/Capital": 60_000, "skills/light": 1_000, "skills/brim": 50_000, "skills/below": 49_999,
		"user/own": 60_000, "skills/both": 1_000, "user/both": 60_000, // the project's goes before the user's
		"cache/market/plug/1.0/skills/deep": 70_000, "cache/market/twin/1.0/skills/deep": 70_000, "cache/market/plug/1.0/skills/slashed": 70_000,
		"cache/market/plug/1.0/skills/inner": 70_000, "cache/market/skills/outside": 70_000,
		// Of an installed plugin's versions the newest counts, by its time.
		"cache/market/shrunk/1.0/skills/deep": 70_000, "cache/market/shrunk/2.0/skills/deep": 1_000,
		"cache/market/grown/1.0/skills/deep": 1_000, "cache/market/grown/2.0/skills/deep": 70_000,
	} {
		w.skill(dir, tokens)
	}
	old := time.Now().Add(-time.Hour)
	for _, plugin := range []string{"shrunk", "grown"} {
		if err := os.Chtimes(filepath.Join(w.home, "cache", "market", plugin, "1.0"), old, old); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		skill string
		warns bool
	}{
		{"light", false}, {"heavy", true}, {"heavy", false}, {"/Capital", true}, {"brim", true}, {"below", false}, {"own", true}, {"both", false},
		{"plug:deep", true}, {"plug:deep", false}, {"twin:deep", true}, {"/plug:slashed", true}, {"plug:sub:inner", true},
		{"shrunk:deep", false}, {"grown:deep", true}, {"other:deep", false}, {"deep", false}, {"plug:light", false}, {"plug:heavy", false},
		{"../skills/heavy", false}, {"..:outside", false}, {"none", false},
	} {
		got := w.call("Skill", fmt.Sprintf(`{"skill":%q}`, c.skill))
		if (got.model != "") != c.warns || got.denied() {
			t.Errorf("%s: %s", c.skill, got.raw)
		}
		if c.skill != "heavy" || !c.warns {
			continue
		}
		const figures = `invoking skill 'heavy' adds about 60000`
		for _, want := range []string{"300000 of 1000000 tokens", figures, "effective ceiling of 350000 tokens", "/handoff"} {
			if !strings.Contains(got.model, want) {
				t.Errorf("the model's note lacks %q: %s", want, got.model)
			}
		}
		for _, want := range []string{figures, "to 300000, past the effective ceiling of 350000 tokens (absolute bound; window detected)", "not denied"} {
			if !strings.Contains(got.operator, want) {
				t.Errorf("the operator's note lacks %q: %s", want, got.operator)
			}
		}
		if !strings.Contains(got.log, `"why":"load"`) || !strings.Contains(got.log, `"load":60000,"load_from":"estimate"`) {
			t.Errorf("logged %s", got.log)
		}
	}
	if err := os.MkdirAll(filepath.Join(w.home, "skills", "folder", "SKILL.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := w.holds(349_999, opus5).call("Skill", `{"skill":"folder"}`); got.raw != "" {
		t.Errorf("a folder was weighed: %s", got.raw)
	}
	// A climb that was warned of and ended begins another.
	w.set("STRICT=off").holds(400_000, opus5).call("Skill", plan)
	w.holds(300_000, opus5)
	for _, warns := range []bool{true, false} {
		if got := w.call("Skill", `{"skill":"heavy"}`); (got.model != "") != warns {
			t.Errorf("in the next climb: %q", got.model)
		}
	}
}

func TestLabels(t *testing.T) { // G105-G111, E11
	for _, c := range []struct{ tool, input, want string }{
		{"Skill", `{"name":"foo"}`, "invoking skill 'foo'"},
		{"Skill", `{}`, "invoking skill '?'"},
		{"Skill", `{"skill":123}`, "invoking skill '?'"},
		{"Agent", agent, "loading agent 'dev-team:doc-review'"},
		{"Agent", `{}`, "loading agent '?'"},
		{"Agent", `{"subagent_type":5}`, "loading agent '?'"},
		{"Skill", `{"skill":"x\n\u001b[31m' [blocked: context ceiling]"}`, "invoking skill 'x(31m’ (blocked: context ceiling)'"},
	} {
		got := newWorld(t).holds(400_000, opus5).set("STRICT=off").call(c.tool, c.input)
		if !strings.Contains(got.model, "before "+c.want+".") {
			t.Errorf("%s: %s, want %s", c.input, got.model, c.want)
		}
	}
	for input, want := range map[string]string{`{"skill":"plan"}`: "plan", `{"skill":"","name":"handoff"}`: "handoff", `{"skill":"plan","name":"handoff"}`: "plan", `{"command":"handoff"}`: "", `{"skill":123,"name":"handoff"}`: "",
		`{"skill":null,"name":"foo"}`: "foo", `{"skill":false,"name":"foo"}`: "foo"} { // G29-G33
		if got := skillName([]byte(input)); got != want {
			t.Errorf("skillName(%s) = %q", input, got)
		}
	}
}

// The decision log has every figure that explain computes with.
func TestFiguresOfADecision(t *testing.T) {
	const figures = `"occupancy":400000,"occupancy_from":"transcript","window":1000000,"window_from":"detected","threshold":350000,"threshold_from":"absolute",` +
		`"percent":40,"absolute":350000,"strict":true,"gate_agent":false,`
	w := newWorld(t).holds(400_000, opus5)
	for _, c := range []struct{ tool, input, want string }{
		{"Skill", plan, `"decision":"denial",` + figures + `"what":"invoking skill 'plan'"}`},
		{"Agent", agent, `"decision":"note",` + figures + `"what":"loading agent 'dev-team:doc-review'"}`},
	} {
		if got := w.call(c.tool, c.input); !strings.HasSuffix(got.log, c.want+"\n") {
			t.Errorf("%s: logged %s, want %s", c.tool, got.log, c.want)
		}
	}
}

// Who is told what, G98-G104 adapted: figures, advice and the way out to both; names of variables, and the menu of exits,
// to the operator alone.
func TestWhoIsTold(t *testing.T) {
	switches := []string{"DEV_TEAM_CONTEXT_CEILING_PCT", "DEV_TEAM_CONTEXT_ABS_CEILING", "DEV_TEAM_CONTEXT_WINDOW corrects", "DEV_TEAM_CONTEXT_STRICT=off", "DEV_TEAM_CONTEXT_CEILING=off", "~/.claude/plimsoll/config.json"}
	const known, window, gate = "DEV_TEAM_CONTEXT_", "DEV_TEAM_CONTEXT_WINDOW tells", "DEV_TEAM_CONTEXT_GATE_AGENT=block"
	for _, c := range []struct {
		n               string
		tokens          int
		model, env      string
		tool            string
		toModel         []string
		toOperator, not []string // not: of the operator's
	}{
		{"denied", 400_000, opus5, "", "Skill", []string{"[nudge] Consider /handoff", "or write a hand-off note by hand with goal, state, findings and next step", "in a fresh session", "that loads no skill goes on"},
			append([]string{"[blocked: context ceiling]", "/handoff and then /clear"}, switches...), []string{"GATE_AGENT"}},
		{"a sub-agent is denied", 400_000, opus5, "GATE_AGENT=block", "Agent", []string{"[blocked: context ceiling] Sub-agents are held to the ceiling", "starts no sub-agent goes on"},
			append([]string{"[blocked: context ceiling]", "DEV_TEAM_CONTEXT_GATE_AGENT=warn lets"}, switches...), []string{gate}},
		{"denied at the end", 900_000, opus5, "", "Skill", []string{"[full-summary] Write a full summary of goal, state, findings and next step to a durable note"}, switches, nil},
		{"delegation", 400_000, opus5, "", "Agent", []string{"[nudge] Consider /handoff", "/handoff saves the work"}, append([]string{"[not blocked: delegation]", gate}, switches...), []string{window}},
		{"delegation, run now", 440_000, opus5, "", "Agent", []string{"[run-now] Run /handoff now", "/handoff saves the work"}, append([]string{"[not blocked: delegation]", gate}, switches...), []string{window}},
		{"delegation at the end", 900_000, opus5, "", "Agent", []string{"[full-summary] Write a full summary", "/handoff saves the work"}, []string{"[not blocked: delegation]", gate}, switches}, // G100
		{"unverified", 100_000, opus6, "", "Skill", []string{"/handoff saves the work"}, append([]string{"[not blocked: window unverified]", window}, switches...), []string{gate}},
		{"unverified at the end", 150_000, opus6, "", "Skill", nil, []string{"[not blocked: window unverified]", window}, switches},
		{"by choice", 400_000, opus5, "STRICT=off", "Skill", []string{"/handoff saves the work"}, switches, []string{gate, window}},
		{"by choice at the end", 900_000, opus5, "STRICT=off", "Skill", []string{"/handoff saves the work"}, nil, []string{known}},
	} {
		w := newWorld(t).holds(c.tokens, c.model)
		if c.env != "" {
			w.set(c.env)
		}
		got := w.call(c.tool, plan)
		model := got.reason + got.model
		for _, want := range append(c.toModel, fmt.Sprintf("%d of ", c.tokens), "effective ceiling of ", "/handoff") {
			if !strings.Contains(model, want) {
				t.Errorf("%s: the model is not told %q: %s", c.n, want, model)
			}
		}
		for _, want := range append(c.toOperator, "plimsoll: ", fmt.Sprintf("%d of ", c.tokens), "effective ceiling of ", " bound; window ") {
			if !strings.Contains(got.operator, want) {
				t.Errorf("%s: the operator is not told %q: %s", c.n, want, got.operator)
			}
		}
		for _, no := range c.not {
			if strings.Contains(got.operator, no) {
				t.Errorf("%s: the operator is told %q: %s", c.n, no, got.operator)
			}
		}
		for _, no := range []string{known, "config.json", "/clear", "/compact"} {
			if strings.Contains(model, no) {
				t.Errorf("%s: the model is told %q: %s", c.n, no, model)
			}
		}
	}
}
