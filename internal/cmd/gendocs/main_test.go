package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/cli"
)

// roff is what the page writer puts around words.
var roff = regexp.MustCompile(`\\f[BIRP]|\\&`)

// Every word of every command's texts stands on its page: none was taken for markup.
func TestManPagesHoldEveryWord(t *testing.T) {
	dir := t.TempDir()
	if err := write(cli.Commands(), dir); err != nil {
		t.Fatal(err)
	}
	pages := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if !cmd.IsAvailableCommand() && cmd.HasParent() {
			return
		}
		pages++
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		data, err := os.ReadFile(filepath.Join(dir, "man", name))
		if err != nil {
			t.Error(err)
			return
		}
		words := strings.Fields(strings.NewReplacer(`\-`, "-", `\\`, `\`, `\(aq`, "'").Replace(roff.ReplaceAllString(string(data), "")))
		texts := []string{cmd.Short, cmd.Long, cmd.Example}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			_, usage := pflag.UnquoteUsage(f) // the value's name is quoted in it
			texts = append(texts, usage)
		})
		for _, text := range texts {
			for word := range strings.FieldsSeq(text) {
				if !slices.Contains(words, word) {
					t.Errorf("%s lacks %q", name, word)
				}
			}
		}
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	// Cobra writes its own texts about completion in Markdown; they are not ours to check.
	for _, c := range cli.Commands().Commands() {
		if c.Name() != "completion" && c.Name() != "help" {
			visit(c)
		}
	}
	if pages < 8 {
		t.Errorf("%d pages were looked at", pages)
	}
}

// The same commit gives the same bytes.
func TestSameDateSameBytes(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1790000000")
	var seen [2]map[string]string
	for i := range seen {
		dir := t.TempDir()
		if err := write(cli.Commands(), dir); err != nil {
			t.Fatal(err)
		}
		seen[i] = map[string]string{}
		files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			rel, _ := filepath.Rel(dir, f)
			seen[i][rel] = string(data)
		}
	}
	for _, name := range []string{"man/plimsoll.1", "man/plimsoll-hook.1", "man/plimsoll-setup.1", "completions/plimsoll.bash", "completions/_plimsoll", "completions/plimsoll.fish", "completions/plimsoll.ps1"} {
		name = filepath.FromSlash(name)
		if seen[0][name] == "" || seen[0][name] != seen[1][name] {
			t.Errorf("%s is empty or differs", name)
		}
	}
	if page := seen[0][filepath.FromSlash("man/plimsoll.1")]; !strings.Contains(page, `"Sep 2026"`) {
		t.Errorf("the page has another date: %.120s", page)
	}
}
