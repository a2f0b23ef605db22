package page_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"plimsoll/internal/report"
	"plimsoll/internal/report/page"
)

func write(t *testing.T, d report.Document, c report.Charts) string {
	t.Helper()
	var b bytes.Buffer
	if err := page.Write(&b, d, c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// element is one opening or closing tag.
type element struct {
	name  string
	close bool
	attrs map[string]string
	text  string // up to the next tag, unescaped unless it is a script's or a style's
}

var attribute = regexp.MustCompile(`^\s+([a-z-]+)(?:="([^"<>]*)")?`)

// elements takes a page apart as HTML requires, and more strictly: every attribute is quoted, no < stands in text, every
// element that is opened is closed in order, and no id comes twice.
func elements(t *testing.T, text string) []element {
	t.Helper()
	rest, ok := strings.CutPrefix(text, "<!DOCTYPE html>\n")
	if !ok {
		t.Fatal("the page does not begin with a doctype")
	}
	void := []string{"meta", "link", "br", "hr", "img", "input"}
	var all []element
	var open []string
	ids := map[string]bool{}
	for {
		if rest = strings.TrimLeft(rest, "\n"); rest == "" {
			break
		}
		if rest[0] != '<' {
			t.Fatalf("text outside of any element: %.60q", rest)
		}
		e := element{attrs: map[string]string{}}
		at := rest
		rest = rest[1:]
		rest, e.close = strings.CutPrefix(rest, "/")
		end := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLower(r) && !unicode.IsDigit(r) })
		if end <= 0 {
			t.Fatalf("no tag: %.60q", at)
		}
		e.name, rest = rest[:end], rest[end:]
		for m := attribute.FindStringSubmatch(rest); m != nil; m = attribute.FindStringSubmatch(rest) {
			if _, twice := e.attrs[m[1]]; twice {
				t.Fatalf("attribute %s twice: %.60q", m[1], at)
			}
			e.attrs[m[1]] = html.UnescapeString(m[2])
			rest = rest[len(m[0]):]
		}
		if rest, ok = strings.CutPrefix(rest, ">"); !ok {
			t.Fatalf("a tag that does not end: %.160q", at)
		}
		if id, has := e.attrs["id"]; has {
			if ids[id] || id == "" {
				t.Fatalf("id %q twice", id)
			}
			ids[id] = true
		}
		switch {
		case e.close:
			if len(open) == 0 || open[len(open)-1] != e.name {
				t.Fatalf("</%s> closes %v", e.name, open)
			}
			open = open[:len(open)-1]
		case !slices.Contains(void, e.name):
			open = append(open, e.name)
		}
		stop := "<"
		raw := !e.close && (e.name == "script" || e.name == "style")
		if raw {
			stop = "</" + e.name
		}
		end = strings.Index(rest, stop)
		if end < 0 {
			end = len(rest)
		}
		if e.text = rest[:end]; !raw {
			e.text = html.UnescapeString(e.text)
		}
		rest = rest[end:]
		all = append(all, e)
	}
	if len(open) > 0 {
		t.Fatalf("left open: %v", open)
	}
	return all
}

func TestWellFormed(t *testing.T) {
	d, c := month()
	if all := elements(t, write(t, d, c)); len(all) < 5000 {
		t.Errorf("%d tags, which is too few for a month", len(all))
	}
}

