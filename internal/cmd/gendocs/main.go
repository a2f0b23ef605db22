// Command gendocs writes man pages and shell completions from the command table, for packages.
//
// They are made when a release is built and not kept in the tree: every change to a flag's text would otherwise be made
// twice. SOURCE_DATE_EPOCH (seconds) dates the pages, so that the same commit gives the same bytes.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"plimsoll/internal/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "gendocs: want one argument, the folder to write man/ and completions/ into")
		os.Exit(2)
	}
	if err := write(cli.Commands(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "gendocs:", err)
		os.Exit(1)
	}
}

// write makes <dir>/man and <dir>/completions.
func write(root *cobra.Command, dir string) error {
	man, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	for _, d := range []string{man, completions} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	plainText(root)
	header := &doc.GenManHeader{Section: "1", Source: "Plimsoll", Manual: "Plimsoll"}
	if err := doc.GenManTree(root, header, man); err != nil {
		return fmt.Errorf("write man pages: %w", err)
	}
	return errors.Join(
		root.GenBashCompletionFileV2(filepath.Join(completions, "plimsoll.bash"), true),
		root.GenZshCompletionFile(filepath.Join(completions, "_plimsoll")),
		root.GenFishCompletionFile(filepath.Join(completions, "plimsoll.fish"), true),
		root.GenPowerShellCompletionFileWithDesc(filepath.Join(completions, "plimsoll.ps1")),
	)
}

// plainText makes the texts of a command and those below it come out of the page writer as they are. It takes them for
// Markdown, in which <UTC time> is a tag, and gone.
func plainText(cmd *cobra.Command) {
	cmd.Short, cmd.Long = markdown(cmd.Short), markdown(cmd.Long)
	for _, c := range cmd.Commands() {
		plainText(c)
	}
}

var escaper = strings.NewReplacer(`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `<`, `\<`, `>`, `\>`, `[`, `\[`, `]`, `\]`)

// markdown is plain text as Markdown. Indented lines are left to be code, which takes four spaces.
func markdown(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "  ") {
			lines[i] = "  " + line
		} else {
			lines[i] = escaper.Replace(line)
		}
	}
	return strings.Join(lines, "\n")
}
