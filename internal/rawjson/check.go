package rawjson

import (
	"unicode/utf16"
	"unicode/utf8"
)

// check validates the value at i and returns its end. The containers that are open are kept in a slice, one byte
// each, so that the depth of the input is memory of ours and never stack.
func check(b []byte, i int) (int, error) {
	var open []byte
	for {
		i = skipSpace(b, i)
		if i == len(b) {
			return i, unexpectedEnd(i)
		}
		// A value has to stand here.
		var err error
		switch c := b[i]; {
		case c == '{' || c == '[':
			if len(open) == MaxDepth {
				return i, &SyntaxError{i, "nested too deeply"}
			}
			open = append(open, c)
			i = skipSpace(b, i+1)
			if i < len(b) && b[i] == closer(c) {
				i++
				open = open[:len(open)-1]
				break
			}
			if c == '{' {
				if i, err = checkKey(b, i); err != nil {
					return i, err
				}
			}
			continue
		case c == '"':
			i, err = checkString(b, i)
		case c == '-' || c >= '0' && c <= '9':
			i, err = checkNumber(b, i)
		case c == 't':
			i, err = checkWord(b, i, "true")
		case c == 'f':
			i, err = checkWord(b, i, "false")
		case c == 'n':
			i, err = checkWord(b, i, "null")
		default:
			err = &SyntaxError{i, "no value starts like this"}
		}
		if err != nil {
			return i, err
		}
		// A value ended: close what ends with it, up to a comma or the end of the document.
		for {
			if len(open) == 0 {
				return i, nil
			}
			i = skipSpace(b, i)
			if i == len(b) {
				return i, unexpectedEnd(i)
			}
			top := open[len(open)-1]
			if b[i] == closer(top) {
				i++
				open = open[:len(open)-1]
				continue
			}
			if b[i] != ',' {
				return i, &SyntaxError{i, "no comma or closing bracket after a value"}
			}
			i++
			if top == '{' {
				if i, err = checkKey(b, skipSpace(b, i)); err != nil {
					return i, err
				}
			}
			break
		}
	}
}

func closer(open byte) byte { return open + 2 } // '{'+2 is '}', '['+2 is ']'

func unexpectedEnd(i int) error { return &SyntaxError{i, "the document ends too early"} }

// checkKey validates a key and its colon.
func checkKey(b []byte, i int) (int, error) {
	if i == len(b) {
		return i, unexpectedEnd(i)
	}
	if b[i] != '"' {
		return i, &SyntaxError{i, "no key where one has to be"}
	}
	i, err := checkString(b, i)
	if err != nil {
		return i, err
	}
	i = skipSpace(b, i)
	if i == len(b) {
		return i, unexpectedEnd(i)
	}
	if b[i] != ':' {
		return i, &SyntaxError{i, "no colon after a key"}
	}
	return i + 1, nil
}

func checkString(b []byte, i int) (int, error) {
	for i++; i < len(b); {
		switch c := b[i]; {
		case c == '"':
			return i + 1, nil
		case c == '\\':
			end, err := checkEscape(b, i)
			if err != nil {
				return i, err
			}
			i = end
		case c < 0x20:
			return i, &SyntaxError{i, "control character in a string"}
		case c < utf8.RuneSelf:
			i++
		default:
			r, size := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && size == 1 {
				return i, &SyntaxError{i, "invalid UTF-8"}
			}
			i += size
		}
	}
	return i, unexpectedEnd(i)
}

func checkEscape(b []byte, i int) (int, error) {
	if i+1 >= len(b) {
		return i, unexpectedEnd(len(b))
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, nil
	case 'u':
		r := hex4(b[i+2:])
		if r < 0 {
			return i, &SyntaxError{i, "bad \\u escape"}
		}
		if !utf16.IsSurrogate(r) {
			return i + 6, nil
		}
		if len(b) >= i+12 && b[i+6] == '\\' && b[i+7] == 'u' {
			if low := hex4(b[i+8:]); low >= 0 && utf16.DecodeRune(r, low) != utf8.RuneError {
				return i + 12, nil
			}
		}
		return i, &SyntaxError{i, "lone surrogate"}
	}
	return i, &SyntaxError{i, "bad escape"}
}

func checkNumber(b []byte, i int) (int, error) {
	start := i
	if b[i] == '-' {
		i++
	}
	intStart := i
	if i = skipDigits(b, i); i == intStart || b[intStart] == '0' && i > intStart+1 {
		return start, &SyntaxError{start, "bad number"}
	}
	if i < len(b) && b[i] == '.' {
		frac := i + 1
		if i = skipDigits(b, frac); i == frac {
			return start, &SyntaxError{start, "bad number"}
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		exp := i
		if i = skipDigits(b, exp); i == exp {
			return start, &SyntaxError{start, "bad number"}
		}
	}
	return i, nil
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}

func checkWord(b []byte, i int, word string) (int, error) {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return i, &SyntaxError{i, "no value starts like this"}
	}
	return i + len(word), nil
}