// Nothing is loaded, and nothing could be: no element or attribute that loads, no style or handler in an attribute, a policy
// that lets only the very scripts and style of this page run.
func TestSelfContained(t *testing.T) {
	d, c := month()
	text := write(t, d, c)
	policy := ""
	var scripts, styles []string
	known := strings.Fields("html head meta title style body a header h1 p nav ul li main dl div dt dd span section h2 h3 code pre strong " +
		"figure figcaption canvas noscript table thead tbody tfoot tr th td footer details summary script")
	inert := strings.Fields("lang charset http-equiv content name class id href tabindex role scope type aria-label aria-labelledby data-sort")
	for _, e := range elements(t, text) {
		if !slices.Contains(known, e.name) {
			t.Errorf("element %s", e.name)
		}
		for k, v := range e.attrs {
			if !slices.Contains(inert, k) {
				t.Errorf("<%s %s=%q>", e.name, k, v)
			}
			if k == "href" && !strings.HasPrefix(v, "#") {
				t.Errorf("link to %q", v)
			}
		}
		sum := sha256.Sum256([]byte(e.text))
		source := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		switch {
		case e.attrs["http-equiv"] == "Content-Security-Policy":
			policy = e.attrs["content"]
		case e.attrs["http-equiv"] != "":
			t.Errorf("http-equiv %q", e.attrs["http-equiv"])
		case e.name == "script" && !e.close && e.attrs["type"] == "":
			scripts = append(scripts, source)
		case e.name == "style" && !e.close:
			styles = append(styles, source)
			if strings.Contains(e.text, "url(") || strings.Contains(e.text, "@import") {
				t.Error("the style sheet loads something")
			}
		}
	}
	want := "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + strings.Join(styles, " ") + "; script-src " + strings.Join(scripts, " ")
	if policy != want || len(scripts) != 3 || len(styles) != 1 {
		t.Errorf("policy\n got %s\nwant %s", policy, want)
	}
	if first, second := strings.Index(text, "Content-Security-Policy"), strings.Index(text, "<style"); first > second {
		t.Error("the policy comes after what it is about")
	}
	if strings.Contains(text, "sourceMappingURL") {
		t.Error("a debugger would look for a source map beside the page")
	}
	for _, call := range []string{"fetch(", "XMLHttpRequest", "WebSocket", "importScripts", "sendBeacon", "import(", "EventSource"} {
		if strings.Contains(text, call) {
			t.Errorf("the page has %s", call)
		}
	}
}

func TestDeterministic(t *testing.T) {
	d, c := month()
	e, f := month()
	if !reflect.DeepEqual(d, e) {
		t.Fatal("the fixture differs from itself")
	}
	if write(t, d, c) != write(t, e, f) {
		t.Error("the same report gave two pages")
	}
}

const hostile = "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>-->\"'`&amp;{{.}}\x00\x07\x1b[31m\u202e\u2066\u200b\ufeff\u2028\u2029\xff\u0085" +
	"ENDS-HERE-OR-EARLIER-AND-NEVER-LATER-THAN-EIGHTY-CHARACTERS"

// poison puts the hostile text into every string of a value, however deep.
func poison(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostile)
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			poison(v.Field(i))
		}
	}
}

func hostileMonth() (report.Document, report.Charts) {
	d, c := month()
	poison(reflect.ValueOf(&d).Elem())
	poison(reflect.ValueOf(&c).Elem())
	return d, c
}

// Every text of the document and of the charts is data: the page of a hostile one has the same elements as that of a tame
// one, and no character that hides or reorders text.
func TestHostileText(t *testing.T) {
	tameDocument, tameCharts := month()
	tame := elements(t, write(t, tameDocument, tameCharts))
	d, c := hostileMonth()
	text := write(t, d, c)
	if got := elements(t, text); len(got) != len(tame) {
		t.Errorf("%d tags, with tame text %d", len(got), len(tame))
	} else {
		for i := range got {
			if got[i].name != tame[i].name || got[i].close != tame[i].close {
				t.Fatalf("tag %d is %s, with tame text %s", i, got[i].name, tame[i].name)
			}
		}
	}
	own := text // the library's own text is not data
	if at := strings.Index(text, "<script>"); at > 0 {
		own = text[:at]
	}
	for _, r := range own {
		if r != '\n' && (unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) || r == unicode.ReplacementChar) {
			t.Fatalf("the page has %U", r)
		}
	}
	for _, e := range elements(t, text) {
		if e.attrs["id"] != "data" {
			continue
		}
		for _, c := range []string{"<", ">", "&"} {
			if strings.Contains(e.text, c) {
				t.Errorf("the charts' data have a bare %s", c)
			}
		}
		if strings.Contains(e.text, "LATER") {
			t.Error("a label of the charts' data is longer than 80 characters")
		}
		var data struct{ Curves []struct{ Session string } }
		if err := json.Unmarshal([]byte(e.text), &data); err != nil || len(data.Curves) == 0 || !strings.HasPrefix(data.Curves[0].Session, "</script>") {
			t.Errorf("the charts' data: %v, %+v", err, data.Curves)
		}
	}
	// Of labels, 80 characters are left; sentences and paths are whole.
	rows := regexp.MustCompile(`(?s)<table id="([a-z-]+)".*?</table>`).FindAllStringSubmatch(text, -1)
	for _, m := range rows {
		if long := strings.Contains(m[0], "NEVER-LATER-THAN-EIGHTY"); long != (m[1] == "skipped") {
			t.Errorf("table %s: text longer than 80 characters is %v", m[1], long)
		}
	}
}

