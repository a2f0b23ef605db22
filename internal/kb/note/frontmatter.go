package note

import (
	"strconv"
	"strings"
)

// frontMatterEnd returns the line index of the mark that closes the front matter, 0 when there is none.
func frontMatterEnd(lines []string) int {
	if strings.TrimRight(lines[0], " \t") != "---" {
		return 0
	}
	for i := 1; i < len(lines); i++ {
		if mark := strings.TrimRight(lines[i], " \t"); mark == "---" || mark == "..." {
			return i
		}
	}
	return 0
}

// frontMatter reads the lines between the marks. Keys other than the four are not ours.
func (n *Note) frontMatter(lines []string) {
	for i := 0; i < len(lines); {
		key, value, ok := keyLine(lines[i])
		i++
		if !ok {
			continue
		}
		from := i
		for i < len(lines) && continues(lines[i]) {
			i++
		}
		more := lines[from:i]
		switch key {
		case "name", "title":
			if key == "name" || n.Name == "" {
				n.Name = scalar(value, more)
			}
		case "description":
			n.Description = scalar(value, more)
		case "date":
			n.Date = scalar(value, more)
		case "tags":
			n.Tags = list(value, more)
		}
	}
}

// keyLine reads `key: value` at the left margin.
func keyLine(line string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(line, ":")
	if !ok || key == "" || strings.ContainsAny(key, " \t#\"'-[{") || value != "" && value[0] != ' ' && value[0] != '\t' {
		return "", "", false
	}
	return strings.ToLower(key), strings.TrimSpace(value), true
}

// continues tells whether a line belongs to the key above it: indented, blank, or an item of a list.
func continues(line string) bool {
	return strings.TrimSpace(line) == "" || line[0] == ' ' || line[0] == '\t' || strings.HasPrefix(line, "- ") || line == "-"
}

func scalar(value string, more []string) string {
	parts := []string{}
	switch {
	case value == "":
	case value[0] == '|' || value[0] == '>':
		if strings.Trim(value, "|>+-0123456789") != "" {
			parts = append(parts, value)
		}
	default:
		parts = append(parts, value)
	}
	for _, line := range more {
		if s := strings.TrimSpace(line); s != "" {
			parts = append(parts, s)
		}
	}
	return plain(strings.Join(parts, " "))
}

// plain takes a value out of its quotes, or off the comment behind it.
func plain(s string) string {
	if len(s) >= 2 {
		switch {
		case s[0] == '"' && s[len(s)-1] == '"':
			if text, err := strconv.Unquote(s); err == nil {
				return text
			}
			return s[1 : len(s)-1]
		case s[0] == '\'' && s[len(s)-1] == '\'':
			return strings.ReplaceAll(s[1:len(s)-1], "''", "'")
		}
	}
	if text, _, ok := strings.Cut(s, " #"); ok {
		s = strings.TrimSpace(text)
	}
	if s == "~" || s == "null" {
		return ""
	}
	return s
}

// list reads [a, b], a line with commas, or items below the key.
func list(value string, more []string) []string {
	var items []string
	add := func(s string) {
		if s = strings.TrimPrefix(plain(strings.TrimSpace(s)), "#"); s != "" {
			items = append(items, s)
		}
	}
	text := value
	for _, line := range more {
		line = strings.TrimSpace(line)
		if item, ok := strings.CutPrefix(line, "- "); ok && value == "" {
			add(item)
			continue
		}
		text += " " + line
	}
	text = strings.TrimSpace(text)
	if text == "" || text == "-" {
		return items
	}
	text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	for _, s := range strings.Split(text, ",") {
		add(s)
	}
	return items
}

// Quote writes a text as a front matter value that Parse and every YAML reader read back: plain where that is safe,
// in double quotes otherwise.
func Quote(s string) string {
	safe := s != "" && s != "~" && strings.TrimSpace(s) == s && !strings.ContainsAny(s, ":#\\\"'\n\t[]{},&*!|>%@`")
	if safe && s[0] != '-' && s[0] != '?' && (s[0] < '0' || s[0] > '9') {
		switch strings.ToLower(s) {
		case "true", "false", "yes", "no", "on", "off", "null":
		default:
			return s
		}
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n' || r == '\t' || r == '\r' || r < 0x20 || r == 0x7f:
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Keys returns the keys of a text's front matter, nil when it has none.
func Keys(text string) map[string]bool {
	lines := strings.Split(text, "\n")
	end := frontMatterEnd(lines)
	if end == 0 {
		return nil
	}
	keys := map[string]bool{}
	for _, line := range lines[1:end] {
		if key, _, ok := keyLine(line); ok {
			keys[key] = true
		}
	}
	return keys
}
