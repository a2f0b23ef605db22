package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/internal/transcript"
)

func put(t testing.TB, path string, lines ...string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t testing.TB, index string, paths ...string) *History {
	t.Helper()
	h, err := Load(context.Background(), Source{Paths: paths, Index: index})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// told is all that a history tells of sessions, as a text.
func told(t testing.TB, h *History) string {
	t.Helper()
	b, err := json.MarshalIndent([]any{h.Sessions, h.Folders}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func same(t testing.TB, what string, got, want *History) {
	t.Helper()
	if g, w := told(t, got), told(t, want); g != w {
		gs, ws := strings.Split(g, "\n"), strings.Split(w, "\n")
		for i := range min(len(gs), len(ws)) {
			if gs[i] != ws[i] {
				t.Fatalf("%s: line %d:\n%s\nwant\n%s", what, i, strings.Join(gs[max(0, i-12):i+1], "\n"), strings.Join(ws[max(0, i-12):i+1], "\n"))
			}
		}
		t.Fatalf("%s: %d lines, want %d", what, len(gs), len(ws))
	}
}

func stamp(ms int) string {
	return time.UnixMilli(1_790_000_000_000 + int64(ms)).UTC().Format("2006-01-02T15:04:05.000Z")
}

// sessions makes the rows of some sessions with their sub-agents, by file.
func sessions(r *rand.Rand) map[string][]string {
	files := map[string][]string{}
	for s := range 1 + r.IntN(3) {
		session := fmt.Sprintf("s%d", s)
		clock, row := r.IntN(100), 0
		add := func(file, format string, more ...any) {
			if r.IntN(3) > 0 { // often two rows come in one millisecond
				clock += r.IntN(3) * 1000
			}
			row++
			head := fmt.Sprintf(`"sessionId":%q,"uuid":"%s-u%d","timestamp":%q,"cwd":"/w%d","version":"2.1.%d"`, session, session, row, stamp(clock), s, 200+s)
			files[file] = append(files[file], "{"+head+","+fmt.Sprintf(format, more...)+"}\n")
		}
		respond := func(file, side string, n int) {
			id := fmt.Sprintf("%s-m%d", session, n)
			in := r.IntN(5)
			for b := range 1 + r.IntN(3) {
				content := `{"type":"text"}`
				switch r.IntN(4) {
				case 0:
					content = fmt.Sprintf(`{"type":"tool_use","id":"%s-c%d","name":"Skill","input":{"skill":"k%d"}}`, id, b, r.IntN(3))
				case 1:
					content = fmt.Sprintf(`{"type":"tool_use","id":"%s-c%d","name":"Agent","input":{"subagent_type":"t%d"}}`, id, b, r.IntN(3))
				case 2:
					content = `{"type":"tool_use","name":"Skill","input":{"skill":"unnamed"}}`
				}
				add(file, `%s"type":"assistant","message":{"id":%q,"model":"claude-m%d","usage":{"input_tokens":%d,"output_tokens":%d,"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_1h_input_tokens":4}},"content":[%s]}`,
					side, id, n%2, in, b, content)
				if r.IntN(4) == 0 {
					add(file, `%s"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"%s-c%d"}]},"toolUseResult":{"agentId":"%s-a%d"}`, side, id, b, session, r.IntN(3))
				}
			}
		}
		main := session
		for n := range 1 + r.IntN(8) {
			switch r.IntN(9) {
			case 0:
				add(main, `"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":%d}`, r.IntN(3))
			case 1:
				add(main, `"type":"user","message":{"content":"<command-name>/c%d</command-name>"}`, r.IntN(3))
			case 2:
				add(main, `"type":"progress","data":{"type":"hook_progress","hookName":"SessionStart:resume"}`)
			case 3:
				add(main, `"type":"cost-state","totalCostUSD":%d.5`, n)
			case 4:
				side := fmt.Sprintf(`"isSidechain":true,"agentId":"%s-a%d",`, session, r.IntN(3))
				if r.IntN(2) == 0 {
					side += `"attributionAgent":"Explore",`
				}
				respond(session+"/subagents/agent-x", side, n)
			default:
				respond(main, "", n)
			}
		}
	}
	return files
}

// E22: however the rows of sessions lie in files, in which order, and with what copies: they tell the same.
func TestFilesDoNotMatter(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 8))
		files := sessions(r)
		a, b := t.TempDir(), t.TempDir()
		var rows []string
		for _, name := range sortedKeys(files) {
			put(t, filepath.Join(a, name+".jsonl"), files[name]...)
			rows = append(rows, files[name]...)
		}
		want := load(t, "", a)
		n := 0
		part := func(rows []string) {
			n++
			put(t, filepath.Join(b, fmt.Sprint("d", r.IntN(3)), fmt.Sprintf("%03d-%d.jsonl", r.IntN(1000), n)), rows...)
		}
		for rest := rows; len(rest) > 0; {
			k := 1 + r.IntN(len(rest))
			part(rest[:k])
			rest = rest[k:]
		}
		var copies []string
		for _, row := range rows {
			switch r.IntN(4) {
			case 0:
				copies = append(copies, row)
			case 1: // a fork writes its own session into the rows that it copies
				if !strings.Contains(row, "cost-state") {
					copies = append(copies, strings.Replace(row, `"sessionId":"s`, `"sessionId":"t`, 1))
				}
			}
		}
		r.Shuffle(len(copies), func(i, j int) { copies[i], copies[j] = copies[j], copies[i] })
		part(copies)
		index := filepath.Join(t.TempDir(), "index")
		same(t, fmt.Sprint("seed ", seed), load(t, index, b), want)
		same(t, fmt.Sprint("seed ", seed, " from the index"), load(t, index, b), want)
	}
}

