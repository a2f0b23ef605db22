// Package explain tells from the decision log what Plimsoll did in a session, on which figures, and what would have
// changed it. The ceiling's verdicts are judged again by the ceiling's own arithmetic, not read out of texts.
package explain

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sort"
	"strings"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/guard"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/statefile"
)

// Decision is one line of the decision log.
type Decision struct {
	Time     string         `json:"ts"`
	Session  string         `json:"session"`
	Agent    string         `json:"agent,omitempty"`
	Event    string         `json:"event"`
	Tool     string         `json:"tool,omitempty"`
	Rule     string         `json:"rule"`
	Decision string         `json:"decision"`
	Why      string         `json:"why,omitempty"`
	Figures  map[string]any `json:"figures,omitempty"`
	Changes  []string       `json:"would_have_changed_it,omitempty"`
}

// The bounds of a log, in bytes. The writer rotates at 10 MiB and keeps its lines below guard.MaxLogLine; whatever is
// longer is not its.
const (
	maxFile = 64 << 20
	maxLine = guard.MaxLogLine
)

// Files are a decision log's generations, the older first.
func Files(path string) []string { return []string{path + ".1", path} }

// Read returns a session's decisions, the oldest first, from a decision log and the older one beside it. Lines that
// cannot be read are counted.
func Read(path, session string) (decisions []Decision, bad int, err error) {
	found := false
	for _, name := range Files(path) {
		n, err := each(name, func(d Decision, line []byte) {
			if d.Session != session {
				return
			}
			d.Figures = figuresOf(line)
			d.Changes = changes(d)
			decisions = append(decisions, d)
		})
		bad += n
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, bad, err
		}
		found = true
	}
	if !found {
		return nil, 0, fs.ErrNotExist
	}
	return decisions, bad, nil
}

// Each calls f for every decision of one file of a decision log, in the file's order, without Figures and Changes. Lines
// that cannot be read are counted. The file is streamed.
func Each(file string, f func(Decision)) (bad int, err error) {
	return each(file, func(d Decision, _ []byte) { f(d) })
}

func each(file string, f func(d Decision, line []byte)) (bad int, err error) {
	long, err := statefile.EachLine(file, maxFile, maxLine, func(line []byte) {
		if d, ok := parse(line); ok {
			f(d, line)
		} else {
			bad++
		}
	})
	return bad + long, err
}

// member is where a member that every line has is kept; nil for all others, which are figures.
func (d *Decision) member(key string) *string {
	switch key {
	case "ts":
		return &d.Time
	case "session":
		return &d.Session
	case "agent":
		return &d.Agent
	case "event":
		return &d.Event
	case "tool":
		return &d.Tool
	case "rule":
		return &d.Rule
	case "decision":
		return &d.Decision
	case "why":
		return &d.Why
	}
	return nil
}

func parse(line []byte) (d Decision, ok bool) {
	row, err := rawjson.Parse(line)
	if err != nil {
		return d, false
	}
	for key, value := range row.Members() {
		if field := d.member(key); field != nil {
			if *field, ok = value.Text(); !ok {
				return d, false
			}
		}
	}
	return d, d.Rule != ""
}

// figuresOf are the figures in a line that was parsed.
func figuresOf(line []byte) map[string]any {
	figures := map[string]any{}
	if json.Unmarshal(line, &figures) != nil {
		return nil
	}
	var d Decision
	for key := range figures {
		if d.member(key) != nil {
			delete(figures, key)
		}
	}
	return figures
}

// changes says what would have given another verdict, for the verdicts of the ceiling.
func changes(d Decision) []string {
	if d.Rule != "ceiling" || d.Why == "load" {
		return nil
	}
	n := func(key string) int64 { f, _ := d.Figures[key].(float64); return int64(f) }
	flag := func(key string) bool { b, _ := d.Figures[key].(bool); return b }
	text := func(key string) string { s, _ := d.Figures[key].(string); return s }
	p := ceiling.Policy{Strict: flag("strict"), GateAgent: flag("gate_agent"), Percent: n("percent"), Absolute: n("absolute")}
	w := ceiling.Window{Tokens: n("window"), Provenance: ceiling.Provenance(text("window_from"))}
	occupancy := n("occupancy")
	now := p.Judge(d.Tool, occupancy, w)
	if !now.Over {
		return nil
	}
	var out []string
	try := func(what string, p ceiling.Policy, w ceiling.Window) {
		switch j := p.Judge(d.Tool, occupancy, w); {
		case !j.Over:
			out = append(out, what+": nothing would have been said")
		case j.Denied != now.Denied && j.Denied:
			out = append(out, what+": it would have been denied")
		case j.Denied != now.Denied:
			out = append(out, what+": it would have been a warning")
		}
	}
	// The least line that this occupancy stays below.
	percent := (occupancy+1)*100/max(w.Tokens, 1) + 1
	higher := p
	higher.Absolute, higher.Percent = max(p.Absolute, occupancy+1), max(p.Percent, percent)
	switch {
	case higher.Absolute != p.Absolute && higher.Percent != p.Percent:
		try(fmt.Sprintf("DEV_TEAM_CONTEXT_ABS_CEILING=%d with DEV_TEAM_CONTEXT_CEILING_PCT=%d", higher.Absolute, higher.Percent), higher, w)
	case higher.Absolute != p.Absolute:
		try(fmt.Sprintf("DEV_TEAM_CONTEXT_ABS_CEILING=%d", higher.Absolute), higher, w)
	default:
		try(fmt.Sprintf("DEV_TEAM_CONTEXT_CEILING_PCT=%d", higher.Percent), higher, w)
	}
	if !w.Known() {
		try(fmt.Sprintf("DEV_TEAM_CONTEXT_WINDOW=%d", w.Tokens), p, ceiling.Window{Tokens: w.Tokens, Provenance: ceiling.Override})
	}
	loose, delegation := p, p
	loose.Strict = false
	try("DEV_TEAM_CONTEXT_STRICT=off", loose, w)
	delegation.GateAgent = !p.GateAgent
	if d.Tool != "Skill" {
		value := "block"
		if p.GateAgent {
			value = "warn"
		}
		try("DEV_TEAM_CONTEXT_GATE_AGENT="+value, delegation, w)
	}
	return out
}

// Print writes decisions for people.
func Print(w io.Writer, decisions []Decision) {
	for _, d := range decisions {
		what := d.Event
		if d.Tool != "" {
			what += " " + d.Tool
		}
		if d.Agent != "" {
			what += " (sub-agent " + d.Agent + ")"
		}
		fmt.Fprintf(w, "%s  %s: %s by %s", d.Time, what, d.Decision, d.Rule)
		if d.Why != "" {
			fmt.Fprintf(w, " (%s)", d.Why)
		}
		fmt.Fprintln(w)
		if figures := figuresText(d.Figures); figures != "" {
			fmt.Fprintf(w, "    on  %s\n", figures)
		}
		for _, c := range d.Changes {
			fmt.Fprintf(w, "    %s\n", c)
		}
	}
}

// figuresText lists figures with where they came from.
func figuresText(figures map[string]any) string {
	var keys []string
	for key := range figures {
		if !strings.HasSuffix(key, "_from") {
			keys = append(keys, key)
		}
	}
	sort.Strings(keys)
	var parts []string
	for _, key := range keys {
		value := fmt.Sprint(figures[key])
		if f, ok := figures[key].(float64); ok {
			value = fmt.Sprintf("%.10g", f)
		}
		part := key + " " + value
		if from, ok := figures[key+"_from"].(string); ok {
			part += " (" + from + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}
