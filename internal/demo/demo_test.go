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

// What the hooks said, by what was tried.
func told(rows []Row) map[string]Told {
	all := map[string]Told{}
	for _, r := range rows {
		for _, t := range r.Told {
			all[Clock(r.At)+" "+t.What] = t
		}
	}
	return all
}

func TestBothChannels(t *testing.T) {
	all := told(play(t, Real()))
	for what, denied := range map[string]bool{
		"0:01 Explore, without a search": true, "0:01 Explore, the second of the batch": true, "0:01 Explore, the third": true,
		"0:01 Explore, with what was found": false,
		"2:31 Skill plan":                   true, "2:31 Skill /handoff": false, "2:31 a sub-agent that reviews": false,
		"2:56 Write, with the zone gate armed": true, "2:56 Write handoff.md, likewise": false,
	} {
		got, ok := all[what]
		if !ok || got.Denied != denied {
			t.Errorf("%s: %+v, want denied %v", what, got, denied)
		}
	}
	for what, want := range map[string]string{
		"1:23 a batch of tool calls":    "into the acceptable context zone",
		"2:31 a batch of tool calls":    "into the dumb context zone",
		"2:31 a sub-agent that reviews": "[not blocked: delegation]",
		"2:31 Skill plan":               "409800 of 1000000 tokens",
	} {
		if got := all[what]; !strings.Contains(got.Model, want) || got.Operator == "" || strings.Contains(got.Model, "/clear") {
			t.Errorf("%s: %+v, want %q", what, got, want)
		}
	}
}

// The demo runs the very rules: without them nothing is said or denied.
func TestWithoutTheRulesTheStoryChanges(t *testing.T) {
	p := Real()
	p.Hook = func(hookcmd.Process) int { return 0 }
	for what, got := range told(play(t, p)) {
		if got.Denied || got.Model != "" || got.Operator != "" {
			t.Errorf("%s: %+v", what, got)
		}
	}
}
