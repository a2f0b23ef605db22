package report

import (
	"fmt"
	"strings"
	"testing"
)

// The predecessor's cases of the report. Each is one session; want is checked at the ceilings that it names.
func TestReplay(t *testing.T) {
	const k = 1000
	later := func(n int, r row) []row {
		rows := make([]row, n)
		for i := range rows {
			rows[i] = r
		}
		return rows
	}
	type want struct {
		ceiling int64
		text    string
	}
	for _, c := range []struct {
		n    string
		rows []row
		with func(*Options)
		want []want
	}{
		{"R8 a sub-agent's row is another context", []row{a(100*k, "Skill build"), side(a(900*k, "Agent x"))}, nil,
			[]want{{150 * k, "blocked 0 of 1, blocks 0, advisory 0"}}},
		{"R15 the call's own row counts", []row{a(100 * k), a(400*k, "Skill build")}, nil, []want{{350 * k, "median 400000"}}},
		{"R16 three calls in one row", []row{a(400*k, "Agent x", "Agent y", "Agent z")}, nil, []want{{350 * k, "blocked 0 of 0, blocks 0, advisory 3"}}},
		{"R17", []row{a(250*k, "Skill build")}, nil, []want{{150 * k, "blocked 1 of 1"}, {150 * k, "median 250000"}, {350 * k, "blocked 0 of 1"}}},
		{"R18 near its end", []row{a(400*k, "Skill build"), a(410 * k)}, nil, []want{{350 * k, "near-done 1 100"}}},
		{"R19 twenty turns left", append([]row{a(400*k, "Skill build")}, later(21, a(410*k))...), nil, []want{{350 * k, "blocked 1 of 1"}, {350 * k, "near-done 0 0,"}}},
		{"R20 tokens after", []row{a(300*k, "Skill build"), a(500 * k), a(600 * k)}, nil,
			[]want{{250 * k, "after 1100000 78.6"}, {350 * k, "after 0 0,"}, {350 * k, "blocked 0 of 1"}}},
		{"R21 clamped", []row{a(400*k, "Skill build")}, func(o *Options) { o.Ceilings = []int64{900 * k} }, []want{{900 * k, "clamped 1 100"}, {900 * k, "blocked 1 of 1"}}},
		{"R21 not clamped", []row{a(400*k, "Skill build")}, func(o *Options) { o.Ceilings, o.Policy.Percent = []int64{900 * k}, 90 }, []want{{900 * k, "clamped 0 0,"}, {900 * k, "blocked 0 of 1"}}},
		{"R22", []row{a(400*k, "Skill build")}, nil, []want{{350 * k, "clamped 0 0,"}}},
		{"R23 a small window binds", []row{of("claude-haiku-4-5", a(90*k, "Skill build"))}, nil, []want{{150 * k, "blocked 1 of 1"}, {350 * k, "blocked 1 of 1"}, {600 * k, "blocked 1 of 1"}}},
		{"R24 no calls", []row{a(900 * k), a(950 * k)}, nil, []want{{350 * k, "blocked 0 of 0, blocks 0, advisory 0"}, {350 * k, "blocked-pct null"}}},
		{"R34 a delegation is only warned of", []row{a(400*k, "Agent x")}, nil, []want{{350 * k, "blocked 0 of 0, blocks 0, advisory 1"}}},
		{"R35 a skill is denied", []row{a(400*k, "Skill build")}, nil, []want{{350 * k, "blocked 1 of 1, blocks 1, advisory 0"}}},
		{"R37 delegations alone", []row{a(400*k, "Agent x"), a(450*k, "Agent y")}, nil, []want{{350 * k, "blocked-pct null"}}},
		{"R38 the first call that is denied", []row{a(400*k, "Agent x"), a(500*k, "Skill build"), a(600 * k)}, nil, []want{{350 * k, "median 500000"}, {350 * k, "after 600000"}}},
		{"R9 recovery skills", []row{a(900*k, "Skill handoff", "Skill context-loading-protocol", "Skill continue", "Skill review-summary", "Skill session-review")}, nil,
			[]want{{350 * k, "blocked 0 of 0, blocks 0, advisory 0"}}},
		{"R10 under a plugin", []row{a(900*k, "Skill dev-team:handoff")}, nil, []want{{350 * k, "blocked 0 of 0"}}},
		{"a sub-agent may be named like a recovery skill", []row{a(400*k, "Agent handoff")}, nil, []want{{350 * k, "advisory 1"}}},
		{"R14 other tools", []row{a(900*k, "Bash")}, nil, []want{{350 * k, "advisory 0"}}},
		{"R46 many turns left", append([]row{a(400*k, "Skill build")}, later(40, a(410*k))...), nil, []want{{350 * k, "left 40"}, {350 * k, "near-done 0 0,"}}},
		{"R46 few turns left", append([]row{a(400*k, "Skill build")}, later(8, a(410*k))...), nil, []want{{350 * k, "left 8"}, {350 * k, "near-done 0 0,"}}},
		{"near its end with five turns left", append([]row{a(400*k, "Skill build")}, later(5, a(410*k))...), nil, []want{{350 * k, "near-done 1 100"}}},
		{"not with six", append([]row{a(400*k, "Skill build")}, later(6, a(410*k))...), nil, []want{{350 * k, "near-done 0 0,"}}},
		{"--near-done-turns", append([]row{a(400*k, "Skill build")}, later(3, a(410*k))...), func(o *Options) { o.NearDone = 2 }, []want{{350 * k, "near-done 0 0,"}}},
		{"of several denials the first counts", []row{a(400*k, "Skill a"), a(500*k, "Skill b"), a(600 * k)}, nil, []want{{350 * k, "blocks 2"}, {350 * k, "median 400000"}, {350 * k, "left 2"}, {350 * k, "after 1100000 73.3"}}},
		{"R47 none denied", []row{a(100*k, "Skill build")}, nil, []want{{350 * k, "left null"}, {350 * k, "median null"}}},
		{"R48 clamped where the percentage is less", []row{a(400*k, "Skill build")}, nil, []want{{350 * k, "clamped 0"}, {450 * k, "clamped 1"}, {600 * k, "clamped 1"}, {450 * k, "blocked 1 of 1"}, {600 * k, "blocked 1 of 1"}}},
		{"R49", []row{a(400*k, "Skill build"), a(410 * k), a(420 * k)}, nil, []want{{350 * k, "left 2"}}},
		{"E15 an unverified window is only warned of", []row{of("brand-new-9", a(190*k, "Skill build"))}, nil, []want{{150 * k, "blocked 0 of 1, blocks 0, advisory 1"}, {150 * k, "turns over 0"}}},
		{"E16 the window of the moment", []row{of("claude-haiku-4-5", a(90*k, "Skill build")), a(100*k, "Skill build")}, nil, []want{{350 * k, "blocked 1 of 1, blocks 1"}}},
		{"E16 the other way", []row{a(100*k, "Skill build"), of("claude-haiku-4-5", a(70*k, "Skill build"))}, nil, []want{{350 * k, "blocked 0 of 1"}}},
		{"a synthetic row at the end changes nothing", []row{a(400*k, "Skill build"), of("<synthetic>", a(10))}, nil, []want{{350 * k, "blocked 1 of 1"}, {350 * k, "left 0"}}},
		{"E1 a row of zeros hides nothing", []row{a(400 * k), {usage: `{"input_tokens":0,"output_tokens":0}`, calls: []string{"Skill build"}}}, nil, []want{{350 * k, "blocked 1 of 1"}, {350 * k, "median 400000"}}},
		{"a call before any figure", []row{{calls: []string{"Skill build"}}, a(400 * k)}, nil, []want{{350 * k, "blocked 0 of 1"}}},
		{"equality is over", []row{a(350*k, "Skill build")}, nil, []want{{350 * k, "blocked 1 of 1"}}},
		{"one token less is not", []row{a(350*k-1, "Skill build")}, nil, []want{{350 * k, "blocked 0 of 1"}}},
		{"GATE_AGENT=block", []row{a(400*k, "Agent x")}, func(o *Options) { o.Policy.GateAgent = true }, []want{{350 * k, "blocked 1 of 1, blocks 1, advisory 0"}}},
		{"a window of the operator's", []row{of("brand-new-9", a(190*k, "Skill build"))}, func(o *Options) { o.Policy.Override = 400 * k }, []want{{350 * k, "blocked 1 of 1"}}},
		{"a configured recovery skill", []row{a(400*k, "Skill park")}, func(o *Options) { o.Recovery = []string{"park"} }, []want{{350 * k, "blocked 0 of 0"}}},
		{"F92 equality is over at a turn too", []row{a(350 * k)}, nil, []want{{350 * k, "sessions over 1 100, turns over 1,"}}},
		{"F92 one token less is not", []row{a(350*k - 1)}, nil, []want{{350 * k, "turns over 0,"}}},
		{"F92 both replays", []row{a(400 * k), a(410*k, "Skill build"), a(420 * k)}, nil, []want{{350 * k, "turns over 3"}, {350 * k, "sessions over 1 100"}, {350 * k, "blocks 1"}}},
		{"F92 none is asked at a turn", []row{a(400 * k), a(410 * k)}, nil, []want{{350 * k, "turns over 2"}, {350 * k, "blocked 0 of 0"}}},
		{"the mode that only warns is replayed as one that denies", []row{a(400*k, "Skill build")}, func(o *Options) { o.Policy.Strict = false }, []want{{350 * k, "blocked 1 of 1"}}},
	} {
		d := reportOf(t, map[string]string{"s": rowsOf(c.rows...)}, c.with)
		for _, w := range c.want {
			row := d.at(t, w.ceiling)
			got := fmt.Sprintf("blocked %d of %d, blocks %d, advisory %d, blocked-pct %s, median %s, near-done %d %s, left %s, after %d %s, clamped %d %s, sessions over %d %s, turns over %d,",
				row.SessionsBlocked, d.Policy.SessionsBlockable, row.BlocksTotal, row.AdvisoryFires, say(row.SessionsBlockedPct), say(row.MedianOccupancyAtFirst),
				row.NearDoneBlocked, say(row.NearDoneBlockedPct), say(row.MedianRemainingTurns), row.PromptTokensAfterFirst, say(row.PromptTokensAfterFirstPc),
				row.ClampedSessions, say(row.ClampedPct), row.SessionsOverPerTurn, say(row.SessionsOverPerTurnPct), row.TurnsOver)
			if !strings.Contains(got, w.text) {
				t.Errorf("%s, ceiling %d: want %q in\n%s", c.n, w.ceiling, w.text, got)
			}
		}
	}
}

