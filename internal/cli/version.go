package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/internal/version"
)

func versionCommand(p Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version, from what the build recorded", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return json.NewEncoder(p.Stdout).Encode(version.Get())
			}
			_, err := fmt.Fprintln(p.Stdout, version.String())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return cmd
}
