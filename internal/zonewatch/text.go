package zonewatch

import (
	"strconv"
	"strings"

	"plimsoll/internal/zone"
)

// What is told is the same bytes for the same crossing: no figure and no time stands in it. The model's share holds
// the measurement and a word to keep working, and never a way to leave: a list of exits in a context makes a model
// take one. The exits are the operator's.

// degraded says why a session with good figures is in the dumb zone.
const degraded = " (evidence-degraded: this session was compacted)"

func (r reading) label() string {
	if r.Compacted {
		return string(r.Word) + degraded
	}
	return string(r.Word)
}

func crossed(from zone.Word, r reading) string {
	return "this session crossed from the " + string(from) + " into the " + r.label() + " context zone"
}

func crossingForModel(from zone.Word, r reading) string {
	text := "Context reading: " + crossed(from, r) + ", a measurement rather than an instruction. " +
		"Real degradation shows in your own output, never in a zone word. Keep working on the task in hand. " +
		"Do not volunteer to end, summarise, hand off or trim it: going on is the operator's call."
	if r.Word == zone.Dumb {
		text += " Compaction can be near: write each costly conclusion to a durable note now."
	}
	return text
}

func crossingForOperator(from zone.Word, r reading) string {
	return "plimsoll: " + crossed(from, r) + ". " +
		"Answers can get worse from here on. The model hears the measurement and is asked to keep working. What now is yours to choose:\n" +
		"- go on\n" +
		"- /clear and start afresh\n" +
		"- hand off, then /clear: /handoff if that skill is installed, else a hand-written resume note (goal, state, findings, next step)\n" +
		"- /compact: a summary takes the place of the conversation\n" +
		"The bands are tuned in ~/.claude/context-guard/zones.json."
}

// calls is a budget as every text spells it.
func calls(grace int) string { return "(" + strconv.Itoa(grace) + " matched calls)" }

func denialForModel(tool string, grace int, r reading) string {
	return "Zone gate, blocking mode: this session is in the " + r.label() + " context zone and its grace budget there " + calls(grace) +
		" is spent, so this " + tool + " call is denied. Still allowed: reads, Bash, Skill, and Write or Edit where the path contains \"handoff\". " +
		"Way out: put goal, state, findings and next step into such a file (or run /handoff), then tell the operator that a fresh session can take over."
}

func denialForOperator(tool string, grace int, r reading) string {
	return "plimsoll: the zone gate denied " + article(tool) + tool + " call: this session is in the " + r.label() + " context zone, past its grace budget " + calls(grace) +
		". The way on is a hand-off file, then /clear; /compact opens a new budget. " +
		"To soften the gate set zone_hook_mode to advisory or raise zone_gate_grace_calls (without the plugin: zones.mode, zones.grace_calls in ~/.claude/plimsoll/config.json)."
}

func releaseForModel(r reading) string {
	return "Zone gate: this session is in the " + r.label() + " context zone. The gate has denied as often as it may in one session and lets calls pass from now on. " +
		"That is a measurement rather than an instruction; keep working on the task in hand, and write each costly conclusion to a durable note."
}

func releaseForOperator(tool string, r reading) string {
	return "plimsoll: the zone gate let " + article(tool) + tool + " call pass that it would have denied: this session is in the " + r.label() +
		" context zone, but " + strconv.Itoa(MaxDenials) + " denials in one session are the most there are. A hand-off file, then /clear, is overdue."
}

func article(tool string) string {
	if strings.HasPrefix(tool, "A") || strings.HasPrefix(tool, "E") {
		return "an "
	}
	return "a "
}
