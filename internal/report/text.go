package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"

	"plimsoll/internal/harness"
)

// Section is a part of the report that can be asked for alone.
type Section string

// The sections.
const (
	SectionCeilings Section = "ceilings"
	SectionCost     Section = "cost"
	SectionCache    Section = "cache"
	SectionSessions Section = "sessions"
	SectionGates    Section = "gates"
)

// Sections are all of them, in the order of the report.
func Sections() []Section {
	return []Section{SectionCeilings, SectionCost, SectionCache, SectionSessions, SectionGates}
}

// Text prints the document for a terminal. Lists of sessions, days and compactions are cut after top rows; 0 prints them whole.
func (d *Document) Text(w io.Writer, top int) error {
	p := &printer{top: top}
	p.head(d)
	if d.Policy != nil {
		p.ceilings(d)
	}
	if d.Totals != nil {
		p.cost(d)
	}
	if d.CacheHit != nil {
		p.cache(d)
	}
	if d.Peaks != nil {
		p.sessions(d)
	}
	if d.Gates != nil {
		p.title("GATES", "what the rules said, from Plimsoll's own logs")
		_ = d.Gates.Text(&p.b) // a strings.Builder takes everything
	}
	p.skipped(d)
	_, err := io.WriteString(w, p.b.String())
	return err
}

type printer struct {
	b   strings.Builder
	top int
}

func (p *printer) line(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

// proseWidth is where sentences are broken, in characters.
const proseWidth = 112

// prose prints sentences, indented and broken into lines.
func (p *printer) prose(text string) {
	line := " "
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > proseWidth {
			p.line("%s", line)
			line = " "
		}
		line += " " + word
	}
	p.line("%s", line)
}

func (p *printer) title(name, about string) { p.line("\n%s  %s", name, about) }

// table prints rows below a heading: the first column to the left, the others to the right. Rows past the limit are
// counted. Without a row there is no table.
func (p *printer) table(heading []string, rows [][]string, limit int) {
	if len(rows) == 0 {
		return
	}
	more := 0
	if limit > 0 && len(rows) > limit {
		rows, more = rows[:limit], len(rows)-limit
	}
	grid(&p.b, heading, rows, func(column int) bool { return column == 0 })
	if more > 0 {
		p.line("  ... and %s more; --top 0 prints all", thousands(int64(more)))
	}
}

// grid writes rows below a heading, columns of words to the left and figures to the right.
func grid(b *strings.Builder, heading []string, rows [][]string, words func(column int) bool) {
	t := table.New().Border(lipgloss.Border{}).BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).
		BorderColumn(false).BorderHeader(false).Headers(heading...).Rows(rows...).
		StyleFunc(func(_, column int) lipgloss.Style {
			s := lipgloss.NewStyle().PaddingLeft(2)
			if !words(column) {
				s = s.Align(lipgloss.Right)
			}
			return s
		})
	for line := range strings.Lines(t.String()) {
		b.WriteString(strings.TrimRight(line, " \n"))
		b.WriteByte('\n')
	}
}

func (p *printer) head(d *Document) {
	what := fmt.Sprintf("%s in %s", countText(d.Files.Responses, "response"), countText(d.Files.Read, "transcript"))
	switch {
	case d.Files.Responses == 0:
		p.line("Plimsoll report: no response in %s", countText(d.Files.Read, "transcript"))
	case d.Range.From == "":
		p.line("Plimsoll report: %s, without times", what)
	case d.Range.Days == 1:
		p.line("Plimsoll report: %s, %s", what, dayOf(d.Range.From))
	default:
		p.line("Plimsoll report: %s, %s to %s (%s)", what, dayOf(d.Range.From), dayOf(d.Range.To), countText(d.Range.Days, "day"))
	}
	if d.Range.Note != "" {
		p.line("%s", d.Range.Note)
	}
}

