// Package report computes, from what the client's transcripts and Plimsoll's own logs recorded, where a context's line
// should be: what tokens cost and at which occupancy, what each candidate ceiling would have denied, what the prompt
// cache missed, and which warnings were obeyed. docs/report.md says how every figure is counted.
package report

// Schema names the shape of Document. It changes when a key changes its meaning or goes.
const Schema = "plimsoll-report/v1"

// Document is the whole report, and the interface that --json prints. A section alone prints the keys up to Files and all
// of its own, lists also where they are empty. Token counts are tokens, costs US dollars with full precision, days local dates (2026-11-30) and moments RFC 3339.
type Document struct {
	Schema      string `json:"schema"`
	GeneratedAt string `json:"generated_at"`
	Range       Range  `json:"range"`
	Files       Files  `json:"files"`

	// Section cost.
	Totals    *Totals         `json:"totals,omitzero"`
	ByModel   []ModelTotals   `json:"by_model,omitzero"`
	ByDay     []DayTotals     `json:"by_day,omitzero"`
	ByThread  []ThreadTotals  `json:"by_thread,omitzero"`
	BySession []SessionTotals `json:"by_session,omitzero"`
	Bands     []BandTotals    `json:"bands,omitzero"`    // main thread only: occupancy is the main thread's
	Unpriced  []ModelTokens   `json:"unpriced,omitzero"` // models without a price
	Client    []ClientCost    `json:"client_cost,omitzero"`

	// Section ceilings.
	Policy         *Policy         `json:"policy,omitzero"`
	Ceilings       []Ceiling       `json:"ceilings,omitzero"`
	Verdict        *Verdict        `json:"verdict,omitzero"`
	Recommendation *Recommendation `json:"recommendation,omitzero"`

	// Section cache.
	Cache    []CacheCause `json:"cache,omitzero"`
	CacheHit *CacheHit    `json:"cache_hit,omitzero"`

	// Section sessions.
	Peaks       *Peaks       `json:"peaks,omitzero"`
	Sessions    []Session    `json:"sessions,omitzero"`
	Compactions []Compaction `json:"compactions,omitzero"`
	Past        []Past       `json:"past,omitzero"`

	// Section gates.
	Gates *Gates `json:"gates,omitzero"`
}

// Range is the time from the first to the last response that was counted; empty when none has a time.
type Range struct {
	From string `json:"from"`
	To   string `json:"to"`
	Days int    `json:"days"` // local days from the first to the last, both counted
	Note string `json:"note,omitempty"`
}

// Files is what was read.
type Files struct {
	Read      int       `json:"read"`
	Bytes     int64     `json:"bytes"`
	Responses int       `json:"responses"` // after responses that stand in several rows or files were counted once
	Skipped   []Skipped `json:"skipped"`
}

// Skipped is a file, or rows in it, that could not be used.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Totals adds up responses.
type Totals struct {
	Responses       int     `json:"responses"`
	InputTokens     int64   `json:"input_tokens"` // not from the cache
	OutputTokens    int64   `json:"output_tokens"`
	CacheReadTokens int64   `json:"cache_read_tokens"`
	CacheWrite5m    int64   `json:"cache_write_5m_tokens"`
	CacheWrite1h    int64   `json:"cache_write_1h_tokens"`
	CostUSD         float64 `json:"cost_usd"`
	UnpricedTokens  int64   `json:"unpriced_tokens"` // tokens of models without a price; no part of CostUSD
}

// ModelTotals are the totals of one model, by the id that the transcripts have.
type ModelTotals struct {
	Model string `json:"model"`
	Totals
}

// DayTotals are the totals of one local day; "" for responses without a time.
type DayTotals struct {
	Day string `json:"day"`
	Totals
}

// ThreadTotals are the totals of the main threads, or of all sub-agents of one type.
type ThreadTotals struct {
	Thread string `json:"thread"` // "main", or the agent type; "unattributed" where no file tells it
	Totals
}

// SessionTotals are the totals of one session with its sub-agents.
type SessionTotals struct {
	SessionID string `json:"session_id"`
	Totals
}

// BandTotals are the totals of the main thread's responses at an occupancy of FromTokens <= n < ToTokens.
type BandTotals struct {
	FromTokens int64 `json:"from_tokens"`
	ToTokens   int64 `json:"to_tokens"` // 0: no end
	Totals
	Sessions    int      `json:"sessions"`      // that were ever in this band
	CostPerTurn *float64 `json:"cost_per_turn"` // US dollars, of the turns that have a price; null without one
	CostShare   *float64 `json:"cost_share"`    // percent of what all main threads cost, one decimal; null when that is 0
}

// ModelTokens are the tokens of a model without a price.
type ModelTokens struct {
	Model  string `json:"model"`
	Tokens int64  `json:"tokens"`
}

// ClientCost holds the client's own figure beside ours, for a session whose transcript has one. The client's includes
// requests that leave no row: titles, suggestions, compaction.
type ClientCost struct {
	SessionID     string  `json:"session_id"`
	ClientUSD     float64 `json:"client_usd"`
	CostUSD       float64 `json:"cost_usd"`
	DifferenceUSD float64 `json:"difference_usd"` // the client's minus ours
}

// Policy is what the ceilings were judged by.
type Policy struct {
	Percent       int   `json:"ceiling_pct"`
	Shipped       int64 `json:"shipped_ceiling"` // tokens; the absolute cap that is in force
	NearDoneTurns int   `json:"near_done_turns"`
	GateAgent     bool  `json:"gate_agent"`

	SessionsReplayed  int `json:"sessions_replayed"`
	SessionsBlockable int `json:"sessions_with_blockable_calls"`
	GatedCalls        int `json:"gated_calls"`
	BlockableCalls    int `json:"blocking_calls"`
	Unverified        int `json:"unverified_window_sessions"` // a window that no table verifies, at the last turn
}

