// Package rawjson reads one JSON document without copying it, and more strictly than encoding/json: what it
// accepts is exactly one document in valid UTF-8, without lone surrogates, at most MaxDepth deep.
//
// The hook binary reads other programs' files on every tool call, so the reader has to keep three promises that
// encoding/json does not: keys match letter for letter (encoding/json folds case), every value keeps the spelling
// it had (a 20-digit number is not rounded), and no input, however deep, can exhaust the stack.
package rawjson

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is how many arrays and objects may stand inside each other.
const MaxDepth = 1000

// A SyntaxError says what is wrong with a document, and at which byte.
type SyntaxError struct {
	Offset int // bytes from the start of the document
	What   string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.What) }

// ErrEmpty reports a document of white space alone.
var ErrEmpty = errors.New("empty document")

// Value is one valid JSON value as it was spelled, without white space around it. The nil Value is "absent", and
// every method may be called on it.
type Value []byte

// Kind is the first byte of a value's spelling, except that all numbers are Number.
type Kind byte

// The kinds of value.
const (
	Absent Kind = 0
	Null   Kind = 'n'
	True   Kind = 't'
	False  Kind = 'f'
	String Kind = '"'
	Number Kind = '0'
	Object Kind = '{'
	Array  Kind = '['
)

var bom = []byte("\xef\xbb\xbf")

// Parse returns the one value that data holds. A byte order mark before it is skipped. The value is a part of data,
// not a copy. The error is ErrEmpty or a *SyntaxError.
func Parse(data []byte) (Value, error) {
	start := 0
	if bytes.HasPrefix(data, bom) {
		start = len(bom)
	}
	start = skipSpace(data, start)
	if start == len(data) {
		return nil, ErrEmpty
	}
	end, err := check(data, start)
	if err != nil {
		return nil, err
	}
	if rest := skipSpace(data, end); rest != len(data) {
		return nil, &SyntaxError{rest, "text after the document"}
	}
	return Value(data[start:end:end]), nil
}

// Kind tells what v is.
func (v Value) Kind() Kind {
	if len(v) == 0 {
		return Absent
	}
	switch c := v[0]; c {
	case 'n', 't', 'f', '"', '{', '[':
		return Kind(c)
	default:
		return Number
	}
}

// Get returns the member of an object, and nil when v is no object or has no such member. Of duplicates the last
// counts, as in jq and in the client's own parser.
func (v Value) Get(key string) Value {
	var found Value
	for k, m := range v.members() {
		if keyIs(k, key) {
			found = m
		}
	}
	return found
}

// Members yields an object's members in their order, duplicates included, with decoded keys.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for k, m := range v.members() {
			if !yield(unquote(k), m) {
				return
			}
		}
	}
}

// members is Members with the keys as they were spelled.
func (v Value) members() iter.Seq2[Value, Value] {
	return func(yield func(Value, Value) bool) {
		if v.Kind() != Object {
			return
		}
		i := skipSpace(v, 1)
		for v[i] != '}' {
			keyEnd := skipValue(v, i)
			key := v[i:keyEnd:keyEnd]
			i = skipSpace(v, keyEnd)
			i = skipSpace(v, i+1) // the colon
			end := skipValue(v, i)
			if !yield(key, v[i:end:end]) {
				return
			}
			if i = skipSpace(v, end); v[i] == ',' {
				i = skipSpace(v, i+1)
			}
		}
	}
}

// Elements yields an array's elements in their order.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.Kind() != Array {
			return
		}
		i := skipSpace(v, 1)
		for v[i] != ']' {
			end := skipValue(v, i)
			if !yield(v[i:end:end]) {
				return
			}
			if i = skipSpace(v, end); v[i] == ',' {
				i = skipSpace(v, i+1)
			}
		}
	}
}

// Text returns a string's decoded text; ok is false for every other kind.
func (v Value) Text() (text string, ok bool) {
	if v.Kind() != String {
		return "", false
	}
	return unquote(v), true
}

// TextOr is Text with a word for "no string".
func (v Value) TextOr(def string) string {
	if s, ok := v.Text(); ok {
		return s
	}
	return def
}

// Float returns a number's value; ok is false for every other kind and for a number that float64 cannot hold.
func (v Value) Float() (f float64, ok bool) {
	if v.Kind() != Number {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v), 64)
	return f, err == nil
}

// AppendCompact appends v without its insignificant white space, everything else as it was spelled.
func (v Value) AppendCompact(dst []byte) []byte {
	for i := 0; i < len(v); {
		switch c := v[i]; c {
		case ' ', '\t', '\n', '\r':
			i++
		case '"':
			end := skipString(v, i)
			dst = append(dst, v[i:end]...)
			i = end
		default:
			dst = append(dst, c)
			i++
		}
	}
	return dst
}

// AppendString appends s as a JSON string. Control characters, quotes, backslashes, and U+2028 and U+2029 (line
// ends to some readers) are escaped; invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r == '\r':
			dst = append(dst, '\\', 'r')
		case r < 0x20 || r == 0x7f || r == 0x2028 || r == 0x2029:
			dst = append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

func keyIs(raw Value, key string) bool {
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner) == key
	}
	return unquote(raw) == key
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipValue returns the end of the valid value at i. It counts brackets instead of recursing.
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i // the end of a scalar before its container's bracket
			}
			depth--
			i++
		case ',', ' ', '\t', '\n', '\r', ':':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			i++
			if depth == 0 {
				continue // inside a number or a word
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// skipString returns the end of the valid string at i.
func skipString(b []byte, i int) int {
	for i++; ; i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// unquote decodes a valid string.
func unquote(raw Value) string {
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	out := make([]byte, 0, len(inner))
	for i := 0; i < len(inner); i++ {
		if inner[i] != '\\' {
			out = append(out, inner[i])
			continue
		}
		i++
		switch c := inner[i]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := hex4(inner[i+1:])
			i += 4
			if utf16.IsSurrogate(r) {
				r = utf16.DecodeRune(r, hex4(inner[i+3:]))
				i += 6
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// hex4 reads four hex digits; -1 when they are not there.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
