package page

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/report"
)

// section is one chapter of the page.
type section struct {
	ID      string
	Title   string
	Prose   []paragraph
	Figures []figure
	Tables  []table
}

type paragraph struct {
	Class string
	Lead  string
	Text  string
}

// figure is a place for a chart, which charts.js draws into the canvas of that id.
type figure struct {
	ID      string
	Title   string
	Caption string
	Wide    bool
}

// fact is one of the figures at the top.
type fact struct {
	Name, Value, Unit string
}

// advice is the recommendation in words.
type advice struct {
	Answer      string
	Reason      string
	Effect      string
	Settings    string
	Environment string
}

// sections are those that d has, in the order in which a reader asks: where the line should be, what it costs, why.
func sections(d report.Document, c report.Charts) []section {
	var out []section
	for _, s := range []section{ceilings(d), cost(d, c), cache(d), sessions(d, c), gates(d), files(d)} {
		if len(s.Prose)+len(s.Figures)+len(s.Tables) > 0 {
			out = append(out, s)
		}
	}
	return out
}

func hasFigures(all []section) bool {
	for _, s := range all {
		if len(s.Figures) > 0 {
			return true
		}
	}
	return false
}

// add puts a table into the section unless it is empty.
func (s *section) add(t table) {
	if len(t.Rows) > 0 {
		s.Tables = append(s.Tables, t)
	}
}

func rangeText(d report.Document) string {
	from, to := prose(d.Range.From), prose(d.Range.To)
	if from == "" || to == "" {
		return ""
	}
	text := moment(from).Text + " to " + moment(to).Text
	switch {
	case d.Range.Days == 1:
		text += " (1 day)"
	case d.Range.Days > 1:
		text += fmt.Sprintf(" (%s days)", number(d.Range.Days).Text)
	}
	return text
}

func facts(d report.Document) []fact {
	var out []fact
	add := func(name string, c cell, unit string) { out = append(out, fact{name, c.Text, unit}) }
	if t := d.Totals; t != nil {
		add("Cost", usd(t.CostUSD), "USD")
	}
	if d.Files.Responses > 0 {
		add("Responses", number(d.Files.Responses), "")
	}
	if p := d.Peaks; p != nil && p.Sessions > 0 {
		add("Sessions", number(p.Sessions), "")
		if p.P50 != nil {
			add("Median peak occupancy", optional(p.P50), "tokens")
		}
		if p.P90 != nil {
			add("90th percentile peak", optional(p.P90), "tokens")
		}
	}
	if h := d.CacheHit; h != nil && h.Ratio != nil {
		add("Prompt tokens from the cache", decimal(100**h.Ratio, 1), "%")
	}
	add("Files read", number(d.Files.Read), "")
	add("Read", decimal(float64(d.Files.Bytes)/1e6, 1), "MB")
	if n := len(d.Files.Skipped); n > 0 {
		add("Files or rows not usable", number(n), "")
	}
	return out
}