func (p *printer) ceilings(d *Document) {
	o := d.Policy
	p.title("CEILINGS", fmt.Sprintf("what min(%d%% of the window, candidate) would have denied", o.Percent))
	p.prose(fmt.Sprintf("%s replayed, %s with a call that can be denied; %s heard, of which blockable %s (%s); %s of an unverified window, whose calls are warned of and never denied.",
		countText(o.SessionsReplayed, "session"), thousands(int64(o.SessionsBlockable)), callsText(o.GatedCalls), thousands(int64(o.BlockableCalls)), policyText(o),
		countText(o.Unverified, "session")))
	rows := [][]string{}
	clamped := false
	for _, c := range d.Ceilings {
		name := thousands(c.AbsCeiling)
		if c.ClampedSessions > 0 {
			name, clamped = name+"†", true
		}
		if c.Shipped {
			name += " *"
		}
		rows = append(rows, []string{
			name, thousands(int64(c.SessionsBlocked)), percentText(c.SessionsBlockedPct), thousands(int64(c.BlocksTotal)), thousands(int64(c.AdvisoryFires)),
			tokensText(c.MedianOccupancyAtFirst), percentText(c.NearDoneBlockedPct), turnsLeft(c.MedianRemainingTurns),
			percentText(c.PromptTokensAfterFirstPc), percentText(c.ClampedPct), about(c.SavedUSD), percentText(c.SessionsOverPerTurnPct),
		})
	}
	p.table([]string{"ceiling", "sessions", "blocked", "blocks", "advisory", "median@1st", "near-done", "left", "tokens over", "clamped", "saved", "per turn"}, rows, 0)
	p.line("  * in force")
	if clamped {
		p.line("  † the percentage binds first in some sessions: see clamped")
	}
	p.prose("sessions: denied a call at least once; blocked: their share of those with a call that can be denied. near-done: of the denied, " +
		"those with " + turnsText(o.NearDoneTurns) + " left at most. left: turns after a first denial, median. tokens over: prompt tokens after a first denial, of all. saved: an estimate. " +
		"per turn: sessions with any turn past the line. A peak is not a denial: only a call at a gated moment is.")
	p.line("")
	p.prose(d.Verdict.Text)
	p.prose(d.Verdict.Revisit.Text)
}

func policyText(o *Policy) string {
	if o.GateAgent {
		return "Skill, Agent and Task are denied"
	}
	return "a Skill is denied; Agent/Task warns, never blocks"
}

