package zonewatch

import (
	"strings"

	"plimsoll/internal/guard"
	"plimsoll/internal/harness"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/zone"
)

// Gate denies calls that start new work in the dumb zone, past grace of them in one arming cycle. It never touches
// reads, Bash and Skill, and lets through what writes a hand-off, without counting it. Who does not want denials leaves
// the rule out.
func Gate(w Watch, grace int) guard.Rule {
	return guard.Rule{
		Name: "zone-gate",
		Hears: func(e harness.Event) bool {
			return hears(e) && e.Name == harness.PreToolUse && gated(e.ToolName)
		},
		Judge: func(e harness.Event) harness.Verdict { return w.gate(e, grace) },
	}
}

func gated(tool string) bool {
	switch tool {
	case "Write", "Edit", "NotebookEdit", "Agent", "Task", "Workflow":
		return true
	}
	return false
}

func (w Watch) gate(e harness.Event, grace int) harness.Verdict {
	r := w.read(e.Session)
	budget := w.path(e.Session, budgetExt)
	if r.Word != zone.Dumb {
		if err := rearm(budget); err != nil {
			return failOpen("state-unwritable", err)
		}
		return harness.Verdict{}
	}
	if handsOff(e.ToolInput) {
		return harness.Verdict{}
	}
	return harness.Verdict{Settle: func(denied bool) harness.Verdict {
		out, err := spend(budget, grace, denied)
		if err != nil {
			return failOpen("state-unwritable", err)
		}
		if out.first {
			w.prune()
		}
		figures := r.figures(harness.Figure{Key: "grace", Value: grace}, harness.Figure{Key: "calls", Value: out.calls}, harness.Figure{Key: "denials", Value: out.denials})
		switch out.kind {
		case denies:
			return harness.Verdict{
				Decision:   harness.Denial,
				Reason:     denialForModel(e.ToolName, grace, r),
				ToOperator: denialForOperator(e.ToolName, grace, r),
				Figures:    figures,
			}
		case releases:
			v := harness.Verdict{Decision: harness.Release, Why: "denials", ToOperator: releaseForOperator(e.ToolName, r), Figures: figures}
			if out.firstRelease {
				v.ToModel = releaseForModel(r) // once: a context that is too full needs no reminders
			}
			return v
		}
		return harness.Verdict{}
	}}
}

// handsOff tells whether a call writes to a path with "handoff" in it, in any letter case. A notebook's path counts
// where there is no file's; what is written does not count.
func handsOff(input rawjson.Value) bool {
	path := input.Get("file_path")
	switch path.Kind() {
	case rawjson.Absent, rawjson.Null, rawjson.False:
		path = input.Get("notebook_path")
	}
	return strings.Contains(strings.ToLower(path.TextOr("")), "handoff")
}
