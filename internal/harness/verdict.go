package harness

import "plimsoll/internal/rawjson"

// Decision is the kind of a verdict. The words are those of the decision log.
type Decision string

// The decisions. Plimsoll never answers "allow": silence means "no opinion", so that it can never overrule a
// permission rule of somebody else's.
const (
	Silent   Decision = ""
	Note     Decision = "note"
	Denial   Decision = "denial"
	Release  Decision = "release"   // a gate that would have denied let go: its budget ended
	FailOpen Decision = "fail-open" // a rule could not do its work and let the call pass
)

// Verdict is what a rule answers to an event. The zero Verdict is silence.
type Verdict struct {
	Rule       string
	Decision   Decision
	Reason     string // of a denial; the model reads it
	ToModel    string // a note for the model
	ToOperator string // a note for the person at the terminal
	Why        string // one word for the decision log: which budget ended, what could not be written
	Figures    []Figure

	// Settle makes a verdict that depends on a record definite: it appends the record and answers by its position.
	// denied tells whether another rule denies the call anyway. Nil when the verdict is definite already.
	Settle func(denied bool) Verdict

	// Written hears whether the merged answer reached stdout whole. A rule that reports something once confirms or
	// takes back its mark here.
	Written func(ok bool)
}

// Figure is one number or word that a decision was made on, for the decision log. Value is a string, bool, int,
// int64 or float64; Provenance says where it came from, when that is not obvious.
type Figure struct {
	Key        string
	Value      any
	Provenance string
}

// hears tells whether the client takes additionalContext from this event. PostCompact and others have no such channel.
func hears(event string) bool {
	switch event {
	case PreToolUse, PostToolUse, PostToolBatch, UserPromptSubmit, SubagentStart, SessionStart:
		return true
	}
	return false
}

// Encode returns the answer to an event: one line of JSON, or nothing for a silent verdict.
func Encode(event string, v Verdict) []byte {
	denies := v.Decision == Denial && event == PreToolUse
	tells := v.ToModel != "" && hears(event)
	if !denies && !tells && v.ToOperator == "" {
		return nil
	}
	var o rawjson.Builder
	o.Open()
	if denies || tells {
		o.Key("hookSpecificOutput")
		o.Open()
		o.Text("hookEventName", event)
		if denies {
			o.Text("permissionDecision", "deny")
			o.Text("permissionDecisionReason", v.Reason)
		}
		if tells {
			o.Text("additionalContext", v.ToModel)
		}
		o.Close()
	}
	if v.ToOperator != "" {
		o.Text("systemMessage", v.ToOperator)
	}
	o.Close()
	o.EndLine()
	return o.Bytes()
}
