// Package snapshot is the reader contract's file: one snapshot per session, written by the statusline and read by
// everybody, and the marker beside it that says the session was compacted. docs/contract.md is its text for others.
package snapshot

import (
	"os"
	"path/filepath"
	"time"

	"plimsoll/internal/harness"
	"plimsoll/internal/statefile"
)

const (
	// TimeFormat is captured_at: UTC with whole seconds.
	TimeFormat = "2006-01-02T15:04:05Z"

	// MaxAge is the staleness rule of the contract, inclusive. It is no setting: readers inline it.
	MaxAge = 10 * time.Minute

	// maxAhead is how far captured_at may lie ahead of the reader's clock.
	maxAhead = 60 * time.Second

	// maxFile bounds what is read of a snapshot or zones.json, in bytes. Snapshots are well under 2 kB; the statusline
	// keeps at most 64 MiB of payload.
	maxFile = 64 << 20
)

// markerExt ends the name of a marker.
const markerExt = ".compacted"

// Store is the contract's folder in one home directory.
type Store struct{ home string }

// In returns the store below home. An empty home has none: ok is false, and nothing may be written relative to the
// working directory instead.
func In(home string) (s Store, ok bool) { return Store{home}, home != "" }

// Root is the folder that holds zones.json.
func (s Store) Root() string { return filepath.Join(s.home, ".claude", "context-guard") }

// Dir is the folder of the snapshots and markers.
func (s Store) Dir() string { return filepath.Join(s.Root(), "context") }

// Path is a session's snapshot.
func (s Store) Path(id harness.ID) string { return filepath.Join(s.Dir(), id.String()+".json") }

// MarkerPath is where the marker of a compacted session stands.
func (s Store) MarkerPath(id harness.ID) string {
	return filepath.Join(s.Dir(), id.String()+markerExt)
}

// ZonesPath is the operator's band tuning.
func (s Store) ZonesPath() string { return filepath.Join(s.Root(), "zones.json") }

// Compacted tells whether the session's marker exists. What it is does not matter, a link to nothing is nothing.
func (s Store) Compacted(id harness.ID) bool {
	_, err := os.Stat(s.MarkerPath(id))
	return err == nil
}

func readFile(path string) ([]byte, error) { return statefile.Read(path, maxFile) }
