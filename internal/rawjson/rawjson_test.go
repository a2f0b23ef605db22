package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseRefuses(t *testing.T) {
	for name, doc := range map[string]string{
		"empty": "", "space": " \n", "two documents": "{} {}", "trailing text": "{}x", "trailing comma": `{"a":1,}`,
		"array comma": "[1,]", "unquoted key": "{a:1}", "leading zero": `{"a":01}`, "bare minus": "-", "bare dot": "1.",
		"bare exponent": "1e", "plus": "+1", "truncated": `{"a":`, "truncated word": "tru", "control": "\"a\nb\"",
		"bad escape": `"\x"`, "short escape": `"\u12"`, "lone high": `"\ud800"`, "lone low": `"\udc00"`, "two highs": `"\ud800\ud800"`,
		"invalid utf8": "\"\xff\"", "encoded surrogate": "\"\xed\xa0\x80\"", "mismatched": "[}", "colon missing": `{"a" 1}`, "NaN": "NaN",
		"comment": "{} // x", "too deep": strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1),
		"very deep": strings.Repeat("[", 5_000_000), "nul": "\x00", "two boms": "\xef\xbb\xbf\xef\xbb\xbf{}",
	} {
		if v, err := Parse([]byte(doc)); err == nil {
			t.Errorf("%s: Parse accepted %.40q as %.40q", name, doc, v)
		}
	}
}

func TestParseAccepts(t *testing.T) {
	for name, doc := range map[string]string{
		"bom": "\xef\xbb\xbf{}", "crlf": "{\r\n\"a\":\r\n1\r\n}\r\n", "surrogate pair": `"\ud83d\ude00"`, "scalars": `[0,-0,1.5e+3,true,false,null,""]`,
		"deepest": strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth), "nested": `{"a":{"b":[{}, [ ]]}}`,
	} {
		if _, err := Parse([]byte(doc)); err != nil {
			t.Errorf("%s: Parse(%.40q): %v", name, doc, err)
		}
	}
}

func TestGet(t *testing.T) {
	v, err := Parse([]byte(`{ "a" : 1, "A":2, "a\u0062":"x\ty\ud83d\ude00", "o":{"in":[1, {"k":"v"} ,3]}, "a":9 }`))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(v.Get("a")); got != "9" {
		t.Errorf("duplicate key: got %s, want the last", got)
	}
	if got, ok := v.Get("ab").Text(); !ok || got != "x\ty😀" {
		t.Errorf("escaped key and text: got %q, %v", got, ok)
	}
	if v.Get("O") != nil || v.Get("o").Get("In") != nil || v.Get("a").Get("x") != nil || Value(nil).Get("x") != nil {
		t.Error("absent members are not nil")
	}
	var elems []string
	for e := range v.Get("o").Get("in").Elements() {
		elems = append(elems, string(e))
	}
	if want := []string{"1", `{"k":"v"}`, "3"}; !reflect.DeepEqual(elems, want) {
		t.Errorf("elements %q, want %q", elems, want)
	}
	if got := string(v.Get("o").AppendCompact(nil)); got != `{"in":[1,{"k":"v"},3]}` {
		t.Errorf("compact %s", got)
	}
	if _, ok := Value("1e999").Float(); ok {
		t.Error("a number beyond float64 has a value")
	}
}

func TestSyntaxErrorNamesTheByte(t *testing.T) {
	_, err := Parse([]byte(`{"a":1,}`))
	var syntax *SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset != 7 {
		t.Errorf("got %v, want a SyntaxError at byte 7", err)
	}
}

// encoding/json is the plain reference: whatever we accept it accepts with the same meaning, and what only we refuse
// is refused for one of the reasons the package comment gives.
func compare(t *testing.T, doc []byte) {
	v, err := Parse(doc)
	trimmed := bytes.TrimPrefix(doc, bom)
	if err != nil {
		// A string that came in as valid UTF-8 and reads back without U+FFFD had no lone surrogate.
		if json.Valid(trimmed) && utf8.Valid(trimmed) && !bytes.Contains(bytes.ToLower(trimmed), []byte(`\ud`)) && bytes.Count(trimmed, []byte("[")) < 1000 && bytes.Count(trimmed, []byte("{")) < 1000 {
			t.Fatalf("refused valid JSON %q: %v", doc, err)
		}
		return
	}
	if !json.Valid(trimmed) {
		t.Fatalf("accepted invalid JSON %q", doc)
	}
	var want, got any
	if err := json.Unmarshal(trimmed, &want); err != nil {
		return // a number beyond float64
	}
	got = decode(v)
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%q: got %#v, want %#v", doc, got, want)
	}
	compact := v.AppendCompact(nil)
	var buf bytes.Buffer
	if err := json.Compact(&buf, trimmed); err != nil || !bytes.Equal(buf.Bytes(), compact) {
		t.Fatalf("%q: compact %q, want %q (%v)", doc, compact, buf.Bytes(), err)
	}
}

// decode builds what encoding/json builds, through the package's own methods.
func decode(v Value) any {
	switch v.Kind() {
	case Object:
		m := map[string]any{}
		for k, e := range v.Members() {
			m[k] = decode(e)
			if !bytes.Equal(v.Get(k), e) {
				m[k] = decode(v.Get(k))
			}
		}
		return m
	case Array:
		s := []any{}
		for e := range v.Elements() {
			s = append(s, decode(e))
		}
		return s
	case String:
		s, _ := v.Text()
		return s
	case Number:
		f, _ := v.Float()
		return f
	case True:
		return true
	case False:
		return false
	}
	return nil
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e-3,"x\u00e9\ud83d\ude00",null,true]}`, "\xef\xbb\xbf{}", `[[],{},"",{"":{}}]`, `{"a":1,"a":2}`, `"\ud800"`, `{"a":01}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(compare)
}

// All strings of up to five characters over a small alphabet of JSON's own: every way to go wrong early.
func TestParseExhaustive(t *testing.T) {
	const alphabet = `{}[],:"\0-.eu1n `
	var walk func(prefix []byte, left int)
	walk = func(prefix []byte, left int) {
		compare(t, prefix)
		if left == 0 {
			return
		}
		for i := range len(alphabet) {
			walk(append(prefix[:len(prefix):len(prefix)], alphabet[i]), left-1)
		}
	}
	depth := 5
	if testing.Short() {
		depth = 4
	}
	walk(nil, depth)
}

func TestAppendString(t *testing.T) {
	for _, s := range []string{"", "plain", "q\"b\\s/", "\x00\x1f\x7f\n\t\r", "é😀", "\u2028\u2029", "bad\xffutf8"} {
		quoted := AppendString(nil, s)
		v, err := Parse(quoted)
		if err != nil {
			t.Fatalf("AppendString(%q) = %s: %v", s, quoted, err)
		}
		got, _ := v.Text()
		if want := strings.ToValidUTF8(s, "\uFFFD"); got != want {
			t.Errorf("AppendString(%q) reads back as %q", s, got)
		}
		if bytes.ContainsAny(quoted, "\n\r\u2028\u2029") {
			t.Errorf("AppendString(%q) = %q holds a line end", s, quoted)
		}
	}
}
