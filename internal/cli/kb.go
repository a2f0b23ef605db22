package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"plimsoll/internal/kblog"
)

func kbCommand(p Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "kb", Short: "The knowledge base and its gate", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			return usageError{errors.New("kb needs a command: plimsoll kb --help lists them")}
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use: "log", Short: "Add up a project's log of the KB gate", Long: kblog.Help, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if code := kblog.Run(args, p.Stdout, p.Stderr, p.Env); code != OK {
				return exitError(code)
			}
			return nil
		},
	})
	return cmd
}