// What the percentages are of: six sessions, four with a call that can be denied, three of them denied, two near their end.
func TestShares(t *testing.T) {
	const k = 1000
	many := []row{a(400*k, "Skill build")}
	for range 9 {
		many = append(many, a(100*k))
	}
	d := reportOf(t, map[string]string{
		"a": rowsOf(a(500*k, "Skill build"), a(100*k)), "b": rowsOf(a(600*k, "Skill build"), a(100*k)), "c": rowsOf(many...),
		"calm": rowsOf(a(10*k, "Skill build")), "full": rowsOf(a(400*k), a(401*k)), "unknown": rowsOf(of("brand-new-9", a(10*k))),
		"agent": rowsOf(side(a(900*k, "Skill build"))),
	}, nil)
	c := d.at(t, 350*k)
	got := fmt.Sprintf("blocked %d %s, near-done %d %s, clamped %d %s, over %d %s %d, after %d %s, median %s left %s", c.SessionsBlocked, say(c.SessionsBlockedPct), c.NearDoneBlocked, say(c.NearDoneBlockedPct),
		c.ClampedSessions, say(c.ClampedPct), c.SessionsOverPerTurn, say(c.SessionsOverPerTurnPct), c.TurnsOver, c.PromptTokensAfterFirst, say(c.PromptTokensAfterFirstPc), say(c.MedianOccupancyAtFirst), say(c.MedianRemainingTurns))
	if want := "blocked 3 75, near-done 2 66.7, clamped 1 16.7, over 4 66.7 5, after 1100000 32.2, median 500000 left 1"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	p := *d.Policy
	if got := fmt.Sprint(p.SessionsReplayed, p.SessionsBlockable, p.GatedCalls, p.BlockableCalls, p.Unverified); got != "6 4 4 4 1" {
		t.Errorf("counts %s", got)
	}
}

