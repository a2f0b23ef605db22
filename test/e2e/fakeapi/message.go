package fakeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// message is a response in the API's shape.
type message struct {
	ID           string  `json:"id"`
	Type         string  `json:"type"`
	Role         string  `json:"role"`
	Model        string  `json:"model"`
	Content      []block `json:"content"`
	StopReason   *string `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"`
	Usage        Usage   `json:"usage"`
}

// block is one content block of a response: text or a tool call.
type block struct {
	Type  string
	Text  string
	ID    string
	Name  string
	Input map[string]any
}

// MarshalJSON writes the keys of the block's type only: the client reads an empty text in a tool call as a text.
func (b block) MarshalJSON() ([]byte, error) {
	if b.Type == "text" {
		return json.Marshal(map[string]any{"type": b.Type, "text": b.Text})
	}
	return json.Marshal(map[string]any{"type": b.Type, "id": b.ID, "name": b.Name, "input": b.Input})
}

// message turns a step into a response of the asked model. The caller holds the lock.
func (s *Server) message(model string, step Step) message {
	m := message{
		ID: s.newID("msg"), Type: "message", Role: "assistant", Model: model, Usage: step.Usage,
	}
	stop := "end_turn"
	if step.Text != "" || len(step.Calls) == 0 {
		text := step.Text
		if text == "" {
			text = "ok"
		}
		m.Content = append(m.Content, block{Type: "text", Text: text})
	}
	for _, call := range step.Calls {
		stop = "tool_use"
		id, input := call.ID, call.Input
		if id == "" {
			id = s.newID("toolu")
		}
		if input == nil {
			input = map[string]any{}
		}
		m.Content = append(m.Content, block{Type: "tool_use", ID: id, Name: call.Name, Input: input})
	}
	m.StopReason = &stop
	return m
}

func (s *Server) newID(prefix string) string {
	s.ids++
	return fmt.Sprintf("%s_%04d", prefix, s.ids)
}

// streamMessage sends a message as server-sent events, as the API does: the usage stands in message_start, content
// follows in deltas, and the stop reason comes last.
func streamMessage(w http.ResponseWriter, m message) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Request-Id", "req_"+m.ID)
	send := func(event string, fields map[string]any) {
		fields["type"] = event
		data, err := json.Marshal(fields)
		if err != nil {
			// A script whose input cannot be encoded is a mistake in the test; the broken stream shows it.
			data = []byte(`{"type":"error","error":{"type":"api_error","message":"step cannot be encoded"}}`)
			event = "error"
		}
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data)
	}
	start := m
	start.Content, start.StopReason = []block{}, nil
	send("message_start", map[string]any{"message": start})
	for i, b := range m.Content {
		empty, delta := b, map[string]any{"type": "text_delta", "text": b.Text}
		if b.Type == "tool_use" {
			input, err := json.Marshal(b.Input)
			if err != nil {
				input = []byte("null")
			}
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(input)}
		}
		empty.Text, empty.Input = "", map[string]any{}
		send("content_block_start", map[string]any{"index": i, "content_block": empty})
		send("content_block_delta", map[string]any{"index": i, "delta": delta})
		send("content_block_stop", map[string]any{"index": i})
	}
	send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": m.StopReason, "stop_sequence": nil},
		"usage": m.Usage,
	})
	send("message_stop", map[string]any{})
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	// An error here is a client that went away, or a step that cannot be encoded: the client sees a broken answer.
	_ = json.NewEncoder(w).Encode(v)
}