// shorten leaves four elements of every list, so that a page is made quickly.
func shorten(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			shorten(v.Elem())
		}
	case reflect.Slice:
		v.Set(v.Slice(0, min(4, v.Len())))
		for i := range v.Len() {
			shorten(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			shorten(v.Field(i))
		}
	}
}

// Every field has its place: a page changes with each of them.
func TestEveryField(t *testing.T) {
	d, c := month()
	shorten(reflect.ValueOf(&d).Elem())
	shorten(reflect.ValueOf(&c).Elem())
	whole := write(t, d, c)
	seen := map[string]bool{}
	var visit func(v reflect.Value, path string)
	try := func(v reflect.Value, path string, other any) {
		if seen[path] {
			return
		}
		seen[path] = true
		old := reflect.New(v.Type()).Elem()
		old.Set(v)
		v.Set(reflect.ValueOf(other).Convert(v.Type()))
		if write(t, d, c) == whole {
			t.Errorf("%s is not in the page", path)
		}
		v.Set(old)
	}
	visit = func(v reflect.Value, path string) {
		switch v.Kind() {
		case reflect.String:
			try(v, path, "2031-07-08T09:10:11+02:00")
		case reflect.Int, reflect.Int64:
			try(v, path, v.Int()+1_234_567_000)
		case reflect.Float64:
			try(v, path, v.Float()+77.77)
		case reflect.Bool:
			try(v, path, !v.Bool())
		case reflect.Pointer:
			if !v.IsNil() {
				visit(v.Elem(), path)
			}
		case reflect.Slice:
			for i := range v.Len() {
				visit(v.Index(i), path+"[]")
			}
		case reflect.Struct:
			for i := range v.NumField() {
				visit(v.Field(i), path+"."+v.Type().Field(i).Name)
			}
		}
	}
	visit(reflect.ValueOf(&d).Elem(), "Document")
	visit(reflect.ValueOf(&c).Elem(), "Charts")
	if len(seen) < 100 {
		t.Errorf("only %d fields were tried", len(seen))
	}
}

func ids(all []element, name string) []string {
	var out []string
	for _, e := range all {
		if e.name == name && e.attrs["id"] != "" {
			out = append(out, strings.TrimPrefix(e.attrs["id"], "chart-"))
		}
	}
	return out
}

