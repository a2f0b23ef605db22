package snapshot

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/internal/harness"
)

var noon = time.Date(2026, 10, 3, 12, 0, 0, 0, time.UTC)

func newWriter(t *testing.T) Writer {
	return Writer{Store: newStore(t), Floor: Floor, Pause: func(time.Duration) error { return nil }}
}

func write(t *testing.T, w Writer, payload string, at time.Time, want Outcome) {
	t.Helper()
	got, err := w.Write([]byte(payload), at)
	if got != want {
		t.Fatalf("Write(%.60q) at %s: %s (%v), want %s", payload, at.Format(time.TimeOnly), got, err, want)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestSnapshotShape(t *testing.T) {
	for _, c := range []struct{ n, payload, want string }{
		{"T3-8, 11", `{"session_id":"sess-42","version":"2.1.218","model":{"id":"m"},"rate_limits":{},"context_window":{"used_percentage":8}}`,
			`{"captured_at":"2026-10-03T12:00:00Z","session_id":"sess-42","cli_version":"2.1.218","context_window":{"used_percentage":8}}`},
		{"T9", `{"session_id":"sess-42","context_window":null}`, `{"captured_at":"2026-10-03T12:00:00Z","session_id":"sess-42","context_window":null}`},
		{"T10", `{"session_id":"sess-42","version":42}`, `{"captured_at":"2026-10-03T12:00:00Z","session_id":"sess-42"}`},
		{"T13-14", `{"session_id":"sess-42","version":""}`, `{"captured_at":"2026-10-03T12:00:00Z","session_id":"sess-42","cli_version":""}`},
		{"T52", `{"session_id":"sess-4\u0032"}`, `{"captured_at":"2026-10-03T12:00:00Z","session_id":"sess-42"}`},
		{"T53", `{"session_id":"x","context_window":1,"session_id":"sess-42","context_window":{"a":2}}`,
			`{"captured_at":"2026-10-03T12:00:00Z","session_id":"sess-42","context_window":{"a":2}}`},
		{"T56-57", "\xef\xbb\xbf{\r\n \"session_id\":\r\n\"sess-42\"}\r\n", `{"captured_at":"2026-10-03T12:00:00Z","session_id":"sess-42"}`},
		{"spelling kept", `{"session_id":"sess-42","context_window":{"n": 12345678901234567890 ,"f":1.0,"e":1e3,"s":"\u00e9 \/ x","d":1,"d":2}}`,
			`{"captured_at":"2026-10-03T12:00:00Z","session_id":"sess-42","context_window":{"n":12345678901234567890,"f":1.0,"e":1e3,"s":"\u00e9 \/ x","d":1,"d":2}}`},
		{"pretty-printed", "{\n  \"session_id\": \"sess-42\",\n  \"context_window\": {\n    \"a b\": [1,\n 2]\n  }\n}\n",
			`{"captured_at":"2026-10-03T12:00:00Z","session_id":"sess-42","context_window":{"a b":[1,2]}}`},
		{"B19", `{"session_id":"sess-42","version":"2.1\u0000"}`, `{"captured_at":"2026-10-03T12:00:00Z","session_id":"sess-42","cli_version":"2.1\u0000"}`},
	} {
		t.Run(c.n, func(t *testing.T) {
			w := newWriter(t)
			write(t, w, c.payload, noon, Written)
			path := w.Store.Path(mustID(t, "sess-42"))
			if got := content(t, path); got != c.want+"\n" {
				t.Errorf("snapshot\n%swant\n%s", got, c.want)
			}
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("snapshot mode %v, %v", info.Mode(), err)
			}
			if info, err := os.Stat(w.Store.Dir()); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("folder mode %v, %v", info.Mode(), err)
			}
		})
	}
}

