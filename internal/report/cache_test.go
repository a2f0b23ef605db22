package report

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// cached is a response whose context is read and written so.
func cached(id, model string, minute float64, read, short, long int64, more string) string {
	at := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC).Add(time.Duration(minute * float64(time.Minute))).Format("2006-01-02T15:04:05.000Z")
	usage := fmt.Sprintf(`{"input_tokens":10,"output_tokens":1,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d,"cache_creation":{"ephemeral_5m_input_tokens":%d,"ephemeral_1h_input_tokens":%d}}`, read, short+long, short, long)
	return response(id, "s", model, at, usage, more)
}

func TestCacheCauses(t *testing.T) {
	const opus, sonnet = "claude-opus-5", "claude-sonnet-4-6"
	first := cached("a", opus, 0, 90_000, 10_000, 0, "")
	miss := func(minute float64) string { return cached("b", opus, minute, 20_000, 80_000, 0, "") }
	boundary := func(more string) string {
		return `{"type":"system","subtype":"compact_boundary","sessionId":"s","uuid":"u","timestamp":"2026-11-30T10:01:00.000Z"` + more + `}` + "\n"
	}
	resume := `{"type":"progress","data":{"type":"hook_progress","hookEvent":"SessionStart","hookName":"SessionStart:resume"},"sessionId":"s","timestamp":"2026-11-30T10:01:00.000Z"}` + "\n"
	for _, c := range []struct{ n, rows, cause string }{
		{"all is read", first + cached("b", opus, 1, 100_000, 500, 0, ""), ""},
		{"the last blocks are always written anew", first + cached("b", opus, 1, 98_500, 2_000, 0, ""), ""},
		{"a twentieth is no miss", first + cached("b", opus, 1, 95_100, 30_000, 0, ""), ""},
		{"a miss at once", first + miss(1), CauseUnder5},
		{"a miss after four minutes", first + miss(4.9), CauseUnder5},
		{"five minutes", first + miss(5), CauseOver5},
		{"an hour", first + miss(60), CauseOver5},
		{"over an hour", first + miss(60.1), CauseOver60},
		{"compacted", first + boundary("") + miss(2), CauseCompaction},
		{"F89 compacted earlier", boundary(`,"x":1`) + strings.ReplaceAll(first, "T10:00", "T10:02") + miss(3), CauseUnder5},
		{"another model", first + cached("b", sonnet, 2, 20_000, 80_000, 0, ""), CauseModel},
		{"another model after an hour", first + cached("b", sonnet, 70, 20_000, 80_000, 0, ""), CauseModel},
		{"resumed by a hook's row", first + resume + miss(2), CauseResume},
		{"resumed after an hour: nothing could be left", first + resume + miss(70), CauseOver60},
		{"resumed with another client", cached("a", opus, 0, 90_000, 10_000, 0, `,"version":"2.1.310"`) + cached("b", opus, 2, 20_000, 80_000, 0, `,"version":"2.1.332"`), CauseResume},
		{"no times", strings.ReplaceAll(first+miss(2), "timestamp", "when"), CauseUnknown},
		{"compacted later", first + miss(0.5) + boundary(""), CauseUnder5},
		{"resumed earlier", resume + strings.ReplaceAll(first, "T10:00", "T10:02") + miss(3), CauseUnder5},
		{"resumed later", first + miss(0.5) + resume, CauseUnder5},
		{"the client's version is not known", cached("a", opus, 0, 90_000, 10_000, 0, `,"version":"2.1.310"`) + miss(2), CauseUnder5},
		{"nor was it before", first + cached("b", opus, 2, 20_000, 80_000, 0, `,"version":"2.1.310"`), CauseUnder5},
		{"the first has no time", strings.ReplaceAll(first, "timestamp", "when") + miss(2), CauseUnknown},
		{"another model, and no times", strings.ReplaceAll(first+cached("b", sonnet, 2, 20_000, 80_000, 0, ""), "timestamp", "when"), CauseModel},
		{"the main thread's compaction is none of a sub-agent's", strings.ReplaceAll(first+miss(2), `"sessionId"`, `"isSidechain":true,"agentId":"x","sessionId"`) + boundary(""), CauseUnder5},
		{"nor is its resumption", strings.ReplaceAll(first+miss(2), `"sessionId"`, `"isSidechain":true,"agentId":"x","sessionId"`) + resume, CauseUnder5},
		{"compacted and another model", first + boundary("") + cached("b", sonnet, 2, 20_000, 80_000, 0, ""), CauseCompaction},
		{"compacted an hour before", first + boundary("") + miss(90), CauseCompaction},
		{"resumed after six minutes", first + resume + miss(6), CauseResume},
		{"resumed with another model", first + resume + cached("b", sonnet, 2, 20_000, 80_000, 0, ""), CauseModel},
		{"a sub-agent's own", strings.ReplaceAll(first+miss(1), `"sessionId"`, `"isSidechain":true,"agentId":"x","sessionId"`), CauseUnder5},
		{"two sub-agents are two contexts", strings.ReplaceAll(first, `"sessionId"`, `"isSidechain":true,"agentId":"x","sessionId"`) +
			strings.ReplaceAll(miss(1), `"sessionId"`, `"isSidechain":true,"agentId":"y","sessionId"`), ""},
		{"a sub-agent and the main thread too", first + strings.ReplaceAll(miss(1), `"sessionId"`, `"isSidechain":true,"agentId":"y","sessionId"`), ""},
		{"nothing was written", first + cached("b", opus, 1, 20_000, 0, 0, ""), ""},
	} {
		d := reportOf(t, map[string]string{"s": c.rows}, nil)
		got := ""
		for _, x := range d.Cache {
			if x.Misses > 0 {
				got += x.Cause
				if x.Misses != 1 || x.RewrittenTokens != 80_000 {
					t.Errorf("%s: %+v", c.n, x)
				}
			}
		}
		if got != c.cause {
			t.Errorf("%s: %q, want %q", c.n, got, c.cause)
		}
	}
}

