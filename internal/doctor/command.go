package doctor

import (
	"context"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/harness"
)

// Limit is how long a command may run. The client waits longer; one that needs more than this on empty input hangs.
const Limit = 5 * time.Second

// grace is how long a command's children may keep its output open after it was stopped.
const grace = 500 * time.Millisecond

// maxOutput is how much of a command's output is kept, in bytes.
const maxOutput = 4 << 10

// The exit codes of a command that cannot be run, as every shell gives them.
const (
	notExecutable = 126
	notFound      = 127
)

// Command is a command as a settings file spells it: with Argv it is started directly, else a shell reads Line.
type Command struct {
	Argv  []string
	Line  string
	Shell string // "": the system's; else as settings name it: bash, powershell
	Dir   string
	Env   []string
}

// Outcome is how a command ended.
type Outcome struct {
	Code           int
	TimedOut       bool
	Stdout, Stderr string // the beginnings
	Err            error  // it could not be started
}

// said is the first line that the command wrote to stderr, as the beginning of a reason.
func (o Outcome) said() string {
	line, _, _ := strings.Cut(strings.TrimSpace(o.Stderr), "\n")
	if line == "" {
		return ""
	}
	return "it says " + strconv.Quote(harness.Label(line)) + "; "
}

// Run runs a command as the client does, with empty standard input and a limit. What it leaves running is stopped.
func Run(c Command, limit time.Duration) Outcome {
	argv := c.Argv
	if len(argv) == 0 {
		argv = shell(c.Shell, c.Line, c.Env)
	} else {
		path, err := find(argv[0], c.Env)
		if err != nil {
			return Outcome{Err: err}
		}
		argv = append([]string{path}, argv[1:]...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	var stdout, stderr head
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	inGroup(cmd)
	cmd.Cancel = func() error { return stopGroup(cmd.Process.Pid) }
	cmd.WaitDelay = grace
	err := cmd.Run()
	o := Outcome{Stdout: string(stdout), Stderr: string(stderr)}
	switch {
	case ctx.Err() != nil:
		o.TimedOut = true
	case cmd.ProcessState == nil:
		o.Err = err
	default:
		o.Code = exitCode(cmd.ProcessState)
		if errors.Is(err, exec.ErrWaitDelay) {
			// It ended and left children that hold its output.
			_ = stopGroup(cmd.Process.Pid)
		}
	}
	return o
}

// head keeps the beginning of what is written to it.
type head []byte

func (h *head) Write(p []byte) (int, error) {
	*h = append(*h, p[:min(len(p), maxOutput-len(*h))]...)
	return len(p), nil
}
