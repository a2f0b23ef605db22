package zonewatch

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"plimsoll/internal/harness"
)

func mustSpend(t *testing.T, path string, grace int) outcome {
	t.Helper()
	out, err := spend(path, grace, false)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Whatever stands in the file before the first record, the budget after it is exact: bytes of the Bash predecessor,
// records that a full disk cut short, and text that is nobody's.
func TestBudgetBehindForeignBytes(t *testing.T) {
	for _, junk := range []string{"", "xxxxx", "\n0 2", "\n0 20", "\n0 20 ca", "\n7", "\n7 ar", "\n-1 2 call", "\n1 2 3 call", "\n99999999999 arm", "\n0 0 calling\n\n\n", "\x00\xff"} {
		path := filepath.Join(t.TempDir(), "s.gate-count")
		if err := os.WriteFile(path, []byte(junk), 0o600); err != nil {
			t.Fatal(err)
		}
		for call, want := range []kind{passes, passes, denies, denies} {
			if out := mustSpend(t, path, 2); out.kind != want || out.first != (junk == "" && call == 0) {
				t.Errorf("behind %q, call %d: %+v", junk, call+1, out)
			}
		}
	}
}

// A file that is read while another process appends may end amid a record. What is cut off does not count, and nothing
// is taken for more than it is.
func TestEveryBeginningOfABudgetFile(t *testing.T) {
	var whole []byte
	for i := range 12 {
		whole = append(whole, callRecord(10, 19)...)
		if i == 5 {
			whole = append(whole, armRecord(11)...)
		}
	}
	for n := range whole {
		got, records := fold(whole[:n]), strings.Count(string(whole[:n]), "call")
		if got.calls[10] != records || len(got.calls) > 1 {
			t.Fatalf("the first %d bytes hold %d calls, folded as %v", n, records, got.calls)
		}
		if arms := strings.Count(string(whole[:n]), "arm"); got.cycle != 11*arms {
			t.Fatalf("the first %d bytes are in cycle %d", n, got.cycle)
		}
	}
}

// Two processes that saw the same recovery open one cycle, also when the second is late and calls were counted between.
func TestRearmingTwiceOpensOneCycle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.gate-count")
	mustSpend(t, path, 1)
	late, err := readTally(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := rearm(path); err != nil {
		t.Fatal(err)
	}
	if got := mustSpend(t, path, 1).kind; got != passes {
		t.Errorf("a fresh budget: %v", got)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Write(armRecord(late.cycle + 1))
	f.Close()
	if got := mustSpend(t, path, 1).kind; got != denies {
		t.Errorf("the late arming gave a second budget: %v", got)
	}
}

// Nothing is written to arm what is armed: a session that never works in the dumb zone has no file.
func TestRearmingAFreshBudgetWritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.gate-count")
	if err := rearm(path); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was made")
	}
	mustSpend(t, path, 1)
	for range 3 {
		if err := rearm(path); err != nil {
			t.Fatal(err)
		}
	}
	if data, _ := os.ReadFile(path); strings.Count(string(data), "arm") != 1 {
		t.Errorf("%q", data)
	}
}

// Calls and recoveries at random, all at once: in every cycle exactly the grace passes, as far as there were calls.
func TestBudgetIsExactUnderConcurrency(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 2))
		path, grace := filepath.Join(t.TempDir(), "s.gate-count"), 1+r.IntN(5)
		var group sync.WaitGroup
		outcomes := make(chan outcome, 1000)
		for range 8 {
			recovers := r.IntN(4)
			group.Add(1)
			go func() {
				defer group.Done()
				for i := range 12 {
					out, err := spend(path, grace, false)
					if err != nil {
						t.Error(err)
					}
					outcomes <- out
					if i%4 == recovers {
						if err := rearm(path); err != nil {
							t.Error(err)
						}
					}
				}
			}()
		}
		group.Wait()
		close(outcomes)
		passed, firsts := 0, 0
		for out := range outcomes {
			if out.kind == passes {
				passed++
			}
			if out.first {
				firsts++
			}
		}
		all, err := readTally(path)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, calls := range all.calls {
			want += min(calls, grace)
		}
		if passed != want || firsts != 1 {
			t.Errorf("seed %d: %d passed, want %d of %v with grace %d; %d were the first", seed, passed, want, all.calls, grace, firsts)
		}
	}
}

