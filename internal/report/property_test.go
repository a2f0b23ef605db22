package report

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// randomHistory is rows of sessions with all that a report looks at: repeated and copied responses, calls, sub-agents,
// compactions, commands, restarts, the client's sums. Two responses of a session may come at the same moment.
func randomHistory(r *rand.Rand) map[string][]string {
	files := map[string][]string{}
	models := []string{"claude-opus-5", "claude-haiku-5-5", "claude-sonnet-4-6", "claude-haiku-4-5", "brand-new-9"}
	n := 0
	for s := range 2 + r.IntN(5) {
		session := fmt.Sprintf("s%d", s)
		at := time.Date(2026, 11, 1+r.IntN(20), r.IntN(24), r.IntN(60), 0, 0, time.UTC)
		occupancy, model := 20_000+r.Int64N(50_000), models[r.IntN(len(models))]
		add := func(file, format string, more ...any) {
			files[file] = append(files[file], fmt.Sprintf(format, more...))
		}
		for range r.IntN(60) {
			n++
			at = at.Add(time.Duration(r.IntN(6)*r.IntN(6)*r.IntN(200)) * time.Second)
			stamp := at.Format("2006-01-02T15:04:05.000Z")
			common := fmt.Sprintf(`"sessionId":%q,"timestamp":%q,"version":"2.1.%d"`, session, stamp, 300+n/40)
			switch r.IntN(12) {
			case 0:
				model = models[r.IntN(len(models))]
			case 1:
				add(session, `{"type":"system","subtype":"compact_boundary",%s,"uuid":"c%d","compactMetadata":{"trigger":"auto"}}`, common, n)
				occupancy = 20_000
				continue
			case 2:
				add(session, `{"type":"user",%s,"uuid":"k%d","message":{"role":"user","content":"<command-name>/handoff</command-name>"}}`, common, n)
				continue
			case 3:
				add(session, `{"type":"attachment",%s,"uuid":"h%d","attachment":{"type":"hook_success","hookName":"SessionStart:resume"}}`, common, n)
				continue
			case 4:
				add(session, `{"type":"cost-state","sessionId":%q,"totalCostUSD":%d.25}`, session, n)
				continue
			case 5, 6:
				agent := fmt.Sprintf("a%d", r.IntN(3))
				add(session+"/subagents/agent-"+agent, `{"type":"assistant","isSidechain":true,"agentId":%q,%s,"message":{"id":"m%d","model":%q,"usage":{"input_tokens":%d,"output_tokens":%d,"cache_read_input_tokens":%d}}}`,
					agent, common, n, model, r.IntN(50_000), r.IntN(900), r.IntN(50_000))
				continue
			}
			occupancy += r.Int64N(40_000)
			written := r.Int64N(occupancy)
			usage := fmt.Sprintf(`"input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d`, r.IntN(9), occupancy-written, written)
			if r.IntN(8) == 0 {
				usage += `,"inference_geo":"us"`
			}
			blocks := []string{""}
			for range r.IntN(4) {
				blocks = append(blocks, fmt.Sprintf(`{"type":"tool_use","id":"t%d_%d","name":%q,"input":{"skill":"build","subagent_type":"Plan"}}`, n, len(blocks), []string{"Skill", "Agent", "Bash"}[r.IntN(3)]))
			}
			for i, block := range blocks {
				row := fmt.Sprintf(`{"type":"assistant",%s,"uuid":"u%d_%d","message":{"id":"m%d","model":%q,"usage":{%s,"output_tokens":%d},"content":[%s]}}`, common, n, i, n, model, usage, 1+i, block)
				add(session, "%s", row)
				if r.IntN(10) == 0 { // a fork copies it
					add(session+"-fork", "%s", strings.Replace(row, `"sessionId":"s`, `"sessionId":"z`, 1))
				}
			}
		}
	}
	return files
}

// figures is a document without what tells of the files.
func figures(t *testing.T, d *Document) string {
	t.Helper()
	c := *d
	c.Files = Files{Responses: d.Files.Responses}
	text, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Neither the order of the files, nor of their rows, nor how they are split changes a figure: costs are the same to the
// last bit.
func TestNoFigureDependsOnTheFiles(t *testing.T) {
	var blocks, misses, compactions, handoffs, unpriced int
	for seed := range uint64(15) {
		r := rand.New(rand.NewPCG(seed, 8))
		files := randomHistory(r)
		whole, parts, shuffled := map[string]string{}, map[string]string{}, map[string]string{}
		var all []string
		for name, rows := range files {
			whole[name] = strings.Join(rows, "\n") + "\n"
			all = append(all, rows...)
			// In parts whose names have another order than the rows.
			for from := 0; from < len(rows); {
				to := from + 1 + r.IntN(len(rows)-from)
				parts[fmt.Sprintf("%d/%s-%d", r.IntN(100), name, from)] = strings.Join(rows[from:to], "\n") + "\n"
				from = to
			}
		}
		slices.Sort(all)
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, row := range all {
			shuffled[fmt.Sprint("f", r.IntN(5))] += row + "\n"
		}
		for _, bounds := range []bool{false, true} {
			change := func(o *Options) {
				if bounds {
					o.Since, o.Until = time.Date(2026, 11, 8, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
				}
			}
			want := reportOf(t, whole, change)
			blocks += want.at(t, 150_000).BlocksTotal
			for _, c := range want.Cache {
				misses += c.Misses
			}
			compactions += len(want.Compactions)
			for _, x := range want.Sessions {
				handoffs += x.Handoffs
			}
			unpriced += len(want.Unpriced)
			for name, other := range map[string]map[string]string{"split": parts, "shuffled": shuffled} {
				if got := figures(t, reportOf(t, other, change)); got != figures(t, want) {
					t.Fatalf("seed %d, bounds %t, %s:\n%s", seed, bounds, name, firstDifference(got, figures(t, want)))
				}
			}
		}
	}
	if min(blocks, misses, compactions, handoffs, unpriced) < 5 {
		t.Errorf("too plain a history: %d blocks, %d misses, %d compactions, %d hand-offs, %d models without a price", blocks, misses, compactions, handoffs, unpriced)
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			from := max(0, i-6)
			return "got\n" + strings.Join(g[from:i+1], "\n") + "\nwant\n" + strings.Join(w[from:i+1], "\n")
		}
	}
	return "one is longer"
}
