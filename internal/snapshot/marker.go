package snapshot

import (
	"os"
	"strings"
	"time"

	"plimsoll/internal/harness"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/statefile"
)

// Triggers of a compaction as the marker spells them.
const (
	TriggerManual  = "manual"
	TriggerAuto    = "auto"
	TriggerUnknown = "unknown"
)

// WriteMarker marks the session as compacted, over an older marker of its own. Whatever trigger is no word of the
// contract is written as unknown. Markers of sessions that ended weeks ago are removed on the way, also when the own
// one cannot be written.
func (s Store) WriteMarker(id harness.ID, trigger string, now time.Time) error {
	switch trigger {
	case TriggerManual, TriggerAuto:
	default:
		trigger = TriggerUnknown
	}
	var o rawjson.Builder
	o.Open()
	o.Text("compacted_at", now.UTC().Format(TimeFormat))
	o.Text("trigger", trigger)
	// The contract fixes this value, whichever event told of the compaction.
	o.Text("hook_event_name", harness.PostCompact)
	o.Close()
	o.EndLine()
	for _, dir := range []string{s.Root(), s.Dir()} {
		if err := statefile.EnsureDir(dir); err != nil {
			return err
		}
	}
	err := statefile.Replace(s.MarkerPath(id), o.Bytes())
	s.pruneMarkers(id, now.Add(-PruneAge))
	return err
}

func (s Store) pruneMarkers(own harness.ID, cutoff time.Time) {
	statefile.Prune(s.Dir(), func(name string) bool {
		if strings.HasPrefix(name, ".") {
			return strings.Contains(name, markerExt+".tmp.")
		}
		stem, ok := strings.CutSuffix(name, markerExt)
		if !ok || stem == own.String() {
			return false
		}
		id, ok := harness.ParseID(stem)
		return ok && !s.LiveSince(id, cutoff)
	}, cutoff)
}

// LiveSince tells whether anything of the contract's was written for the session since then. State that does not
// change while a session stays in one zone is as old as its last crossing, so its own age tells nothing.
func (s Store) LiveSince(id harness.ID, cutoff time.Time) bool {
	for _, path := range []string{s.Path(id), s.MarkerPath(id)} {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(cutoff) {
			return true
		}
	}
	return false
}
