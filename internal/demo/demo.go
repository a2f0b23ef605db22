// Package demo plays a recorded session through the real status line, rules and resolver in a throw-away home, and
// shows what each of them made of it. Nothing of the user's is read or written.
package demo

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/internal/config"
	"plimsoll/internal/harness"
	"plimsoll/internal/hookcmd"
	"plimsoll/internal/snapshot"
	"plimsoll/internal/statefile"
	"plimsoll/internal/zone"
)

// Player plays the story. Its fields are the real commands; a test replaces one to see that the story hangs on it.
type Player struct {
	Statusline func(hookcmd.Process) int
	Hook       func(hookcmd.Process) int
}

// Real returns the player that users see.
func Real() Player { return Player{hookcmd.Statusline, hookcmd.Hook} }

// Row is one line of the table: a render of the status line, and what the session's state was after it.
type Row struct {
	At      time.Duration // since the start of the session
	Tokens  string
	Percent string
	Zone    zone.Word
	Why     string
	Event   string // what happened, when that was no ordinary response
	Told    []Told // what the hooks answered at this moment
}

// Told is what the hooks answered to one event.
type Told struct {
	What     string
	Denied   bool
	Model    string // what the model reads: the reason of a denial, or a note
	Operator string // what the person at the terminal reads
}

// session is the id in the recorded payloads.
const session = "1aeeb7b7-007e-4117-8eba-286dd3b7efcf"

// payloads were recorded from client 2.1.332: before the first response, after one, and right after /compact.
//
//go:embed session
var payloads embed.FS

// memories are the notes of the demo's project.
//
//go:embed memories
var memories embed.FS

// start is the moment at which the story begins; any does.
var start = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

