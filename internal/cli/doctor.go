package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"plimsoll/internal/doctor"
	"plimsoll/internal/harness"
	"plimsoll/internal/settings"
	"plimsoll/internal/setup"
)

func doctorCommand(p Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "doctor [SESSION]", Short: "Check that Plimsoll works here, and say what to do where it does not",
		Long: `Checks binaries, settings of every scope, hook entries, the status line and its snapshot, the zone bands, where the
client compacts by itself, and every configuration value with its source. It changes nothing; the only commands that it
starts are Plimsoll's own, spelled as the settings spell them, with nothing on standard input.

PASS is as it should be, INFO is worth knowing, FAIL is something to mend, with the way to mend it. An environment that
runs no status line has no instrument; that is no failure.

SESSION is the session whose snapshot is looked at: by default the one that doctor runs in, else the one that drew its
status line last.

Exit codes: 0 nothing failed; 1 something did; 2 wrong use.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("doctor takes one session, not %d", len(args))}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			in, err := doctorInput(p, args)
			if err != nil {
				return err
			}
			r := doctor.Examine(in)
			if asJSON {
				err = printDoctorJSON(p.Stdout, r, p.Now())
			} else {
				_, plain := p.Env("NO_COLOR")
				err = printDoctor(p.Stdout, r, p.Env.Home(), terminal(p.Stdout) && !plain && p.Env.Get("TERM") != "dumb")
			}
			if err == nil && r.Failed() {
				err = exitError(Wrong)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was found as JSON (docs/troubleshooting.md lists the keys)")
	return cmd
}

func doctorInput(p Process, args []string) (doctor.Input, error) {
	in := doctor.Input{Env: p.Env, Environ: os.Environ(), Project: p.Env.Get("CLAUDE_PROJECT_DIR"), Now: p.Now()}
	if len(args) > 0 {
		in.Session = args[0]
		if _, ok := harness.ParseID(in.Session); !ok && in.Session != doctor.Placeholder {
			return in, usageError{errors.New("a session id is of A-Z, a-z, 0-9, _ and -")}
		}
	}
	if in.Project == "" {
		dir, err := os.Getwd()
		if err != nil {
			return in, fmt.Errorf("find the project folder: %w", err)
		}
		in.Project = dir
	}
	in.Files = settings.Load(p.Env, in.Project)
	executable, err := os.Executable()
	if err == nil {
		in.Hook, err = setup.FindBinary("plimsoll-hook", executable)
	}
	in.HookErr = err
	return in, nil
}

// printDoctor prints one line per check, and below it what to do.
func printDoctor(w io.Writer, r doctor.Report, home string, colour bool) error {
	paint := map[doctor.Status]lipgloss.Style{}
	dim := lipgloss.NewStyle()
	if colour {
		dim = dim.Faint(true)
		paint[doctor.Pass] = lipgloss.NewStyle().Foreground(lipgloss.Green)
		paint[doctor.Info] = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
		paint[doctor.Fail] = lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true)
	}
	short := func(s string) string {
		if home == "" {
			return s
		}
		return strings.ReplaceAll(s, home+string(os.PathSeparator), "~"+string(os.PathSeparator))
	}
	var b strings.Builder
	for _, c := range r.Results {
		line := short(c.What)
		if c.Why != "" {
			line += dim.Render(" (" + short(c.Why) + ")")
		}
		fmt.Fprintf(&b, "%s  %s %s\n", paint[c.Status].Render(string(c.Status)), dim.Render(c.ID+":"), line)
		if c.Fix != "" {
			fmt.Fprintf(&b, "      %s %s\n", dim.Render("fix:"), short(c.Fix))
		}
	}
	b.WriteString("\nSettings, each with where it comes from\n")
	for _, v := range r.Values {
		fmt.Fprintf(&b, "      %-24s %s %s\n", v.Name, harness.Plain(short(v.Text()), 200), dim.Render("("+short(harness.Plain(v.From, 200))+")"))
	}
	fmt.Fprintf(&b, "\n%d passed, %d to know, %d failed\n", r.Count(doctor.Pass), r.Count(doctor.Info), r.Count(doctor.Fail))
	_, err := io.WriteString(w, b.String())
	return err
}

// doctorSchema names the layout of the JSON, which docs/troubleshooting.md describes.
const doctorSchema = "plimsoll-doctor/v1"

type doctorJSON struct {
	Schema  string `json:"schema"`
	OK      bool   `json:"ok"`
	Project string `json:"project"`
	Session struct {
		ID   string `json:"id"`
		From string `json:"from"`
	} `json:"session"`
	Checks     []doctor.Result    `json:"checks"`
	Files      []doctorFile       `json:"settings_files"`
	Compaction []doctorCompaction `json:"compaction"`
	Heard      []doctorHeard      `json:"heard"`
	Values     []doctor.Value     `json:"values"`
}

type doctorFile struct {
	Scope settings.Scope `json:"scope"`
	Path  string         `json:"path"`
	State string         `json:"state"` // read, absent or unusable
}

type doctorCompaction struct {
	Window   float64 `json:"window"`
	Measured bool    `json:"window_measured"`
	Tokens   float64 `json:"trigger_tokens"`
	Percent  float64 `json:"trigger_percent"`
	From     string  `json:"from"`
}

type doctorHeard struct {
	Event string  `json:"event"`
	At    *string `json:"at"` // null: never
	Age   *int64  `json:"age_seconds"`
}

func printDoctorJSON(w io.Writer, r doctor.Report, now time.Time) error {
	out := doctorJSON{
		Schema: doctorSchema, OK: !r.Failed(), Project: r.Project, Checks: r.Results, Values: r.Values,
		Files: []doctorFile{}, Compaction: []doctorCompaction{}, Heard: []doctorHeard{},
	}
	out.Session.ID, out.Session.From = r.Session.ID, r.Session.From
	for _, f := range r.Files {
		state := "read"
		switch {
		case f.Err != nil:
			state = "unusable"
		case f.Root == nil:
			state = "absent"
		}
		out.Files = append(out.Files, doctorFile{f.Scope, f.Path, state})
	}
	for _, t := range r.Compaction {
		out.Compaction = append(out.Compaction, doctorCompaction{t.Window, t.Measured, t.Tokens, t.Percent(), t.From})
	}
	for _, h := range r.Heard {
		one := doctorHeard{Event: h.Event}
		if !h.At.IsZero() {
			at, age := h.At.UTC().Format(time.RFC3339), int64(now.Sub(h.At).Seconds())
			one.At, one.Age = &at, &age
		}
		out.Heard = append(out.Heard, one)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}