func answer(session, id, more, usage string) string {
	return fmt.Sprintf(`{"type":"assistant","sessionId":%q,"uuid":"%s-u",%s"message":{"id":%q,"model":"m","usage":%s}}`, session, id, more, id, usage) + "\n"
}

func TestOneResponseOnce(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "b.jsonl"), answer("b", "m1", `"timestamp":"`+stamp(5)+`",`, `{"output_tokens":7}`), answer("b", "m2", "", `{"input_tokens":1}`))
	put(t, filepath.Join(dir, "a.jsonl"), answer("a", "m1", `"isSidechain":true,`, `{"output_tokens":5}`), answer("a", "m1", `"timestamp":"`+stamp(9)+`",`, `{"output_tokens":3}`))
	h := load(t, "", dir)
	if len(h.Sessions) != 2 || h.Sessions[0].ID != "b" && h.Sessions[0].ID != "a" {
		t.Fatalf("%s", told(t, h))
	}
	for _, s := range h.Sessions {
		if len(s.Side) != 0 || len(s.Main) != 1 {
			t.Errorf("%s", told(t, h))
		} else if r := s.Main[0]; s.ID == "a" && (r.Usage.Output != 7 || r.Time != 1_790_000_000_005) { // E21: the largest; the first moment
			t.Errorf("%+v", r)
		}
	}
	// R28: the same path twice, and one below another, count once; a path that is not there is listed.
	again := load(t, "", dir, filepath.Join(dir, "a.jsonl"), dir+"/.", filepath.Join(dir, "none"))
	same(t, "overlapping paths", again, h)
	if again.Files != 2 || len(again.Skipped) != 1 || again.Skipped[0].Path != filepath.Join(dir, "none") {
		t.Errorf("%d files, %v", again.Files, again.Skipped)
	}
	if _, err := Load(context.Background(), Source{Paths: []string{t.TempDir()}}); !errors.Is(err, ErrNothing) { // R30
		t.Errorf("nothing: %v", err)
	}
}

// What one file tells twice, in either order.
func TestRowsOfOneFile(t *testing.T) {
	cost := func(usd string) string { return `{"type":"cost-state","sessionId":"s","totalCostUSD":` + usd + "}\n" }
	slow, fast := answer("s", "m", "", `{"output_tokens":5}`), answer("s", "m", "", `{"output_tokens":5,"speed":"fast"}`)
	dir := t.TempDir()
	a := load(t, "", put(t, filepath.Join(dir, "a.jsonl"), cost("3"), cost("2"), slow, fast))
	b := load(t, "", put(t, filepath.Join(dir, "b.jsonl"), cost("2"), cost("3"), fast, slow))
	same(t, "the other order", b, a)
	if s := a.Sessions[0]; s.Client.USD != 3 || len(s.Main) != 1 || !s.Main[0].Usage.Fast {
		t.Errorf("%s", told(t, a))
	}
	// Calls without an id are told apart by their rows.
	call := func(uuid string) string {
		return `{"type":"assistant","sessionId":"s","uuid":"` + uuid + `","message":{"id":"m","content":[{"type":"tool_use","name":"Skill","input":{"skill":"x"}}]}}` + "\n"
	}
	c := load(t, "", put(t, filepath.Join(dir, "c.jsonl"), call("u1"), call("u2"), call("u1")))
	if calls := c.Sessions[0].Main[0].Calls; len(calls) != 2 {
		t.Errorf("%v", calls)
	}
}

