package zonewatch

import (
	"plimsoll/internal/guard"
	"plimsoll/internal/harness"
)

// Marker marks a session as compacted, and gives the gate a fresh budget: compaction opens a fresh window, not a
// disarmed gate. SessionStart tells of a compaction to clients that have no PostCompact; where both come, PostCompact
// comes later and adds what triggered it.
func Marker(w Watch) guard.Rule {
	return guard.Rule{
		Name: "marker",
		Hears: func(e harness.Event) bool {
			return hears(e) && (e.Name == harness.PostCompact || e.Name == harness.SessionStart && e.Source == "compact")
		},
		Judge: func(e harness.Event) harness.Verdict {
			err := w.Store.WriteMarker(e.Session, e.Trigger, w.Now())
			armErr := rearm(w.path(e.Session, budgetExt))
			switch {
			case err != nil:
				return failOpen("marker-unwritable", err)
			case armErr != nil:
				return failOpen("state-unwritable", armErr)
			}
			return harness.Verdict{}
		},
	}
}