func TestNoSnapshot(t *testing.T) {
	for _, c := range []struct {
		n, payload string
		want       Outcome
	}{
		{"T15-16", `{"context_window":{}}`, NoSession},
		{"T17 dots", `{"session_id":"../evil"}`, NoSession},
		{"T17 slash", `{"session_id":"a/b"}`, NoSession},
		{"T17 space", `{"session_id":"a b"}`, NoSession},
		{"T17 semicolon", `{"session_id":"x;rm"}`, NoSession},
		{"T17 hidden", `{"session_id":".hidden."}`, NoSession},
		{"T32-33", `not json at all`, NotJSON},
		{"T50", `{"session_id":123}`, NoSession},
		{"T51", `{"session_id":"abc\n"}`, NoSession},
		{"T54", `{"session_id":"a"} {"session_id":"b"}`, NotJSON},
		{"T55 trailing", `{"session_id":"a"} x`, NotJSON},
		{"T55 truncated", `{"session_id":"a"`, NotJSON},
		{"T55 surrogate", `{"session_id":"a","x":"\ud800"}`, NotJSON},
		{"T55 array", `[{"session_id":"a"}]`, NotJSON},
		{"T59 number", `{"session_id":"a","bad":01}`, NotJSON},
		{"T59 key", `{"session_id":"a",bad:1}`, NotJSON},
		{"T59 comma", `{"session_id":"a",}`, NotJSON},
		{"invalid UTF-8", "{\"session_id\":\"a\",\"x\":\"\xff\"}", NotJSON},
		{"case of the key", `{"Session_ID":"a"}`, NoSession},
		{"null", `{"session_id":null}`, NoSession},
		{"empty", `{"session_id":""}`, NoSession},
		{"T63", ``, NotJSON},
		{"T58", `{"session_id":"` + strings.Repeat("a", 300) + `"}`, Failed},
	} {
		t.Run(c.n, func(t *testing.T) {
			w := newWriter(t)
			write(t, w, c.payload, noon, c.want)
			for _, name := range names(t, w.Store.Dir()) {
				if name != ".prune-stamp" {
					t.Errorf("left %s", name)
				}
			}
		})
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

const payloadA = `{"session_id":"a","context_window":{"used_percentage":8}}`

func TestFloor(t *testing.T) {
	w := newWriter(t)
	path := w.Store.Path(mustID(t, "a"))
	write(t, w, payloadA, noon, Written)
	write(t, w, payloadA, noon.Add(59*time.Second), Unchanged)
	write(t, w, payloadA, noon.Add(60*time.Second), Written)
	write(t, w, `{"session_id":"a","context_window":{"used_percentage":9}}`, noon.Add(61*time.Second), Written) // T40
	if !strings.Contains(content(t, path), `:9}`) {
		t.Error("the newest render is not on disk")
	}
	write(t, Writer{Store: w.Store}, payloadA, noon.Add(62*time.Second), Written)
	write(t, Writer{Store: w.Store}, payloadA, noon.Add(62*time.Second), Written)
	place(t, path, []byte("somebody else's"))
	write(t, w, payloadA, noon.Add(63*time.Second), Written)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	write(t, w, payloadA, noon.Add(64*time.Second), Written)
	write(t, w, payloadA, noon.Add(-time.Hour), Written) // the clock went back by more than the guard believes
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	place(t, elsewhere, []byte("untouched"))
	if err := os.Symlink(elsewhere, path); err != nil {
		t.Fatal(err)
	}
	write(t, w, payloadA, noon, Written) // a link is replaced, never written through
	if got := content(t, elsewhere); got != "untouched" {
		t.Errorf("wrote through a link: %q", got)
	}
}

func TestNoRegress(t *testing.T) {
	for _, c := range []struct {
		n, at string
		want  Outcome
	}{
		{"equal second", "2026-10-03T12:00:00Z", Written},
		{"older", "2026-10-03T11:59:00Z", Written},
		{"T41", "2026-10-03T12:02:00Z", Superseded},
		{"at the limit", "2026-10-03T12:05:00Z", Superseded},
		{"past the limit", "2026-10-03T12:05:01Z", Written},
		{"T42", "9999-10-03T12:00:00Z", Written},
		{"no time", "2026-13-03T12:00:00Z", Written},
	} {
		t.Run(c.n, func(t *testing.T) {
			w := newWriter(t)
			old := `{"captured_at":"` + c.at + `","session_id":"a","context_window":{"used_percentage":1}}` + "\n"
			place(t, w.Store.Path(mustID(t, "a")), []byte(old))
			write(t, w, payloadA, noon.Add(400*time.Millisecond), c.want)
			if kept := content(t, w.Store.Path(mustID(t, "a"))) == old; kept != (c.want == Superseded) {
				t.Errorf("kept: %v", kept)
			}
		})
	}
}

func TestRenameFails(t *testing.T) {
	w := newWriter(t)
	path := w.Store.Path(mustID(t, "a"))
	blocked := func() {
		if err := os.MkdirAll(filepath.Join(path, "child"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	blocked()
	pauses := 0
	w.Pause = func(time.Duration) error { // T18-19: two failures, then it works
		if pauses++; pauses == 2 {
			return os.RemoveAll(path)
		}
		return nil
	}
	write(t, w, payloadA, noon, Written)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	blocked()
	pauses = -10
	write(t, w, payloadA, noon, Failed) // T20-22
	if pauses != -8 {
		t.Errorf("%d pauses, want 2 between 3 tries", pauses+10)
	}
	if got := names(t, w.Store.Dir()); !reflect.DeepEqual(got, []string{".prune-stamp", "a.json"}) {
		t.Errorf("left %v", got)
	}
	interrupted := errors.New("interrupted")
	w.Pause = func(time.Duration) error { return interrupted }
	if _, err := w.Write([]byte(payloadA), noon); !errors.Is(err, interrupted) { // T49
		t.Errorf("an interrupted pause gives %v", err)
	}
	if got := names(t, w.Store.Dir()); len(got) != 2 {
		t.Errorf("an interrupted writer left %v", got)
	}
}

func TestHousekeeping(t *testing.T) {
	w := newWriter(t)
	dir := w.Store.Dir()
	aged := func(name string, age time.Duration) {
		place(t, filepath.Join(dir, name), []byte("x"))
		if err := os.Chtimes(filepath.Join(dir, name), noon.Add(-age), noon.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	const day = 24 * time.Hour
	aged("old.json", 15*day)              // T43
	aged(".old.json.last", 15*day)        // the predecessor's
	aged("hours.json", 2*time.Hour)       // T44
	aged("minutes.json", 5*time.Minute)   // T45
	aged(".b.json.tmp.1.x", 15*day)       // T46
	aged(".c.json.tmp.2.x", time.Second)  // T47
	aged("old.compacted", 15*day)         // its own writer's business
	aged("edge.json", 14*day-time.Second) // strictly more than 14 days
	write(t, w, payloadA, noon, Written)  // T48
	want := []string{".c.json.tmp.2.x", ".prune-stamp", "a.json", "edge.json", "hours.json", "minutes.json", "old.compacted"}
	if got := names(t, dir); !reflect.DeepEqual(got, want) {
		t.Errorf("after the prune %v, want %v", got, want)
	}
	// Within the hour only temporary files are swept.
	aged("old2.json", 15*day)
	aged(".d.json.tmp.3.x", 2*time.Minute)
	write(t, w, payloadA, noon.Add(59*time.Minute), Written)
	if got := strings.Join(names(t, dir), " "); !strings.Contains(got, "old2.json") || strings.Contains(got, ".d.json.tmp") {
		t.Errorf("within the hour: %s", got)
	}
	write(t, w, payloadA, noon.Add(61*time.Minute), Written)
	if got := strings.Join(names(t, dir), " "); strings.Contains(got, "old2.json") {
		t.Errorf("after the hour: %s", got)
	}
	// A stamp that cannot be believed makes the prune due; one that is a link is not written through (T60).
	for _, stamp := range []string{"garbage", "99999999999", ""} {
		aged("old3.json", 15*day)
		place(t, filepath.Join(dir, ".prune-stamp"), []byte(stamp))
		write(t, w, payloadA, noon.Add(3*time.Hour), Written)
		if got := strings.Join(names(t, dir), " "); strings.Contains(got, "old3.json") {
			t.Errorf("stamp %q: not pruned", stamp)
		}
		w.Floor = 0
	}
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	place(t, elsewhere, []byte("untouched"))
	if err := os.Remove(filepath.Join(dir, ".prune-stamp")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, ".prune-stamp")); err != nil {
		t.Fatal(err)
	}
	aged("old4.json", 15*day)
	write(t, w, payloadA, noon.Add(4*time.Hour), Written)
	if got := strings.Join(names(t, dir), " "); strings.Contains(got, "old4.json") || content(t, elsewhere) != "untouched" {
		t.Errorf("linked stamp: %s", got)
	}
}

func TestFolderIsTightened(t *testing.T) {
	w := newWriter(t)
	if err := os.MkdirAll(w.Store.Dir(), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, w, payloadA, noon, Written)
	if info, err := os.Stat(w.Store.Dir()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder mode %v, %v", info.Mode(), err)
	}
}

func TestFolderIsAFile(t *testing.T) { // T34-35
	w := newWriter(t)
	place(t, w.Store.Dir(), []byte("in the way"))
	write(t, w, payloadA, noon, Failed)
	if got := content(t, w.Store.Dir()); got != "in the way" {
		t.Errorf("the file in the way became %q", got)
	}
}

// Many writers of one session, at once: a reader sees a whole snapshot at any time.
func TestConcurrentWriters(t *testing.T) {
	w := newWriter(t)
	w.Floor = 0
	path := w.Store.Path(mustID(t, "a"))
	write(t, w, payloadA, noon, Written)
	var group sync.WaitGroup
	for i := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			for j := range 25 {
				payload := `{"session_id":"a","context_window":{"pad":"` + strings.Repeat("x", i*500+j) + `"}}`
				if _, err := w.Write([]byte(payload), noon); err != nil {
					t.Errorf("Write: %v", err)
				}
				data, err := os.ReadFile(path)
				if err != nil || !json.Valid(data) {
					t.Errorf("read %d bytes, valid %v: %v", len(data), json.Valid(data), err)
				}
			}
		}()
	}
	group.Wait()
	if got := names(t, w.Store.Dir()); !reflect.DeepEqual(got, []string{".prune-stamp", "a.json"}) {
		t.Errorf("left %v", got)
	}
}

// Every recorded statusline payload becomes a snapshot that says what the payload said.
func TestRecordedPayloads(t *testing.T) {
	files, err := filepath.Glob("../harness/testdata/payloads/*/statusline-*.json")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d recorded payloads, %v", len(files), err)
	}
	for i, file := range files {
		w := newWriter(t)
		payload := content(t, file)
		write(t, w, payload, noon.Add(time.Duration(i)*time.Second), Written)
		var p, s map[string]any
		if err := json.Unmarshal([]byte(payload), &p); err != nil {
			t.Fatal(err)
		}
		id, _ := harness.ParseID(p["session_id"].(string))
		if err := json.Unmarshal([]byte(content(t, w.Store.Path(id))), &s); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if !reflect.DeepEqual(s["context_window"], p["context_window"]) || s["cli_version"] != p["version"] || s["session_id"] != p["session_id"] {
			t.Errorf("%s: snapshot %v", file, s)
		}
	}
}
