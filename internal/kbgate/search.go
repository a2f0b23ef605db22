package kbgate

import (
	"strings"

	"plimsoll/internal/config"
	"plimsoll/internal/rawjson"
)

// searchText is what a successful call searched the knowledge base for; "" when it was no search.
func searchText(kb config.KB, tool string, input rawjson.Value) string {
	for _, name := range kb.SearchTools.V {
		if toolMatches(name, tool) {
			return queryText(input)
		}
	}
	if tool != "Bash" {
		return ""
	}
	command := input.Get("command").TextOr("")
	for _, prefix := range kb.SearchCommands.V {
		if text := commandText(prefix, command); text != "" {
			return text
		}
	}
	return ""
}

// toolMatches tells whether a tool goes by the configured name, which may end in * for "and anything after it".
func toolMatches(name, tool string) bool {
	if prefix, ok := strings.CutSuffix(name, "*"); ok {
		return strings.HasPrefix(tool, prefix)
	}
	return tool == name
}

// queryText is the query of a search tool's input, else the texts of its typed searches. A call with an intent alone
// retrieves nothing and is no search.
func queryText(input rawjson.Value) string {
	if text := queryOf(input); text != "" {
		return text
	}
	var texts []string
	for search := range input.Get("searches").Elements() {
		if text := queryOf(search); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, " ")
}

func queryOf(v rawjson.Value) string {
	query := v.Get("query")
	if query.Kind() == rawjson.Number {
		return string(query)
	}
	return strings.TrimRight(query.TextOr(""), "\n")
}

// commandText is what a shell command that begins with the words of prefix searches for. A command that names nothing
// to look for, only options, is no search.
func commandText(prefix, command string) string {
	rest := strings.TrimSpace(command)
	for word := range strings.FieldsSeq(prefix) {
		after, ok := strings.CutPrefix(strings.TrimLeft(rest, " \t"), word)
		if !ok || after == "" || after[0] != ' ' && after[0] != '\t' {
			return ""
		}
		rest = after
	}
	rest = strings.TrimSpace(rest)
	for word := range strings.FieldsSeq(rest) {
		if strings.ContainsRune("|&;<>()#", rune(word[0])) {
			return "" // the command ended before anything was named
		}
		if word[0] != '-' {
			return rest
		}
	}
	return ""
}
