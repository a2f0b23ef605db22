package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"plimsoll/internal/kbcmd"
	"plimsoll/internal/kblog"
	"plimsoll/internal/version"
)

func kbCommand(p Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "kb", Short: "The knowledge base and its gate", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			return usageError{errors.New("kb needs a command: plimsoll kb --help lists them")}
		},
	}
	kb := kbcmd.Process{Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr, Env: p.Env, Now: p.Now, Version: version.String()}
	for _, c := range []struct {
		use, short, long string
		run              func(args []string) int
	}{
		{"search QUERY", "Find passages in the notes, best first", kbcmd.SearchHelp, func(a []string) int { return kbcmd.Search(a, kb) }},
		{"get FILE[#HEADING]", "Print a note, or a section of it", kbcmd.GetHelp, func(a []string) int { return kbcmd.Get(a, kb) }},
		{"status", "Tell what is searched and what is not", kbcmd.StatusHelp, func(a []string) int { return kbcmd.Status(a, kb) }},
		{"add TITLE", "Write a note from standard input", kbcmd.AddHelp, func(a []string) int { return kbcmd.Add(a, kb) }},
		{"serve", "Serve the notes to a model, as an MCP server", kbcmd.ServeHelp, func(a []string) int { return kbcmd.Serve(a, kb) }},
		{"log", "Add up a project's log of the KB gate", kblog.Help, func(a []string) int { return kblog.Run(a, p.Stdout, p.Stderr, p.Env) }},
	} {
		cmd.AddCommand(&cobra.Command{
			Use: c.use, Short: c.short, Long: c.long, DisableFlagParsing: true,
			RunE: func(_ *cobra.Command, args []string) error {
				if code := c.run(args); code != OK {
					return exitError(code)
				}
				return nil
			},
		})
	}
	return cmd
}
