package snapshot

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/harness"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/statefile"
)

const (
	// Floor is how long an unchanged snapshot is left alone: long enough to spare the disk on a status line that runs
	// every 300 ms, short enough to stay well inside MaxAge.
	Floor = 60 * time.Second

	// keepAhead is how far another writer's captured_at may lie ahead of ours and still be taken for a newer snapshot
	// rather than for a broken clock.
	keepAhead = 300 * time.Second

	// PruneAge is how long a session may be silent before its files are taken for those of one that ended.
	PruneAge   = 14 * 24 * time.Hour
	pruneEvery = time.Hour
	tempAge    = time.Minute

	tries    = 3
	retryGap = 100 * time.Millisecond
)

// Outcome is what Write did with a payload.
type Outcome string

// The outcomes of Write.
const (
	Written    Outcome = "written"
	Unchanged  Outcome = "unchanged within the floor"
	Superseded Outcome = "a newer snapshot stands there"
	NoSession  Outcome = "the payload has no usable session_id"
	NotJSON    Outcome = "the payload is not one valid JSON object"
	Failed     Outcome = "the snapshot could not be written"
)

// A Writer turns statusline payloads into snapshots.
type Writer struct {
	Store Store
	Floor time.Duration // how long an unchanged snapshot is left alone; 0 writes always

	// Pause waits between two tries of a rename that failed. An error ends the tries.
	Pause func(d time.Duration) error
}

// Write keeps the snapshot of the payload's session, if the payload is sound and the snapshot on disk is not as good.
// An error explains the outcome Failed or NotJSON; callers show it to nobody but the debug log.
func (w Writer) Write(payload []byte, now time.Time) (Outcome, error) {
	root, err := rawjson.Parse(payload)
	if err != nil {
		return NotJSON, err
	}
	if root.Kind() != rawjson.Object {
		return NotJSON, harness.ErrNotObject
	}
	var session, version, window rawjson.Value
	for key, v := range root.Members() {
		switch key {
		case "session_id":
			session = v
		case "version":
			version = v
		case "context_window":
			window = v
		}
	}
	id, ok := harness.ParseID(session.TextOr(""))
	if !ok {
		return NoSession, nil
	}
	body := appendBody(nil, id, version, window)
	path := w.Store.Path(id)
	if w.unchanged(path, body, now) {
		return Unchanged, nil
	}
	if err := statefile.EnsureDir(w.Store.Dir()); err != nil {
		return Failed, err
	}
	w.Store.housekeep(now)
	file := make([]byte, 0, len(body)+64)
	file = append(file, capturedKey...)
	file = now.UTC().AppendFormat(file, TimeFormat)
	file = append(file, '"')
	file = append(file, body...)
	file = append(file, '\n')
	return w.replace(path, file, now)
}

const capturedKey = `{"captured_at":"`

// appendBody is the snapshot after captured_at: every value as the payload spelled it, on one line.
func appendBody(dst []byte, id harness.ID, version, window rawjson.Value) []byte {
	dst = append(dst, `,"session_id":"`...)
	dst = append(dst, id.String()...)
	dst = append(dst, '"')
	if version.Kind() == rawjson.String {
		dst = append(dst, `,"cli_version":`...)
		dst = append(dst, version...)
	}
	if window.Kind() != rawjson.Absent {
		dst = append(dst, `,"context_window":`...)
		dst = window.AppendCompact(dst)
	}
	return append(dst, '}')
}

// unchanged tells whether the file at path says the same as body and is younger than the floor. The file itself is
// the record of the last write: one that somebody replaced differs, one from the future is not younger.
func (w Writer) unchanged(path string, body []byte, now time.Time) bool {
	if w.Floor <= 0 {
		return false
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	old, err := readFile(path)
	if err != nil {
		return false
	}
	at, rest, ok := splitCaptured(old)
	if !ok || !bytes.Equal(bytes.TrimSuffix(rest, []byte{'\n'}), body) {
		return false
	}
	age := now.Sub(at)
	return age >= 0 && age < w.Floor
}

// splitCaptured takes a snapshot of our own shape apart: its time and what stands after it.
func splitCaptured(file []byte) (at time.Time, rest []byte, ok bool) {
	text, ok := bytes.CutPrefix(file, []byte(capturedKey))
	if !ok {
		return at, nil, false
	}
	stamp, rest, ok := bytes.Cut(text, []byte{'"'})
	if !ok {
		return at, nil, false
	}
	at, ok = parseCaptured(string(stamp))
	return at, rest, ok
}

// parseCaptured accepts exactly YYYY-MM-DDTHH:MM:SSZ and only instants that exist.
func parseCaptured(s string) (time.Time, bool) {
	if len(s) != len(TimeFormat) {
		return time.Time{}, false
	}
	t, err := time.Parse(TimeFormat, s)
	return t, err == nil && t.Format(TimeFormat) == s
}

// replace puts file at path. A snapshot there that is a little newer than ours is another status line's of the same
// session and stays; the check and the rename are not one step, so of two writers in the same moment the older may win.
func (w Writer) replace(path string, file []byte, now time.Time) (Outcome, error) {
	temp, err := statefile.WriteTemp(path, file)
	if err != nil {
		return Failed, err
	}
	for try := 1; ; try++ {
		if newerStands(path, now) {
			temp.Discard()
			return Superseded, nil
		}
		err := temp.Commit()
		if err == nil {
			return Written, nil
		}
		if try == tries {
			temp.Discard()
			return Failed, err
		}
		if perr := w.pause(); perr != nil {
			temp.Discard()
			return Failed, errors.Join(err, perr)
		}
	}
}

func (w Writer) pause() error {
	if w.Pause == nil {
		time.Sleep(retryGap)
		return nil
	}
	return w.Pause(retryGap)
}

func newerStands(path string, now time.Time) bool {
	old, err := readFile(path)
	if err != nil {
		return false
	}
	at, _, ok := splitCaptured(old)
	now = now.Truncate(time.Second)
	return ok && at.After(now) && !at.After(now.Add(keepAhead))
}

// housekeep sweeps temporary files that a killed writer left, and once an hour the files of sessions that ended weeks
// ago. Markers are pruned by who writes them.
func (s Store) housekeep(now time.Time) {
	statefile.Prune(s.Dir(), func(name string) bool {
		return strings.HasPrefix(name, ".") && strings.Contains(name, ".json.tmp.")
	}, now.Add(-tempAge))
	if !s.pruneDue(now) {
		return
	}
	statefile.Prune(s.Dir(), func(name string) bool {
		if strings.HasPrefix(name, ".") {
			// The Bash predecessor kept .<session>.json.last beside each snapshot.
			return strings.HasSuffix(name, ".json.last")
		}
		return strings.HasSuffix(name, ".json")
	}, now.Add(-PruneAge))
}

// pruneDue claims this hour's pruning. The stamp is written before the sweep, so that a sweep that never ends is not
// begun again by every render. A stamp that is no plain file of ours is not written through.
func (s Store) pruneDue(now time.Time) bool {
	stamp := filepath.Join(s.Dir(), ".prune-stamp")
	info, err := os.Lstat(stamp)
	if err == nil && !info.Mode().IsRegular() {
		return true
	}
	if err == nil {
		data, _ := statefile.Read(stamp, 64)
		last, perr := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
		if perr == nil && last <= now.Unix() && now.Unix()-last < int64(pruneEvery/time.Second) {
			return false
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return statefile.Replace(stamp, strconv.AppendInt(nil, now.Unix(), 10)) == nil
}
