package doctor

import (
	"fmt"
	"os"
	"strings"

	"plimsoll/internal/harness"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/settings"
	"plimsoll/internal/snapshot"
	"plimsoll/internal/zone"
)

// statusLine is one file's status line.
type statusLine struct {
	file    settings.File
	command string
	ours    bool
}

// statusLines lists the status lines of every scope, the one that is effective first.
func (e *exam) statusLines() []statusLine {
	var lines []statusLine
	for _, f := range e.Files {
		v := f.Root.Get("statusLine")
		command := v.TextOr(v.Get("command").TextOr(""))
		if k := v.Kind(); k == rawjson.Object || k == rawjson.String {
			lines = append(lines, statusLine{f, command, runsStatusline(command)})
		}
	}
	return lines
}

// runsStatusline recognises a command that runs our tee, alone, before a renderer or inside another wrapper.
func runsStatusline(command string) bool {
	line := words(command)
	for i := 1; i < len(line); i++ {
		if b := base(line[i-1]); line[i] == "statusline" && (b == "plimsoll-hook" || b == "plimsoll") {
			return true
		}
	}
	return false
}

// checkStatusline tells the reader contract's four cases apart: the first three are structural, and only the fourth
// can be a defect.
func checkStatusline(e *exam) []Result {
	const id = "statusline"
	switch e.instrument.Case {
	case settings.NotConfigured:
		if why := settings.NoStatusline(e.env); why != "" {
			return one(info(id, e.instrument.Why, why+": wiring one would change nothing", ""))
		}
		if broken := settings.Unreadable(e.Files); broken != "" {
			return one(info(id, e.instrument.Why, broken+" may hold one", "mend "+broken+" first"))
		}
		return one(info(id, e.instrument.Why, "this is structural, not a defect", "where you want live figures: plimsoll setup --only statusline"))
	case settings.SwitchedOff:
		return one(info(id, e.instrument.Why, "this is structural, not a defect: a matter of policy or trust, not of wiring", remedy(e.instrument.Why)))
	case settings.NotRun:
		return one(info(id, e.instrument.Why, "this is structural, not a defect: the command is there and is never invoked", ""))
	}
	lines := e.statusLines()
	if len(lines) == 0 {
		return one(fail(id, "statusLine has no command", e.instrument.Why, "plimsoll setup --only statusline"))
	}
	first := lines[0]
	if !first.ours {
		return one(e.foreignStatusline(lines))
	}
	why := ""
	if len(lines) > 1 {
		why = "it wins over the one in " + lines[1].file.Path
	}
	results := one(pass(id, e.instrument.Why+" runs Plimsoll's", why))
	if strings.Contains(first.command, "/context-guard/") {
		results = append(results, info("statusline.writers", "the status line runs context-guard's writer too", "two programs write the same snapshot", "plimsoll setup --only statusline takes the older one out"))
	}
	o := e.Run(Command{Line: first.command, Dir: e.Project, Env: e.childEnv()})
	return append(results, judgeStatusline(o, scopeFlag(first.file.Scope)))
}

// foreignStatusline judges an effective status line that does not name our tee.
func (e *exam) foreignStatusline(lines []statusLine) Result {
	first := lines[0]
	fix := "plimsoll setup --only statusline" + scopeFlag(first.file.Scope) + " puts Plimsoll in front of it"
	if first.file.Scope == settings.Managed {
		fix = "this is policy: ask the owner of the managed settings"
	}
	for _, l := range lines[1:] {
		if l.ours {
			return fail("statusline.shadowed", "the statusLine in "+l.file.Path+" is shadowed", "the one in "+first.file.Path+" wins and does not run Plimsoll's, so nothing is measured here", fix)
		}
	}
	if strings.Contains(first.command, "/context-guard/") {
		return info("statusline", e.instrument.Why+" runs context-guard's writer", "its snapshots are of the same contract", "plimsoll setup --only statusline"+scopeFlag(first.file.Scope)+" puts Plimsoll's in its place")
	}
	if e.fresh() {
		return info("statusline", e.instrument.Why+" does not name plimsoll-hook", "snapshots arrive all the same, so a script of its own runs it", "")
	}
	return fail("statusline", e.instrument.Why+" does not run Plimsoll's", "nothing writes a snapshot, so nothing is measured", fix)
}

// judgeStatusline tells what the client makes of how the status line ended. A renderer may well not know what to do
// with empty input, which the client never gives it, so only what cannot depend on the input is a failure.
func judgeStatusline(o Outcome, scope string) Result {
	const id = "statusline.run"
	rewire := "plimsoll setup --only statusline" + scope + " wires what is there"
	switch {
	case o.Err != nil:
		return fail(id, "the status line cannot be started", o.Err.Error(), rewire)
	case o.TimedOut:
		return fail(id, "the status line does not end", "it was stopped after "+Limit.String()+"; the client gives up on it and shows nothing", "run it by hand with empty input to see what it waits for")
	case o.Code == notFound:
		return fail(id, "the status line's command, or the renderer behind it, is not found", o.said()+"the client shows a blank line", rewire+"; where the renderer is missing, install it or use --statusline own")
	case o.Code == notExecutable:
		return fail(id, "the status line's command, or the renderer behind it, is not executable", o.said()+"the client shows a blank line", "make it executable, or "+rewire)
	case o.Code != 0:
		return info(id, fmt.Sprintf("the status line ends with exit code %d on empty input", o.Code), o.said()+"a renderer may do that, since the client never gives it empty input", "")
	}
	return pass(id, "the status line runs", "")
}

// fresh tells whether the session's snapshot counts.
func (e *exam) fresh() bool {
	return !e.state.CapturedAt.IsZero() && e.state.Why != snapshot.Stale && e.state.Why != snapshot.FromFuture && e.state.Why != snapshot.OtherSession
}

// checkSnapshot looks at the session's snapshot.
func checkSnapshot(e *exam) []Result {
	const id = "snapshot"
	if e.home == "" {
		return nil // checkHome's
	}
	if e.session.ID == "" {
		if !e.instrument.Present {
			return one(info(id, "no snapshot", e.instrument.Why, ""))
		}
		if why := e.unwritable(); why != "" {
			return one(fail(id, "no snapshot can be written", why, "remove what stands there"))
		}
		return one(info(id, "no session has drawn its status line yet", "there is no snapshot on disk", "start claude, send a prompt, and run plimsoll doctor again"))
	}
	who := "session " + e.session.ID
	if !e.session.Own() {
		who += " (" + e.session.From + ")"
	}
	st := e.state
	switch st.Why {
	case "":
		why := st.Because(st.Bands)
		if st.Tokens.WhyNot != "" {
			why += "; tokens are not judged: " + st.Tokens.WhyNot
		}
		return one(pass(id, fmt.Sprintf("%s: %s, measured %s ago", who, st.Word, age(st.Age)), why))
	case zone.NotMeasured, zone.NoFigures, zone.NoShapeStands:
		return one(info(id, fmt.Sprintf("%s: %s, %s", who, zone.Unknown, st.Why), "the snapshot is "+age(st.Age)+" old, so the instrument works", ""))
	case snapshot.NoFile, snapshot.Stale:
		return one(e.noFresh(who))
	}
	if why := e.unwritable(); why != "" {
		return one(fail(id, who+": no snapshot can be written", why, "remove what stands there"))
	}
	return one(fail(id, who+": the snapshot cannot be used", st.Why, "the next redraw of the status line replaces it; if it stays, look who else writes "+e.store.Dir()))
}

// noFresh judges a session without a fresh snapshot. It is a defect only where a status line is configured, not switched
// off, and the environment runs one; and then only of a session that is awake.
func (e *exam) noFresh(who string) Result {
	const id = "snapshot"
	what := who + ": no snapshot"
	if e.state.Why == snapshot.Stale {
		what = fmt.Sprintf("%s: the snapshot is %s old", who, age(e.state.Age))
	}
	if !e.instrument.Present {
		return info(id, what, e.instrument.Why, "")
	}
	if e.state.Why == snapshot.Stale && !e.session.Own() {
		return info(id, what, "the session is idle or has ended; that is no defect", "run plimsoll doctor inside a session to see whether its snapshot is fresh")
	}
	fix := "plimsoll setup --only statusline, then start a new session: a running one keeps what it loaded"
	return fail(id, what, "a status line is configured ("+e.instrument.Why+"), is not switched off, and this environment runs one", fix)
}

// unwritable says what stands in the way of the snapshots' folder; "" when nothing does.
func (e *exam) unwritable() string {
	for _, dir := range []string{e.store.Root(), e.store.Dir()} {
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			return dir + " is no folder"
		}
	}
	return ""
}

func checkMarker(e *exam) []Result {
	id, ok := harness.ParseID(e.session.ID)
	if !ok || e.home == "" {
		return nil
	}
	if e.store.Compacted(id) {
		return one(info("marker", "the session was compacted", "what it knew is gone from its window, so it counts as dumb whatever the figures say ("+e.store.MarkerPath(id)+")", "a fresh session has no marker"))
	}
	return one(pass("marker", "the session was not compacted", ""))
}

// bands is the operator's tuning.
func (e *exam) bands() zone.Bands {
	if e.home == "" {
		return zone.Default()
	}
	return e.store.Bands()
}

// checkZones judges zones.json, each shape on its own.
func checkZones(e *exam) []Result {
	if e.home == "" {
		return nil
	}
	b := e.bands()
	path := e.store.ZonesPath()
	percent := fmt.Sprintf("smart up to %v%%, acceptable up to %v%%", b.Percent.SmartMax, b.Percent.AcceptableMax)
	var rows []string
	for _, r := range b.Tokens {
		rows = append(rows, fmt.Sprintf("%s: %s/%s", zone.FormatTokens(r.Class), zone.FormatTokens(r.SmartMax), zone.FormatTokens(r.AcceptableMax)))
	}
	const fix = "correct the file; plimsoll setup puts the shipped bands where yours are not valid"
	judge := func(id, what string, origin zone.Origin, rule string) Result {
		switch origin {
		case zone.Malformed:
			return fail(id, "the "+what+" bands in "+path+" are malformed", rule+"; the shipped bands are used instead", fix)
		case zone.Shipped:
			return pass(id, "the shipped "+what+" bands are used", "")
		}
		return pass(id, "the "+what+" bands in "+path+" are valid", "")
	}
	p := judge("zones.percent", "percent", b.PercentOrigin, "both keys have to be numbers with 0 < smart < acceptable ≤ 100")
	t := judge("zones.tokens", "token", b.TokensOrigin, "every key has to be a window in digits, with numbers 0 < smart < acceptable ≤ window")
	if p.Status == Pass {
		p.Why = percent
	}
	if t.Status == Pass {
		t.Why = strings.Join(rows, ", ")
	}
	return []Result{p, t}
}
