package price

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What client 2.1.332 charges, as it was measured: US dollars per million tokens.
func TestTableIsTheClients(t *testing.T) {
	for _, c := range []struct {
		ids    string
		prompt int64
		want   Rate
	}{
		{"claude-fable-5-2", 0, Rate{8, 40, 0.20, 10, 16}},
		{"claude-fable-5-1", 0, Rate{10, 50, 0.25, 12.5, 20}},
		{"claude-fable-5 claude-mythos-5", 0, Rate{10, 50, 1.00, 12.5, 20}}, // K31, K32
		{"claude-opus-5-5", 0, Rate{4, 20, 0.20, 5, 8}},
		{"claude-opus-5 claude-opus-4-8 claude-opus-4-7 claude-opus-4-6 claude-opus-4-5-20251101", 0, Rate{5, 25, 0.50, 6.25, 10}}, // K27, K28
		{"claude-opus-4-1@20250805", 0, Rate{15, 75, 1.50, 18.75, 30}},
		{"claude-sonnet-5-5", 0, Rate{2, 10, 0.10, 2.5, 4}},
		{"claude-sonnet-5", 0, Rate{2, 10, 0.20, 2.5, 4}}, // K29
		{"claude-sonnet-4-6 claude-sonnet-4-5 claude-sonnet-4 claude-3-7-sonnet", 0, Rate{3, 15, 0.30, 3.75, 6}},
		{"claude-haiku-5-5", 100_000, Rate{0.10, 0.50, 0.01, 0.125, 0.20}},
		{"claude-haiku-5-5", 100_001, Rate{0.50, 2.50, 0.05, 0.625, 1.00}},
		{"claude-haiku-4-5 claude-haiku-4-5-20251001", 0, Rate{1, 5, 0.10, 1.25, 2}}, // K30
		{"claude-3-5-haiku", 0, Rate{0.8, 4, 0.08, 1, 1.6}},
		// E18: the same models under other names.
		{"claude-opus-4-6[1m] CLAUDE-OPUS-5 claude-opus-4-8-20260801 anthropic/claude-opus-5", 0, Rate{5, 25, 0.50, 6.25, 10}},
		{"claude-sonnet-4-20250514 claude-sonnet-4-6[1m]", 0, Rate{3, 15, 0.30, 3.75, 6}},
		// A cloud's region has prices of its own; what it does not list costs the model's list price.
		{"us.anthropic.claude-opus-5-5 anthropic.claude-opus-5-5", 0, Rate{4.4, 22, 0.22, 5.5, 8.8}},
		{"global.anthropic.claude-opus-5-5", 0, Rate{4, 20, 0.20, 5, 8}},
		{"us.anthropic.claude-haiku-5-5", 100_001, Rate{0.55, 2.75, 0.055, 0.6875, 1.1}},
		{"mars.anthropic.claude-opus-5-5", 0, Rate{4, 20, 0.20, 5, 8}},
	} {
		for _, id := range strings.Fields(c.ids) {
			r, ok := Default().Lookup(id)
			if !ok {
				t.Errorf("%s has no price", id)
			} else if got := r.At(c.prompt); !same(got, c.want) {
				t.Errorf("%s at %d tokens: %+v, want %+v", id, c.prompt, got, c.want)
			}
		}
	}
	// Unknown ids stay so, however much they look like known ones.
	for _, id := range []string{"", "claude-opus-9", "claude-fable-5-5", "claude-haiku-5", "gpt-fake", "opus", "claude"} {
		if r, ok := Default().Lookup(id); ok {
			t.Errorf("%q costs %+v", id, r)
		}
	}
}

func same(a, b Rate) bool {
	near := func(x, y float64) bool { return math.Abs(x-y) < 1e-9 }
	return near(a.Input, b.Input) && near(a.Output, b.Output) && near(a.CacheRead, b.CacheRead) && near(a.CacheWrite5m, b.CacheWrite5m) && near(a.CacheWrite1h, b.CacheWrite1h)
}

