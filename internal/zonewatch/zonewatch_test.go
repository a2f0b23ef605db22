package zonewatch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"plimsoll/internal/guard"
	"plimsoll/internal/harness"
	"plimsoll/internal/snapshot"
)

// world is a home with one session, and the rules as they are wired.
type world struct {
	t     *testing.T
	home  string
	w     Watch
	rules []guard.Rule
}

func newWorld(t *testing.T, grace int) *world {
	t.Helper()
	home := t.TempDir()
	store, _ := snapshot.In(home)
	w := Watch{Store: store, State: filepath.Join(home, "state"), Now: time.Now}
	return &world{t, home, w, []guard.Rule{Crossing(w), Marker(w), Gate(w, grace)}}
}

func id(s string) harness.ID {
	id, _ := harness.ParseID(s)
	return id
}

func (w *world) put(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// used places a fresh snapshot.
func (w *world) used(percent int) {
	w.put(w.w.Store.Path(id("s")), fmt.Sprintf(`{"captured_at":%q,"session_id":"s","context_window":{"used_percentage":%d,"current_usage":{"input_tokens":1}}}`,
		time.Now().UTC().Format(snapshot.TimeFormat), percent))
}

type answer struct {
	raw                     string
	model, operator, reason string
}

// fire sends one payload through the rules.
func (w *world) fire(payload string) answer {
	w.t.Helper()
	e, err := harness.Decode([]byte(payload))
	if err != nil {
		w.t.Fatal(err)
	}
	var out bytes.Buffer
	guard.Guard{Rules: w.rules, Now: time.Now}.Handle(e, &out)
	var doc struct {
		HookSpecificOutput struct{ HookEventName, AdditionalContext, PermissionDecision, PermissionDecisionReason string }
		SystemMessage      string
	}
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
			w.t.Fatalf("%q: %v", &out, err)
		}
	}
	h := doc.HookSpecificOutput
	if h.PermissionDecision != "" && h.PermissionDecision != "deny" {
		w.t.Errorf("decision %q", h.PermissionDecision)
	}
	return answer{out.String(), h.AdditionalContext, doc.SystemMessage, h.PermissionDecisionReason}
}

func (w *world) batch() answer { return w.fire(`{"session_id":"s","hook_event_name":"PostToolBatch"}`) }
func (w *world) prompt() answer {
	return w.fire(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"x"}`)
}
func (w *world) write(path string) answer {
	return w.fire(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":` + fmt.Sprintf("%q", path) + `}}`)
}

func (w *world) state(name string) string {
	data, _ := os.ReadFile(filepath.Join(w.w.State, name))
	return string(data)
}

// A script is a row of observations: a percentage, and whether the zone it is in is reported.
func TestCrossingSequences(t *testing.T) {
	for _, c := range []struct {
		n     string
		steps string // percent, with ! when it is reported
		armed string
	}{
		{"I1, I7", "90! 90", "dumb"},
		{"I8-I10", "90! 10 60!", "acceptable"},
		{"I11-I15", "90! 60 90 60 90", "dumb"},
		{"I16-I19", "90! 10 90!", "dumb"},
		{"I20-I27", "60! 10 60! 60 10 60! 60", "acceptable"},
		{"first smart", "10 10", "smart"},
		{"up the ladder", "10 60! 90! 99", "dumb"},
		{"smart edge, accepted", "50 51! 50 51!", "acceptable"},
		{"B21", "60! 10 90!", "dumb"},
	} {
		t.Run(c.n, func(t *testing.T) {
			w := newWorld(t, 20)
			for i, step := range strings.Fields(c.steps) {
				text, reported := strings.CutSuffix(step, "!")
				var percent int
				fmt.Sscan(text, &percent)
				w.used(percent)
				got := w.batch()
				if i%2 == 1 {
					got = answer{raw: got.raw + w.prompt().raw} // whichever event comes first
				}
				if (got.raw != "") != reported {
					t.Fatalf("step %d (%s): answered %q", i, step, got.raw)
				}
			}
			if got := w.state("s.armed"); got != c.armed+"\n" {
				t.Errorf("armed %q, want %s", got, c.armed)
			}
		})
	}
}

