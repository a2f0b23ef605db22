// Package hookcmd is the three commands that Claude Code and scripts call all the time: hook, statusline and zone. The
// hook binary is this package and nothing else; the full tool has the same commands from here.
//
// Whatever happens, hook and zone exit with 0: Claude Code reads 2 as "block", and 2 is what a Go program exits with
// after a panic.
package hookcmd

import (
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"plimsoll/internal/config"
	"plimsoll/internal/statefile"
	"plimsoll/internal/version"
)

// Process is what a command may see of the process that it runs in.
type Process struct {
	Args   []string // without the program's name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Env    config.Env
	Now    func() time.Time
}

const usage = `plimsoll-hook: what Claude Code calls (payload on stdin, answer on stdout)

  plimsoll-hook                                answer a hook event
  plimsoll-hook statusline [CMD ARG...]        write the snapshot, then run CMD, or draw a line
  plimsoll-hook zone SESSION [--json|--explain]  smart, acceptable, dumb or unknown
  plimsoll-hook version

The full tool is plimsoll; "plimsoll --help" lists its commands.
`

// Main runs the hook binary and returns its exit code: 0, except that statusline returns its renderer's.
func Main(p Process) (code int) {
	defer p.failOpen(&code)
	command := ""
	if len(p.Args) > 0 {
		command, p.Args = p.Args[0], p.Args[1:]
	}
	switch command {
	case "", "hook":
		return Hook(p)
	case "statusline":
		return Statusline(p)
	case "zone":
		return Zone(p)
	case "version", "--version":
		fmt.Fprintln(p.Stdout, version.String())
	case "help", "--help", "-h":
		io.WriteString(p.Stdout, usage)
	default:
		fmt.Fprintf(p.Stderr, "plimsoll-hook: unknown command %q\nhint: plimsoll-hook --help\n", command)
	}
	return 0
}

// failOpen ends a panic as silence and exit code 0.
func (p Process) failOpen(code *int) {
	if r := recover(); r != nil {
		*code = 0
		p.debug(fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
	}
}

// maxDebugLog is where the debug log is rotated, in bytes.
const maxDebugLog = 10 << 20

// debug writes an error to the file that PLIMSOLL_DEBUG names. There is no other place for it: stderr would reach
// nobody, and stdout is the answer.
func (p Process) debug(err error) {
	path := p.Env.Get("PLIMSOLL_DEBUG")
	if path == "" {
		return
	}
	line := p.Now().UTC().Format(time.RFC3339) + " " + err.Error() + "\n"
	_ = statefile.AppendLine(path, []byte(line), maxDebugLog)
}
