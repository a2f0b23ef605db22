package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// seen is a Row that may be kept and compared, with the members that its kind has.
type seen struct {
	Kind                                        Kind
	Session, UUID, Agent, Type, Version, Folder string
	Side, Open                                  bool
	Time                                        int64
	ID, Model                                   string
	Usage                                       Usage
	Calls                                       string
	Pre, Post                                   int64
	Trigger                                     string
	CostUSD                                     float64
	CallID, Name                                string
}

// text is b with every byte that is no text as U+FFFD, as encoding/json has it.
func text(b []byte) string { return string([]rune(string(b))) }

func see(r *Row) seen {
	s := seen{
		Kind: r.Kind, Session: text(r.Session), UUID: text(r.UUID), Agent: text(r.Agent), Type: text(r.Type),
		Version: text(r.Version), Folder: text(r.Folder), Side: r.Side, Open: r.Open, Time: r.Time,
	}
	switch r.Kind {
	case Response:
		s.ID, s.Model, s.Usage = text(r.ID), text(r.Model), r.Usage
		for _, c := range r.Calls {
			s.Calls += callText(text(c.ID), text(c.Tool), text(c.Name))
		}
	case Compaction:
		s.Pre, s.Post, s.Trigger = r.Pre, r.Post, text(r.Trigger)
	case CostState:
		s.CostUSD = r.CostUSD
	case AgentMade:
		s.CallID = text(r.CallID)
	case Command:
		s.Name = text(r.Name)
	}
	return s
}

func callText(id, tool, name string) string { return fmt.Sprintf("%q %s %q;", id, tool, name) }

// scan reads data with blocks of that many bytes.
func scan(t testing.TB, r io.Reader, block int) (rows []seen, done Scanned) {
	t.Helper()
	s := Scanner{block: make([]byte, block)}
	done, err := s.Scan(r, func(r *Row) { rows = append(rows, see(r)) })
	if err != nil {
		t.Fatal(err)
	}
	return rows, done
}

// reference reads one line with encoding/json into untyped values. ok is what Scanned.Malformed counts the contrary of.
func reference(line []byte, open bool) (s seen, ok, wanted bool) {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return s, false, false
	}
	row, ok := v.(map[string]any)
	if !ok {
		return s, false, false
	}
	str := func(m map[string]any, key string) string { s, _ := m[key].(string); return s }
	object := func(m map[string]any, key string) map[string]any { o, _ := m[key].(map[string]any); return o }
	s = seen{
		Session: str(row, "sessionId"), UUID: str(row, "uuid"), Agent: str(row, "agentId"), Type: str(row, "attributionAgent"),
		Version: str(row, "version"), Folder: str(row, "cwd"), Side: isTrue(row["isSidechain"]), Open: open,
	}
	if at, err := time.Parse(time.RFC3339Nano, str(row, "timestamp")); err == nil {
		s.Time = at.UnixMilli()
	}
	_, typed := row["type"]
	kind := str(row, "type")
	message, _ := row["message"].(map[string]any)
	content, _ := message["content"].([]any)
	var calls, result string
	for _, c := range content {
		block, _ := c.(map[string]any)
		switch str(block, "type") {
		case "tool_use":
			input, name := object(block, "input"), ""
			switch tool := str(block, "name"); tool {
			case "Skill":
				for _, key := range []string{"command", "name", "skill"} {
					if s := str(input, key); s != "" {
						name = s
					}
				}
				calls += callText(str(block, "id"), tool, name)
			case "Agent", "Task":
				calls += callText(str(block, "id"), tool, str(input, "subagent_type"))
			}
		case "tool_result":
			result = str(block, "tool_use_id")
		}
	}
	hook := func(key string) bool {
		o := object(row, key)
		if v, there := o["type"]; there {
			if kind, _ := v.(string); !strings.HasPrefix(kind, "hook_") {
				return false
			}
		}
		return str(o, "hookName") == "SessionStart:resume"
	}
	switch {
	case kind == "assistant" || !typed:
		usage, figures := message["usage"].(map[string]any)
		if message == nil || !figures && calls == "" || isTrue(row["isApiErrorMessage"]) || str(message, "model") == "<synthetic>" {
			return s, true, false
		}
		whole := true
		count := func(m map[string]any, key string) int64 {
			n, ok := countOf(m[key])
			whole = whole && ok
			return n
		}
		u := Usage{
			Input: count(usage, "input_tokens"), Output: count(usage, "output_tokens"), CacheRead: count(usage, "cache_read_input_tokens"),
			Fast: str(usage, "speed") == "fast", US: str(usage, "inference_geo") == "us",
		}
		split := object(usage, "cache_creation")
		u.CacheWrite5m, u.CacheWrite1h = count(split, "ephemeral_5m_input_tokens"), count(split, "ephemeral_1h_input_tokens")
		if rest := count(usage, "cache_creation_input_tokens") - u.CacheWrite5m - u.CacheWrite1h; rest > 0 {
			u.CacheWrite5m += rest
		}
		if !whole {
			return s, false, false
		}
		s.Kind, s.ID, s.Model, s.Usage, s.Calls = Response, str(message, "id"), str(message, "model"), u, calls
	case kind == "system" && str(row, "subtype") == "compact_boundary":
		meta := object(row, "compactMetadata")
		s.Kind, s.Trigger = Compaction, str(meta, "trigger")
		s.Pre, _ = countOf(meta["preTokens"])
		s.Post, _ = countOf(meta["postTokens"])
	case kind == "cost-state":
		v, there := row["totalCostUSD"]
		n, _ := v.(json.Number)
		usd, err := n.Float64()
		if err != nil || usd < 0 {
			return s, !there, false
		}
		s.Kind, s.CostUSD = CostState, usd
	case s.Side:
	case kind == "user" && result != "" && str(object(row, "toolUseResult"), "agentId") != "":
		s.Kind, s.CallID, s.Agent = AgentMade, result, str(object(row, "toolUseResult"), "agentId")
	case kind == "user":
		prompt := str(message, "content")
		_, rest, _ := strings.Cut(prompt, "<command-name>")
		name, _, ended := strings.Cut(rest, "</command-name>")
		if strings.HasPrefix(prompt, "<command-") && ended && name != "" {
			s.Kind, s.Name = Command, name
		}
	case kind == "progress" && hook("data"), kind == "attachment" && hook("attachment"):
		s.Kind = Resumed
	}
	return s, true, s.Kind != 0
}

