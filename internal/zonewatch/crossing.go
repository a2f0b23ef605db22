package zonewatch

import (
	"errors"
	"io/fs"

	"plimsoll/internal/guard"
	"plimsoll/internal/harness"
	"plimsoll/internal/statefile"
	"plimsoll/internal/zone"
)

// Crossing reports a zone that is worse than any reported since the session was last seen in the smart one. Clients
// without PostToolBatch hear it at their next prompt.
func Crossing(w Watch) guard.Rule {
	return guard.Rule{
		Name: "crossing",
		Hears: func(e harness.Event) bool {
			return hears(e) && (e.Name == harness.PostToolBatch || e.Name == harness.UserPromptSubmit)
		},
		Judge: w.cross,
	}
}

func (w Watch) cross(e harness.Event) harness.Verdict {
	r := w.read(e.Session)
	if r.Word == zone.Unknown {
		return harness.Verdict{}
	}
	// Nearly every event ends here, having read two files and written none.
	if old, err := w.reported(e.Session); err != nil {
		return failOpen("state-unreadable", err)
	} else if !old.changes(r.Word) {
		return harness.Verdict{}
	}
	unlock, err := statefile.Lock(w.path(e.Session, lockExt))
	if err != nil {
		return failOpen("state-unwritable", err)
	}
	v := w.crossLocked(e)
	if v.Written == nil {
		unlock()
		return v
	}
	// The lock is held until the answer is out. A process that is killed before the rename has reported nothing that
	// stays, so the next one reports again; one that is killed after it has reported.
	commit := v.Written
	v.Written = func(ok bool) {
		defer unlock()
		commit(ok)
	}
	return v
}

// crossLocked looks at everything once more: while this process waited for the lock, another one may have reported the
// crossing, or seen the session recover from what this one saw.
func (w Watch) crossLocked(e harness.Event) harness.Verdict {
	r := w.read(e.Session)
	if r.Word == zone.Unknown {
		return harness.Verdict{}
	}
	old, err := w.reported(e.Session)
	if err != nil {
		return failOpen("state-unreadable", err)
	}
	if old.from() == zone.Dumb && r.Word != zone.Dumb {
		// The gate lets go by itself when its file cannot be used; reports must not end with it.
		_ = rearm(w.path(e.Session, budgetExt))
	}
	next, err := w.stage(e.Session, old, r.Word)
	if err != nil {
		return failOpen("state-unwritable", err)
	}
	if r.Rank() <= old.armed.Rank() {
		if err := next.commit(); err != nil {
			return failOpen("state-unwritable", err)
		}
		if old.none() {
			w.prune()
		}
		return harness.Verdict{}
	}
	return harness.Verdict{
		Decision:   harness.Note,
		ToModel:    crossingForModel(old.from(), r),
		ToOperator: crossingForOperator(old.from(), r),
		Figures:    r.figures(harness.Figure{Key: "from", Value: string(old.from())}),
		Written: func(ok bool) {
			if !ok {
				next.discard()
				return
			}
			// An error leaves the old mark: the report may come once more, which is better than not at all.
			_ = next.commit()
			if old.none() {
				w.prune()
			}
		},
	}
}

// marks are what is remembered of a session's reports, as words and as the files spell them.
type marks struct {
	seen, armed       zone.Word
	seenRaw, armedRaw string // "" when the file is missing
}

// reported reads a session's marks. A file that is not there is no error, one that cannot be read is.
func (w Watch) reported(id harness.ID) (m marks, err error) {
	var seen, armed bool
	if m.seenRaw, seen, err = readMark(w.path(id, seenExt)); err != nil {
		return m, err
	}
	if m.armedRaw, armed, err = readMark(w.path(id, armedExt)); err != nil {
		return m, err
	}
	m.seen, m.armed = word(m.seenRaw), word(m.armedRaw)
	if seen && !armed {
		m.armed = m.seen // versions that had one file
	}
	return m, nil
}

// maxMark bounds a file that holds one word, in bytes.
const maxMark = 4096

func readMark(path string) (raw string, exists bool, err error) {
	data, err := statefile.Read(path, maxMark)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return string(data), err == nil, err
}

// word reads the zone that a mark names; "" is none. Older versions wrote a number behind the word.
func word(raw string) zone.Word {
	var b []byte
	for i := 0; i < len(raw) && len(b) < 16; i++ {
		if raw[i] >= 'a' && raw[i] <= 'z' {
			b = append(b, raw[i])
		}
	}
	switch w := zone.Word(b); w {
	case zone.Smart, zone.Acceptable, zone.Dumb:
		return w
	}
	return ""
}

func mark(w zone.Word) string { return string(w) + "\n" }

func (m marks) none() bool { return m.seenRaw == "" && m.armedRaw == "" }

// next is the worst zone reported once w is: only a return to smart begins a new arming cycle.
func (m marks) next(w zone.Word) zone.Word {
	if w == zone.Smart || w.Rank() > m.armed.Rank() {
		return w
	}
	return m.armed
}

func (m marks) changes(w zone.Word) bool {
	return m.seenRaw != mark(w) || m.armedRaw != mark(m.next(w))
}

// unobserved is where the first crossing of a session starts.
const unobserved zone.Word = "unobserved"

// from is the zone that a crossing starts in. The zone seen last is never worse than the armed one, except in what a
// process left that was killed between the two renames.
func (m marks) from() zone.Word {
	from := m.seen
	if m.seen.Rank() > m.armed.Rank() {
		from = m.armed
	}
	if from == "" {
		return unobserved
	}
	return from
}

// staged are the marks that are to be, written beside those that are.
type staged []*statefile.Temp

// stage writes what differs. That both temporary files could be made shows that the folder takes the renames too, so
// that nothing is reported that cannot be remembered.
func (w Watch) stage(id harness.ID, old marks, to zone.Word) (staged, error) {
	var s staged
	// The armed mark goes first, since it alone decides: a process that is killed between the two repeats nothing.
	for _, m := range []struct{ ext, old, text string }{
		{armedExt, old.armedRaw, mark(old.next(to))},
		{seenExt, old.seenRaw, mark(to)},
	} {
		if m.old == m.text {
			continue
		}
		t, err := statefile.WriteTemp(w.path(id, m.ext), []byte(m.text))
		if err != nil {
			s.discard()
			return nil, err
		}
		s = append(s, t)
	}
	return s, nil
}

// commit puts the marks in place, in order; after an error the rest is discarded.
func (s staged) commit() error {
	for i, t := range s {
		if err := t.Commit(); err != nil {
			s[i:].discard()
			return err
		}
	}
	return nil
}

func (s staged) discard() {
	for _, t := range s {
		t.Discard()
	}
}
