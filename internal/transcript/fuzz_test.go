package transcript

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// forwards is a second reference: the whole file from its beginning into untyped values, so that keys match letter for
// letter and every spelling of a flag is seen. (plain's struct folds case and knows booleans alone.)
func forwards(data []byte, chain Chain) (t Tail) {
	model := "" // the latest model that a row of the chain named since the last compaction
	for _, line := range bytes.Split(data, []byte{'\n'}) {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.UseNumber()
		var row map[string]any
		if dec.Decode(&row) != nil || dec.More() || !json.Valid(line) || isTrue(row["isSidechain"]) != bool(chain) {
			continue
		}
		if row["type"] == "system" && row["subtype"] == "compact_boundary" {
			t, model = Tail{Compacted: true}, ""
			continue
		}
		if kind, there := row["type"]; there && kind != "assistant" || isTrue(row["isApiErrorMessage"]) {
			continue
		}
		message, ok := row["message"].(map[string]any)
		if !ok || message["model"] == "<synthetic>" {
			continue
		}
		if name, ok := message["model"].(string); ok && name != "" {
			model = name
		}
		usage, ok := message["usage"].(map[string]any)
		if !ok {
			continue
		}
		sum, whole := int64(0), true
		for _, key := range []string{"input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"} {
			switch v := usage[key].(type) {
			case nil:
			case json.Number:
				n, err := strconv.ParseInt(v.String(), 10, 64)
				whole = whole && err == nil && n <= 1<<50 && n >= -1<<50
				sum += n
			default:
				whole = whole && v == false
			}
		}
		if whole && sum > 0 {
			t = Tail{Occupancy: sum, Model: model, Measured: true}
		}
	}
	return t
}

func isTrue(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case json.Number:
		f, _ := v.Float64()
		return f != 0
	}
	return true
}

func FuzzReadTail(f *testing.F) {
	for _, s := range []string{
		row(`{"input_tokens":7}`, "") + "\n" + row(`{"input_tokens":0}`, "") + "\n",
		row(`{"input_tokens":7}`, `,"isSidechain":"x"`) + "\n\r\n" + row(`{"cache_read_input_tokens":null}`, `,"isSidechain":0`),
		`{"message":{"model":"m"}}` + "\n" + `{"message":{"usage":{"input_tokens":9}}}` + "\n" + `{"message":{"model":"later"}}`,
		`{"type":"system","subtype":"compact_boundary"}` + "\n" + `{"message":{"usage":{"input_tokens":9}}}`,
		row(`{"input_tokens":3}`, `,"x":"\ud83d"`), row(`{"input_tokens":3}`, ",\"x\":\"\xff\""), "\xef\xbb\xbf" + row(`{"input_tokens":3}`, ""),
	} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	path := filepath.Join(f.TempDir(), "s.jsonl")
	f.Fuzz(func(t *testing.T, data []byte, side bool) {
		// The client spells its keys out; a word written with escapes is not looked for. Deeper than rawjson goes is no row.
		if strings.Contains(string(data), `\u00`) || bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) > 900 {
			t.Skip()
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := ReadTail(path, Chain(side))
		if want := forwards(data, Chain(side)); err != nil || got != want {
			t.Fatalf("%+v, %v; forwards %+v", got, err, want)
		}
	})
}
