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
}

// session is the id in the recorded payloads.
const session = "1aeeb7b7-007e-4117-8eba-286dd3b7efcf"

// payloads were recorded from client 2.1.332: before the first response, after one, and right after /compact.
//
//go:embed session
var payloads embed.FS

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

// process is a process in the throw-away home, at the story's time.
func (s stage) process(now time.Time, stdin io.Reader, stdout io.Writer) hookcmd.Process {
	env := map[string]string{"HOME": s.home, "CLAUDE_PROJECT_DIR": filepath.Join(s.home, "project")}
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
