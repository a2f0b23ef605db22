package page

import (
	"math"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/harness"
)

// table is a table of the page. Its first column heads the rows.
type table struct {
	ID      string
	Caption string
	Note    string
	Columns []column
	Rows    []row
	Foot    *row // a row that sorting leaves at the end
}

type column struct {
	Head string
	Unit string
	Text bool // sorted as text, ascending at first; else by number, descending at first
}

type row struct {
	Mark  string // what is special about the row, in words; "" for most
	Cells []cell
}

// cell is what is shown and what it is sorted by: a number in full precision where the column is one. A cell whose Sort
// is empty sorts last both ways.
type cell struct {
	Text  string
	Sort  string
	Words bool // set flush left, as text is
}

const none = "–" // shown for a figure that there is not

func count(head string) column   { return column{Head: head} }
func tokens(head string) column  { return column{Head: head, Unit: "tokens"} }
func dollars(head string) column { return column{Head: head, Unit: "USD"} }
func percent(head string) column { return column{Head: head, Unit: "%"} }
func name(head string) column    { return column{Head: head, Text: true} }

// label is text from data.
func label(s string) cell {
	s = harness.Label(s)
	if s == "" {
		return cell{Text: none, Words: true}
	}
	return cell{Text: s, Sort: s, Words: true}
}

// maxProse bounds sentences and paths, in characters. A path is shown whole, so that it can be found.
const maxProse = 4096

// prose is a sentence or path from data. It is one line.
func prose(s string) string { return harness.Plain(s, maxProse) }

func proseCell(s string) cell {
	s = prose(s)
	return cell{Text: s, Sort: s, Words: true}
}

// lines is text of several lines.
func lines(s string) string {
	var out []string
	for line := range strings.SplitSeq(strings.TrimRight(s, "\n"), "\n") {
		out = append(out, prose(line))
	}
	return strings.Join(out, "\n")
}

func number[T int | int64](n T) cell {
	return cell{Text: grouped(strconv.FormatInt(int64(n), 10)), Sort: strconv.FormatInt(int64(n), 10)}
}

func optional[T int | int64](n *T) cell {
	if n == nil {
		return cell{Text: none}
	}
	return number(*n)
}

// decimal shows so many decimals, never hiding in zeros that there is something: 0.001 with two is "<0.01".
func decimal(v float64, decimals int) cell {
	c := cell{Text: grouped(strconv.FormatFloat(v, 'f', decimals, 64)), Sort: strconv.FormatFloat(v, 'g', -1, 64)}
	if unit := math.Pow10(-decimals); v > 0 && v < unit/2 {
		c.Text = "<" + strconv.FormatFloat(unit, 'f', decimals, 64)
	}
	return c
}

func usd(v float64) cell { return decimal(v, 2) }

func optionalDecimal(v *float64, decimals int) cell {
	if v == nil {
		return cell{Text: none}
	}
	return decimal(*v, decimals)
}

// moment shows a moment of RFC 3339 by its own clock, to the minute, and sorts it by when it was.
func moment(s string) cell {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		c := label(s)
		c.Sort = ""
		return c
	}
	return cell{Text: t.Format("2006-01-02 15:04"), Sort: strconv.FormatInt(t.UnixMilli(), 10)}
}

// grouped puts a comma between thousands.
func grouped(s string) string {
	whole, fraction, point := strings.Cut(s, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if point {
		whole += "." + fraction
	}
	return sign + whole
}
