// Command compare runs plimsoll report and ccusage on the same transcripts and accounts for every difference between their
// totals. It reads the transcripts a third time, plainly, and changes its own way of counting from the report's to
// ccusage's one rule at a time: what a rule changes is what it explains. Where the first step is not the report's total,
// or the last not ccusage's, something is not explained, and the exit code is 1.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"plimsoll/bench/internal/ccusage"
)

func main() {
	corpus := flag.String("corpus", ".corpus", "folder of transcripts")
	flag.Parse()
	err := run(*corpus)
	if err != nil {
		fmt.Fprintf(os.Stderr, "compare: %v\n", err)
	}
	switch {
	case errors.Is(err, ccusage.ErrMissing):
		fmt.Println("compare: SKIPPED")
	case err != nil:
		os.Exit(1)
	}
}

func run(corpus string) error {
	if _, err := os.Stat(corpus); err != nil {
		return fmt.Errorf("the transcripts are %w: %v", ccusage.ErrMissing, err)
	}
	dir, err := os.MkdirTemp("", "plimsoll-compare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(filepath.Join(dir, "projects"), os.DirFS(corpus)); err != nil {
		return err
	}
	theirs, err := runCcusage(dir)
	if err != nil {
		return err
	}
	ours, err := runReport(dir)
	if err != nil {
		return err
	}
	rows, err := readAll(filepath.Join(dir, "projects"))
	if err != nil {
		return err
	}
	return account(rows, ours, theirs)
}

// tokens are counts in the order input, output, cache write, cache read.
type tokens [4]int64

func (t tokens) sum() int64 { return t[0] + t[1] + t[2] + t[3] }

func (t tokens) plus(u tokens, sign int64) tokens {
	for i := range t {
		t[i] += sign * u[i]
	}
	return t
}

func (t tokens) String() string {
	return fmt.Sprintf("%12s %10s %12s %13s", number(t[0]), number(t[1]), number(t[2]), number(t[3]))
}

func number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// totals are a tool's, by model.
type totals map[string]model

type model struct {
	tokens tokens
	usd    float64
}

func (t totals) all() (sum tokens) {
	for _, m := range t {
		sum = sum.plus(m.tokens, 1)
	}
	return sum
}

func runReport(dir string) (totals, error) {
	out, err := command(dir, "go", "run", "./cmd/plimsoll", "report", "cost", "--json", "--no-index", "--timezone", "UTC", filepath.Join(dir, "projects")).Output()
	if err != nil {
		return nil, failed("plimsoll report", err)
	}
	var d struct {
		ByModel []struct {
			Model   string  `json:"model"`
			In      int64   `json:"input_tokens"`
			Out     int64   `json:"output_tokens"`
			Short   int64   `json:"cache_write_5m_tokens"`
			Long    int64   `json:"cache_write_1h_tokens"`
			Read    int64   `json:"cache_read_tokens"`
			CostUSD float64 `json:"cost_usd"`
		} `json:"by_model"`
	}
	if err := json.Unmarshal(out, &d); err != nil {
		return nil, fmt.Errorf("read the report: %w", err)
	}
	t := totals{}
	for _, m := range d.ByModel {
		t[m.Model] = model{tokens{m.In, m.Out, m.Short + m.Long, m.Read}, m.CostUSD}
	}
	return t, nil
}

// command runs a program without anything of the machine's own: the home is the temporary folder. Go keeps its caches.
func command(dir string, argv ...string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "CLAUDE_CONFIG_DIR=" + dir, "TZ=UTC", "LOG_LEVEL=0"}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS", "GOSUMDB", "GONOSUMDB"} {
		if v, err := exec.Command("go", "env", name).Output(); err == nil && argv[0] == "go" {
			cmd.Env = append(cmd.Env, name+"="+strings.TrimSpace(string(v)))
		}
	}
	return cmd
}

func failed(what string, err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%s: %w: %s", what, err, bytes.TrimSpace(exit.Stderr))
	}
	return fmt.Errorf("%s: %w", what, err)
}