func TestWhatEachAudienceHears(t *testing.T) {
	for _, c := range []struct {
		percent int
		marked  bool
		zone    string
	}{{60, false, "acceptable"}, {90, false, "dumb"}, {10, true, "dumb"}} {
		w := newWorld(t, 20)
		w.used(c.percent)
		limit := 400
		if c.marked {
			limit = 480
			w.put(w.w.Store.MarkerPath(id("s")), "{}")
		}
		got := w.prompt()
		if !strings.Contains(got.raw, `"hookEventName":"UserPromptSubmit"`) || strings.Count(got.raw, "\n") != 1 { // I2, I10
			t.Errorf("%q", got.raw)
		}
		for _, want := range []string{"crossed from the unobserved into the " + c.zone, "context zone", "measurement rather than an instruction", "Do not volunteer", "operator's call", "Keep working"} {
			if !strings.Contains(got.model, want) { // I3, I4
				t.Errorf("the model does not hear %q: %s", want, got.model)
			}
		}
		for _, never := range []string{"/compact", "/clear", "/handoff", "has been shown", "shown to", "zones.json", "zone_hook_mode", "CLAUDE_"} {
			if strings.Contains(got.model, never) {
				t.Errorf("the model hears %q: %s", never, got.model)
			}
		}
		if dumb := strings.Contains(got.model, "durable note"); dumb != (c.zone == "dumb") {
			t.Errorf("durable note: %v in %s", dumb, c.zone)
		}
		for _, want := range []string{"crossed from the unobserved into the " + c.zone, "/compact", "/clear", "/handoff", "go on", "yours to choose", "hand-written resume note"} {
			if !strings.Contains(got.operator, want) { // I5, I6
				t.Errorf("the operator does not hear %q: %s", want, got.operator)
			}
		}
		if strings.Contains(got.raw, "degraded") != c.marked { // I40
			t.Errorf("degraded label: %s", got.raw)
		}
		if n, m := utf8.RuneCountInString(got.model), utf8.RuneCountInString(got.operator); n > limit || m > 900 || n == 0 { // I38
			t.Errorf("%d characters for the model, %d for the operator", n, m)
		}
		// Byte-stable: the same crossing in another session gives the same bytes (I57-I59).
		again := newWorld(t, 20)
		again.used(c.percent + 1)
		if c.marked {
			again.put(again.w.Store.MarkerPath(id("s")), "{}")
		}
		if other := again.prompt(); other.raw != got.raw {
			t.Errorf("the same crossing reads\n%s\nand\n%s", got.raw, other.raw)
		}
	}
}

func TestSilence(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(w *world)
		payload string
	}{
		"I34 no snapshot":        {func(*world) {}, `{"session_id":"s","hook_event_name":"PostToolBatch"}`},
		"I36 hostile id":         {func(w *world) { w.used(90) }, `{"session_id":"../../etc","hook_event_name":"PostToolBatch"}`},
		"numeric id":             {func(w *world) { w.used(90) }, `{"session_id":5,"hook_event_name":"PostToolBatch"}`},
		"sub-agent":              {func(w *world) { w.used(90) }, `{"session_id":"s","agent_id":"a1","hook_event_name":"PostToolBatch"}`},
		"another event":          {func(w *world) { w.used(90) }, `{"session_id":"s","hook_event_name":"Stop"}`},
		"sub-agent's gate":       {func(w *world) { w.used(90) }, `{"session_id":"s","agent_id":"a1","hook_event_name":"PreToolUse","tool_name":"Write"}`},
		"sub-agent's compaction": {func(w *world) { w.used(90) }, `{"session_id":"s","agent_id":"a1","hook_event_name":"PostCompact"}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 0)
			c.prepare(w)
			if got := w.fire(c.payload); got.raw != "" {
				t.Errorf("answered %q", got.raw)
			}
			if entries, _ := os.ReadDir(w.w.State); len(entries) > 0 || w.w.Store.Compacted(id("s")) {
				t.Errorf("state %v", entries)
			}
		})
	}
}

// A background sub-agent that finishes arrives as a prompt, and is heard like any other.
func TestTaskNotificationIsHeard(t *testing.T) {
	w := newWorld(t, 20)
	w.used(90)
	if got := w.fire(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"<task-notification>done</task-notification>"}`); got.model == "" {
		t.Error("silent")
	}
}

func TestOlderMarks(t *testing.T) {
	for _, c := range []struct {
		n, seen, armed string
		percent        int
		reported       bool
		after          string
	}{
		{"I28-I29", "acceptable\n", "", 90, true, "dumb\n"},
		{"I30-I31", "", "dumb 0\n", 90, false, "dumb\n"},
		{"I32", "", "acceptable 1\n", 60, false, "acceptable\n"},
		{"B23 empty", "", "\n", 60, true, "acceptable\n"},
		{"garbage", "%%%", "08\x00", 60, true, "acceptable\n"},
	} {
		w := newWorld(t, 20)
		if c.seen != "" {
			w.put(filepath.Join(w.w.State, "s.zone"), c.seen)
		}
		if c.armed != "" {
			w.put(filepath.Join(w.w.State, "s.armed"), c.armed)
		}
		w.used(c.percent)
		if got := w.batch(); (got.raw != "") != c.reported {
			t.Errorf("%s: answered %q", c.n, got.raw)
		}
		if got := w.state("s.armed"); got != c.after {
			t.Errorf("%s: armed %q", c.n, got)
		}
	}
}

