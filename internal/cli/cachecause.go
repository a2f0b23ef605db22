package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/promptcache"
	"plimsoll/internal/stdin"
)

func cacheCauseCommand(p Process) *cobra.Command {
	var line bool
	cmd := &cobra.Command{
		Use: "cache-cause", Short: "Print why the last request missed the prompt cache", Args: noArgs,
		Long: `Reads a statusline payload on standard input and prints the cause of the last prompt-cache miss, tab-separated:
"causes" with the names, then tools_added, tools_removed and system_char_delta as far as the client counted them.
"last_miss_cause absent" means that the payload has no prompt_cache, "last_miss_cause null" that there was no miss or
no cause was found. With --line it prints one status line segment, or nothing.

Exit codes: 0 done; 2 the payload cannot be read. --line always exits with 0.`,
		RunE: func(*cobra.Command, []string) error {
			in := stdin.Read(p.Stdin, stdin.MaxBytes, stdin.Wait)
			if line {
				_, plain := p.Env("NO_COLOR")
				if segment := promptcache.Segment(in.Data, time.Local, !plain); segment != "" {
					fmt.Fprintln(p.Stdout, segment)
				}
				return nil
			}
			text, err := promptcache.Cause(in.Data)
			if err != nil {
				fmt.Fprintf(p.Stderr, "plimsoll: %v\n", err)
				return exitError(Usage)
			}
			_, err = fmt.Fprint(p.Stdout, text)
			return err
		},
	}
	cmd.Flags().BoolVar(&line, "line", false, "print one status line segment instead")
	return cmd
}
