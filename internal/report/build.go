package report

import (
	"math"
	"slices"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/history"
	"plimsoll/internal/model"
	"plimsoll/internal/model/price"
)

// Options is what a report is computed with besides the history.
type Options struct {
	Now          time.Time
	Location     *time.Location // of days
	Since, Until time.Time      // responses from Since on and before Until; zero: no bound
	Prices       *price.Table
	Policy       ceiling.Policy // its Absolute is the shipped ceiling
	Recovery     []string       // configured recovery skills
	Ceilings     []int64        // candidates for the absolute cap, in tokens
	NearDone     int            // turns left, up to which a denial came too late to be worth it
	KeptDays     int            // after how many days the client deletes transcripts; 0: not known
	Gates        *Gates
	Section      Section // the only one that is wanted; "" for all
}

// DefaultCeilings are the candidates, in tokens.
func DefaultCeilings() []int64 {
	return []int64{150_000, 200_000, 250_000, 300_000, 350_000, 450_000, 600_000}
}

// DefaultNearDone is how many turns left are near done.
const DefaultNearDone = 5

// Build computes the document.
func Build(h *history.History, o Options) *Document {
	d, _ := build(h, o)
	return d
}

// BuildPage computes the document and what the page draws of it.
func BuildPage(h *history.History, o Options) (*Document, *Charts) {
	d, threads := build(h, o)
	return d, charts(threads)
}

func build(h *history.History, o Options) (*Document, []session) {
	d := &Document{
		Schema: Schema, GeneratedAt: o.Now.UTC().Format(time.RFC3339),
		Files: Files{Read: h.Files, Bytes: h.Bytes, Skipped: []Skipped{}},
		Gates: o.Gates, // nil unless wanted
	}
	for _, s := range h.Skipped {
		d.Files.Skipped = append(d.Files.Skipped, Skipped(s))
	}
	b := builder{o: o, models: map[string]known{}}
	threads := b.threads(h)
	d.Range = b.span(threads)
	eachTurn(threads, func(*session, *turn, bool) { d.Files.Responses++ })
	for section, compute := range map[Section]func(*Document, []session){
		SectionCost: b.cost, SectionCeilings: b.ceilings, SectionCache: b.cache, SectionSessions: b.sessions,
	} {
		if o.Section == "" || o.Section == section {
			compute(d, threads)
		}
	}
	return d, threads
}

type builder struct {
	o      Options
	first  int64 // the first response of the history, in the range or not, ms since the Unix epoch; 0: none has a time
	models map[string]known
	last   string // the model that was asked for last, which is mostly the next one too
	now    known
}

// known is what the tables have of a model.
type known struct {
	rate   *price.Row // nil: it has no price
	window int64      // tokens; 0: its id does not tell
}

// session is a session as the report looks at it.
type session struct {
	*history.Session
	turns []turn // of the main thread, each with a measured occupancy
	side  []turn
	other []turn // of the main thread, without a measured occupancy
	gates []gate

	total  bucket
	inBand [bands]bool // bands that a turn was ever in
}

// turn is one response.
type turn struct {
	*history.Response
	occupancy int64
	model     string // at that time: a response that names none has the one before it
	window    ceiling.Window
	cost      float64
	priced    bool
}

// gate is a call that the ceiling listens to, with the occupancy and the window of its moment.
type gate struct {
	tool      string
	occupancy int64
	window    ceiling.Window
	turn      int // index of the turn that made it, at least 0
}

// threads takes the responses of the range, prices them, and measures the context of each.
func (b *builder) threads(h *history.History) []session {
	var out []session
	for _, s := range h.Sessions {
		for _, list := range [...][]*history.Response{s.Main, s.Side} {
			for _, r := range list {
				if r.Counts() && r.Time != 0 && (b.first == 0 || r.Time < b.first) {
					b.first = r.Time
				}
			}
		}
		t := session{Session: s, turns: make([]turn, 0, len(s.Main)), side: make([]turn, 0, len(s.Side))}
		model := ""
		for _, r := range s.Main {
			if r.Model != "" {
				model = r.Model
			}
			if !b.covers(r.Time) {
				continue
			}
			n := b.price(r, model)
			if n.occupancy > 0 {
				t.turns = append(t.turns, n)
			} else if r.Counts() {
				t.other = append(t.other, n)
			}
			for _, c := range r.Calls {
				if !ceiling.Gated(c.Tool) || c.Tool == "Skill" && ceiling.Recovers(c.Name, b.o.Recovery) {
					continue
				}
				g := gate{tool: c.Tool, turn: max(len(t.turns)-1, 0)}
				// After a compaction nothing is known until a response tells anew, as the guard has it.
				if len(t.turns) > 0 && !compacted(s, t.turns[len(t.turns)-1].Time, r.Time) {
					last := t.turns[len(t.turns)-1]
					g.occupancy, g.window = last.occupancy, last.window
				}
				t.gates = append(t.gates, g)
			}
		}
		for _, r := range s.Side {
			if b.covers(r.Time) && r.Counts() {
				t.side = append(t.side, b.price(r, r.Model))
			}
		}
		if len(t.turns)+len(t.side)+len(t.other) > 0 || s.Client.Known {
			out = append(out, t)
		}
	}
	return out
}

