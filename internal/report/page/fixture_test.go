package page_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"plimsoll/internal/report"
)

// month is a report of a month as a busy operator may have it: 64 sessions, 8 models, 14 candidates, 10 bands. The figures
// are made up, from a fixed seed, but of the size and shape of real ones.
func month() (report.Document, report.Charts) {
	r := rand.New(rand.NewPCG(7, 39))
	p := func(v float64) *float64 { v = math.Round(v*10) / 10; return &v }
	n := func(v int64) *int64 { return &v }
	zone := time.FixedZone("", 2*3600)
	start := time.Date(2026, 11, 1, 7, 40, 0, 0, zone)
	models := []string{"claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5", "claude-sonnet-5",
		"claude-fable-5", "claude-opus-4-8[1m]", "glm-5.2-air"}
	totals := func(responses int, occupancy, usd float64) report.Totals {
		prompt := int64(float64(responses) * occupancy)
		return report.Totals{Responses: responses, InputTokens: prompt / 400, OutputTokens: int64(responses) * 640,
			CacheReadTokens: prompt / 100 * 95, CacheWrite5m: prompt / 40, CacheWrite1h: prompt / 90, CostUSD: usd}
	}
	add := func(sum *report.Totals, t report.Totals) {
		sum.Responses += t.Responses
		sum.InputTokens += t.InputTokens
		sum.OutputTokens += t.OutputTokens
		sum.CacheReadTokens += t.CacheReadTokens
		sum.CacheWrite5m += t.CacheWrite5m
		sum.CacheWrite1h += t.CacheWrite1h
		sum.CostUSD += t.CostUSD
		sum.UnpricedTokens += t.UnpricedTokens
	}

	d := report.Document{Schema: report.Schema, GeneratedAt: "2026-12-01T09:30:12+02:00"}
	var c report.Charts
	var peaks []int64
	byDay := map[string]*report.Totals{}
	var sum report.Totals
	for i := range 64 {
		id := fmt.Sprintf("%08x-%04x-4%03x-9%03x-%012x", r.Uint32(), r.IntN(1<<16), r.IntN(1<<12), r.IntN(1<<12), r.Int64N(1<<48))
		at := start.Add(time.Duration(i*11)*time.Hour + time.Duration(r.IntN(300))*time.Minute)
		from, turns, occupancy, peak := at, 20+r.IntN(260), 24_000+float64(r.IntN(20_000)), 0.0
		curve := report.Curve{SessionID: id}
		var usd float64
		compactions, compacted := 0, false
		for range turns {
			peak = max(peak, occupancy)
			price := occupancy*0.5e-6 + 0.02*r.ExpFloat64()
			if r.IntN(25) == 0 { // the cache had gone cold
				price = occupancy * (6 + r.Float64()) * 1e-6
			}
			usd += price
			curve.Points = append(curve.Points, report.Point{At: at.UnixMilli(), Occupancy: int64(occupancy), Compacted: compacted})
			if r.IntN(5) == 0 {
				c.Turns = append(c.Turns, report.Turn{Occupancy: int64(occupancy), CostUSD: price})
			}
			at = at.Add(time.Duration(20+r.IntN(160)) * time.Second)
			compacted = false
			if r.IntN(90) == 0 {
				at = at.Add(time.Duration(r.IntN(9)) * time.Hour)
			}
			before := occupancy
			if occupancy += 400 + 3_600*r.ExpFloat64(); occupancy > 940_000 || r.IntN(400) == 0 {
				occupancy, compacted = 31_000+float64(r.IntN(9_000)), true
				compactions++
				trigger := "auto"
				if before < 900_000 {
					trigger = "manual"
				}
				d.Compactions = append(d.Compactions, report.Compaction{SessionID: id, At: at.Format(time.RFC3339), Trigger: trigger,
					TokensBefore: n(int64(before)), TokensAfter: n(int64(occupancy))})
			}
		}
		t := totals(turns, peak/2, usd)
		model := models[r.IntN(3)]
		d.Sessions = append(d.Sessions, report.Session{SessionID: id, From: from.Format(time.RFC3339), To: at.Format(time.RFC3339), Model: model,
			Window: 1_000_000, WindowFrom: "detected", PeakOccupancy: int64(peak), FinalOccupancy: int64(occupancy), Turns: turns,
			PromptTokens: int64(peak) * int64(turns) / 2, GatedCalls: r.IntN(30), BlockableCalls: r.IntN(9), Compactions: compactions, Handoffs: r.IntN(2), CostUSD: usd})
		peaks = append(peaks, int64(peak))
		c.Occupancy = append(c.Occupancy, curve)
		d.BySession = append(d.BySession, report.SessionTotals{SessionID: id, Totals: t})
		day := from.Format(time.DateOnly)
		if byDay[day] == nil {
			byDay[day] = &report.Totals{}
			d.ByDay = append(d.ByDay, report.DayTotals{Day: day})
		}
		add(byDay[day], t)
		add(&sum, t)
	}
	for i := range d.ByDay {
		d.ByDay[i].Totals = *byDay[d.ByDay[i].Day]
	}
	slices.SortStableFunc(c.Occupancy, func(a, b report.Curve) int {
		high := func(c report.Curve) (most int64) {
			for _, p := range c.Points {
				most = max(most, p.Occupancy)
			}
			return most
		}
		return int(high(b) - high(a))
	})
	c.Occupancy = c.Occupancy[:24]
	for i, m := range models {
		t := totals(4000>>i, 210_000, sum.CostUSD/float64(int(2)<<i))
		if i == 7 {
			t.UnpricedTokens, t.CostUSD = 6_421_000, 0
			sum.UnpricedTokens = t.UnpricedTokens
			d.Unpriced = append(d.Unpriced, report.ModelTokens{Model: m, Tokens: t.UnpricedTokens})
		}
		d.ByModel = append(d.ByModel, report.ModelTotals{Model: m, Totals: t})
	}
	d.Totals = &sum
	for i, thread := range []string{"main", "Explore", "general-purpose", "code-reviewer", "unattributed"} {
		d.ByThread = append(d.ByThread, report.ThreadTotals{Thread: thread, Totals: totals(5200>>(2*i), 180_000/float64(i+1), sum.CostUSD*0.8/float64(int(1)<<(2*i)))})
	}
	for i := range 10 {
		middle := float64(i)*1e5 + 5e4
		turns := 2600 >> i
		b := report.BandTotals{FromTokens: int64(i) * 1e5, ToTokens: int64(i+1) * 1e5, Sessions: 64 >> (i * 2 / 3), Totals: totals(turns, middle, float64(turns)*(0.03+middle*0.8e-6))}
		if i == 9 {
			b.ToTokens = 0
		}
		if turns > 0 {
			average := 0.03 + middle*0.8e-6
			b.CostPerTurn, b.CostShare = &average, p(100*b.CostUSD/(sum.CostUSD+1))
		}
		d.Bands = append(d.Bands, b)
	}
	for i, s := range d.BySession[:6] {
		d.Client = append(d.Client, report.ClientCost{SessionID: s.SessionID, CostUSD: s.CostUSD, ClientUSD: s.CostUSD * (1.01 + 0.01*float64(i)), DifferenceUSD: s.CostUSD * (0.01 + 0.01*float64(i))})
	}
	d.Policy = &report.Policy{Percent: 40, Shipped: 350_000, NearDoneTurns: 5, SessionsReplayed: 64, SessionsBlockable: 51, GatedCalls: 912, BlockableCalls: 233, Unverified: 1}
	for i := range 14 {
		c := int64(100_000 + 50_000*i)
		blocked := max(0, 38-3*i)
		e := report.Ceiling{AbsCeiling: c, Shipped: c == 350_000, ClampedSessions: min(64, 3*i), ClampedPct: p(float64(min(64, 3*i)) / 0.64),
			AdvisoryFires: 680 >> (i / 2), BlocksTotal: blocked * 4, SessionsBlocked: blocked, SessionsBlockedPct: p(float64(blocked) / 0.51),
			PromptTokensAfterFirst: int64(blocked) * 9_000_000, PromptTokensAfterFirstPc: p(float64(blocked) * 1.9),
			SessionsOverPerTurn: min(64, blocked+9), SessionsOverPerTurnPct: p(float64(min(64, blocked+9)) / 0.64), TurnsOver: blocked * 61, SavedUSD: float64(blocked) * 4.37}
		if blocked > 0 {
			left := 3 + blocked*2
			e.MedianOccupancyAtFirst, e.NearDoneBlockedPct, e.MedianRemainingTurns = n(c+21_412), p(math.Min(100, 6+float64(i*i)/1.5)), &left
			e.NearDoneBlocked = blocked * (6 + i) / 100
		}
		d.Ceilings = append(d.Ceilings, e)
	}
	d.Verdict = &report.Verdict{Outcome: "not-dominant", Text: "The shipped ceiling of 350,000 tokens does not mostly stop sessions that were about to end. Read near-done and turns left together.",
		Revisit: report.Revisit{Fired: true, Delegations: 340, Blocks: 92, Ratio: p(3.7), Text: "Sessions run far past the ceiling by delegating: a limit on what a whole session costs would say more."}}
	d.Recommendation = &report.Recommendation{Enough: true, AbsCeiling: n(300_000), SessionsBlocked: 26, Blocks: 104, SavedUSD: 113.62,
		Reason:   "Of the candidates that block few sessions near their end, 300,000 tokens saves most.",
		Settings: "{\n  \"ceiling\": {\"absolute\": 300000}\n}", Environment: []string{"DEV_TEAM_CONTEXT_ABS_CEILING=300000"}}
	for i, cause := range []string{"idle-over-60-min", "idle-5-to-60-min", "compaction", "model-switch", "resume", "idle-under-5-min", "unknown"} {
		d.Cache = append(d.Cache, report.CacheCause{Cause: cause, Misses: 96 >> i, RewrittenTokens: 31_000_000 >> i, CostUSD: 212.4 / float64(int(1)<<i)})
	}
	d.CacheHit = &report.CacheHit{ReadTokens: sum.CacheReadTokens, PromptTokens: sum.CacheReadTokens / 95 * 100, Ratio: new(float64)}
	*d.CacheHit.Ratio = 0.9512
	slices.Sort(peaks)
	d.Peaks = &report.Peaks{Sessions: 64, Min: n(peaks[0]), P50: n(peaks[32]), P90: n(peaks[57]), Max: n(peaks[63])}
	for i, mark := range []int64{500_000, 900_000} {
		d.Past = append(d.Past, report.Past{Tokens: mark, Sessions: 18 - 11*i, CostUSD: sum.CostUSD * (0.29 - 0.18*float64(i)), CostShare: p(29 - 18*float64(i))})
	}
	d.Gates = &report.Gates{Rules: []report.GateRule{{Rule: "ceiling", Notes: 213, Denials: 92, Obeyed: &report.Obeyed{Denials: 61, DenialsJudged: 80}, FailOpens: 1}, {Rule: "zone", Notes: 118},
		{Rule: "kb", Notes: 12, Denials: 44, Obeyed: &report.Obeyed{Denials: 41, DenialsJudged: 44}, Releases: 3}}}
	d.Files = report.Files{Read: 233, Bytes: 1_204_331_992, Responses: sum.Responses, Skipped: []report.Skipped{
		{Path: "/home/ada/.claude/projects/-home-ada-src-tide/0b2f.jsonl", Reason: "permission denied"},
		{Path: "/home/ada/.claude/projects/-home-ada-src-tide/loop", Reason: "symbolic link loop"},
		{Path: "/home/ada/.claude/projects/-home-ada-src-harbour-master-with-a-very-long-name-for-a-project/77ad2c1e.jsonl", Reason: "2 rows cut off"}}}
	d.Range = report.Range{From: d.Sessions[0].From, To: d.Sessions[63].To, Days: 30, Note: "The client deletes transcripts after 30 days, so older sessions are missing."}
	return d, c
}
