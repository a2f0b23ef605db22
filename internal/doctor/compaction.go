package doctor

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/settings"
	"plimsoll/internal/zone"
)

// The client's surfaces that decide when it compacts by itself.
const (
	keyWindow  = "autoCompactWindow"
	keyEnabled = "autoCompactEnabled"
	envWindow  = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
	envPercent = "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"
	envOff     = "DISABLE_AUTO_COMPACT"
	envAllOff  = "DISABLE_COMPACT" // in the client's program, not in its documentation
	envNo1M    = "CLAUDE_CODE_DISABLE_1M_CONTEXT"
)

const (
	// minWindow and maxWindow are the range of the auto-compact window, in tokens: the client's settings schema.
	minWindow = 100_000
	maxWindow = 1_000_000

	smallClass = 200_000
	largeClass = 1_000_000
)

// defaultTrigger is where the client compacts when nothing is configured, in tokens. About 967,000 on a native 1M window
// is the one published number (model configuration page, read 2026-09-28); about 187,000 on 200,000 was read out of the
// client (2.1.269), and smaller windows, which do not occur, are taken to be like that one.
func defaultTrigger(window float64) float64 {
	switch {
	case window >= largeClass:
		return window - 33_000
	case window >= smallClass:
		return window - 13_000
	}
	return window * 187 / 200
}

const defaultFrom = "the client's default; it publishes about where, not exactly"

// Trigger is where the client compacts by itself in one window.
type Trigger struct {
	Window   float64 // tokens
	Measured bool    // the window is that of the session's snapshot, not an assumption
	Tokens   float64
	From     string // what decides it
}

// Percent is the trigger in percent of the full window, which is what used_percentage counts in.
func (t Trigger) Percent() float64 { return t.Tokens / t.Window * 100 }

func (t Trigger) String() string {
	window := "the window"
	if !t.Measured {
		window = "a window of " + zone.FormatTokens(t.Window)
	}
	return fmt.Sprintf("%s tokens, %s%% of %s", zone.FormatTokens(t.Tokens), tenths(t.Percent()), window)
}

