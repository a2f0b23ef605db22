package zonewatch

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func (w *world) age(path string, days int) {
	w.t.Helper()
	at := time.Now().Add(-time.Duration(days) * 24 * time.Hour)
	if err := os.Chtimes(path, at, at); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) names() []string {
	var names []string
	entries, _ := os.ReadDir(w.w.State)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// State of sessions that are gone is removed when a new session gets its first file, and by no other event.
func TestPruning(t *testing.T) {
	ended := []string{"gone.zone", "gone.armed", "gone.lock", "gone.gate-count", "gone.seen", "gone.inputs", ".gone.zone.tmp.1.x", ".gone.armed.tmp.1.x"}
	kept := []string{"notes.txt", "gone", "a b.zone", "gone.zone.bak"}
	look := func(percent int) func(w *world) { return func(w *world) { w.used(percent); w.batch() } }
	call := func(w *world) { w.used(90); w.write("/a") }
	for name, events := range map[string][]func(w *world){
		"crossing": {look(60), look(90), look(60), look(10)},
		"smart":    {look(10), look(60), look(10)},
		"gate":     {call, call},
	} {
		w := newWorld(t, 20)
		old := func() {
			for _, n := range append(slices.Clone(ended), kept...) {
				w.put(filepath.Join(w.w.State, n), "smart\n")
				w.age(filepath.Join(w.w.State, n), 15)
			}
		}
		old()
		w.put(filepath.Join(w.w.State, "young.zone"), "smart\n")
		w.age(filepath.Join(w.w.State, "young.zone"), 13)
		// A session that stays in one zone for weeks writes no state; its snapshot shows that it lives.
		w.put(filepath.Join(w.w.State, "live.armed"), "dumb\n")
		w.age(filepath.Join(w.w.State, "live.armed"), 60)
		w.put(w.w.Store.Path(id("live")), "{}")
		events[0](w)
		left := w.names()
		for _, n := range ended {
			if slices.Contains(left, n) {
				t.Errorf("%s: %s is still there", name, n)
			}
		}
		for _, n := range append(slices.Clone(kept), "young.zone", "live.armed") {
			if !slices.Contains(left, n) {
				t.Errorf("%s: %s is gone", name, n)
			}
		}
		old()
		for i, event := range events[1:] {
			event(w)
			if !slices.Contains(w.names(), "gone.zone") {
				t.Errorf("%s: event %d pruned too", name, i+2)
			}
		}
	}
}

func TestMarkerOfALiveSessionStays(t *testing.T) {
	w := newWorld(t, 20)
	w.put(w.w.Store.MarkerPath(id("live")), "{}")
	w.age(w.w.Store.MarkerPath(id("live")), 60)
	w.put(w.w.Store.Path(id("live")), "{}")
	temp := filepath.Join(w.w.Store.Dir(), ".gone.compacted.tmp.1.x")
	w.put(temp, "{")
	w.age(temp, 15)
	w.fire(`{"session_id":"s","hook_event_name":"PostCompact"}`)
	if !w.w.Store.Compacted(id("live")) {
		t.Error("the marker was deleted out from under its session")
	}
	if _, err := os.Stat(temp); err == nil {
		t.Error("what a killed process left is still there")
	}
}
