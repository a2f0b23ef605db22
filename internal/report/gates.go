package report

import (
	"cmp"
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"
	"time"

	"plimsoll/internal/explain"
	"plimsoll/internal/harness"
	"plimsoll/internal/kbgate"
	"plimsoll/internal/kblog"
	"plimsoll/internal/statefile"
)

// The rules, by their names in the decision log.
const (
	ruleZoneGate = "zone-gate"
	ruleCeiling  = "ceiling"
	ruleKBGate   = "kb-gate"
	ruleCrossing = "crossing"
	ruleMarker   = "marker"
)

// Gates is what the rules did, from the decision log and the projects' KB gate logs. Moments are RFC 3339.
type Gates struct {
	First    string     `json:"first"` // the first of the decisions counted; "" without one
	Last     string     `json:"last"`
	Sessions int        `json:"sessions"` // in which a rule decided anything
	Rules    []GateRule `json:"rules"`    // the shipped ones always, in one order, then others by name; empty without a log
	KB       *KBUse     `json:"kb"`       // null without a KB gate log
	Logs     GateLogs   `json:"logs"`
}

// GateRule is what one rule did. Reasons are the decision log's words; decisions without one are in none of the maps.
type GateRule struct {
	Rule      string `json:"rule"`       // as in the decision log
	Notes     int    `json:"notes"`      // warnings and briefings
	Denials   int    `json:"denials"`    // calls that did not go through
	Releases  int    `json:"releases"`   // calls that went through because a budget of denials was spent
	FailOpens int    `json:"fail_opens"` // events that the rule let pass because it could not do its work

	NoteReasons     map[string]int `json:"note_reasons"`
	ReleaseReasons  map[string]int `json:"release_reasons"`
	FailOpenReasons map[string]int `json:"fail_open_reasons"`

	Sessions       int    `json:"sessions"`        // in which the rule decided anything
	SessionsDenied int    `json:"sessions_denied"` // in which it denied
	First          string `json:"first"`
	Last           string `json:"last"`

	Obeyed *Obeyed `json:"obeyed"` // null where no denial could be judged; never 0 for "not known"
}

// Obeyed is what became of a rule's denials, as far as it can be known. Notes and releases ask for nothing that could be
// told from a log, so they are not judged, and neither are the denials of a rule that is not one of these:
//
//   - KB gate: obeyed is a denial that a start answers: one of the same session and project, later in the same turn,
//     that passed because it had its lookup, not by a release. A start answers one denial, the latest that none answers.
//     So a fan-out of four that is denied and then comes back as one start counts as one of four, and a start that was
//     tried twice bare and once with its findings as one of two. Judged are the denials that are in a KB gate log:
//     the decision log has no starts.
//   - Ceiling and zone gate: obeyed is a denial after which the session handed off, at any later time; the logs do not
//     have hand-offs, so they come from transcripts. One hand-off answers all earlier denials, since it is one for the
//     whole session. Judged are denials of the main thread in sessions whose transcript was read. A note that is written
//     under another name, or by another session, is not seen.
//
// Both understate: a model that does something else, or an operator who ends the session, leaves no trace here.
type Obeyed struct {
	Denials        int `json:"denials"`
	DenialsJudged  int `json:"denials_judged"`
	Sessions       int `json:"sessions"` // whose last judged denial was obeyed
	SessionsJudged int `json:"sessions_judged"`
}

// KBUse is what the KB gate logs add to the decisions: starts that had their lookup are silent in the decision log.
type KBUse struct {
	Projects int          `json:"projects"` // with a log
	Turns    int          `json:"turns"`
	Searches int          `json:"searches"` // that count for a turn
	Starts   kblog.Spawns `json:"starts"`   // of sub-agents, by what became of them
}

// GateLogs is what was read. Lines are those of the whole logs, whatever the range.
type GateLogs struct {
	Read       int       `json:"read"`
	Decisions  int       `json:"decisions"` // each counted once
	InBoth     int       `json:"in_both"`   // decisions that stand in the decision log and in a KB gate log
	Unreadable int       `json:"unreadable_lines"`
	Skipped    []Skipped `json:"skipped"` // logs that exist and could not be read to their end
}

