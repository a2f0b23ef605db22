package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"plimsoll/internal/contract"
)

func contractCommand(p Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "contract", Short: "The reader contract: its values, and whether copies of them still agree", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			return usageError{errors.New("contract needs a command: floor or check")}
		},
	}
	var asJSON bool
	floor := &cobra.Command{
		Use: "floor", Short: "Print what a program copies that cannot ask Plimsoll: paths, bands, staleness, version", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return writeJSON(p.Stdout, contract.Get())
			}
			_, err := io.WriteString(p.Stdout, contract.Get().String())
			return err
		},
	}
	check := &cobra.Command{
		Use: "check FILE...", Short: "Compare the contract's values in a consumer's files with the contract",
		Long: `Looks for the contract's values in files that copied them, and reports by file, line and column what is no longer
the same. docs/contract.md lists what is recognised. A file in which nothing is recognised counts as wrong: a check that
finds nothing to check must not pass.

Exit codes: 0 every value agrees; 1 a value drifted, or a file cannot be read or holds none; 2 wrong usage.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("contract check needs at least one file")}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, files []string) error { return checkContract(p, files, asJSON) },
	}
	for _, c := range []*cobra.Command{floor, check} {
		c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	}
	cmd.AddCommand(floor, check)
	return cmd
}

// maxConsumer bounds a file that is checked, in bytes. What copies the contract is written by people.
const maxConsumer = 16 << 20

type checkedFile struct {
	Path string `json:"path"`
	contract.Report
	Error string `json:"error,omitempty"`
}

func checkContract(p Process, paths []string, asJSON bool) error {
	floor := contract.Get()
	files := []checkedFile{}
	ok := true
	for _, path := range paths {
		f := checkedFile{Path: path, Report: contract.Report{Drift: []contract.Drift{}}}
		data, err := readConsumer(path)
		if err == nil {
			f.Report = floor.Check(data)
			if f.Agree == 0 && len(f.Drift) == 0 {
				err = errors.New("none of the contract's values is recognised")
			}
		}
		if err != nil {
			f.Error = err.Error()
		}
		ok = ok && err == nil && len(f.Drift) == 0
		files = append(files, f)
	}
	if asJSON {
		if err := writeJSON(p.Stdout, struct {
			Schema string        `json:"schema"`
			OK     bool          `json:"ok"`
			Files  []checkedFile `json:"files"`
		}{"plimsoll-contract-check/v1", ok, files}); err != nil {
			return err
		}
	} else {
		printChecked(p.Stdout, files)
	}
	if !ok {
		return exitError(Wrong)
	}
	return nil
}

func printChecked(w io.Writer, files []checkedFile) {
	for _, f := range files {
		for _, d := range f.Drift {
			fmt.Fprintf(w, "%s:%s\n", f.Path, d)
		}
	}
	for _, f := range files {
		switch {
		case f.Error != "":
			fmt.Fprintf(w, "%s: %s\n", f.Path, f.Error)
		case len(f.Drift) > 0:
			fmt.Fprintf(w, "%s: %s, %d drifted\n", f.Path, agreeing(f.Agree), len(f.Drift))
		default:
			fmt.Fprintf(w, "%s: %s\n", f.Path, agreeing(f.Agree))
		}
	}
}

func agreeing(n int) string {
	if n == 1 {
		return "1 value agrees"
	}
	return fmt.Sprintf("%d values agree", n)
}

func readConsumer(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		// The path is told beside the error already.
		if inner := errors.Unwrap(err); inner != nil {
			err = inner
		}
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxConsumer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot be read: %w", err)
	case len(data) > maxConsumer:
		return nil, fmt.Errorf("cannot be read: more than %d bytes", maxConsumer)
	}
	return data, nil
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
