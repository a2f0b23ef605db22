package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/internal/version"
)

func versionCommand(p Process) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(p.Stdout, version.String())
			return err
		},
	}
}
