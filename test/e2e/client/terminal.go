package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
)

// The size of the terminal, in cells. Wide enough that a status line of ordinary length is not cut.
const (
	columns = 120
	lines   = 40
)

// poll is how often a condition on the screen is looked at again.
const poll = 20 * time.Millisecond

// A Terminal is an interactive client and the screen that its operator looks at.
type Terminal struct {
	cmd    *exec.Cmd
	file   *os.File
	screen vt10x.Terminal
	done   chan struct{}
}

// Open starts the client in a terminal. It runs until Close, and no longer than ctx.
func (s Session) Open(ctx context.Context) (*Terminal, error) {
	cmd := s.command(ctx, "--dangerously-skip-permissions")
	ownSession(cmd)
	file, err := pty.StartWithAttrs(cmd, &pty.Winsize{Cols: columns, Rows: lines}, cmd.SysProcAttr)
	if err != nil {
		return nil, fmt.Errorf("open client %s in a terminal: %w", s.Client.Version, err)
	}
	t := &Terminal{
		cmd:  cmd,
		file: file,
		// The client asks the terminal for the cursor's position; the answers go to the client as keys do.
		screen: vt10x.New(vt10x.WithSize(columns, lines), vt10x.WithWriter(file)),
		done:   make(chan struct{}),
	}
	go func() {
		defer close(t.done)
		// Reading ends with an error when the client's side of the terminal closes; that is how a terminal ends.
		for r := bufio.NewReader(file); t.screen.Parse(r) == nil; {
		}
		_ = cmd.Wait()
	}()
	return t, nil
}

// Screen is the text on the screen, without colours and without the blanks at the ends of lines.
func (t *Terminal) Screen() string {
	rows := strings.Split(t.screen.String(), "\n")
	for i, row := range rows {
		rows[i] = strings.TrimRight(row, " \x00")
	}
	return strings.TrimRight(strings.Join(rows, "\n"), "\n")
}

// Type sends keys.
func (t *Terminal) Type(keys string) error {
	if _, err := io.WriteString(t.file, keys); err != nil {
		return fmt.Errorf("type into client: %w", err)
	}
	return nil
}

// WaitFor waits until the screen shows a text.
func (t *Terminal) WaitFor(ctx context.Context, text string) error {
	return t.WaitUntil(ctx, fmt.Sprintf("%q on the screen", text), func() bool { return strings.Contains(t.Screen(), text) })
}

// WaitUntil waits for a condition, described by what. The error holds the screen, which tells why it did not come.
func (t *Terminal) WaitUntil(ctx context.Context, what string, condition func() bool) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-t.done:
			if condition() {
				return nil
			}
			return fmt.Errorf("wait for %s: the client ended\n%s", what, t.Screen())
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w\n%s", what, ctx.Err(), t.Screen())
		}
	}
	return nil
}

// Submit types a prompt and sends it off. Enter goes separately, when the screen has come to rest: keys that arrive
// together are a paste, in which Enter is a line break, and some versions put a prompt that is sent off while they still
// draw it back into the input. For the same reason the input is emptied first.
func (t *Terminal) Submit(ctx context.Context, prompt string) error {
	const killLine = "\x15"
	if err := t.Type(killLine); err != nil {
		return err
	}
	if err := t.rest(ctx); err != nil {
		return err
	}
	if err := t.Type(prompt); err != nil {
		return err
	}
	if err := t.WaitFor(ctx, prompt); err != nil {
		return err
	}
	if err := t.rest(ctx); err != nil {
		return err
	}
	return t.Type("\r")
}

// rest waits until the screen has not changed for a while.
func (t *Terminal) rest(ctx context.Context) error {
	const while = 10 // polls
	same, before := 0, ""
	return t.WaitUntil(ctx, "the screen to come to rest", func() bool {
		now := t.Screen()
		if now == before {
			same++
		} else {
			same, before = 0, now
		}
		return same >= while
	})
}

// Close ends the client and what it started.
func (t *Terminal) Close() error {
	// The group is gone already when the client ended by itself.
	_ = endGroup(t.cmd)
	<-t.done
	return t.file.Close()
}
