package report

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"plimsoll/internal/model/price"
)

func options() Options {
	return Options{
		Now: time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC), Location: time.UTC, Prices: price.Default(), Ceilings: DefaultCeilings(),
		NearDone: DefaultNearDone, KeptDays: 30, Section: SectionCost,
	}
}

// A document that is remembered says what it said, every section of it.
func TestRecall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index", "document")
	for _, section := range []Section{SectionCost, SectionCeilings, SectionCache, SectionSessions} {
		want := reportOf(t, mixed(), func(o *Options) { o.Section = section })
		Remember(path, "key", want)
		later := options()
		later.Now = later.Now.Add(time.Hour)
		got, ok := Recall(path, "key", later)
		if !ok || got.GeneratedAt != "2026-12-01T13:00:00Z" {
			t.Fatalf("%s: %v, %+v", section, ok, got)
		}
		got.GeneratedAt = want.GeneratedAt
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%+v\nwant\n%+v", section, got, want)
		}
		if _, ok := Recall(path, "another key", later); ok {
			t.Errorf("%s: another key finds it too", section)
		}
	}
	for _, text := range []string{"", "key\n", "key\n{}", "key\n{\"schema\":\"plimsoll-report/v0\"}", "key\nx", "key"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if d, ok := Recall(path, "key", options()); ok {
			t.Errorf("%q is recalled as %+v", text, d)
		}
	}
	if _, ok := Recall(filepath.Join(path, "below a file"), "key", options()); ok {
		t.Error("what is not there is recalled")
	}
}

// Whatever changes a figure changes the key.
func TestKey(t *testing.T) {
	keys := map[string]string{options().Key("f"): "nothing"}
	add := func(what, key string) {
		if other, again := keys[key]; again {
			t.Errorf("%s has the key of %s", what, other)
		}
		keys[key] = what
	}
	add("transcripts", options().Key("g"))
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(t.TempDir(), "prices.json")
	if err := os.WriteFile(own, []byte(`{"models":{"claude-opus-5":{"input":1,"output":2}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*Options){
		"section":          func(o *Options) { o.Section = SectionCache },
		"zone":             func(o *Options) { o.Location = berlin },
		"day":              func(o *Options) { o.Now = o.Now.Add(24 * time.Hour) },
		"since":            func(o *Options) { o.Since = o.Now },
		"until":            func(o *Options) { o.Until = o.Now },
		"percent":          func(o *Options) { o.Policy.Percent = 1 },
		"absolute":         func(o *Options) { o.Policy.Absolute = 1 },
		"window":           func(o *Options) { o.Policy.Override = 1 },
		"gated sub-agents": func(o *Options) { o.Policy.GateAgent = true },
		"recovery skills":  func(o *Options) { o.Recovery = []string{"park"} },
		"candidates":       func(o *Options) { o.Ceilings = []int64{1} },
		"near done":        func(o *Options) { o.NearDone = 1 },
		"kept days":        func(o *Options) { o.KeptDays = 1 },
		"prices": func(o *Options) {
			if o.Prices, err = price.Load(own); err != nil {
				t.Fatal(err)
			}
		},
	} {
		o := options()
		change(&o)
		add(what, o.Key("f"))
	}
	o := options()
	o.Now = o.Now.Add(time.Hour)
	if _, same := keys[o.Key("f")]; !same {
		t.Error("an hour later the key is another")
	}
}
