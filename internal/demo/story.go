package demo

import (
	"time"

	"plimsoll/internal/harness"
)

// windowSize is the window of the recorded session's model, in tokens.
const windowSize = 1_000_000

// step is one moment of the story.
type step struct {
	at            time.Duration
	payload       string // which recorded payload the status line is run with; "": it does not run
	input, output int    // tokens in the window at this moment; 0: the recording's own
	event         string // what happened, when that was no ordinary response
	calls         []call // what the model, the operator and the client do next
}

// call is one event that the hooks hear.
type call struct {
	what  string // for people
	event string
	tool  string
	input string // the tool's input, JSON
	more  string // further members of the payload
	gated bool   // with the zone gate armed, and no grace
}

const (
	explore  = `{"subagent_type":"Explore","prompt":"How long do seat holds live?"}`
	findings = `{"subagent_type":"Explore","prompt":"KB context:\n- holds live 10 minutes in Redis (seat-holds.md)\nFind who renews them."}`
	review   = `{"subagent_type":"reviewer","prompt":"Review the diff."}`
)

// story is a session on a 1M window that fills up, is compacted and recovers.
var story = []step{
	{at: 0, payload: "start", event: "the session starts"},
	{at: 1 * time.Minute, payload: "response", calls: []call{
		{what: "a prompt", event: harness.UserPromptSubmit, more: `,"prompt":"How do holds work?","prompt_id":"1"`},
		{what: "Explore, without a search", event: harness.PreToolUse, tool: "Agent", input: explore},
		{what: "Explore, the second of the batch", event: harness.PreToolUse, tool: "Agent", input: explore},
		{what: "Explore, the third", event: harness.PreToolUse, tool: "Agent", input: explore},
		{what: "plimsoll kb search seat holds", event: harness.PostToolUse, tool: "Bash", input: `{"command":"plimsoll kb search seat holds"}`},
		{what: "Explore, with what was found", event: harness.PreToolUse, tool: "Agent", input: findings},
	}},
	{at: 34 * time.Minute, payload: "response", input: 118_400, output: 1_900},
	{at: 71 * time.Minute, payload: "response", input: 196_300, output: 2_400},
	{at: 83 * time.Minute, payload: "response", input: 214_700, output: 1_100},
	{at: 128 * time.Minute, payload: "response", input: 342_500, output: 3_000},
	{at: 151 * time.Minute, payload: "response", input: 409_800, output: 2_700, calls: []call{
		{what: "Skill plan", event: harness.PreToolUse, tool: "Skill", input: `{"skill":"plan"}`},
		{what: "Skill /handoff", event: harness.PreToolUse, tool: "Skill", input: `{"skill":"/handoff"}`},
		{what: "a sub-agent that reviews", event: harness.PreToolUse, tool: "Agent", input: review},
	}},
	{at: 176 * time.Minute, payload: "response", input: 553_000, output: 1_800, calls: []call{
		{what: "Write, with the zone gate armed", event: harness.PreToolUse, tool: "Write", input: `{"file_path":"booking.go"}`, gated: true},
		{what: "Write handoff.md, likewise", event: harness.PreToolUse, tool: "Write", input: `{"file_path":"handoff.md"}`, gated: true},
	}},
	{at: 178 * time.Minute, payload: "compacted", event: "/compact", calls: []call{
		{what: "the compaction", event: harness.PostCompact, more: `,"trigger":"manual"`},
	}},
	{at: 179 * time.Minute, payload: "response", input: 31_200, output: 900},
	{at: 195 * time.Minute, event: "left idle"},
}
