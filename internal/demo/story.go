package demo

import "time"

// windowSize is the window of the recorded session's model, in tokens.
const windowSize = 1_000_000

// step is one moment of the story.
type step struct {
	at            time.Duration
	payload       string // which recorded payload the status line is run with; "": it does not run
	input, output int    // tokens in the window at this moment; 0: the recording's own
	event         string // what happened, when that was no ordinary response
}

// story is a session on a 1M window that fills up, is compacted and recovers.
var story = []step{
	{at: 0, payload: "start", event: "the session starts"},
	{at: 1 * time.Minute, payload: "response"},
	{at: 34 * time.Minute, payload: "response", input: 118_400, output: 1_900},
	{at: 71 * time.Minute, payload: "response", input: 196_300, output: 2_400},
	{at: 83 * time.Minute, payload: "response", input: 214_700, output: 1_100},
	{at: 128 * time.Minute, payload: "response", input: 342_500, output: 3_000},
	{at: 151 * time.Minute, payload: "response", input: 409_800, output: 2_700},
	{at: 176 * time.Minute, payload: "response", input: 553_000, output: 1_800},
	{at: 178 * time.Minute, payload: "compacted", event: "/compact"},
	{at: 179 * time.Minute, payload: "response", input: 31_200, output: 900},
	{at: 195 * time.Minute, event: "left idle"},
}
