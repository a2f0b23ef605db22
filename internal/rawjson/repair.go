package rawjson

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Repair returns data with what is no text replaced by U+FFFD: bytes that are not UTF-8, and escapes of lone surrogates.
// JavaScript writes such an escape wherever it cut a string amid a character, so a file that is another program's may
// hold them in places that a reader does not even look at. Everything else, wrong or right, stays as it is.
func Repair(data []byte) []byte {
	out := make([]byte, 0, len(data)+16)
	for i := 0; i < len(data); {
		switch c := data[i]; {
		case c == '\\' && i+1 < len(data) && data[i+1] == 'u':
			r := hex4(data[i+2:])
			size := 6
			switch {
			case r < 0:
				size = 2 // no escape at all, which is for Parse to say
			case utf16.IsSurrogate(r):
				if pairs(data[i:]) {
					size = 12
				} else {
					out = append(out, `\ufffd`...)
					i += size
					continue
				}
			}
			out = append(out, data[i:i+size]...)
			i += size
		case c == '\\' && i+1 < len(data) && data[i+1] < utf8.RuneSelf:
			out = append(out, c, data[i+1])
			i += 2
		case c < utf8.RuneSelf:
			out = append(out, c)
			i++
		default:
			r, size := utf8.DecodeRune(data[i:])
			out = utf8.AppendRune(out, r)
			i += size
		}
	}
	return out
}

// pairs tells whether b begins with the escapes of a whole surrogate pair.
func pairs(b []byte) bool {
	if len(b) < 12 || b[6] != '\\' || b[7] != 'u' {
		return false
	}
	high, low := hex4(b[2:]), hex4(b[8:])
	return low >= 0 && utf16.DecodeRune(high, low) != utf8.RuneError
}
