package report

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/history"
)

func TestPeaks(t *testing.T) {
	files := map[string]string{}
	for i := 1; i <= 10; i++ {
		files[fmt.Sprint("s", i)] = rowsOf(a(int64(i)*1000), a(500))
	}
	files["side"] = rowsOf(side(a(900_000)))
	p := reportOf(t, files, nil).Peaks
	if got := fmt.Sprintf("%d %s %s %s %s", p.Sessions, say(p.Min), say(p.P50), say(p.P90), say(p.Max)); got != "10 1000 5500 10000 10000" {
		t.Errorf("of 1k to 10k: %s", got)
	}
	p = reportOf(t, map[string]string{"s": rowsOf(side(a(5)))}, nil).Peaks
	if p.Sessions != 0 || p.P50 != nil || p.Max != nil {
		t.Errorf("of none: %+v", p)
	}
}

// The predecessor's cases of one session's row.
func TestSessionRow(t *testing.T) {
	const k = 1000
	for _, c := range []struct {
		n    string
		rows []row
		want string // peak, final, turns, prompt tokens, window and where from, gated, blockable
	}{
		{"R1", []row{a(120 * k)}, "120000 120000 1 120000 1000000 detected 0 0"},
		{"R2", []row{a(50 * k), a(400 * k)}, "400000 400000 2 450000 1000000 detected 0 0"},
		{"R3", []row{a(400 * k), a(50 * k)}, "400000 50000 2 450000 1000000 detected 0 0"},
		{"R4", []row{a(400 * k), side(a(9 * k))}, "400000 400000 1 400000 1000000 detected 0 0"},
		{"R5", []row{a(80 * k), {}}, "80000 80000 1 80000 1000000 detected 0 0"},
		{"R7", []row{of("totally-unknown", a(80*k))}, "80000 80000 1 80000 200000 default 0 0"},
		{"tokens beyond a window prove it wrong", []row{of("claude-haiku-4-5", a(300*k))}, "300000 300000 1 300000 1000000 default 0 0"},
		{"R11-14", []row{a(10, "Agent a", "Task b", "Skill c", "Bash", "Skill handoff")}, "10 10 1 10 1000000 detected 3 1"},
	} {
		d := reportOf(t, map[string]string{"s": rowsOf(c.rows...)}, nil)
		s := d.Sessions[0]
		if got := fmt.Sprint(s.PeakOccupancy, s.FinalOccupancy, s.Turns, s.PromptTokens, s.Window, " ", s.WindowFrom, " ", s.GatedCalls, s.BlockableCalls); got != c.want {
			t.Errorf("%s: %s; want %s", c.n, got, c.want)
		}
	}
}

func TestPast(t *testing.T) {
	d := reportOf(t, map[string]string{"a": rowsOf(a(900_000)), "b": rowsOf(a(500_000)), "c": rowsOf(a(950_000), a(50_000)), "d": rowsOf(a(500_001))}, nil)
	if got := fmt.Sprint(d.Past[0].Tokens, d.Past[0].Sessions, d.Past[1].Tokens, d.Past[1].Sessions); got != "500000 3 900000 1" {
		t.Errorf("%s", got)
	}
	// All is read from the cache: 950k and 50k of 900k + 500k + 1M + 500,001.
	if share := d.Past[1].CostShare; share == nil || *share != 34.5 {
		t.Errorf("share %v", say(share))
	}
}

func TestCompactions(t *testing.T) {
	before := response("m1", "s", "claude-opus-5", "2026-11-30T10:00:00.000Z", `{"input_tokens":167000}`, "")
	after := response("m2", "s", "claude-opus-5", "2026-11-30T10:05:00.000Z", `{"input_tokens":30000}`, "")
	boundary := func(meta, more string) string {
		return `{"type":"system","subtype":"compact_boundary","sessionId":"s","uuid":"u","timestamp":"2026-11-30T10:02:00.000Z","compactMetadata":` + meta + more + `}` + "\n"
	}
	for _, c := range []struct{ n, rows, want string }{
		{"the client's figures", before + boundary(`{"trigger":"auto","preTokens":170251,"postTokens":2812}`, "") + after, "auto 170251 2812"},
		{"our own where it has none", before + boundary(`{"trigger":"manual"}`, "") + after, "manual 167000 30000"},
		{"nothing after it", before + boundary(`{"trigger":"auto","preTokens":1}`, ""), "auto 1 null"},
		{"a copy counts once", before + boundary(`{"trigger":"auto","preTokens":1}`, "") + boundary(`{"trigger":"auto","preTokens":1}`, "") + after, "auto 1 30000"},
		{"a sub-agent's is its own affair", before + boundary(`{"trigger":"auto"}`, `,"isSidechain":true`) + after, ""},
	} {
		var got []string
		for _, x := range reportOf(t, map[string]string{"s": c.rows}, nil).Compactions {
			got = append(got, fmt.Sprint(x.Trigger, " ", say(x.TokensBefore), " ", say(x.TokensAfter)))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %v, want %s", c.n, got, c.want)
		}
	}
}

