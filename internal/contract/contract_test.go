package contract

import (
	"os"
	"strings"
	"testing"

	"plimsoll/internal/zone"
)

// shares are the values of the floor's text, one for each thing that is checked: three paths, staleness, the percent
// bands, two rows, the version floor, the sentence.
const shares = 9

func TestFloorAgreesWithItself(t *testing.T) {
	f := Get()
	if r := f.Check([]byte(f.String())); len(r.Drift) > 0 || r.Agree != shares {
		t.Errorf("agree %d, want %d; drift %v", r.Agree, shares, r.Drift)
	}
}

// No digit and no letter of a value can change unseen.
func TestEveryCharacterCounts(t *testing.T) {
	f := Get()
	text := f.String()
	for i, b := range []byte(text) {
		if b < '0' || b > '9' {
			continue
		}
		changed := text[:i] + string('0'+(b-'0'+1)%10) + text[i+1:]
		if r := f.Check([]byte(changed)); len(r.Drift) == 0 {
			t.Errorf("unseen: %q", around(changed, i))
		}
	}
	for _, word := range []string{"/context/", "/zones.json", ".json`", ".compacted", "≤ 50", "≤ 160000", "stands alone", "worse"} {
		i := strings.Index(text, word)
		if i < 0 {
			t.Fatalf("the floor does not say %q", word)
		}
		with := strings.NewReplacer("≤", "<", "o", "0", "m", "n", "t", "d", "s", "z").Replace(word)
		if r := f.Check([]byte(text[:i] + with + text[i+len(word):])); len(r.Drift) == 0 {
			t.Errorf("unseen: %q for %q", with, word)
		}
	}
}

func around(s string, i int) string { return s[max(0, i-30):min(len(s), i+30)] }

// The document states the values that the code decides by.
func TestDocumentStatesTheFloor(t *testing.T) {
	data, err := os.ReadFile("../../docs/contract.md")
	if err != nil {
		t.Fatal(err)
	}
	f := Get()
	if r := f.Check(data); len(r.Drift) > 0 || r.Agree < shares {
		t.Errorf("agree %d; drift %v", r.Agree, r.Drift)
	}
	_, section, ok := strings.Cut(string(data), "## Operable floor\n")
	section, _, ok2 := strings.Cut(section, "\n## ")
	if !ok || !ok2 {
		t.Fatal("no section Operable floor")
	}
	cells := map[string]bool{}
	for line := range strings.Lines(section) {
		for _, cell := range strings.Split(line, " | ") {
			cells[strings.Trim(cell, "| `\n")] = true
		}
	}
	want := []string{f.Snapshot, f.Marker, f.Zones, f.Percent.String(), f.VersionFloor, f.Combination}
	for _, r := range f.Tokens {
		want = append(want, r.Edges.String())
	}
	for _, v := range want {
		if !cells[v] {
			t.Errorf("the section has no cell %q", v)
		}
	}
	if r := f.Check([]byte(section)); len(r.Drift) > 0 || r.Agree != shares {
		t.Errorf("the section: agree %d, want %d; drift %v", r.Agree, shares, r.Drift)
	}
	for _, key := range f.Keys() {
		if !strings.Contains(strings.ReplaceAll(string(data), "CLASS", "200000")+strings.ReplaceAll(string(data), "CLASS", "1000000"), "`"+key+"`") {
			t.Errorf("the mark %s is not documented", key)
		}
	}
}

