package ceiling

import "strconv"

// The model is told the figures, what they ask for and the way out. Which variables loosen the ceiling is the
// operator's to know: a model must not be taught to switch its guard off.

// diagnosis is the figures, the same words for everybody.
func diagnosis(j Judgement, what string) string {
	return tokensOf(j.Occupancy) + " of " + tokensOf(j.Window.Tokens) + " tokens are in this context, at or past the effective ceiling of " +
		tokensOf(j.Threshold) + " tokens (" + string(j.Bound) + " bound; window " + string(j.Window.Provenance) + "), before " + what + "."
}

func tokensOf(n int64) string { return strconv.FormatInt(n, 10) }

// advice is what each band asks for, behind its tag.
func (b Band) advice() string {
	switch b {
	case FullSummary:
		return "[full-summary] Write a full summary of goal, state, findings and next step to a durable note, and continue in a new conversation."
	case RunNow:
		return "[run-now] Run /handoff now."
	}
	return "[nudge] Consider /handoff soon, and put off loads that are not needed."
}

// said is diagnosis and advice; in the last band what to do comes first.
func said(j Judgement, what string) string {
	if j.Band == FullSummary {
		return j.Band.advice() + " " + diagnosis(j, what)
	}
	return diagnosis(j, what) + " " + j.Band.advice()
}

const wayOut = "The way out: run /handoff (recovery skills always run), or write a hand-off note by hand with goal, state, findings and next step, " +
	"then go on in a fresh session. "

func denialForModel(tool string, j Judgement, what string) string {
	text := said(j, what) + " [blocked: context ceiling] "
	if tool != "Skill" {
		return text + "Sub-agents are held to the ceiling in this session, so this one was not started. " + wayOut + "Everything that loads no skill and starts no sub-agent goes on."
	}
	return text + "A skill's text would stay in this context, so the load is denied. " + wayOut + "Everything that loads no skill goes on."
}

const switches = "DEV_TEAM_CONTEXT_CEILING_PCT and DEV_TEAM_CONTEXT_ABS_CEILING move the line, DEV_TEAM_CONTEXT_WINDOW corrects the window, " +
	"DEV_TEAM_CONTEXT_STRICT=off only warns, DEV_TEAM_CONTEXT_CEILING=off is silent; or the section ceiling of ~/.claude/plimsoll/config.json."

func denialForOperator(tool string, j Judgement, what string) string {
	text := "plimsoll: " + diagnosis(j, what) + " [blocked: context ceiling] The load was denied. /handoff and then /clear is the way on. "
	if tool != "Skill" {
		text += "DEV_TEAM_CONTEXT_GATE_AGENT=warn lets sub-agents run with a warning. "
	}
	return text + switches
}

// footer says why a warning is no denial; "" where the operator chose so.
func footer(p Policy, tool string, j Judgement) string {
	switch {
	case !p.Strict:
		return ""
	case !j.Window.Known():
		return " [not blocked: window unverified]"
	case !p.Blocks(tool):
		return " [not blocked: delegation] A sub-agent works in a context of its own, so the ceiling lets it run."
	}
	return ""
}

func warningForModel(p Policy, tool string, j Judgement, what string) string {
	return said(j, what) + footer(p, tool, j) + " /handoff saves the work for a fresh session."
}

func warningForOperator(p Policy, tool string, j Judgement, what string) string {
	text := "plimsoll: " + said(j, what) + footer(p, tool, j)
	switch {
	case !p.Strict:
	case !j.Window.Known():
		text += " DEV_TEAM_CONTEXT_WINDOW tells the window's size in tokens."
	default:
		text += " DEV_TEAM_CONTEXT_GATE_AGENT=block denies these too."
	}
	if j.Band == FullSummary {
		return text
	}
	return text + " " + switches
}

func loadForModel(j Judgement, load int64, what string) string {
	return tokensOf(j.Occupancy) + " of " + tokensOf(j.Window.Tokens) + " tokens are in this context; " + what + " adds about " + tokensOf(load) +
		", which takes it past the effective ceiling of " + tokensOf(j.Threshold) + " tokens. Load it only if the task needs it; /handoff saves the work for a fresh session."
}

func loadForOperator(j Judgement, load int64, what string) string {
	return "plimsoll: " + what + " adds about " + tokensOf(load) + " tokens (a quarter of its bytes) to " + tokensOf(j.Occupancy) +
		", past the effective ceiling of " + tokensOf(j.Threshold) + " tokens (" + string(j.Bound) + " bound; window " + string(j.Window.Provenance) + "). It was not denied: that is an estimate."
}