// GateInput is what GatesOf reads.
type GateInput struct {
	Decisions string   // the decision log; the older one beside it is read too
	Folders   []string // that sessions worked in; the KB gate logs of their projects are read, each once

	// Handoffs are the moments at which sessions handed off, by session id. A session without an entry is one whose
	// transcript was not read; one that was read and has no hand-off has an empty one.
	Handoffs map[string][]time.Time

	Since, Until time.Time      // decisions at Since <= t < Until are counted; zero is no bound
	Zone         *time.Location // of the moments; nil: local time
}

// gateEvent is one decision.
type gateEvent struct {
	at             int64 // ms since the Unix epoch
	rule, session  string
	event, why     string
	decision       harness.Decision
	agent, inKBLog bool
	paired         bool // found in the other log
	obeyed         bool // KB gate only
}

// GatesOf adds up the logs. Logs that are not there are nothing, what cannot be read is counted or listed, never fatal.
// Logs are streamed; what is held is some 100 bytes for each decision, and a log of more than 64 MiB is not read at all.
func GatesOf(in GateInput) Gates {
	r := gateReader{GateInput: in, words: map[string]string{}, kb: KBUse{Starts: kblog.NewSpawns()}}
	if r.Zone == nil {
		r.Zone = time.Local
	}
	r.logs.Skipped = []Skipped{}
	r.readDecisions()
	r.readKBLogs()
	return r.sum(r.merge())
}

type gateReader struct {
	GateInput
	words     map[string]string // the label of every text, once for all decisions that have it
	decisions []gateEvent       // of the decision log
	kbLines   []gateEvent       // of the KB gate logs
	kb        KBUse
	logs      GateLogs
}

// label makes a word of a log fit to be shown. The decision log's own are; session ids are cut there too.
func (r *gateReader) label(s string) string {
	if len(s) > harness.MaxLabel {
		s = harness.Label(s) // long ones are not kept as they were
	}
	if w, ok := r.words[s]; ok {
		return w
	}
	w := harness.Label(s)
	r.words[s] = w
	return w
}

// within tells whether a decision is to be counted.
func (r *gateReader) within(t time.Time) bool {
	return !t.Before(r.Since) && (r.Until.IsZero() || t.Before(r.Until))
}

// opened notes how the reading of a log ended. What was read of it before an error counts.
func (r *gateReader) opened(path string, bad int, err error) (whole bool) {
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	r.logs.Unreadable += bad
	if err == nil {
		r.logs.Read++
		return true
	}
	var cause *fs.PathError
	why := err.Error()
	switch {
	case errors.Is(err, statefile.ErrNotRegular):
		why = statefile.ErrNotRegular.Error()
	case errors.Is(err, statefile.ErrTooLarge):
		why = statefile.ErrTooLarge.Error()
	case errors.As(err, &cause):
		why = cause.Err.Error()
	}
	r.logs.Skipped = append(r.logs.Skipped, Skipped{path, why})
	return false
}

func (r *gateReader) readDecisions() {
	if r.Decisions == "" {
		return
	}
	for _, file := range explain.Files(r.Decisions) {
		strange := 0
		bad, err := explain.Each(file, func(d explain.Decision) {
			decision := harness.Decision(d.Decision)
			switch decision {
			case harness.Note, harness.Denial, harness.Release, harness.FailOpen:
			default:
				decision = harness.Silent
			}
			at, err := time.Parse(time.RFC3339, d.Time)
			rule := r.label(d.Rule)
			if err != nil || rule == "" || decision == harness.Silent {
				strange++
				return
			}
			r.decisions = append(r.decisions, gateEvent{
				at: at.UnixMilli(), rule: rule, session: r.label(d.Session), event: r.label(d.Event), why: r.label(d.Why),
				decision: decision, agent: d.Agent != "",
			})
		})
		r.opened(file, bad+strange, err)
	}
}

func (r *gateReader) readKBLogs() {
	var roots []string
	for _, dir := range slices.Compact(slices.Sorted(slices.Values(r.Folders))) {
		if root := kbgate.Root(dir, ""); root != "" {
			roots = append(roots, root)
		}
	}
	slices.Sort(roots)
	var seen []fs.FileInfo
	for _, root := range roots {
		path := kbgate.LogPath(root)
		info, err := os.Stat(path)
		if err == nil {
			if slices.ContainsFunc(seen, func(other fs.FileInfo) bool { return os.SameFile(info, other) }) {
				continue // the same project under another name
			}
			seen = append(seen, info)
		}
		bad, err := r.readKBLog(root)
		if r.opened(path, bad, err) {
			r.kb.Projects++
		}
	}
}

