// Package contract is the reader contract as data: the operable floor that programs copy who cannot ask Plimsoll, and
// the check whether their copies still say the same. docs/contract.md is its text for people.
package contract

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/harness"
	"plimsoll/internal/snapshot"
	"plimsoll/internal/zone"
)

// Combination is the sentence that consumers copy word for word.
const Combination = "when both shapes are computable, the worse zone wins (conservative-min); " +
	"when only one is computable, it stands alone; when neither is, the zone is unknown"

// Floor is what consumers copy. Its values are those of the code that decides.
type Floor struct {
	Schema       string   `json:"schema"`
	Snapshot     string   `json:"snapshot"` // path; <session_id> stands for the id
	Marker       string   `json:"marker"`   // path, as above
	Zones        string   `json:"zones"`    // path
	StaleSeconds int      `json:"stale_seconds"`
	Percent      Edges    `json:"percent"` // percent of the window
	Tokens       []Row    `json:"tokens"`
	VersionFloor string   `json:"version_floor"`
	Combination  string   `json:"combination"`
	Words        []string `json:"words"`
}

// Edges are the upper ends of smart and acceptable, both inclusive.
type Edges struct {
	SmartMax      float64 `json:"smart_max"`
	AcceptableMax float64 `json:"acceptable_max"`
}

// Row holds the edges, in tokens, for windows of Class tokens and more.
type Row struct {
	Class float64 `json:"class"`
	Edges
}

// sessionID stands for a session's id in a path.
const sessionID = "<session_id>"

// Get returns the floor.
func Get() Floor {
	const home, id = "~", "session-id"
	store, _ := snapshot.In(home)
	parsed, _ := harness.ParseID(id)
	path := func(p string) string { return strings.ReplaceAll(filepath.ToSlash(p), id, sessionID) }
	bands := zone.Default()
	f := Floor{
		Schema:       "plimsoll-contract-floor/v1",
		Snapshot:     path(store.Path(parsed)),
		Marker:       path(store.MarkerPath(parsed)),
		Zones:        path(store.ZonesPath()),
		StaleSeconds: int(snapshot.MaxAge / time.Second),
		Percent:      Edges(bands.Percent),
		VersionFloor: zone.TokenFloor,
		Combination:  Combination,
		Words:        []string{string(zone.Smart), string(zone.Acceptable), string(zone.Dumb), string(zone.Unknown)},
	}
	for _, r := range bands.Tokens {
		f.Tokens = append(f.Tokens, Row{r.Class, Edges(r.Edges)})
	}
	return f
}

// String is the floor as Markdown that can be copied as it is.
func (f Floor) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "- "+format+"\n", args...) }
	line("Snapshot: `%s`", f.Snapshot)
	line("Tuning, optional: `%s`; where it is valid its bands count instead of those below", f.Zones)
	line("Marker, optional: `%s`; where it exists the session is evidence-degraded, whatever the zone", f.Marker)
	line("Staleness: a snapshot whose `captured_at` is older than %s is stale; the zone is then unknown", f.stale())
	line("Percent bands, over `used_percentage`, upper ends included: %s", f.Percent)
	for _, r := range f.Tokens {
		line("Token bands, over `total_input_tokens` + `total_output_tokens`, upper ends included, window class %s: %s", number(r.Class), r.Edges)
	}
	line("Version floor: the token bands need a `cli_version` of dotted numbers ≥ %s", f.VersionFloor)
	line("Combination: %s", f.Combination)
	line("Words: %s; unknown is no evidence of a full window and none of an empty one", strings.Join(f.Words, ", "))
	return b.String()
}

func (f Floor) stale() string { return strconv.Itoa(f.StaleSeconds/60) + " minutes" }

// String is the bands as everybody spells them.
func (e Edges) String() string {
	return "smart ≤ " + number(e.SmartMax) + " < acceptable ≤ " + number(e.AcceptableMax) + " < dumb"
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
