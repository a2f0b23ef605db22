package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"plimsoll/internal/model/price"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a)) }

// response is a whole row with an id and a time.
func response(id, session, model, at, usage, more string) string {
	return fmt.Sprintf(`{"type":"assistant","sessionId":%q,"timestamp":%q%s,"message":{"id":%q,"model":%q,"usage":%s}}`+"\n", session, at, more, id, model, usage)
}

const usage1 = `{"input_tokens":100,"output_tokens":20,"cache_read_input_tokens":3000,"cache_creation_input_tokens":500,"cache_creation":{"ephemeral_5m_input_tokens":200,"ephemeral_1h_input_tokens":300}}`

func TestTotals(t *testing.T) {
	for _, c := range []struct{ n, rows, want string }{
		{"one", response("m1", "s", "claude-opus-5", "2026-11-30T10:00:00.000Z", usage1, ""), "1 100 20 3000 200 300 0"},
		{"E6 one response in three rows", strings.Repeat(response("m1", "s", "claude-opus-5", "2026-11-30T10:00:00.000Z", usage1, ""), 3), "1 100 20 3000 200 300 0"},
		{"E21 the largest output", response("m1", "s", "claude-opus-5", "2026-11-30T10:00:00.000Z", `{"input_tokens":5,"output_tokens":1}`, "") +
			response("m1", "s", "claude-opus-5", "2026-11-30T10:00:01.000Z", `{"input_tokens":5,"output_tokens":90}`, "") +
			response("m1", "s", "claude-opus-5", "2026-11-30T10:00:02.000Z", `{"input_tokens":5,"output_tokens":4}`, ""), "1 5 90 0 0 0 0"},
		{"K24 a synthetic row", response("m1", "s", "<synthetic>", "2026-11-30T10:00:00.000Z", `{"input_tokens":0,"output_tokens":0}`, ""), "0 0 0 0 0 0 0"},
		{"K12 an unknown model", response("m1", "s", "gpt-fake", "2026-11-30T10:00:00.000Z", usage1, ""), "1 100 20 3000 200 300 3620"},
		{"F81 without a split all is written for five minutes", response("m1", "s", "claude-opus-5", "2026-11-30T10:00:00.000Z", `{"input_tokens":1,"cache_creation_input_tokens":70}`, ""), "1 1 0 0 70 0 0"},
		{"the fast mode has other prices", response("m1", "s", "claude-opus-5", "2026-11-30T10:00:00.000Z", `{"input_tokens":7,"output_tokens":3,"speed":"fast"}`, ""), "1 7 3 0 0 0 10"},
		{"a gateway that tells no prompt", response("m1", "s", "claude-opus-5", "2026-11-30T10:00:00.000Z", `{"output_tokens":7}`, ""), "1 0 7 0 0 0 0"},
		{"a response that used nothing", response("m1", "s", "claude-opus-5", "2026-11-30T10:00:00.000Z", `{"input_tokens":0,"output_tokens":0}`, ""), "0 0 0 0 0 0 0"},
		{"nor a sub-agent's", response("m1", "s", "claude-opus-5", "2026-11-30T10:00:00.000Z", `{"input_tokens":0,"output_tokens":0}`, `,"isSidechain":true`), "0 0 0 0 0 0 0"},
		{"without a model it has the one before", response("m1", "s", "claude-opus-5", "2026-11-30T10:00:00.000Z", `{"input_tokens":7}`, "") +
			strings.Replace(response("m2", "s", "x", "2026-11-30T10:00:01.000Z", `{"input_tokens":7}`, ""), `"model":"x",`, "", 1), "2 14 0 0 0 0 0"},
		{"E18 a dated id", response("m1", "s", "claude-haiku-4-5-20251001", "2026-11-30T10:00:00.000Z", `{"input_tokens":7}`, ""), "1 7 0 0 0 0 0"},
	} {
		d := reportOf(t, map[string]string{"s": c.rows}, nil)
		x := d.Totals
		if got := fmt.Sprint(x.Responses, x.InputTokens, x.OutputTokens, x.CacheReadTokens, x.CacheWrite5m, x.CacheWrite1h, x.UnpricedTokens); got != c.want {
			t.Errorf("%s: %s, want %s", c.n, got, c.want)
		}
		if (x.UnpricedTokens > 0) != (len(d.Unpriced) > 0) {
			t.Errorf("%s: %d tokens have no price, %v", c.n, x.UnpricedTokens, d.Unpriced)
		}
		if d.Files.Responses != x.Responses {
			t.Errorf("%s: %d responses at the top", c.n, d.Files.Responses)
		}
	}
}