// E2: a response without figures is judged by the one before it, unless the context was compacted in between.
func TestOccupancyAfterACompaction(t *testing.T) {
	at := func(second int) string { return fmt.Sprintf("2026-11-30T10:00:%02d.000Z", second) }
	call := fmt.Sprintf(`{"type":"assistant","sessionId":"s","timestamp":%q,"message":{"id":"m2","model":"claude-opus-5","content":[{"type":"tool_use","id":"t","name":"Skill","input":{"skill":"build"}}]}}`, at(20)) + "\n"
	boundary := func(second int) string {
		return fmt.Sprintf(`{"type":"system","subtype":"compact_boundary","sessionId":"s","uuid":"u","timestamp":%q}`, at(second)) + "\n"
	}
	before := response("m1", "s", "claude-opus-5", at(10), `{"input_tokens":400000}`, "")
	for _, c := range []struct {
		n, rows string
		blocked int
	}{
		{"not compacted", before + call, 1},
		{"compacted in between", before + boundary(15) + call, 0},
		{"compacted before both", boundary(5) + before + call, 1},
		{"compacted after both", before + call + boundary(25), 1},
		{"and measured anew", before + boundary(15) + response("m3", "s", "claude-opus-5", at(18), `{"input_tokens":360000}`, "") + call, 1},
	} {
		if got := reportOf(t, map[string]string{"s": c.rows}, nil).at(t, 350_000).SessionsBlocked; got != c.blocked {
			t.Errorf("%s: %d sessions blocked, want %d", c.n, got, c.blocked)
		}
	}
}

