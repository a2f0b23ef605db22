package kb

import (
	"strings"
	"unicode"
)

// The tokenizer cuts at everything but letters and digits and stems what is left, so snake_case, kebab-case, paths and
// dotted names come apart by themselves. It does not see the words in CamelCase; those are indexed beside the text.

// parts cuts a word at its changes of case: ManifestCloser, HTTPServer, departsLocal. A word without such a change has
// one part. word consists of letters and digits.
func parts(word string) []string {
	rs := []rune(word)
	var out []string
	start := 0
	for i := 1; i < len(rs); i++ {
		up := unicode.IsUpper(rs[i])
		if up && !unicode.IsUpper(rs[i-1]) || up && i+1 < len(rs) && unicode.IsLower(rs[i+1]) {
			out = append(out, string(rs[start:i]))
			start = i
		}
	}
	return append(out, string(rs[start:]))
}

// words cuts a text as the tokenizer does.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !isWord(r) })
}

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Co, r)
}

// appendParts writes the parts of the text's CamelCase words, one word a line.
func appendParts(b *strings.Builder, text string) {
	for _, w := range words(text) {
		if strings.IndexFunc(w[1:], unicode.IsUpper) < 0 {
			continue // nearly all words; also right where w begins with several bytes
		}
		if p := parts(w); len(p) > 1 {
			b.WriteString(strings.Join(p, " "))
			b.WriteByte('\n')
		}
	}
}

// Bounds of a query: a question has a few dozen words; a whole file that was pasted is none.
const (
	maxQueryBytes = 4000
	maxQueryTerms = 64
)

// terms returns what a query looks for, each an FTS5 string: its words; for what is written as one but has several
// words, such as a path or an identifier, also the words in this order; CamelCase also in its parts. There are no stop
// words: BM25 gives a word that stands in most notes next to no weight, and one that a rule would drop ("to be") may be
// all there is.
func terms(query string) []string {
	if len(query) > maxQueryBytes {
		query = strings.ToValidUTF8(query[:maxQueryBytes], "")
	}
	var out []string
	seen := map[string]bool{}
	add := func(ws ...string) {
		t := `"` + strings.ToLower(strings.Join(ws, " ")) + `"`
		if !seen[t] && len(out) < maxQueryTerms {
			seen[t] = true
			out = append(out, t)
		}
	}
	for _, field := range strings.Fields(query) {
		ws := words(field)
		if len(ws) > 1 {
			add(ws...)
		}
		for _, w := range ws {
			add(w)
			if p := parts(w); len(p) > 1 {
				add(p...)
				for _, s := range p {
					add(s)
				}
			}
		}
	}
	return out
}
