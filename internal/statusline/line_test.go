package statusline

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/config"
	"plimsoll/internal/zone"
)

const full = `{"version":"2.1.332","model":{"display_name":"Opus 5.5"},"cost":{"total_cost_usd":1.2345},
"context_window":{"total_input_tokens":170000,"total_output_tokens":500,"context_window_size":200000,"used_percentage":85,"current_usage":{"input_tokens":1}},
"prompt_cache":{"warm":true,"caching_observed":true,"expires_at":1000000250}}`

var now = time.Unix(1_000_000_000, 0)

func line(payload string, style Style) string {
	return Line([]byte(payload), zone.Default(), false, now, style)
}

func TestLine(t *testing.T) {
	utf8 := Style{UTF8: true}
	replace := func(old, new string) string { return strings.Replace(full, old, new, 1) }
	for _, c := range []struct{ n, payload, want string }{
		{"all of it", full, "[Opus 5.5] ctx 85% · 170.5k/200k · dumb · $1.23 · cache warm 5 min"},
		{"expired", replace("1000000250", "999999999"), "[Opus 5.5] ctx 85% · 170.5k/200k · dumb · $1.23 · cache cold"},
		{"not observed", replace(`"caching_observed":true`, `"caching_observed":false`), "[Opus 5.5] ctx 85% · 170.5k/200k · dumb · $1.23"},
		{"no cost", replace(`"total_cost_usd":1.2345`, `"total_cost_usd":null`), "[Opus 5.5] ctx 85% · 170.5k/200k · dumb · cache warm 5 min"},
		{"fraction", replace(":85,", ":8.25,"), "[Opus 5.5] ctx 8.25% · 170.5k/200k · dumb · $1.23 · cache warm 5 min"},
		{"percent alone", `{"context_window":{"used_percentage":8,"current_usage":{"input_tokens":1}}}`, "[Claude] ctx 8% · smart"},
		{"tokens alone", replace(":85,", ":null,"), "[Opus 5.5] ctx -% · 170.5k/200k · dumb · $1.23 · cache warm 5 min"},
		{"no response yet", replace(`{"input_tokens":1}`, "null"), "[Opus 5.5] ctx -% unknown · $1.23 · cache warm 5 min"},
		{"zero usage is nothing", replace(`{"input_tokens":1}`, `{"input_tokens":0,"output_tokens":0}`), "[Opus 5.5] ctx -% unknown · $1.23 · cache warm 5 min"},
		{"no figures", `{}`, "[Claude] ctx -% unknown"},
		{"hostile name", `{"model":{"display_name":"a\u001b[31m\n\u202eb"}}`, "[a[31mb] ctx -% unknown"},
		{"array", `[]`, Waiting},
		{"junk", `junk`, Waiting},
		{"empty", ``, ""},
		{"space", " \n", ""},
	} {
		if got := line(c.payload, utf8); got != c.want {
			t.Errorf("%s:\n%q, want\n%q", c.n, got, c.want)
		}
	}
	if got := Line([]byte(full), zone.Default(), true, now, utf8); !strings.Contains(got, "dumb (compacted)") {
		t.Errorf("a compacted session is shown as %q", got)
	}
}

func TestLineFits(t *testing.T) {
	for columns, want := range map[int]string{
		200: "[Opus 5.5] ctx 85% | 170.5k/200k | dumb | $1.23 | cache warm 5 min",
		48:  "[Opus 5.5] ctx 85% | 170.5k/200k | dumb | $1.23",
		47:  "[Opus 5.5] ctx 85% | 170.5k/200k | dumb | $1.23",
		46:  "[Opus 5.5] ctx 85% | 170.5k/200k | dumb",
		20:  "[Opus 5.5] ctx 85%",
		10:  "[Opus 5.5]",
		1:   "[",
	} {
		if got := line(full, Style{Columns: columns}); got != want {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
	wide := strings.Replace(full, "Opus 5.5", "模型😀é", 1)
	if got := line(wide, Style{UTF8: true, Columns: 6}); got != "[模型" { // 1 + 2 + 2, and no half character
		t.Errorf("wide characters: %q", got)
	}
	if got := line(wide, Style{}); !strings.HasPrefix(got, "[????] ctx 85% | ") {
		t.Errorf("outside UTF-8: %q", got)
	}
}

func TestLineColours(t *testing.T) {
	got := line(full, Style{Colour: true, UTF8: true})
	if !strings.HasPrefix(got, "[Opus 5.5] ctx 85%") || !strings.Contains(got, "\x1b[31mdumb\x1b[0m") {
		t.Errorf("in colour: %q", got)
	}
}

func TestStyleFrom(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want Style
	}{
		{nil, Style{Colour: true}},
		{map[string]string{"COLUMNS": "80", "LANG": "en_US.UTF-8"}, Style{80, true, true}},
		{map[string]string{"COLUMNS": "-3", "NO_COLOR": ""}, Style{}},
		{map[string]string{"TERM": "dumb", "LC_ALL": "C", "LANG": "en_US.UTF-8"}, Style{}},
		{map[string]string{"TERM": "xterm", "LC_CTYPE": "C.utf8"}, Style{0, true, true}},
	} {
		env := config.Env(func(name string) (string, bool) { v, ok := c.env[name]; return v, ok })
		if got := StyleFrom(env); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.env, got, c.want)
		}
	}
}
