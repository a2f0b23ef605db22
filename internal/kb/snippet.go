package kb

import (
	"strings"
	"unicode"
)

// MaxSnippet is the most characters that a snippet has.
const MaxSnippet = 300

// Marks around the words that fit, in the text that comes from the index. Clean leaves no such character in a note.
const (
	markOn  = "\x02"
	markOff = "\x03"
)

// lead is how much of the text before the first word that fits is shown, in characters.
const lead = 60

// snippet cuts the part out of a marked text that has the most different words that fit, the earliest such part.
func snippet(marked string) string {
	var text []rune
	type mark struct {
		at, end int
		word    string
	}
	var marks []mark
	open := -1
	for _, r := range strings.Join(strings.Fields(marked), " ") {
		switch string(r) {
		case markOn:
			open = len(text)
		case markOff:
			if open >= 0 {
				marks = append(marks, mark{open, len(text), strings.ToLower(string(text[open:]))})
			}
			open = -1
		default:
			text = append(text, r)
		}
	}
	if len(text) <= MaxSnippet {
		return string(text)
	}
	const room = MaxSnippet - 2 // an ellipsis on either side
	from, most := 0, -1
	for i, m := range marks {
		start := min(wordStart(text, max(0, m.at-lead)), m.at)
		seen := map[string]bool{}
		for _, n := range marks[i:] {
			if n.end > start+room {
				break
			}
			seen[n.word] = true
		}
		if len(seen) > most {
			from, most = start, len(seen)
		}
	}
	// At the end of the text there is room for more of what stands before.
	if from > len(text)-room {
		from = wordStart(text, len(text)-room)
	}
	to := min(from+room, len(text))
	if to < len(text) {
		for cut := to; cut > to-30; cut-- {
			if text[cut] == ' ' {
				to = cut
				break
			}
		}
	}
	out := string(text[from:to])
	if from > 0 {
		out = "…" + out
	}
	if to < len(text) {
		out += "…"
	}
	return out
}

// wordStart returns the next beginning of a word at or after i, unless that is far.
func wordStart(text []rune, i int) int {
	if i == 0 {
		return 0
	}
	for at := i; at < len(text) && at < i+30; at++ {
		if text[at-1] == ' ' {
			return at
		}
	}
	return i
}

// Clean makes a note's text fit for a terminal and a model: control characters but line feed and tab, and the
// characters that turn the direction of text around, are dropped.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029':
			return -1
		}
		return r
	}, s)
}

// Line is Clean on one line.
func Line(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }
