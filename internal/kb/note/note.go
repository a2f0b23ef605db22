// Package note reads one Markdown note: its front matter and its passages, with the lines on which they stand.
//
// The front matter is read leniently, as people and models write it. A YAML parser refuses `description: pgx: use exec
// mode` for its second colon, and a note that search loses for a colon is worse than a date that stays a text. So the
// plain part of YAML is read (plain and quoted values, [a, b] and - a lists, indented continuation lines, | and >
// blocks) and everything else is kept as the text that it is.
package note

import (
	"strings"
)

// Note is one note.
type Note struct {
	Name        string // front matter; without one the first heading, without one ""
	Description string
	Tags        []string
	Date        string // as it is written
	Passages    []Passage
	Headings    []Heading

	lines int
}

// Heading is one heading of a note.
type Heading struct {
	Title string
	Path  string // the titles that it stands under and its own, with " > " between them
	Level int    // 1 to 6
	Line  int    // counting from 1
}

// Passage is the text below one heading, up to the next heading of any level, or a part of it where it is long.
type Passage struct {
	Headings []string // the headings that it stands under, outermost first; empty before the first heading
	Level    int      // of the innermost heading, 1 to 6; 0 before the first
	First    int      // the first line, counting from 1; the heading's line, except in the later parts of a long text
	Last     int      // the last line that is not blank
	Body     string   // the text without the heading's line
}

// Heading is the innermost heading, "" before the first.
func (p Passage) Heading() string {
	if len(p.Headings) == 0 {
		return ""
	}
	return p.Headings[len(p.Headings)-1]
}

// maxBody is where a passage is split at the next blank line, in bytes. BM25 favours short texts and a reader gets line
// numbers to go to, so a long section is worth cutting; a page of prose is about this long.
const maxBody = 2500

// Parse reads a note. Every text is a note: there is nothing to refuse.
func Parse(text string) Note {
	lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	n := Note{lines: len(lines)}
	if n.lines > 1 && lines[n.lines-1] == "" {
		n.lines-- // what the last line feed ends
	}
	start := 0
	if end := frontMatterEnd(lines); end > 0 {
		n.frontMatter(lines[1:end])
		start = end + 1
	}
	n.passages(lines, start)
	if n.Name == "" && len(n.Headings) > 0 {
		n.Name = n.Headings[0].Title
	}
	return n
}

// passages splits the lines from start on.
func (n *Note) passages(lines []string, start int) {
	s := splitter{note: n, lines: lines, first: start, body: start}
	fence := ""
	for i := start; i < len(lines); i++ {
		line := lines[i]
		if fence != "" {
			if closesFence(line, fence) {
				fence = ""
			}
			continue
		}
		if fence = opensFence(line); fence != "" {
			continue
		}
		if level, title := atxHeading(line); level > 0 {
			s.heading(i, i+1, level, title)
			continue
		}
		if i+1 < len(lines) && i >= s.body {
			if level := setextUnderline(line, lines[i+1]); level > 0 {
				s.heading(i, i+2, level, strings.TrimSpace(line))
				i++
				continue
			}
		}
		if strings.TrimSpace(line) == "" && s.long(i) {
			s.cut(i)
			s.first, s.body = i+1, i+1
		}
	}
	s.cut(len(lines))
	if len(n.Passages) == 0 {
		// Headings or front matter alone are still findable.
		p := Passage{First: 1, Last: max(1, lastText(lines, 0, len(lines)))}
		if len(n.Headings) > 0 {
			p.Headings, p.Level = []string{n.Headings[0].Title}, n.Headings[0].Level
		}
		n.Passages = append(n.Passages, p)
	}
}

type splitter struct {
	note   *Note
	lines  []string
	titles []string // of the headings that are open, outermost first
	levels []int
	first  int // line index of the current passage, its heading included
	body   int // line index of its text
}

func (s *splitter) path() []string { return append([]string(nil), s.titles...) }