// What is in force comes from the ceiling package and the settings, not from here.
func TestPolicyIsTheGuards(t *testing.T) {
	d := reportOf(t, map[string]string{"s": rowsOf(a(10))}, nil)
	if d.Policy.Shipped != 350_000 || d.Policy.Percent != 40 || d.Policy.NearDoneTurns != 5 {
		t.Errorf("%+v", d.Policy)
	}
	d = reportOf(t, map[string]string{"s": rowsOf(a(10))}, func(o *Options) { o.Policy.Absolute = 123_456 })
	marked := 0
	for _, c := range d.Ceilings {
		if c.Shipped {
			marked++
		}
	}
	if row := d.at(t, 123_456); !row.Shipped || marked != 1 || len(d.Ceilings) != len(DefaultCeilings())+1 {
		t.Errorf("the ceiling in force is not among the candidates: %+v", d.Ceilings)
	}
}

func TestVerdict(t *testing.T) {
	const k = 1000
	after := func(turns int, calls ...string) string {
		rows := []row{a(400*k, calls...)}
		for range turns {
			rows = append(rows, a(401*k))
		}
		return rowsOf(rows...)
	}
	many := func(n int, text string) map[string]string {
		files := map[string]string{}
		for i := range n {
			files[fmt.Sprintf("s%d", i)] = text
		}
		return files
	}
	agents := make([]string, 24)
	for i := range agents {
		agents[i] = "Agent x"
	}
	for _, c := range []struct {
		n       string
		files   map[string]string
		outcome string
		fired   bool
	}{
		{"R33 nothing denied", map[string]string{"s": rowsOf(a(120 * k))}, Inconclusive, false},
		{"R34 delegations alone are no endorsement", map[string]string{"s": after(3, "Agent x")}, Inconclusive, false},
		{"near the end", many(4, after(2, "Skill build")), OverBlocking, false},
		{"half near the end", map[string]string{"s0": after(2, "Skill b"), "s1": after(20, "Skill b")}, OverBlocking, false},
		{"less than half", map[string]string{"s0": after(2, "Skill b"), "s1": after(20, "Skill b"), "s2": after(20, "Skill b")}, NotDominant, false},
		{"sessions run on by delegating", map[string]string{"s": after(20, append(agents, "Skill build")...), "u": rowsOf(a(10, "Skill b")), "v": rowsOf(a(10, "Skill b"))}, NotDominant, true},
		{"a denial for every few delegations", map[string]string{"s": after(20, append(agents, "Skill a", "Skill b", "Skill c")...), "u": rowsOf(a(10, "Skill b")), "v": rowsOf(a(10, "Skill b"))}, NotDominant, false},
		{"19 delegations are few", map[string]string{"s": after(20, agents[:19]...)}, Inconclusive, false},
		{"20 delegations", map[string]string{"s": after(20, agents[:20]...)}, Inconclusive, true},
		{"ten for every denial", map[string]string{"s": after(20, append(agents[:20:20], "Skill a", "Skill b")...), "u": rowsOf(a(10, "Skill b")), "v": rowsOf(a(10, "Skill b"))}, NotDominant, true},
		{"less than ten for every denial", map[string]string{"s": after(20, append(agents[:20:20], "Skill a", "Skill b", "Skill c")...), "u": rowsOf(a(10, "Skill b")), "v": rowsOf(a(10, "Skill b"))}, NotDominant, false},
		{"half of the sessions are denied a call", map[string]string{"s": after(20, append(agents, "Skill build")...), "u": rowsOf(a(10, "Skill b"))}, NotDominant, false},
		{"skills that are only warned of delegate nothing", map[string]string{"s": strings.ReplaceAll(strings.ReplaceAll(after(20, agents...), "claude-opus-5", "brand-new-9"), `"name":"Agent"`, `"name":"Skill"`)}, Inconclusive, false},
		{"delegations under an unverified window", map[string]string{"s": strings.ReplaceAll(after(20, agents...), "claude-opus-5", "brand-new-9")}, Inconclusive, true},
		{"few delegations", map[string]string{"s": after(20, "Agent x", "Agent x"), "u": rowsOf(a(10, "Skill b"))}, Inconclusive, false},
	} {
		d := reportOf(t, c.files, nil)
		if d.Verdict.Outcome != c.outcome || d.Verdict.Revisit.Fired != c.fired {
			t.Errorf("%s: %s, fired %t; want %s, %t\n%s", c.n, d.Verdict.Outcome, d.Verdict.Revisit.Fired, c.outcome, c.fired, d.Verdict.Revisit.Text)
		}
		if strings.HasPrefix(c.n, "less than ten") && (d.Verdict.Revisit.Delegations != 20 || d.Verdict.Revisit.Blocks != 3 || say(d.Verdict.Revisit.Ratio) != "6.7") {
			t.Errorf("%s: %+v", c.n, d.Verdict.Revisit)
		}
		if c.fired != strings.Contains(d.Verdict.Revisit.Text, "ADR 39 fires") {
			t.Errorf("%s: %s", c.n, d.Verdict.Revisit.Text)
		}
	}
}

