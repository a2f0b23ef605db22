package demo

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"plimsoll/internal/hookcmd"
	"plimsoll/internal/snapshot"
	"plimsoll/internal/zone"
)

func play(t *testing.T, p Player) []Row {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	rows, err := p.Play()
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
		t.Errorf("the demo left %v behind", left)
	}
	return rows
}

func TestStory(t *testing.T) {
	rows := play(t, Real())
	var words []zone.Word
	for _, r := range rows {
		words = append(words, r.Zone)
		if r.Why == "" {
			t.Errorf("%s has no reason", Clock(r.At))
		}
	}
	want := []zone.Word{zone.Unknown, zone.Smart, zone.Smart, zone.Smart, zone.Acceptable, zone.Acceptable, zone.Dumb, zone.Dumb, zone.Unknown, zone.Smart, zone.Unknown}
	if !reflect.DeepEqual(words, want) {
		t.Errorf("zones %v, want %v\n%s", words, want, Text(rows))
	}
	if got := rows[len(rows)-1].Why; got != snapshot.Stale {
		t.Errorf("the idle session is unknown because %q", got)
	}
}

// The story hangs on the real commands: without the tee nothing is known, however full the window.
func TestWithoutTheTeeTheStoryChanges(t *testing.T) {
	p := Real()
	p.Statusline = func(hookcmd.Process) int { return 0 }
	for _, r := range play(t, p) {
		if r.Zone != zone.Unknown || r.Why != snapshot.NoFile {
			t.Errorf("%s: %s because %s", Clock(r.At), r.Zone, r.Why)
		}
	}
}

func TestTextNamesEveryZone(t *testing.T) {
	text := Text(play(t, Real()))
	for _, w := range []zone.Word{zone.Smart, zone.Acceptable, zone.Dumb, zone.Unknown} {
		if !strings.Contains(text, string(w)) {
			t.Errorf("the story never shows %s:\n%s", w, text)
		}
	}
}
