// Package cli is the full tool's command table, one file per command: parse, call, print.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"plimsoll/internal/config"
	"plimsoll/internal/hookcmd"
)

// Exit codes of the full tool.
const (
	OK    = 0
	Wrong = 1 // failed, or found something wrong
	Usage = 2 // the command line is wrong
)

// Process is what the tool may see of the process that it runs in.
type Process struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Env            config.Env
	Now            func() time.Time
}

// exitError ends the tool with a code of a command's own. Its text, if any, has been printed.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// hinted is an error with what the user can do about it.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

// usageError is a wrong command line.
type usageError struct{ error }

// Main runs the tool and returns its exit code.
func Main(p Process) int {
	root := command(p)
	root.SetArgs(p.Args)
	err := root.Execute()
	var code exitError
	var usage usageError
	var hint hinted
	switch {
	case err == nil:
		return OK
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage):
		fmt.Fprintf(p.Stderr, "plimsoll: %v\nhint: plimsoll --help lists the commands and their flags\n", err)
		return Usage
	}
	fmt.Fprintf(p.Stderr, "plimsoll: %v\n", err)
	if errors.As(err, &hint) {
		fmt.Fprintf(p.Stderr, "hint: %s\n", hint.hint)
	}
	return Wrong
}

// Commands is the command table for whoever describes it: man pages, completions. Main is what runs it.
func Commands() *cobra.Command {
	root := command(Process{})
	root.InitDefaultCompletionCmd()
	root.DisableAutoGenTag = true // a man page that names the day it was made differs from build to build
	return root
}

func command(p Process) *cobra.Command {
	root := &cobra.Command{
		Use:   "plimsoll",
		Short: "Keep a coding agent's context window below its load line",
		Long: `Plimsoll measures how full Claude Code's context window is, tells the model and the operator, and denies the few
calls that would load a session past its line.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(
		demoCommand(p),
		setupCommand(p),
		doctorCommand(p),
		explainCommand(p),
		reportCommand(p),
		kbCommand(p),
		contractCommand(p),
		passThrough(p, "zone SESSION [--json|--explain]", "Print a session's zone: smart, acceptable, dumb or unknown", hookcmd.Zone),
		cacheCauseCommand(p),
		hookCommand(p),
		passThrough(p, "statusline [CMD ARG...]", "Write the snapshot, then run CMD or draw a status line", hookcmd.Statusline),
		versionCommand(p),
	)
	return root
}

// noArgs is cobra.NoArgs with our exit code.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unknown command or argument %q for %q", args[0], cmd.CommandPath())}
	}
	return nil
}

func hookCommand(p Process) *cobra.Command {
	cmd := passThrough(p, "hook", "Answer a hook event on standard input", hookcmd.Hook)
	cmd.Long = `Reads the payload of one Claude Code event on standard input and answers on standard output: nothing, a note, or a
denial. Whatever it is sent and whatever goes wrong, it exits with 0.

Settings and the plugin wire plimsoll-hook, a binary that holds this command, statusline and zone and nothing else:

  plimsoll-hook                          the same as plimsoll hook
  plimsoll-hook statusline [CMD ARG...]
  plimsoll-hook zone SESSION [--json|--explain]

PLIMSOLL=off switches every rule off; PLIMSOLL_DEBUG=FILE writes errors to FILE.`
	return cmd
}

// passThrough is a command of the hook binary. Its arguments are its own business: a renderer's flags are not ours.
func passThrough(p Process, use, short string, run func(hookcmd.Process) int) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, DisableFlagParsing: true, DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
				return cmd.Help()
			}
			code := run(hookcmd.Process{Args: args, Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr, Env: p.Env, Now: p.Now})
			if code != OK {
				return exitError(code)
			}
			return nil
		},
	}
}

// terminal tells whether w is a terminal that a person looks at.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isTerminal(f)
}

func isTerminal(f *os.File) bool { return term.IsTerminal(f.Fd()) }
