package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/harness"
)

func always(harness.Event) bool { return true }

func rule(name string, v harness.Verdict) Rule {
	return Rule{name, always, func(harness.Event) harness.Verdict { return v }}
}

// handle runs rules over one event and returns the answer and the decision log.
func handle(t *testing.T, e harness.Event, rules ...Rule) (answer string, log []string) {
	t.Helper()
	var out bytes.Buffer
	g := Guard{
		Rules: rules,
		Log:   func(line []byte) { log = append(log, string(line)) },
		Now:   func() time.Time { return time.Date(2026, 10, 3, 12, 0, 0, 0, time.UTC) },
	}
	g.Handle(e, &out)
	return out.String(), log
}

func event(name string) harness.Event {
	id, _ := harness.ParseID("s1")
	return harness.Event{Name: name, Session: id, RawSession: "s1", ToolName: "Agent"}
}

func TestMergeJoinsInOrder(t *testing.T) {
	got, log := handle(t, event(harness.PreToolUse),
		rule("a", harness.Verdict{Decision: harness.Denial, Reason: "first", ToOperator: "op a"}),
		rule("b", harness.Verdict{Decision: harness.Note, ToModel: "model b"}),
		rule("silent", harness.Verdict{}),
		rule("c", harness.Verdict{Decision: harness.Denial, Reason: "second", ToOperator: "op c"}))
	want := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"first\n\nsecond","additionalContext":"model b"},"systemMessage":"op a\n\nop c"}` + "\n"
	if got != want {
		t.Errorf("answer\n%swant\n%s", got, want)
	}
	if len(log) != 3 {
		t.Errorf("%d log lines, want 3: silence is not logged", len(log))
	}
}

func TestEncodeFitsTheEvent(t *testing.T) {
	note := harness.Verdict{Decision: harness.Note, ToModel: "m", ToOperator: "o"}
	deny := harness.Verdict{Decision: harness.Denial, Reason: "r"}
	for _, c := range []struct {
		event string
		v     harness.Verdict
		want  string
	}{
		{harness.PostToolBatch, note, `{"hookSpecificOutput":{"hookEventName":"PostToolBatch","additionalContext":"m"},"systemMessage":"o"}` + "\n"},
		{harness.PostCompact, note, `{"systemMessage":"o"}` + "\n"},
		{harness.PostCompact, harness.Verdict{Decision: harness.Note, ToModel: "m"}, ""},
		{harness.UserPromptSubmit, deny, ""}, // only a tool call can be denied
		{harness.PreToolUse, harness.Verdict{}, ""},
	} {
		if got := string(harness.Encode(c.event, c.v)); got != c.want {
			t.Errorf("%s: %s, want %s", c.event, got, c.want)
		}
	}
}

func TestPanicIsNoOpinion(t *testing.T) {
	boom := func(harness.Event) harness.Verdict { panic("boom") }
	var errs []string
	var out bytes.Buffer
	g := Guard{
		Rules: []Rule{
			{"judge", always, boom},
			{"hears", func(harness.Event) bool { panic("deaf") }, boom},
			rule("settle", harness.Verdict{Settle: func(bool) harness.Verdict { panic("unsettled") }}),
			rule("written", harness.Verdict{Written: func(bool) { panic("after") }}),
			rule("works", harness.Verdict{Decision: harness.Denial, Reason: "r"}),
		},
		Debug: func(err error) { errs = append(errs, err.Error()) },
		Now:   time.Now,
	}
	g.Handle(event(harness.PreToolUse), &out)
	if !strings.Contains(out.String(), `"permissionDecisionReason":"r"`) {
		t.Errorf("the rule that works was not heard: %q", &out)
	}
	if len(errs) != 4 {
		t.Errorf("%d panics reported, want 4: %q", len(errs), errs)
	}
}

// A rule that spends a budget on calls it lets pass has to know whether the call is denied anyway.
func TestSettleKnowsOfOtherDenials(t *testing.T) {
	counted := func(deny bool, heard *[]bool) Rule {
		return rule("counted", harness.Verdict{Settle: func(denied bool) harness.Verdict {
			*heard = append(*heard, denied)
			if deny {
				return harness.Verdict{Decision: harness.Denial, Reason: "counted"}
			}
			return harness.Verdict{}
		}})
	}
	for _, c := range []struct {
		name  string
		rules func(h *[]bool) []Rule
		want  []bool // in the order of settling: last rule first
	}{
		{"alone", func(h *[]bool) []Rule { return []Rule{counted(false, h)} }, []bool{false}},
		{"before a denial", func(h *[]bool) []Rule {
			return []Rule{counted(false, h), rule("d", harness.Verdict{Decision: harness.Denial})}
		}, []bool{true}},
		{"after a denial", func(h *[]bool) []Rule {
			return []Rule{rule("d", harness.Verdict{Decision: harness.Denial}), counted(false, h)}
		}, []bool{true}},
		{"before one that settles to a denial", func(h *[]bool) []Rule { return []Rule{counted(false, h), counted(true, h)} }, []bool{false, true}},
	} {
		var heard []bool
		handle(t, event(harness.PreToolUse), c.rules(&heard)...)
		if len(heard) != len(c.want) {
			t.Fatalf("%s: settled %d times, want %d", c.name, len(heard), len(c.want))
		}
		for i := range heard {
			if heard[i] != c.want[i] {
				t.Errorf("%s: heard %v, want %v", c.name, heard, c.want)
			}
		}
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestWrittenHearsTheTruth(t *testing.T) {
	var heard []bool
	r := rule("r", harness.Verdict{Decision: harness.Note, ToOperator: "o", Written: func(ok bool) { heard = append(heard, ok) }})
	g := Guard{Rules: []Rule{r}, Now: time.Now}
	g.Handle(event(harness.PostToolBatch), &bytes.Buffer{})
	g.Handle(event(harness.PostToolBatch), brokenPipe{})
	if len(heard) != 2 || !heard[0] || heard[1] {
		t.Errorf("heard %v, want true, then false", heard)
	}
}

func TestOnlyHeardEventsCount(t *testing.T) {
	var names []string
	deaf := Rule{"deaf", func(harness.Event) bool { return false }, func(harness.Event) harness.Verdict { panic("asked") }}
	g := Guard{Rules: []Rule{deaf}, Heard: func(n string) { names = append(names, n) }, Now: time.Now}
	g.Handle(event("Stop"), &bytes.Buffer{})
	g.Rules = append(g.Rules, rule("r", harness.Verdict{}))
	g.Handle(event(harness.PreToolUse), &bytes.Buffer{})
	if len(names) != 1 || names[0] != harness.PreToolUse {
		t.Errorf("heard %v, want PreToolUse alone", names)
	}
}

func TestLogLine(t *testing.T) {
	_, log := handle(t, event(harness.PreToolUse), rule("ceiling", harness.Verdict{
		Decision: harness.Denial, Reason: "never in the log", Why: "over",
		Figures: []harness.Figure{{Key: "occupancy", Value: int64(400000), Provenance: "transcript"}, {Key: "strict", Value: true}, {Key: "percent", Value: 40.5}, {Key: "skill", Value: "a\x1b[31mb\n"}},
	}))
	want := `{"ts":"2026-10-03T12:00:00.000Z","session":"s1","event":"PreToolUse","tool":"Agent","rule":"ceiling","decision":"denial","why":"over","occupancy":400000,"occupancy_from":"transcript","strict":true,"percent":40.5,"skill":"a[31mb"}` + "\n"
	if len(log) != 1 || log[0] != want {
		t.Errorf("log\n%swant\n%s", strings.Join(log, ""), want)
	}
}

func TestLogLineStaysSmall(t *testing.T) {
	e := event(harness.PreToolUse)
	e.ToolName = strings.Repeat("\U0001F600", 5000)
	var figures []harness.Figure
	for i := range 200 {
		figures = append(figures, harness.Figure{Key: strings.Repeat("k", i%40), Value: strings.Repeat("\"", 500), Provenance: "p"})
	}
	_, log := handle(t, e, rule(strings.Repeat("r", 300), harness.Verdict{Decision: harness.Note, ToOperator: "o", Figures: figures}))
	if len(log) != 1 || len(log[0]) > MaxLogLine || !json.Valid([]byte(log[0])) {
		t.Errorf("%d lines, the first %d bytes, valid %v", len(log), len(log[0]), json.Valid([]byte(log[0])))
	}
}
