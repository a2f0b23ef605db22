package contract

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// Report is what a file says of the contract.
type Report struct {
	Agree int     `json:"agree"` // values that are the contract's
	Drift []Drift `json:"drift"`
}

// Drift is a value that is not the contract's.
type Drift struct {
	Line   int    `json:"line"`   // from 1
	Column int    `json:"column"` // from 1, in bytes
	What   string `json:"what"`
	Have   string `json:"have"`
	Want   string `json:"want"`
}

func (d Drift) String() string {
	return fmt.Sprintf("%d:%d: %s: %s; the contract says %s", d.Line, d.Column, d.What, d.Have, d.Want)
}

// Check finds the contract's values in the text of a consumer and compares them. docs/contract.md lists what it
// recognises: it reads what is written as the contract writes it, whatever the language around it.
func (f Floor) Check(data []byte) Report {
	c := check{floor: f, flat: flatten(data), seen: map[int]bool{}}
	c.lines = lineStarts(data)
	c.annotations(data)
	c.paths()
	c.bands()
	c.bandKeys()
	c.staleness()
	c.version()
	c.combination()
	sort.Slice(c.report.Drift, func(i, j int) bool {
		a, b := c.report.Drift[i], c.report.Drift[j]
		return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
	})
	if c.report.Drift == nil {
		c.report.Drift = []Drift{}
	}
	return c.report
}

type check struct {
	floor   Floor
	flat    flat
	lines   []int        // where each line starts
	ignored map[int]bool // lines that are not looked at
	seen    map[int]bool // places in the file that were judged
	report  Report
}

// value records one value that was found at a place in the flat text.
func (c *check) value(at int, what, have, want string, ok bool) {
	c.valueAt(c.flat.at[at], what, have, want, ok)
}

func (c *check) valueAt(offset int, what, have, want string, ok bool) {
	line := sort.SearchInts(c.lines, offset+1)
	if c.seen[offset] || c.ignored[line] {
		return
	}
	c.seen[offset] = true
	if ok {
		c.report.Agree++
		return
	}
	c.report.Drift = append(c.report.Drift, Drift{line, offset - c.lines[line-1] + 1, what, strings.TrimSpace(have), want})
}

// lazy compiles an expression when it is first asked for: the other commands of the tool need none of these.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// A flat text has paragraphs on one line each, without the marks that wrapping and markup leave inside a sentence.
type flat struct {
	text string
	at   []int // for each byte of text, where it stands in the file
}