// Numbers that the rest of the program would index with are held against what there is.
func TestDecodeRefuses(t *testing.T) {
	for name, r := range map[string]*record{
		"a word that is none":     {strings: []string{""}, folders: []word{1}},
		"a response that is none": {strings: []string{""}, calls: []call{{response: 0}}},
		"no words":                {},
		"a first word":            {strings: []string{"x"}},
	} {
		if _, err := decode(r.encode(nil)); err == nil {
			t.Errorf("%s was decoded", name)
		}
	}
	if _, err := decode(append(newRecord().encode(nil), 0)); err == nil {
		t.Error("more than a record was decoded")
	}
}

// Rows without a time keep the order of their file, and without a session belong to the file's.
func TestWithoutTimes(t *testing.T) {
	dir := t.TempDir()
	bare := func(n int) string {
		return fmt.Sprintf(`{"message":{"model":"m%d","usage":{"input_tokens":%d}}}`, n, 100-n) + "\n"
	}
	put(t, filepath.Join(dir, "stem.jsonl"), bare(1), bare(2), bare(3), bare(3))
	h := load(t, "", dir)
	if len(h.Sessions) != 1 || h.Sessions[0].ID != "stem" || len(h.Sessions[0].Main) != 4 || h.Sessions[0].Main[0].Model != "m1" || h.Sessions[0].Main[2].Model != "m3" {
		t.Errorf("%s", told(t, h))
	}
}

func TestSubAgents(t *testing.T) {
	side := func(session, agent, id, more string) string {
		if agent != "" {
			more += fmt.Sprintf(`"agentId":%q,`, agent)
		}
		row := answer(session, id, more+`"isSidechain":true,`, `{"output_tokens":1}`)
		if session == "" {
			row = strings.Replace(row, `"sessionId":"",`, "", 1)
		}
		return row
	}
	call := func(id, kind string) string {
		return `{"type":"assistant","sessionId":"s","uuid":"` + id + `","message":{"id":"msg-` + id + `","usage":{"input_tokens":1},"content":[{"type":"tool_use","id":"` + id + `","name":"Task","input":{"subagent_type":"` + kind + `"}}]}}` + "\n"
	}
	result := func(id, agent string) string {
		return `{"type":"user","sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":"` + id + `"}]},"toolUseResult":{"agentId":"` + agent + `"}}` + "\n"
	}
	for _, c := range []struct {
		n     string
		files map[string]string
		agent string
		kind  string
	}{
		{"K4 the row says it", map[string]string{"s.jsonl": side("s", "a1", "m", `"attributionAgent":"Explore",`)}, "a1", "Explore"},
		{"K6 nothing says it", map[string]string{"s.jsonl": side("s", "a1", "m", "")}, "a1", ""},
		{"no agent's id", map[string]string{"s.jsonl": side("s", "", "m", "")}, "", ""},
		{"K9 meta file", map[string]string{"s/subagents/agent-a1.jsonl": side("s", "a1", "m", ""), "s/subagents/agent-a1.meta.json": `{"agentType":"Plan"}`}, "a1", "Plan"},
		{"the row before the meta file", map[string]string{"s/subagents/agent-a1.jsonl": side("s", "a1", "m", `"attributionAgent":"Explore",`), "s/subagents/agent-a1.meta.json": `{"agentType":"Plan"}`}, "a1", "Explore"},
		{"meta file that is none", map[string]string{"s/subagents/agent-a1.jsonl": side("s", "a1", "m", ""), "s/subagents/agent-a1.meta.json": `{"agentType":5`}, "a1", ""},
		{"K5 call and result", map[string]string{"s.jsonl": call("c1", "review") + result("c1", "a1"), "s/subagents/agent-a1.jsonl": side("s", "a1", "m", "")}, "a1", "review"},
		{"the result before the call", map[string]string{"a.jsonl": result("c1", "a1"), "b/subagents/agent-a1.jsonl": side("s", "a1", "m", ""), "c.jsonl": call("c1", "review")}, "a1", "review"},
		{"several calls", map[string]string{"a.jsonl": result("c1", "a1") + result("c2", "a1") + side("s", "a1", "m", ""), "c.jsonl": call("c1", "zeta") + call("c2", "beta")}, "a1", "beta"},
		{"the meta file before a call", map[string]string{"s.jsonl": call("c1", "a") + result("c1", "a1"), "s/subagents/agent-a1.jsonl": side("s", "a1", "m", ""), "s/subagents/agent-a1.meta.json": `{"agentType":"Plan"}`}, "a1", "Plan"},
		{"session and agent by the names", map[string]string{"s/subagents/agent-a1.jsonl": side("", "", "m", ""), "s/subagents/agent-a1.meta.json": `{"agentType":"Plan"}`}, "a1", "Plan"},
		{"workflow", map[string]string{"s/subagents/workflows/wf_1/agent-a1.jsonl": side("", "", "m", ""), "s/subagents/workflows/wf_1/agent-a1.meta.json": `{"agentType":"Plan"}`}, "a1", "Plan"},
		{"session by the file's name", map[string]string{"s.jsonl": side("", "", "m", "")}, "", ""},
		{"flat file of 2.0", map[string]string{"agent-1c9736da.jsonl": side("s", "", "m", "")}, "1c9736da", ""},
	} {
		t.Run(c.n, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "subagents", "far", "above", "the", "projects")
			for name, data := range c.files {
				put(t, filepath.Join(dir, name), data)
			}
			for range 2 {
				h := load(t, filepath.Join(dir, "index"), dir)
				var s *Session
				for _, s = range h.Sessions {
					if s.ID == "s" {
						break
					}
				}
				if s == nil || s.ID != "s" || len(s.Side) != 1 || s.Side[0].Agent != c.agent || s.Side[0].Kind != c.kind {
					t.Errorf("want agent %q of type %q: %s", c.agent, c.kind, told(t, h))
				}
			}
		})
	}
}