func countOf(v any) (int64, bool) {
	switch v := v.(type) {
	case nil:
		return 0, true
	case bool:
		return 0, !v
	case json.Number:
		n, err := strconv.ParseInt(v.String(), 10, 64)
		return max(n, 0), err == nil && len(v) <= 16
	}
	return 0, false
}

// refer is the reference for a whole file.
func refer(data []byte) (rows []seen, done Scanned) {
	for len(data) > 0 {
		line, rest, ended := bytes.Cut(data, []byte{'\n'})
		if data = rest; ended {
			done.Offset += int64(len(line)) + 1
		}
		line = bytes.Trim(bytes.TrimPrefix(line, bom), " \t\r")
		if len(line) == 0 {
			continue
		}
		done.Lines++
		switch s, ok, wanted := reference(line, !ended); {
		case !json.Valid(line) && !ended:
			done.Torn = true
		case !json.Valid(line):
			done.Malformed++
		case !ok && !ended:
			done.Torn = true
		case !ok:
			done.Malformed++
		case wanted:
			rows = append(rows, s)
		}
	}
	return rows, done
}

const (
	head  = `"sessionId":"s1","uuid":"u1","timestamp":"2026-11-30T23:00:05.015Z","version":"2.1.332","cwd":"/w"`
	usage = `"usage":{"input_tokens":3,"output_tokens":5,"cache_read_input_tokens":70,"cache_creation_input_tokens":11}`
)

// response is an assistant's row; more are members of the message.
func response(more string) string {
	return `{` + head + `,"type":"assistant","message":{"id":"m1","model":"claude-opus-5",` + usage + more + `}}`
}

func withUsage(usage string) string {
	return `{"type":"assistant","message":{"id":"m","model":"x","usage":` + usage + `}}`
}

