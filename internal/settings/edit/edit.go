// Package edit changes JSON settings files of other programs without touching a byte that is not ours: order,
// indentation, line endings and everything else stay as they were. What it cannot parse it refuses, with line and
// column, instead of guessing.
//
// Every function takes the bytes of a file and returns new ones. The parser is hujson, because it tells where each
// value stands; its own Patch rewrites CRLF, so the splicing is done here.
package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"plimsoll/internal/rawjson"
)

// Refusal says why a file is not edited, and where in it the reason stands.
type Refusal struct {
	Line, Column int // from 1; 0 when it is about the whole file
	What         string
}

func (r *Refusal) Error() string {
	if r.Line == 0 {
		return r.What
	}
	return fmt.Sprintf("line %d, column %d: %s", r.Line, r.Column, r.What)
}

// refuse makes a Refusal at a byte offset.
func refuse(data []byte, offset int, format string, args ...any) error {
	before := data[:min(offset, len(data))]
	line := 1 + bytes.Count(before, []byte{'\n'})
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return &Refusal{line, column, fmt.Sprintf(format, args...)}
}

// Doc is a parsed file.
type Doc struct {
	data []byte
	root *hujson.Object
	top  *hujson.Value
}

// Parse reads a settings file. A file of white space alone counts as an empty object.
func Parse(data []byte) (*Doc, error) {
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return nil, refuse(data, 0, "a byte order mark")
	}
	if len(bytes.TrimSpace(data)) == 0 {
		data = append(append([]byte(nil), data...), "{}\n"...)
	}
	// The strict reader first: it bounds the depth that hujson would recurse into, and checks the encoding.
	_, strict := rawjson.Parse(data)
	v, err := hujson.Parse(data)
	var syntax *rawjson.SyntaxError
	switch {
	case errors.As(strict, &syntax) && err == nil && !v.IsStandard():
		return nil, refuse(data, syntax.Offset, "a comment or a trailing comma, which JSON does not have")
	case errors.As(strict, &syntax):
		return nil, refuse(data, syntax.Offset, "invalid JSON: %s", syntax.What)
	case strict != nil:
		return nil, strict
	case err != nil:
		return nil, fmt.Errorf("invalid JSON: %w", err)
	}
	root, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, refuse(data, v.StartOffset, "the root is no object")
	}
	return &Doc{data, root, &v}, nil
}

// Bytes is the file.
func (d *Doc) Bytes() []byte { return d.data }

// Refuse makes a Refusal that points at the value at a path, or at the file when there is none.
func (d *Doc) Refuse(path []string, format string, args ...any) error {
	v := d.find(path)
	if v == nil {
		v = d.top
	}
	return refuse(d.data, v.StartOffset, format, args...)
}

// find walks down a path of object keys; nil when it leads nowhere.
func (d *Doc) find(path []string) *hujson.Value {
	v := d.top
	for _, key := range path {
		obj, ok := v.Value.(*hujson.Object)
		if !ok {
			return nil
		}
		if v = member(obj, key); v == nil {
			return nil
		}
	}
	return v
}

// Same tells whether a raw value and one that would be written are the same, white space aside.
func Same(raw rawjson.Value, value any) bool {
	text, err := style{inline: true, newline: "\n"}.render(value, "")
	return err == nil && bytes.Equal(raw.AppendCompact(nil), text)
}

// Value returns the raw JSON at a path of object keys; nil when there is none.
func (d *Doc) Value(path ...string) rawjson.Value {
	v := d.find(path)
	if v == nil {
		return nil
	}
	return rawjson.Value(d.data[v.StartOffset:v.EndOffset])
}

// member is an object's last member of that name, as the client reads duplicates.
func member(obj *hujson.Object, key string) *hujson.Value {
	for i := len(obj.Members) - 1; i >= 0; i-- {
		if keyOf(obj.Members[i]) == key {
			return &obj.Members[i].Value
		}
	}
	return nil
}

func keyOf(m hujson.ObjectMember) string {
	lit, _ := m.Name.Value.(hujson.Literal)
	return lit.String()
}

// CheckUnique refuses a file in which one of the keys stands twice in the object at path: an edit of one of them would
// be an edit of the wrong one to some reader.
func (d *Doc) CheckUnique(path []string, keys ...string) error {
	v := d.find(path)
	if v == nil {
		return nil
	}
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for _, m := range obj.Members {
		key := keyOf(m)
		if seen[key] && (len(keys) == 0 || slices.Contains(keys, key)) {
			return refuse(d.data, m.Name.StartOffset, "a second key %q", key)
		}
		seen[key] = true
	}
	return nil
}