// What is a miss, and how much of it was written again.
func TestMisses(t *testing.T) {
	const opus = "claude-opus-5"
	first := cached("a", opus, 0, 90_000, 4_000, 6_000, "") // holds 100,000
	small := cached("a", opus, 0, 9_000, 1_000, 0, "")      // holds 10,000
	sub := func(agent, rows string) string {
		return strings.ReplaceAll(rows, `"sessionId"`, `"isSidechain":true,"agentId":"`+agent+`","sessionId"`)
	}
	for _, c := range []struct {
		n, rows   string
		rewritten int64
	}{
		{"5% are a miss", first + cached("b", opus, 1, 95_000, 20_000, 0, ""), 5_000},
		{"less is none", first + cached("b", opus, 1, 95_001, 20_000, 0, ""), 0},
		{"2,000 tokens are a miss", small + cached("b", opus, 1, 8_000, 20_000, 0, ""), 2_000},
		{"fewer are none", small + cached("b", opus, 1, 8_001, 20_000, 0, ""), 0},
		{"no more than was written", first + cached("b", opus, 1, 20_000, 30_000, 20_000, ""), 50_000},
		{"every response is held against the one before", first + cached("b", opus, 1, 0, 50_000, 0, "") + cached("c", opus, 2, 10_000, 60_000, 0, ""), 50_000 + 40_000},
		{"a response without a prompt is passed over", sub("x", first+response("e", "s", opus, "2026-11-30T10:00:30.000Z", `{"output_tokens":9}`, "")+cached("b", opus, 1, 0, 100_000, 0, "")), 100_000},
		{"sub-agents without an id are not told apart", strings.ReplaceAll(first+cached("b", opus, 1, 0, 100_000, 0, ""), `"sessionId"`, `"isSidechain":true,"sessionId"`), 0},
	} {
		d := reportOf(t, map[string]string{"s": c.rows}, nil)
		var got int64
		for _, x := range d.Cache {
			got += x.RewrittenTokens
		}
		if got != c.rewritten {
			t.Errorf("%s: %d tokens, want %d", c.n, got, c.rewritten)
		}
	}
}

// Only what was in the cache is written again; it costs what writing costs, five minutes' and an hour's in proportion,
// and nothing where the response has no price.
func TestRewrittenCost(t *testing.T) {
	const list = 100_000 * (0.75*6.25 + 0.25*10) / 1e6
	for _, c := range []struct {
		n, model, usage string
		want            float64
	}{
		{"at list price", "claude-opus-5", "", list},
		{"inference in the US alone", "claude-opus-5", `,"inference_geo":"us"`, 1.1 * list},
		{"the tier of the whole prompt", "claude-haiku-5-5", "", 100_000 * (0.75*0.625 + 0.25*1) / 1e6},
		{"the fast mode", "claude-opus-5", `,"speed":"fast"`, 0},
		{"a model without a price", "claude-opus-99", "", 0},
	} {
		again := strings.Replace(cached("b", c.model, 1, 0, 150_000, 50_000, ""), `"output_tokens":1`, `"output_tokens":1`+c.usage, 1)
		misses := 0
		for _, x := range reportOf(t, map[string]string{"s": cached("a", c.model, 0, 90_000, 10_000, 0, "") + again}, nil).Cache {
			if misses += x.Misses; x.Misses == 0 {
				continue
			}
			if x.RewrittenTokens != 100_000 || !near(x.CostUSD, c.want) {
				t.Errorf("%s: %+v, want %v dollars", c.n, x, c.want)
			}
		}
		if misses != 1 {
			t.Errorf("%s: %d misses", c.n, misses)
		}
	}
}

func TestHitRatioIsWeightedByTokens(t *testing.T) {
	rows := cached("a", "claude-opus-5", 0, 0, 990, 0, "") + cached("b", "claude-opus-5", 1, 990, 0, 0, "") +
		strings.ReplaceAll(cached("c", "claude-opus-5", 1, 7990, 0, 0, ""), `"sessionId"`, `"isSidechain":true,"sessionId"`)
	hit := reportOf(t, map[string]string{"s": rows}, nil).CacheHit
	if hit.ReadTokens != 8980 || hit.PromptTokens != 10_000 || hit.Ratio == nil || !near(*hit.Ratio, 0.898) {
		t.Errorf("%+v", hit)
	}
	if hit := reportOf(t, map[string]string{"s": rowsOf(row{})}, nil).CacheHit; hit.Ratio != nil {
		t.Errorf("of nothing: %v", *hit.Ratio)
	}
}