func (r *gateReader) readKBLog(root string) (bad int, err error) {
	denied := map[string][]int{} // by session: the turn's denials that no start answered, as indices of kbLines
	strange := 0
	bad, err = kblog.Each(root, func(l kblog.Line) {
		if l.At.IsZero() {
			strange++
			return
		}
		within := r.within(l.At)
		switch waiting := denied[l.Session]; {
		case l.IsTurn():
			delete(denied, l.Session)
			if within {
				r.kb.Turns++
			}
		case l.IsSearch():
			if within {
				r.kb.Searches++
			}
		case l.Complied() && len(waiting) > 0:
			last := len(waiting) - 1
			r.kbLines[waiting[last]].obeyed = true
			denied[l.Session] = waiting[:last]
		}
		if l.IsSpawn() && within {
			l.SkipReason = r.label(l.SkipReason)
			r.kb.Starts.Count(l)
		}
		decision, why := l.Verdict()
		if decision == harness.Silent {
			return
		}
		if decision == harness.Denial {
			denied[l.Session] = append(denied[l.Session], len(r.kbLines))
		}
		r.kbLines = append(r.kbLines, gateEvent{
			at: l.At.UnixMilli(), rule: ruleKBGate, session: r.label(l.Session), event: r.label(l.Event), why: r.label(why),
			decision: decision, inKBLog: true,
		})
	})
	return bad + strange, err
}

// sameWithin is how far apart the lines of one decision may be in the two logs, in ms: the KB gate log has whole seconds
// and is written first, the decision log after the answer.
const sameWithin = 10_000

// merge returns all decisions, those that stand in both logs once: first the KB gate logs', then the others, each in the
// order of time.
func (r *gateReader) merge() []gateEvent {
	byTime := func(a, b gateEvent) int { return cmp.Compare(a.at, b.at) }
	slices.SortStableFunc(r.kbLines, byTime)
	slices.SortStableFunc(r.decisions, byTime)
	r.pair(true)
	r.pair(false) // the decision log has no id that is unfit for a file name, the KB gate log has one made from it
	all := r.kbLines
	for _, f := range r.decisions {
		if !f.paired {
			all = append(all, f)
		}
	}
	return all
}

// pair finds the decisions of the KB gate, those with a session id or those without, in the KB gate logs. Both are in
// the order of time, and a line is one decision's.
func (r *gateReader) pair(named bool) {
	type key struct {
		session, event, why string
		decision            harness.Decision
	}
	keyOf := func(f gateEvent) key {
		k := key{f.session, f.event, f.why, f.decision}
		if !named {
			k.session = ""
		}
		return k
	}
	waiting := map[key][]*gateEvent{}
	for i := range r.kbLines {
		if line := &r.kbLines[i]; !line.paired {
			waiting[keyOf(*line)] = append(waiting[keyOf(*line)], line)
		}
	}
	for i := range r.decisions {
		f := &r.decisions[i]
		if f.rule != ruleKBGate || named != (f.session != "") {
			continue
		}
		k := keyOf(*f)
		lines := waiting[k]
		for len(lines) > 0 && lines[0].at < f.at-sameWithin {
			lines = lines[1:]
		}
		if len(lines) > 0 && lines[0].at <= f.at+sameWithin {
			f.paired, lines[0].paired = true, true
			lines = lines[1:]
			r.logs.InBoth++
		}
		waiting[k] = lines
	}
}

// ruleSum adds up one rule.
type ruleSum struct {
	GateRule
	sessions, denied map[string]bool
	obeyed           Obeyed
	last             map[string]bool // by session with a judged denial: whether the last one was obeyed
	from, to         int64
}