func tenths(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// setting is a value of the client's that was looked for. Use is 0 when nothing usable was found.
type setting struct {
	use     float64
	from    string
	problem string // what the client makes of it that the operator hardly meant
}

// compactWindow is the configured auto-compact window, in tokens.
func (e *exam) compactWindow() setting {
	if text, ok := e.env(envWindow); ok && strings.TrimSpace(text) != "" {
		s := plainInteger(text)
		s.from = envWindow + e.by(envWindow)
		return s
	}
	v, f := settings.Lookup(e.Files, keyWindow)
	if v.Kind() == rawjson.Absent || v.Kind() == rawjson.Null {
		return setting{}
	}
	s := setting{from: keyWindow + " in " + f.Path}
	n, ok := v.Float()
	switch {
	case !ok || n != math.Trunc(n):
		s.problem = fmt.Sprintf("it is %.40s, no whole number of tokens", v)
	case n < minWindow || n > maxWindow:
		s.problem = fmt.Sprintf("it is %.40s, outside 100000 to 1000000 tokens", v)
	default:
		s.use = n
	}
	return s
}

// plainInteger reads the variable as the client does: the digits at the front count and the rest is dropped, so 500k
// is 500, and what is out of range is moved to its end.
func plainInteger(text string) setting {
	text = strings.TrimSpace(text)
	digits := text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
	n, _ := strconv.ParseFloat(digits, 64) // more digits than fit are infinite, which is out of range as well
	if digits == "" {
		return setting{problem: fmt.Sprintf("it is %.40q, which has no number at its front; the client does not use it", text)}
	}
	s := setting{use: min(max(n, minWindow), maxWindow)}
	switch {
	case digits != text:
		s.problem = fmt.Sprintf("it takes a plain number of tokens: the client reads %.40q as %s and uses %.0f", text, tenths(n), s.use)
	case s.use != n:
		s.problem = fmt.Sprintf("%.40s is outside 100000 to 1000000 tokens: the client uses %.0f", text, s.use)
	}
	return s
}

// compactPercent is the configured percentage of the auto-compact window.
func (e *exam) compactPercent() setting {
	text, ok := e.env(envPercent)
	if !ok || strings.TrimSpace(text) == "" {
		return setting{}
	}
	s := setting{from: envPercent + e.by(envPercent)}
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(n >= 1 && n <= 100) {
		s.problem = fmt.Sprintf("it is %.40q, no number from 1 to 100; the client does not use it", text)
		return s
	}
	s.use = n
	return s
}

// compactionOff names what switches auto-compact off; "" when nothing does.
func (e *exam) compactionOff() string {
	for _, name := range []string{envOff, envAllOff} {
		switch strings.ToLower(strings.TrimSpace(e.env.Get(name))) {
		case "1", "true", "yes", "on":
			return name + e.by(name)
		}
	}
	if v, f := settings.Lookup(e.Files, keyEnabled); v.Kind() == rawjson.False {
		return keyEnabled + " in " + f.Path
	}
	return ""
}

// compactsAt computes the trigger in a window. The percentage only ever lowers it, and a configured window larger than
// the model's extends nothing.
func compactsAt(window float64, configured, percent setting) Trigger {
	t := Trigger{Window: window, Tokens: defaultTrigger(window), From: defaultFrom}
	full := window
	if configured.use > 0 && configured.use < window {
		full = configured.use
		if full < t.Tokens {
			t.Tokens, t.From = full, configured.from
		}
	}
	if lowered := full * percent.use / 100; percent.use > 0 && lowered < t.Tokens {
		t.Tokens, t.From = lowered, percent.from
	}
	return t
}

// triggers is where the client compacts: in the session's window where it is known, else in each class it can be.
func triggers(e *exam) []Trigger {
	if e.compactionOff() != "" {
		return nil
	}
	windows := []float64{smallClass, largeClass}
	measured := e.state.Tokens.Window > 0
	switch no1M := strings.ToLower(strings.TrimSpace(e.env.Get(envNo1M))); {
	case measured:
		windows = []float64{e.state.Tokens.Window}
	case no1M == "1" || no1M == "true":
		windows = windows[:1]
	}
	var list []Trigger
	for _, w := range windows {
		t := compactsAt(w, e.compactWindow(), e.compactPercent())
		t.Measured = measured
		list = append(list, t)
	}
	return list
}

// checkCompactionValues looks for values of the client's that do not mean what they seem to.
func checkCompactionValues(e *exam) []Result {
	var results []Result
	if s := e.compactWindow(); s.problem != "" {
		results = append(results, fail("compaction.window", s.from+" does not mean what it seems to", s.problem, "write it as a plain number of tokens, for instance 500000"))
	}
	if s := e.compactPercent(); s.problem != "" {
		results = append(results, fail("compaction.percent", s.from+" has no effect", s.problem, "write a number from 1 to 100, or unset it"))
	}
	return results
}

// checkCompaction tells where the client compacts, and fails where a band or the ceiling would come too late.
func checkCompaction(e *exam) []Result {
	if off := e.compactionOff(); off != "" {
		return one(info("compaction", "the client does not compact by itself", off+": the session stops hard at the end of its window, so the dumb band is the only warning", ""))
	}
	var results []Result
	late := false
	for _, t := range triggers(e) {
		why := t.From
		if t.From != defaultFrom {
			why += "; used_percentage still counts in the full window and does not show it coming"
		}
		if p := e.compactPercent(); p.use > 0 && t.From != p.from {
			why += "; " + envPercent + " is above the default and has no effect"
		}
		results = append(results, pass("compaction", "the client compacts at "+t.String(), why))
		for _, r := range []*Result{e.bandsAbove(t), e.ceilingAbove(t)} {
			if r != nil {
				results, late = append(results, *r), true
			}
		}
	}
	if !late {
		results = append(results, pass("compaction.order", "every band and the ceiling come before it", ""))
	}
	return results
}

// bandsAbove compares the percent bands, which count as the trigger does. Token bands measure something else, so the
// contract leaves them out.
func (e *exam) bandsAbove(t Trigger) *Result {
	b := e.bands().Percent
	var late []string
	if b.SmartMax >= t.Percent() {
		late = append(late, fmt.Sprintf("acceptable (past %v%%)", b.SmartMax))
	}
	if b.AcceptableMax >= t.Percent() {
		late = append(late, fmt.Sprintf("dumb (past %v%%)", b.AcceptableMax))
	}
	if len(late) == 0 {
		return nil
	}
	r := fail("compaction.bands", "the client compacts before these zones are reached: "+strings.Join(late, ", "), "it compacts at "+t.String()+": "+t.From,
		fmt.Sprintf("keep both percent bands in zones.json below %s, or let the client compact later", tenths(t.Percent())))
	return &r
}

// ceilingAbove compares the ceiling and its bands with the trigger.
func (e *exam) ceilingAbove(t Trigger) *Result {
	c := e.cfg.Ceiling
	if !c.Enabled.V || e.env.Off() {
		return nil
	}
	window := t.Window
	if c.Window.V > 0 {
		window = float64(c.Window.V)
	}
	threshold, _ := ceiling.Threshold(int64(min(window, 1e15)), int64(c.Percent.V), int64(c.Absolute.V))
	var late []string
	for _, at := range []struct {
		name   string
		tokens int64
	}{{"the ceiling", threshold}, {"its band run-now", threshold + threshold/4}, {"its band full-summary", threshold + threshold/2}} {
		if float64(at.tokens) >= t.Tokens {
			late = append(late, fmt.Sprintf("%s (%s tokens)", at.name, zone.FormatTokens(float64(at.tokens))))
		}
	}
	if len(late) == 0 {
		return nil
	}
	r := fail("compaction.ceiling", "the client compacts before these are reached: "+strings.Join(late, ", "), "it compacts at "+t.String()+": "+t.From,
		"lower ceiling.percent or ceiling.absolute, or let the client compact later")
	return &r
}
