package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"plimsoll/internal/config"
	"plimsoll/internal/explain"
)

func explainCommand(p Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "explain SESSION", Short: "Tell what was denied or said in a session, on which figures, and what would have changed it",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New("explain takes one session id")}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			home := p.Env.Home()
			if home == "" {
				return errors.New("find the decision log: HOME is not set to an absolute path")
			}
			path := config.PathsIn(home).Decisions()
			decisions, bad, err := explain.Read(path, args[0])
			if errors.Is(err, fs.ErrNotExist) {
				return hinted{fmt.Errorf("there is no decision log at %s", path), "nothing was ever said or denied here, or the hooks are not wired: plimsoll setup"}
			}
			if err != nil {
				return err
			}
			if bad > 0 {
				fmt.Fprintf(p.Stderr, "plimsoll: %d lines of %s cannot be read\n", bad, path)
			}
			if asJSON {
				enc := json.NewEncoder(p.Stdout)
				enc.SetIndent("", "  ")
				return enc.Encode(append([]explain.Decision{}, decisions...))
			}
			if len(decisions) == 0 {
				fmt.Fprintf(p.Stdout, "nothing was said or denied in session %s\n", args[0])
				return nil
			}
			explain.Print(p.Stdout, decisions)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the decisions as JSON")
	return cmd
}