// Play plays the story in a home of its own, which is gone afterwards.
func (p Player) Play() (rows []Row, err error) {
	home, err := os.MkdirTemp("", "plimsoll-demo-")
	if err != nil {
		return nil, fmt.Errorf("make a home for the demo: %w", err)
	}
	defer os.RemoveAll(home)
	stage := stage{Player: p, home: home}
	if err := stage.furnish(); err != nil {
		return nil, err
	}
	for _, step := range story {
		row, err := stage.play(step)
		if err != nil {
			return nil, fmt.Errorf("play minute %d: %w", int(step.at.Minutes()), err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// stage is one performance.
type stage struct {
	Player
	home string
}

func (s stage) play(step step) (Row, error) {
	row := Row{At: step.at, Tokens: "-", Percent: "-", Event: step.event}
	now := start.Add(step.at)
	if step.payload != "" {
		payload, err := step.render()
		if err != nil {
			return row, err
		}
		s.Statusline(s.process(now, bytes.NewReader(payload), io.Discard))
		if err := s.transcribe(step); err != nil {
			return row, err
		}
		// The hooks hear every batch of tool calls; a crossing is told then.
		row.Told = append(row.Told, s.hear(now, call{what: "a batch of tool calls", event: harness.PostToolBatch})...)
	}
	for _, c := range step.calls {
		row.Told = append(row.Told, s.hear(now, c)...)
	}
	store, _ := snapshot.In(s.home)
	id, _ := harness.ParseID(session)
	state := store.Resolve(id, now)
	row.Zone = state.Word
	row.Why = state.Because(state.Bands)
	if t := state.Tokens; t.Word != zone.Unknown {
		row.Tokens = zone.FormatTokens(t.Occupancy()) + " of " + zone.FormatTokens(t.Window)
	}
	if state.Percent.Word != zone.Unknown {
		row.Percent = fmt.Sprintf("%g%%", state.Percent.Used)
	}
	return row, nil
}

// furnish makes the project that the session works in: a repository with a knowledge base of three notes, and the gate
// on delegated discovery armed.
func (s stage) furnish() error {
	files := map[string][]byte{".git/HEAD": nil, ".claude/plimsoll.json": []byte(`{"kb":{"mode":"enforce"}}`)}
	notes, err := memories.ReadDir("memories")
	if err != nil {
		return err
	}
	for _, n := range notes {
		if files[".claude/memories/"+n.Name()], err = memories.ReadFile("memories/" + n.Name()); err != nil {
			return err
		}
	}
	for name, data := range files {
		if err := statefile.Replace(filepath.Join(s.project(), filepath.FromSlash(name)), data); err != nil {
			return fmt.Errorf("furnish the demo's project: %w", err)
		}
	}
	return nil
}

func (s stage) project() string    { return filepath.Join(s.home, "project") }
func (s stage) transcript() string { return filepath.Join(s.home, session+".jsonl") }

// transcribe appends what the client would write to the session's transcript.
func (s stage) transcribe(step step) error {
	row := fmt.Sprintf(`{"type":"assistant","message":{"model":"claude-sonnet-5-5","usage":{"input_tokens":4,"cache_read_input_tokens":%d}}}`, max(step.input-4, 0))
	if step.payload == "compacted" {
		row = `{"type":"system","subtype":"compact_boundary"}`
	}
	return statefile.AppendLine(s.transcript(), []byte(row+"\n"), 1<<30)
}

// hear sends one event through the real hook and reads its answer. Silence to a tool call is worth a line, since it
// means that the call goes through; silence to anything else is not.
func (s stage) hear(now time.Time, c call) []Told {
	input := c.input
	if input == "" {
		input = "null"
	}
	payload := fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":%q,"hook_event_name":%q,"tool_name":%q,"tool_input":%s%s}`,
		session, s.transcript(), s.project(), c.event, c.tool, input, c.more)
	var out bytes.Buffer
	p := s.process(now, strings.NewReader(payload), &out)
	if c.gated {
		env := p.Env
		p.Env = func(name string) (string, bool) {
			switch name {
			case "CLAUDE_PLUGIN_OPTION_ZONE_HOOK_MODE":
				return config.Blocking, true
			case "CLAUDE_PLUGIN_OPTION_ZONE_GATE_GRACE_CALLS":
				return "0", true
			}
			return env(name)
		}
	}
	s.Hook(p)
	var answer struct {
		HookSpecificOutput struct{ PermissionDecision, PermissionDecisionReason, AdditionalContext string }
		SystemMessage      string
	}
	if json.Unmarshal(out.Bytes(), &answer) != nil && c.event != harness.PreToolUse {
		return nil
	}
	h := answer.HookSpecificOutput
	told := Told{What: c.what, Denied: h.PermissionDecision == "deny", Model: h.AdditionalContext, Operator: answer.SystemMessage}
	if told.Denied {
		told.Model = h.PermissionDecisionReason
	}
	return []Told{told}
}

// process is a process in the throw-away home, at the story's time.
func (s stage) process(now time.Time, stdin io.Reader, stdout io.Writer) hookcmd.Process {
	env := map[string]string{"HOME": s.home, "CLAUDE_PROJECT_DIR": s.project()}
	return hookcmd.Process{
		Stdin: stdin, Stdout: stdout, Stderr: io.Discard,
		Env: config.Env(func(name string) (string, bool) { v, ok := env[name]; return v, ok }),
		Now: func() time.Time { return now },
	}
}

// render is the step's payload: a recorded one with the figures of this moment of the story.
func (s step) render() ([]byte, error) {
	data, err := payloads.ReadFile("session/" + s.payload + ".json")
	if err != nil || s.input == 0 {
		return data, err
	}
	var payload map[string]any
	if err := json.Unmarshal(data, &payload); err != nil {
		return nil, fmt.Errorf("read recorded payload %s: %w", s.payload, err)
	}
	window, ok := payload["context_window"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("read recorded payload %s: no context_window", s.payload)
	}
	used := int(s.input * 100 / windowSize)
	window["total_input_tokens"], window["total_output_tokens"] = s.input, s.output
	window["used_percentage"], window["remaining_percentage"] = used, 100-used
	window["current_usage"] = map[string]any{
		"input_tokens": 4, "output_tokens": s.output,
		"cache_creation_input_tokens": 2000, "cache_read_input_tokens": s.input - 2004,
	}
	return json.Marshal(payload)
}

// Text is the story as plain text, a line a row.
func Text(rows []Row) string {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%s %s %s %s %s %s\n", Clock(r.At), r.Tokens, r.Percent, r.Zone, r.Event, r.Why)
	}
	return b.String()
}

// Clock is a time of the story, as hours and minutes.
func Clock(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(d.Hours()), int(d.Minutes())%60)
}