// Set puts value at a path of object keys; objects on the way are made when missing. A value of another type on the
// way is refused.
func Set(data []byte, value any, path ...string) ([]byte, error) {
	d, err := Parse(data)
	if err != nil {
		return nil, err
	}
	v := d.top
	for i, key := range path {
		obj, ok := v.Value.(*hujson.Object)
		if !ok {
			return nil, refuse(d.data, v.StartOffset, "%s is no object", strings.Join(path[:i], "."))
		}
		next := member(obj, key)
		if next == nil {
			for j := len(path) - 1; j > i; j-- {
				value = map[string]any{path[j]: value}
			}
			return d.insertMember(v, obj, key, value)
		}
		v = next
	}
	text, err := d.style(v).render(value, d.indentAt(v.StartOffset))
	if err != nil {
		return nil, err
	}
	return d.splice(v.StartOffset, v.EndOffset, text), nil
}

// Append adds an element to the array at a path of object keys, which is made when missing.
func Append(data []byte, element any, path ...string) ([]byte, error) {
	d, err := Parse(data)
	if err != nil {
		return nil, err
	}
	v := d.top
	for i, key := range path {
		obj, ok := v.Value.(*hujson.Object)
		if !ok {
			return nil, refuse(d.data, v.StartOffset, "%s is no object", strings.Join(path[:i], "."))
		}
		if v = member(obj, key); v == nil {
			return Set(data, []any{element}, path...)
		}
	}
	array, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil, refuse(d.data, v.StartOffset, "%s is no list", strings.Join(path, "."))
	}
	return d.insertElement(v, array, element)
}

// Remove takes the member at a path of object keys away, with its comma. A path that leads nowhere changes nothing.
func Remove(data []byte, path ...string) ([]byte, error) {
	d, err := Parse(data)
	if err != nil {
		return nil, err
	}
	v := d.find(path[:len(path)-1])
	if v == nil {
		return data, nil
	}
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return data, nil
	}
	for i := len(obj.Members) - 1; i >= 0; i-- {
		if keyOf(obj.Members[i]) == path[len(path)-1] {
			return d.cut(v, spansOfMembers(obj), i), nil
		}
	}
	return data, nil
}

// RemoveElements takes those elements of the list at a path away for which drop answers true.
func RemoveElements(data []byte, drop func(element rawjson.Value) bool, path ...string) ([]byte, error) {
	return removeElements(data, drop, func(d *Doc) *hujson.Value { return d.find(path) })
}

// RemoveElementsIn is RemoveElements for the list under key in element i of the list at a path.
func RemoveElementsIn(data []byte, drop func(element rawjson.Value) bool, i int, key string, path ...string) ([]byte, error) {
	return removeElements(data, drop, func(d *Doc) *hujson.Value {
		outer := d.find(path)
		if outer == nil {
			return nil
		}
		array, ok := outer.Value.(*hujson.Array)
		if !ok || i >= len(array.Elements) {
			return nil
		}
		obj, ok := array.Elements[i].Value.(*hujson.Object)
		if !ok {
			return nil
		}
		return member(obj, key)
	})
}

func removeElements(data []byte, drop func(rawjson.Value) bool, list func(*Doc) *hujson.Value) ([]byte, error) {
	for {
		d, err := Parse(data)
		if err != nil {
			return nil, err
		}
		v := list(d)
		if v == nil {
			return data, nil
		}
		array, ok := v.Value.(*hujson.Array)
		if !ok {
			return data, nil
		}
		spans, found := spansOfElements(array), -1
		for i, s := range spans {
			if drop(rawjson.Value(d.data[s.start:s.end])) {
				found = i
				break
			}
		}
		if found < 0 {
			return data, nil
		}
		data = d.cut(v, spans, found)
	}
}

type span struct{ start, end int }

func spansOfMembers(obj *hujson.Object) []span {
	var spans []span
	for _, m := range obj.Members {
		spans = append(spans, span{m.Name.StartOffset, m.Value.EndOffset})
	}
	return spans
}

func spansOfElements(array *hujson.Array) []span {
	var spans []span
	for _, e := range array.Elements {
		spans = append(spans, span{e.StartOffset, e.EndOffset})
	}
	return spans
}

// cut takes one item of a container away: what stands between it and its neighbour goes with it. The last one that
// goes leaves an empty container behind.
func (d *Doc) cut(container *hujson.Value, spans []span, i int) []byte {
	switch {
	case i > 0:
		return d.splice(spans[i-1].end, spans[i].end, nil)
	case len(spans) > 1:
		return d.splice(spans[0].start, spans[1].start, nil)
	}
	return d.splice(container.StartOffset+1, container.EndOffset-1, nil)
}