// A session's copies of compactions and commands go where its responses go.
func TestForkedMoments(t *testing.T) {
	dir := t.TempDir()
	rows := func(session string) string {
		return answer(session, "m1", "", `{"input_tokens":1}`) +
			`{"type":"system","subtype":"compact_boundary","uuid":"c","sessionId":"` + session + `"}` + "\n" +
			`{"type":"user","uuid":"d","message":{"content":"<command-name>/x</command-name>"},"sessionId":"` + session + `"}` + "\n"
	}
	put(t, filepath.Join(dir, "1.jsonl"), rows("later"), answer("later", "m2", "", `{"input_tokens":1}`))
	put(t, filepath.Join(dir, "2.jsonl"), rows("early"))
	for _, s := range load(t, "", dir).Sessions {
		if own := s.ID == "early"; own != (len(s.Compactions) == 1) || own != (len(s.Commands) == 1) {
			t.Errorf("%s: %v, %v", s.ID, s.Compactions, s.Commands)
		}
	}
}

func TestCodec(t *testing.T) {
	for seed := range uint64(200) {
		want := newRecord()
		var s transcript.Scanner
		for _, rows := range sessions(rand.New(rand.NewPCG(seed, 9))) {
			if _, err := s.Scan(strings.NewReader(strings.Join(rows, "")), func(r *transcript.Row) { want.take(r, "s", "a") }); err != nil {
				t.Fatal(err)
			}
		}
		want.malformed, want.tooLong = int(seed), 3
		b := want.encode(nil)
		got, err := decode(b)
		if err != nil {
			t.Fatal(err)
		}
		want.words, want.last, want.known = nil, [lastWords]word{}, nil
		for _, p := range []any{&want.responses, &want.calls, &want.compactions, &want.moments, &want.made, &want.costs, &want.folders} {
			if v := reflect.ValueOf(p).Elem(); v.IsNil() {
				v.Set(reflect.MakeSlice(v.Type(), 0, 0))
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d:\n%+v\nwant\n%+v", seed, got, want)
		}
		for n := range b { // a part is never taken for the whole
			if _, err := decode(b[:n]); err == nil {
				t.Fatalf("seed %d: %d of %d bytes were a record", seed, n, len(b))
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	r := newRecord()
	var s transcript.Scanner
	for _, rows := range sessions(rand.New(rand.NewPCG(1, 9))) {
		_, _ = s.Scan(strings.NewReader(strings.Join(rows, "")), func(row *transcript.Row) { r.take(row, "s", "a") })
	}
	f.Add(r.encode(nil))
	f.Add(newRecord().encode(nil))
	f.Add(bytes.Repeat([]byte{0xff}, 64))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decode(b)
		if err != nil {
			return
		}
		// What was decoded can be put together with anything, and is as large as its bytes allow.
		if n := len(r.strings) + len(r.responses) + len(r.calls) + len(r.compactions) + len(r.moments) + len(r.made) + len(r.costs) + len(r.folders); n > len(b) {
			t.Fatalf("%d things from %d bytes", n, len(b))
		}
		assemble([]file{{path: "/x"}}, []loaded{{records: []*record{r}}}, nil)
		again, err := decode(r.encode(nil))
		if err != nil || !bytes.Equal(again.encode(nil), r.encode(nil)) {
			t.Fatalf("another round: %v", err)
		}
	})
}

// grown is a transcript of that many responses, long enough that a print does not cover it.
func grown(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprint(&b, answer("s", fmt.Sprintf("m%03d", i), `"timestamp":"`+stamp(i*1000)+`",`, fmt.Sprintf(`{"output_tokens":%d}`, 100+i)))
	}
	return b.String()
}

// altered is that transcript with the response at i changed, in as many bytes.
func altered(whole string, i int) string {
	return strings.Replace(whole, fmt.Sprintf(`"output_tokens":%d}`, 100+i), `"output_tokens":999}`, 1)
}

func TestIndex(t *testing.T) {
	old := time.Unix(1_780_000_000, 0)
	whole, next := grown(200), answer("s", "next", "", `{"input_tokens":9}`)
	for _, c := range []struct {
		n      string
		second string    // what the file holds at the second reading
		at     time.Time // and its time
		want   string    // what is told: as if this had been read, with no index
	}{
		{"unchanged is not read", altered(whole, 100), old, whole},
		{"only what was appended is read", altered(whole, 100) + next, time.Now(), whole + next},
		{"appended", whole + answer("s", "m005", "", `{"output_tokens":900}`), time.Now(), whole + answer("s", "m005", "", `{"output_tokens":900}`)},
		{"truncated", grown(100), time.Now(), grown(100)},
		{"emptied", "", time.Now(), ""},
		{"rewritten at its beginning, and longer", altered(whole, 0) + next, time.Now(), altered(whole, 0) + next},
		{"rewritten at its end, and longer", altered(whole, 199) + next, time.Now(), altered(whole, 199) + next},
		{"rewritten, the same size", altered(whole, 100), time.Now(), altered(whole, 100)},
		{"rotated", answer("t", "other", "", `{"input_tokens":1}`), time.Now(), answer("t", "other", "", `{"input_tokens":1}`)},
	} {
		t.Run(c.n, func(t *testing.T) {
			dir, index := t.TempDir(), filepath.Join(t.TempDir(), "below", "index")
			path := put(t, filepath.Join(dir, "s.jsonl"), whole)
			_ = os.Chtimes(path, old, old)
			load(t, index, dir)
			put(t, path, c.second)
			_ = os.Chtimes(path, c.at, c.at)
			cold := put(t, filepath.Join(t.TempDir(), "s.jsonl"), c.want)
			for _, pass := range []string{"second", "third"} {
				same(t, pass, load(t, index, dir), load(t, "", cold))
			}
		})
	}
}

// F86: a row that is being written counts when it is whole, and once.
func TestTornRow(t *testing.T) {
	dir, index := t.TempDir(), filepath.Join(t.TempDir(), "index")
	path := filepath.Join(dir, "s.jsonl")
	whole := grown(3) + "junk\n" + answer("s", "last", "", `{"input_tokens":9}`) + `{"sessionId":"s","message":{"usage":{"input_tokens":3}}}` + "\n" +
		`{"type":"user","sessionId":"s","message":{"content":"<command-name>/x</command-name>"}}` + "\n"
	for n := range len(whole) + 1 {
		if n%7 != 0 && n != len(whole) && whole[max(0, n-1)] != '\n' && whole[min(n, len(whole)-1)] != '\n' {
			continue
		}
		put(t, path, whole[:n])
		at := time.Unix(1_780_000_000+int64(n), 0)
		_ = os.Chtimes(path, at, at)
		got, want := load(t, index, dir), load(t, "", dir)
		same(t, fmt.Sprintf("%d bytes", n), got, want)
		again := load(t, index, dir)
		same(t, fmt.Sprintf("%d bytes, again", n), again, want)
		if !reflect.DeepEqual(got.Skipped, want.Skipped) || !reflect.DeepEqual(again.Skipped, want.Skipped) {
			t.Fatalf("%d bytes: %v; want %v", n, got.Skipped, want.Skipped)
		}
	}
	if h := load(t, index, dir); len(h.Sessions[0].Main) != 5 || len(h.Skipped) != 1 || h.Skipped[0].Reason != "1 row: no JSON object, or with figures that are no token counts" {
		t.Errorf("%s %v", told(t, h), h.Skipped)
	}
}

func TestCorruptIndex(t *testing.T) {
	dir, index := t.TempDir(), filepath.Join(t.TempDir(), "index")
	put(t, filepath.Join(dir, "a.jsonl"), answer("a", "m1", "", `{"output_tokens":7}`))
	put(t, filepath.Join(dir, "agent-b.jsonl"), answer("b", "m2", `"isSidechain":true,`, `{"input_tokens":1}`))
	want := load(t, index, dir)
	good, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		for _, flip := range []byte{1 << (i % 8), 0xff} {
			bad := slices.Clone(good)
			bad[i] ^= flip
			put(t, index, string(bad))
			same(t, fmt.Sprintf("byte %d ^ %#x", i, flip), load(t, index, dir), want)
			if now, _ := os.ReadFile(index); !bytes.Equal(now, good) {
				t.Fatalf("byte %d ^ %#x: the index was not mended", i, flip)
			}
		}
		put(t, index, string(good[:i]))
		same(t, fmt.Sprintf("%d bytes", i), load(t, index, dir), want)
	}
}