// scanCases are whole files. Every one is also held against the reference, in any chunks, and seeds the fuzzing.
var scanCases = []struct {
	n, data   string
	rows      int // -1: what the reference says of a line that is no JSON is not what counts
	malformed int
	torn      bool
}{
	{"empty", "", 0, 0, false},
	{"blank lines", "\n\r\n  \t\n\n", 0, 0, false},
	{"R26 junk", "\njunk\n[1,2,3]\n{\"message\":\"text\"}\n" + response("") + "\n", 1, 2, false},
	{"R27 no usage", `{"type":"assistant","message":{"model":"m","content":[]}}` + "\n", 0, 0, false},
	{"fields in any order", `{"message":{` + usage + `,"model":"m","id":"i"},"type":"assistant",` + head + "}\n", 1, 0, false},
	{"spaces between everything", strings.NewReplacer(":{", " : { ", `,"`, ` , "`, `":`, `" :`, "}", " } ").Replace(response("")) + "\n", 1, 0, false},
	{"no type", `{"message":{` + usage + "}}\n", 1, 0, false},
	{"type that is no text", `{"type":7,"message":{` + usage + "}}\n" + `{"type":null,"message":{` + usage + "}}\n", 0, 0, false},
	{"user with usage", `{"type":"user","message":{` + usage + "}}\n", 0, 0, false},
	{"E1 K24 synthetic", response("") + "\n" + `{"type":"assistant","message":{"model":"<synthetic>","usage":{"input_tokens":0,"output_tokens":0}}}` + "\n", 1, 0, false},
	{"E1 API error", `{"type":"assistant","isApiErrorMessage":true,"message":{` + usage + "}}\n", 0, 0, false},
	{"error flag said false", `{"type":"assistant","isApiErrorMessage":false,"message":{` + usage + "}}\n", 1, 0, false},
	{"E6 one message in rows", strings.Repeat(response("")+"\n", 3), 3, 0, false},
	{"E7 line separators in a text", `{"type":"assistant","x":"` + "a\u2028b\u2029c\u0085d\v\f" + `","message":{"id":"a` + "\u2028" + `b",` + usage + "}}\n", -1, 0, false},
	{"U+2028 in an id", `{"type":"assistant","message":{"id":"a` + "\u2028\u0085" + `b",` + usage + "}}\n", 1, 0, false},
	{"E19 counts that are none", withUsage(`{"input_tokens":"7"}`) + "\n" + withUsage(`{"input_tokens":true}`) + "\n" + withUsage(`{"output_tokens":1.5}`) + "\n" +
		withUsage(`{"output_tokens":1e3}`) + "\n" + withUsage(`{"cache_read_input_tokens":[1]}`) + "\n" + withUsage(`{"cache_read_input_tokens":{}}`) + "\n" +
		withUsage(`{"cache_creation":{"ephemeral_1h_input_tokens":"1"}}`) + "\n" + withUsage(`{"input_tokens":99999999999999999999}`) + "\n", 0, 8, false},
	{"counts of nothing", withUsage(`{"input_tokens":null,"output_tokens":false,"cache_read_input_tokens":-5,"cache_creation_input_tokens":-1}`) + "\n" +
		withUsage(`{"input_tokens":-0}`) + "\n" + withUsage(`{}`) + "\n", 3, 0, false},
	{"the largest count", withUsage(`{"input_tokens":9999999999999999}`) + "\n", 1, 0, false},
	{"usage that is none", withUsage(`null`) + "\n" + withUsage(`[1]`) + "\n" + withUsage(`"x"`) + "\n", 0, 0, false},
	{"F80 nested usage", `{"type":"user","toolUseResult":{"agentId":"a1",` + usage + `},"message":{"content":[{"type":"text"}]}}` + "\n" +
		`{"type":"progress","data":{"type":"agent_progress","message":{"message":{` + usage + "}}}}\n" + withUsage(`{"input_tokens":1,"iterations":[{"input_tokens":9}]}`) + "\n", 1, 0, false},
	{"F81 split", withUsage(`{"cache_creation_input_tokens":100,"cache_creation":{"ephemeral_5m_input_tokens":40,"ephemeral_1h_input_tokens":60}}`) + "\n" +
		withUsage(`{"cache_creation":{"ephemeral_1h_input_tokens":60},"cache_creation_input_tokens":100}`) + "\n" +
		withUsage(`{"cache_creation":{"ephemeral_5m_input_tokens":9,"ephemeral_1h_input_tokens":null}}`) + "\n" +
		withUsage(`{"cache_creation_input_tokens":100,"cache_creation":null}`) + "\n" + withUsage(`{"cache_creation_input_tokens":100,"cache_creation":{}}`) + "\n" +
		withUsage(`{"cache_creation_input_tokens":10,"cache_creation":{"ephemeral_5m_input_tokens":40,"ephemeral_1h_input_tokens":60}}`) + "\n", 6, 0, false},
	{"speed and place", withUsage(`{"speed":"fast","inference_geo":"us"}`) + "\n" + withUsage(`{"speed":"standard","inference_geo":"global"}`) + "\n" + withUsage(`{"speed":1,"inference_geo":null}`) + "\n", 3, 0, false},
	{"calls", response(`,"content":[{"type":"text","text":"{\"type\":\"tool_use\"}"},{"type":"tool_use","id":"c1","name":"Skill","input":{"skill":"build"}},`+
		`{"input":{"prompt":"x","subagent_type":"Explore"},"name":"Agent","id":"c2","type":"tool_use"},{"type":"tool_use","id":"c3","name":"Task","input":{}},`+
		`{"type":"tool_use","id":"c4","name":"Bash","input":{"command":"ls"}},{"type":"tool_use","name":"Skill","input":{"command":"c","name":"n"}},`+
		`{"type":"tool_use","id":"c6","name":"Skill","input":{"skill":"","command":"c"}},{"type":"tool_use","id":7,"name":["Skill"],"input":null},`+
		`{"type":"tool_use","id":"c8","name":"Skill","input":"build"},3,null,[{}]]`) + "\n", 1, 0, false},
	{"calls without usage", `{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"c","name":"Skill","input":{"skill":"x"}}]}}` + "\n", 1, 0, false},
	{"K2 side chain", `{"isSidechain":true,"agentId":"a7","attributionAgent":"Explore","type":"assistant","message":{` + usage + "}}\n" +
		`{"type":"assistant","message":{` + usage + `},"isSidechain":1}` + "\n" + `{"type":"assistant","message":{` + usage + `},"isSidechain":""}` + "\n", 3, 0, false},
	{"K5 a call made an agent", `{"type":"user","message":{"role":"user","content":[{"tool_use_id":"c2","type":"tool_result","content":"ok"}]},"toolUseResult":{"status":"completed","agentId":"a7"},` + head + "}\n" +
		`{"toolUseResult":{"agentId":"a8"},"message":{"content":[{"tool_use_id":"c3","type":"tool_result"}]},"type":"user"}` + "\n", 2, 0, false},
	{"results that made none", `{"type":"user","message":{"content":[{"tool_use_id":"c2","type":"tool_result"}]},"toolUseResult":"\"agentId\""}` + "\n" +
		`{"type":"user","message":{"content":[{"tool_use_id":"c2","type":"tool_result"}]},"toolUseResult":{"agentId":5}}` + "\n" +
		`{"type":"user","agentId":"a1","isSidechain":true,"message":{"content":[{"tool_use_id":"c2","type":"tool_result"}]},"toolUseResult":{"agentId":"a9"}}` + "\n" +
		`{"type":"user","message":{"content":[{"tool_use_id":"c2","type":"tool_result"}]},"toolUseResult":{"agentId":"a9"},"isSidechain":true}` + "\n", 0, 0, false},
	{"commands", `{"type":"user","message":{"role":"user","content":"<command-name>/clear</command-name>\n  <command-message>clear</command-message>"},` + head + "}\n" +
		`{"message":{"content":"<command-message>x is running</command-message>\n<command-name>/a\"\u00e9\ud83d</command-name>"},"type":"user"}` + "\n", 2, 0, false},
	{"no commands", `{"type":"user","message":{"content":"what does <command-name>/clear</command-name> do?"}}` + "\n" + `{"type":"user","message":{"content":"<command-name></command-name>"}}` + "\n" +
		`{"type":"user","message":{"content":"<command-name>/clear"}}` + "\n" + `{"type":"user","isSidechain":true,"message":{"content":"<command-name>/x</command-name>"}}` + "\n" +
		`{"type":"user","message":{"content":[{"type":"text","text":"<command-name>/x</command-name>"}]}}` + "\n", 0, 0, false},
	{"resumed", `{"type":"progress","data":{"type":"hook_progress","hookEvent":"SessionStart","hookName":"SessionStart:resume"},` + head + "}\n" +
		`{"data":{"hookName":"SessionStart:resume"},` + head + `,"type":"progress"}` + "\n" +
		`{"parentUuid":null,"attachment":{"type":"hook_success","hookName":"SessionStart:resume","content":"x"},"type":"attachment",` + head + "}\n" +
		`{"type":"attachment","pad":"` + strings.Repeat("p", 400) + `","attachment":{"type":"hook_system_message","content":"` + strings.Repeat("c", 400) + `","hookName":"SessionStart:resume"}}` + "\n", 4, 0, false},
	{"not resumed", `{"type":"progress","data":{"type":"bash_progress","output":"SessionStart:resume"}}` + "\n" + `{"type":"progress","data":{"type":"hook_progress","hookName":"SessionStart:startup","command":"SessionStart:resume"}}` + "\n" +
		`{"attachment":{"type":"file","content":"SessionStart:resume"},"type":"attachment"}` + "\n" + `{"attachment":{"type":"hook_success","hookName":"SessionStart:resume"},"isSidechain":true,"type":"attachment"}` + "\n" +
		`{"type":"system","data":{"hookName":"SessionStart:resume"},"attachment":{"hookName":"SessionStart:resume"}}` + "\n", 0, 0, false},
	{"attachment in another row", `{"attachment":{"x":1},"type":"assistant","message":{` + usage + "}}\n" + `{"type":"assistant","attachment":[],"message":{` + usage + "}}\n", 2, 0, false},
	{"compaction", `{"parentUuid":null,"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":167000,"postTokens":2100},` + head + "}\n" +
		`{"subtype":"compact_boundary","compactMetadata":{"trigger":"manual","preTokens":5},"type":"system","isSidechain":true}` + "\n" +
		`{"type":"system","subtype":"compact_boundary"}` + "\n" + `{"type":"system","subtype":"compact_boundary","compactMetadata":{"preTokens":"x","postTokens":-1,"trigger":3}}` + "\n" +
		`{"type":"system","subtype":"microcompact_boundary"}` + "\n" + `{"type":"user","subtype":"compact_boundary"}` + "\n", 4, 0, false},
	{"cost", `{"type":"cost-state","sessionId":"s","totalCostUSD":1.25,"modelUsage":{"m":{"costUSD":1}}}` + "\n" + `{"totalCostUSD":0,"type":"cost-state"}` + "\n" + `{"type":"cost-state"}` + "\n", 2, 0, false},
	{"costs that are none", `{"type":"cost-state","totalCostUSD":"1"}` + "\n" + `{"type":"cost-state","totalCostUSD":null}` + "\n" + `{"type":"cost-state","totalCostUSD":-1}` + "\n" + `{"type":"cost-state","totalCostUSD":1e999}` + "\n", 0, 4, false},
	{"costs that are no JSON", `{"type":"cost-state","totalCostUSD":NaN}` + "\n" + `{"type":"cost-state","totalCostUSD":Infinity}` + "\n", -1, 2, false},
	{"F86 torn", response("") + "\n" + response("")[:60], 1, 0, true},
	{"torn amid a key", response("") + "\n" + response("")[:4], 1, 0, true},
	{"whole but not ended", response("") + "\n" + response(""), 2, 0, false},
	{"not ended and counts none", withUsage(`{"input_tokens":"7"}`), 0, 0, true},
	{"other rows that are torn", response("") + "\n" + `{"type":"summary","x":"` + "\n" + `{"type":"summary","x":"`, -1, 1, true},
	{"boundary of another row", `{"type":"cost-state","subtype":"compact_boundary"}` + "\n" + `{"type":"attachment","subtype":"compact_boundary","x":"SessionStart:resume"}` + "\n", 0, 0, false},
	{"a file about hooks", `{"attachment":{"type":"file","hookName":"SessionStart:resume"},"type":"attachment"}` + "\n", 0, 0, false},
	{"a moment that is half spelled so", `{"type":"assistant","timestamp":"2026/11-30T23:00:05.000Z","message":{` + usage + "}}\n", 1, 0, false},
	{"CRLF", response("") + "\r\n" + response("") + "\r", 2, 0, false},
	{"BOM", "\xef\xbb\xbf" + response("") + "\n", 1, 0, false},
	{"NULs", response("") + "\n" + strings.Repeat("\x00", 3000) + "\n" + response("") + "\n" + strings.Repeat("\x00", 100), 2, 1, true},
	{"lone surrogates", `{"type":"assistant","x":"\ud83d","message":{"id":"\udc00a",` + usage + "}}\n" + `{"type":"assistant","cwd":"/\ud83d\ude00","message":{` + usage + "}}\n", 2, 0, false},
	{"bytes that are no text", "{\"type\":\"assistant\",\"cwd\":\"/\xff\xc3\",\"uuid\":\"\xff\\n\",\"message\":{" + usage + "}}\n", 1, 0, false},
	{"escapes in ids", `{"type":"assistant","sessionId":"a\/b\\","agentId":"\"","version":"\t","message":{"id":"\u00e9\n","model":"m\"",` + usage + "}}\n", 1, 0, false},
	{"members that are no text", `{"type":"assistant","sessionId":5,"uuid":null,"agentId":{},"attributionAgent":[],"version":true,"cwd":1,"timestamp":9,"message":{"id":1,"model":["<synthetic>"],` + usage + "}}\n", 1, 0, false},
	{"moments", `{"type":"assistant","timestamp":"2024-02-29T00:00:00.000Z","message":{` + usage + "}}\n" + `{"type":"assistant","timestamp":"2026-02-29T00:00:00.000Z","message":{` + usage + "}}\n" +
		`{"type":"assistant","timestamp":"2026-12-31T23:59:59.999Z","message":{` + usage + "}}\n" + `{"type":"assistant","timestamp":"2026-11-30T23:00:05+02:00","message":{` + usage + "}}\n" +
		`{"type":"assistant","timestamp":"2026-11-30T23:00:60.000Z","message":{` + usage + "}}\n" + `{"type":"assistant","timestamp":"2026/11/30T23:00:05.000Z","message":{` + usage + "}}\n" +
		`{"type":"assistant","timestamp":"2000-03-01T00:00:00.001Z","message":{` + usage + "}}\n" + `{"type":"assistant","timestamp":"1969-12-31T23:59:59.999Z","message":{` + usage + "}}\n", 8, 0, false},
	{"deep", `{"type":"assistant","x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `,"message":{` + usage + "}}\n", 1, 0, false},
	{"deep and not closed", `{"type":"assistant","x":` + strings.Repeat("[", 100_000) + "}\n", -1, 1, false},
	{"duplicates", `{"type":"assistant","message":{"id":"first","model":"a",` + usage + `,"content":[{"type":"tool_use","id":"c","name":"Skill"}]},"message":{"model":"z","model":"b","usage":{"output_tokens":1},"usage":{"input_tokens":2,"input_tokens":4}},"sessionId":"a","sessionId":"b"}` + "\n" +
		`{"type":"assistant","message":{` + usage + `},"message":null}` + "\n" + `{"type":"assistant","isSidechain":true,"isSidechain":false,"message":{` + usage + "}}\n" +
		withUsage(`{"cache_creation":{"ephemeral_1h_input_tokens":7},"cache_creation":{"ephemeral_5m_input_tokens":8}}`) + "\n" +
		`{"type":"system","subtype":"compact_boundary","compactMetadata":{"preTokens":5,"trigger":"auto"},"compactMetadata":{"postTokens":6}}` + "\n", 4, 0, false},
	{"broken JSON", `{"type":"assistant","message":{` + usage + "}\n" + `{"type":"assistant",}x}` + "\n" + `{"type":"assistant","message":{"id":"x}}` + "\n" + `{"type":"assistant","message":{` + usage + "}} {}\n", -1, 4, false},
}

// readers are ways to get the same bytes.
var readers = map[string]func([]byte) io.Reader{
	"at once":           func(b []byte) io.Reader { return bytes.NewReader(b) },
	"one byte":          func(b []byte) io.Reader { return iotest.OneByteReader(bytes.NewReader(b)) },
	"half":              func(b []byte) io.Reader { return iotest.HalfReader(bytes.NewReader(b)) },
	"the end with data": func(b []byte) io.Reader { return iotest.DataErrReader(bytes.NewReader(b)) },
}

func TestScan(t *testing.T) {
	for _, c := range scanCases {
		t.Run(c.n, func(t *testing.T) {
			rows, done := scan(t, strings.NewReader(c.data), scanBlock)
			want, wantDone := refer([]byte(c.data))
			if c.rows >= 0 {
				if !reflect.DeepEqual(rows, want) || done != wantDone {
					t.Errorf("%+v\n%+v; the reference\n%+v\n%+v", rows, done, want, wantDone)
				}
				if len(rows) != c.rows {
					t.Errorf("%d rows, want %d: %+v", len(rows), c.rows, rows)
				}
			}
			if done.Malformed != c.malformed || done.Torn != c.torn || done.TooLong != 0 {
				t.Errorf("%+v; want %d malformed, torn %v", done, c.malformed, c.torn)
			}
			for name, reader := range readers {
				for _, block := range []int{1, 2, 3, 7, 64, 1000, len(c.data) + 1} {
					got, gotDone := scan(t, reader([]byte(c.data)), block)
					if !reflect.DeepEqual(got, rows) || gotDone != done {
						t.Fatalf("%s in blocks of %d:\n%+v\n%+v; at once\n%+v\n%+v", name, block, got, gotDone, rows, done)
					}
				}
			}
		})
	}
}

// What a few rows mean, said without the reference's help.
func TestScanMeans(t *testing.T) {
	at := time.Date(2026, 11, 30, 23, 0, 5, 15e6, time.UTC).UnixMilli()
	base := seen{Session: "s1", UUID: "u1", Version: "2.1.332", Folder: "/w", Time: at}
	with := func(change func(*seen)) seen { s := base; change(&s); return s }
	for _, c := range []struct {
		n, line string
		want    seen
	}{
		{"response", response(`,"content":[{"type":"tool_use","id":"c1","name":"Skill","input":{"skill":"build"}}]`), with(func(s *seen) {
			s.Kind, s.ID, s.Model, s.Usage = Response, "m1", "claude-opus-5", Usage{Input: 3, Output: 5, CacheRead: 70, CacheWrite5m: 11}
			s.Calls = callText("c1", "Skill", "build")
		})},
		{"F81 partial split", withUsage(`{"cache_creation_input_tokens":100,"cache_creation":{"ephemeral_1h_input_tokens":60}}`),
			seen{Kind: Response, ID: "m", Model: "x", Usage: Usage{CacheWrite5m: 40, CacheWrite1h: 60}}},
		{"agent", `{"type":"user","message":{"content":[{"tool_use_id":"c2","type":"tool_result"}]},"toolUseResult":{"agentId":"a7"},` + head + "}",
			with(func(s *seen) { s.Kind, s.CallID, s.Agent = AgentMade, "c2", "a7" })},
		{"command", `{"type":"user","message":{"content":"<command-name>/clear</command-name>"},` + head + "}", with(func(s *seen) { s.Kind, s.Name = Command, "/clear" })},
		{"compaction", `{"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":167000,"postTokens":2100},` + head + "}",
			with(func(s *seen) { s.Kind, s.Pre, s.Post, s.Trigger = Compaction, 167000, 2100, "auto" })},
		{"the last of duplicates", `{"type":"assistant","message":{"id":"a"},"message":{"id":"b","usage":{"input_tokens":1,"input_tokens":2}}}`, seen{Kind: Response, ID: "b", Usage: Usage{Input: 2}}},
		{"the first type", `{"type":"user","message":{` + usage + `},"type":"assistant"}`, seen{}},
	} {
		rows, _ := scan(t, strings.NewReader(c.line+"\n"), scanBlock)
		var got seen
		if len(rows) > 0 {
			got = rows[0]
		}
		if got != c.want {
			t.Errorf("%s: %+v; want %+v", c.n, got, c.want)
		}
	}
}

// pads are the texts that long lines consist of, made of what may not be cut in two.
var pads = []string{"p", `\\`, `\"`, `\u2028`, `\ud83d\ude00`, "é", "\u2028", `\\\"`, `\n`, "{", "]"}

// Lines longer than a block stand everywhere relative to the blocks' ends, and their texts are cut everywhere.
func TestScanLongLines(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 8))
		block := 40 + r.IntN(3000)
		var data []byte
		for range 1 + r.IntN(8) {
			line := ""
			for line == "" || strings.Count(line, "\n") != 1 || !json.Valid([]byte(strings.TrimSpace(line))) {
				line = scanCases[r.IntN(len(scanCases))].data
			}
			line = strings.TrimSuffix(line, "\n")
			for range r.IntN(4) {
				pad := `"pad":"`
				for n := maxText - 12 + r.IntN(24); len(pad) < n; {
					pad += pads[r.IntN(len(pads))]
				}
				pad += strings.Repeat(pads[r.IntN(len(pads))], r.IntN(800)) + `"`
				if i := strings.IndexByte(line, '{') + 1; r.IntN(2) == 0 && line[i] != '}' {
					line = line[:i] + pad + "," + line[i:]
				} else if i := strings.LastIndexByte(line, '}'); line[i-1] != '{' {
					line = line[:i] + "," + pad + line[i:]
				}
			}
			data = append(append(data, line...), '\n')
		}
		if r.IntN(3) == 0 {
			data = data[:len(data)-1]
		}
		want, wantDone := refer(data)
		got, done := scan(t, bytes.NewReader(data), block)
		if !reflect.DeepEqual(got, want) || done != wantDone {
			t.Fatalf("seed %d, block %d:\n%+v\n%+v; the reference\n%+v\n%+v", seed, block, got, done, want, wantDone)
		}
	}
}

// A text is cut at every place amid its escapes, and what follows it is still read.
func TestScanCuts(t *testing.T) {
	for _, unit := range pads {
		for shift := range 14 {
			line := `{"pad":"` + strings.Repeat("s", shift) + strings.Repeat(unit, 2*maxText/len(unit)) + `",` + response("")[1:] + "\n"
			for _, block := range []int{100, maxText, maxText + 1} {
				rows, done := scan(t, strings.NewReader(line), block)
				if len(rows) != 1 || rows[0].ID != "m1" || rows[0].Usage.Input != 3 || done.Malformed != 0 {
					t.Fatalf("%q shifted by %d, block %d: %+v, %+v", unit, shift, block, rows, done)
				}
			}
		}
	}
	// What is cut is not the id itself, up to maxText.
	id := strings.Repeat("i", maxText)
	rows, _ := scan(t, strings.NewReader(`{"type":"assistant","uuid":"`+id+`","cwd":"`+id+`x","message":{`+usage+`}}`), 64)
	if len(rows) != 1 || rows[0].UUID != id || rows[0].Folder != id {
		t.Errorf("%+v", rows)
	}
}

func TestScanMaxRow(t *testing.T) {
	many := strings.Repeat(`"0123456789",`, MaxRow/13+1)
	line := response(`,"content":[` + many + `0]`)
	rows, done := scan(t, strings.NewReader(response("")+"\n"+line+"\n"+response("")+"\n"), scanBlock)
	if len(rows) != 2 || done.TooLong != 1 || done.Lines != 3 || done.Malformed != 0 || done.Torn {
		t.Errorf("%d rows, %+v", len(rows), done)
	}
	if done.Offset != int64(len(line)+2*len(response(""))+3) {
		t.Errorf("offset %d", done.Offset)
	}
	// At the end of a file it may still be written: it is torn, and will be counted when it is whole.
	if rows, done = scan(t, strings.NewReader(response("")+"\n"+line), scanBlock); len(rows) != 1 || done.TooLong != 0 || !done.Torn {
		t.Errorf("not ended: %d rows, %+v", len(rows), done)
	}
	// Up to the bound it is a row.
	line = response(`,"content":[` + many[:len(many)/2/13*13] + `0]`)
	if rows, done = scan(t, strings.NewReader(line+"\n"), scanBlock); len(rows) != 1 || done.TooLong != 0 {
		t.Errorf("below the bound: %d rows, %+v", len(rows), done)
	}
}

func TestScanReportsReadErrors(t *testing.T) {
	var s Scanner
	n := 0
	broken := errors.New("broken")
	if _, err := s.Scan(io.MultiReader(strings.NewReader(response("")+"\n"), iotest.ErrReader(broken)), func(*Row) { n++ }); err != broken || n != 1 {
		t.Errorf("%v, %d rows", err, n)
	}
	// The next scan begins afresh, also after a long line that was not ended.
	s = Scanner{block: make([]byte, 64)}
	_, _ = s.Scan(io.MultiReader(strings.NewReader(response("")[:200]), iotest.ErrReader(broken)), func(*Row) { t.Error("a row") })
	n = 0
	if done, err := s.Scan(strings.NewReader(response("")+"\n"), func(*Row) { n++ }); err != nil || n != 1 || done.Lines != 1 {
		t.Errorf("afterwards: %+v, %v, %d rows", done, err, n)
	}
}

// lines makes a transcript's bytes as they are read: small rows, and one of long bytes in the middle.
type lines struct {
	total, long int64
	at          int64
	row, next   []byte
}

func (l *lines) Read(b []byte) (int, error) {
	if len(l.next) == 0 {
		switch {
		case l.at >= l.total:
			return 0, io.EOF
		case l.long > 0 && l.at >= l.total/2:
			if l.long--; l.long == 0 {
				l.next = []byte("\"}\n")
				break
			}
			n := min(int64(len(b)), l.long)
			for i := range b[:n] {
				b[i] = 'q'
			}
			l.long -= n - 1
			l.at += n
			return int(n), nil
		default:
			if l.row == nil {
				l.row = []byte(response(`,"content":"`+strings.Repeat("c", 20_000)+`"`) + "\n")
			}
			l.next = l.row
			if l.long > 0 && l.at+int64(len(l.next)) >= l.total/2 {
				l.next = append(l.next[:len(l.next):len(l.next)], response("")[:len(response(""))-1]+`,"long":"`...)
			}
		}
	}
	n := copy(b, l.next)
	l.next = l.next[n:]
	l.at += int64(n)
	return n, nil
}

// F85: what a scan allocates does not grow with the file nor with a line. PLIMSOLL_LARGE=1 takes 600 MB.
func TestScanIsBounded(t *testing.T) {
	total := int64(80 << 20)
	if os.Getenv("PLIMSOLL_LARGE") != "" {
		total = 600 << 20
	}
	for name, made := range map[string]io.Reader{
		"a text of 64 MB": &lines{total: total, long: 64 << 20},
		"a 64 MB row of small texts": io.MultiReader(strings.NewReader(response("")[:len(response(""))-1]+`,"x":[`),
			&repeated{text: `"0123456789",`, size: 64 << 20}, strings.NewReader("0]}\n")),
		"NULs": &repeated{text: strings.Repeat("\x00", 4096), size: 64 << 20},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var s Scanner
		n := 0
		done, err := s.Scan(made, func(*Row) { n++ })
		runtime.ReadMemStats(&after)
		if err != nil || done.Malformed != 0 || n+done.TooLong != done.Lines-btoi(done.Torn) {
			t.Errorf("%s: %d rows, %+v, %v", name, n, done, err)
		}
		// The cutter's buffer doubles up to MaxRow; blocks and rows are nothing beside it.
		if spent := after.TotalAlloc - before.TotalAlloc; spent > 4*MaxRow {
			t.Errorf("%s: %d MB allocated", name, spent>>20)
		}
		if live := after.HeapSys - before.HeapSys; int64(live) > 80<<20 {
			t.Errorf("%s: the heap grew by %d MB", name, live>>20)
		}
	}
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		_, rest, _ := strings.Cut(string(status), "VmHWM:")
		peak, _, _ := strings.Cut(rest, "\n")
		t.Logf("peak resident: %s", strings.TrimSpace(peak))
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// repeated reads as text over and over, some size bytes of it.
type repeated struct {
	text string
	size int
	rest string
}

func (r *repeated) Read(b []byte) (n int, err error) {
	for n < len(b) {
		if r.rest == "" {
			if r.size <= 0 {
				break
			}
			r.rest = r.text
		}
		c := copy(b[n:], r.rest)
		r.rest = r.rest[c:]
		r.size -= c
		n += c
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// The corpus of real transcripts, where it is unpacked.
func TestScanCorpus(t *testing.T) {
	files, kinds := 0, map[Kind]int{}
	_ = filepath.WalkDir("../../.corpus", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".jsonl") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files++
		want, wantDone := refer(data)
		for _, block := range []int{scanBlock, 5000} {
			got, done := scan(t, bytes.NewReader(data), block)
			if done != wantDone {
				t.Errorf("%s in blocks of %d: %+v; the reference %+v", path, block, done, wantDone)
			}
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i] != want[i] {
					t.Errorf("%s in blocks of %d: row %d of %d and %d differs", path, block, i, len(got), len(want))
					break
				}
			}
		}
		for _, r := range want {
			kinds[r.Kind]++
		}
		return nil
	})
	if files == 0 {
		t.Skip("no corpus in .corpus: unpack transcripts.tar.gz there to check against real sessions")
	}
	t.Logf("%d files; rows by kind: %v", files, kinds)
}

// repeats tells whether an object in the JSON line has a key twice.
func repeats(line []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(line))
	type level struct {
		keys   map[string]bool // nil in an array
		isNext bool            // a key comes next
	}
	var open []level
	for {
		token, err := dec.Token()
		if err != nil {
			return false
		}
		if d, ok := token.(json.Delim); ok && (d == '}' || d == ']') {
			open = open[:len(open)-1]
			continue
		}
		if n := len(open) - 1; n >= 0 && open[n].keys != nil {
			if open[n].isNext {
				key := token.(string)
				if open[n].keys[key] {
					return true
				}
				open[n].keys[key] = true
				open[n].isNext = false
				continue
			}
			open[n].isNext = true
		}
		if d, ok := token.(json.Delim); ok {
			l := level{}
			if d == '{' {
				l = level{map[string]bool{}, true}
			}
			open = append(open, l)
		}
	}
}

// Lines do not affect each other, any chunks give the same, and a line of JSON gives what the reference finds in it.
func FuzzScan(f *testing.F) {
	for _, c := range scanCases {
		if len(c.data) < 5000 {
			f.Add([]byte(c.data), uint16(50))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, size uint16) {
		block := 1 + int(size)%2000
		whole, done := scan(t, bytes.NewReader(data), len(data)+2)
		if got, gotDone := scan(t, iotest.OneByteReader(bytes.NewReader(data)), block); len(data) <= maxText && (!reflect.DeepEqual(got, whole) || gotDone != done) {
			t.Fatalf("in blocks of %d:\n%+v\n%+v; at once\n%+v\n%+v", block, got, gotDone, whole, done)
		}
		var each []seen
		for len(data) > 0 {
			line, rest, ended := bytes.Cut(data, []byte{'\n'})
			if data = rest; ended {
				line = append(line[:len(line):len(line)], '\n')
			}
			got, gotDone := scan(t, bytes.NewReader(line), len(line)+2)
			each = append(each, got...)
			done.Offset -= gotDone.Offset
			done.Lines -= gotDone.Lines
			done.Malformed -= gotDone.Malformed
			// The client spells its keys out; of a type, or of a long prompt, the beginning decides.
			bare := bytes.Trim(bytes.TrimPrefix(bytes.TrimSuffix(line, []byte{'\n'}), bom), " \t\r")
			if !json.Valid(bare) || bytes.Contains(line, []byte(`\u00`)) || bytes.Contains(line, []byte(`\/`)) || len(line) > maxText || repeats(bare) {
				continue
			}
			if want, wantDone := refer(line); !reflect.DeepEqual(got, want) || gotDone != wantDone {
				t.Fatalf("%q:\n%+v\n%+v; the reference\n%+v\n%+v", line, got, gotDone, want, wantDone)
			}
		}
		if !reflect.DeepEqual(each, whole) || done.Offset != 0 || done.Lines != 0 || done.Malformed != 0 {
			t.Fatalf("line by line\n%+v; together\n%+v\n%+v", each, whole, done)
		}
	})
}
