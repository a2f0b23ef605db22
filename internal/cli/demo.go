package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
	"github.com/spf13/cobra"

	"plimsoll/internal/demo"
	"plimsoll/internal/zone"
)

func demoCommand(p Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "demo", Short: "Play a recorded session through the real status line and rules", Args: noArgs,
		Long: `Plays a recorded session that fills up, is compacted and recovers through the real status line, rules and resolver
in a throw-away home folder. Nothing of yours is read or written.`,
		RunE: func(*cobra.Command, []string) error {
			rows, err := demo.Real().Play()
			if err != nil {
				return err
			}
			if asJSON {
				enc := json.NewEncoder(p.Stdout)
				enc.SetIndent("", "  ")
				return enc.Encode(demoJSON(rows))
			}
			_, plain := p.Env("NO_COLOR")
			_, err = fmt.Fprintln(p.Stdout, demoText(rows, terminal(p.Stdout) && !plain && p.Env.Get("TERM") != "dumb"))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the rows as JSON")
	return cmd
}

type demoRow struct {
	Minute  int       `json:"minute"`
	Event   string    `json:"event,omitempty"`
	Tokens  string    `json:"tokens"`
	Percent string    `json:"percent"`
	Zone    zone.Word `json:"zone"`
	Why     string    `json:"why"`
	Told    []told    `json:"told,omitempty"`
}

type told struct {
	What     string `json:"what"`
	Denied   bool   `json:"denied"`
	Model    string `json:"model,omitempty"`
	Operator string `json:"operator,omitempty"`
}

func demoJSON(rows []demo.Row) []demoRow {
	out := make([]demoRow, 0, len(rows))
	for _, r := range rows {
		row := demoRow{int(r.At.Minutes()), r.Event, r.Tokens, r.Percent, r.Zone, r.Why, nil}
		for _, t := range r.Told {
			row.Told = append(row.Told, told(t))
		}
		out = append(out, row)
	}
	return out
}

func demoText(rows []demo.Row, colour bool) string {
	style := func(s lipgloss.Style) lipgloss.Style {
		if !colour {
			return lipgloss.NewStyle()
		}
		return s
	}
	dim := style(lipgloss.NewStyle().Faint(true))
	words := map[zone.Word]lipgloss.Style{
		zone.Smart:      style(lipgloss.NewStyle().Foreground(lipgloss.Green)),
		zone.Acceptable: style(lipgloss.NewStyle().Foreground(lipgloss.Yellow)),
		zone.Dumb:       style(lipgloss.NewStyle().Foreground(lipgloss.Red)),
		zone.Unknown:    dim,
	}
	t := table.New().Border(lipgloss.RoundedBorder()).BorderStyle(dim).
		Headers("time", "tokens", "used", "zone", "why").
		StyleFunc(func(row, col int) lipgloss.Style {
			s := lipgloss.NewStyle().Padding(0, 1)
			switch {
			case row == table.HeaderRow:
				return style(s.Bold(true)).Padding(0, 1)
			case col == 3:
				return words[rows[row].Zone].Padding(0, 1)
			}
			return s
		})
	for _, r := range rows {
		why := r.Why
		if r.Event != "" {
			why = r.Event + ": " + why
		}
		t.Row(demo.Clock(r.At), r.Tokens, r.Percent, string(r.Zone), why)
	}
	head := "A session on a 1M window, as Plimsoll sees it (recorded from Claude Code 2.1.332, played in a throw-away home):"
	foot := "The zone is what scripts read with `plimsoll zone SESSION`; the status line shows it to you all the time."
	return head + "\n" + t.String() + "\n" + foot + "\n" + toldText(rows, dim, words)
}

// toldText lists what the hooks answered, each audience apart.
func toldText(rows []demo.Row, dim lipgloss.Style, words map[zone.Word]lipgloss.Style) string {
	var b strings.Builder
	b.WriteString("\nWhat the hooks did meanwhile; the model and the operator are told different things:\n")
	wrap := lipgloss.NewStyle().Width(100).PaddingLeft(6)
	for _, r := range rows {
		for _, t := range r.Told {
			outcome := words[zone.Smart].Render("passes")
			switch {
			case t.Denied:
				outcome = words[zone.Dumb].Render("denied")
			case t.Model != "" || t.Operator != "":
				outcome = words[zone.Acceptable].Render("told")
			}
			fmt.Fprintf(&b, "\n%s  %s: %s\n", demo.Clock(r.At), t.What, outcome)
			if t.Model != "" {
				b.WriteString(wrap.Render(dim.Render("model     ")+t.Model) + "\n")
			}
			if t.Operator != "" {
				b.WriteString(wrap.Render(dim.Render("operator  ")+t.Operator) + "\n")
			}
		}
	}
	return b.String()
}