// F94: what another version of the parser found is not told.
func TestIndexOfAnotherParser(t *testing.T) {
	dir, index := t.TempDir(), filepath.Join(t.TempDir(), "index")
	path := put(t, filepath.Join(dir, "a.jsonl"), answer("a", "m1", "", `{"output_tokens":7}`))
	old := time.Unix(1_780_000_000, 0)
	_ = os.Chtimes(path, old, old)
	load(t, index, dir)
	data, _ := os.ReadFile(index)
	put(t, index, strings.Replace(string(data), string(magic()), string(magic()[:len(magic())-2])+string(rune(parser-1))+"\n", 1))
	put(t, path, answer("a", "m1", "", `{"output_tokens":8}`))
	_ = os.Chtimes(path, old, old)
	if h := load(t, index, dir); h.Sessions[0].Main[0].Usage.Output != 8 {
		t.Error("the old parser's finding was told")
	}
	if data, _ := os.ReadFile(index); !bytes.HasPrefix(data, magic()) {
		t.Error("the index is still the old parser's")
	}
}

func TestIndexForgets(t *testing.T) {
	a, b, index := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "index")
	gone := put(t, filepath.Join(a, "gone.jsonl"), answer("a", "m1", "", `{"output_tokens":7}`))
	put(t, filepath.Join(a, "stays.jsonl"), answer("a", "m2", "", `{"output_tokens":7}`))
	load(t, index, a)
	other := put(t, filepath.Join(b, "other.jsonl"), answer("b", "m3", "", `{"output_tokens":7}`))
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	load(t, index, b)
	known := readIndex(index)
	if _, there := known[gone]; there || len(known) != 2 {
		t.Errorf("%v", sortedKeys(known))
	}
	if _, there := known[other]; !there {
		t.Errorf("%v", sortedKeys(known))
	}
}

