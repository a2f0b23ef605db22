package edit

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"plimsoll/internal/rawjson"
)

func TestSet(t *testing.T) {
	for _, c := range []struct{ n, in, path, want string }{
		{"empty file", "", "a", "{\n  \"a\": 7\n}\n"},
		{"empty object", "{}", "a", "{\n  \"a\": 7\n}"},
		{"inner white space stays", "{ }", "a", "{\n  \"a\": 7\n }"},
		{"open object", "{\n}\n", "a", "{\n  \"a\": 7\n}\n"},
		{"replace", "{\"a\":1,\"b\":2}", "a", "{\"a\":7,\"b\":2}"},
		{"the last of duplicates", "{\"a\":1,\"a\":2}", "a", "{\"a\":1,\"a\":7}"},
		{"append, one line", "{\"b\":2}", "a", "{\"b\":2,\"a\":7}"},
		{"append, spaced line", "{\"b\": 2}", "a", "{\"b\": 2, \"a\": 7}"},
		{"append, lines", "{\n  \"b\": 2\n}\n", "a", "{\n  \"b\": 2,\n  \"a\": 7\n}\n"},
		{"append, tabs and CRLF", "{\r\n\t\"b\": 2\r\n}\r\n", "a", "{\r\n\t\"b\": 2,\r\n\t\"a\": 7\r\n}\r\n"},
		{"nested, new", "{\n    \"b\": 2\n}\n", "x.y", "{\n    \"b\": 2,\n    \"x\": {\n        \"y\": 7\n    }\n}\n"},
		{"nested, there", "{\n  \"x\": {\n    \"z\": 1\n  }\n}\n", "x.y", "{\n  \"x\": {\n    \"z\": 1,\n    \"y\": 7\n  }\n}\n"},
		{"nested, inline", "{\n  \"x\": {\"z\": 1}\n}\n", "x.y", "{\n  \"x\": {\"z\": 1, \"y\": 7}\n}\n"},
		{"nested, empty", "{\n  \"x\": {}\n}\n", "x.y", "{\n  \"x\": {\n    \"y\": 7\n  }\n}\n"},
	} {
		got, err := Set([]byte(c.in), 7, strings.Split(c.path, ".")...)
		if err != nil || string(got) != c.want {
			t.Errorf("%s:\n%q, %v; want\n%q", c.n, got, err, c.want)
		}
	}
	if _, err := Set([]byte(`{"x":[]}`), 1, "x", "y"); err == nil {
		t.Error("put a member into a list")
	}
}

func TestAppendAndRemoveElements(t *testing.T) {
	seven := func(v rawjson.Value) bool { return string(v) == "7" }
	for _, in := range []string{"{}", `{"a":[]}`, `{"a":[1]}`, `{"a": [1, 2]}`, "{\n  \"a\": [\n    1\n  ]\n}\n", "{\n  \"a\": []\n}\n"} {
		out, err := Append([]byte(in), 7, "a")
		if err != nil {
			t.Fatal(err)
		}
		var v struct{ A []int }
		if err := json.Unmarshal(out, &v); err != nil || v.A[len(v.A)-1] != 7 {
			t.Errorf("%q became %q, %v", in, out, err)
		}
		back, err := RemoveElements(out, seven, "a")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(in, "1") && string(back) != in {
			t.Errorf("%q came back as %q", in, back)
		}
	}
	for _, c := range []struct{ in, want string }{
		{`{"a":[7,1,7,2,7]}`, `{"a":[1,2]}`},
		{`{"a":[7]}`, `{"a":[]}`},
		{`{"a":[ 7 , 1 ]}`, `{"a":[ 1 ]}`},
		{`{"a":7}`, `{"a":7}`},
		{`{}`, `{}`},
	} {
		if got, err := RemoveElements([]byte(c.in), seven, "a"); err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v; want %s", c.in, got, err, c.want)
		}
	}
	if _, err := Append([]byte(`{"a":{}}`), 7, "a"); err == nil {
		t.Error("appended to an object")
	}
}

func TestRemove(t *testing.T) {
	for _, c := range []struct{ in, path, want string }{
		{`{"a":1}`, "a", `{}`},
		{`{"a":1,"b":2}`, "a", `{"b":2}`},
		{`{"a":1,"b":2}`, "b", `{"a":1}`},
		{"{\n  \"a\": 1,\n  \"b\": 2\n}\n", "b", "{\n  \"a\": 1\n}\n"},
		{`{"x":{"a":1}}`, "x.a", `{"x":{}}`},
		{`{"x":1}`, "x.a", `{"x":1}`},
		{`{"x":1}`, "y", `{"x":1}`},
	} {
		if got, err := Remove([]byte(c.in), strings.Split(c.path, ".")...); err != nil || string(got) != c.want {
			t.Errorf("%q without %s: %q, %v; want %q", c.in, c.path, got, err, c.want)
		}
	}
}

// Setting a new key and taking it away again is the identity, whatever the object.
func FuzzSetRemove(f *testing.F) {
	for _, s := range []string{"{}", `{"a":1}`, "{\n\t\"a\": [1, 2],\n\t\"b\": {}\n}\n", "{\"a\" :\r\n1}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Parse(data)
		if err != nil || d.Value("new key") != nil {
			return
		}
		out, err := Set(data, map[string]any{"x": []int{1}}, "new key")
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		var before, after map[string]any
		if json.Unmarshal(d.Bytes(), &before) != nil {
			return // a number beyond float64
		}
		if err := json.Unmarshal(out, &after); err != nil {
			t.Fatalf("%q became %q: %v", data, out, err)
		}
		delete(after, "new key")
		if !reflect.DeepEqual(before, after) {
			t.Fatalf("%q became %q", data, out)
		}
		back, err := Remove(out, "new key")
		if err != nil {
			t.Fatal(err)
		}
		if len(before) > 0 && string(back) != string(data) {
			t.Fatalf("%q came back as %q", data, back)
		}
	})
}