// Ceiling is one candidate for the absolute cap, replayed over the history as if nothing had changed after a denial.
// Percentages have one decimal and are null where there is nothing to take them of.
type Ceiling struct {
	AbsCeiling               int64    `json:"abs_ceiling"` // tokens
	Shipped                  bool     `json:"shipped"`
	ClampedSessions          int      `json:"clamped_sessions"` // where the percentage of the window bound instead
	ClampedPct               *float64 `json:"clamped_pct"`
	AdvisoryFires            int      `json:"advisory_fires"` // calls at or past the threshold that are only warned of
	BlocksTotal              int      `json:"blocks_total"`
	SessionsBlocked          int      `json:"sessions_blocked"`
	SessionsBlockedPct       *float64 `json:"sessions_blocked_pct"` // of the sessions with a blockable call
	MedianOccupancyAtFirst   *int64   `json:"median_occupancy_at_first_block"`
	NearDoneBlocked          int      `json:"near_done_blocked"`
	NearDoneBlockedPct       *float64 `json:"near_done_blocked_pct"` // of the blocked sessions
	MedianRemainingTurns     *int     `json:"median_remaining_turns_at_first_block"`
	PromptTokensAfterFirst   int64    `json:"prompt_tokens_after_first_block"`
	PromptTokensAfterFirstPc *float64 `json:"prompt_tokens_after_first_block_pct"` // of the prompt tokens of all sessions
	// The other replay: as if every turn were a gated call. It overstates what is denied.
	SessionsOverPerTurn    int      `json:"sessions_over_per_turn"`
	SessionsOverPerTurnPct *float64 `json:"sessions_over_per_turn_pct"` // of all sessions
	TurnsOver              int      `json:"turns_over"`
	SavedUSD               float64  `json:"saved_usd"` // estimate, see Recommendation
}

// Verdict says whether the shipped ceiling holds up.
type Verdict struct {
	Outcome string  `json:"outcome"` // Inconclusive, OverBlocking or NotDominant
	Text    string  `json:"text"`
	Revisit Revisit `json:"revisit_trigger"`
}

// Revisit is the trigger that the decision to deny Skill loads alone set itself: sessions that run far past the ceiling by
// delegating.
type Revisit struct {
	Fired       bool     `json:"fired"`
	Delegations int      `json:"delegations"` // calls past the ceiling that are only warned of because they delegate
	Blocks      int      `json:"blocks"`
	Ratio       *float64 `json:"ratio"` // delegations per block, one decimal; null without a block
	Text        string   `json:"text"`
}

// Recommendation is the ceiling that the history speaks for.
type Recommendation struct {
	Enough          bool     `json:"enough_data"`
	AbsCeiling      *int64   `json:"abs_ceiling"` // tokens; null without enough data
	SessionsBlocked int      `json:"sessions_blocked"`
	Blocks          int      `json:"blocks"`
	SavedUSD        float64  `json:"saved_usd"` // estimate over the range
	Reason          string   `json:"reason"`
	Settings        string   `json:"settings,omitempty"` // what to put into ~/.claude/plimsoll/config.json
	Environment     []string `json:"environment,omitempty"`
}

// CacheCause is what one cause of prompt-cache misses had written again.
type CacheCause struct {
	Cause           string  `json:"cause"`
	Misses          int     `json:"misses"`
	RewrittenTokens int64   `json:"rewritten_tokens"`
	CostUSD         float64 `json:"cost_usd"` // what writing them cost
}

// CacheHit is how much of the prompts came from the cache, weighted by tokens.
type CacheHit struct {
	ReadTokens   int64    `json:"cache_read_tokens"`
	PromptTokens int64    `json:"prompt_tokens"` // input, cache read and cache write
	Ratio        *float64 `json:"ratio"`         // 0 to 1; null without a prompt
}

// Peaks are the sessions' highest occupancies, in tokens.
type Peaks struct {
	Sessions int    `json:"sessions"`
	Min      *int64 `json:"min"`
	P50      *int64 `json:"p50"`
	P90      *int64 `json:"p90"`
	Max      *int64 `json:"max"`
}

// Session is one session's main thread.
type Session struct {
	SessionID      string  `json:"session_id"`
	From           string  `json:"from"`
	To             string  `json:"to"`
	Model          string  `json:"model"` // at the last turn
	Window         int64   `json:"window"`
	WindowFrom     string  `json:"window_provenance"`
	PeakOccupancy  int64   `json:"peak_occupancy"`
	FinalOccupancy int64   `json:"final_occupancy"`
	Turns          int     `json:"assistant_turns"`
	PromptTokens   int64   `json:"prompt_tokens_total"`
	GatedCalls     int     `json:"gated_calls"`
	BlockableCalls int     `json:"blocking_calls"`
	Compactions    int     `json:"compactions"`
	Handoffs       int     `json:"handoffs"`
	CostUSD        float64 `json:"cost_usd"` // of the main thread
}

// Compaction is one compaction of a main thread.
type Compaction struct {
	SessionID    string `json:"session_id"`
	At           string `json:"at"`
	Trigger      string `json:"trigger"`
	TokensBefore *int64 `json:"tokens_before"` // the client's figure, or the last occupancy before it; null when neither is known
	TokensAfter  *int64 `json:"tokens_after"`  // the client's figure, or the first occupancy after it
}

// Past counts the sessions whose occupancy ever went past a mark.
type Past struct {
	Tokens    int64    `json:"tokens"`
	Sessions  int      `json:"sessions"`
	CostUSD   float64  `json:"cost_usd"`   // of their main threads
	CostShare *float64 `json:"cost_share"` // percent of what all main threads cost, one decimal
}
