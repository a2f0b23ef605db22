// Package price knows what models cost: the list prices of a table that comes with Plimsoll, and the operator's own on top
// of it. A model that neither has is not priced, and never guessed. docs/prices.md says where the figures come from.
package price

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/model"
)

//go:generate go run ./gen

//go:embed table.tsv
var table string

// Rate is what tokens cost, in US dollars per million.
type Rate struct {
	Input, Output, CacheRead, CacheWrite5m, CacheWrite1h float64
}

// Tier is another rate, for requests with a longer prompt.
type Tier struct {
	Above int64 // tokens of input, cache read and cache write together; at this many the lower rate counts
	Rate
}

// Row is what one model costs.
type Row struct {
	ID     string // as the source has it; lower case
	Rate          // of a prompt below the first tier
	Tiers  []Tier // by Above, ascending
	Source string
	Date   string // when the source said so
}

// Usage is what one request used, in tokens.
type Usage struct {
	Input, Output, CacheRead, CacheWrite5m, CacheWrite1h int64
	US                                                   bool // inference in the US alone
}

// usOnly is what inference in the US alone costs times the list price (the client's documentation, since 2.1.239).
const usOnly = 1.1

// At is the list rate of a request with that many tokens of prompt.
func (r *Row) At(prompt int64) Rate {
	rate := r.Rate
	for _, t := range r.Tiers {
		if prompt > t.Above {
			rate = t.Rate
		}
	}
	return rate
}

// Cost is what a request costs, in US dollars, not rounded.
func (r *Row) Cost(u Usage) float64 {
	rate := r.At(u.Input + u.CacheRead + u.CacheWrite5m + u.CacheWrite1h)
	usd := (float64(u.Input)*rate.Input + float64(u.Output)*rate.Output + float64(u.CacheRead)*rate.CacheRead +
		float64(u.CacheWrite5m)*rate.CacheWrite5m + float64(u.CacheWrite1h)*rate.CacheWrite1h) / 1e6
	return usd * Factor(u.US)
}

// Factor is what a request costs times the list price; us: inference in the US alone.
func Factor(us bool) float64 {
	if us {
		return usOnly
	}
	return 1
}

// Table is prices by model ids. It does not change once it is made, so any number of goroutines may read it.
type Table struct {
	rows map[string]*Row // by key; the operator's for one provider by the whole id
	all  []*Row
}

// Default is the table that comes with Plimsoll.
func Default() *Table {
	t := &Table{rows: map[string]*Row{}}
	for line := range strings.Lines(table) {
		if line = strings.TrimSuffix(line, "\n"); line == "" || line[0] == '#' {
			continue
		}
		id, above, rate, source, date := parseLine(line)
		if above > 0 { // a tier follows its row
			r := t.all[len(t.all)-1]
			r.Tiers = append(r.Tiers, Tier{above, rate})
			continue
		}
		r := &Row{ID: id, Rate: rate, Source: source, Date: date}
		t.all = append(t.all, r)
		if k := key(id); t.rows[k] == nil { // a dated id beside the plain one, at the same price
			t.rows[k] = r
		}
	}
	return t
}

// parseLine takes a line of the table apart. The table is generated and tested, so a line that is wrong is a bug.
func parseLine(line string) (id string, above int64, rate Rate, source, date string) {
	f := strings.Split(line, "\t")
	if len(f) != 9 {
		panic("price table: " + line)
	}
	var n [5]float64
	for i := range n {
		n[i] = must(strconv.ParseFloat(f[2+i], 64))
	}
	if f[1] != "" {
		above = must(strconv.ParseInt(f[1], 10, 64))
	}
	return f[0], above, Rate{n[0], n[1], n[2], n[3], n[4]}, f[7], f[8]
}

func must[T any](v T, err error) T {
	if err != nil {
		panic("price table: " + err.Error())
	}
	return v
}

// spelled is an id without what makes no difference: case, white space, and [1m], which asks for a window and changes no
// price.
func spelled(id string) string {
	return strings.TrimSuffix(strings.ToLower(strings.TrimSpace(id)), "[1m]")
}

// key is what a row is found by: the model's own name, and before it the region of an id of Amazon Bedrock, which has
// prices of its own: "opus-5-5", "us.anthropic.opus-5-5". A date or a revision that one spelling has and another lacks
// makes no other model.
func key(id string) string {
	name, _ := model.Normalise(id)
	return region(spelled(id)) + name
}

// region is what stands before the model in an id of Bedrock, "" in every other; of an id without case and [1m].
func region(id string) string {
	id = id[strings.LastIndexByte(id, '/')+1:]
	const bedrock = "anthropic."
	if i := strings.LastIndex(id, bedrock); i >= 0 {
		return id[:i+len(bedrock)]
	}
	return ""
}

// Lookup finds a model by its id as transcripts have it, without provider, date and [1m]: the row of the id's region,
// else that of the model. An operator's row for one provider comes before both. The row stays valid, so that a caller
// with many responses need not look twice.
func (t *Table) Lookup(id string) (*Row, bool) {
	s := spelled(id)
	if r := t.rows[s]; r != nil {
		return r, true
	}
	name, _ := model.Normalise(s)
	if in := region(s); in != "" {
		if r := t.rows[in+name]; r != nil {
			return r, true
		}
	}
	r := t.rows[name]
	return r, r != nil
}

// Rows are all rows, by their ids.
func (t *Table) Rows() []*Row {
	return slices.SortedFunc(slices.Values(t.all), func(a, b *Row) int { return strings.Compare(a.ID, b.ID) })
}
