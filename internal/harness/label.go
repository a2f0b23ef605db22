package harness

import (
	"strings"
	"unicode"
)

// MaxLabel is how many characters of a label are shown.
const MaxLabel = 80

// Label makes text from a payload fit to be shown to a model or on a terminal: control characters, format characters
// (the bidirectional ones among them), line and paragraph separators and invalid bytes are dropped, and it is cut at
// MaxLabel characters.
func Label(s string) string { return Plain(s, MaxLabel) }

// Plain is Label with another limit, for texts that are made of several labels.
func Plain(s string, max int) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if r == unicode.ReplacementChar || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) {
			continue
		}
		if n++; n > max {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}
