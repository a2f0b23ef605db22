// Package zonewatch is what Plimsoll does about zones: it reports a crossing into a worse one, once; it can stop the
// few calls that start new work in the dumb one; and it marks sessions whose evidence was compacted away.
//
// All three speak about the main thread. A payload of a sub-agent carries the parent's session id but comes from a
// context of its own, so it is judged by none of them.
package zonewatch

import (
	"path/filepath"
	"strings"
	"time"

	"plimsoll/internal/harness"
	"plimsoll/internal/snapshot"
	"plimsoll/internal/statefile"
	"plimsoll/internal/zone"
)

// The files of one session in the state folder, by the end of their names. Only these rules read them.
const (
	seenExt   = ".zone"       // the zone seen last
	armedExt  = ".armed"      // the worst zone reported in this arming cycle
	lockExt   = ".lock"       // held while a crossing is reported
	budgetExt = ".gate-count" // the calls that the gate counted
)

// Watch is where the rules look and keep what they have to remember.
type Watch struct {
	Store snapshot.Store
	State string // the folder of the rules' own files, an absolute path
	Now   func() time.Time
}

// hears tells whether an event speaks about the main thread of a session that may keep state.
func hears(e harness.Event) bool { return e.AgentID == "" && e.Session != harness.ID{} }

func (w Watch) path(id harness.ID, ext string) string { return filepath.Join(w.State, id.String()+ext) }

// reading is a session's effective zone: a marked session is in the dumb one whatever its figures say.
type reading struct {
	zone.Word
	snapshot.State
}

func (w Watch) read(id harness.ID) reading {
	st := w.Store.Resolve(id, w.Now())
	if st.Compacted {
		return reading{zone.Dumb, st}
	}
	return reading{st.Word, st}
}

// figures are what a verdict was reached on, for the decision log.
func (r reading) figures(more ...harness.Figure) []harness.Figure {
	f := append([]harness.Figure{{Key: "zone", Value: string(r.Word)}, {Key: "compacted", Value: r.Compacted}}, more...)
	if r.Percent.Word != zone.Unknown {
		f = append(f, harness.Figure{Key: "used_percentage", Value: r.Percent.Used})
	}
	if r.Tokens.Word != zone.Unknown {
		f = append(f, harness.Figure{Key: "occupancy", Value: r.Tokens.Occupancy()}, harness.Figure{Key: "window", Value: r.Tokens.Window})
	}
	return f
}

// failOpen is the verdict of a rule that could not do its work; why names the work.
func failOpen(why string, err error) harness.Verdict {
	return harness.Verdict{Decision: harness.FailOpen, Why: why, Figures: []harness.Figure{{Key: "error", Value: err.Error()}}}
}

// prune removes the state of sessions that ended weeks ago. State only grows with the first file of a session, so that
// is when it is called; no other event pays for it.
func (w Watch) prune() {
	cutoff := w.Now().Add(-snapshot.PruneAge)
	statefile.Prune(w.State, func(name string) bool {
		if strings.HasPrefix(name, ".") {
			return strings.Contains(name, seenExt+".tmp.") || strings.Contains(name, armedExt+".tmp.")
		}
		ext := filepath.Ext(name)
		switch ext {
		case seenExt, armedExt, lockExt, budgetExt:
		case ".seen", ".inputs": // of the Bash predecessor
		default:
			return false
		}
		id, ok := harness.ParseID(strings.TrimSuffix(name, ext))
		return ok && !w.Store.LiveSince(id, cutoff)
	}, cutoff)
}
