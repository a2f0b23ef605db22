package explain

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/guard"
)

// Both generations are read, the older first; what is no decision is counted and nothing else.
func TestReadCountsWhatItCannotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decisions.jsonl")
	write := func(path string, lines ...string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := Read(path, "s1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no log: %v", err)
	}
	write(path+".1", `{"ts":"1","session":"s1","rule":"zone-gate","decision":"denial","calls":21,"zone":"dumb"}`, `{"ts":"2","session":"s2","rule":"crossing","decision":"note"}`)
	write(path,
		`{"ts":"3","session":"s1","rule":"x","rule":"crossing","decision":"note"}`,
		`{"session":"s1","decision":"note"}`, `{"session":7,"rule":"crossing"}`, `[]`, `nonsense`, "\x00\x00",
		`{"session":"s1","rule":"`+strings.Repeat("x", guard.MaxLogLine)+`"}`, "")
	decisions, bad, err := Read(path, "s1")
	if err != nil || bad != 6 || len(decisions) != 2 {
		t.Fatalf("%d decisions, %d bad lines, %v; want 2, 6", len(decisions), bad, err)
	}
	if d := decisions[0]; d.Time != "1" || len(d.Figures) != 2 || d.Figures["calls"] != 21.0 {
		t.Errorf("the older file's decision: %+v", d)
	}
	if d := decisions[1]; d.Rule != "crossing" || len(d.Figures) != 0 {
		t.Errorf("of two members of one name the last counts: %+v", d)
	}
}
