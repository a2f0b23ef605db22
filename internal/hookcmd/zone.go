package hookcmd

import (
	"fmt"
	"io"
	"os"

	"plimsoll/internal/harness"
	"plimsoll/internal/settings"
	"plimsoll/internal/snapshot"
	"plimsoll/internal/zone"
)

// Zone prints a session's zone word, with --json or --explain also what it rests on. Notices about the tuning go to
// stderr. The exit code is always 0, and stdout always has a word: scripts route by it.
func Zone(p Process) (code int) {
	var session string
	var asJSON, explain bool
	for _, arg := range p.Args {
		switch arg {
		case "--json", "-json":
			asJSON = true
		case "--explain", "-explain":
			explain = true
		case "--":
		default:
			if session == "" {
				session = arg
			}
		}
	}
	answered := false
	defer func() {
		if r := recover(); r != nil {
			p.debug(fmt.Errorf("zone: panic: %v", r))
			if !answered {
				fmt.Fprintln(p.Stdout, zone.Unknown)
			}
			code = 0
		}
	}()
	st, path := p.resolve(session)
	for _, notice := range st.Bands.Notices() {
		fmt.Fprintln(p.Stderr, notice)
	}
	answered = true
	switch {
	case asJSON:
		p.Stdout.Write(st.JSON(session, path, p.why(st)))
	case explain:
		explainState(p.Stdout, session, st, p.why(st))
	default:
		fmt.Fprintln(p.Stdout, st.Word)
	}
	return 0
}

func (p Process) resolve(session string) (st snapshot.State, path string) {
	st.Bands = zone.Default()
	id, ok := harness.ParseID(session)
	if !ok {
		st.Reading = zone.Nothing(snapshot.BadID)
		return st, ""
	}
	store, ok := snapshot.In(p.Env.Home())
	if !ok {
		st.Reading = zone.Nothing(snapshot.NoHome)
		return st, ""
	}
	return store.Resolve(id, p.Now()), store.Path(id)
}

// why is the reason of an unknown word. Where there is no fresh snapshot it makes out whether the environment has no
// instrument at all, which is nobody's defect, or whether one that is configured does not deliver.
func (p Process) why(st snapshot.State) string {
	if st.Why != snapshot.NoFile && st.Why != snapshot.Stale {
		return st.Why
	}
	project := p.Env.Get("CLAUDE_PROJECT_DIR")
	if project == "" {
		project, _ = os.Getwd()
	}
	found := settings.FindInstrument(p.Env, project)
	if !found.Present {
		return found.Why
	}
	if st.Why == snapshot.Stale {
		return st.Why + ": the session is idle, or its status line no longer runs plimsoll-hook (" + found.Why + ")"
	}
	return st.Why + ", although a status line is configured (" + found.Why + "): it does not run plimsoll-hook, or that cannot write below the home folder"
}

func explainState(w io.Writer, session string, st snapshot.State, why string) {
	fmt.Fprintf(w, "session %s is in the %s zone\n", harness.Label(session), st.Word)
	if st.Word == zone.Unknown {
		fmt.Fprintf(w, "  because   %s\n", why)
	} else {
		fmt.Fprintf(w, "  because   %s\n", st.Because(st.Bands))
	}
	if !st.CapturedAt.IsZero() {
		fmt.Fprintf(w, "  snapshot  %s old, written %s\n", st.Age, st.CapturedAt.Format(snapshot.TimeFormat))
	}
	if st.Compacted {
		fmt.Fprintf(w, "  compacted the session's evidence was compacted away; readers treat it as %s whatever the figures\n", zone.Dumb)
	}
	if st.Why == "" || st.Why == zone.NoShapeStands {
		fmt.Fprintf(w, "  percent   %s\n", explainPercent(st))
		fmt.Fprintf(w, "  tokens    %s\n", explainTokens(st))
	}
	fmt.Fprintf(w, "  bands     percent: smart up to %v, acceptable up to %v (%s)\n", st.Bands.Percent.SmartMax, st.Bands.Percent.AcceptableMax, st.Bands.PercentOrigin)
	for _, row := range st.Bands.Tokens {
		fmt.Fprintf(w, "            tokens in a window of %s or more: smart up to %s, acceptable up to %s (%s)\n",
			zone.FormatTokens(row.Class), zone.FormatTokens(row.SmartMax), zone.FormatTokens(row.AcceptableMax), st.Bands.TokensOrigin)
	}
}

func explainPercent(st snapshot.State) string {
	if st.Percent.WhyNot != "" {
		return "not computable: " + st.Percent.WhyNot
	}
	return fmt.Sprintf("%v %% of the window in input tokens: %s", st.Percent.Used, st.Percent.Word)
}

func explainTokens(st snapshot.State) string {
	t := st.Tokens
	if t.WhyNot != "" {
		return "not computable: " + t.WhyNot
	}
	return fmt.Sprintf("%s of %s tokens: %s", zone.FormatTokens(t.Occupancy()), zone.FormatTokens(t.Window), t.Word)
}
