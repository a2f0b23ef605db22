package promptcache

import (
	"strings"
	"testing"
	"time"
)

func TestCause(t *testing.T) {
	for _, c := range []struct{ n, in, want string }{
		{"names and counts", `{"prompt_cache":{"last_miss_cause":{"causes":["tools_changed","ttl_expired_5m"],"tools_removed":1,"tools_added":2,"system_char_delta":-30}}}`,
			"causes\ttools_changed,ttl_expired_5m\ntools_added\t2\ntools_removed\t1\nsystem_char_delta\t-30\n"},
		{"names alone", `{"prompt_cache":{"last_miss_cause":{"causes":["likely_server_side"]}}}`, "causes\tlikely_server_side\n"},
		{"no names", `{"prompt_cache":{"last_miss_cause":{"causes":[]}}}`, "causes\t\n"},
		{"null", `{"prompt_cache":{"last_miss_cause":null}}`, "last_miss_cause\tnull\n"},
		{"missing", `{"prompt_cache":{}}`, "last_miss_cause\tnull\n"},
		{"no object", `{"prompt_cache":"x"}`, "last_miss_cause\tabsent\n"},
		{"absent", `{}`, "last_miss_cause\tabsent\n"},
		{"hostile name", `{"prompt_cache":{"last_miss_cause":{"causes":["a\tb\n\u001b[31m"]}}}`, "causes\tab[31m\n"},
	} {
		got, err := Cause([]byte(c.in))
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.n, got, err, c.want)
		}
	}
	for n, in := range map[string]string{
		"not JSON": "x", "empty": "", "array": "[]", "cause a string": `{"prompt_cache":{"last_miss_cause":"x"}}`,
		"causes missing": `{"prompt_cache":{"last_miss_cause":{}}}`, "causes a string": `{"prompt_cache":{"last_miss_cause":{"causes":"x"}}}`,
		"causes of numbers": `{"prompt_cache":{"last_miss_cause":{"causes":[1]}}}`,
	} {
		if got, err := Cause([]byte(in)); err == nil {
			t.Errorf("%s: no error but %q", n, got)
		}
	}
}

func TestSegment(t *testing.T) {
	cache := func(members string) string {
		return `{"prompt_cache":{"caching_observed":true,` + members + `}}`
	}
	const expires = `"expires_at":1796085120` // 00:32 UTC
	for _, c := range []struct{ n, in, want string }{
		{"warm", cache(`"warm":true,"ttl":"1h",` + expires + `,"hit_ratio":0.912`), "cache ● warm until 00:32 (1h) · hit 91%"},
		{"cold", cache(`"warm":false,"recache_tokens_if_cold":82340,"hit_ratio":0.5`), "cache ○ cold · next message re-caches ~82k · hit 50%"},
		{"misses", cache(`"warm":true,"ttl":"5m",` + expires + `,"hit_ratio":0.8,"misses":2,"last_miss_cause":{"causes":["tools_changed","system_prompt_changed"]}`),
			"cache ● warm until 00:32 (5m) · hit 80% · misses 2 (last: tools_changed, system_prompt_changed)"},
		{"no cause", cache(`"warm":true,"ttl":"5m",` + expires + `,"hit_ratio":0.8,"misses":1,"last_miss_cause":null`), "cache ● warm until 00:32 (5m) · hit 80% · misses 1"},
		{"nulls", cache(`"warm":false,"recache_tokens_if_cold":null,"hit_ratio":null,"misses":null`), "cache ○ cold"},
		{"millions", cache(`"warm":false,"recache_tokens_if_cold":1250000`), "cache ○ cold · next message re-caches ~1.3M"},
		{"not observed", `{"prompt_cache":{"caching_observed":false,"warm":true}}`, "cache not reported"},
		{"no cache", `{}`, ""},
		{"not JSON", `x`, ""},
		{"a string", `{"prompt_cache":"x"}`, ""},
	} {
		if got := Segment([]byte(c.in), time.UTC, false); got != c.want {
			t.Errorf("%s: %q, want %q", c.n, got, c.want)
		}
	}
	if got := Segment([]byte(cache(`"warm":true`)), time.UTC, true); !strings.HasPrefix(got, "cache \x1b[32m●\x1b[0m warm") {
		t.Errorf("in colour: %q", got)
	}
}