func runCcusage(dir string) (totals, error) {
	bin, err := ccusage.Binary()
	if err != nil {
		return nil, err
	}
	// Costs are calculated by its own list, for every row: old clients wrote costs of theirs into some.
	out, err := command(dir, bin, "claude", "daily", "--json", "--offline", "--mode", "calculate").Output()
	if err != nil {
		return nil, failed("ccusage", err)
	}
	var d struct {
		Daily []struct {
			Models []struct {
				Model string  `json:"modelName"`
				In    int64   `json:"inputTokens"`
				Out   int64   `json:"outputTokens"`
				Write int64   `json:"cacheCreationTokens"`
				Read  int64   `json:"cacheReadTokens"`
				Cost  float64 `json:"cost"`
			} `json:"modelBreakdowns"`
		} `json:"daily"`
	}
	if err := json.Unmarshal(out, &d); err != nil {
		return nil, fmt.Errorf("read ccusage's answer: %w", err)
	}
	t := totals{}
	for _, day := range d.Daily {
		for _, m := range day.Models {
			// It names the fast mode in the model; the report counts its tokens with the model's.
			name := strings.TrimSuffix(m.Model, "-fast")
			old := t[name]
			t[name] = model{old.tokens.plus(tokens{m.In, m.Out, m.Write, m.Read}, 1), old.usd + m.Cost}
		}
	}
	return t, nil
}

// row is one row that has usage, or the response inside a progress row.
type row struct {
	id, request, uuid, model, session string
	at                                string
	side, nested, bad                 bool // bad: a count below zero
	tokens                            tokens
}

func readAll(root string) (rows []row, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range bytes.SplitSeq(data, []byte{'\n'}) {
			if r, ok := parse(line); ok {
				rows = append(rows, r)
			}
		}
		return nil
	})
	return rows, err
}

type object struct {
	Type      string `json:"type"`
	UUID      string `json:"uuid"`
	Request   string `json:"requestId"`
	Session   string `json:"sessionId"`
	Timestamp string `json:"timestamp"`
	Side      bool   `json:"isSidechain"`
	Failed    bool   `json:"isApiErrorMessage"`
	Message   *struct {
		ID    string `json:"id"`
		Model string `json:"model"`
		Usage *struct {
			In    int64 `json:"input_tokens"`
			Out   int64 `json:"output_tokens"`
			Write int64 `json:"cache_creation_input_tokens"`
			Read  int64 `json:"cache_read_input_tokens"`
		} `json:"usage"`
	} `json:"message"`
}

func parse(line []byte) (r row, ok bool) {
	var o struct {
		object
		Data *struct {
			Message *object `json:"message"`
		} `json:"data"`
	}
	if json.Unmarshal(line, &o) != nil {
		// Foreign formats use the same words for other types; what is left of them is nothing that either tool counts.
		var wrong *json.UnmarshalTypeError
		if !errors.As(json.Unmarshal(line, &o), &wrong) {
			return row{}, false
		}
	}
	from, nested := &o.object, false
	if o.Type == "progress" && o.Data != nil && o.Data.Message != nil {
		from, nested = o.Data.Message, true
	}
	if from.Type != "assistant" && from.Type != "" || from.Failed || from.Message == nil || from.Message.Usage == nil || from.Message.Model == "<synthetic>" {
		return row{}, false
	}
	u := from.Message.Usage
	r = row{
		id: from.Message.ID, request: from.Request, uuid: from.UUID, model: from.Message.Model, session: o.Session, at: from.Timestamp,
		side: o.Side || nested, nested: nested, tokens: tokens{u.In, u.Out, u.Write, u.Read},
	}
	r.bad = min(u.In, u.Out, u.Write, u.Read) < 0
	return r, true
}

// rules is a way of counting.
type rules struct {
	nested      bool // responses that stand in progress rows alone count
	dropBad     bool // a row with a count below zero is dropped; otherwise the count is 0
	byRequest   bool // a response is a message id with a request id; otherwise a message id
	largerTotal bool // of copies the one with most tokens counts; otherwise the one with the largest output
}

