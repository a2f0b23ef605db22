package kbgate

import (
	"plimsoll/internal/harness"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/statefile"
)

// Decisions of the log.
const (
	decidedTurn     = "turn_start"
	decidedRecorded = "recorded"
	decidedBriefed  = "briefed"
	decidedSkip     = "skip"
	decidedAllow    = "allow"
	decidedObserve  = "observe"
	decidedWarn     = "warn"
	decidedDeny     = "deny"
)

// Reasons of the log. Those that begin with budget_ are releases.
const (
	whyNested       = "nested_subagent"
	whyNotGated     = "agent_type_not_gated"
	whyNoMemories   = "no_memories_dir" // debug log only: such a project gets no log
	whySameTurn     = "same_turn"
	whyNoSearch     = "no_search_configured"
	whyUnrecorded   = "search_unwritable"
	whyNoProgress   = "budget_no_progress"
	whyTurn         = "budget_turn"
	whySession      = "budget_session"
	whyUnreadable   = "budget_unreadable"
	whyUnwritable   = "budget_unwritable"
	maxLoggedQuery  = 500 // bytes
	logTime         = "2006-01-02T15:04:05Z"
	maxLoggedCallID = 80
)

// log appends one line to the project's log: the members that every line has, then those that more adds. A line is less
// than 4 KiB and one write, so lines of other processes never cut it.
func (c call) log(more func(o *rawjson.Builder)) {
	var o rawjson.Builder
	o.Open()
	o.Text("ts", c.Now().UTC().Format(logTime))
	o.Text("session", c.state.session)
	o.Text("event", c.event.Name)
	o.Text("mode", c.kb.Mode.V)
	more(&o)
	// The original has no such member. With it a transcript's calls can be matched one by one.
	if id := harness.Label(cut(c.event.ToolUseID, maxLoggedCallID)); id != "" {
		o.Text("tool_use_id", id)
	}
	o.Close()
	o.EndLine()
	if err := statefile.AppendRecord(LogPath(c.state.root), o.Bytes()); err != nil {
		c.debug(err)
	}
}

// logSkip logs that an event was not judged.
func (c call) logSkip(why string, more func(o *rawjson.Builder)) {
	c.log(func(o *rawjson.Builder) {
		if more != nil {
			more(o)
		}
		o.Text("decision", decidedSkip)
		o.Text("skip_reason", why)
	})
}

// logJudged logs the decision on a spawn; why may be "", and t nil when no budget was asked.
func (c call) logJudged(l lookup, decision, why string, s *spending) {
	c.log(func(o *rawjson.Builder) {
		o.Text("phase", phase)
		o.Text("agent_type", harness.Label(l.kind))
		o.Bool("fresh_query", l.searched)
		o.Bool("had_kb_block", l.block)
		o.Bool("satisfied", l.satisfied())
		o.Text("decision", decision)
		if why != "" {
			o.Text("skip_reason", why)
		}
		if s != nil {
			o.Int("denials_turn", int64(s.turn))
			o.Int("denials_state", int64(s.state))
		}
	})
}

// spending is how many denials were issued, the one that is decided on included when it was.
type spending struct{ turn, state int }