// An index that cannot be written costs time and nothing else.
func TestIndexCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a.jsonl"), answer("a", "m1", "", `{"output_tokens":7}`))
	want := load(t, "", dir)
	locked := filepath.Join(t.TempDir(), "locked")
	if err := os.Mkdir(locked, 0o500); err != nil {
		t.Fatal(err)
	}
	for name, index := range map[string]string{
		"below a file": filepath.Join(put(t, filepath.Join(t.TempDir(), "file"), "x"), "below", "index"), "a folder": t.TempDir(), "in a read-only folder": filepath.Join(locked, "x", "index"),
	} {
		for range 2 {
			same(t, name, load(t, index, dir), want)
		}
	}
}

func TestTwoAtOnce(t *testing.T) {
	dir, index := t.TempDir(), filepath.Join(t.TempDir(), "index")
	for i := range 20 {
		put(t, filepath.Join(dir, fmt.Sprint(i, ".jsonl")), answer(fmt.Sprint("s", i), fmt.Sprint("m", i), "", `{"output_tokens":7}`))
	}
	want := load(t, "", dir)
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			for range 10 {
				h, err := Load(context.Background(), Source{Paths: []string{dir}, Index: index})
				if err != nil || len(h.Sessions) != len(want.Sessions) || len(h.Skipped) > 0 {
					t.Errorf("%v", err)
					return
				}
				if i == 0 {
					_ = os.Remove(index)
				}
			}
		})
	}
	wait.Wait()
	same(t, "afterwards", load(t, index, dir), want)
}

