// Package price knows what models cost: the list prices of a table that comes with Plimsoll, and the operator's own on top
// of it. A model that neither has is not priced, and never guessed. docs/prices.md says where the figures come from.
package price

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"plimsoll/internal/model"
	"plimsoll/internal/statefile"
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

// At is the rate of a request with that many tokens of prompt.
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
	if u.US {
		usd *= usOnly
	}
	return usd
}

// Table is prices by model ids.
type Table struct {
	exact map[string]*Row // by the whole id: a region of a cloud has prices of its own
	named map[string]*Row // by the model's own name
}

// Default is the table that comes with Plimsoll.
func Default() *Table {
	t := &Table{exact: map[string]*Row{}, named: map[string]*Row{}}
	for line := range strings.Lines(table) {
		if line = strings.TrimSuffix(line, "\n"); line == "" || line[0] == '#' {
			continue
		}
		id, above, rate, source, date := parseLine(line)
		if above > 0 {
			r := t.exact[id]
			r.Tiers = append(r.Tiers, Tier{above, rate})
			continue
		}
		t.add(&Row{ID: id, Rate: rate, Source: source, Date: date})
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

// key is an id as rows are found by it: [1m] asks for a window and changes no price.
func key(id string) string {
	return strings.TrimSuffix(strings.ToLower(strings.TrimSpace(id)), "[1m]")
}

func (t *Table) add(r *Row) {
	t.exact[r.ID] = r
	// Other clouds and their regions may have prices of their own, which are nobody else's.
	if name, _ := model.Normalise(r.ID); t.named[name] == nil || !strings.Contains(r.ID, "anthropic.") {
		t.named[name] = r
	}
}

// Lookup finds a model by its id as transcripts have it: the very id, else the model's own name without provider, region,
// date and [1m].
func (t *Table) Lookup(id string) (*Row, bool) {
	k := key(id)
	if r := t.exact[k]; r != nil {
		return r, true
	}
	name, _ := model.Normalise(k)
	r := t.named[name]
	return r, r != nil
}

// Rows are all rows, by their ids.
func (t *Table) Rows() []*Row {
	var out []*Row
	for _, r := range t.exact {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *Row) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// maxFile bounds the operator's file, in bytes.
const maxFile = 1 << 20

// own is the operator's file.
type own struct {
	Models map[string]ownRow `json:"models"`
}

type ownRow struct {
	ownRate
	Tiers []struct {
		Above int64 `json:"above"`
		ownRate
	} `json:"tiers"`
}

type ownRate struct {
	Input        *float64 `json:"input"`
	Output       *float64 `json:"output"`
	CacheRead    *float64 `json:"cache_read"`
	CacheWrite5m *float64 `json:"cache_write_5m"`
	CacheWrite1h *float64 `json:"cache_write_1h"`
}

// Load is the default table with the operator's file on top; a file that does not exist changes nothing. A file that is
// wrong is an error: half of it would be prices that nobody asked for.
func Load(path string) (*Table, error) {
	t := Default()
	data, err := statefile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return t, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	var file own
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("read prices %s: %w", path, err)
	}
	if dec.More() {
		return nil, fmt.Errorf("read prices %s: text after the document", path)
	}
	for id, o := range file.Models {
		r, err := o.row(id)
		if err != nil {
			return nil, fmt.Errorf("read prices %s: model %q: %w", path, id, err)
		}
		r.Source, r.Date = path, info.ModTime().Format("2006-01-02")
		t.exact[r.ID] = r
		name, _ := model.Normalise(r.ID)
		t.named[name] = r
	}
	return t, nil
}

// row completes an operator's row.
func (o ownRow) row(id string) (*Row, error) {
	r := &Row{ID: key(id)}
	if r.ID == "" {
		return nil, errors.New("the id is empty")
	}
	var err error
	if r.Rate, err = o.rate(); err != nil {
		return nil, err
	}
	for _, t := range o.Tiers {
		rate, err := t.rate()
		if err == nil && t.Above <= 0 {
			err = errors.New("above has to be a number of tokens greater than 0")
		}
		if err != nil {
			return nil, fmt.Errorf("tier: %w", err)
		}
		r.Tiers = append(r.Tiers, Tier{t.Above, rate})
	}
	slices.SortFunc(r.Tiers, func(a, b Tier) int { return cmp.Compare(a.Above, b.Above) })
	return r, nil
}

// rate completes an operator's rate. Input and output have to be there; what is left out of the rest follows the rule of
// the list prices: a read costs a tenth of the input, a write for five minutes 1.25 times it, one for an hour twice it.
func (o ownRate) rate() (Rate, error) {
	if o.Input == nil || o.Output == nil {
		return Rate{}, errors.New("input and output are needed, in US dollars per million tokens")
	}
	or := func(p *float64, def float64) float64 {
		if p != nil {
			return *p
		}
		return def
	}
	in := *o.Input
	r := Rate{in, *o.Output, or(o.CacheRead, in/10), or(o.CacheWrite5m, in*1.25), or(o.CacheWrite1h, in*2)}
	if min(r.Input, r.Output, r.CacheRead, r.CacheWrite5m, r.CacheWrite1h) < 0 {
		return Rate{}, errors.New("a price is less than 0")
	}
	return r, nil
}