func TestHandoffs(t *testing.T) {
	command := func(name string) string {
		return `{"type":"user","sessionId":"s","uuid":"` + name + `","message":{"role":"user","content":"<command-message>x</command-message>\n<command-name>` + name + `</command-name>"}}` + "\n"
	}
	rows := rowsOf(a(10, "Skill handoff", "Skill plimsoll:handoff", "Skill other", "Agent handoff")) + command("/handoff") + command("/plimsoll:handoff") + command("/clear")
	d := reportOf(t, map[string]string{"s": rows}, nil)
	if d.Sessions[0].Handoffs != 4 {
		t.Errorf("%d hand-offs, want 4", d.Sessions[0].Handoffs)
	}
}

// With a range what was before and after it is no part of a session's row.
func TestSessionRowInARange(t *testing.T) {
	at := func(hour int) string { return fmt.Sprintf("2026-11-30T%02d:00:00.000Z", hour) }
	var rows string
	for _, hour := range []int{8, 12, 16} {
		rows += response(fmt.Sprint("m", hour), "s", "claude-opus-5", at(hour), fmt.Sprintf(`{"input_tokens":%d000}`, hour), "")
		rows += fmt.Sprintf(`{"type":"system","subtype":"compact_boundary","sessionId":"s","uuid":"c%d","timestamp":%q,"compactMetadata":{"trigger":"auto"}}`, hour, at(hour)) + "\n"
		rows += fmt.Sprintf(`{"type":"user","sessionId":"s","uuid":"k%d","timestamp":%q,"message":{"role":"user","content":"<command-name>/handoff</command-name>"}}`, hour, at(hour)) + "\n"
		// It tells no prompt, so it is no turn, and costs something.
		rows += response(fmt.Sprint("e", hour), "s", "claude-opus-5", at(hour), `{"output_tokens":1000}`, "")
	}
	whole := reportOf(t, map[string]string{"s": rows}, nil)
	if s := whole.Sessions[0]; s.Turns != 3 || s.Compactions != 3 || s.Handoffs != 3 || !near(s.CostUSD, (36_000*5+3_000*25)/1e6) {
		t.Errorf("the whole: %+v", s)
	}
	// What came at the moment of a compaction came before it.
	if got := fmt.Sprintf("%s %s %s %s", say(whole.Compactions[0].TokensBefore), say(whole.Compactions[0].TokensAfter), say(whole.Compactions[2].TokensBefore), say(whole.Compactions[2].TokensAfter)); got != "8000 12000 16000 null" {
		t.Errorf("around the compactions: %s", got)
	}
	part := reportOf(t, map[string]string{"s": rows}, func(o *Options) {
		o.Since, o.Until = time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC), time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)
	})
	if s := part.Sessions[0]; s.Turns != 1 || s.Compactions != 1 || len(part.Compactions) != 1 || s.Handoffs != 1 || s.PeakOccupancy != 12_000 || s.From != "2026-11-30T12:00:00Z" || s.To != s.From {
		t.Errorf("a part: %+v", s)
	}
}

