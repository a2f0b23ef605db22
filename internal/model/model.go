// Package model knows the models by their ids: which id is which model, and how large its context window is. The table
// is data, every row with its source and date; an id that is not in it is not known, and never guessed from its parts.
package model

import "strings"

// The windows that clients assign, in tokens.
const (
	Window200K = 200_000
	Window1M   = 1_000_000
)

// Row is one model.
type Row struct {
	Name   string // the id without provider, date and spelling variants: "opus-4-8", "3-5-haiku"
	Window int    // tokens, for an id without [1m]; 0: runs with either window, which the id does not tell
	Source string
	Date   string // when the source said so
}

// Sources of the table's rows.
const (
	measured = "modelUsage of client 2.1.332, scripted usage"
	pinned   = "windows pinned by the predecessor's cases G45-G60; transcripts drop the [1m] of these models"
	either   = "client 2.1.332: 200k, and 1M with [1m], which transcripts drop"
)

const (
	measuredOn = "2026-11-30"
	pinnedOn   = "2026-08-26"
)

// rows is the table. A row of window 0 says that the id alone does not tell.
var rows = [...]Row{
	{"fable-5-2", Window1M, measured, measuredOn},
	{"fable-5-1", Window1M, measured, measuredOn},
	{"fable-5", Window1M, measured, measuredOn},
	{"fable-1", Window1M, pinned, pinnedOn},
	{"mythos-5", Window1M, measured, measuredOn},
	{"mythos-1", Window1M, pinned, pinnedOn},
	{"opus-5-5", Window1M, measured, measuredOn},
	{"opus-5", Window1M, measured, measuredOn},
	{"opus-4-8", Window1M, measured, measuredOn},
	{"opus-4-7", Window1M, measured, measuredOn},
	{"opus-4-6", Window1M, pinned, pinnedOn},
	{"opus-4-5", 0, either, measuredOn},
	{"sonnet-5-5", Window1M, measured, measuredOn},
	{"sonnet-5", Window1M, measured, measuredOn},
	{"sonnet-4-6", Window1M, pinned, pinnedOn},
	{"sonnet-4-5", 0, either, measuredOn},
	{"sonnet-4", 0, either, measuredOn},
	{"3-7-sonnet", Window200K, measured, measuredOn},
	{"haiku-5-5", Window1M, measured, measuredOn},
	{"haiku-4-5", Window200K, measured, measuredOn},
	{"3-5-haiku", Window200K, measured, measuredOn},
}

// Rows is the whole table.
func Rows() []Row { return rows[:] }

// Lookup returns the row of an id; ok is false for an id that the table does not know.
func Lookup(id string) (row Row, ok bool) {
	name, _ := Normalise(id)
	for _, r := range rows {
		if r.Name == name {
			return r, true
		}
	}
	return Row{}, false
}

// Window returns the context window that an id stands for, in tokens; ok is false when the id does not tell.
func Window(id string) (tokens int, ok bool) {
	name, large := Normalise(id)
	if large && name != "" {
		return Window1M, true
	}
	row, ok := Lookup(id)
	return row.Window, ok && row.Window > 0
}

// Normalise reduces an id to the model's own name: without provider and region, [1m], date, @date and -v1:0, in lower
// case and with dots as dashes. large tells whether it carried [1m].
func Normalise(id string) (name string, large bool) {
	s := strings.ToLower(strings.TrimSpace(id))
	s, large = strings.CutSuffix(s, "[1m]")
	if i := strings.LastIndexByte(s, '/'); i >= 0 { // openrouter, an ARN, a path of Vertex
		s = s[i+1:]
	}
	if i := strings.LastIndex(s, "anthropic."); i >= 0 { // Bedrock, with or without region
		s = s[i+len("anthropic."):]
	}
	s, _, _ = strings.Cut(s, "@") // Vertex
	if head, tail, ok := cutLast(s, "-v"); ok && isVersion(tail) {
		s = head
	}
	if head, tail, ok := cutLast(s, "-"); ok && (tail == "latest" || len(tail) == 8 && digits(tail)) {
		s = head
	}
	s = strings.ReplaceAll(s, ".", "-")
	return strings.TrimPrefix(s, "claude-"), large
}

func cutLast(s, sep string) (head, tail string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// isVersion recognises Bedrock's revision, "1:0" or "1".
func isVersion(s string) bool {
	major, minor, both := strings.Cut(s, ":")
	return digits(major) && (!both || digits(minor))
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
