package rawjson

import (
	"math"
	"strconv"
)

// Builder writes JSON piece by piece and puts the commas itself. The hook binary does without encoding/json, whose
// start-up every call would pay. The zero Builder is ready; brackets are the caller's to balance.
type Builder struct{ buf []byte }

// Bytes is what was written.
func (b *Builder) Bytes() []byte { return b.buf }

// Len is how many bytes were written.
func (b *Builder) Len() int { return len(b.buf) }

// Truncate drops what was written after the first n bytes.
func (b *Builder) Truncate(n int) { b.buf = b.buf[:n] }

// separate writes the comma that a further member or element needs.
func (b *Builder) separate() {
	if len(b.buf) == 0 {
		return
	}
	switch b.buf[len(b.buf)-1] {
	case '{', '[', ':', '\n':
		return
	}
	b.buf = append(b.buf, ',')
}

// Open begins an object as the root, an element or the value after Key.
func (b *Builder) Open() {
	b.separate()
	b.buf = append(b.buf, '{')
}

// Close ends an object.
func (b *Builder) Close() { b.buf = append(b.buf, '}') }

// OpenArray begins an array.
func (b *Builder) OpenArray() {
	b.separate()
	b.buf = append(b.buf, '[')
}

// CloseArray ends an array.
func (b *Builder) CloseArray() { b.buf = append(b.buf, ']') }

// EndLine writes a line feed after the document.
func (b *Builder) EndLine() { b.buf = append(b.buf, '\n') }

// Key begins a member.
func (b *Builder) Key(key string) {
	b.separate()
	b.buf = AppendString(b.buf, key)
	b.buf = append(b.buf, ':')
}

// Text writes a member that is a string.
func (b *Builder) Text(key, value string) {
	b.Key(key)
	b.buf = AppendString(b.buf, value)
}

// Float writes a member that is a number; one that JSON cannot hold becomes null.
func (b *Builder) Float(key string, value float64) {
	b.Key(key)
	if math.IsInf(value, 0) || math.IsNaN(value) {
		b.buf = append(b.buf, "null"...)
		return
	}
	b.buf = strconv.AppendFloat(b.buf, value, 'f', -1, 64)
}

// Int writes a member that is a whole number.
func (b *Builder) Int(key string, value int64) {
	b.Key(key)
	b.buf = strconv.AppendInt(b.buf, value, 10)
}

// Bool writes a member that is true or false.
func (b *Builder) Bool(key string, value bool) {
	b.Key(key)
	b.buf = strconv.AppendBool(b.buf, value)
}