// The gates' section asks when sessions handed off; what has no time answers nothing.
func TestHandoffMoments(t *testing.T) {
	command := `{"type":"user","sessionId":"s","uuid":"k%d"%s,"message":{"role":"user","content":"<command-name>/handoff</command-name>"}}` + "\n"
	dir := t.TempDir()
	rows := rowsOf(a(5)) + fmt.Sprintf(command, 1, `,"timestamp":"2026-11-30T10:00:00.000Z"`) + fmt.Sprintf(command, 2, "")
	for name, text := range map[string]string{"s": strings.ReplaceAll(rows, `"isSidechain"`, `"sessionId":"s","isSidechain"`), "t": rowsOf(a(5))} {
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h, err := history.Load(context.Background(), history.Source{Paths: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	got := Handoffs(h)
	if len(got["s"]) != 1 || !got["s"][0].Equal(time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)) || got["t"] == nil || len(got["t"]) != 0 {
		t.Errorf("%v", got)
	}
}

// A section alone has its keys and the four at the top, and all sections together have all keys.
func TestSections(t *testing.T) {
	d := reportOf(t, mixed(), func(o *Options) { o.Gates = &Gates{} })
	keys := func(d *Document) map[string]bool {
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		out := map[string]bool{}
		for k := range m {
			out[k] = true
		}
		return out
	}
	all := map[string]bool{}
	for _, s := range Sections() {
		own := keys(reportOf(t, mixed(), func(o *Options) {
			if o.Section = s; s == SectionGates {
				o.Gates = &Gates{}
			}
		}))
		for _, k := range []string{"schema", "generated_at", "range", "files"} {
			if !own[k] {
				t.Errorf("%s lacks %s", s, k)
			}
			delete(own, k)
		}
		if len(own) == 0 {
			t.Errorf("%s is empty", s)
		}
		for k := range own {
			if all[k] {
				t.Errorf("%s is in two sections", k)
			}
			all[k] = true
		}
	}
	for _, k := range []string{"schema", "generated_at", "range", "files"} {
		all[k] = true
	}
	if whole := keys(d); !reflect.DeepEqual(whole, all) {
		t.Errorf("the sections have %v, the whole %v", all, whole)
	}
}

// A section has its keys also where there is nothing to tell: lists are empty and not missing.
func TestKeysOfAnEmptyHistory(t *testing.T) {
	for section, want := range map[Section]string{
		SectionCeilings: "ceilings files generated_at policy range recommendation schema verdict",
		SectionCost:     "bands by_day by_model by_session by_thread client_cost files generated_at range schema totals unpriced",
		SectionCache:    "cache cache_hit files generated_at range schema",
		SectionSessions: "compactions files generated_at past peaks range schema sessions",
		SectionGates:    "files gates generated_at range schema",
	} {
		text, err := json.Marshal(reportOf(t, map[string]string{"s": ""}, func(o *Options) {
			if o.Section = section; section == SectionGates {
				o.Gates = &Gates{}
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(m)), " "); got != want {
			t.Errorf("%s: %s, want %s", section, got, want)
		}
		for k, v := range m {
			if v == nil {
				t.Errorf("%s: %s is null", section, k)
			}
		}
	}
}

func TestText(t *testing.T) {
	files := mixed()
	files["bad"] = "{broken\n" + rowsOf(a(400_000, "Skill build", "Agent x"))
	d := reportOf(t, files, nil)
	var b strings.Builder
	if err := d.Text(&b, 2); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{
		"of which blockable 1", "Agent/Task warns, never blocks", // R39
		"350,000 *", "450,000†", "CACHE", "SESSIONS", "SKIPPED", "bad.jsonl: 1 row:", "... and ", "unpriced", "100%", "advisory",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.TrimRight(line, " ") != line {
			t.Errorf("white space at the end: %q", line)
		}
	}
	hostile := reportOf(t, map[string]string{"s": response("m", "\x1b[31mred\u202e", "evil\x07model", "2026-11-30T10:00:00.000Z", usage1, "")}, nil)
	b.Reset()
	if err := hostile.Text(&b, 0); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\x07\u202e") {
		t.Errorf("control characters reach the terminal: %q", b.String())
	}
}

// Without a session there are no headings over nothing, and sentences are broken for a terminal of 120 columns.
func TestTextOfFewAndMany(t *testing.T) {
	print := func(files map[string]string) string {
		d := reportOf(t, files, func(o *Options) { o.Gates = &Gates{} })
		var b strings.Builder
		if err := d.Text(&b, 15); err != nil {
			t.Fatal(err)
		}
		if err := d.Calibrate(&b); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := len([]rune(line)) - 1; n > 120 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
		return b.String()
	}
	none := print(map[string]string{"s": ""})
	for _, heading := range []string{"thread ", "day ", "session ", "occupancy ", "compaction of", "unpriced"} {
		if strings.Contains(none, "\n  "+heading) {
			t.Errorf("a heading over nothing: %q\n%s", heading, none)
		}
	}
	if !strings.HasPrefix(none, "Plimsoll report: no response in 1 transcript\n") {
		t.Errorf("of nothing: %s", none)
	}
	if one := print(map[string]string{"s": rowsOf(a(5))}); !strings.HasPrefix(one, "Plimsoll report: 1 response in 1 transcript, without times\n") || strings.Contains(one, "unpriced") {
		t.Errorf("of one: %s", one)
	}
	many := map[string]string{}
	for i := range 3000 {
		many[fmt.Sprintf("5c0375b4-57a5-4f26-b12d-%012d", i)] = strings.ReplaceAll(rowsOf(a(45_000), a(900_000, "Skill build", "Agent x"), a(950_000), a(950_000), a(950_000), of("claude-opus-99", a(120_000))), `"isSidechain"`, fmt.Sprintf(`"timestamp":"2026-11-30T10:00:00.%03dZ","isSidechain"`, i%1000))
	}
	text := print(many)
	for _, want := range []string{"18,000 responses in 3,000 transcripts, 2026-11-30\n", "  3,000 sessions replayed, 3,000 with", "... and 2,985 more; --top 0 prints all", "  unpriced\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", 350_000: "350,000"} {
		if got := thousands(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	for n, want := range map[float64]string{0: "$0.00", 0.0001: "$0.0001", 0.5: "$0.5000", 0.999: "$1.00", 1234.5: "$1,234.50", -0.25: "-$0.2500"} {
		if got := dollars(n); got != want {
			t.Errorf("%v: %s", n, got)
		}
	}
	// R25
	if percent(0, 0) != nil || say(percent(0, 10)) != "0" || say(percent(1, 3)) != "33.3" {
		t.Error("percentages")
	}
}
