package report

import (
	"iter"
	"slices"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/history"
)

// marks are the occupancies, in tokens, past which sessions are counted.
var marks = [...]int64{500_000, 900_000}

func (b *builder) sessions(d *Document, threads []session) {
	d.Sessions, d.Compactions, d.Past = []Session{}, []Compaction{}, []Past{}
	var peaks []int64
	var spent sum
	var past [len(marks)]struct {
		sessions int
		cost     sum
	}
	for i := range threads {
		s := &threads[i]
		if len(s.turns)+len(s.other) == 0 {
			continue
		}
		row := Session{SessionID: s.ID, Turns: len(s.turns), GatedCalls: len(s.gates)}
		var cost sum
		for _, list := range [...][]turn{s.turns, s.other} {
			for _, t := range list {
				if t.priced {
					cost.add(t.cost)
				}
			}
		}
		row.CostUSD = cost.total()
		spent.add(row.CostUSD)
		for _, g := range s.gates {
			if b.o.Policy.Blocks(g.tool) {
				row.BlockableCalls++
			}
		}
		row.Handoffs = b.handoffs(s)
		for _, c := range s.Compactions {
			if !b.covers(c.Time) {
				continue
			}
			row.Compactions++
			before, after := around(s, c.Time)
			d.Compactions = append(d.Compactions, Compaction{
				SessionID: s.ID, At: b.moment(c.Time), Trigger: c.Trigger, TokensBefore: told(c.Pre, before), TokensAfter: told(c.Post, after),
			})
		}
		if n := len(s.turns); n > 0 {
			last := s.turns[n-1]
			row.From, row.To = b.moment(s.turns[0].Time), b.moment(last.Time)
			row.Model, row.FinalOccupancy = last.model, last.occupancy
			row.Window, row.WindowFrom = last.window.Tokens, string(last.window.Provenance)
			for _, t := range s.turns {
				row.PeakOccupancy = max(row.PeakOccupancy, t.occupancy)
				row.PromptTokens += t.occupancy
			}
			peaks = append(peaks, row.PeakOccupancy)
		}
		for j, mark := range marks {
			if row.PeakOccupancy > mark {
				past[j].sessions++
				past[j].cost.add(row.CostUSD)
			}
		}
		d.Sessions = append(d.Sessions, row)
	}
	d.Peaks = peaksOf(peaks)
	for j, mark := range marks {
		cost := past[j].cost.total()
		d.Past = append(d.Past, Past{mark, past[j].sessions, cost, percent(cost, spent.total())})
	}
}

// handoffs counts the hand-offs of a session.
func (b *builder) handoffs(s *session) (n int) {
	for at := range handoffsOf(s.Session) {
		if b.covers(at) {
			n++
		}
	}
	return n
}

// handoffsOf yields when a session handed off, by the operator's command or by the model's call of the skill, in ms since
// the Unix epoch.
func handoffsOf(s *history.Session) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for _, c := range s.Commands {
			if ceiling.BareName(c.Name) == handoff && !yield(c.Time) {
				return
			}
		}
		for _, r := range s.Main {
			for _, c := range r.Calls {
				if c.Tool == "Skill" && ceiling.BareName(c.Name) == handoff && !yield(r.Time) {
					return
				}
			}
		}
	}
}

// Handoffs are the moments at which each session handed off; a session without one has an empty list.
func Handoffs(h *history.History) map[string][]time.Time {
	out := map[string][]time.Time{}
	for _, s := range h.Sessions {
		out[s.ID] = []time.Time{}
		for at := range handoffsOf(s) {
			if at != 0 {
				out[s.ID] = append(out[s.ID], time.UnixMilli(at))
			}
		}
	}
	return out
}

const handoff = "handoff"

// around returns the occupancies before and after a moment, 0 where there is none.
func around(s *session, at int64) (before, after int64) {
	if at == 0 {
		return 0, 0
	}
	i, _ := slices.BinarySearchFunc(s.turns, at, func(t turn, at int64) int {
		if t.Time <= at {
			return -1
		}
		return 1
	})
	if i > 0 {
		before = s.turns[i-1].occupancy
	}
	if i < len(s.turns) {
		after = s.turns[i].occupancy
	}
	return before, after
}

// told is the first figure that there is.
func told(figures ...int64) *int64 {
	for _, n := range figures {
		if n > 0 {
			return &n
		}
	}
	return nil
}

// peaksOf is the spread of the peaks. The median of an even number is the mean of the two in the middle; the ninetieth
// percentile is the element that nine tenths stand before.
func peaksOf(peaks []int64) *Peaks {
	p := &Peaks{Sessions: len(peaks)}
	if len(peaks) == 0 {
		return p
	}
	slices.Sort(peaks)
	p.P50 = median(peaks)
	p.Min, p.P90, p.Max = &peaks[0], &peaks[len(peaks)*9/10], &peaks[len(peaks)-1]
	return p
}