var (
	// leader is what a wrapped line begins with in a comment or a quotation.
	leader = lazy(`^[ \t\r]*(?:(?://+!?|#+|\*|>|--|;+)[ \t]+)?[ \t]*`)
	marks  = []struct{ mark, plain string }{
		{"`", ""}, {"**", ""}, {"&le;", "≤"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&ge;", "≥"}, {`\u2264`, "≤"}, {`\u2265`, "≥"},
	}
)

func flatten(data []byte) flat {
	var b strings.Builder
	var at []int
	put := func(s string, offset int) {
		b.WriteString(s)
		for range len(s) {
			at = append(at, offset)
		}
	}
	offset, blank := 0, false
	for line := range strings.Lines(string(data)) {
		start := len(leader().FindString(line))
		body := strings.TrimRight(line[start:], " \t\r\n")
		switch {
		case body == "":
			blank = true
		case blank:
			put("\n", offset)
			blank = false
		case offset > 0:
			put(" ", offset)
		}
	next:
		for i := 0; i < len(body); {
			for _, m := range marks {
				if strings.HasPrefix(body[i:], m.mark) {
					put(m.plain, offset+start+i)
					i += len(m.mark)
					continue next
				}
			}
			if space := body[i] == ' ' || body[i] == '\t'; !space || body[i-1] != ' ' && body[i-1] != '\t' {
				if space {
					put(" ", offset+start+i)
				} else {
					put(body[i:i+1], offset+start+i)
				}
			}
			i++
		}
		offset += len(line)
	}
	return flat{b.String(), append(at, offset)}
}

func lineStarts(data []byte) []int {
	starts := []int{0}
	for i, b := range data {
		if b == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// num is a number as people write it: 100000, 100,000, 100_000, 100k, 1M, 50%.
const num = `(\d+(?:[,_']\d{3})*(?:\.\d+)?) ?([kKmM]\b)?`

func parse(digits, suffix string) float64 {
	n, _ := strconv.ParseFloat(strings.NewReplacer(",", "", "_", "", "'", "").Replace(digits), 64)
	switch strings.ToLower(suffix) {
	case "k":
		n *= 1e3
	case "m":
		n *= 1e6
	}
	return n
}

// maxContext bounds how far around a value its context is looked for, in bytes, and with it the time that a file takes.
const maxContext = 2000

// A match of a pattern: its groups, and where they begin.
type match struct {
	text  string
	index []int
}

func (m match) group(i int) string {
	if m.index[2*i] < 0 {
		return ""
	}
	return m.text[m.index[2*i]:m.index[2*i+1]]
}

func (m match) start(i int) int { return m.index[2*i] }

func find(re func() *regexp.Regexp, text string) (all []match) {
	for _, index := range re().FindAllStringSubmatchIndex(text, -1) {
		all = append(all, match{text, index})
	}
	return all
}

// Paths.

var (
	contractPath = lazy(`([^\s"'(),=|\[\]]*)\.claude[/\\]+(context[-_ ]?guard)((?:[/\\]+[A-Za-z0-9_.<>{}$%*:@-]+)*[/\\]*)`)
	elsewhere    = lazy(`CLAUDE_CONFIG_DIR[^\s/\\"']*["']?[/\\]+context[-_ ]?guard`)
	inProject    = lazy(`(?i)^(?:\.|\$?\{?PWD\}?|\$?\{?CLAUDE_PROJECT_DIR[^/\\]*)[/\\]+$`)
	slashes      = lazy(`[/\\]+`)
)

func (c *check) paths() {
	want := c.floor.Snapshot + ", .compacted, or " + c.floor.Zones
	for _, m := range find(contractPath, c.flat.text) {
		rest := strings.Trim(slashes().ReplaceAllString(strings.TrimRight(m.group(3), ".:"), "/"), "/")
		if first, _, _ := strings.Cut(rest, "/"); first == "state" || first == "bin" {
			continue // a writer's own; no part of the contract
		}
		ok := m.group(2) == "context-guard" && !inProject().MatchString(m.group(1)) && c.isContract(rest)
		c.value(m.start(0), "path", m.group(0), want, ok)
	}
	for _, m := range find(elsewhere, c.flat.text) {
		c.value(m.start(0), "path", m.group(0), want+", also where CLAUDE_CONFIG_DIR is set", false)
	}
}

// isContract judges a path below the contract's folder.
func (c *check) isContract(rest string) bool {
	name, inside := strings.CutPrefix(rest, "context/")
	switch {
	case rest == "", rest == "context", rest == "zones.json":
		return true
	case !inside || strings.Contains(name, "/"):
		return false
	}
	return strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".compacted") || !strings.Contains(name, ".")
}

// Bands.

var (
	sentence = lazy(`(?i)\bsmart ?(≤|<=|<|up to) ?` + num + ` ?%?[ ,;|]*<? ?acceptable ?(≤|<=|<|up to) ?` + num)
	class    = lazy(`(?i)\bclass(?:es)?(?: of)? ?[:=|]? ?["']?` + num + `|` + num + `["']?[ -](?:tokens?[ -])?windows?\b|["']` + num + `["'] ?: ?\{|` + num + `["']? ?[:=|]+ ?$`)
	bandKey  = lazy(`(?i)\b(smart|acceptable)_?max_?(used_?percentage|tokens)(?:["'\])]* ?(?::=|=>|:|=|//|\?\?|\|\|)|["'] ?,) ?["']?` + num)
)

func (c *check) bands() {
	for _, m := range find(sentence, c.flat.text) {
		have := Edges{parse(m.group(2), m.group(3)), parse(m.group(5), m.group(6))}
		inclusive := m.group(1) != "<" && m.group(4) != "<"
		if have.AcceptableMax <= 100 {
			c.value(m.start(0), "percent bands", m.group(0), c.floor.Percent.String(), inclusive && have == c.floor.Percent)
			continue
		}
		want, what := c.rowFor(m.start(0))
		c.value(m.start(0), what, m.group(0), edgesOf(want), inclusive && slices.ContainsFunc(want, func(r Row) bool { return r.Edges == have }))
	}
}

// bandKeys looks at the keys of zones.json, in JSON or in code.
func (c *check) bandKeys() {
	for _, m := range find(bandKey, c.flat.text) {
		have := parse(m.group(3), m.group(4))
		edge := func(e Edges) float64 {
			if strings.EqualFold(m.group(1), "smart") {
				return e.SmartMax
			}
			return e.AcceptableMax
		}
		if !strings.EqualFold(m.group(2), "tokens") {
			want := edge(c.floor.Percent)
			c.value(m.start(0), "percent bands", m.group(0), number(want), have == want)
			continue
		}
		rows, what := c.rowFor(m.start(0))
		var want []string
		ok := false
		for _, r := range rows {
			want = append(want, number(edge(r.Edges)))
			ok = ok || have == edge(r.Edges)
		}
		c.value(m.start(0), what, m.group(0), orNothing(strings.Join(want, " or ")), ok)
	}
}

// rowFor is the row of the window class that was last named before a place, in the same paragraph; every row where none
// was named, and none where the contract has no such class.
func (c *check) rowFor(at int) (rows []Row, what string) {
	before := c.flat.text[max(0, at-maxContext):at]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	named := 0.0
	for _, m := range find(class, before) {
		for g := 1; g+1 < len(m.index)/2; g += 2 {
			// A class is large; a column of small numbers names none.
			if n := parse(m.group(g), m.group(g+1)); n > 100 {
				named = n
			}
		}
	}
	if named == 0 {
		return c.floor.Tokens, "token bands"
	}
	for _, r := range c.floor.Tokens {
		if r.Class == named {
			rows = []Row{r}
		}
	}
	return rows, "token bands, window class " + number(named)
}

func edgesOf(rows []Row) string {
	var all []string
	for _, r := range rows {
		all = append(all, r.Edges.String())
	}
	return orNothing(strings.Join(all, ", or "))
}

func orNothing(s string) string {
	if s == "" {
		return "nothing of that window class"
	}
	return s
}

// Staleness.

const unit = `(ms|milliseconds?|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?)\b`

var (
	ageSentence = lazy(`(?i)\b(?:older than|more than) ` + num + `[ -]?` + unit + `( old\b)?|` + num + `[ -]` + unit + ` (?:staleness|stale|freshness|rule)\b`)
	ageName     = lazy(`(?i)\b(\w*stale\w*)["']? ?(?::=|=|:) ?["']?` + num + `((?: ?\* ?\d+)*)(?: ?\*? ?(?:time\.)?` + unit + `)?`)
	ageSuffix   = lazy(`(?i)sec|min|milli|ms$|hour|after|age|max|limit|threshold|window|ttl`)
	pruning     = lazy(`(?i)delet|prun|remov|clean|expire`)
	aboutAge    = lazy(`(?i)stale|captured_at|snapshot`)
)

func (c *check) staleness() {
	want := fmt.Sprintf("%s (%d s)", c.floor.stale(), c.floor.StaleSeconds)
	judge := func(at int, have string, seconds float64) {
		c.value(at, "staleness", have, want, seconds == float64(c.floor.StaleSeconds))
	}
	for _, m := range find(ageSentence, c.flat.text) {
		s := c.sentenceAround(m.start(0))
		if !aboutAge().MatchString(s) || pruning().MatchString(s) {
			continue
		}
		if g := m.group(3); g != "" {
			if old := m.group(4) != ""; strings.HasPrefix(strings.ToLower(m.group(0)), "more") && !old {
				continue // "more than 60 s ahead" is another matter
			}
			judge(m.start(0), m.group(0), parse(m.group(1), m.group(2))*seconds(g))
		} else {
			judge(m.start(0), m.group(0), parse(m.group(5), m.group(6))*seconds(m.group(7)))
		}
	}
	for _, m := range find(ageName, c.flat.text) {
		name, inUnit := m.group(1), m.group(5)
		// A flag that is called stale is 0 or 1 and no age.
		if inUnit == "" && !ageSuffix().MatchString(name) {
			continue
		}
		n := parse(m.group(2), m.group(3))
		for factor := range strings.FieldsFuncSeq(m.group(4), func(r rune) bool { return r == ' ' || r == '*' }) {
			n *= parse(factor, "")
		}
		if inUnit == "" {
			inUnit = unitOfName(name)
		}
		judge(m.start(0), m.group(0), n*seconds(inUnit))
	}
}

func unitOfName(name string) string {
	name = strings.ToLower(name)
	switch {
	case strings.Contains(name, "min"):
		return "minutes"
	case strings.Contains(name, "milli"), strings.HasSuffix(name, "ms"):
		return "ms"
	case strings.Contains(name, "hour"):
		return "hours"
	}
	return "seconds"
}

func seconds(unit string) float64 {
	unit = strings.ToLower(unit)
	switch {
	case unit == "ms", strings.HasPrefix(unit, "milli"):
		return 1e-3
	case strings.HasPrefix(unit, "m"):
		return 60
	case strings.HasPrefix(unit, "h"):
		return 3600
	case strings.HasPrefix(unit, "d"):
		return 86400
	}
	return 1
}

// sentenceAround is the sentence, or the cells of a table, that a place stands in.
func (c *check) sentenceAround(at int) string {
	from := max(0, at-maxContext)
	text := c.flat.text[from:min(len(c.flat.text), at+maxContext)]
	at -= from
	start, end := 0, len(text)
	for _, stop := range []string{". ", "; ", "\n", " | | "} {
		if i := strings.LastIndex(text[:at], stop); i >= 0 {
			start = max(start, i+len(stop))
		}
		if i := strings.Index(text[at:], stop); i >= 0 {
			end = min(end, at+i)
		}
	}
	return text[start:end]
}

// The version floor.

const dotted = `["']?v?(\d+\.\d+\.\d+)`

var versions = []func() *regexp.Regexp{
	lazy(`(?i)version[ _-]?floor\b[^\n]{0,80}?` + dotted),
	lazy(`(?i)cli_?version\b[^\n]{0,60}?(?:≥|>=|at least|from|below|older than|newer than|<) ?` + dotted),
	lazy(`(?i)\b\w*(?:token_?floor|version_?floor|floor_?version|min_?(?:cli_?|client_?)?version)\w*["']? ?(?::=|=|:) ?` + dotted),
}

func (c *check) version() {
	for _, re := range versions {
		for _, m := range find(re, c.flat.text) {
			c.value(m.start(1), "version floor", m.group(1), c.floor.VersionFloor, m.group(1) == c.floor.VersionFloor)
		}
	}
}

// The combination sentence.

var combination = lazy(`(?i)(?:\w+ )?both (?:\w+ )?shapes (?:are|can)\b`)

func (c *check) combination() {
	for _, m := range find(combination, c.flat.text) {
		rest := c.flat.text[m.start(0):]
		want := c.floor.Combination
		ok := len(rest) >= len(want) && strings.EqualFold(rest[:len(want)], want)
		have := rest[:min(len(rest), len(want))]
		if i := strings.IndexByte(have, '\n'); i >= 0 {
			have = have[:i]
		}
		c.value(m.start(0), "combination", strconv.Quote(have), strconv.Quote(want), ok)
	}
}

// Annotations.

var (
	annotation = lazy(`plimsoll contract: ([a-z][a-z0-9_.]*)`)
	lastValue  = lazy(num + `((?: ?\* ?\d+)*)`)
	lastDotted = lazy(dotted)
)

// annotations reads the lines that say themselves which value they hold, and those that are to be left alone.
func (c *check) annotations(data []byte) {
	c.ignored = map[int]bool{}
	offset, n := 0, 0
	for line := range strings.Lines(string(data)) {
		n++
		if m := annotation().FindStringSubmatchIndex(line); m != nil {
			// The value that is annotated is not judged a second time by what it looks like.
			c.annotated(line[:m[0]], strings.TrimRight(line[m[2]:m[3]], "."), offset)
			c.ignored[n] = true
		}
		offset += len(line)
	}
}

func (c *check) annotated(before, key string, offset int) {
	if key == "ignore" {
		return
	}
	if key == "version_floor" {
		all := find(lastDotted, before)
		if len(all) == 0 {
			c.valueAt(offset, key, "no version before the mark", c.floor.VersionFloor, false)
			return
		}
		m := all[len(all)-1]
		c.valueAt(offset+m.start(1), key, m.group(1), c.floor.VersionFloor, m.group(1) == c.floor.VersionFloor)
		return
	}
	want, ok := c.floor.values()[key]
	if !ok {
		c.valueAt(offset, "mark", "plimsoll contract: "+key, "one of "+strings.Join(c.floor.Keys(), ", ")+", ignore", false)
		return
	}
	all := find(lastValue, before)
	if len(all) == 0 {
		c.valueAt(offset, key, "no number before the mark", number(want), false)
		return
	}
	m := all[len(all)-1]
	have := parse(m.group(1), m.group(2))
	for factor := range strings.FieldsFuncSeq(m.group(3), func(r rune) bool { return r == ' ' || r == '*' }) {
		have *= parse(factor, "")
	}
	c.valueAt(offset+m.start(0), key, m.group(0), number(want), have == want)
}

// values are the numbers that a mark can name.
func (f Floor) values() map[string]float64 {
	v := map[string]float64{
		"stale_seconds":          float64(f.StaleSeconds),
		"stale_minutes":          float64(f.StaleSeconds) / 60,
		"percent.smart_max":      f.Percent.SmartMax,
		"percent.acceptable_max": f.Percent.AcceptableMax,
	}
	for _, r := range f.Tokens {
		v["tokens."+number(r.Class)+".smart_max"] = r.SmartMax
		v["tokens."+number(r.Class)+".acceptable_max"] = r.AcceptableMax
	}
	return v
}

// Keys are the words that can follow the mark `plimsoll contract:` and name a value, sorted.
func (f Floor) Keys() []string {
	keys := []string{"version_floor"}
	for k := range f.values() {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
