package note

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestFrontMatter(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want Note
	}{
		"plain":            {"---\nname: A note\ndescription: What it says\ntags: [a, b c]\ndate: 2026-01-02\n---\nx", Note{Name: "A note", Description: "What it says", Tags: []string{"a", "b c"}, Date: "2026-01-02"}},
		"colons in values": {"---\nname: pgx: use exec\ndescription: see https://example.org/a: b\n---\n", Note{Name: "pgx: use exec", Description: "see https://example.org/a: b"}},
		"quotes":           {"---\nname: \"say \\\"hi\\\"\"\ndescription: 'it''s'\n---\n", Note{Name: `say "hi"`, Description: "it's"}},
		"list of items":    {"---\ntags:\n- a\n  - \"b\"\n- #c\n---\n", Note{Tags: []string{"a", "b", "c"}}},
		"commas":           {"---\ntags: a, b\n---\n", Note{Tags: []string{"a", "b"}}},
		"folded":           {"---\ndescription: >-\n  one\n  two\nname: n\n---\n", Note{Name: "n", Description: "one two"}},
		"continued":        {"---\ndescription: one\n  two # not a comment of ours\nname: n # remark\n---\n", Note{Name: "n", Description: "one two"}},
		"crlf and bom":     {"\ufeff---\r\nname: n\r\ntags: [x]\r\n---\r\nbody\r\n", Note{Name: "n", Tags: []string{"x"}}},
		"unknown keys":     {"---\nmetadata:\n  name: inner\nname: outer\nodd line\n---\n", Note{Name: "outer"}},
		"title":            {"---\ntitle: T\n---\n# H", Note{Name: "T"}},
		"not closed":       {"---\nname: n\n", Note{}},
		"not first":        {"\n---\nname: n\n\n---\n", Note{}},
		"from the heading": {"# Top\n\ntext", Note{Name: "Top"}},
		"null":             {"---\nname: ~\ndescription: null\n---\n# Top", Note{Name: "Top"}},
	} {
		got := Parse(c.text)
		got.Passages, got.Headings, got.lines = nil, nil, 0
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// show writes passages as "first-last path|body".
func show(n Note) string {
	var b strings.Builder
	for _, p := range n.Passages {
		fmt.Fprintf(&b, "%d-%d %s|%s\n", p.First, p.Last, strings.Join(p.Headings, ">"), strings.ReplaceAll(p.Body, "\n", "/"))
	}
	return b.String()
}

func TestPassages(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"levels":               {"# A\na\n## B\n\nb1\nb2\n\n### C\nc\n## D\nd\n# E\ne\n", "1-2 A|a\n3-6 A>B|b1/b2\n8-9 A>B>C|c\n10-11 A>D|d\n12-13 E|e\n"},
		"before a heading":     {"intro\n\n# A\na", "1-1 |intro\n3-4 A|a\n"},
		"after front matter":   {"---\nname: n\n---\n\ntext\n", "5-5 |text\n"},
		"no text of its own":   {"# A\n## B\nb\n", "2-3 A>B|b\n"},
		"nothing but headings": {"# A\n## B\n", "1-2 A|\n"},
		"empty":                {"", "1-1 |\n"},
		"comment in a fence":   {"# A\n```sh\n# not a heading\n```\nx\n~~~~\n```\n# no\n~~~\n~~~~\n# B\nb", "1-10 A|```sh/# not a heading/```/x/~~~~/```/# no/~~~/~~~~\n11-12 B|b\n"},
		"setext":               {"Title\n=====\nx\n\nSub\n---\ny\n\n---\nz\n", "1-3 Title|x\n5-10 Title>Sub|y//---/z\n"},
		"a list before a rule": {"- item\n---\nx\n", "1-3 |- item/---/x\n"},
		"no heading":           {"#tag\n####### seven\n    # code\n", "1-3 |#tag/####### seven/    # code\n"},
		"closing marks":        {"## C# ##\nx\n# F#\ny\n", "1-2 C#|x\n3-4 F#|y\n"},
		"crlf":                 {"# A\r\na\r\nb\r\n", "1-3 A|a/b\n"},
	} {
		if got := show(Parse(c.text)); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, c.want)
		}
	}
}

// A long section is cut at blank lines; together the parts hold every line of text once.
func TestLongSection(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Long\n\n")
	for i := range 100 {
		fmt.Fprintf(&b, "Paragraph %d %s\n\n", i, strings.Repeat("word ", 20))
	}
	n := Parse(b.String())
	if len(n.Passages) < 4 {
		t.Fatalf("%d passages of a text of %d bytes", len(n.Passages), b.Len())
	}
	lines := strings.Split(b.String(), "\n")
	seen := 0
	for i, p := range n.Passages {
		if len(p.Body) > maxBody+200 || p.Heading() != "Long" {
			t.Errorf("passage %d has %d bytes under %q", i, len(p.Body), p.Heading())
		}
		if !strings.HasSuffix(strings.Join(lines[p.First-1:p.Last], "\n"), p.Body) {
			t.Errorf("passage %d is not what stands on lines %d to %d", i, p.First, p.Last)
		}
		seen += strings.Count(p.Body, "Paragraph ")
	}
	if seen != 100 {
		t.Errorf("%d paragraphs of 100", seen)
	}
}

func TestSection(t *testing.T) {
	n := Parse("# A\na\n## Why not\nb\n### Deep\nc\n## Other\nd\n# B\n## Other\ne\n")
	for heading, want := range map[string]string{
		"Why not": "3-6", "why NOT": "3-6", "why-not": "3-6", "Other": "7-8", "B > Other": "10-11", "A": "1-8", "B": "9-11", "Deep": "5-6", "": "", "None": "", "-": "",
	} {
		got := ""
		if h, last, ok := n.Section(heading); ok {
			got = fmt.Sprintf("%d-%d", h.Line, last)
		}
		if got != want {
			t.Errorf("%q: lines %s, want %s", heading, got, want)
		}
	}
}

func TestQuoteReadsBack(t *testing.T) {
	for _, s := range []string{"plain words", "a: b", `say "hi" \ there`, "it's", "true", "2026", "- dash", "#hash", "", "~", "x # y", "[a]", " pad ", "é – 漢"} {
		if got := Parse("---\nname: " + Quote(s) + "\n---\n").Name; got != s {
			t.Errorf("Quote(%q) = %s reads back as %q", s, Quote(s), got)
		}
	}
	if q := Quote("two\nlines: x\x1b"); strings.ContainsAny(q, "\n\x1b") {
		t.Errorf("Quote keeps control characters: %q", q)
	}
}

// Whatever the text, every passage lies within it, in order, and no line is in two of them.
func FuzzParse(f *testing.F) {
	f.Add("---\nname: a\n---\n# A\nb\n```\n# c\n")
	f.Add("a\n===\n---\n\n--- \n")
	f.Fuzz(func(t *testing.T, text string) {
		n := Parse(text)
		count := strings.Count(text, "\n") + 1
		last := 0
		for _, p := range n.Passages {
			if p.First <= last || p.Last < p.First || p.Last > count {
				t.Fatalf("passage on lines %d to %d after line %d of %d", p.First, p.Last, last, count)
			}
			last = p.Last
		}
		for _, h := range n.Headings {
			at, last, ok := n.Section(h.Path)
			if !ok || at.Line < 1 || last < at.Line || last > count {
				t.Fatalf("section %q on lines %d to %d of %d, %v", h.Path, at.Line, last, count, ok)
			}
		}
	})
}
