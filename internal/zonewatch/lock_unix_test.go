//go:build unix

package zonewatch

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/guard"
	"plimsoll/internal/harness"
)

// held tells whether somebody holds the lock of session s.
func (w *world) held() bool {
	w.t.Helper()
	f, err := os.OpenFile(filepath.Join(w.w.State, "s.lock"), os.O_RDWR, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
}

// watcher looks at the lock while the answer goes out.
type watcher struct {
	w    *world
	held bool
}

func (wa *watcher) Write(b []byte) (int, error) {
	wa.held = wa.w.held()
	return len(b), nil
}

// No other process may judge by the old marks while a report is on its way, and none waits after it.
func TestLockIsHeldUntilTheAnswerIsOut(t *testing.T) {
	w := newWorld(t, 20)
	w.used(90)
	out := watcher{w: w}
	guard.Guard{Rules: w.rules, Now: time.Now}.Handle(harness.Event{Name: harness.PostToolBatch, Session: id("s")}, &out)
	if !out.held {
		t.Error("the lock was free while the answer went out")
	}
	if w.held() {
		t.Fatal("the lock is held after the answer")
	}
	w.used(60)
	w.batch()
	if w.held() {
		t.Error("the lock is held after a change that is not reported")
	}
}
