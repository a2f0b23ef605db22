package page

import (
	"encoding/json"

	"plimsoll/internal/harness"
	"plimsoll/internal/report"
)

// figures is what charts.js draws, and all of the data that scripts see.
type figures struct {
	Shipped     *int64 `json:"shipped"`     // tokens; the ceiling in force
	Recommended *int64 `json:"recommended"` // tokens

	Curves []curve      `json:"curves"`
	Turns  [][2]float64 `json:"turns"` // occupancy, US dollars
	Bands  []band       `json:"bands"`
	Sweep  []candidate  `json:"sweep"`
	Cache  []cause      `json:"cache"`
}

type curve struct {
	Session string     `json:"session"`
	Points  [][3]int64 `json:"points"` // ms since the Unix epoch, occupancy, 1 right after a compaction
}

type band struct {
	From int64    `json:"from"`
	To   int64    `json:"to"` // 0: no end
	Cost *float64 `json:"cost"`
}

type candidate struct {
	Ceiling     int64    `json:"ceiling"`
	Blocked     *float64 `json:"blocked"`
	NearDone    *float64 `json:"near_done"`
	TokensAfter *float64 `json:"tokens_after"`
	TurnsLeft   *int     `json:"turns_left"`
}

type cause struct {
	Cause  string  `json:"cause"`
	Misses int     `json:"misses"`
	Cost   float64 `json:"cost"`
}

// chartData is the figures as JSON that can stand inside an HTML element: encoding/json escapes <, >, &, U+2028 and U+2029.
func chartData(d report.Document, c report.Charts) ([]byte, error) {
	f := figures{Turns: [][2]float64{}, Bands: []band{}, Sweep: []candidate{}, Cache: []cause{}}
	if d.Policy != nil {
		f.Shipped = &d.Policy.Shipped
	}
	if r := d.Recommendation; r != nil && r.Enough {
		f.Recommended = r.AbsCeiling
	}
	f.Curves, _ = curves(c)
	for _, t := range c.Turns {
		f.Turns = append(f.Turns, [2]float64{float64(t.Occupancy), t.CostUSD})
	}
	for _, b := range d.Bands {
		f.Bands = append(f.Bands, band{b.FromTokens, b.ToTokens, b.CostPerTurn})
	}
	for _, e := range d.Ceilings {
		f.Sweep = append(f.Sweep, candidate{e.AbsCeiling, e.SessionsBlockedPct, e.NearDoneBlockedPct, e.PromptTokensAfterFirstPc, e.MedianRemainingTurns})
	}
	for _, e := range d.Cache {
		f.Cache = append(f.Cache, cause{harness.Label(e.Cause), e.Misses, e.CostUSD})
	}
	return json.Marshal(f)
}

// curves are those that have a place in time, and how many have none.
func curves(c report.Charts) (drawn []curve, untimed int) {
	drawn = []curve{}
	for _, e := range c.Occupancy {
		points := [][3]int64{}
		for _, p := range e.Points {
			if p.At == 0 {
				continue
			}
			compacted := int64(0)
			if p.Compacted {
				compacted = 1
			}
			points = append(points, [3]int64{p.At, p.Occupancy, compacted})
		}
		if len(points) == 0 {
			untimed++
			continue
		}
		drawn = append(drawn, curve{harness.Label(e.SessionID), points})
	}
	return drawn, untimed
}
