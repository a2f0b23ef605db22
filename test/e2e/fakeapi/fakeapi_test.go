package fakeapi

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

type m = map[string]any

var someTools = []m{{"name": "Bash"}}

// turn is a request body with tools, whose conversation is the given user texts.
func turn(stream bool, texts ...string) m {
	var messages []m
	for _, text := range texts {
		messages = append(messages, m{"role": "user", "content": []m{{"type": "text", "text": text}}})
	}
	return m{"model": "some-model", "stream": stream, "tools": someTools, "messages": messages}
}

func post(t *testing.T, s *Server, path string, body any) string {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(s.URL()+path, "application/json", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

// ask posts a turn and returns the texts of the plain answer.
func ask(t *testing.T, s *Server, body m) string {
	t.Helper()
	var answer struct {
		Content []struct{ Type, Text, ID, Name string }
	}
	if err := json.Unmarshal([]byte(post(t, s, "/v1/messages?beta=true", body)), &answer); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, b := range answer.Content {
		texts = append(texts, b.Text+b.Name)
	}
	return strings.Join(texts, " ")
}

func start(t *testing.T, steps ...Step) *Server {
	s := New(steps...)
	t.Cleanup(s.Close)
	return s
}

func TestPlainAnswer(t *testing.T) {
	s := start(t, Step{
		Text:  "reading",
		Calls: []Call{{ID: "toolu_a", Name: "Read", Input: m{"file_path": "/x"}}, {Name: "Bash"}},
		Usage: Usage{Input: 1, Output: 2, CacheCreation: 3, CacheRead: 4},
	})
	got := post(t, s, "/v1/messages?beta=true", turn(false, "go"))
	want := `{"id":"msg_0001","type":"message","role":"assistant","model":"some-model","content":[` +
		`{"text":"reading","type":"text"},` +
		`{"id":"toolu_a","input":{"file_path":"/x"},"name":"Read","type":"tool_use"},` +
		`{"id":"toolu_0002","input":{},"name":"Bash","type":"tool_use"}],` +
		`"stop_reason":"tool_use","stop_sequence":null,` +
		`"usage":{"input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":3,"cache_read_input_tokens":4}}`
	if strings.TrimSpace(got) != want {
		t.Errorf("answered\n%s\nwant\n%s", got, want)
	}
}

// A stream must add up to the plain answer of the same step.
func TestStreamAddsUpToThePlainAnswer(t *testing.T) {
	step := Step{
		Text:  "zwei Wörter",
		Calls: []Call{{ID: "toolu_a", Name: "Read", Input: m{"file_path": "/x"}}},
		Usage: Usage{Input: 7, Output: 8},
	}
	want := post(t, start(t, step), "/v1/messages", turn(false, "go"))
	stream := post(t, start(t, step), "/v1/messages", turn(true, "go"))

	var events []string
	var got m
	var content []m
	for _, chunk := range strings.Split(strings.TrimSpace(stream), "\n\n") {
		name, data, ok := strings.Cut(chunk, "\n")
		if !ok {
			t.Fatalf("event without data: %q", chunk)
		}
		var event struct {
			Type         string
			Message      m
			ContentBlock m `json:"content_block"`
			Delta        m
		}
		if err := json.Unmarshal([]byte(strings.TrimPrefix(data, "data: ")), &event); err != nil {
			t.Fatal(err)
		}
		if name != "event: "+event.Type {
			t.Errorf("event line %q over data of type %q", name, event.Type)
		}
		events = append(events, event.Type)
		switch event.Type {
		case "message_start":
			got = event.Message
		case "content_block_start":
			content = append(content, event.ContentBlock)
		case "content_block_delta":
			block := content[len(content)-1]
			switch event.Delta["type"] {
			case "text_delta":
				block["text"] = event.Delta["text"]
			case "input_json_delta":
				var input m
				if err := json.Unmarshal([]byte(event.Delta["partial_json"].(string)), &input); err != nil {
					t.Fatal(err)
				}
				block["input"] = input
			}
		case "message_delta":
			got["stop_reason"] = event.Delta["stop_reason"]
		}
	}
	got["content"] = content
	if a, b := canonical(t, got), canonical(t, json.RawMessage(want)); a != b {
		t.Errorf("stream adds up to\n%s\nplain answer\n%s", a, b)
	}
	if want := "message_start content_block_start content_block_delta content_block_stop " +
		"content_block_start content_block_delta content_block_stop message_delta message_stop"; strings.Join(events, " ") != want {
		t.Errorf("events %v", events)
	}
}

func canonical(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var generic any
	if err := json.Unmarshal(data, &generic); err != nil {
		t.Fatal(err)
	}
	if data, err = json.Marshal(generic); err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestLanesTakeTheirOwnStepsInOrder(t *testing.T) {
	s := start(t,
		Step{Text: "main 1"},
		Step{Agent: "SEARCHER", Text: "searcher 1"},
		Step{Agent: "WRITER", Text: "writer 1"},
		Step{Text: "main 2"},
		Step{Agent: "SEARCHER", Text: "searcher 2"},
	)
	for _, c := range []struct{ prompt, want string }{
		{"You are the WRITER. Begin.", "writer 1"},
		{"please start the SEARCHING", "main 1"},
		{"SEARCHER, look for x", "searcher 1"},
		{"SEARCHER, look for x", "searcher 2"},
		{"please start the SEARCHING", "main 2"},
	} {
		// What a lane hears later must not move it: only the first prompt counts.
		if got := ask(t, s, turn(false, c.prompt, "WRITER or SEARCHER")); got != c.want {
			t.Errorf("%q was answered %q, want %q", c.prompt, got, c.want)
		}
	}
	if p := s.Problems(); len(p) != 0 {
		t.Errorf("problems: %q", p)
	}
	if got := []int{len(s.Main()), len(s.Agent("SEARCHER")), len(s.Agent("WRITER"))}; !slices.Equal(got, []int{2, 2, 1}) {
		t.Errorf("turns per lane: %v", got)
	}
}

func TestScriptThatRunsOutEndsTheTurnAndIsAProblem(t *testing.T) {
	s := start(t, Step{Text: "only", Agent: ""})
	ask(t, s, turn(false, "go"))
	var answer struct {
		StopReason string `json:"stop_reason"`
	}
	if err := json.Unmarshal([]byte(post(t, s, "/v1/messages", turn(false, "go"))), &answer); err != nil {
		t.Fatal(err)
	}
	if answer.StopReason != "end_turn" {
		t.Errorf("stop reason %q", answer.StopReason)
	}
	if p := s.Problems(); len(p) != 1 || !strings.Contains(p[0], "ran out") {
		t.Errorf("problems: %q", p)
	}
}

func TestStepsNeverAskedForAreAProblemUnlessOptional(t *testing.T) {
	s := start(t, Step{Text: "a"}, Step{Agent: "X", Text: "b"}, Step{Text: "c", Optional: true})
	ask(t, s, turn(false, "go"))
	if p := s.Problems(); len(p) != 1 || !strings.Contains(p[0], `step 2 (lane "X")`) {
		t.Errorf("problems: %q", p)
	}
}

func TestRequestsBesideTheConversationTakeNoStep(t *testing.T) {
	s := start(t, Step{Text: "the step"})
	title := turn(false, "name this session")
	delete(title, "tools")
	if got := ask(t, s, title); !strings.Contains(got, "title") {
		t.Errorf("title request was answered %q", got)
	}
	// The client adds notes of its own after the instruction.
	compact := turn(false, "go", "Your task is to create a detailed summary of the conversation so far.")
	compact["messages"] = append(compact["messages"].([]m), m{"role": "system", "content": "10 tokens left"})
	if got := ask(t, s, compact); !strings.Contains(got, Summary) {
		t.Errorf("compaction was answered %q", got)
	}
	if got := post(t, s, "/v1/messages/count_tokens?beta=true", turn(false, "go")); !strings.Contains(got, "input_tokens") {
		t.Errorf("token count was answered %q", got)
	}
	if got := post(t, s, "/api/anything", m{}); strings.TrimSpace(got) != "{}" {
		t.Errorf("unknown path was answered %q", got)
	}
	if got := ask(t, s, turn(false, "go")); got != "the step" {
		t.Errorf("turn was answered %q", got)
	}
	var kinds []Kind
	for _, r := range s.Requests() {
		kinds = append(kinds, r.Kind)
	}
	if want := []Kind{Background, Compaction, Count, Other, Turn}; !slices.Equal(kinds, want) {
		t.Errorf("kinds %v, want %v", kinds, want)
	}
	if n := len(s.Compactions()); n != 1 {
		t.Errorf("%d compactions", n)
	}
}

func TestBrokenRequestIsAnsweredAndIsAProblem(t *testing.T) {
	s := start(t)
	resp, err := http.Post(s.URL()+"/v1/messages", "application/json", strings.NewReader(`{"model":`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("status %d", resp.StatusCode)
	}
	if p := s.Problems(); len(p) != 1 {
		t.Errorf("problems: %q", p)
	}
	if len(s.Requests()) != 1 {
		t.Error("the request was not kept")
	}
}

func TestWhatTheModelWasSent(t *testing.T) {
	s := start(t, Step{}, Step{})
	body := turn(false, "first prompt")
	body["system"] = []m{{"type": "text", "text": "the system prompt"}}
	body["messages"] = append(body["messages"].([]m),
		m{"role": "assistant", "content": []m{{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": m{"command": "not sent"}}}},
		m{"role": "user", "content": []m{
			{"type": "tool_result", "tool_use_id": "toolu_1", "is_error": true, "content": "denied: a reason"},
			{"type": "tool_result", "tool_use_id": "toolu_2", "content": []m{{"type": "text", "text": "line"}, {"type": "text", "text": "other"}}},
		}},
		m{"role": "system", "content": "a note"},
	)
	ask(t, s, body)
	ask(t, s, turn(false, "go"))
	r := s.Main()[0]
	want := "the system prompt\nfirst prompt\n\ndenied: a reason\nline\nother\na note"
	if got := r.Text(); got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	if n := r.Count("a "); n != 2 {
		t.Errorf("counted %d", n)
	}
	if tools := r.Tools(); !slices.Equal(tools, []string{"Bash"}) {
		t.Errorf("tools %v", tools)
	}
	if r.Model() != "some-model" || r.FirstPrompt() != "first prompt" {
		t.Errorf("model %q, first prompt %q", r.Model(), r.FirstPrompt())
	}
	if got, ok := s.ToolResult("toolu_1"); !ok || got != (ToolResult{"denied: a reason", true}) {
		t.Errorf("toolu_1: %v %v", got, ok)
	}
	if got, ok := s.ToolResult("toolu_2"); !ok || got != (ToolResult{"line\nother", false}) {
		t.Errorf("toolu_2: %v %v", got, ok)
	}
	if _, ok := s.ToolResult("toolu_3"); ok {
		t.Error("a result that nobody sent")
	}
}
