package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A Session says how a client is started.
type Session struct {
	Client  Client
	Home    Home
	BaseURL string   // of the API
	Env     []string // added to the home's environment; later entries win
	Args    []string // added to the command line
}

// Output is what an operator of a headless client saw.
type Output struct {
	Events   []Event
	Stderr   string
	ExitCode int
}

// An Event is one line of stream-json.
type Event struct {
	Type      string          `json:"type"`
	Subtype   string          `json:"subtype"`
	SessionID string          `json:"session_id"`
	Raw       json.RawMessage `json:"-"`
}

// Print runs the client headless with one prompt until it ends or ctx does. An exit code other than 0 is no error.
func (s Session) Print(ctx context.Context, prompt string) (Output, error) {
	cmd := s.command(ctx, "-p", prompt, "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions")
	ownGroup(cmd)
	// A grandchild that holds the pipes open must not hold the test.
	cmd.WaitDelay = 2 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	out := Output{Stderr: stderr.String(), ExitCode: cmd.ProcessState.ExitCode()}
	if ctx.Err() != nil {
		return out, fmt.Errorf("run client %s headless: %w\nstdout: %s\nstderr: %s", s.Client.Version, ctx.Err(), stdout.String(), out.Stderr)
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return out, fmt.Errorf("run client %s headless: %w", s.Client.Version, err)
	}
	for line := range bytes.Lines(stdout.Bytes()) {
		event := Event{Raw: bytes.TrimSpace(line)}
		if err := json.Unmarshal(event.Raw, &event); err != nil {
			return out, fmt.Errorf("run client %s headless: %w in line %s", s.Client.Version, err, event.Raw)
		}
		out.Events = append(out.Events, event)
	}
	return out, nil
}

// SessionID is the id that the client gave its session.
func (o Output) SessionID() string {
	for _, e := range o.Events {
		if e.SessionID != "" {
			return e.SessionID
		}
	}
	return ""
}

// Text is all of stream-json, for looking whether something was said at all.
func (o Output) Text() string {
	var b strings.Builder
	for _, e := range o.Events {
		b.Write(e.Raw)
		b.WriteByte('\n')
	}
	return b.String()
}

// command prepares a start of the client in the home's project.
func (s Session) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.Client.Path, slices.Concat(args, s.Args)...)
	cmd.Dir = s.Home.Project
	cmd.Env = slices.Concat(s.Home.Environ(s.BaseURL), s.Env)
	return cmd
}