func TestEveryRowSaysWhereItIsFrom(t *testing.T) {
	rows := Default().Rows()
	if len(rows) < 30 {
		t.Errorf("only %d rows", len(rows))
	}
	for _, r := range rows {
		if r.Source == "" || len(r.Date) != len("2026-11-30") || r.ID != strings.ToLower(r.ID) {
			t.Errorf("%+v", r)
		}
		if r.Input <= 0 || r.Output <= r.Input || r.CacheRead >= r.Input || r.CacheWrite5m <= r.Input || math.Abs(r.CacheWrite1h-2*r.Input) > 1e-9 {
			t.Errorf("%s: %+v", r.ID, r.Rate)
		}
	}
}

func TestCost(t *testing.T) {
	const m = 1_000_000
	sonnet, _ := Default().Lookup("claude-sonnet-4-6")
	haiku, _ := Default().Lookup("claude-haiku-5-5")
	for _, c := range []struct {
		n    string
		row  *Row
		u    Usage
		want float64
	}{
		{"C17 a million of each", sonnet, Usage{Input: m, Output: m, CacheRead: m, CacheWrite5m: m}, 3 + 15 + 0.3 + 3.75},
		{"an hour's writes", sonnet, Usage{CacheWrite1h: m}, 6},
		{"in the US alone", sonnet, Usage{Input: m, US: true}, 3.3},
		{"nothing", sonnet, Usage{}, 0},
		{"the tier is by the whole prompt", haiku, Usage{Input: 1, CacheRead: 99_999, Output: m}, (0.1 + 99_999*0.01 + m*0.5) / m},
		{"one token more", haiku, Usage{Input: 1, CacheRead: 50_000, CacheWrite5m: 25_000, CacheWrite1h: 25_000, Output: m}, (0.5 + 50_000*0.05 + 25_000*0.625 + 25_000 + m*2.5) / m},
		{"output makes no tier", haiku, Usage{Input: 1, Output: 200_000}, (0.1 + 200_000*0.5) / m},
	} {
		if got := c.row.Cost(c.u); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.n, got, c.want)
		}
	}
}

func TestOwnPrices(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.json")
	if tab, err := Load(path); err != nil || len(tab.Rows()) != len(Default().Rows()) {
		t.Errorf("D7 without a file: %v", err)
	}
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"models":{"my-model":{"input":1,"output":2},"Claude-Opus-5":{"input":7,"output":8,"cache_read":0.5,"cache_write_5m":9,"cache_write_1h":10},
		"tiered":{"input":1,"output":2,"tiers":[{"above":200,"input":3,"output":4},{"above":100,"input":2,"output":3,"cache_read":0}]}}}`)
	tab, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id     string
		prompt int64
		want   Rate
	}{
		{"my-model", 0, Rate{1, 2, 0.1, 1.25, 2}}, {"claude-opus-5[1m]", 0, Rate{7, 8, 0.5, 9, 10}}, {"claude-opus-5-20270101", 0, Rate{7, 8, 0.5, 9, 10}},
		{"claude-opus-5-5", 0, Rate{4, 20, 0.2, 5, 8}}, {"tiered", 100, Rate{1, 2, 0.1, 1.25, 2}}, {"tiered", 101, Rate{2, 3, 0, 2.5, 4}}, {"tiered", 201, Rate{3, 4, 0.3, 3.75, 6}},
	} {
		if r, ok := tab.Lookup(c.id); !ok || !same(r.At(c.prompt), c.want) {
			t.Errorf("%s at %d: %+v, want %+v", c.id, c.prompt, r, c.want)
		}
	}
	if r, _ := tab.Lookup("my-model"); r.Source != path || r.Date == "" {
		t.Errorf("%+v", r)
	}
	for text, want := range map[string]string{
		``: "EOF", `x`: "invalid", `[]`: "array", `{"models":{"a":{"input":1}}}`: `model "a": input and output are needed`,
		`{"models":{"a":{"input":-1,"output":1}}}`: "less than 0", `{"models":{"a":{"input":"1","output":1}}}`: "string",
		`{"model":{}}`: "unknown field", `{"models":{"a":{"input":1,"output":1,"outptu":2}}}`: "unknown field", `{"models":{}} x`: "after",
		`{"models":{" ":{"input":1,"output":1}}}`: "empty", `{"models":{"a":{"input":1,"output":1,"tiers":[{"above":0,"input":1,"output":1}]}}}`: "above",
		`{"models":{"a":{"input":1,"output":1,"tiers":[{"above":5,"input":1}]}}}`: "tier: input and output",
	} {
		write(text)
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("D7 %s: %v, want %s", text, err, want)
		}
	}
}
