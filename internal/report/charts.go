package report

import (
	"cmp"
	"slices"
)

// Charts is what the HTML page draws beyond the figures of Document. It holds no text of any transcript.
type Charts struct {
	Occupancy []Curve `json:"occupancy"` // the sessions that reached furthest, highest peak first
	Turns     []Turn  `json:"turns"`     // a sample of the main threads' priced turns, evenly spread over their order in time
}

// Curve is one session's occupancy over time.
type Curve struct {
	SessionID string  `json:"session_id"`
	Points    []Point `json:"points"` // in order of time, thinned out where there are many; highs stay
}

// Point is the occupancy at one response.
type Point struct {
	At        int64 `json:"at"` // ms since the Unix epoch; 0: the transcript has no time
	Occupancy int64 `json:"occupancy"`
	Compacted bool  `json:"compacted,omitempty"` // the context was compacted right before this response
}

// Turn is one response's price at its occupancy.
type Turn struct {
	Occupancy int64   `json:"occupancy"`
	CostUSD   float64 `json:"cost_usd"`
}

// How much is drawn. A page of more could hardly be looked at, nor opened.
const (
	maxCurves = 60
	maxPoints = 400
	maxTurns  = 4000
)

func charts(threads []session) *Charts {
	c := &Charts{Occupancy: []Curve{}, Turns: []Turn{}}
	type peaked struct {
		s    *session
		peak int64
	}
	var order []peaked
	var turns []*turn
	for i := range threads {
		s := &threads[i]
		var peak int64
		for j := range s.turns {
			peak = max(peak, s.turns[j].occupancy)
			if s.turns[j].priced {
				turns = append(turns, &s.turns[j])
			}
		}
		if peak > 0 {
			order = append(order, peaked{s, peak})
		}
	}
	slices.SortStableFunc(order, func(a, b peaked) int { return cmp.Compare(b.peak, a.peak) })
	for _, o := range order[:min(len(order), maxCurves)] {
		c.Occupancy = append(c.Occupancy, Curve{o.s.ID, curve(o.s)})
	}
	slices.SortStableFunc(turns, func(a, b *turn) int { return cmp.Compare(a.Time, b.Time) })
	for i := range min(len(turns), maxTurns) {
		t := turns[i*len(turns)/min(len(turns), maxTurns)]
		c.Turns = append(c.Turns, Turn{t.occupancy, t.cost})
	}
	return c
}

// curve thins a session out to its highs: of the turns that fall together the fullest stays, and a compaction always.
func curve(s *session) []Point {
	points := make([]Point, 0, min(len(s.turns), maxPoints))
	each := (len(s.turns) + maxPoints - 1) / maxPoints
	cut := 0 // compactions that are drawn
	for i, t := range s.turns {
		p := Point{At: t.Time, Occupancy: t.occupancy}
		for cut < len(s.Compactions) && s.Compactions[cut].Time <= t.Time {
			// One before the first turn is of no curve.
			p.Compacted = p.Compacted || i > 0
			cut++
		}
		if last := len(points) - 1; i%each != 0 && !p.Compacted && last >= 0 {
			if p.Occupancy > points[last].Occupancy {
				p.Compacted = points[last].Compacted
				points[last] = p
			}
			continue
		}
		points = append(points, p)
	}
	return points
}