func reasons(h *History, dir string) map[string]string {
	m := map[string]string{}
	for _, s := range h.Skipped {
		rel, _ := filepath.Rel(dir, s.Path)
		m[filepath.ToSlash(rel)] += s.Reason + ";"
	}
	return m
}

func TestHostileFolder(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	far := t.TempDir()
	put(t, filepath.Join(dir, "good.jsonl"), answer("a", "m1", "", `{"output_tokens":7}`))
	put(t, filepath.Join(dir, "ignored.txt"), "x") // R29
	put(t, filepath.Join(dir, "empty.jsonl"))
	put(t, filepath.Join(dir, "binary.jsonl"), "\x7fELF\x00\xff\n\x00\x00")
	put(t, filepath.Join(dir, "deep", "er", "nested.jsonl"), answer("b", "m2", "", `{"output_tokens":7}`))
	put(t, filepath.Join(dir, "folder.jsonl", "inside.jsonl"), answer("c", "m3", "", `{"output_tokens":7}`))
	put(t, filepath.Join(far, "target"), answer("d", "m4", "", `{"output_tokens":7}`))
	for name, target := range map[string]string{
		"link.jsonl": filepath.Join(far, "target"), "link2.jsonl": filepath.Join(far, "target"), "same.jsonl": filepath.Join(dir, "good.jsonl"),
		"up": dir, "circle": "circle", "circle.jsonl": "circle.jsonl", "broken.jsonl": "none", "broken": "none", "away.jsonl": far,
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	want := map[string]string{
		"binary.jsonl": "1 row: no JSON object, or with figures that are no token counts;the last row is not ended;", "folder.jsonl": "is a folder;",
		"up": "is a link to a folder, which is not followed;", "away.jsonl": "is a link to a folder, which is not followed;",
	}
	special(t, dir, want)
	for _, index := range []string{"", filepath.Join(t.TempDir(), "index")} {
		h := load(t, index, dir, filepath.Join(dir, "up"), filepath.Join(dir, "deep"))
		got := reasons(h, dir)
		for _, name := range []string{"circle", "circle.jsonl", "broken.jsonl"} {
			if got[name] == "" {
				t.Errorf("%s is not listed", name)
			}
			delete(got, name)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v\nwant %v", got, want)
		}
		if len(h.Sessions) != 4 || h.Files != 6 {
			t.Errorf("%d files: %s", h.Files, told(t, h))
		}
	}
}

// What happens between finding a file and reading it.
func TestFilesChangeMeanwhile(t *testing.T) {
	dir := t.TempDir()
	rows := answer("a", "m1", "", `{"output_tokens":7}`)
	gone := file{path: filepath.Join(dir, "gone.jsonl"), size: 5}
	shrunk := file{path: put(t, filepath.Join(dir, "shrunk.jsonl"), rows), size: 5000}
	grew := file{path: put(t, filepath.Join(dir, "grew.jsonl"), strings.ReplaceAll(rows, "m1", "m2"), rows[:20]), size: int64(len(rows))}
	files := []file{gone, shrunk, grew}
	var all []loaded
	var s transcript.Scanner
	for _, f := range files {
		all = append(all, f.load(context.Background(), &s, index{}, func(int64) {}))
	}
	h := assemble(files, all, nil)
	got := reasons(h, dir)
	if len(got) != 2 || got["gone.jsonl"] == "" || got["shrunk.jsonl"] != "became shorter while it was read;" || len(h.Sessions[0].Main) != 2 {
		t.Errorf("%v %s", got, told(t, h))
	}
	if all[0].fresh && all[0].err == nil || all[1].fresh || !all[2].fresh {
		t.Error("what is remembered of them")
	}
	if !errors.Is(all[0].err, fs.ErrNotExist) {
		t.Errorf("%v", all[0].err)
	}
}

func TestLoadStops(t *testing.T) {
	dir, index := t.TempDir(), filepath.Join(t.TempDir(), "index")
	put(t, filepath.Join(dir, "a.jsonl"), answer("a", "m1", "", `{"output_tokens":7}`))
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Load(ctx, Source{Paths: []string{dir}, Index: index}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(index); err == nil {
		t.Error("what was read in part is remembered")
	}
	var last, all int64
	if _, err := Load(context.Background(), Source{Paths: []string{dir}, Progress: func(done, total int64) { last, all = done, total }}); err != nil || last != all || all == 0 {
		t.Errorf("%d of %d, %v", last, all, err)
	}
}

// What is told of the progress grows to all there is, whether it is read, remembered or both.
func TestProgress(t *testing.T) {
	dir, index := t.TempDir(), filepath.Join(t.TempDir(), "index")
	line := `{"type":"assistant","message":{"id":"a","model":"m","usage":{"input_tokens":1}}}` + "\n"
	text := strings.Repeat(line, 40_000) // more than one block
	put(t, filepath.Join(dir, "s.jsonl"), text)
	for _, more := range []string{"", "", line} {
		text += more
		put(t, filepath.Join(dir, "s.jsonl"), text)
		var mu sync.Mutex
		var last, calls int64
		_, err := Load(context.Background(), Source{Paths: []string{dir}, Index: index, Progress: func(done, total int64) {
			mu.Lock()
			defer mu.Unlock()
			calls++
			if last = max(last, done); total != int64(len(text)) {
				t.Errorf("%d of %d, which is not %d", done, total, len(text))
			}
		}})
		if err != nil || last != int64(len(text)) || calls < 1 {
			t.Errorf("ended at %d of %d after %d calls, %v", last, len(text), calls, err)
		}
	}
}

// The client may describe a sub-agent after its transcript was read, and the transcript does not change with it.
func TestMetaFileComesLater(t *testing.T) {
	dir, index := t.TempDir(), filepath.Join(t.TempDir(), "index")
	put(t, filepath.Join(dir, "s/subagents/agent-a1.jsonl"), answer("s", "m", `"isSidechain":true,"agentId":"a1",`, `{"output_tokens":1}`))
	kinds := ""
	for _, text := range []string{"", `{"agentType":"Plan"}`, ""} {
		if text != "" {
			put(t, filepath.Join(dir, "s/subagents/agent-a1.meta.json"), text)
		}
		h, err := Load(context.Background(), Source{Paths: []string{dir}, Index: index})
		if err != nil {
			t.Fatal(err)
		}
		kinds += h.Sessions[0].Side[0].Kind + ";"
	}
	if kinds != ";Plan;Plan;" {
		t.Errorf("%s", kinds)
	}
}

// The fingerprint changes with everything that a history could change with, and with nothing else.
func TestFingerprint(t *testing.T) {
	dir := t.TempDir()
	old := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	put(t, filepath.Join(dir, "p/s.jsonl"), "{}\n")
	put(t, filepath.Join(dir, "p/s/subagents/agent-a1.jsonl"), "{}\n")
	age := func() {
		t.Helper()
		if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Chtimes(path, old, old))
		}); err != nil {
			t.Fatal(err)
		}
	}
	now := func() string {
		t.Helper()
		f, err := Find([]string{dir})
		if err != nil {
			t.Fatal(err)
		}
		return f.Fingerprint()
	}
	age()
	before := now()
	if now() != before {
		t.Error("nothing changed, and the fingerprint did")
	}
	for what, change := range map[string]func(){
		"appended":      func() { put(t, filepath.Join(dir, "p/s.jsonl"), "{}\n{}\n"); age() },
		"written anew":  func() { put(t, filepath.Join(dir, "p/s.jsonl"), "[]\n") },
		"another file":  func() { put(t, filepath.Join(dir, "p/t.jsonl"), "{}\n"); age() },
		"a description": func() { put(t, filepath.Join(dir, "p/s/subagents/agent-a1.meta.json"), "{}") },
		"one file is gone": func() {
			_ = os.Remove(filepath.Join(dir, "p/t.jsonl"))
			_ = os.Remove(filepath.Join(dir, "p/s.jsonl"))
			age()
		},
	} {
		age()
		put(t, filepath.Join(dir, "p/s.jsonl"), "{}\n")
		_ = os.Remove(filepath.Join(dir, "p/t.jsonl"))
		_ = os.Remove(filepath.Join(dir, "p/s/subagents/agent-a1.meta.json"))
		age()
		before := now()
		change()
		if now() == before {
			t.Errorf("%s: the fingerprint is the same", what)
		}
	}
}
