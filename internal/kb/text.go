package kb

import (
	"fmt"
	"strings"
)

// HitsText is what people and models read of a search: for each hit its place, what the note says about itself, the
// snippet, and what else in it fits.
func HitsText(hits []Hit) string {
	var b strings.Builder
	for i, h := range hits {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%d. %s", i+1, h.File)
		if h.Heading != "" {
			fmt.Fprintf(&b, "#%s", h.Heading)
		}
		fmt.Fprintf(&b, "  (lines %d-%d, score %.1f, %s)\n", h.First, h.Last, h.Score, h.Folder)
		if about := joinNonEmpty(" · ", h.Name, h.Date, h.Tags); about != "" {
			b.WriteString("   " + about + "\n")
		}
		if h.Description != "" {
			b.WriteString("   " + h.Description + "\n")
		}
		if h.Snippet != "" {
			b.WriteString("   > " + h.Snippet + "\n")
		}
		if len(h.More) > 0 {
			var more []string
			for _, r := range h.More {
				more = append(more, fmt.Sprintf("%s (lines %d-%d)", r.Heading, r.First, r.Last))
			}
			b.WriteString("   also: " + strings.Join(more, ", ") + "\n")
		}
	}
	return b.String()
}

func joinNonEmpty(sep string, parts ...string) string {
	var have []string
	for _, p := range parts {
		if p != "" {
			have = append(have, p)
		}
	}
	return strings.Join(have, sep)
}