// K11, and one more with an hour's writes, by hand in US dollars per million tokens.
func TestCost(t *testing.T) {
	for _, c := range []struct {
		n, model, usage string
		want            float64
	}{
		{"K11 opus", "claude-opus-5", `{"input_tokens":10000,"output_tokens":2000,"cache_read_input_tokens":5000}`, 0.1025},
		{"K11 sonnet 4.6 at 3 and 15", "claude-sonnet-4-6", `{"input_tokens":8000,"output_tokens":1500,"cache_creation_input_tokens":3000}`, 0.05775},
		{"an hour's writes cost twice the input", "claude-opus-5", `{"cache_creation_input_tokens":1000000,"cache_creation":{"ephemeral_1h_input_tokens":1000000}}`, 10},
	} {
		d := reportOf(t, map[string]string{"s": response("m", "s", c.model, "2026-11-30T10:00:00.000Z", c.usage, "")}, nil)
		if !near(d.Totals.CostUSD, c.want) {
			t.Errorf("%s: %v, want %v", c.n, d.Totals.CostUSD, c.want)
		}
	}
	// Amounts far below a cent are not lost.
	var many strings.Builder
	for i := range 1000 {
		many.WriteString(response(fmt.Sprint("m", i), "s", "claude-haiku-4-5", "2026-11-30T10:00:00.000Z", `{"input_tokens":1}`, ""))
	}
	if d := reportOf(t, map[string]string{"s": many.String()}, nil); !near(d.Totals.CostUSD, 0.001) {
		t.Errorf("a thousand tokens at a dollar a million: %v", d.Totals.CostUSD)
	}
}

// Everything adds up to the totals, whatever it is grouped by.
func TestGroupsAddUp(t *testing.T) {
	d := reportOf(t, mixed(), nil)
	sums := map[string]Totals{}
	add := func(group string, x Totals) {
		s := sums[group]
		s.Responses += x.Responses
		s.InputTokens += x.InputTokens
		s.OutputTokens += x.OutputTokens
		s.CacheReadTokens += x.CacheReadTokens
		s.CacheWrite5m += x.CacheWrite5m
		s.CacheWrite1h += x.CacheWrite1h
		s.CostUSD += x.CostUSD
		s.UnpricedTokens += x.UnpricedTokens
		sums[group] = s
	}
	for _, x := range d.ByModel {
		add("model", x.Totals)
	}
	for _, x := range d.ByDay {
		add("day", x.Totals)
	}
	var main Totals
	for _, x := range d.ByThread {
		add("thread", x.Totals)
		if x.Thread == MainThread {
			main = x.Totals
		}
	}
	for _, x := range d.BySession {
		add("session", x.Totals)
	}
	share := 0.0
	for _, x := range d.Bands {
		add("bands", x.Totals)
		if x.CostShare != nil {
			share += *x.CostShare
		}
	}
	for group, s := range sums {
		want := *d.Totals
		if group == "bands" {
			want = main
		}
		if !near(s.CostUSD, want.CostUSD) {
			t.Errorf("by %s: %v dollars, want %v", group, s.CostUSD, want.CostUSD)
		}
		s.CostUSD = want.CostUSD
		if s != want {
			t.Errorf("by %s: %+v, want %+v", group, s, want)
		}
	}
	if len(d.ByModel) < 3 || len(d.ByDay) < 2 || len(d.ByThread) < 3 || len(d.BySession) < 2 || share < 99.5 || share > 100.5 {
		t.Errorf("too plain a history: %d models, %d days, %d threads, %d sessions, shares of %v", len(d.ByModel), len(d.ByDay), len(d.ByThread), len(d.BySession), share)
	}
}