func count(rows []row, by rules) totals {
	best := map[string]row{}
	var keys []string
	for i, r := range rows {
		if r.nested && !by.nested || r.bad && by.dropBad {
			continue
		}
		for j := range r.tokens {
			r.tokens[j] = max(r.tokens[j], 0)
		}
		key := r.id
		if by.byRequest && key != "" {
			key += "\x00" + r.request
		}
		if key == "" && !by.byRequest {
			key = r.uuid
		}
		if key == "" {
			key = "\x00" + strconv.Itoa(i)
		}
		old, again := best[key]
		if !again {
			keys = append(keys, key)
			best[key] = r
			continue
		}
		best[key] = choose(old, r, by)
	}
	t := totals{}
	for _, key := range keys {
		r := best[key]
		m := t[r.model]
		m.tokens = m.tokens.plus(r.tokens, 1)
		t[r.model] = m
	}
	return t
}

func choose(old, now row, by rules) row {
	if by.largerTotal {
		if now.tokens.sum() > old.tokens.sum() {
			return now
		}
		return old
	}
	// The report's rule: tokens of the largest output, then of the largest prompt; the rest of the row that comes first
	// by thread, session and model.
	more := cmp.Or(cmp.Compare(now.tokens[1], old.tokens[1]), cmp.Compare(now.tokens.sum(), old.tokens.sum()), cmp.Compare(now.tokens[3], old.tokens[3]))
	place := func(r row) string { return fmt.Sprint(r.side, "\x00", r.session, "\x00", r.model) }
	kept := old
	if place(now) < place(old) {
		kept = now
	}
	kept.tokens = old.tokens
	if more > 0 {
		kept.tokens = now.tokens
	}
	return kept
}

func account(rows []row, ours, theirs totals) error {
	steps := []struct {
		name string
		by   rules
	}{
		{"plimsoll report", rules{}},
		{"responses that only progress rows hold count", rules{nested: true}},
		{"rows with a count below zero are dropped", rules{nested: true, dropBad: true}},
		{"one message id with several request ids is several responses", rules{nested: true, dropBad: true, byRequest: true}},
		{"of copies the one with most tokens counts, not with the largest output", rules{nested: true, dropBad: true, byRequest: true, largerTotal: true}},
	}
	fmt.Printf("%-72s %12s %10s %12s %13s\n", "", "input", "output", "cache write", "cache read")
	var before totals
	for i, s := range steps {
		now := count(rows, s.by)
		if i == 0 {
			fmt.Printf("%-72s %s\n", s.name, now.all())
			if err := equal("the plain reading and the report", now, ours); err != nil {
				return err
			}
		} else {
			fmt.Printf("%-72s %s\n", "  "+s.name, now.all().plus(before.all(), -1))
		}
		before = now
	}
	fmt.Printf("%-72s %s\n", "ccusage "+ccusage.Release, theirs.all())
	if err := equal("the plain reading by ccusage's rules and ccusage", before, theirs); err != nil {
		return err
	}
	fmt.Printf("%-72s %s\n\n", "not explained", theirs.all().plus(before.all(), -1))
	fmt.Printf("%-32s %14s %14s   %s\n", "US dollars, where tokens are the same", "report", "ccusage", "")
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		a, b := ours[name], theirs[name]
		if a.tokens != b.tokens {
			continue
		}
		note := ""
		if math.Abs(a.usd-b.usd) > 1e-9*max(1, a.usd) {
			note = "another price, or none: docs/report.md"
		}
		fmt.Printf("%-37s %14.6f %14.6f   %s\n", name, a.usd, b.usd, note)
	}
	return nil
}

func equal(what string, a, b totals) error {
	var wrong []string
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if a[name].tokens != b[name].tokens {
			wrong = append(wrong, fmt.Sprintf("%s: %v, %v", name, a[name].tokens, b[name].tokens))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%s differ:\n%s", what, strings.Join(wrong, "\n"))
	}
	return nil
}
