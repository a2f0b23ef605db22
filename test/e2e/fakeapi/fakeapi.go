// Package fakeapi is a Messages API that plays a script. It listens on loopback, answers each request of a coding
// agent with the next step of the lane that the request belongs to, and keeps every request: what the model would have
// seen is in the request bodies, and that is where a test looks for denials and notes.
//
// A lane is the main thread or one sub-agent. Requests that are no turn of either (titles, token counts, compaction)
// get a canned answer and take no step, because the client decides when to send them and a script cannot.
package fakeapi

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// Summary is the text that a compaction request is answered with. A test that finds it in a later request knows that
// the model went on from the summary.
const Summary = "The scripted session was summarised here."

// title answers requests without tools. It is JSON because newer clients ask for a schema, and those that do not take
// any text.
const title = `{"title":"Scripted session","isNewTopic":true}`

// ranOut answers a turn that the script has no step for. It ends the turn, so a short script fails instead of hanging.
const ranOut = "The script has no further step."

// A Step is one answer of the model.
type Step struct {
	// Agent names the lane: empty for the main thread, otherwise a text that the sub-agent's first prompt contains.
	Agent string
	// Text is said before any call. A step with neither text nor calls says "ok".
	Text string
	// Calls are the tools that the answer calls, all in one response: what the client runs as one batch.
	Calls []Call
	// Usage is what the answer claims to have cost; it is what sets the client's occupancy.
	Usage Usage
	// Optional marks a step that the client may or may not ask for: when a sub-agent in the background ends before the
	// main thread's next request, there is one request less.
	Optional bool
}

// A Call is one tool call of an answer.
type Call struct {
	// ID is the tool_use id; empty means one that the server makes up.
	ID string
	// Name is the tool's name as the client knows it.
	Name string
	// Input is the tool's input, encoded as JSON.
	Input map[string]any
}

// Usage holds the token figures of one response. Input counts uncached tokens only, as the API does.
type Usage struct {
	Input         int `json:"input_tokens"`
	Output        int `json:"output_tokens"`
	CacheCreation int `json:"cache_creation_input_tokens"`
	CacheRead     int `json:"cache_read_input_tokens"`
}

// A Server plays one script. Its methods may be called while the client is running.
type Server struct {
	http *httptest.Server

	mu       sync.Mutex
	steps    []Step
	used     []bool
	requests []Request
	problems []string
	ids      int
}

// New starts a server on loopback that plays the steps. The caller closes it.
func New(steps ...Step) *Server {
	s := &Server{steps: slices.Clone(steps), used: make([]bool, len(steps))}
	s.http = httptest.NewServer(s)
	return s
}

// URL is the server's base address, for ANTHROPIC_BASE_URL.
func (s *Server) URL() string { return s.http.URL }

// Close stops the server, dropping connections that are still open: a client that was killed leaves some.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// Requests returns every request so far, in order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Main returns the main thread's turns.
func (s *Server) Main() []Request {
	return s.pick(func(r Request) bool { return r.Kind == Turn && r.Agent == "" })
}

// Agent returns the turns of the sub-agents whose lane has this name.
func (s *Server) Agent(name string) []Request {
	return s.pick(func(r Request) bool { return r.Kind == Turn && r.Agent == name })
}

// Compactions returns the requests that asked for a summary of the conversation.
func (s *Server) Compactions() []Request {
	return s.pick(func(r Request) bool { return r.Kind == Compaction })
}

// ToolResult returns what the model was told about a tool call, from the newest request that holds it.
func (s *Server) ToolResult(id string) (ToolResult, bool) {
	for _, r := range slices.Backward(s.Requests()) {
		if result, ok := r.ToolResult(id); ok {
			return result, true
		}
	}
	return ToolResult{}, false
}

// Problems says in which ways the client and the script did not fit: turns that had no step left, steps that were
// never asked for, requests that made no sense. None means that the script was played to its end.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	problems := slices.Clone(s.problems)
	for i, step := range s.steps {
		if !s.used[i] && !step.Optional {
			problems = append(problems, fmt.Sprintf("step %d (lane %s) was never asked for", i+1, laneName(step.Agent)))
		}
	}
	return problems
}

func (s *Server) pick(want func(Request) bool) []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return !want(r) })
}

// ServeHTTP answers one request. Every path and every body gets an answer: a client that waits for one would hang.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		// The client went away; there is nobody to answer.
		return
	}
	req, err := parse(r.Method, r.URL.Path, body)
	if err != nil {
		s.complain(req, fmt.Sprintf("%s %s: %v", r.Method, r.URL.Path, err))
		http.Error(w, `{"type":"error","error":{"type":"invalid_request_error","message":"not a request"}}`, http.StatusBadRequest)
		return
	}
	switch answer := s.answer(&req); {
	case req.Kind == Count:
		writeJSON(w, map[string]any{"input_tokens": len(body) / 4})
	case req.Kind == Other:
		writeJSON(w, map[string]any{})
	case req.body.Stream:
		streamMessage(w, answer)
	default:
		writeJSON(w, answer)
	}
}

// answer records the request, settles its lane and returns the message to send.
func (s *Server) answer(req *Request) message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var step Step
	switch req.Kind {
	case Turn:
		step = s.next(req)
	case Compaction:
		step = Step{Text: "<summary>\n" + Summary + "\n</summary>", Usage: Usage{Input: 100, Output: 20}}
	default:
		step = Step{Text: title, Usage: Usage{Input: 10, Output: 5}}
	}
	s.requests = append(s.requests, *req)
	return s.message(req.body.Model, step)
}

// next takes the first unused step of the request's lane. The caller holds the lock.
func (s *Server) next(req *Request) Step {
	prompt := req.FirstPrompt()
	for _, step := range s.steps {
		if step.Agent != "" && strings.Contains(prompt, step.Agent) {
			req.Agent = step.Agent
			break
		}
	}
	for i, step := range s.steps {
		if !s.used[i] && step.Agent == req.Agent {
			s.used[i] = true
			return step
		}
	}
	s.problems = append(s.problems, fmt.Sprintf("the script ran out: lane %s asked for more", laneName(req.Agent)))
	return Step{Text: ranOut}
}

func (s *Server) complain(req Request, problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	s.problems = append(s.problems, problem)
}

func laneName(agent string) string {
	if agent == "" {
		return "main"
	}
	return fmt.Sprintf("%q", agent)
}