// mixed is a history with models, days, sub-agents and occupancies of all kinds.
func mixed() map[string]string {
	var one, two, agent, other strings.Builder
	for i := range 40 {
		at := time.Date(2026, 11, 28+i/20, 1+i%20, 7, 0, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
		model := []string{"claude-opus-5", "claude-sonnet-4-6", "claude-haiku-4-5", "gpt-fake"}[i%4]
		one.WriteString(response(fmt.Sprint("a", i), "one", model, at, fmt.Sprintf(`{"input_tokens":%d,"output_tokens":%d,"cache_read_input_tokens":%d}`, i, 2*i, 26_000*i), ""))
		one.WriteString(response(fmt.Sprint("e", i), "one", "claude-opus-5", at, `{"output_tokens":7}`, "")) // a gateway that tells no prompt
		two.WriteString(response(fmt.Sprint("b", i), "two", "claude-opus-5", at, usage1, ""))
		agent.WriteString(response(fmt.Sprint("c", i), "two", "claude-haiku-4-5", at, usage1, `,"isSidechain":true,"agentId":"x"`+[]string{"", `,"attributionAgent":"Explore"`}[i%2]))
		other.WriteString(response(fmt.Sprint("d", i), "two", "claude-haiku-4-5", at, usage1, `,"isSidechain":true`))
	}
	return map[string]string{"one": one.String(), "two": two.String(), "two/subagents/agent-x": agent.String(), "two/subagents/agent-y": other.String()}
}

func TestThreads(t *testing.T) {
	const at = "2026-11-30T10:00:00.000Z"
	threads := func(files map[string]string) string {
		var out []string
		d := reportOf(t, files, nil)
		for _, x := range d.ByThread {
			out = append(out, fmt.Sprintf("%s %d", x.Thread, x.InputTokens))
		}
		slices.Sort(out)
		return strings.Join(out, ", ")
	}
	u := `{"input_tokens":1000}`
	sub := func(id, more string) string {
		return response(id, "s", "claude-opus-5", at, u, `,"isSidechain":true`+more)
	}
	call := `{"type":"assistant","sessionId":"s","message":{"id":"m0","model":"claude-opus-5","usage":` + u + `,"content":[{"type":"tool_use","id":"toolu_1","name":"Task","input":{"subagent_type":"security-review","prompt":"p"}}]}}` + "\n"
	made := `{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"done"}]},"toolUseResult":{"agentId":"a1","usage":{"input_tokens":999}}}` + "\n"
	for _, c := range []struct {
		n     string
		files map[string]string
		want  string
	}{
		{"K8 no sub-agent", map[string]string{"s": response("m", "s", "claude-opus-5", at, u, "")}, "main 1000"},
		{"K4 the row says it", map[string]string{"s": response("m", "s", "claude-opus-5", at, u, "") + sub("m2", `,"attributionAgent":"tester","agentId":"a1"`)}, "main 1000, tester 1000"},
		{"K5 the call says it", map[string]string{"s": call + made + sub("m2", `,"agentId":"a1"`)}, "main 1000, security-review 1000"},
		{"K5 in any order", map[string]string{"s": sub("m2", `,"agentId":"a1"`) + made + call}, "main 1000, security-review 1000"},
		{"K9 a file of its own", map[string]string{"s": call + made, "s/subagents/agent-a1": sub("m2", `,"agentId":"a1"`)}, "main 1000, security-review 1000"},
		{"the file beside it says it", map[string]string{"s/subagents/agent-a1": sub("m2", `,"agentId":"a1"`), "s/subagents/agent-a1.meta.json": `{"agentType":"Explore"}`}, "Explore 1000"},
		{"K6 nothing says it", map[string]string{"s": sub("m2", "")}, "unattributed 1000"},
		{"F80 usage in a result is nobody's", map[string]string{"s": made + call}, "main 1000"},
	} {
		if got := threads(c.files); got != c.want {
			t.Errorf("%s: %s; want %s", c.n, got, c.want)
		}
	}
}

func TestBands(t *testing.T) {
	rows := rowsOf(a(99_999), a(100_000), a(150_000), a(899_999), a(900_000), a(2_000_000), side(a(500_000)))
	d := reportOf(t, map[string]string{"s": rows}, nil)
	var got []string
	for _, b := range d.Bands {
		got = append(got, fmt.Sprintf("%d-%d:%d", b.FromTokens/1000, b.ToTokens/1000, b.Responses))
	}
	if want := "0-100:1 100-200:2 200-300:0 300-400:0 400-500:0 500-600:0 600-700:0 700-800:0 800-900:1 900-0:2"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	last := d.Bands[9]
	if last.CostPerTurn == nil || !near(*last.CostPerTurn, last.CostUSD/2) || d.Bands[3].CostPerTurn != nil || last.Sessions != 1 {
		t.Errorf("%+v", last)
	}
}

// What has no price is in no cost per turn, and is named; models and threads are in the order of their cost.
func TestUnpricedTurnsAndOrder(t *testing.T) {
	at := func(i int) string { return fmt.Sprintf("2026-11-30T10:00:%02d.000Z", i) }
	rows := response("m1", "s", "claude-haiku-4-5", at(1), `{"input_tokens":1000}`, "") + response("m2", "s", "claude-opus-5", at(2), `{"input_tokens":1000}`, "") +
		response("m3", "s", "claude-opus-5", at(3), `{"input_tokens":3000,"output_tokens":4,"speed":"fast"}`, "") + response("m4", "s", "unheard-of", at(4), `{"input_tokens":5}`, "") +
		response("m5", "s", "claude-opus-5", at(5), `{"input_tokens":9000}`, `,"isSidechain":true,"attributionAgent":"Plan"`)
	d := reportOf(t, map[string]string{"s": rows}, nil)
	if b := d.Bands[0]; b.Responses != 4 || b.CostPerTurn == nil || !near(*b.CostPerTurn, 0.003) || !near(b.CostUSD, 0.006) || b.UnpricedTokens != 3009 {
		t.Errorf("%+v, %v a turn", b, say(b.CostPerTurn))
	}
	if got := fmt.Sprint(d.Unpriced); got != "[{claude-opus-5 (fast mode) 3004} {unheard-of 5}]" {
		t.Errorf("unpriced: %s", got)
	}
	if got := d.ByModel[0].Model + " " + d.ByModel[1].Model + " " + d.ByModel[2].Model; got != "claude-opus-5 claude-haiku-4-5 unheard-of" {
		t.Errorf("models: %s", got)
	}
	if got := d.ByThread[0].Thread + " " + d.ByThread[1].Thread; got != "Plan main" {
		t.Errorf("threads: %s", got)
	}
	if !near(d.Sessions[0].CostUSD, 0.006) || !near(d.BySession[0].CostUSD, 0.051) {
		t.Errorf("the main thread cost %v, the session %v", d.Sessions[0].CostUSD, d.BySession[0].CostUSD)
	}
}

func TestSumLosesNothing(t *testing.T) {
	for _, list := range [][]float64{{1, 1e100, 1, -1e100}, {1e100, 1, -1e100, 1}} {
		var s sum
		for _, x := range list {
			s.add(x)
		}
		if s.total() != 2 {
			t.Errorf("%v: %v", list, s.total())
		}
	}
}

func TestDaysAreLocal(t *testing.T) {
	for _, c := range []struct{ zone, first, second, want string }{
		{"UTC", "2026-11-29T23:30:00.000Z", "2026-11-30T00:00:00.000Z", "2026-11-29 2026-11-30"},
		{"Europe/Berlin", "2026-11-29T23:30:00.000Z", "2026-11-30T18:44:00.000Z", "2026-11-30"},
		{"Asia/Kathmandu", "2026-11-30T18:14:59.999Z", "2026-11-30T18:15:00.000Z", "2026-11-30 2026-12-01"}, // 5:45 before UTC
		{"America/New_York", "2026-11-01T03:59:00.000Z", "2026-11-01T05:30:00.000Z", "2026-10-31 2026-11-01"},
	} {
		loc, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		rows := response("m1", "s", "claude-opus-5", c.first, usage1, "") + response("m2", "s", "claude-opus-5", c.second, usage1, "")
		var days []string
		d := reportOf(t, map[string]string{"s": rows}, func(o *Options) { o.Location = loc })
		for _, x := range d.ByDay {
			days = append(days, x.Day)
		}
		if d.Range.Days != len(days) || d.Range.From[:10] != days[0] || d.Range.To[:10] != days[len(days)-1] {
			t.Errorf("%s: %+v, want %s", c.zone, d.Range, c.want)
		}
		if got := strings.Join(days, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.zone, got, c.want)
		}
	}
}