// What cannot be remembered is not reported, and comes as soon as it can be (I42-I51, B3, B22).
func TestObstructedState(t *testing.T) {
	for _, mark := range []string{"s.zone", "s.armed"} {
		w := newWorld(t, 20)
		block := filepath.Join(w.w.State, mark)
		if err := os.MkdirAll(filepath.Join(block, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
		w.used(90)
		for range 3 {
			if got := w.batch(); got.raw != "" {
				t.Errorf("%s in the way: %q", mark, got.raw)
			}
		}
		if err := os.RemoveAll(block); err != nil {
			t.Fatal(err)
		}
		if got := w.batch(); got.model == "" {
			t.Errorf("%s out of the way again: silent", mark)
		}
	}
	w := newWorld(t, 0)
	w.put(w.w.State, "a file where the folder belongs")
	w.used(90)
	if got := w.batch(); got.raw != "" {
		t.Errorf("no state folder: %q", got.raw)
	}
	if got := w.write("x"); got.raw != "" {
		t.Errorf("a gate that cannot count denied: %q", got.raw)
	}
}

// An unchanged zone costs no write (I52-I55, B33).
func TestSteadyStateIsNotRewritten(t *testing.T) {
	w := newWorld(t, 20)
	w.used(90)
	w.batch()
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"s.zone", "s.armed", "s.lock"} {
		if err := os.Chtimes(filepath.Join(w.w.State, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	w.used(91)
	w.batch()
	for _, name := range []string{"s.zone", "s.armed", "s.lock"} {
		if info, _ := os.Stat(filepath.Join(w.w.State, name)); time.Since(info.ModTime()) < time.Minute {
			t.Errorf("%s was written again", name)
		}
	}
}

// New bands judge the old snapshot (I60-I62); malformed ones are the shipped ones, without a word (I82-I86).
func TestTuning(t *testing.T) {
	w := newWorld(t, 20)
	w.used(60)
	w.batch()
	w.put(w.w.Store.ZonesPath(), `{"smart_max_used_percentage":5,"acceptable_max_used_percentage":20}`)
	if got := w.batch(); !strings.Contains(got.model, "from the acceptable into the dumb") {
		t.Errorf("new bands: %q", got.raw)
	}
	w = newWorld(t, 20)
	w.put(w.w.Store.ZonesPath(), "{")
	w.used(90)
	if got := w.batch(); !strings.Contains(got.model, "dumb") || strings.Contains(got.raw, "malformed") {
		t.Errorf("malformed bands: %q", got.raw)
	}
}

func TestGateBudget(t *testing.T) {
	w := newWorld(t, 2)
	w.used(95)
	for call, want := range []bool{false, false, true, true} { // G2-G4
		if got := w.write("/src/a.go"); (got.reason != "") != want {
			t.Fatalf("call %d: %q", call+1, got.raw)
		}
	}
	got := w.write("/src/a.go")
	for _, want := range []string{"blocking", "dumb", "(2 matched calls)", "Write", "handoff", "reads", "Bash", "Skill"} { // G5, 5.4
		if !strings.Contains(got.reason, want) {
			t.Errorf("the reason lacks %q: %s", want, got.reason)
		}
	}
	if strings.Contains(got.reason, "zone_hook_mode") || !strings.Contains(got.operator, "zone_hook_mode") {
		t.Errorf("who hears of the switch: %s / %s", got.reason, got.operator)
	}
	for _, path := range []string{"/x/handoffs/a.md", "/x/HandOff/a", "handoff.md"} { // G6, G22, G25
		if got := w.write(path); got.raw != "" {
			t.Errorf("%s: %q", path, got.raw)
		}
	}
	w.used(10) // G8, G9
	if got := w.write("/src/a.go"); got.raw != "" {
		t.Errorf("smart: %q", got.raw)
	}
	w.used(95)
	for call, want := range []bool{false, false, true} {
		if got := w.write("/src/a.go"); (got.reason != "") != want {
			t.Errorf("fresh budget, call %d: %q", call+1, got.raw)
		}
	}
	w.fire(`{"session_id":"s","hook_event_name":"PostCompact","trigger":"auto"}`) // M7: a fresh budget, no disarmed gate
	w.used(10)
	for call, want := range []bool{false, false, true} { // G15
		if got := w.write("/src/a.go"); (got.reason != "") != want {
			t.Errorf("after compaction, call %d: %q", call+1, got.raw)
		}
	}
}

func TestGateTouchesOnlyItsTools(t *testing.T) {
	for tool, want := range map[string]bool{"Write": true, "Edit": true, "NotebookEdit": true, "Agent": true, "Task": true, "Workflow": true, "Bash": false, "Read": false, "Skill": false, "write": false, "": false} {
		w := newWorld(t, 0)
		w.used(95)
		got := w.fire(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"` + tool + `","tool_input":{}}`)
		if (got.reason != "") != want {
			t.Errorf("%s: %q", tool, got.raw)
		}
	}
}

func TestHandOffExemption(t *testing.T) {
	for input, denied := range map[string]bool{
		`{"file_path":"/a/handoff/x"}`:                        false,
		`{"content":"handoff","file_path":"/a"}`:              true, // G26
		`{"notebook_path":"/a/handoff.ipynb"}`:                false,
		`{"file_path":"","notebook_path":"/a/handoff.ipynb"}`: true, // G27
		`{"file_path":["handoff"]}`:                           true, // G31
		`{"file_path":5,"notebook_path":"handoff"}`:           true,
		`{"file_path":null,"notebook_path":"handoff"}`:        false, // G32
		`{"file_path":false,"notebook_path":"handoff"}`:       false,
		`"handoff"`:            true, // G33
		`{"prompt":"handoff"}`: true,
		`{"file_path":"/a","content":"` + strings.Repeat("x", 130<<10) + `"}`: true, // G14
	} {
		w := newWorld(t, 0)
		w.used(95)
		got := w.fire(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":` + input + `}`)
		if (got.reason != "") != denied {
			t.Errorf("%.60s: %.80q", input, got.raw)
		}
		if !denied && w.state("s.gate-count") != "" { // G30
			t.Errorf("%.60s was counted", input)
		}
	}
}

func TestGateEnds(t *testing.T) {
	w := newWorld(t, 0)
	w.used(95)
	denied := 0
	for range MaxDenials + 5 {
		if w.write("/a").reason != "" {
			denied++
		}
		if denied%50 == 49 { // whatever else happens
			w.used(10)
			w.write("/a")
			w.used(95)
		}
	}
	if denied != MaxDenials {
		t.Errorf("%d denials, want %d", denied, MaxDenials)
	}
	if got := w.write("/a"); got.operator == "" || got.reason != "" {
		t.Errorf("after the last: %q", got.raw)
	}
}

// A call that another rule denies spends no grace.
func TestDeniedElsewhereSpendsNothing(t *testing.T) {
	w := newWorld(t, 2)
	w.used(95)
	gate := w.rules
	w.rules = append(gate[:len(gate):len(gate)], guard.Rule{Name: "other", Hears: func(harness.Event) bool { return true }, Judge: func(harness.Event) harness.Verdict {
		return harness.Verdict{Decision: harness.Denial, Reason: "other"}
	}})
	for range 5 {
		if got := w.write("/a"); got.reason != "other" {
			t.Fatalf("%q", got.reason)
		}
	}
	w.rules = gate
	for call, want := range []bool{false, false, true} {
		if got := w.write("/a"); (got.reason != "") != want {
			t.Errorf("call %d: %q", call+1, got.raw)
		}
	}
	w.rules = append(gate[:len(gate):len(gate)], guard.Rule{Name: "other", Hears: func(harness.Event) bool { return true }, Judge: func(harness.Event) harness.Verdict {
		return harness.Verdict{Decision: harness.Denial, Reason: "other"}
	}})
	if got := w.write("/a"); !strings.HasPrefix(got.reason, "Zone gate") || !strings.HasSuffix(got.reason, "\n\nother") {
		t.Errorf("past the grace both reasons are given: %q", got.reason)
	}
}

func TestMarkerRule(t *testing.T) {
	for _, c := range []struct{ n, payload, trigger string }{
		{"M1-M4", `{"session_id":"s","hook_event_name":"PostCompact","trigger":"auto"}`, "auto"},
		{"M5", `{"session_id":"s","hook_event_name":"PostCompact","trigger":"manual"}`, "manual"},
		{"M6", `{"session_id":"s","hook_event_name":"PostCompact","trigger":"weird"}`, "unknown"},
		{"no trigger", `{"session_id":"s","hook_event_name":"PostCompact","compact_summary":"\"trigger\":\"auto\""}`, "unknown"},
		{"M12", `{"compact_summary":"` + strings.Repeat("x", 150<<10) + `","hook_event_name":"PostCompact","session_id":"s","trigger":"auto"}`, "auto"},
		{"SessionStart", `{"session_id":"s","hook_event_name":"SessionStart","source":"compact"}`, "unknown"},
		{"nested id first", `{"x":{"session_id":"other"},"session_id":"s","hook_event_name":"PostCompact","trigger":"auto"}`, "auto"},
	} {
		w := newWorld(t, 20)
		old := w.w.Store.MarkerPath(id("old"))
		w.put(old, "{}")
		month := time.Now().Add(-30 * 24 * time.Hour)
		if err := os.Chtimes(old, month, month); err != nil {
			t.Fatal(err)
		}
		if got := w.fire(c.payload); got.raw != "" {
			t.Errorf("%s: answered %q", c.n, got.raw)
		}
		var m struct {
			CompactedAt   string `json:"compacted_at"`
			Trigger       string
			HookEventName string `json:"hook_event_name"`
		}
		data, err := os.ReadFile(w.w.Store.MarkerPath(id("s")))
		if err != nil || json.Unmarshal(data, &m) != nil {
			t.Fatalf("%s: %q, %v", c.n, data, err)
		}
		if _, err := time.Parse(snapshot.TimeFormat, m.CompactedAt); err != nil || m.Trigger != c.trigger || m.HookEventName != "PostCompact" {
			t.Errorf("%s: %s", c.n, data)
		}
		if info, _ := os.Stat(w.w.Store.MarkerPath(id("s"))); info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v", c.n, info.Mode())
		}
		if _, err := os.Stat(old); err == nil { // M13
			t.Errorf("%s: the old marker is still there", c.n)
		}
	}
	for _, payload := range []string{ // M8, M9
		`{"hook_event_name":"PostCompact"}`, `{"session_id":"../../evil","hook_event_name":"PostCompact"}`, `{"session_id":"s","hook_event_name":"SessionStart","source":"resume"}`,
	} {
		w := newWorld(t, 20)
		w.fire(payload)
		if entries, _ := os.ReadDir(w.home); len(entries) > 0 {
			t.Errorf("%s: left %v", payload, entries)
		}
	}
	w := newWorld(t, 20) // M14, M16, B5
	if err := os.MkdirAll(w.w.Store.MarkerPath(id("s")), 0o700); err != nil {
		t.Fatal(err)
	}
	w.fire(`{"session_id":"s","hook_event_name":"PostCompact"}`)
	if entries, _ := os.ReadDir(w.w.Store.MarkerPath(id("s"))); len(entries) > 0 {
		t.Errorf("moved %v into a folder", entries)
	}
	w.used(10) // G28: a marker of any type is one
	if got := w.batch(); !strings.Contains(got.model, "degraded") {
		t.Errorf("a folder as marker: %q", got.raw)
	}
}

// Any sequence of zones and compactions: what is reported follows a plain model of the rule.
func TestRandomSequences(t *testing.T) {
	percents := []int{10, 60, 90}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t, 20)
		armed, marked := -1, false // the worst rank reported in this cycle
		worsenings, reports, last := 0, 0, 0
		reported := map[int]bool{}
		for range 40 {
			rank := r.IntN(3)
			w.used(percents[rank])
			switch r.IntN(12) {
			case 0:
				w.fire(`{"session_id":"s","hook_event_name":"PostCompact","trigger":"auto"}`)
				marked = true
			case 1:
				if marked {
					marked = false
					if err := os.Remove(w.w.Store.MarkerPath(id("s"))); err != nil {
						t.Fatal(err)
					}
				}
			}
			if marked {
				rank = 2
			}
			if rank > last {
				worsenings++
			}
			last = rank
			want := rank > max(armed, 0)
			if rank == 0 {
				armed, reported = 0, map[int]bool{}
			} else if want {
				armed = rank
			}
			got := w.batch().raw != ""
			if got {
				reports++
				if reported[rank] {
					t.Fatalf("seed %d: zone %d reported twice in a cycle", seed, rank)
				}
				reported[rank] = true
			}
			if got != want {
				t.Fatalf("seed %d: rank %d, armed %d: reported %v", seed, rank, armed, got)
			}
		}
		if reports > worsenings {
			t.Fatalf("seed %d: %d reports of %d worsenings", seed, reports, worsenings)
		}
	}
}