// Calibrate prints the recommendation.
func (d *Document) Calibrate(w io.Writer) error {
	p := &printer{}
	r := d.Recommendation
	p.line("\nRECOMMENDATION")
	p.prose(r.Reason)
	if r.Enough {
		p.prose(fmt.Sprintf("Ceiling: %s tokens. On this history it would have denied %s in %s, and saved an estimated %s.",
			thousands(*r.AbsCeiling), callsText(r.Blocks), countText(r.SessionsBlocked, "session"), dollars(r.SavedUSD)))
		p.line("  In ~/.claude/plimsoll/config.json:  %s", r.Settings)
		p.line("  or in the environment:              %s", strings.Join(r.Environment, " "))
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

// totalsRow is a row of the tables of cost; unpriced tells whether they have a column for what has no price.
func totalsRow(name string, t Totals, unpriced bool) []string {
	row := []string{
		name, thousands(int64(t.Responses)), thousands(t.InputTokens), thousands(t.CacheWrite5m), thousands(t.CacheWrite1h), thousands(t.CacheReadTokens),
		thousands(t.OutputTokens), dollars(t.CostUSD),
	}
	if unpriced {
		row = append(row, thousands(t.UnpricedTokens))
	}
	return row
}

func (p *printer) cost(d *Document) {
	p.title("COST", "tokens, and US dollars at list prices")
	unpriced := d.Totals.UnpricedTokens > 0
	heading := []string{"", "responses", "input", "write 5m", "write 1h", "cache read", "output", "cost"}
	if unpriced {
		heading = append(heading, "unpriced")
	}
	totals := func(key string, rows [][]string, limit int) {
		if len(rows) == 0 {
			return
		}
		heading[0] = key
		p.table(heading, rows, limit)
		p.line("")
	}
	rows := [][]string{}
	for _, t := range d.ByModel {
		rows = append(rows, totalsRow(label(t.Model), t.Totals, unpriced))
	}
	totals("model", append(rows, totalsRow("total", *d.Totals, unpriced)), 0)
	rows = [][]string{}
	for _, t := range d.ByThread {
		rows = append(rows, totalsRow(label(t.Thread), t.Totals, unpriced))
	}
	totals("thread", rows, p.top)
	rows = [][]string{}
	for _, t := range slices.Backward(d.ByDay) {
		rows = append(rows, totalsRow(label(t.Day), t.Totals, unpriced))
	}
	totals("day", rows, p.top)
	rows = [][]string{}
	sessions := slices.Clone(d.BySession)
	slices.SortStableFunc(sessions, func(a, b SessionTotals) int { return cmp.Compare(b.CostUSD, a.CostUSD) })
	for _, t := range sessions {
		rows = append(rows, totalsRow(label(t.SessionID), t.Totals, unpriced))
	}
	totals("session", rows, p.top)
	rows = [][]string{}
	for _, t := range d.Bands {
		if t.Responses == 0 {
			continue
		}
		rows = append(rows, []string{bandText(t.FromTokens, t.ToTokens), thousands(int64(t.Sessions)), thousands(int64(t.Responses)), dollarsOrNone(t.CostPerTurn), dollars(t.CostUSD), percentText(t.CostShare)})
	}
	if len(rows) > 0 {
		p.line("  The main threads' turns by occupancy:")
	}
	p.table([]string{"occupancy", "sessions", "turns", "cost per turn", "cost", "share"}, rows, 0)
	for _, u := range d.Unpriced {
		p.line("  unpriced: %s tokens of %s; no table has its price", thousands(u.Tokens), label(u.Model))
	}
	if len(d.Client) > 0 {
		rows = [][]string{}
		for _, c := range d.Client {
			rows = append(rows, []string{label(c.SessionID), dollars(c.ClientUSD), dollars(c.CostUSD), dollars(c.DifferenceUSD)})
		}
		p.line("\n  The client's own figure, which includes requests that leave no row:")
		p.table([]string{"session", "client", "ours", "difference"}, rows, p.top)
	}
}

func (p *printer) cache(d *Document) {
	p.title("CACHE", "prompt tokens that had been in the cache and were written again")
	ratio := "n/a"
	if d.CacheHit.Ratio != nil {
		ratio = strconv.FormatFloat(*d.CacheHit.Ratio*100, 'f', 1, 64) + "%"
	}
	p.line("  %s of %s prompt tokens came from the cache: %s", thousands(d.CacheHit.ReadTokens), thousands(d.CacheHit.PromptTokens), ratio)
	rows := [][]string{}
	for _, c := range d.Cache {
		rows = append(rows, []string{c.Cause, thousands(int64(c.Misses)), thousands(c.RewrittenTokens), dollars(c.CostUSD)})
	}
	p.table([]string{"cause", "misses", "tokens", "cost"}, rows, 0)
}

func (p *printer) sessions(d *Document) {
	p.title("SESSIONS", "how full their main threads became, in tokens")
	p.line("  %s; peak: min %s, p50 %s, p90 %s, max %s", countText(d.Peaks.Sessions, "session"),
		tokensText(d.Peaks.Min), tokensText(d.Peaks.P50), tokensText(d.Peaks.P90), tokensText(d.Peaks.Max))
	for _, m := range d.Past {
		p.line("  past %s: %s, %s of the main threads' cost", thousands(m.Tokens), countText(m.Sessions, "session"), percentText(m.CostShare))
	}
	handoffs := 0
	for _, s := range d.Sessions {
		handoffs += s.Handoffs
	}
	p.line("  %s, %s", countText(len(d.Compactions), "compaction"), countText(handoffs, "hand-off"))
	rows := [][]string{}
	sessions := slices.Clone(d.Sessions)
	slices.SortStableFunc(sessions, func(a, b Session) int { return cmp.Compare(b.PeakOccupancy, a.PeakOccupancy) })
	for _, s := range sessions {
		window := thousands(s.Window)
		if s.WindowFrom == "default" {
			window += "?"
		}
		rows = append(rows, []string{label(s.SessionID), thousands(s.PeakOccupancy), thousands(s.FinalOccupancy), window, thousands(int64(s.Turns)),
			thousands(int64(s.GatedCalls)), thousands(int64(s.Compactions)), thousands(int64(s.Handoffs)), dollars(s.CostUSD)})
	}
	p.table([]string{"session", "peak", "final", "window", "turns", "gated", "compacted", "hand-offs", "cost"}, rows, p.top)
	if len(d.Compactions) > 0 {
		rows = [][]string{}
		for _, c := range d.Compactions {
			rows = append(rows, []string{label(c.SessionID), label(c.At), label(c.Trigger), tokensText(c.TokensBefore), tokensText(c.TokensAfter)})
		}
		p.line("")
		p.table([]string{"compaction of", "at", "trigger", "before", "after"}, rows, p.top)
	}
}

func (p *printer) skipped(d *Document) {
	if len(d.Files.Skipped) == 0 {
		return
	}
	p.title("SKIPPED", "what could not be used")
	limit := p.top
	for i, s := range d.Files.Skipped {
		if limit > 0 && i == limit {
			p.line("  ... and %s more; --top 0 prints all", thousands(int64(len(d.Files.Skipped)-limit)))
			break
		}
		p.line("  %s: %s", harness.Plain(s.Path, 4096), s.Reason)
	}
}

// label is a name from a transcript for a terminal.
func label(s string) string {
	if s = harness.Label(s); s == "" {
		return "-"
	}
	return s
}

func bandText(from, to int64) string {
	switch {
	case to == 0:
		return "over " + thousands(from)
	case from == 0:
		return "under " + thousands(to)
	}
	return thousands(from) + "-" + thousands(to)
}

func dayOf(moment string) string { return moment[:min(len(moment), len("2026-11-30"))] }

func keptNote(days int) string {
	return fmt.Sprintf("The client deletes transcripts after %d days (cleanupPeriodDays in its settings), so what came before is missing.", days)
}

// thousands writes a number with commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

func tokensText(n *int64) string {
	if n == nil {
		return "n/a"
	}
	return thousands(*n)
}

func turnsLeft(n *int) string {
	if n == nil {
		return "n/a"
	}
	return thousands(int64(*n))
}

func percentText(p *float64) string {
	if p == nil {
		return "n/a"
	}
	return strconv.FormatFloat(*p, 'f', -1, 64) + "%"
}

// dollars writes an amount so that small ones are seen: cents from a dollar on, else four decimals.
func dollars(usd float64) string {
	sign := ""
	if usd < 0 {
		sign, usd = "-", -usd
	}
	if usd != 0 && usd < 0.995 {
		return sign + "$" + strconv.FormatFloat(usd, 'f', 4, 64)
	}
	whole, cents, _ := strings.Cut(strconv.FormatFloat(usd, 'f', 2, 64), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return sign + "$" + whole + "." + cents
	}
	return sign + "$" + thousands(n) + "." + cents
}

// about writes an estimate: dollars alone where there are many.
func about(usd float64) string {
	if math.Abs(usd) < 100 {
		return dollars(usd)
	}
	whole, _, _ := strings.Cut(dollars(math.Round(usd)), ".")
	return whole
}

func dollarsOrNone(usd *float64) string {
	if usd == nil {
		return "n/a"
	}
	return dollars(*usd)
}

// countText is a number with a noun.
func countText(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return thousands(int64(n)) + " " + noun
}

func turnsText(n int) string { return countText(n, "turn") }
func callsText(n int) string { return countText(n, "call") }