// The end comes after MaxDenials, however the grace is changed meanwhile.
func TestDenialsEndWhateverTheGrace(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	path := filepath.Join(t.TempDir(), "s.gate-count")
	denied, firsts := 0, 0
	for range 4 * MaxDenials {
		out := mustSpend(t, path, r.IntN(6))
		if out.kind == denies {
			denied++
		}
		if out.kind == releases && out.firstRelease {
			firsts++
		}
		if r.IntN(9) == 0 {
			if err := rearm(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	if denied != MaxDenials || firsts != 1 {
		t.Errorf("%d denials, want %d; %d first releases", denied, MaxDenials, firsts)
	}
	// Beside another rule's denial a gate that ended has nothing to say, and counts nothing.
	before, _ := os.ReadFile(path)
	if out, err := spend(path, 0, true); err != nil || out.kind != passes {
		t.Errorf("%+v, %v", out, err)
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("it was counted")
	}
}

// A count that cannot be kept lets calls pass, and says so in the log.
func TestBudgetThatCannotBeKept(t *testing.T) {
	for name, obstruct := range map[string]func(path string) error{
		"folder":  func(path string) error { return os.Mkdir(path, 0o700) },
		"symlink": func(path string) error { return os.Symlink(filepath.Join(filepath.Dir(path), "elsewhere"), path) },
	} {
		w := newWorld(t, 0)
		if err := os.MkdirAll(w.w.State, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := obstruct(filepath.Join(w.w.State, "s.gate-count")); err != nil {
			t.Fatal(err)
		}
		w.used(95)
		if got := w.write("/a"); got.raw != "" {
			t.Errorf("%s: %q", name, got.raw)
		}
		if _, err := os.Stat(filepath.Join(w.w.State, "elsewhere")); err == nil {
			t.Errorf("%s: written through", name)
		}
		if v := Gate(w.w, 0).Judge(harness.Event{Name: harness.PreToolUse, Session: id("s"), ToolName: "Write"}).Settle(false); v.Decision != harness.FailOpen {
			t.Errorf("%s: decision %q", name, v.Decision)
		}
		// Nor does it keep a crossing from being reported.
		if got := w.batch(); got.model == "" {
			t.Errorf("%s: the crossing is silent", name)
		}
		w.used(10)
		w.batch()
		w.used(95)
		if got := w.batch(); got.model == "" {
			t.Errorf("%s: the crossing after a recovery is silent", name)
		}
	}
}

// Every reading that is not dumb re-arms, whoever made it: the gate, a look for crossings, an unknown one too.
func TestWhatRearms(t *testing.T) {
	for name, recover := range map[string]func(w *world){
		"the gate sees acceptable":  func(w *world) { w.used(60); w.write("/a") },
		"a crossing rule sees it":   func(w *world) { w.used(60); w.batch() },
		"the gate sees no snapshot": func(w *world) { os.Remove(w.w.Store.Path(id("s"))); w.write("/a") },
		"compaction":                func(w *world) { w.fire(`{"session_id":"s","hook_event_name":"PostCompact"}`) },
		"compaction, older client": func(w *world) {
			w.fire(`{"session_id":"s","hook_event_name":"SessionStart","source":"compact"}`)
		},
	} {
		w := newWorld(t, 1)
		w.used(95)
		w.batch()
		w.write("/a")
		if got := w.write("/a"); got.reason == "" {
			t.Fatalf("%s: no denial before", name)
		}
		recover(w)
		w.used(95)
		w.batch()
		for call, want := range []bool{false, true} {
			if got := w.write("/a"); (got.reason != "") != want {
				t.Errorf("%s, call %d: %q", name, call+1, got.raw)
			}
		}
	}
}

// Each of the texts keeps its length at its longest.
func TestLongestTexts(t *testing.T) {
	for _, compacted := range []bool{false, true} {
		w := newWorld(t, 0)
		w.used(95)
		limit := 400
		if compacted {
			limit = 480
			w.put(w.w.Store.MarkerPath(id("s")), "{}")
		}
		r := w.w.read(id("s"))
		for name, text := range map[string]string{
			"crossing": crossingForModel("acceptable", r),
			"denial":   denialForModel("NotebookEdit", 999_999_999, r),
			"release":  releaseForModel(r),
		} {
			if n := len([]rune(text)); n > limit {
				t.Errorf("%s for the model, compacted %v: %d characters", name, compacted, n)
			}
			for _, never := range []string{"/clear", "/compact", "zone_hook_mode", "grace_calls", "config.json", "CLAUDE_", "PLIMSOLL"} {
				if strings.Contains(text, never) {
					t.Errorf("%s tells the model %q", name, never)
				}
			}
		}
		for name, text := range map[string]string{
			"crossing": crossingForOperator("acceptable", r),
			"denial":   denialForOperator("NotebookEdit", 999_999_999, r),
			"release":  releaseForOperator("NotebookEdit", r),
		} {
			if n := len([]rune(text)); n > 900 {
				t.Errorf("%s for the operator, compacted %v: %d characters", name, compacted, n)
			}
		}
	}
}

// The model is told of the end once, the operator of every call that passes because of it.
func TestReleaseIsToldOnceToTheModel(t *testing.T) {
	w := newWorld(t, 0)
	w.used(95)
	w.put(filepath.Join(w.w.State, "s.gate-count"), strings.Repeat(string(callRecord(0, 0)), MaxDenials))
	for i := range 3 {
		got := w.write("/a")
		if got.reason != "" || got.operator == "" || (got.model != "") != (i == 0) {
			t.Errorf("release %d: %+v", i+1, got)
		}
	}
}