func TestSections(t *testing.T) {
	d, c := month()
	files := report.Document{Schema: d.Schema, GeneratedAt: d.GeneratedAt, Range: d.Range, Files: d.Files}
	clean := files
	clean.Files.Skipped = nil
	with := func(change func(*report.Document)) report.Document {
		e := clean
		change(&e)
		return e
	}
	for _, test := range []struct {
		name     string
		d        report.Document
		c        report.Charts
		sections []string
		charts   []string
		tables   []string
	}{
		{"everything", d, c, []string{"ceilings", "cost", "cache", "sessions", "gates", "files"},
			[]string{"sweep", "left", "turns", "rewritten", "misses", "occupancy"},
			[]string{"ceiling-sweep", "ceiling-turns", "bands", "by-model", "by-thread", "by-day", "by-session", "unpriced", "client",
				"cache-causes", "peaks", "past", "session-list", "compactions", "gate-rules", "gate-logs", "skipped"}},
		{"nothing", report.Document{}, report.Charts{}, nil, nil, nil},
		{"no section", files, report.Charts{}, []string{"files"}, nil, []string{"skipped"}},
		{"ceilings alone", with(func(e *report.Document) {
			e.Policy, e.Ceilings, e.Verdict, e.Recommendation = d.Policy, d.Ceilings, d.Verdict, d.Recommendation
		}), report.Charts{}, []string{"ceilings"}, []string{"sweep", "left"}, []string{"ceiling-sweep", "ceiling-turns"}},
		{"totals alone", with(func(e *report.Document) { e.Totals = d.Totals }), report.Charts{}, []string{"cost"}, nil, []string{"totals"}},
		{"cache alone", with(func(e *report.Document) { e.Cache, e.CacheHit = d.Cache, d.CacheHit }), report.Charts{}, []string{"cache"},
			[]string{"rewritten", "misses"}, []string{"cache-causes"}},
		{"nothing that was blocked, cost or missed", with(func(e *report.Document) {
			zero := 0.0
			e.Ceilings, e.Cache = []report.Ceiling{{SessionsBlockedPct: &zero}}, []report.CacheCause{{}}
		}), report.Charts{Turns: []report.Turn{{Occupancy: 5}}}, []string{"ceilings", "cache"}, []string{"sweep"},
			[]string{"ceiling-sweep", "ceiling-turns", "cache-causes"}},
		{"gates that did nothing", with(func(e *report.Document) { e.Gates = &report.Gates{} }), report.Charts{}, []string{"gates"}, nil, []string{"gate-logs"}},
		{"sessions without times", with(func(e *report.Document) { e.Peaks = d.Peaks }),
			report.Charts{Occupancy: []report.Curve{{SessionID: "s", Points: []report.Point{{Occupancy: 9}}}}}, []string{"sessions"}, nil, []string{"peaks"}},
		{"pointers to nothing", with(func(e *report.Document) {
			e.Peaks, e.Ceilings, e.Bands = &report.Peaks{}, []report.Ceiling{{}}, []report.BandTotals{{}}
			e.Verdict, e.Recommendation, e.CacheHit, e.Compactions = &report.Verdict{}, &report.Recommendation{}, &report.CacheHit{}, []report.Compaction{{}}
		}), report.Charts{}, []string{"ceilings", "cost", "cache", "sessions"}, nil,
			[]string{"ceiling-sweep", "ceiling-turns", "bands", "peaks", "compactions"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := write(t, test.d, test.c)
			all := elements(t, text)
			sections := slices.DeleteFunc(ids(all, "h2"), func(id string) bool { return id == "advice" })
			if !slices.Equal(sections, test.sections) {
				t.Errorf("sections %q, want %q", sections, test.sections)
			}
			if got := ids(all, "canvas"); !slices.Equal(got, test.charts) {
				t.Errorf("charts %q, want %q", got, test.charts)
			}
			if got := ids(all, "table"); !slices.Equal(got, test.tables) {
				t.Errorf("tables %q, want %q", got, test.tables)
			}
			if has := strings.Contains(text, "Chart.js"); has != (test.charts != nil) {
				t.Errorf("the chart library is there: %v", has)
			}
			if empty := strings.Contains(text, "There is no history to report on"); empty != (test.d.Files.Responses == 0) {
				t.Errorf("says that there is no history: %v", empty)
			}
			if regexp.MustCompile(`NaN|%!|<nil>|, –`).MatchString(strings.Split(text, "<script>")[0]) {
				t.Error("a figure is not one")
			}
		})
	}
}