func TestRange(t *testing.T) {
	files := map[string]string{"s": response("m1", "s", "claude-opus-5", "2026-11-01T10:00:00.000Z", usage1, "") + response("m2", "s", "claude-opus-5", "2026-11-20T10:00:00.000Z", usage1, "") + rowsOf(a(70)),
		"t": strings.Replace(response("m3", "t", "claude-opus-5", "2026-11-20T09:00:00.000Z", usage1, `,"isSidechain":true`)+response("m4", "t", "claude-opus-5", "", usage1, `,"isSidechain":true`), `"timestamp":"",`, "", 1)}
	d := reportOf(t, files, nil)
	if d.Range.From != "2026-11-01T10:00:00Z" || d.Range.To != "2026-11-20T10:00:00Z" || d.Range.Days != 20 || d.Totals.Responses != 5 {
		t.Errorf("%+v", d.Range)
	}
	if !strings.Contains(d.Range.Note, "after 30 days") {
		t.Errorf("the oldest response is 30 days old, and nothing is said of the deletion: %q", d.Range.Note)
	}
	day := func(d int) time.Time { return time.Date(2026, 11, d, 0, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		since, until time.Time
		want         int
	}{
		{day(2), time.Time{}, 2}, {time.Time{}, day(2), 1}, {day(1), day(21), 3}, {day(5), day(6), 0},
		{time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC), time.Time{}, 3}, {time.Time{}, time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC), 0},
	} {
		d := reportOf(t, files, func(o *Options) { o.Since, o.Until = c.since, c.until })
		if d.Totals.Responses != c.want {
			t.Errorf("%v to %v: %d responses, want %d", c.since, c.until, d.Totals.Responses, c.want)
		}
	}
}

