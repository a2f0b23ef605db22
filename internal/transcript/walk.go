package transcript

import (
	"bytes"

	"plimsoll/internal/rawjson"
)

// walk goes once over a JSON text and looks only at what it is asked for. Unlike rawjson.Parse it does not check what it
// passes over, which is what lets a report read a gigabyte in a second: a text is only held against JSON where its
// structure is needed. What cannot be followed sets bad and ends every loop; nothing read before that is to be used.
type walk struct {
	b   []byte
	i   int
	bad bool
}

func (w *walk) space() {
	for w.i < len(w.b) && (w.b[w.i] == ' ' || w.b[w.i] == '\t' || w.b[w.i] == '\r' || w.b[w.i] == '\n') {
		w.i++
	}
}

// enter steps into an object or array that begins here; false when none does.
func (w *walk) enter(open byte) bool {
	if w.bad || w.i >= len(w.b) || w.b[w.i] != open {
		return false
	}
	w.i++
	return true
}

// key steps to the next member of the object that was entered, in front of its value, and returns the key as it is
// spelled between the quotes; false at the object's end.
func (w *walk) key() (key []byte, ok bool) {
	if !w.next('}') {
		return nil, false
	}
	if w.b[w.i] != '"' {
		w.bad = true
		return nil, false
	}
	key = w.str()
	w.space()
	if w.i >= len(w.b) || w.b[w.i] != ':' {
		w.bad = true
		return nil, false
	}
	w.i++
	w.space()
	return key, !w.bad
}

// element steps in front of the next element of the array that was entered; false at its end.
func (w *walk) element() bool { return w.next(']') }

func (w *walk) next(closing byte) bool {
	w.space()
	if w.i < len(w.b) && w.b[w.i] == ',' {
		w.i++
		w.space()
	}
	if w.bad || w.i >= len(w.b) {
		w.bad = true
		return false
	}
	if w.b[w.i] == closing {
		w.i++
		return false
	}
	return true
}

// str passes over the string that begins here and returns what stands between its quotes.
func (w *walk) str() []byte {
	start := w.i + 1
	end := stringEnd(w.b, start)
	if end < 0 {
		w.bad = true
		w.i = len(w.b)
		return nil
	}
	w.i = end + 1
	return w.b[start:end]
}

// stringEnd returns where the quote stands that ends the string whose text begins at start; -1 when none does.
func stringEnd(b []byte, start int) int {
	for j := start; ; j++ {
		n := bytes.IndexByte(b[j:], '"')
		if n < 0 {
			return -1
		}
		j += n
		k := j
		for k > start && b[k-1] == '\\' {
			k--
		}
		if (j-k)%2 == 0 {
			return j
		}
	}
}

// text is str for a value that may be something else: nil then.
func (w *walk) text() []byte {
	if w.i < len(w.b) && w.b[w.i] == '"' {
		return w.str()
	}
	w.skip()
	return nil
}

// skip passes over the value that begins here and returns its spelling.
func (w *walk) skip() []byte {
	start := w.i
	if start >= len(w.b) {
		w.bad = true
		return nil
	}
	switch w.b[start] {
	case '"':
		w.str()
	case '{', '[':
		w.skipNested()
	default:
		for w.i < len(w.b) && !delimiter(w.b[w.i]) {
			w.i++
		}
		w.bad = w.bad || w.i == start
	}
	return w.b[start:w.i]
}

func delimiter(c byte) bool {
	return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ':' || c == '"' || c == '{' || c == '['
}

// skipNested counts brackets without telling them apart: input cannot make it recurse.
func (w *walk) skipNested() {
	depth := 0
	for i := w.i; i < len(w.b); i++ {
		switch w.b[i] {
		case '"':
			end := stringEnd(w.b, i+1)
			if end < 0 {
				i = len(w.b)
				continue
			}
			i = end
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				w.i = i + 1
				return
			}
		}
	}
	w.i, w.bad = len(w.b), true
}

// count reads a token count: a whole number. What measures nothing, null, false or less than 0, is 0.
func (w *walk) count() (n int64, ok bool) {
	v := w.skip()
	switch {
	case len(v) == 0:
		return 0, false
	case v[0] == 'n' || v[0] == 'f':
		return 0, true
	case len(v) > 16: // nobody counts to 10^16 tokens
		return 0, false
	}
	digits := bytes.TrimPrefix(v, []byte("-"))
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if len(digits) < len(v) {
		return 0, len(digits) > 0
	}
	return n, true
}

// truth is what a flag means that may be missing or no boolean.
func (w *walk) truth() bool { return truthy(rawjson.Value(w.skip())) }

// decoded is the text of what stands between a string's quotes. A text that is no JSON stays as it is spelled.
func decoded(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	quoted := append(append([]byte{'"'}, raw...), '"')
	v, err := rawjson.Parse(rawjson.Repair(quoted))
	if err != nil {
		return raw
	}
	return []byte(v.TextOr(""))
}
