package fakeapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Kind says what a request wants.
type Kind string

// The kinds of request. Only a Turn takes a step of the script.
const (
	Turn       Kind = "turn"       // the next answer of the main thread or of a sub-agent
	Compaction Kind = "compaction" // a summary of the conversation so far
	Background Kind = "background" // something beside the conversation, such as a title
	Count      Kind = "count"      // a token count
	Other      Kind = "other"      // any other path
)

// A Request is one request as it arrived.
type Request struct {
	Kind   Kind
	Agent  string // the lane's name; empty for the main thread and for anything but a Turn
	Method string
	Path   string
	Body   []byte

	body requestBody
}

type requestBody struct {
	Model  string  `json:"model"`
	Stream bool    `json:"stream"`
	System content `json:"system"`
	Tools  []struct {
		Name string `json:"name"`
	} `json:"tools"`
	Messages []struct {
		Role    string  `json:"role"`
		Content content `json:"content"`
	} `json:"messages"`
}

// content is what the API accepts wherever text may stand: a string or a list of blocks.
type content []part

type part struct {
	Type      string  `json:"type"`
	Text      string  `json:"text"`
	ToolUseID string  `json:"tool_use_id"`
	IsError   bool    `json:"is_error"`
	Content   content `json:"content"`
}

func (c *content) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		text := part{Type: "text"}
		*c = content{text}
		return json.Unmarshal(data, &(*c)[0].Text)
	}
	return json.Unmarshal(data, (*[]part)(c))
}

// text joins the text of the blocks, tool results included.
func (c content) text() string {
	var texts []string
	for _, p := range c {
		switch {
		case p.Type == "text":
			texts = append(texts, p.Text)
		case p.Content != nil:
			texts = append(texts, p.Content.text())
		}
	}
	return strings.Join(texts, "\n")
}

// A ToolResult is what a model was told about one of its tool calls.
type ToolResult struct {
	Text    string
	IsError bool
}

// parse reads a request and says what it wants. The request is usable for the record also when there is an error.
func parse(method, path string, body []byte) (Request, error) {
	r := Request{Kind: Other, Method: method, Path: path, Body: body}
	switch {
	case strings.HasSuffix(path, "/count_tokens"):
		r.Kind = Count
		return r, nil
	case !strings.HasSuffix(path, "/v1/messages"):
		return r, nil
	}
	if err := json.Unmarshal(body, &r.body); err != nil {
		return r, fmt.Errorf("decode request: %w", err)
	}
	switch {
	case r.wantsSummary():
		r.Kind = Compaction
	case len(r.body.Tools) == 0:
		r.Kind = Background
	default:
		r.Kind = Turn
	}
	return r, nil
}

// wantsSummary recognises a compaction request by its instruction, which every version tested words alike. It is the
// last thing the user says, though a note of the client may follow. The request may carry tools, so their absence says
// nothing.
func (r Request) wantsSummary() bool {
	for _, m := range slices.Backward(r.body.Messages) {
		if m.Role == "user" {
			return strings.Contains(m.Content.text(), "create a detailed summary of the conversation")
		}
	}
	return false
}

// FirstPrompt is the text of the first user message: what a sub-agent was started with, or the first prompt of the
// main thread.
func (r Request) FirstPrompt() string {
	for _, m := range r.body.Messages {
		if m.Role == "user" {
			return m.Content.text()
		}
	}
	return ""
}

// Model is the id of the model that was asked.
func (r Request) Model() string { return r.body.Model }

// Tools are the names of the tools that the model was offered.
func (r Request) Tools() []string {
	names := make([]string, len(r.body.Tools))
	for i, tool := range r.body.Tools {
		names[i] = tool.Name
	}
	return names
}

// Text is everything the model was sent in words: system prompt, messages and tool results, in order, one block a
// line. The input of the model's own calls is not in it.
func (r Request) Text() string {
	texts := []string{r.body.System.text()}
	for _, m := range r.body.Messages {
		texts = append(texts, m.Content.text())
	}
	return strings.Join(texts, "\n")
}

// Count says how often the model was sent a text. Each request repeats the conversation, so a note that was said once
// counts 1 in every later request.
func (r Request) Count(text string) int { return strings.Count(r.Text(), text) }

// ToolResult returns the result of a tool call, if the request holds it.
func (r Request) ToolResult(id string) (ToolResult, bool) {
	for _, m := range r.body.Messages {
		for _, p := range m.Content {
			if p.Type == "tool_result" && p.ToolUseID == id {
				return ToolResult{Text: p.Content.text(), IsError: p.IsError}, true
			}
		}
	}
	return ToolResult{}, false
}
