package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/config"
	"plimsoll/internal/settings"
	"plimsoll/internal/setup"
)

func setupCommand(p Process) *cobra.Command {
	var s setupFlags
	cmd := &cobra.Command{
		Use: "setup", Short: "Wire Plimsoll into Claude Code's settings, or take it out again", Args: noArgs,
		Long: `Registers plimsoll-hook for the events it listens to, puts it in front of your status line, and writes the shipped
zone bands to ~/.claude/context-guard/zones.json. It shows every change as a diff and asks before it writes. Everything
else in the files stays byte for byte, and a backup named FILE.plimsoll-<UTC time> is kept.

--uninstall gives the very bytes of before back where nothing else changed since; otherwise it takes out what is
Plimsoll's and names what it left. Running setup twice changes nothing.`,
		Example: `  plimsoll setup                                  for you, in every project
  plimsoll setup --scope project --kb enforce     for everybody who works on this project
  plimsoll setup --only statusline --dry-run      see what would change
  plimsoll setup --uninstall`,
		RunE: func(*cobra.Command, []string) error { return s.run(p) },
	}
	f := cmd.Flags()
	f.StringVar(&s.scope, "scope", "user", "which settings: user, project or local")
	f.BoolVar(&s.dryRun, "dry-run", false, "show what would change and write nothing")
	f.BoolVarP(&s.yes, "yes", "y", false, "do not ask")
	f.StringVar(&s.statusline, "statusline", setup.Wrap, "wrap the present status line, own (replace it), or none (leave it)")
	f.StringVar(&s.zones, "zones", "", "what a full window means: advisory (say so) or blocking (deny further work after a grace)")
	f.StringVar(&s.kb, "kb", "", "knowledge-base gate: off, observe, warn or enforce")
	f.BoolVar(&s.kbServer, "kb-server", false, "register the knowledge-base MCP server")
	f.StringVar(&s.only, "only", "", "one part alone: hooks, statusline or kb")
	f.BoolVar(&s.uninstall, "uninstall", false, "take Plimsoll out again")
	f.BoolVar(&s.json, "json", false, "print what is, or would be, changed as JSON; with --yes or --dry-run")
	return cmd
}

type setupFlags struct {
	scope, statusline, zones, kb, only     string
	dryRun, yes, kbServer, uninstall, json bool
}

func (s setupFlags) run(p Process) error {
	o, err := s.options(p)
	if err != nil {
		return err
	}
	if s.json && !s.yes && !s.dryRun {
		return usageError{errors.New("--json asks nothing: it needs --yes or --dry-run")}
	}
	var plan setup.Plan
	if s.uninstall {
		plan, err = setup.Undo(o)
	} else {
		if o.Hook, o.Tool, err = binaries(); err != nil {
			return err
		}
		plan, err = setup.Make(o)
	}
	if err != nil {
		return explainSetup(err)
	}
	if !s.json {
		fmt.Fprint(p.Stdout, plan.Diff())
		for _, n := range plan.Notes {
			fmt.Fprintf(p.Stdout, "note: %s\n", n)
		}
	}
	written := false
	var backups []string
	if !plan.Empty() && !s.dryRun {
		if err := s.confirm(p); err != nil {
			return err
		}
		backups, err = setup.Applier{Home: o.Env.Home(), Now: p.Now()}.Apply(plan)
		if err != nil {
			return explainSetup(err)
		}
		written = true
	}
	return s.report(p, plan, backups, written)
}