// The sentence says what the code does.
func TestCombinationIsWhatTheCodeDoes(t *testing.T) {
	for _, c := range []struct{ a, b, want zone.Word }{
		{zone.Smart, zone.Dumb, zone.Dumb}, {zone.Acceptable, zone.Smart, zone.Acceptable}, // both: the worse
		{zone.Unknown, zone.Smart, zone.Smart}, {zone.Dumb, zone.Unknown, zone.Dumb}, // one: alone
		{zone.Unknown, zone.Unknown, zone.Unknown},
	} {
		if got := zone.Worse(c.a, c.b); got != c.want {
			t.Errorf("%s and %s make %s", c.a, c.b, got)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		text  string
		agree int
		drift string // "LINE what", each followed by ";"
	}{
		// Paths, as shells, programs and texts write them.
		{`cat "$HOME/.claude/context-guard/context/${id}.json"`, 1, ""},
		{`p = Path.home() / ".claude/context-guard/context" / f"{sid}.json"`, 1, ""},
		{`in ~/.claude/context-guard/.`, 1, ""},
		{`%USERPROFILE%\.claude\context-guard\zones.json`, 1, ""},
		{`ls ~/.claude/context-guard/context/*.compacted`, 1, ""},
		{`~/.claude/context-guard/state/x.armed`, 0, ""},
		{`~/.claude/plugins/cache/m/context-guard/0.1.0/scripts/context-zone.sh`, 0, ""},
		{"one\ncat ~/.claude/context-guard/contexts/$id.json", 0, "2 path;"},
		{`~/.claude/context-guard/$id.json`, 0, "1 path;"},
		{`~/.claude/context-guard/context/$id.yaml`, 0, "1 path;"},
		{`~/.claude/context-guard/context/old/$id.json`, 0, "1 path;"},
		{`~/.claude/context_guard/zones.json`, 0, "1 path;"},
		{`~/.claude/context-guard/zone.json`, 0, "1 path;"},
		{`$CLAUDE_PROJECT_DIR/.claude/context-guard/zones.json`, 0, "1 path;"},
		{`./.claude/context-guard/zones.json`, 0, "1 path;"},
		{`"${CLAUDE_CONFIG_DIR:-$HOME}/context-guard/context"`, 0, "1 path;"},

		// Bands.
		{"smart ≤ 50 < acceptable ≤ 75 < dumb", 1, ""},
		{"smart <= 50% < acceptable <= 75%", 1, ""},
		{"# smart ≤ 50\n# < acceptable ≤ 75\n# < dumb", 1, ""},
		{"smart < 50 < acceptable < 75", 0, "1 percent bands;"},
		{"smart ≤ 40 < acceptable ≤ 75", 0, "1 percent bands;"},
		{"window class 200000: smart ≤ 100,000 < acceptable ≤ 160k < dumb; window class 1M: smart ≤ 200_000 < acceptable ≤ 0.4M < dumb", 2, ""},
		{"window class 200000: smart ≤ 200000 < acceptable ≤ 400000", 0, "1 token bands, window class 200000;"},
		{"smart ≤ 200000 < acceptable ≤ 400000", 1, ""},
		{"smart ≤ 200000 < acceptable ≤ 500000", 0, "1 token bands;"},
		{"class 500000: smart ≤ 200000 < acceptable ≤ 400000", 0, "1 token bands, window class 500000;"},
		{"{\"smart_max_used_percentage\": 50,\n\"acceptable_max_used_percentage\": 70}", 1, "2 percent bands;"},
		{`jq '.smart_max_used_percentage // 50'`, 1, ""},
		{`z.get("acceptable_max_used_percentage", 80)`, 0, "1 percent bands;"},
		{"smart_max_tokens, 0 being no edge", 0, ""},
		{`const smartMaxUsedPercentage = 45`, 0, "1 percent bands;"},
		{"\"200000\": {\"smart_max_tokens\": 100000,\n \"acceptable_max_tokens\": 160000},\n\"1000000\": {\"smart_max_tokens\": 100000, \"acceptable_max_tokens\": 400000}", 3, "3 token bands, window class 1000000;"},

		// Staleness.
		{"a snapshot whose captured_at is older\nthan 10 minutes is stale", 1, ""},
		{"> a snapshot older than\n> 600 s counts for nothing", 1, ""},
		{"a `captured_at` more than 15 minutes old is stale", 0, "1 staleness;"},
		{"by the 5-minute staleness rule", 0, "1 staleness;"},
		{"captured_at more than 60 s ahead is no time", 0, ""},
		{"snapshots older than 14 days are deleted", 0, ""},
		{"a log older than 3 days is old", 0, ""},
		{"STALE_AFTER=600", 1, ""},
		{"stale_minutes: 10", 1, ""},
		{"const staleAfter = 10 * time.Minute", 1, ""},
		{"STALE_MS = 10 * 60 * 1000", 1, ""},
		{"STALENESS_SECONDS = 300", 0, "1 staleness;"},
		{"stale=1", 0, ""},
		{"stale = 20 minutes", 0, "1 staleness;"},

		// The version floor.
		{"Version floor: 2.1.132", 1, ""},
		{"needs a cli_version of dotted digits of at\nleast 2.1.132", 1, ""},
		{"a `cli_version` ≥ 2.1.131", 0, "1 version floor;"},
		{`TOKEN_FLOOR = "2.1.120"`, 0, "1 version floor;"},
		{`"cli_version":"2.1.218"`, 0, ""},

		// The sentence.
		{"// When both shapes are computable, the **worse** zone wins (conservative-min);\n// when only one is computable, it stands alone; when neither is, the zone\n// is unknown.", 1, ""},
		{"when both shapes are computable, the better zone wins", 0, "1 combination;"},
		{"if both shapes can be computed the worse wins", 0, "1 combination;"},

		// Marks.
		{"limit = 10 * 60  # plimsoll contract: stale_seconds", 1, ""},
		{"limit = 900  # plimsoll contract: stale_seconds", 0, "1 stale_seconds;"},
		{"a[3] = 160000 // plimsoll contract: tokens.200000.acceptable_max", 1, ""},
		{"floor=2.1.130 # plimsoll contract: version_floor", 0, "1 version_floor;"},
		{"x = y # plimsoll contract: percent.smart_max", 0, "1 percent.smart_max;"},
		{"x = 1 # plimsoll contract: percent.dumb_max", 0, "1 mark;"},
		{"STALE_AFTER=5 # plimsoll contract: ignore\nsmart ≤ 50 < acceptable ≤ 75", 1, ""},
		{"", 0, ""},
		{"nothing of the kind", 0, ""},
	} {
		r := Get().Check([]byte(c.text))
		got := ""
		for _, d := range r.Drift {
			got += string(rune('0'+d.Line)) + " " + d.What + ";"
		}
		if r.Agree != c.agree || got != c.drift {
			t.Errorf("%q: agree %d, drift %q; want %d, %q\n%v", c.text, r.Agree, got, c.agree, c.drift, r.Drift)
		}
	}
}

func TestDriftNamesItsPlace(t *testing.T) {
	r := Get().Check([]byte("# a\r\n#\r\n\tsay `smart ≤ 40 <\r\n\tacceptable ≤ 75`\r\n"))
	want := Drift{3, 7, "percent bands", "smart ≤ 40 < acceptable ≤ 75", "smart ≤ 50 < acceptable ≤ 75 < dumb"}
	if len(r.Drift) != 1 || r.Drift[0] != want {
		t.Errorf("got %+v, want %+v", r.Drift, want)
	}
}

// Whatever a consumer's file holds, the check ends, and its places lie in the file.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(Get().String()))
	f.Add([]byte("\xff`**smart ≤ \xe2\x89 50 < acceptable &le; 1e9 both shapes are"))
	f.Add([]byte("  //\n\t\n*\n# plimsoll contract: stale_seconds"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := strings.Count(string(data), "\n") + 1
		for _, d := range Get().Check(data).Drift {
			if d.Line < 1 || d.Line > lines || d.Column < 1 {
				t.Errorf("%+v in %d lines", d, lines)
			}
		}
	})
}