// splice replaces a range of the file. The file itself is left as it is.
func (d *Doc) splice(start, end int, text []byte) []byte {
	out := make([]byte, 0, len(d.data)+len(text))
	out = append(out, d.data[:start]...)
	out = append(out, text...)
	return append(out, d.data[end:]...)
}

func (d *Doc) insertMember(at *hujson.Value, obj *hujson.Object, key string, value any) ([]byte, error) {
	return d.insert(at, spansOfMembers(obj), func(s style, indent string) ([]byte, error) {
		name, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		text, err := s.render(value, indent)
		return append(append(name, s.colon...), text...), err
	})
}

func (d *Doc) insertElement(at *hujson.Value, array *hujson.Array, element any) ([]byte, error) {
	return d.insert(at, spansOfElements(array), func(s style, indent string) ([]byte, error) {
		return s.render(element, indent)
	})
}

// insert adds an item at the end of a container, written as its neighbours are: on a line of its own when they are.
func (d *Doc) insert(at *hujson.Value, spans []span, render func(s style, indent string) ([]byte, error)) ([]byte, error) {
	s := d.style(at)
	outer := d.indentAt(at.StartOffset)
	if len(spans) == 0 {
		if s.inline {
			text, err := render(s, "")
			return d.splice(at.StartOffset+1, at.StartOffset+1, text), err
		}
		inner := outer + s.unit
		text, err := render(s, inner)
		text = append([]byte(s.newline+inner), text...)
		if !bytes.Contains(d.data[at.StartOffset:at.EndOffset], []byte{'\n'}) {
			text = append(text, s.newline+outer...)
		}
		return d.splice(at.StartOffset+1, at.StartOffset+1, text), err
	}
	last := spans[len(spans)-1]
	if s.inline {
		text, err := render(s, "")
		return d.splice(last.end, last.end, append([]byte(s.comma), text...)), err
	}
	inner := d.indentAt(last.start)
	text, err := render(s, inner)
	return d.splice(last.end, last.end, append([]byte(","+s.newline+inner), text...)), err
}

// style is how a file is written.
type style struct {
	inline  bool   // the container stands on one line
	newline string // LF or CRLF
	unit    string // one level of indentation
	colon   string // with the white space the file puts after it
	comma   string // on one line
}

// style reads the manner of the file around a container.
func (d *Doc) style(at *hujson.Value) style {
	s := style{newline: "\n", unit: "  ", colon: ": ", comma: ", "}
	i := bytes.IndexByte(d.data, '\n')
	if i > 0 && d.data[i-1] == '\r' {
		s.newline = "\r\n"
	}
	items := d.root.Members
	if len(items) > 0 {
		first := items[0]
		if indent, own := d.lineStart(first.Name.StartOffset); own && indent != "" {
			s.unit = indent
		}
		if between := string(d.data[first.Name.EndOffset:first.Value.StartOffset]); !strings.ContainsAny(between, "\r\n") {
			s.colon = between
		}
		if s.colon == ":" {
			s.comma = ","
		}
	}
	if at != nil {
		text := d.data[at.StartOffset:at.EndOffset]
		// An empty container inside a file of many lines, or the whole of an empty file, is written on lines.
		empty := (text[0] == '{' || text[0] == '[') && len(bytes.TrimSpace(text[1:len(text)-1])) == 0
		oneLineFile := len(items) > 0 && !bytes.Contains(bytes.TrimSpace(d.data), []byte{'\n'})
		s.inline = !bytes.Contains(text, []byte{'\n'}) && (!empty || oneLineFile)
	}
	return s
}

// render writes a value, in the file's manner, for a place with that indentation.
func (s style) render(value any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // < and & stand in commands
	if !s.inline {
		enc.SetIndent(indent, s.unit)
	}
	if err := enc.Encode(value); err != nil {
		return nil, fmt.Errorf("write value: %w", err)
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
	if s.newline != "\n" {
		text = bytes.ReplaceAll(text, []byte{'\n'}, []byte(s.newline))
	}
	return text, nil
}

// indentAt is the white space that the line of an offset begins with.
func (d *Doc) indentAt(offset int) string {
	start := bytes.LastIndexByte(d.data[:offset], '\n') + 1
	line := d.data[start:offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// lineStart is indentAt, and whether nothing else stands before the offset on its line, with a line before it.
func (d *Doc) lineStart(offset int) (indent string, own bool) {
	start := bytes.LastIndexByte(d.data[:offset], '\n') + 1
	return d.indentAt(offset), start > 0 && len(bytes.TrimLeft(d.data[start:offset], " \t")) == 0
}