func (s setupFlags) report(p Process, plan setup.Plan, backups []string, written bool) error {
	if s.json {
		type file struct {
			Path    string `json:"path"`
			Created bool   `json:"created"`
			Removed bool   `json:"removed"`
		}
		out := struct {
			Schema  string   `json:"schema"`
			Written bool     `json:"written"`
			Files   []file   `json:"files"`
			Backups []string `json:"backups"`
			Notes   []string `json:"notes"`
			Diff    string   `json:"diff"`
		}{"plimsoll-setup-result/v1", written, []file{}, append([]string{}, backups...), append([]string{}, plan.Notes...), plan.Diff()}
		for _, c := range plan.Changes {
			out.Files = append(out.Files, file{c.Path, c.Before == nil, c.After == nil})
		}
		enc := json.NewEncoder(p.Stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(out)
	}
	switch {
	case plan.Empty() && s.uninstall:
		fmt.Fprintln(p.Stdout, "nothing of Plimsoll's is wired")
	case plan.Empty():
		fmt.Fprintln(p.Stdout, "everything is wired already; nothing changed")
	case !written:
		fmt.Fprintln(p.Stdout, "dry run: nothing was written")
	case s.uninstall:
		fmt.Fprintln(p.Stdout, "done; sessions that are running keep what they loaded until they end")
	default:
		for _, b := range backups {
			fmt.Fprintf(p.Stdout, "backup: %s\n", b)
		}
		fmt.Fprintln(p.Stdout, "done; new sessions use it. `plimsoll doctor` checks that it works")
	}
	return nil
}

func (s setupFlags) options(p Process) (setup.Options, error) {
	oneOf := func(flag, value string, words ...string) error {
		for _, w := range words {
			if value == w {
				return nil
			}
		}
		return usageError{fmt.Errorf("--%s is %q, not one of %s", flag, value, strings.TrimPrefix(strings.Join(words, ", "), ", "))} // "" is a flag not given
	}
	if err := errors.Join(
		oneOf("scope", s.scope, "user", "project", "local"),
		oneOf("statusline", s.statusline, setup.Wrap, setup.Own, setup.None),
		oneOf("zones", s.zones, "", config.Advisory, config.Blocking),
		oneOf("kb", s.kb, "", config.KBOff, config.KBObserve, config.KBWarn, config.KBEnforce),
		oneOf("only", s.only, "", setup.OnlyHooks, setup.OnlyStatusline, setup.OnlyKB),
	); err != nil {
		return setup.Options{}, usageError{err}
	}
	project, err := os.Getwd()
	if err != nil {
		return setup.Options{}, fmt.Errorf("find the project folder: %w", err)
	}
	return setup.Options{
		Scope: settings.Scope(s.scope), Project: project, Env: p.Env,
		Only: s.only, Statusline: s.statusline, Zones: s.zones, KB: s.kb, KBServer: s.kbServer,
	}, nil
}

// binaries finds what is wired: plimsoll-hook always, plimsoll for the knowledge-base server.
func binaries() (hook, tool string, err error) {
	executable, err := os.Executable()
	if err != nil {
		return "", "", fmt.Errorf("find plimsoll: %w", err)
	}
	if hook, err = setup.FindBinary("plimsoll-hook", executable); err == nil {
		tool, err = setup.FindBinary("plimsoll", executable)
	}
	if err != nil {
		return "", "", hinted{err, "go install ./cmd/... puts both binaries into Go's bin folder; run plimsoll setup from there"}
	}
	return hook, tool, nil
}

// confirm asks a person. Without one to ask it is a wrong use, not a silent yes or no.
func (s setupFlags) confirm(p Process) error {
	if s.yes {
		return nil
	}
	if f, ok := p.Stdin.(*os.File); !ok || !isTerminal(f) {
		return usageError{errors.New("there is no terminal to ask on: add --yes to write, or --dry-run to look")}
	}
	fmt.Fprint(p.Stdout, "Write this? [y/N] ")
	answer, _ := bufio.NewReader(p.Stdin).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	fmt.Fprintln(p.Stdout, "nothing was written")
	return exitError(Wrong)
}

// explainSetup adds what a person can do about a refusal.
func explainSetup(err error) error {
	switch {
	case errors.Is(err, setup.ErrChanged):
		return hinted{err, "another program wrote it just now; run plimsoll setup again"}
	case strings.Contains(err.Error(), "read-only"):
		return hinted{err, "make it writable (chmod u+w), or wire another scope with --scope"}
	case strings.Contains(err.Error(), "column "):
		return hinted{err, "nothing was written; mend the file there and run plimsoll setup again"}
	}
	return err
}
