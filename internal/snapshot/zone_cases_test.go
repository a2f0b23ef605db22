package snapshot

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/harness"
	"plimsoll/internal/zone"
)

// The table of cases that every implementation of the contract shares. In a snapshot "@now-30" stands for the time 30
// seconds ago; an object {"raw": text} stands for that very text.
func TestSharedZoneCases(t *testing.T) {
	data, err := os.ReadFile("testdata/context-zone.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name     string
		SID      string
		Snapshot json.RawMessage
		Zones    json.RawMessage
		Word     zone.Word
		Notices  []string
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 129 {
		t.Fatalf("%d cases, want the 129 of the shared table", len(cases))
	}
	now := time.Date(2026, 10, 3, 18, 0, 30, 0, time.UTC)
	for i, c := range cases {
		t.Run(strconv.Itoa(i+1)+" "+c.Name, func(t *testing.T) {
			store := newStore(t)
			// Cases with a hostile id have no path; what they test is that none is looked for.
			if _, ok := harness.ParseID(c.SID); ok {
				place(t, store.Path(mustID(t, c.SID)), fileText(c.Snapshot, now))
			}
			place(t, store.ZonesPath(), fileText(c.Zones, now))
			word, notices := resolveText(store, c.SID, now)
			if word != c.Word {
				t.Errorf("zone %s, want %s", word, c.Word)
			}
			var got []string
			for _, n := range notices {
				switch {
				case strings.Contains(n, "token_bands malformed"):
					got = append(got, "token_bands")
				case strings.Contains(n, "zones.json malformed"):
					got = append(got, "percent")
				}
			}
			if strings.Join(got, " ") != strings.Join(c.Notices, " ") {
				t.Errorf("notices %q, want %q", got, c.Notices)
			}
		})
	}
}

// fileText is a file's content as the table gives it; nil means that the file is not there.
func fileText(v json.RawMessage, now time.Time) []byte {
	if len(v) == 0 || string(v) == "null" {
		return nil
	}
	var raw struct{ Raw *string }
	if json.Unmarshal(v, &raw) == nil && raw.Raw != nil {
		return []byte(*raw.Raw)
	}
	for {
		i := bytes.Index(v, []byte(`"@now`))
		if i < 0 {
			return v
		}
		end := i + 1 + bytes.IndexByte(v[i+1:], '"')
		offset, _ := strconv.Atoi(string(v[i+len(`"@now`) : end]))
		at := now.Add(time.Duration(offset) * time.Second).UTC().Format(TimeFormat)
		v = append(append(append([]byte(nil), v[:i+1]...), at...), v[end:]...)
	}
}

// The cases of the predecessor's own suite. p is used_percentage, usage current_usage, age the snapshot's in seconds;
// fields are raw JSON, "-" means that the key is missing.
func TestListedZoneCases(t *testing.T) {
	const tokens = `"total_input_tokens":%in,"total_output_tokens":0,"context_window_size":%win`
	type c struct {
		n      string
		window string // members of context_window
		outer  string // further members of the snapshot
		zones  string
		word   zone.Word
		notice string
	}
	p := func(used string) string { return `"used_percentage":` + used + `,"current_usage":{"input_tokens":1}` }
	tok := func(used, in, win string) string {
		return p(used) + "," + strings.NewReplacer("%in", in, "%win", win).Replace(tokens)
	}
	v := func(version string) string { return `,"cli_version":` + version }
	const ok = `,"cli_version":"2.1.218"`
	bands3060 := `{"smart_max_used_percentage":30,"acceptable_max_used_percentage":60}`
	over := func(s, a string) string {
		return `{"smart_max_used_percentage":30,"acceptable_max_used_percentage":60,"token_bands":{"200000":{"smart_max_tokens":` + s + `,"acceptable_max_tokens":` + a + `}}}`
	}
	for _, c := range []c{
		{"Z1", p("0"), "", "", zone.Smart, ""},
		{"Z2", p("50"), "", "", zone.Smart, ""},
		{"Z3", p("50.5"), "", "", zone.Acceptable, ""},
		{"Z4", p("75"), "", "", zone.Acceptable, ""},
		{"Z5", p("75.1"), "", "", zone.Dumb, ""},
		{"Z6", p("100"), "", "", zone.Dumb, ""},
		{"Z7", p("-1"), "", "", zone.Unknown, ""},
		{"Z8", p("101"), "", "", zone.Unknown, ""},
		{"Z9", p("null"), "", "", zone.Unknown, ""},
		{"Z10", p(`"forty"`), "", "", zone.Unknown, ""},
		{"Z11", `"current_usage":{"input_tokens":1}`, "", "", zone.Unknown, ""},
		{"Z12", `"used_percentage":20,"current_usage":null`, "", "", zone.Unknown, ""},
		{"Z13", `"used_percentage":20`, "", "", zone.Unknown, ""},
		{"Z25", p("40"), "", bands3060, zone.Acceptable, ""},
		{"Z26", p("25"), "", bands3060, zone.Smart, ""},
		{"Z27", p("61"), "", bands3060, zone.Dumb, ""},
		{"Z29-30", p("40"), "", "not json", zone.Smart, "zones.json malformed"},
		{"Z31-32", p("40"), "", `{"smart_max_used_percentage":60,"acceptable_max_used_percentage":30}`, zone.Smart, "zones.json malformed"},
		{"Z33", p("40"), "", `{"smart_max_used_percentage":"30","acceptable_max_used_percentage":60}`, zone.Smart, "zones.json malformed"},
		{"Z34", tok("null", "160000", "1000000"), ok, "", zone.Smart, ""},
		{"Z35", tok("null", "300000", "1000000"), ok, "", zone.Acceptable, ""},
		{"Z36", tok("null", "400001", "1000000"), ok, "", zone.Dumb, ""},
		{"Z37", tok("null", "100000", "200000"), ok, "", zone.Smart, ""},
		{"Z38", tok("null", "160000", "200000"), ok, "", zone.Acceptable, ""},
		{"Z39", tok("null", "160001", "200000"), ok, "", zone.Dumb, ""},
		{"Z40", tok("40", "170000", "200000"), ok, "", zone.Dumb, ""},
		{"Z41", tok("80", "50000", "200000"), ok, "", zone.Dumb, ""},
		{"Z42", tok("40", "50000", "200000"), ok, "", zone.Smart, ""},
		{"Z43", tok("60", "50000", "200000"), ok, "", zone.Acceptable, ""},
		{"Z44", tok("40", "500000", "200000"), ok, "", zone.Smart, ""},
		{"Z45", tok("null", "500000", "200000"), ok, "", zone.Unknown, ""},
		{"Z46", tok("10", "170000", "200000"), v(`"2.1.131"`), "", zone.Smart, ""},
		{"Z47", tok("null", "170000", "200000"), v(`"2.1.131"`), "", zone.Unknown, ""},
		{"Z48", tok("null", "170000", "200000"), v(`"2.1.132"`), "", zone.Dumb, ""},
		{"Z49", tok("null", "170000", "200000"), v(`"2.2"`), "", zone.Dumb, ""},
		{"Z50", tok("null", "170000", "200000"), v(`"3.0.0"`), "", zone.Dumb, ""},
		{"Z51", tok("null", "170000", "200000"), v(`"2.1.99"`), "", zone.Unknown, ""},
		{"Z52", tok("null", "170000", "200000"), "", "", zone.Unknown, ""},
		{"Z53", tok("null", "170000", "200000"), v(`"2.1.132-beta"`), "", zone.Unknown, ""},
		{"Z54", tok("null", "170000", "200000"), v("2"), "", zone.Unknown, ""},
		{"Z55", tok("null", "50000", "100000"), ok, "", zone.Unknown, ""},
		{"Z56", tok("40", "50000", "100000"), ok, "", zone.Smart, ""},
		{"Z57", tok("null", "70000", "200000"), ok, over("50000", "80000"), zone.Acceptable, ""},
		{"Z58", tok("null", "45000", "200000"), ok, over("50000", "80000"), zone.Smart, ""},
		{"Z59-60", tok("null", "170000", "200000"), ok, over("50000", "250000"), zone.Dumb, "token_bands malformed"},
		{"Z61-62", tok("null", "170000", "200000"), ok, bands3060, zone.Dumb, ""},
		// After /compact some clients send every figure as 0 until the next response.
		{"all zero", `"used_percentage":0,"current_usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}`, ok, "", zone.Unknown, ""},
		{"one zero figure", `"used_percentage":0,"current_usage":{"input_tokens":0}`, ok, "", zone.Unknown, ""},
		{"one figure not zero", `"used_percentage":0,"current_usage":{"input_tokens":0,"cache_read_input_tokens":3}`, ok, "", zone.Smart, ""},
		{"zero beside null", `"used_percentage":0,"current_usage":{"input_tokens":0,"output_tokens":null}`, ok, "", zone.Unknown, ""},
		{"other keys only", `"used_percentage":0,"current_usage":{"service_tier":0}`, ok, "", zone.Smart, ""},
	} {
		t.Run(c.n, func(t *testing.T) {
			now := time.Date(2026, 10, 3, 18, 0, 30, 0, time.UTC)
			store := newStore(t)
			place(t, store.Path(mustID(t, "s1")), []byte(`{"captured_at":"2026-10-03T18:00:00Z","session_id":"s1"`+c.outer+`,"context_window":{`+c.window+`}}`))
			if c.zones != "" {
				place(t, store.ZonesPath(), []byte(c.zones))
			}
			word, notices := resolveText(store, "s1", now)
			if word != c.word {
				t.Errorf("zone %s, want %s", word, c.word)
			}
			if text := strings.Join(notices, "\n"); c.notice == "" && text != "" || !strings.Contains(text, c.notice) {
				t.Errorf("notices %q, want %q", text, c.notice)
			}
			if c.zones != "" {
				if after, _ := os.ReadFile(store.ZonesPath()); string(after) != c.zones { // Z28
					t.Errorf("zones.json was rewritten to %q", after)
				}
			}
		})
	}
}

func TestUnknownSaysWhy(t *testing.T) {
	now := time.Date(2026, 10, 3, 18, 0, 0, 0, time.UTC)
	good := `{"captured_at":"2026-10-03T18:00:00Z","session_id":"s1","context_window":{"used_percentage":20,"current_usage":{"input_tokens":1}}}`
	for want, file := range map[string]string{
		NoFile:             "",                                                      // Z14
		Stale:              strings.Replace(good, "18:00:00", "17:40:00", 1),        // Z15
		NotValid:           good[:20],                                               // Z17
		BadTime:            strings.Replace(good, "2026-10-03T18:00:00Z", "now", 1), // Z21
		OtherSession:       strings.Replace(good, `"s1"`, `"s2"`, 1),                // Z24
		FromFuture:         strings.Replace(good, "18:00:00", "18:02:00", 1),
		zone.NoFigures:     strings.Replace(good, "context_window", "context", 1),
		zone.NotMeasured:   strings.Replace(good, `{"input_tokens":1}`, "null", 1),
		zone.NoShapeStands: strings.Replace(good, `:20,`, `:200,`, 1),
	} {
		store := newStore(t)
		if file != "" {
			place(t, store.Path(mustID(t, "s1")), []byte(file))
		}
		st := store.Resolve(mustID(t, "s1"), now)
		if st.Word != zone.Unknown || st.Why != want {
			t.Errorf("%.60q: %s because %q, want %q", file, st.Word, st.Why, want)
		}
		if !strings.Contains(string(st.JSON("s1", "p", st.Why)), `"zone":"unknown","reason":"`+want) {
			t.Errorf("%s: not in the JSON", want)
		}
	}
}

func TestResolveRefusesWhatIsNoFile(t *testing.T) {
	store := newStore(t)
	if err := os.MkdirAll(store.Path(mustID(t, "s1")), 0o700); err != nil {
		t.Fatal(err)
	}
	if st := store.Resolve(mustID(t, "s1"), time.Now()); st.Word != zone.Unknown || st.Why != Unreadable {
		t.Errorf("a directory as snapshot: %s because %q", st.Word, st.Why)
	}
	if err := os.MkdirAll(store.ZonesPath(), 0o700); err != nil {
		t.Fatal(err)
	}
	if b := store.Bands(); b.PercentOrigin != zone.Malformed || b.TokensOrigin != zone.Malformed {
		t.Errorf("a directory as zones.json: %v", b)
	}
	if err := os.Remove(store.ZonesPath()); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", store.ZonesPath()); err != nil {
		t.Fatal(err)
	}
	if b := store.Bands(); b.PercentOrigin != zone.Shipped {
		t.Errorf("a link to nothing as zones.json: %v", b)
	}
}

func newStore(t *testing.T) Store {
	t.Helper()
	s, ok := In(t.TempDir())
	if !ok {
		t.Fatal("no store in a temporary home")
	}
	return s
}

func mustID(t *testing.T, s string) harness.ID {
	t.Helper()
	id, ok := harness.ParseID(s)
	if !ok {
		t.Fatalf("ParseID(%q) refused", s)
	}
	return id
}

// place writes a file with its folders; nil writes none.
func place(t *testing.T, path string, data []byte) {
	t.Helper()
	if data == nil {
		return
	}
	if err := os.MkdirAll(path[:strings.LastIndexByte(path, '/')], 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func resolveText(s Store, sid string, now time.Time) (zone.Word, []string) {
	id, ok := harness.ParseID(sid)
	if !ok {
		return zone.Unknown, nil
	}
	st := s.Resolve(id, now)
	return st.Word, st.Bands.Notices()
}