// The deletion is told of where the history begins at its end, give or take some days, and only there.
func TestKeptNote(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		age, kept int // days
		since     int // days ago; 0: none
		want      bool
	}{
		{30, 30, 0, true}, {27, 30, 0, true}, {31, 30, 0, true}, {26, 30, 0, false}, {32, 30, 0, false}, {100, 30, 0, false}, {2, 30, 0, false},
		{30, 365, 0, false}, {365, 365, 0, true}, {0, 0, 0, false},
		{30, 30, 90, true},   // nothing is left that far back
		{100, 30, 30, false}, // it is, and was left out
		{30, 30, 10, false},  // nobody asked for what is missing
	} {
		rows := ""
		for i, age := range []int{c.age, min(c.age, 30), min(c.age, 5)} {
			rows += response(fmt.Sprint("m", i), "s", "claude-opus-5", now.AddDate(0, 0, -age).Format(time.RFC3339), usage1, "")
		}
		d := reportOf(t, map[string]string{"s": rows}, func(o *Options) {
			if o.KeptDays = c.kept; c.since > 0 {
				o.Since = now.AddDate(0, 0, -c.since)
			}
		})
		if (d.Range.Note != "") != c.want || c.want && !strings.Contains(d.Range.Note, fmt.Sprintf("after %d days", c.kept)) {
			t.Errorf("%+v: %q", c, d.Range.Note)
		}
	}
}

func TestClientCost(t *testing.T) {
	state := func(usd string) string {
		return `{"type":"cost-state","sessionId":"s","totalCostUSD":` + usd + `}` + "\n"
	}
	files := map[string]string{"s": state("0.1") + response("m1", "s", "claude-opus-5", "2026-11-01T10:00:00.000Z", `{"input_tokens":100000}`, "") + state("0.75") + state("0.6")}
	d := reportOf(t, files, nil)
	if len(d.Client) != 1 || d.Client[0].ClientUSD != 0.75 || !near(d.Client[0].CostUSD, 0.5) || !near(d.Client[0].DifferenceUSD, 0.25) {
		t.Errorf("%+v", d.Client)
	}
	// A session of which nothing but the sum is left is no session of any other list.
	alone := reportOf(t, map[string]string{"s": state("0.25")}, nil)
	if len(alone.Client) != 1 || alone.Client[0] != (ClientCost{"s", 0.25, 0, 0.25}) || len(alone.BySession)+len(alone.Sessions) != 0 {
		t.Errorf("the sum alone: %+v", alone)
	}
	// The client's sum is of the whole session, so it stands beside no part of it.
	d = reportOf(t, files, func(o *Options) { o.Since = time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC) })
	if len(d.Client) != 0 {
		t.Errorf("with a bound: %+v", d.Client)
	}
}

func TestUnknownModelIsNeverGuessed(t *testing.T) {
	if _, ok := price.Default().Lookup("claude-opus-99"); ok {
		t.Error("a model that nobody knows has a price")
	}
	d := reportOf(t, map[string]string{"s": response("m1", "s", "claude-opus-99", "2026-11-01T10:00:00.000Z", usage1, "")}, nil)
	if d.Totals.CostUSD != 0 || len(d.Unpriced) != 1 || d.Unpriced[0] != (ModelTokens{"claude-opus-99", 3620}) {
		t.Errorf("%v, %+v", d.Totals.CostUSD, d.Unpriced)
	}
}