// compacted tells whether the context was compacted after the one moment and before the other.
func compacted(s *history.Session, after, before int64) bool {
	return slices.ContainsFunc(s.Compactions, func(c history.Compaction) bool { return c.Time > after && c.Time < before })
}

func (b *builder) price(r *history.Response, model string) turn {
	t := turn{Response: r, model: model, occupancy: r.Usage.Prompt()}
	m := b.known(model)
	t.window = ceiling.WindowOf(b.o.Policy.Override, 0, m.window, t.occupancy)
	if m.rate != nil && !r.Usage.Fast { // the fast mode has prices that no table here knows
		t.cost, t.priced = m.rate.Cost(usageOf(r)), true
	}
	return t
}

func usageOf(r *history.Response) price.Usage {
	return price.Usage{
		Input: r.Usage.Input, Output: r.Usage.Output, CacheRead: r.Usage.CacheRead,
		CacheWrite5m: r.Usage.CacheWrite5m, CacheWrite1h: r.Usage.CacheWrite1h, US: r.Usage.US,
	}
}

func (b *builder) known(id string) known {
	if id == b.last && len(b.models) > 0 {
		return b.now
	}
	m, ok := b.models[id]
	if !ok {
		m.rate, _ = b.o.Prices.Lookup(id)
		window, _ := model.Window(id)
		m.window = int64(window)
		b.models[id] = m
	}
	b.last, b.now = id, m
	return m
}

func (b *builder) rate(model string) *price.Row { return b.known(model).rate }

// all tells whether the whole history is covered.
func (b *builder) all() bool { return b.o.Since.IsZero() && b.o.Until.IsZero() }

// covers tells whether a moment, in ms since the Unix epoch, lies in the range. What has no time is in no bounded range.
func (b *builder) covers(at int64) bool {
	if b.all() {
		return true
	}
	return at != 0 && (b.o.Since.IsZero() || at >= b.o.Since.UnixMilli()) && (b.o.Until.IsZero() || at < b.o.Until.UnixMilli())
}

// eachTurn calls f for every response that counts; main tells whether the main thread's.
func eachTurn(threads []session, f func(s *session, t *turn, main bool)) {
	for i := range threads {
		s := &threads[i]
		for _, list := range [...][]turn{s.turns, s.other} {
			for j := range list {
				f(s, &list[j], true)
			}
		}
		for j := range s.side {
			f(s, &s.side[j], false)
		}
	}
}

func (b *builder) span(threads []session) Range {
	var from, to int64
	eachTurn(threads, func(_ *session, t *turn, _ bool) {
		if t.Time == 0 {
			return
		}
		if from == 0 || t.Time < from {
			from = t.Time
		}
		to = max(to, t.Time)
	})
	if from == 0 {
		return Range{}
	}
	r := Range{From: b.moment(from), To: b.moment(to)}
	first, last := b.midnight(from), b.midnight(to)
	r.Days = int(math.Round(last.Sub(first).Hours()/24)) + 1
	// A history that begins where the deletion ends was cut by it; one that begins earlier was not, wherever the range does.
	if age := int(b.o.Now.Sub(time.UnixMilli(b.first)).Hours() / 24); b.o.KeptDays > 0 && from == b.first && age >= b.o.KeptDays-3 && age <= b.o.KeptDays+1 {
		r.Note = keptNote(b.o.KeptDays)
	}
	return r
}

func (b *builder) midnight(at int64) time.Time {
	y, m, d := time.UnixMilli(at).In(b.o.Location).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// moment is a time for a reader; "" for one that is not known.
func (b *builder) moment(at int64) string {
	if at == 0 {
		return ""
	}
	return time.UnixMilli(at).In(b.o.Location).Format(time.RFC3339)
}

func (b *builder) day(at int64) string {
	if at == 0 {
		return ""
	}
	return time.UnixMilli(at).In(b.o.Location).Format(time.DateOnly)
}

// percent is part of whole with one decimal; nil when there is no whole.
func percent(part, whole float64) *float64 {
	if whole == 0 {
		return nil
	}
	p := math.Round(part/whole*1000) / 10
	return &p
}

// median is the middle of the values, or the mean of the two in the middle, rounded down; nil without values.
func median(values []int64) *int64 {
	if len(values) == 0 {
		return nil
	}
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	m := (v[(n-1)/2] + v[n/2]) / 2
	return &m
}
