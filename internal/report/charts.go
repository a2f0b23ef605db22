package report

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
