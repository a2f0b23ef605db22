// Package compat is the form of docs/compatibility.md: tables of what was measured with each client version. The page
// can be read back, so that a test can hold a new measurement against what the page says.
package compat

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Section is a table of capabilities.
type Section struct {
	Title string
	Rows  []Row
}

// A Row is one capability and what was measured, by version.
type Row struct {
	Name  string
	Cells map[string]string
}

// Render writes the sections as Markdown, with a column for each version.
func Render(versions []string, sections []Section) string {
	var b strings.Builder
	for i, s := range sections {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "## %s\n\n", s.Title)
		writeRow(&b, append([]string{""}, versions...))
		writeRow(&b, slices.Repeat([]string{"---"}, len(versions)+1))
		for _, r := range s.Rows {
			cells := []string{r.Name}
			for _, v := range versions {
				cells = append(cells, r.Cells[v])
			}
			writeRow(&b, cells)
		}
	}
	return b.String()
}

func writeRow(b *strings.Builder, cells []string) {
	b.WriteByte('|')
	for _, c := range cells {
		b.WriteByte(' ')
		// A bar would end the cell.
		b.WriteString(strings.ReplaceAll(c, "|", `\|`))
		b.WriteString(" |")
	}
	b.WriteByte('\n')
}

// Parse reads the tables of a page that Render wrote; text around them is skipped.
func Parse(page string) ([]Section, error) {
	var sections []Section
	var versions []string
	for n, line := range strings.Split(page, "\n") {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			sections, versions = append(sections, Section{Title: title}), nil
			continue
		}
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := readRow(line)
		switch {
		case len(sections) == 0:
			return nil, fmt.Errorf("read compatibility page: line %d: a table without a heading", n+1)
		case versions == nil:
			versions = cells[1:]
		case cells[0] == "---":
		case len(cells) != len(versions)+1:
			return nil, fmt.Errorf("read compatibility page: line %d: %d cells, want %d", n+1, len(cells), len(versions)+1)
		default:
			row := Row{Name: cells[0], Cells: make(map[string]string)}
			for i, v := range versions {
				row.Cells[v] = cells[i+1]
			}
			s := &sections[len(sections)-1]
			s.Rows = append(s.Rows, row)
		}
	}
	if len(sections) == 0 {
		return nil, errors.New("read compatibility page: no tables")
	}
	return sections, nil
}

func readRow(line string) []string {
	const bar = "\x00"
	line = strings.Trim(strings.ReplaceAll(line, `\|`, bar), "|")
	cells := strings.Split(line, "|")
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(c), bar, "|")
	}
	return cells
}

// Differences says where a measurement of some versions is not what a page says.
func Differences(page, measured []Section, versions []string) []string {
	type key struct{ section, row, version string }
	said := make(map[key]string)
	for _, s := range page {
		for _, r := range s.Rows {
			for v, cell := range r.Cells {
				said[key{s.Title, r.Name, v}] = cell
			}
		}
	}
	var diffs []string
	for _, s := range measured {
		for _, r := range s.Rows {
			for _, v := range versions {
				cell, ok := said[key{s.Title, r.Name, v}]
				switch {
				case !ok:
					diffs = append(diffs, fmt.Sprintf("%s: %s: %q is not on the page", v, r.Name, r.Cells[v]))
				case cell != r.Cells[v]:
					diffs = append(diffs, fmt.Sprintf("%s: %s: measured %q, the page says %q", v, r.Name, r.Cells[v], cell))
				}
			}
		}
	}
	return diffs
}
