package note

import (
	"strings"
	"unicode"
)

// Lines is how many lines the note has.
func (n Note) Lines() int { return n.lines }

// Section returns the heading of the section that heading names, and the section's last line: it goes to before the next
// heading of the same or a higher level. Names match letter for letter, then in any case, then as the anchor that
// web pages make of a heading (lower case, - for blanks). The name may be a path of headings with " > " between them.
func (n Note) Section(heading string) (found Heading, last int, ok bool) {
	for _, same := range []func(string) bool{
		func(s string) bool { return s == heading },
		func(s string) bool { return strings.EqualFold(s, heading) },
		func(s string) bool { return Anchor(s) == Anchor(heading) && Anchor(s) != "" },
	} {
		for i, h := range n.Headings {
			if !same(h.Title) && !same(h.Path) {
				continue
			}
			last := n.lines
			for _, next := range n.Headings[i+1:] {
				if next.Level <= h.Level {
					last = next.Line - 1
					break
				}
			}
			return h, last, true
		}
	}
	return Heading{}, 0, false
}

// Anchor is the fragment that names a heading in a link: letters, digits, - and _ in lower case, blanks as -.
func Anchor(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}
