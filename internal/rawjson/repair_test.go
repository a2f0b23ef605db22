package rawjson

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestRepair(t *testing.T) {
	for in, want := range map[string]string{
		`"a"`:                   `"a"`,
		`"\ud83d"`:              `"\ufffd"`,
		`"\ud83d\ud83d\ude00"`:  `"\ufffd\ud83d\ude00"`,
		`"\ude00\ud83d"`:        `"\ufffd\ufffd"`,
		`"\ud83d\n"`:            `"\ufffd\n"`,
		`"\\ud83d"`:             `"\\ud83d"`, // an escaped backslash, then letters
		`"\u00e9\ud83d\ude00é"`: `"\u00e9\ud83d\ude00é"`,
		"\"\xff\xc3(\"":         "\"\ufffd\ufffd(\"",
		`"\ud8`:                 `"\ud8`, // torn
		`"\u`:                   `"\u`,
		`"\`:                    `"\`,
		"\\\xff":                "\\\ufffd",
		"":                      "",
	} {
		if got := string(Repair([]byte(in))); got != want {
			t.Errorf("Repair(%q) = %q, want %q", in, got, want)
		}
	}
}

// What encoding/json reads as a string, Repair makes readable here, as the same string; what it refuses stays refused.
func FuzzRepair(f *testing.F) {
	for _, s := range []string{`"\ud83d"`, `"\ud83d\ude00 \ude00"`, "\"\xff\"", `"\\\ud800"`, `{"a":"\udbff\u"}`, `"\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		repaired := Repair([]byte(s))
		v, err := Parse(repaired)
		var want string
		switch jsonErr := json.Unmarshal([]byte(s), &want); {
		case jsonErr == nil && (err != nil || v.Kind() == String && v.TextOr("") != want):
			t.Fatalf("%q: %q, %v; want %q", s, v, err, want)
		case err == nil && !json.Valid(bytes.TrimPrefix(repaired, bom)):
			t.Fatalf("%q: repaired to %q, which is no JSON", s, repaired)
		}
	})
}
