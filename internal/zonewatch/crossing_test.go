package zonewatch

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"plimsoll/internal/guard"
	"plimsoll/internal/harness"
)

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// An answer that did not get out was no report: the next event makes it, and nothing is left of the first attempt.
func TestAnswerThatDidNotGetOut(t *testing.T) {
	w := newWorld(t, 20)
	w.used(90)
	g := guard.Guard{Rules: w.rules, Now: time.Now}
	e := harness.Event{Name: harness.PostToolBatch, Session: id("s")}
	g.Handle(e, brokenPipe{})
	if left := w.names(); !slices.Equal(left, []string{"s.lock"}) {
		t.Errorf("left %v", left)
	}
	var out bytes.Buffer
	g.Handle(e, &out)
	if out.Len() == 0 {
		t.Error("the report is lost")
	}
}

// A process that waited for the lock judges by what it finds then, not by what made it wait.
func TestWhatIsSeenUnderTheLockCounts(t *testing.T) {
	for _, later := range []func(w *world){
		func(w *world) { w.used(10) },
		func(w *world) { os.Remove(w.w.Store.Path(id("s"))) },
	} {
		w := newWorld(t, 20)
		w.used(90)
		looks := 0
		watch := w.w
		watch.Now = func() time.Time {
			if looks++; looks == 2 {
				later(w)
			}
			return time.Now()
		}
		w.rules = []guard.Rule{Crossing(watch)}
		if got := w.batch(); got.raw != "" || looks < 2 {
			t.Errorf("after %d looks: %q", looks, got.raw)
		}
	}
}