func TestRecommendation(t *testing.T) {
	const k = 1000
	// Thirty sessions that are denied nothing, and some that run far past every candidate.
	history := func(past, turns int) map[string]string {
		files := map[string]string{}
		for i := range 30 {
			files[fmt.Sprintf("calm%d", i)] = rowsOf(a(50*k), a(60*k, "Skill build"))
		}
		for i := range past {
			rows := []row{a(40 * k)}
			for n := int64(100); n <= 600; n += 50 {
				rows = append(rows, a(n*k, "Skill build"))
			}
			for range turns {
				rows = append(rows, a(610*k))
			}
			files[fmt.Sprintf("past%d", i)] = rowsOf(rows...)
		}
		return files
	}
	r := reportOf(t, history(3, 30), nil).Recommendation
	if r.Enough || r.AbsCeiling != nil || !strings.Contains(r.Reason, "Too little data") || r.Settings != "" {
		t.Errorf("three sessions past the line: %+v", r)
	}
	d := reportOf(t, history(8, 30), nil)
	if r = d.Recommendation; !r.Enough || *r.AbsCeiling != 300*k || r.SessionsBlocked != 8 || r.SavedUSD <= 0 {
		t.Errorf("eight sessions past the line: %+v, %d", r, *r.AbsCeiling)
	}
	for _, c := range d.Ceilings {
		if c.SavedUSD > r.SavedUSD {
			t.Errorf("%d saves more, %v, than what is recommended, %v", c.AbsCeiling, c.SavedUSD, r.SavedUSD)
		}
	}
	if r.Settings != `{"ceiling": {"absolute": 300000, "percent": 40}}` || strings.Join(r.Environment, " ") != "DEV_TEAM_CONTEXT_ABS_CEILING=300000 DEV_TEAM_CONTEXT_CEILING_PCT=40" {
		t.Errorf("what to set: %s, %v", r.Settings, r.Environment)
	}
	// Most sessions would be denied a call, or hardly a turn is left: no candidate will do.
	for name, files := range map[string]map[string]string{"too many": history(25, 30), "near their end": history(8, 0)} {
		r = reportOf(t, files, func(o *Options) { o.NearDone = 20 }).Recommendation
		if !r.Enough || *r.AbsCeiling != 350*k || !strings.Contains(r.Reason, "No candidate") {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Each thing that a recommendation needs, and each that a recommended ceiling keeps to, at its boundary.
func TestRecommendationAtItsBoundaries(t *testing.T) {
	type candidate struct {
		abs         int64
		blocked     int
		share, near float64
		left        int
		saved       float64
	}
	// 350 is in force, and the second is the first in everything.
	low, mid, high := candidate{200, 20, 20, 10, 30, 5}, candidate{300, 18, 18, 10, 30, 9}, candidate{350, 15, 15, 10, 30, 7}
	with := func(c candidate, change func(*candidate)) candidate {
		change(&c)
		return c
	}
	for _, c := range []struct {
		n          string
		sessions   int
		candidates []candidate
		want       string // "" for too little data
	}{
		{"the one that saves most", 100, []candidate{low, mid, high}, "300"},
		{"wherever it stands", 100, []candidate{with(low, func(c *candidate) { c.saved = 10 }), mid, high}, "200"},
		{"20 sessions are enough", 20, []candidate{low, mid, high}, "300"},
		{"19 are not", 19, []candidate{low, mid, high}, ""},
		{"5 past the lowest candidate are enough", 100, []candidate{with(mid, func(c *candidate) { c.blocked = 5 }), high}, "300"},
		{"4 are not", 100, []candidate{with(mid, func(c *candidate) { c.blocked = 4 }), high}, ""},
		{"30% denied is not too much", 100, []candidate{low, with(mid, func(c *candidate) { c.share = 30 }), high}, "300"},
		{"30.1% is", 100, []candidate{low, with(mid, func(c *candidate) { c.share = 30.1 }), high}, "350"},
		{"fewer than half near their end", 100, []candidate{low, with(mid, func(c *candidate) { c.near = 49.9 }), high}, "300"},
		{"half is too many", 100, []candidate{low, with(mid, func(c *candidate) { c.near = 50 }), high}, "350"},
		{"10 turns left are enough", 100, []candidate{low, with(mid, func(c *candidate) { c.left = 10 }), high}, "300"},
		{"9 are not", 100, []candidate{low, with(mid, func(c *candidate) { c.left = 9 }), high}, "350"},
		{"one that denies nothing is not recommended", 100, []candidate{low, with(mid, func(c *candidate) { c.blocked = 0 }), high}, "350"},
		{"the one in force is no better than others where it keeps to nothing", 100, []candidate{low, with(high, func(c *candidate) { c.left = 1; c.saved = 99 })}, "200"},
		{"and stays where none does", 100, []candidate{with(low, func(c *candidate) { c.left = 1 }), with(high, func(c *candidate) { c.left = 1 })}, "350"},
	} {
		d := &Document{Policy: &Policy{Percent: 40, Shipped: 350, SessionsBlockable: c.sessions}}
		for _, x := range c.candidates {
			row := Ceiling{AbsCeiling: x.abs, Shipped: x.abs == 350, SessionsBlocked: x.blocked, BlocksTotal: 2 * x.blocked, SavedUSD: x.saved}
			if x.blocked > 0 {
				row.SessionsBlockedPct, row.NearDoneBlockedPct, row.MedianRemainingTurns = &x.share, &x.near, &x.left
			}
			d.Ceilings = append(d.Ceilings, row)
		}
		r := recommend(d)
		got := ""
		if r.Enough {
			got = fmt.Sprint(*r.AbsCeiling)
			for _, x := range c.candidates {
				if x.abs == *r.AbsCeiling && (r.SessionsBlocked != x.blocked || r.Blocks != 2*x.blocked || r.SavedUSD != x.saved) {
					t.Errorf("%s: the figures of another candidate: %+v", c.n, r)
				}
			}
		}
		if got != c.want || r.Enough != (r.Settings != "") || r.Enough != (len(r.Environment) > 0) {
			t.Errorf("%s: %q, want %q: %+v", c.n, got, c.want, r)
		}
	}
}

// What hand-offs at the denials save, by hand: opus-5 reads at $0.50 and writes at $6.25 per million tokens.
func TestSaved(t *testing.T) {
	const k = 1000
	usage := func(n int64, more string) row {
		return row{usage: fmt.Sprintf(`{"cache_read_input_tokens":%d%s}`, n, more)}
	}
	call := func(r row, calls ...string) row {
		r.calls = calls
		return r
	}
	const (
		read  = 350 * k * 0.50 / 1e6 // a turn of a session at 400k whose fresh one is at 50k
		write = 50 * k * 6.25 / 1e6  // of the fresh session
	)
	for _, c := range []struct {
		n    string
		rows []row
		want float64
	}{
		{"up to where the context was cut anyway", []row{a(45 * k), a(400*k, "Skill build"), a(400 * k), a(400 * k), a(90 * k), a(500 * k)}, 2*read - write},
		{"the fresh session's next denial is at the ceiling again", []row{a(45 * k), a(400*k, "Skill build"), a(400*k, "Skill build"), a(690*k, "Skill build"), a(700*k, "Skill build"), a(800 * k)},
			3*read - write + 650*k*0.50/1e6 - write},
		{"a delegation is not denied, so nothing is saved", []row{a(45 * k), a(400*k, "Agent x"), a(400 * k)}, 0},
		{"two denials in one response are one hand-off", []row{a(45 * k), a(400*k, "Skill a", "Skill b"), a(400 * k)}, read - write},
		{"a session that begins past the ceiling cannot begin anew", []row{a(400*k, "Skill build"), a(401*k, "Skill build"), a(402 * k)}, 0},
		{"the last turn saves nothing", []row{a(45 * k), a(400*k, "Skill build")}, -write},
		{"a model without a price", []row{a(45 * k), a(400*k, "Skill build"), of("claude-opus-99", a(400*k)), a(400 * k)}, read - write},
		{"the fast mode has no price", []row{a(45 * k), call(usage(400*k, ""), "Skill build"), usage(400*k, `,"speed":"fast"`), usage(400*k, "")}, read - write},
		{"nor has a fresh session's start", []row{a(45 * k), call(usage(400*k, `,"speed":"fast"`), "Skill build"), usage(400*k, "")}, read},
		{"inference in the US alone", []row{a(45 * k), call(usage(400*k, `,"inference_geo":"us"`), "Skill build"), usage(400*k, `,"inference_geo":"us"`)}, 1.1 * (read - write)},
	} {
		d := reportOf(t, map[string]string{"s": rowsOf(c.rows...)}, nil)
		if got := d.at(t, 350*k).SavedUSD; !near(got, c.want) {
			t.Errorf("%s: saved %v, want %v", c.n, got, c.want)
		}
	}
}
