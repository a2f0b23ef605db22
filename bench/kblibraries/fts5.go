//go:build modernc || ncruces

package main

import (
	"fmt"
	"strings"
	"unicode"
)

const schema = `create virtual table notes using fts5(file unindexed, name, description, tags, headings, body, tokenize = 'porter unicode61')`

var ranked = fmt.Sprintf(`select file from notes where notes match ? order by bm25(notes, 0, %v, %v, %v, %v, %v) limit ?`,
	weights[0], weights[1], weights[2], weights[3], weights[4])

func expression(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	for i := range words {
		words[i] = `"` + words[i] + `"`
	}
	return strings.Join(words, " OR ")
}