// heading ends the current passage before line index at and begins one whose text starts at line index body.
func (s *splitter) heading(at, body, level int, title string) {
	s.cut(at)
	for len(s.levels) > 0 && s.levels[len(s.levels)-1] >= level {
		s.levels = s.levels[:len(s.levels)-1]
		s.titles = s.titles[:len(s.titles)-1]
	}
	s.levels = append(s.levels, level)
	s.titles = append(s.titles, title)
	s.first, s.body = at, body
	s.note.Headings = append(s.note.Headings, Heading{title, strings.Join(s.titles, " > "), level, at + 1})
}

func (s *splitter) long(end int) bool {
	size := 0
	for _, line := range s.lines[s.body:end] {
		if size += len(line) + 1; size > maxBody {
			return true
		}
	}
	return false
}

// cut adds the passage that ends before line index end, unless it has no text.
func (s *splitter) cut(end int) {
	last := lastText(s.lines, s.body, end)
	if last == 0 {
		return
	}
	p := Passage{Headings: s.path(), First: s.first + 1, Last: last}
	if len(s.levels) > 0 {
		p.Level = s.levels[len(s.levels)-1]
	}
	from := s.body
	for strings.TrimSpace(s.lines[from]) == "" {
		from++
	}
	p.Body = strings.Join(s.lines[from:last], "\n")
	if s.first == s.body {
		p.First = from + 1
	}
	s.note.Passages = append(s.note.Passages, p)
}

// lastText returns the number of the last line from index from to before end that is not blank; 0 when there is none.
func lastText(lines []string, from, end int) int {
	for ; end > from; end-- {
		if strings.TrimSpace(lines[end-1]) != "" {
			return end
		}
	}
	return 0
}

// indent returns how many spaces a line begins with, at most 4, which makes it code.
func indent(line string) int {
	n := 0
	for n < 4 && n < len(line) && line[n] == ' ' {
		n++
	}
	return n
}

func atxHeading(line string) (level int, title string) {
	n := indent(line)
	if n > 3 {
		return 0, ""
	}
	rest := line[n:]
	for level < len(rest) && rest[level] == '#' {
		level++
	}
	if level == 0 || level > 6 {
		return 0, ""
	}
	rest = rest[level:]
	if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0, ""
	}
	title = strings.TrimSpace(rest)
	// Closing #s are decoration, unless they belong to a word such as C#.
	if bare := strings.TrimRight(title, "#"); bare == "" || strings.HasSuffix(bare, " ") {
		title = strings.TrimSpace(bare)
	}
	return level, title
}

// setextUnderline returns the level that a line of text gets from the line below it: 1 for ===, 2 for ---.
func setextUnderline(line, below string) int {
	text := strings.TrimSpace(line)
	rule := strings.TrimRight(below, " \t")
	if text == "" || indent(line) > 3 || indent(below) > 3 || strings.ContainsRune(">|", rune(text[0])) || strings.HasPrefix(text, "- ") ||
		strings.HasPrefix(text, "* ") || strings.Trim(text, "-") == "" || strings.Trim(text, "=") == "" {
		return 0
	}
	switch rule = strings.TrimLeft(rule, " "); {
	case len(rule) >= 2 && strings.Trim(rule, "=") == "":
		return 1
	case len(rule) >= 2 && strings.Trim(rule, "-") == "":
		return 2
	}
	return 0
}

// opensFence returns the run of ` or ~ that begins a fenced block, "" for any other line.
func opensFence(line string) string {
	n := indent(line)
	if n > 3 || n == len(line) {
		return ""
	}
	rest := line[n:]
	c := rest[0]
	if c != '`' && c != '~' {
		return ""
	}
	run := 0
	for run < len(rest) && rest[run] == c {
		run++
	}
	if run < 3 || c == '`' && strings.ContainsRune(rest[run:], '`') {
		return ""
	}
	return rest[:run]
}

func closesFence(line, fence string) bool {
	rest := strings.TrimSpace(line)
	return indent(line) < 4 && len(rest) >= len(fence) && strings.Trim(rest, fence[:1]) == ""
}
