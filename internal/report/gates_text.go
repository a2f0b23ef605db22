package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/harness"
)

// maxShownPath is how much of a path is shown, in characters.
const maxShownPath = 300

// Text writes the section for a terminal, below its title. Moments have the offset that they have in g.
func (g Gates) Text(w io.Writer) error {
	var b strings.Builder
	switch {
	case len(g.Rules) == 0:
		b.WriteString("There are no logs yet: nothing was said or denied, or the hooks are not registered (plimsoll doctor tells).\n")
	case g.First == "":
		b.WriteString("Nothing was said or denied in this range.\n")
	default:
		fmt.Fprintf(&b, "%s in %s, %s to %s\n", gateCount(g.Logs.Decisions, "decision"), gateCount(g.Sessions, "session"), gateMinute(g.First), gateMinute(g.Last))
		g.table(&b)
		g.reasons(&b)
	}
	if g.KB != nil {
		g.KB.text(&b)
	}
	g.Logs.text(&b)
	for line := range strings.Lines(b.String()) {
		if !strings.HasPrefix(line, " ") { // the table's are indented
			line = "  " + line
		}
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	return nil
}

// Columns of the table that hold words; the others hold counts.
const (
	ruleColumn  = 0
	firstColumn = 6
)

func (g Gates) table(b *strings.Builder) {
	var rows [][]string
	for _, r := range g.Rules {
		rows = append(rows, []string{r.Rule, strconv.Itoa(r.Notes), strconv.Itoa(r.Denials), strconv.Itoa(r.Releases), strconv.Itoa(r.FailOpens),
			strconv.Itoa(r.Sessions), gateMinute(r.First), gateMinute(r.Last), r.obeyedText()})
	}
	grid(b, []string{"rule", "notes", "denials", "releases", "fail-opens", "sessions", "first", "last", "denials obeyed"}, rows,
		func(column int) bool { return column == ruleColumn || column >= firstColumn })
}

func (r GateRule) obeyedText() string {
	switch o := r.Obeyed; {
	case r.Denials == 0:
		return "-"
	case o == nil:
		return "not known"
	default:
		text := fmt.Sprintf("%d of %d, in %d of %s", o.Denials, o.DenialsJudged, o.Sessions, gateCount(o.SessionsJudged, "session"))
		if unknown := r.Denials - o.DenialsJudged; unknown > 0 {
			text += fmt.Sprintf("; %d not known", unknown)
		}
		return text
	}
}

func (g Gates) reasons(b *strings.Builder) {
	for _, kind := range []struct {
		name string
		of   func(GateRule) map[string]int
	}{
		{"notes", func(r GateRule) map[string]int { return r.NoteReasons }},
		{"releases", func(r GateRule) map[string]int { return r.ReleaseReasons }},
		{"fail-opens", func(r GateRule) map[string]int { return r.FailOpenReasons }},
	} {
		for _, r := range g.Rules {
			if counts := kind.of(r); len(counts) > 0 {
				fmt.Fprintf(b, "%-10s  %s: %s\n", kind.name, r.Rule, countsText(counts))
			}
		}
	}
}

func (k KBUse) text(b *strings.Builder) {
	s := k.Starts
	fmt.Fprintf(b, "KB gate logs of %s: %s of sub-agents", gateCount(k.Projects, "project"), gateCount(s.Total, "start"))
	if s.Total > 0 {
		fmt.Fprintf(b, ": %d with a lookup, %d warned, %d observed, %d denied", s.Satisfied, s.Warned, s.Observed, s.Denied)
		for _, more := range []struct {
			name   string
			counts map[string]int
		}{{"released", s.Released}, {"not judged", s.Skipped}} {
			if len(more.counts) > 0 {
				fmt.Fprintf(b, ", %s (%s)", more.name, countsText(more.counts))
			}
		}
	}
	searches := gateCount(k.Searches, "search")
	if k.Searches != 1 {
		searches = strconv.Itoa(k.Searches) + " searches"
	}
	fmt.Fprintf(b, "; %s in %s\n", searches, gateCount(k.Turns, "turn"))
}

func (l GateLogs) text(b *strings.Builder) {
	if l.Read > 0 {
		fmt.Fprintf(b, "%s read", gateCount(l.Read, "log"))
		if l.InBoth > 0 {
			fmt.Fprintf(b, "; %s in two of them, counted once", gateCount(l.InBoth, "decision"))
		}
		b.WriteByte('\n')
	}
	if l.Unreadable > 0 {
		fmt.Fprintf(b, "%s of the logs cannot be read\n", gateCount(l.Unreadable, "line"))
	}
	for _, s := range l.Skipped {
		fmt.Fprintf(b, "not read: %s: %s\n", harness.Plain(s.Path, maxShownPath), harness.Plain(s.Reason, maxShownPath))
	}
}

// gateMinute shows a moment of the report to the minute; "-" for none.
func gateMinute(moment string) string {
	t, err := time.Parse(time.RFC3339, moment)
	if err != nil {
		return "-"
	}
	return t.Format("2006-01-02 15:04")
}

// gateCount is a number with its noun.
func gateCount(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// countsText lists counts by reason.
func countsText(counts map[string]int) string {
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", why, counts[why]))
	}
	return strings.Join(parts, ", ")
}
