package price

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"plimsoll/internal/model"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/statefile"
)

// maxFile bounds the operator's file, in bytes.
const maxFile = 1 << 20

// Load is the default table with the operator's file on top; a file that does not exist changes nothing. A file that is
// wrong is an error that names the place: half of it would be prices that nobody asked for.
func Load(path string) (*Table, error) {
	data, err := statefile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return Default(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	root, err := rawjson.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("read prices %s: %w", path, err)
	}
	o := own{list: Default(), written: map[string]string{}, source: path, date: info.ModTime().Format("2006-01-02")}
	err = members(root, "the file", func(key string, v rawjson.Value) error {
		if key != "models" {
			return fmt.Errorf("unknown key %q", key)
		}
		return members(v, "models", o.model)
	})
	if err != nil {
		return nil, fmt.Errorf("read prices %s: %w", path, err)
	}
	return o.table(), nil
}

// own reads the operator's file.
type own struct {
	list         *Table // what the file is written on top of
	rows         []*Row
	written      map[string]string // ids as they are written, by the key of their row
	source, date string
}

// table is the list with the operator's rows instead of those of the same models.
func (o *own) table() *Table {
	t := Default()
	t.all = slices.DeleteFunc(t.all, func(r *Row) bool { return o.written[key(r.ID)] != "" })
	for _, r := range o.rows {
		t.rows[ownKey(r.ID)] = r
		t.all = append(t.all, r)
	}
	return t
}

// ownKey is what an operator's row is found by. One that names a provider before a slash is meant for that provider
// alone: what another one calls by the same name may be another model.
func ownKey(id string) string {
	if strings.Contains(id, "/") {
		return spelled(id)
	}
	return key(id)
}

func (o *own) model(id string, v rawjson.Value) error {
	r := &Row{ID: spelled(id), Source: o.source, Date: o.date}
	k := ownKey(r.ID)
	if name, _ := model.Normalise(id); name == "" {
		return fmt.Errorf("models: %q names no model", id)
	}
	if other, twice := o.written[k]; twice {
		return fmt.Errorf("models: %q and %q are the same model", other, id)
	}
	o.written[k] = id
	list, _ := o.list.Lookup(id)
	where := fmt.Sprintf("model %q", id)
	var err error
	r.Rate, err = rate(v, where, list, func(key string, v rawjson.Value) error {
		if key != "tiers" {
			return fmt.Errorf("%s: unknown key %q", where, key)
		}
		if v.Kind() != rawjson.Array {
			return fmt.Errorf("%s: tiers has to be a list", where)
		}
		for e := range v.Elements() {
			if err := r.tier(e, where+": tier", list); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(r.Tiers, func(a, b Tier) int { return cmp.Compare(a.Above, b.Above) })
	for i := 1; i < len(r.Tiers); i++ {
		if r.Tiers[i].Above == r.Tiers[i-1].Above {
			return fmt.Errorf("%s: two tiers above %d", where, r.Tiers[i].Above)
		}
	}
	o.rows = append(o.rows, r)
	return nil
}

func (r *Row) tier(v rawjson.Value, where string, list *Row) error {
	t := Tier{}
	var err error
	t.Rate, err = rate(v, where, list, func(key string, v rawjson.Value) error {
		if key != "above" {
			return fmt.Errorf("%s: unknown key %q", where, key)
		}
		n, err := strconv.ParseInt(string(v), 10, 64)
		if err != nil || n < 1 {
			return fmt.Errorf("%s: above is %.40s, not a whole number of tokens greater than 0", where, v)
		}
		t.Above = n
		return nil
	})
	if err == nil && t.Above == 0 {
		err = fmt.Errorf("%s: above is needed, in tokens", where)
	}
	r.Tiers = append(r.Tiers, t)
	return err
}

// rate reads the prices of an object; other gets its further keys. Input and output have to be there. What is left out of
// the rest has the proportion to the input that it has in the list price. A model that is not in the list has the
// proportions of most that are: a read costs a tenth of the input, a write for five minutes 1.25 times it, one for an
// hour twice it.
func rate(v rawjson.Value, where string, list *Row, other func(key string, v rawjson.Value) error) (Rate, error) {
	r := Rate{Input: -1, Output: -1, CacheRead: -1, CacheWrite5m: -1, CacheWrite1h: -1}
	prices := map[string]*float64{
		"input": &r.Input, "output": &r.Output,
		"cache_read": &r.CacheRead, "cache_write_5m": &r.CacheWrite5m, "cache_write_1h": &r.CacheWrite1h,
	}
	err := members(v, where, func(key string, v rawjson.Value) error {
		p := prices[key]
		if p == nil {
			return other(key, v)
		}
		usd, ok := v.Float()
		if !ok || usd < 0 {
			return fmt.Errorf("%s: %s is %.40s, not 0 or more US dollars per million tokens", where, key, v)
		}
		*p = usd
		return nil
	})
	if err != nil {
		return r, err
	}
	if r.Input < 0 || r.Output < 0 {
		return r, fmt.Errorf("%s: input and output are needed, in US dollars per million tokens", where)
	}
	like := Rate{Input: 1, CacheRead: 0.1, CacheWrite5m: 1.25, CacheWrite1h: 2}
	if list != nil {
		like = list.Rate
	}
	for _, p := range [...]struct {
		usd  *float64
		like float64
	}{{&r.CacheRead, like.CacheRead}, {&r.CacheWrite5m, like.CacheWrite5m}, {&r.CacheWrite1h, like.CacheWrite1h}} {
		if *p.usd < 0 {
			*p.usd = r.Input * p.like / like.Input
		}
	}
	return r, nil
}

// members calls f for every member of an object, each of which has to be there once.
func members(v rawjson.Value, what string, f func(key string, v rawjson.Value) error) error {
	if v.Kind() != rawjson.Object {
		return fmt.Errorf("%s is no object", what)
	}
	seen := map[string]bool{}
	for key, m := range v.Members() {
		if seen[key] {
			return fmt.Errorf("%s has the key %q twice", what, key)
		}
		seen[key] = true
		if err := f(key, m); err != nil {
			return err
		}
	}
	return nil
}
