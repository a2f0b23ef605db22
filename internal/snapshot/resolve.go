package snapshot

import (
	"errors"
	"io/fs"
	"time"

	"plimsoll/internal/harness"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/zone"
)

// Reasons for an unknown word that are not in the figures.
const (
	NoFile       = "no snapshot of this session"
	Unreadable   = "the snapshot cannot be read"
	NotValid     = "the snapshot is not one valid JSON object"
	BadTime      = "captured_at is not a time of the contract's form"
	Stale        = "the snapshot is older than 10 minutes"
	FromFuture   = "captured_at lies in the future"
	OtherSession = "the snapshot belongs to another session"
	BadID        = "the session id is not of A-Z, a-z, 0-9, _ and -"
	NoHome       = "no home directory: HOME is not set"
)

// State is what the contract says of one session right now.
type State struct {
	zone.Reading
	Bands      zone.Bands
	CapturedAt time.Time // zero when the snapshot has no valid time
	Age        time.Duration
	CLIVersion string
	Compacted  bool // the marker exists; readers then treat the session as dumb whatever the word
}

// Resolve reads a session's snapshot and judges it by the operator's bands, in the contract's order: an unreadable
// snapshot is unknown without a look at the tuning, so that nobody hears of a broken zones.json where nothing is
// measured.
func (s Store) Resolve(id harness.ID, now time.Time) State {
	st := State{Bands: zone.Default(), Compacted: s.Compacted(id)}
	unknown := func(why string) State {
		st.Reading = zone.Nothing(why)
		return st
	}
	data, err := readFile(s.Path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return unknown(NoFile)
	}
	if err != nil {
		return unknown(Unreadable)
	}
	st.Bands = s.Bands()
	root, err := rawjson.Parse(data)
	if err != nil || root.Kind() != rawjson.Object {
		return unknown(NotValid)
	}
	at, ok := parseCaptured(root.Get("captured_at").TextOr(""))
	if !ok {
		return unknown(BadTime)
	}
	st.CapturedAt = at
	st.Age = now.Truncate(time.Second).Sub(at)
	st.CLIVersion = root.Get("cli_version").TextOr("")
	switch {
	case st.Age > MaxAge:
		return unknown(Stale)
	case st.Age < -maxAhead:
		return unknown(FromFuture)
	case root.Get("session_id").TextOr("") != id.String():
		return unknown(OtherSession)
	}
	st.Reading = zone.Read(root.Get("context_window"), root.Get("cli_version"), st.Bands)
	return st
}

// Bands reads the operator's tuning. A zones.json that exists and cannot be read is as malformed as one that cannot
// be parsed; one that does not exist is no tuning.
func (s Store) Bands() zone.Bands {
	data, err := readFile(s.ZonesPath())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return zone.Default()
	case err != nil:
		return zone.ParseBands(nil)
	}
	return zone.ParseBands(data)
}
