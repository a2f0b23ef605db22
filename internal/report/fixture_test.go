package report

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/config"
	"plimsoll/internal/history"
	"plimsoll/internal/model/price"
)

// turn rows are what the predecessor's cases are written in: an assistant's row with an occupancy and calls.
type row struct {
	n     int64 // occupancy; 0: a row without usage
	model string
	calls []string // "Skill build", "Agent explorer", "Bash"
	side  bool
	extra string // further keys of the row
	usage string // in place of the usage of n
}

func a(n int64, calls ...string) row { return row{n: n, calls: calls} }

func of(model string, r row) row {
	r.model = model
	return r
}

func side(r row) row {
	r.side = true
	return r
}

func (r row) json() string {
	usage := r.usage
	if usage == "" && r.n > 0 {
		usage = fmt.Sprintf(`{"input_tokens":2,"cache_read_input_tokens":%d,"cache_creation_input_tokens":0}`, r.n-2)
	}
	if usage != "" {
		usage = `,"usage":` + usage
	}
	name := r.model
	if name == "" {
		name = "claude-opus-5"
	}
	var blocks []string
	for _, c := range r.calls {
		tool, what, _ := strings.Cut(c, " ")
		key := "subagent_type"
		if tool == "Skill" {
			key = "skill"
		}
		blocks = append(blocks, fmt.Sprintf(`{"type":"tool_use","name":%q,"input":{%q:%q}}`, tool, key, what))
	}
	return fmt.Sprintf(`{"type":"assistant","isSidechain":%t%s,"message":{"role":"assistant","model":%q%s,"content":[%s]}}`,
		r.side, r.extra, name, usage, strings.Join(blocks, ","))
}

func rowsOf(rows ...row) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(r.json() + "\n")
	}
	return b.String()
}

// report makes the report of transcripts, by their names without .jsonl.
func reportOf(t *testing.T, files map[string]string, change func(*Options)) *Document {
	t.Helper()
	d, _ := pageOf(t, files, change)
	return d
}

// pageOf is reportOf with what the page draws.
func pageOf(t *testing.T, files map[string]string, change func(*Options)) (*Document, *Charts) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if filepath.Ext(path) == "" {
			path += ".jsonl"
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h, err := history.Load(context.Background(), history.Source{Paths: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Now: time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC), Location: time.UTC, Prices: price.Default(),
		Policy: ceiling.PolicyOf(config.Default().Ceiling), Ceilings: DefaultCeilings(), NearDone: DefaultNearDone, KeptDays: 30,
	}
	if change != nil {
		change(&o)
	}
	return BuildPage(h, o)
}

func (d *Document) at(t *testing.T, c int64) Ceiling {
	t.Helper()
	for _, row := range d.Ceilings {
		if row.AbsCeiling == c {
			return row
		}
	}
	t.Fatalf("no row for %d", c)
	return Ceiling{}
}

// say writes a figure that may be missing.
func say[T int | int64 | float64](p *T) string {
	if p == nil {
		return "null"
	}
	return strconv.FormatFloat(float64(*p), 'f', -1, 64)
}