// What a reader sees of figures, by table, row and column.
func TestFigures(t *testing.T) {
	d, c := month()
	d.Ceilings[0].SessionsBlockedPct = nil
	d.Totals.CostUSD = 0.0012
	text := write(t, d, c)
	for _, want := range []string{
		`<th scope="col">Sessions blocked <span class="unit">%</span></th>`,
		`<tr class="marked"><th scope="row" data-sort="350000">350,000 <span class="mark">in force</span></th>`,
		`<tr class="marked"><th scope="row" data-sort="300000">300,000 <span class="mark">recommended</span></th>`,
		`<th scope="row" data-sort="100000">100,000</th><td data-sort="38">38</td><td data-sort="">–</td>`,
		`<dd>&lt;0.01 <span class="unit">USD</span></dd>`,
		`<th scope="row" data-sort="900000">900,000</th><td data-sort="">no end</td>`,
		`Set the absolute ceiling to 300,000 tokens.`,
		`denied 104 Skill loads in 26 sessions, and saved an estimated 113.62 USD`,
		`<strong>Revisit trigger: fired.</strong>`,
		"2026-11-01 ",
		"deletes transcripts after 30 days",
		`{&#34;absolute&#34;: 300000}`,
		"DEV_TEAM_CONTEXT_ABS_CEILING=300000",
		"95.1 <span class=\"unit\">%</span>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if !strings.Contains(text, `"recommended":300000,`) || strings.Contains(text, "No gate has left a decision") {
		t.Error("the recommended ceiling is not drawn, or gates that decided are denied")
	}
	d.Recommendation = &report.Recommendation{Reason: "Four sessions are not enough.", AbsCeiling: d.Recommendation.AbsCeiling}
	d.Gates = &report.Gates{}
	d.Policy.Shipped = 100_000
	text = write(t, d, c)
	for _, want := range []string{"There is too little history to recommend a ceiling.", "Four sessions are not enough.", `"recommended":null,`,
		"No gate has left a decision on record."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, "recommended</span>") {
		t.Error("a ceiling is recommended without enough data")
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteError(t *testing.T) {
	d, c := month()
	if err := page.Write(brokenWriter{}, d, c); err == nil || err.Error() != "write page: disk full" {
		t.Errorf("got %v", err)
	}
}

// The library in the page is the release that chartjs/PIN names, byte for byte; chartjs/fetch.sh holds the sums against the
// tarball that the registry has.
func TestLibraryIsPinned(t *testing.T) {
	sums, err := os.ReadFile("chartjs/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	pin, err := os.ReadFile("chartjs/PIN")
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]string{}
	for line := range strings.Lines(string(sums)) {
		sum, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			t.Fatalf("line %q", line)
		}
		text, err := os.ReadFile("chartjs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if got := sha256.Sum256(text); hex.EncodeToString(got[:]) != sum {
			t.Errorf("%s has %x, SHA256SUMS has %s", name, got, sum)
		}
		held[name] = string(text)
	}
	library, licence, colour := held["chart.umd.min.js"], held["LICENSE"], held["LICENSE.color"]
	m := regexp.MustCompile(`(?m)^chart\.js@(\S+) sha512-\S{86}==$`).FindSubmatch(pin)
	if m == nil || !strings.HasPrefix(library, fmt.Sprintf("/*!\n * Chart.js v%s\n", m[1])) {
		t.Errorf("PIN has %s, the library begins %.40q", pin, library)
	}
	m = regexp.MustCompile(`(?m)^@kurkle/color@(\S+) sha512-\S{86}==$`).FindSubmatch(pin)
	if m == nil || !strings.Contains(library, fmt.Sprintf("@kurkle/color v%s\n", m[1])) {
		t.Errorf("PIN has %s, which is not what is bundled", pin)
	}

	d, c := month()
	text := write(t, d, c)
	code, _, _ := strings.Cut(library, "//# sourceMappingURL=")
	if len(code) < 200_000 || !strings.Contains(text, "<script>"+code+"</script>") {
		t.Error("the page's library is not the one that is pinned")
	}
	for _, l := range []string{licence, colour} {
		if !strings.Contains(l, "Permission is hereby granted") || !strings.Contains(text, html.EscapeString(l)) {
			t.Errorf("the page goes without the licence %.60q", l)
		}
	}
}