func (r *gateReader) sum(all []gateEvent) Gates {
	g := Gates{Rules: []GateRule{}, Logs: r.logs}
	if r.kb.Projects > 0 {
		g.KB = &r.kb
	}
	if r.logs.Read == 0 && len(all) == 0 {
		return g
	}
	rules := map[string]*ruleSum{}
	rule := func(name string) *ruleSum {
		s := rules[name]
		if s == nil {
			s = &ruleSum{
				GateRule: GateRule{Rule: name, NoteReasons: map[string]int{}, ReleaseReasons: map[string]int{}, FailOpenReasons: map[string]int{}},
				sessions: map[string]bool{}, denied: map[string]bool{}, last: map[string]bool{},
				from: math.MaxInt64, to: math.MinInt64,
			}
			rules[name] = s
		}
		return s
	}
	shipped := []string{ruleZoneGate, ruleCeiling, ruleKBGate, ruleCrossing, ruleMarker}
	for _, name := range shipped {
		rule(name)
	}
	handedOff := r.latestHandoffs()
	sessions := map[string]bool{}
	from, to := int64(math.MaxInt64), int64(math.MinInt64)
	for _, f := range all {
		if !r.within(time.UnixMilli(f.at)) {
			continue
		}
		g.Logs.Decisions++
		s := rule(f.rule)
		s.add(f)
		from, to = min(from, f.at), max(to, f.at)
		if f.session != "" {
			sessions[f.session] = true
		}
		if f.decision == harness.Denial {
			if obeyed, judged := gateOutcome(f, handedOff); judged {
				s.judge(f.session, obeyed)
			}
		}
	}
	g.Sessions = len(sessions)
	g.First, g.Last = r.span(from, to)
	names := make([]string, 0, len(rules))
	for name := range rules {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		place := func(name string) int {
			if i := slices.Index(shipped, name); i >= 0 {
				return i
			}
			return len(shipped)
		}
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
	})
	for _, name := range names {
		s := rules[name]
		s.Sessions, s.SessionsDenied = len(s.sessions), len(s.denied)
		s.First, s.Last = r.span(s.from, s.to)
		if s.obeyed.DenialsJudged > 0 {
			s.obeyed.SessionsJudged = len(s.last)
			for _, obeyed := range s.last {
				if obeyed {
					s.obeyed.Sessions++
				}
			}
			s.Obeyed = &s.obeyed
		}
		g.Rules = append(g.Rules, s.GateRule)
	}
	return g
}

// latestHandoffs are the last hand-offs of the sessions whose transcript was read, in ms; before all time without one.
func (r *gateReader) latestHandoffs() map[string]int64 {
	latest := map[string]int64{}
	for session, times := range r.Handoffs {
		session = harness.Label(session) // as in the decision log
		at, ok := latest[session]
		if !ok {
			at = math.MinInt64
		}
		for _, t := range times {
			at = max(at, t.UnixMilli())
		}
		latest[session] = at
	}
	return latest
}

// gateOutcome tells whether a denial was obeyed, and whether that can be told at all. See Obeyed.
func gateOutcome(f gateEvent, handedOff map[string]int64) (obeyed, judged bool) {
	switch f.rule {
	case ruleKBGate:
		return f.obeyed, f.inKBLog
	case ruleCeiling, ruleZoneGate:
		at, read := handedOff[f.session]
		return at >= f.at, read && !f.agent
	}
	return false, false
}

func (s *ruleSum) add(f gateEvent) {
	var reasons map[string]int
	switch f.decision {
	case harness.Note:
		s.Notes++
		reasons = s.NoteReasons
	case harness.Denial:
		s.Denials++
		if f.session != "" {
			s.denied[f.session] = true
		}
	case harness.Release:
		s.Releases++
		reasons = s.ReleaseReasons
	case harness.FailOpen:
		s.FailOpens++
		reasons = s.FailOpenReasons
	}
	if reasons != nil && f.why != "" {
		reasons[f.why]++
	}
	if f.session != "" {
		s.sessions[f.session] = true
	}
	s.from, s.to = min(s.from, f.at), max(s.to, f.at)
}

// judge counts a denial whose outcome is known. A rule's come from one kind of log, so they come in the order of time.
func (s *ruleSum) judge(session string, obeyed bool) {
	s.obeyed.DenialsJudged++
	if obeyed {
		s.obeyed.Denials++
	}
	if session != "" {
		s.last[session] = obeyed
	}
}

func (r *gateReader) span(from, to int64) (first, last string) {
	if from > to {
		return "", ""
	}
	text := func(ms int64) string { return time.UnixMilli(ms).In(r.Zone).Format(time.RFC3339) }
	return text(from), text(to)
}
