package price

import (
	"math"
	"os"
	"path/filepath"
	"slices"
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
		// Retired models, of which the client no longer says a price.
		{"claude-opus-4-1 claude-opus-4-20250514 claude-3-opus-20240229", 0, Rate{15, 75, 1.50, 18.75, 30}},
		{"claude-3-5-sonnet-20241022", 0, Rate{3, 15, 0.30, 3.75, 6}},
		{"claude-3-haiku-20240307", 0, Rate{0.25, 1.25, 0.03, 0.30, 0.50}},
		// A cloud's region has prices of its own; what it does not list costs the model's list price.
		{"us.anthropic.claude-opus-5-5 anthropic.claude-opus-5-5 us.anthropic.claude-opus-5-5-20261001-v1:0", 0, Rate{4.4, 22, 0.22, 5.5, 8.8}},
		{"arn:aws:bedrock:x:inference-profile/eu.anthropic.claude-opus-4-6-v1:0 bedrock/us.anthropic.claude-opus-4-6", 0, Rate{5.5, 27.5, 0.55, 6.875, 11}},
		{"us.anthropic.claude-sonnet-4-20250514-v1:0 us.anthropic.claude-sonnet-4", 0, Rate{3, 15, 0.30, 3.75, 6}},
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
	for _, id := range []string{"", "claude-opus-9", "claude-fable-5-5", "claude-haiku-5", "gpt-fake", "claude",
		"opus", "sonnet", "haiku", // K33, K34: an alias is another model with every client
		"claude-opus-4-8-fast", "anthropic/claude-opus-5.5:batch", "anthropic.", "[1m]", "us.anthropic.gpt-fake"} {
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
	opus, _ := Default().Lookup("claude-opus-5")
	haiku, _ := Default().Lookup("claude-haiku-5-5")
	for _, c := range []struct {
		n    string
		row  *Row
		u    Usage
		want float64
	}{
		{"C17 a million of each", sonnet, Usage{Input: m, Output: m, CacheRead: m, CacheWrite5m: m}, 3 + 15 + 0.3 + 3.75},
		{"K11 reads", opus, Usage{Input: 10_000, Output: 2_000, CacheRead: 5_000}, 0.1025},
		{"K11 writes", sonnet, Usage{Input: 8_000, Output: 1_500, CacheWrite5m: 3_000}, 0.05775},
		{"D7 fields that are missing are 0", sonnet, Usage{Output: 1}, 0.000015},
		{"a write for an hour on top of one for five minutes", sonnet, Usage{CacheWrite5m: m, CacheWrite1h: m}, 9.75},
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

// The table may price a model under several spellings, but then at one price: Lookup makes no difference between them.
func TestOneModelHasOnePrice(t *testing.T) {
	byKey := map[string]*Row{}
	for _, r := range Default().Rows() {
		other := byKey[key(r.ID)]
		byKey[key(r.ID)] = r
		if other != nil && (other.Rate != r.Rate || !slices.Equal(other.Tiers, r.Tiers)) {
			t.Errorf("%s and %s: %+v, %+v", other.ID, r.ID, other, r)
		}
		if found, _ := Default().Lookup(r.ID); found.Rate != r.Rate {
			t.Errorf("%s is found as %+v", r.ID, found)
		}
	}
}

func TestSmallCostsAddUp(t *testing.T) {
	haiku, _ := Default().Lookup("claude-haiku-5-5")
	var usd float64
	for range 1000 {
		usd += haiku.Cost(Usage{Input: 1})
	}
	if math.Abs(usd-0.0001) > 1e-12 {
		t.Errorf("1000 tokens at 0.10 a million cost %v", usd)
	}
}

// ownFile writes prices of one's own.
func ownFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "prices.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOwnPrices(t *testing.T) {
	path := ownFile(t, "\ufeff"+`{"models":{
		"my-model":                    {"input":1,"output":2},
		"free":                        {"input":0,"output":0},
		"Claude-Opus-5":               {"input":7,"output":8,"cache_read":0.5,"cache_write_5m":9,"cache_write_1h":10},
		"claude-opus-4-8-20260801":    {"input":6,"output":7},
		"claude-haiku-4-5":            {"input":2,"output":3},
		"claude-opus-5-5":             {"input":2,"output":10},
		"us.anthropic.claude-fable-5": {"input":12,"output":60},
		"my-gateway/large":            {"input":3,"output":4},
		"claude-haiku-5-5":            {"input":1,"output":2},
		"tiered": {"input":1,"output":2,"tiers":[{"above":200,"input":3,"output":4},{"above":100,"input":2,"output":3,"cache_read":0}]}}}`)
	tab, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ids    string
		prompt int64
		want   Rate
	}{
		{"my-model MY-MODEL[1m] some-gateway/my-model", 0, Rate{1, 2, 0.1, 1.25, 2}},
		{"free", 0, Rate{}},
		// A row is for the model, however its id is spelled.
		{"claude-opus-5 claude-opus-5[1m] claude-opus-5-20270101 anthropic/claude-opus-5", 0, Rate{7, 8, 0.5, 9, 10}},
		{"claude-opus-4-8 claude-opus-4-8-20260801", 0, Rate{6, 7, 0.6, 7.5, 12}},
		{"claude-haiku-4-5 claude-haiku-4-5-20251001", 0, Rate{2, 3, 0.2, 2.5, 4}},
		// What is left out has the list price's proportion: this model's reads cost a twentieth.
		{"claude-opus-5-5", 0, Rate{2, 10, 0.1, 2.5, 4}},
		// A region's row is for that region, and a model's for the regions that have none.
		{"us.anthropic.claude-fable-5 us.anthropic.claude-fable-5-v1:0", 0, Rate{12, 60, 1.2, 15, 24}},
		{"claude-fable-5 claude-fable-5-20261001 global.anthropic.claude-fable-5", 0, Rate{10, 50, 1, 12.5, 20}},
		{"us.anthropic.claude-opus-5", 0, Rate{5.5, 27.5, 0.55, 6.875, 11}},
		{"mars.anthropic.claude-opus-5", 0, Rate{7, 8, 0.5, 9, 10}},
		{"my-gateway/large My-Gateway/Large[1m]", 0, Rate{3, 4, 0.3, 3.75, 6}},
		// A row is whole: without tiers there are none.
		{"claude-haiku-5-5", 100_001, Rate{1, 2, 0.1, 1.25, 2}},
		{"tiered", 100, Rate{1, 2, 0.1, 1.25, 2}},
		{"tiered", 101, Rate{2, 3, 0, 2.5, 4}},
		{"tiered", 201, Rate{3, 4, 0.3, 3.75, 6}},
		{"claude-sonnet-5", 0, Rate{2, 10, 0.2, 2.5, 4}},
	} {
		for _, id := range strings.Fields(c.ids) {
			if r, ok := tab.Lookup(id); !ok || !same(r.At(c.prompt), c.want) {
				t.Errorf("%s at %d: %+v, want %+v", id, c.prompt, r, c.want)
			}
		}
	}
	for _, id := range []string{"large", "other-gateway/large", "my-gateway/small"} {
		if r, ok := tab.Lookup(id); ok {
			t.Errorf("%s costs %+v", id, r)
		}
	}
	for _, id := range []string{"my-model", "claude-haiku-4-5-20251001"} {
		if r, _ := tab.Lookup(id); r.Source != path || len(r.Date) != len("2026-11-30") {
			t.Errorf("%+v", r)
		}
	}
	// The operator's rows stand for those of the list, not beside them.
	for _, r := range tab.Rows() {
		if found, _ := tab.Lookup(r.ID); found.Rate != r.Rate || r.ID == "claude-haiku-4-5-20251001" {
			t.Errorf("%+v is listed, and %+v found", r, found)
		}
	}
}

func TestNoOwnPrices(t *testing.T) {
	for name, path := range map[string]string{
		"D7 no file":                     filepath.Join(t.TempDir(), "prices.json"),
		"no models":                      ownFile(t, `{"models":{}}`),
		"no key":                         ownFile(t, `{}`),
		"no folder":                      filepath.Join(t.TempDir(), "a", "b", "prices.json"),
		"a file where a folder would be": filepath.Join(ownFile(t, `{}`), "prices.json"),
	} {
		if tab, err := Load(path); err != nil || !slices.EqualFunc(tab.Rows(), Default().Rows(), func(a, b *Row) bool { return a.ID == b.ID && a.Rate == b.Rate }) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
}

// D7: what is wrong with a file is said with its place.
func TestBadOwnPrices(t *testing.T) {
	for text, want := range map[string]string{
		``:                      "empty document",
		`x`:                     "byte 0",
		`{"models":{}} x`:       "byte 14",
		`{"models":{}}]`:        "byte 13",
		`[]`:                    "the file is no object",
		`{"model":{}}`:          `unknown key "model"`,
		`{"Models":{}}`:         `unknown key "Models"`,
		`{"models":[]}`:         "models is no object",
		`{"models":{"a":5}}`:    `model "a" is no object`,
		`{"models":{"a":null}}`: `model "a" is no object`,
		`{"models":{" ":{"input":1,"output":1}}}`:                                                                             `" " names no model`,
		`{"models":{"us.anthropic.":{"input":1,"output":1}}}`:                                                                 `"us.anthropic." names no model`,
		`{"models":{"a":{"input":1}}}`:                                                                                        `model "a": input and output are needed, in US dollars per million tokens`,
		`{"models":{"a":{"output":1}}}`:                                                                                       `model "a": input and output are needed`,
		`{"models":{"a":{"input":-1,"output":1}}}`:                                                                            `model "a": input is -1, not`,
		`{"models":{"a":{"input":"1","output":1}}}`:                                                                           `model "a": input is "1", not`,
		`{"models":{"a":{"input":1,"output":null}}}`:                                                                          `model "a": output is null, not`,
		`{"models":{"a":{"input":1,"output":1e999}}}`:                                                                         `model "a": output is 1e999, not`,
		`{"models":{"a":{"input":1,"output":1,"outptu":2}}}`:                                                                  `model "a": unknown key "outptu"`,
		`{"models":{"a":{"INPUT":1,"output":1}}}`:                                                                             `model "a": unknown key "INPUT"`,
		`{"models":{"a":{"input":1,"input":2,"output":1}}}`:                                                                   `model "a" has the key "input" twice`,
		`{"models":{"a":{"input":1,"output":1},"a":{"input":2,"output":1}}}`:                                                  `models has the key "a" twice`,
		`{"models":{"claude-a":{"input":1,"output":1},"claude-a-20270101":{"input":2,"output":1}}}`:                           `"claude-a" and "claude-a-20270101" are the same model`,
		`{"models":{"a":{"input":1,"output":1,"tiers":{}}}}`:                                                                  `model "a": tiers has to be a list`,
		`{"models":{"a":{"input":1,"output":1,"tiers":[5]}}}`:                                                                 `model "a": tier is no object`,
		`{"models":{"a":{"input":1,"output":1,"tiers":[{"above":0,"input":1,"output":1}]}}}`:                                  `model "a": tier: above is 0, not`,
		`{"models":{"a":{"input":1,"output":1,"tiers":[{"above":1.5,"input":1,"output":1}]}}}`:                                `model "a": tier: above is 1.5, not`,
		`{"models":{"a":{"input":1,"output":1,"tiers":[{"input":1,"output":1}]}}}`:                                            `model "a": tier: above is needed`,
		`{"models":{"a":{"input":1,"output":1,"tiers":[{"above":5,"input":1}]}}}`:                                             `model "a": tier: input and output are needed`,
		`{"models":{"a":{"input":1,"output":1,"tiers":[{"above":5,"tiers":[]}]}}}`:                                            `model "a": tier: unknown key "tiers"`,
		`{"models":{"a":{"input":1,"output":1,"tiers":[{"above":5,"input":1,"output":1},{"above":5,"input":2,"output":2}]}}}`: `model "a": two tiers above 5`,
	} {
		path := ownFile(t, text)
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := Load(ownFile(t, strings.Repeat(" ", maxFile+1))); err == nil || !strings.Contains(err.Error(), "larger than allowed") {
		t.Errorf("a gigantic file: %v", err)
	}
}

func BenchmarkLookupAndCost(b *testing.B) {
	tab := Default()
	for b.Loop() {
		r, _ := tab.Lookup("claude-haiku-4-5-20251001")
		r.Cost(Usage{Input: 3, Output: 200, CacheRead: 90_000, CacheWrite5m: 1_000})
	}
}
