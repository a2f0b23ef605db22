// Package harness is what Claude Code sends to a hook and accepts from one: the event, the verdict, and their
// encodings. It holds no policy and touches no file.
package harness

import (
	"errors"
	"fmt"

	"plimsoll/internal/rawjson"
)

// The events that Plimsoll listens to.
const (
	PreToolUse       = "PreToolUse"
	PostToolUse      = "PostToolUse"
	PostToolBatch    = "PostToolBatch"
	UserPromptSubmit = "UserPromptSubmit"
	SubagentStart    = "SubagentStart"
	PostCompact      = "PostCompact"
	SessionStart     = "SessionStart"
)

// Event is one hook payload. Fields that the payload lacks, or holds as another type than the client does, are empty.
type Event struct {
	Name           string
	Session        ID     // the zero ID when the payload's is missing or unsafe
	RawSession     string // as sent, for the one rule that keeps files for unsafe ids too
	TranscriptPath string
	Cwd            string
	PromptID       string // names the human's turn; clients from 2.1.201 on
	AgentID        string // non-empty inside a sub-agent
	AgentType      string
	ToolName       string
	ToolUseID      string
	ToolInput      rawjson.Value
	ToolResponse   rawjson.Value
	Prompt         string // UserPromptSubmit
	Source         string // SessionStart: startup, resume, clear, compact, fork
	Trigger        string // PostCompact: manual, auto
}

// ErrNotObject reports a payload whose root is no JSON object.
var ErrNotObject = errors.New("payload is not a JSON object")

// Decode reads a payload. Unknown fields and unknown events are no errors.
func Decode(data []byte) (Event, error) {
	root, err := rawjson.Parse(data)
	if err != nil {
		return Event{}, fmt.Errorf("decode payload: %w", err)
	}
	if root.Kind() != rawjson.Object {
		return Event{}, ErrNotObject
	}
	var e Event
	// One pass over the members: a payload can hold a file of hundreds of kilobytes. Of duplicate keys the last counts.
	for key, v := range root.Members() {
		text := v.TextOr("")
		switch key {
		case "hook_event_name":
			e.Name = text
		case "session_id":
			e.RawSession = text
		case "transcript_path":
			e.TranscriptPath = text
		case "cwd":
			e.Cwd = text
		case "prompt_id":
			e.PromptID = text
		case "agent_id":
			e.AgentID = text
		case "agent_type":
			e.AgentType = text
		case "tool_name":
			e.ToolName = text
		case "tool_use_id":
			e.ToolUseID = text
		case "tool_input":
			e.ToolInput = v
		case "tool_response":
			e.ToolResponse = v
		case "prompt":
			e.Prompt = text
		case "source":
			e.Source = text
		case "trigger":
			e.Trigger = text
		}
	}
	e.Session, _ = ParseID(e.RawSession)
	return e, nil
}
