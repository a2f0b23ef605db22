// Package registration is the one table of the events that Plimsoll listens to and of the matchers that go with them.
// Setup writes it into settings, the plugin ships it, and doctor holds settings against it.
package registration

import (
	"strings"

	"plimsoll/internal/config"
	"plimsoll/internal/harness"
)

// Entry is one registration: the hook runs for Event, narrowed by Matcher ("" is everything) and, where If is not
// empty, once for each of its permission rules.
type Entry struct {
	Event   string
	Matcher string
	If      []string
}

// Table lists the registrations for a knowledge-base configuration, in the order in which they are written.
//
// WorktreeCreate is not among them and must never be: registering it replaces the client's own making of worktrees.
func Table(kb config.KB) []Entry {
	entries := []Entry{
		{Event: harness.PreToolUse, Matcher: "Write|Edit|NotebookEdit|Agent|Task|Workflow|Skill"},
	}
	if m := toolMatcher(kb.SearchTools.V); m != "" {
		entries = append(entries, Entry{Event: harness.PostToolUse, Matcher: m})
	}
	if rules := commandRules(kb.SearchCommands.V); len(rules) > 0 {
		entries = append(entries, Entry{Event: harness.PostToolUse, Matcher: "Bash", If: rules})
	}
	return append(entries,
		Entry{Event: harness.PostToolBatch},
		Entry{Event: harness.UserPromptSubmit},
		Entry{Event: harness.SubagentStart},
		Entry{Event: harness.PostCompact},
		Entry{Event: harness.SessionStart, Matcher: "compact"},
	)
}

// toolMatcher names tools exactly, as the client reads a matcher of plain characters; a name that ends in * makes it an
// anchored regular expression, since the client's are not.
func toolMatcher(tools []string) string {
	var names []string
	pattern := false
	for _, tool := range tools {
		if strings.Trim(tool, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
			pattern = true
		}
		names = append(names, tool)
	}
	if !pattern {
		return strings.Join(names, "|")
	}
	for i, name := range names {
		prefix, open := strings.CutSuffix(name, "*")
		if names[i] = quoteMeta(prefix); open {
			names[i] += ".*"
		}
	}
	return "^(?:" + strings.Join(names, "|") + ")$"
}

// quoteMeta is regexp.QuoteMeta without linking regexp.
func quoteMeta(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(`\.+*?()|[]{}^$`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// commandRules are the client's permission rules for shell commands that begin with the given words.
func commandRules(prefixes []string) []string {
	var rules []string
	for _, prefix := range prefixes {
		rules = append(rules, "Bash("+strings.Join(strings.Fields(prefix), " ")+" *)")
	}
	return rules
}