func adviceOf(d report.Document) *advice {
	r := d.Recommendation
	if r == nil {
		return nil
	}
	if !r.Enough || r.AbsCeiling == nil {
		return &advice{Answer: "There is too little history to recommend a ceiling.", Reason: prose(r.Reason)}
	}
	var environment []string
	for _, e := range r.Environment {
		environment = append(environment, prose(e))
	}
	return &advice{
		Answer: "Set the absolute ceiling to " + number(*r.AbsCeiling).Text + " tokens.",
		Reason: prose(r.Reason),
		Effect: fmt.Sprintf("On this history it would have denied %s in %s, and saved an estimated %s USD.",
			plural(r.Blocks, "Skill load"), plural(r.SessionsBlocked, "session"), usd(r.SavedUSD).Text),
		Settings:    lines(r.Settings),
		Environment: strings.Join(environment, "\n"),
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return number(n).Text + " " + what + "s"
}

func ceilings(d report.Document) section {
	s := section{ID: "ceilings", Title: "Ceilings"}
	if v := d.Verdict; v != nil {
		s.Prose = append(s.Prose, paragraph{Class: "verdict", Lead: "Verdict: " + label(v.Outcome).Text + ".", Text: prose(v.Text)})
		trigger := paragraph{Lead: "Revisit trigger: not fired.", Text: prose(v.Revisit.Text)}
		if v.Revisit.Fired {
			trigger.Class, trigger.Lead = "alert", "Revisit trigger: fired."
		}
		trigger.Text = strings.TrimSpace(trigger.Text + fmt.Sprintf(" %s, %s, ratio %s.", plural(v.Revisit.Delegations, "delegation"),
			plural(v.Revisit.Blocks, "block"), optionalDecimal(v.Revisit.Ratio, 1).Text))
		s.Prose = append(s.Prose, trigger)
	}
	if p := d.Policy; p != nil {
		agents := "only warned of"
		if p.GateAgent {
			agents = "denied as well"
		}
		s.Prose = append(s.Prose, paragraph{Text: fmt.Sprintf("In force: %s tokens or %d %% of the window, whichever is less; "+
			"sub-agents are %s. Replayed: %s, of which %s with a call that can be denied and %s of an unverified window, which "+
			"is never denied anything; %s, of which %s. A session counts as near done with at most %s to go.",
			number(p.Shipped).Text, p.Percent, agents, plural(p.SessionsReplayed, "session"), number(p.SessionsBlockable).Text,
			number(p.Unverified).Text, plural(p.GatedCalls, "gated call"), number(p.BlockableCalls).Text+" deniable",
			plural(p.NearDoneTurns, "turn"))})
	}
	if len(d.Ceilings) == 0 {
		return s
	}
	if slices.ContainsFunc(d.Ceilings, func(c report.Ceiling) bool { return c.SessionsBlockedPct != nil }) {
		s.Figures = append(s.Figures, figure{ID: "sweep", Title: "What each ceiling would have denied", Caption: "Percent by " +
			"candidate ceiling: sessions blocked, blocked sessions that were near done, prompt tokens spent after the first block."})
	}
	if slices.ContainsFunc(d.Ceilings, func(c report.Ceiling) bool { return c.MedianRemainingTurns != nil }) {
		s.Figures = append(s.Figures, figure{ID: "left", Title: "Turns left at the first block", Caption: "Median over the blocked " +
			"sessions, by candidate ceiling."})
	}
	t := table{ID: "ceiling-sweep", Caption: "Candidate ceilings, at gated calls", Note: "Replayed as if nothing had changed after a denial.",
		Columns: []column{tokens("Ceiling"), count("Sessions blocked"), percent("Sessions blocked"), count("Blocks"),
			count("Advisory fires"), tokens("Median occupancy at first block"), count("Near done"), percent("Near done"),
			{Head: "Median left at first block", Unit: "turns"}, tokens("Prompt after first block"), percent("Prompt after first block"),
			count("Clamped sessions"), percent("Clamped sessions"), dollars("Saved, estimated")}}
	perTurn := table{ID: "ceiling-turns", Caption: "Candidate ceilings, as if every turn were a gated call",
		Note:    "This replay overstates what would be denied.",
		Columns: []column{tokens("Ceiling"), count("Sessions over"), percent("Sessions over"), count("Turns over")}}
	for _, c := range d.Ceilings {
		mark := ""
		if c.Shipped {
			mark = "in force"
		}
		if r := d.Recommendation; r != nil && r.Enough && r.AbsCeiling != nil && *r.AbsCeiling == c.AbsCeiling {
			mark = strings.TrimPrefix(mark+", recommended", ", ")
		}
		t.Rows = append(t.Rows, row{mark, []cell{number(c.AbsCeiling), number(c.SessionsBlocked), optionalDecimal(c.SessionsBlockedPct, 1),
			number(c.BlocksTotal), number(c.AdvisoryFires), optional(c.MedianOccupancyAtFirst), number(c.NearDoneBlocked),
			optionalDecimal(c.NearDoneBlockedPct, 1), optional(c.MedianRemainingTurns), number(c.PromptTokensAfterFirst),
			optionalDecimal(c.PromptTokensAfterFirstPc, 1), number(c.ClampedSessions), optionalDecimal(c.ClampedPct, 1), usd(c.SavedUSD)}})
		perTurn.Rows = append(perTurn.Rows, row{mark, []cell{number(c.AbsCeiling), number(c.SessionsOverPerTurn),
			optionalDecimal(c.SessionsOverPerTurnPct, 1), number(c.TurnsOver)}})
	}
	s.add(t)
	s.add(perTurn)
	return s
}

func cost(d report.Document, c report.Charts) section {
	s := section{ID: "cost", Title: "Cost"}
	if slices.ContainsFunc(c.Turns, func(t report.Turn) bool { return t.CostUSD > 0 }) {
		s.Figures = []figure{{ID: "turns", Title: "Cost per turn against occupancy", Wide: true, Caption: "Each dot is a turn of " +
			"a main thread, from an even sample; the steps are the averages of the occupancy bands."}}
	}
	bands := table{ID: "bands", Caption: "By occupancy of the main thread",
		Columns: append([]column{tokens("From"), tokens("To"), count("Turns"), count("Sessions"),
			dollars("Cost per turn"), percent("Share of cost")}, sums...)}
	for _, b := range d.Bands {
		to := number(b.ToTokens)
		if b.ToTokens == 0 {
			to = cell{Text: "no end"}
		}
		bands.Rows = append(bands.Rows, row{Cells: append([]cell{number(b.FromTokens), to, number(b.Responses), number(b.Sessions),
			optionalDecimal(b.CostPerTurn, 4), optionalDecimal(b.CostShare, 1)}, totals(b.Totals)...)})
	}
	s.add(bands)

	list := func(id, caption, note string, first column) table {
		t := table{ID: id, Caption: caption, Note: note, Columns: append([]column{first, count("Responses")}, sums...)}
		if d.Totals != nil {
			t.Foot = &row{Cells: append([]cell{{Text: "All", Words: true}, number(d.Totals.Responses)}, totals(*d.Totals)...)}
		}
		return t
	}
	line := func(c cell, t report.Totals) row {
		return row{Cells: append([]cell{c, number(t.Responses)}, totals(t)...)}
	}
	models := list("by-model", "By model", "", name("Model"))
	for _, m := range d.ByModel {
		models.Rows = append(models.Rows, line(label(m.Model), m.Totals))
	}
	threads := list("by-thread", "By thread", "The main threads, and the sub-agents by type.", name("Thread"))
	for _, t := range d.ByThread {
		threads.Rows = append(threads.Rows, line(label(t.Thread), t.Totals))
	}
	days := list("by-day", "By day", "", name("Day"))
	for _, t := range d.ByDay {
		days.Rows = append(days.Rows, line(label(t.Day), t.Totals))
	}
	bySession := list("by-session", "By session", "With its sub-agents.", name("Session"))
	for _, t := range d.BySession {
		bySession.Rows = append(bySession.Rows, line(label(t.SessionID), t.Totals))
	}
	if s.add(models); len(s.Tables) == 0 && d.Totals != nil { // nothing else to stand under
		models.Rows, models.Foot = []row{*models.Foot}, nil
		models.ID, models.Caption, models.Columns[0].Head = "totals", "Totals", "Of"
		s.add(models)
	}
	s.add(threads)
	s.add(days)
	s.add(bySession)

	unpriced := table{ID: "unpriced", Caption: "Models without a price", Note: "Their tokens are no part of any cost.",
		Columns: []column{name("Model"), tokens("Unpriced")}}
	for _, m := range d.Unpriced {
		unpriced.Rows = append(unpriced.Rows, row{Cells: []cell{label(m.Model), number(m.Tokens)}})
	}
	s.add(unpriced)
	client := table{ID: "client", Caption: "The client's own figure",
		Note: "It includes requests that leave no row in a transcript: titles, suggestions, compaction.",
		Columns: []column{name("Session"), dollars("Client's figure"), dollars("Cost"),
			dollars("Difference")}}
	for _, c := range d.Client {
		client.Rows = append(client.Rows, row{Cells: []cell{label(c.SessionID), usd(c.ClientUSD), usd(c.CostUSD), usd(c.DifferenceUSD)}})
	}
	s.add(client)
	return s
}

// sums are the columns of totals.
var sums = []column{dollars("Cost"), tokens("Input"), tokens("Output"), tokens("Cache read"), tokens("Cache write, 5\u00a0min"),
	tokens("Cache write, 1\u00a0h"), tokens("Unpriced")}

func totals(t report.Totals) []cell {
	return []cell{usd(t.CostUSD), number(t.InputTokens), number(t.OutputTokens), number(t.CacheReadTokens), number(t.CacheWrite5m),
		number(t.CacheWrite1h), number(t.UnpricedTokens)}
}

func cache(d report.Document) section {
	s := section{ID: "cache", Title: "Prompt cache"}
	if h := d.CacheHit; h != nil {
		text := fmt.Sprintf("%s of %s prompt tokens were read from the cache", number(h.ReadTokens).Text, number(h.PromptTokens).Text)
		if h.Ratio != nil {
			text += fmt.Sprintf(" (%s %%)", decimal(100**h.Ratio, 1).Text)
		}
		s.Prose = []paragraph{{Text: text + "."}}
	}
	if slices.ContainsFunc(d.Cache, func(c report.CacheCause) bool { return c.CostUSD > 0 }) {
		s.Figures = append(s.Figures, figure{ID: "rewritten", Title: "Cost of cache misses by cause", Caption: "US dollars for writing " +
			"again what the cache no longer held."})
	}
	if slices.ContainsFunc(d.Cache, func(c report.CacheCause) bool { return c.Misses > 0 }) {
		s.Figures = append(s.Figures, figure{ID: "misses", Title: "Cache misses by cause", Caption: "How many there were."})
	}
	t := table{ID: "cache-causes", Caption: "Misses by cause",
		Columns: []column{name("Cause"), count("Misses"), tokens("Written again"), dollars("Cost")}}
	for _, c := range d.Cache {
		t.Rows = append(t.Rows, row{Cells: []cell{label(c.Cause), number(c.Misses), number(c.RewrittenTokens), usd(c.CostUSD)}})
	}
	s.add(t)
	return s
}

func sessions(d report.Document, c report.Charts) section {
	s := section{ID: "sessions", Title: "Sessions"}
	if drawn, untimed := curves(c); len(drawn) > 0 {
		caption := "Tokens in the context of the main thread, for the sessions that reached furthest. A triangle is a compaction."
		if untimed > 0 {
			caption += " Left out for want of times: " + plural(untimed, "session") + "."
		}
		s.Figures = []figure{{ID: "occupancy", Title: "Occupancy over time", Wide: true, Caption: caption}}
	}
	if p := d.Peaks; p != nil {
		s.add(table{ID: "peaks", Caption: "Peak occupancy", Note: "Each session's highest. A peak past a ceiling is no denial: that takes a gated call.",
			Columns: []column{count("Sessions"), tokens("Least"), tokens("Median"), tokens("90th percentile"), tokens("Most")},
			Rows:    []row{{Cells: []cell{number(p.Sessions), optional(p.Min), optional(p.P50), optional(p.P90), optional(p.Max)}}}})
	}
	past := table{ID: "past", Caption: "Sessions that went past a mark",
		Columns: []column{tokens("Past"), count("Sessions"), dollars("Cost"), percent("Share of cost")}}
	for _, p := range d.Past {
		past.Rows = append(past.Rows, row{Cells: []cell{number(p.Tokens), number(p.Sessions), usd(p.CostUSD), optionalDecimal(p.CostShare, 1)}})
	}
	s.add(past)
	list := table{ID: "session-list", Caption: "Main threads",
		Columns: []column{name("Session"), {Head: "From"}, {Head: "To"}, name("Last model"), tokens("Peak"), tokens("Last"),
			tokens("Window"), name("Window from"), count("Turns"), dollars("Cost"), tokens("Prompts"), count("Gated calls"),
			count("Deniable"), count("Compactions"), count("Hand-offs")}}
	for _, e := range d.Sessions {
		window := number(e.Window)
		if e.Window == 0 {
			window = cell{Text: none}
		}
		list.Rows = append(list.Rows, row{Cells: []cell{label(e.SessionID), moment(e.From), moment(e.To), label(e.Model), number(e.PeakOccupancy),
			number(e.FinalOccupancy), window, label(e.WindowFrom), number(e.Turns), usd(e.CostUSD), number(e.PromptTokens),
			number(e.GatedCalls), number(e.BlockableCalls), number(e.Compactions), number(e.Handoffs)}})
	}
	s.add(list)
	compactions := table{ID: "compactions", Caption: "Compactions",
		Columns: []column{name("Session"), {Head: "At"}, name("Trigger"), tokens("Before"), tokens("After")}}
	for _, e := range d.Compactions {
		compactions.Rows = append(compactions.Rows, row{Cells: []cell{label(e.SessionID), moment(e.At), label(e.Trigger),
			optional(e.TokensBefore), optional(e.TokensAfter)}})
	}
	s.add(compactions)
	return s
}

func gates(d report.Document) section {
	s := section{ID: "gates", Title: "Gates"}
	if d.Gates == nil {
		return s
	}
	if len(d.Gates.Rules) == 0 {
		s.Prose = []paragraph{{Text: "No gate has left a decision on record."}}
	}
	t := table{ID: "gate-rules", Caption: "What the rules did", Note: "Obeyed: denials after which the session did what they name, as far as that can be known; judged: those of which it can.",
		Columns: []column{name("Rule"), count("Notes"), count("Denials"), count("Judged"), count("Obeyed"), count("Releases"), count("Failed open"),
			count("Sessions"), count("Sessions denied"), count("Sessions judged"), count("Sessions that obeyed"), {Head: "First"}, {Head: "Last"}}}
	for _, g := range d.Gates.Rules {
		unknown := cell{Text: none}
		judged, obeyed, in, of := unknown, unknown, unknown, unknown
		if o := g.Obeyed; o != nil {
			judged, obeyed, in, of = number(o.DenialsJudged), number(o.Denials), number(o.Sessions), number(o.SessionsJudged)
		}
		t.Rows = append(t.Rows, row{Cells: []cell{label(g.Rule), number(g.Notes), number(g.Denials), judged, obeyed, number(g.Releases), number(g.FailOpens),
			number(g.Sessions), number(g.SessionsDenied), of, in, moment(g.First), moment(g.Last)}})
	}
	s.add(t)
	logs := d.Gates.Logs
	s.add(table{ID: "gate-logs", Caption: "What was read of the logs",
		Columns: []column{count("Logs"), count("Decisions"), count("In two logs"), count("Lines that cannot be read"), count("Sessions"), {Head: "First"}, {Head: "Last"}},
		Rows: []row{{Cells: []cell{number(logs.Read), number(logs.Decisions), number(logs.InBoth), number(logs.Unreadable), number(d.Gates.Sessions),
			moment(d.Gates.First), moment(d.Gates.Last)}}}})
	return s
}

func files(d report.Document) section {
	s := section{ID: "files", Title: "Files that could not be used"}
	t := table{ID: "skipped", Caption: "Skipped", Note: "Whole files, or rows in them.", Columns: []column{name("Path"), name("Reason")}}
	for _, f := range d.Files.Skipped {
		t.Rows = append(t.Rows, row{Cells: []cell{proseCell(f.Path), proseCell(f.Reason)}})
	}
	s.add(t)
	return s
}
