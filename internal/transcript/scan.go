package transcript

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strconv"
	"time"
)

// Kind is what a row is about.
type Kind byte

// The kinds of row that a scan reports. Everything else in a transcript is passed over.
const (
	Response   Kind = iota + 1 // an API response, or one content block of it: the client writes a row for each
	Compaction                 // the context was compacted
	CostState                  // the client's own sums so far
	AgentMade                  // the result of a call that started a sub-agent, which tells the agent's id
	Command                    // a slash command of the operator
	Resumed                    // the client was started again on this session
)

// Row is one row of a transcript. Its byte slices belong to the scan and change with the next row.
type Row struct {
	Kind    Kind
	Session []byte // id, empty when the row has none
	UUID    []byte
	Agent   []byte // the sub-agent's id
	Type    []byte // the sub-agent's type, where the row says it
	Version []byte // of the client
	Folder  []byte // that the client worked in
	Side    bool   // a sub-agent's row
	Time    int64  // ms since the Unix epoch; 0 when the row has none
	Open    bool   // the line is the last and not ended: the client may still be writing it, or was stopped

	// Response
	ID    []byte // the message's id; its rows repeat it, and so do copies in other files
	Model []byte
	Usage Usage
	Calls []Call // of the Skill, Agent and Task tools

	// Compaction: tokens, 0 where the row does not say
	Pre, Post int64
	Trigger   []byte

	// CostState: US dollars
	CostUSD float64

	// AgentMade: the call and, in Agent, the sub-agent that it started. Command: the name, with its slash.
	CallID []byte
	Name   []byte
}

// Usage is what one response used, in tokens.
type Usage struct {
	Input, Output, CacheRead, CacheWrite5m, CacheWrite1h int64
	Fast                                                 bool // the fast mode, which has prices of its own
	US                                                   bool // inference in the US alone
}

// Prompt is the context that the response was computed in.
func (u Usage) Prompt() int64 { return u.Input + u.CacheRead + u.CacheWrite5m + u.CacheWrite1h }

// Call is a call of a tool that starts a capability.
type Call struct {
	ID   []byte
	Tool []byte
	Name []byte // the skill, or the sub-agent's type
}

// Scanned is what a scan went over.
type Scanned struct {
	Offset    int64 // behind the last line feed: where the next scan goes on
	Lines     int   // that were not blank
	Malformed int   // no JSON object, or figures that are no token counts
	TooLong   int   // more than MaxRow bytes even with their texts cut
	Torn      bool  // the file ends amid a row
}

const (
	// scanBlock is how much is read at a time, in bytes. A longer line has its texts cut.
	scanBlock = 512 << 10
	// MaxRow bounds a line, in bytes, after every string in it was cut to maxText.
	MaxRow = 16 << 20
	// maxText is what is kept of a string in a line longer than scanBlock, in bytes.
	maxText = 1 << 10
)

// Scanner reads transcripts. It may be used for one after the other, not for several at once.
type Scanner struct {
	block []byte
	cut   cutter
	row   Row
	done  Scanned
	take  func(*Row)
}

// Scan calls take for every row of interest from r, in order. Lines end at LF alone: U+2028 and its like are text. Memory
// does not grow with the file nor with the length of a line. Keys, and the values that the client writes as words of its
// own, are known as it spells them, without escapes. Of duplicate keys the last counts, except for a row's type, of which
// the first decides whether the row is looked at.
func (s *Scanner) Scan(r io.Reader, take func(*Row)) (Scanned, error) {
	if s.block == nil { // a test may have put a smaller one
		s.block = make([]byte, scanBlock)
	}
	s.done, s.take = Scanned{}, take
	s.cut.reset()
	var read int64
	have := 0 // bytes at the block's beginning that begin a line
	long := false
	for {
		n, err := r.Read(s.block[have:])
		read += int64(n)
		data := s.block[:have+n]
		line, search := 0, have
		for {
			i := bytes.IndexByte(data[search:], '\n')
			if i < 0 {
				break
			}
			end := search + i
			s.end(data[line:end], long, false)
			long = false
			line, search = end+1, end+1
			s.done.Offset = read - int64(len(data)-line)
		}
		rest := data[line:]
		if long || len(rest) == len(s.block) {
			long, have = true, 0
			s.cut.write(rest)
		} else {
			have = copy(s.block, rest)
		}
		if err == nil {
			continue
		}
		if have > 0 || long {
			s.end(s.block[:have], long, true)
		}
		if err == io.EOF {
			err = nil
		}
		return s.done, err
	}
}

// end looks at a line. What began a long one is in the cutter.
func (s *Scanner) end(line []byte, long, open bool) {
	if long {
		s.cut.write(line)
		line = s.cut.line
		defer s.cut.reset()
		if s.cut.full {
			s.done.Lines++
			if open {
				s.done.Torn = true
			} else {
				s.done.TooLong++
			}
			return
		}
	}
	line = bytes.Trim(bytes.TrimPrefix(line, bom), " \t\r")
	if len(line) == 0 {
		return
	}
	s.done.Lines++
	s.row = Row{Open: open, Calls: s.row.Calls[:0]}
	switch ok, wanted := s.row.read(line); {
	case !ok && open:
		s.done.Torn = true
	case !ok:
		s.done.Malformed++
	case wanted:
		s.take(&s.row)
	}
}

var bom = []byte("\xef\xbb\xbf")

// cutter keeps a line that is longer than a block, without the inside of its long strings.
type cutter struct {
	line              []byte
	full              bool // the line is too long even so, and not kept
	inString, escaped bool
	length            int // of the string so far
}

func (c *cutter) reset() { *c = cutter{line: c.line[:0]} }

func (c *cutter) write(b []byte) {
	for i := 0; i < len(b) && !c.full; {
		if !c.inString {
			j := bytes.IndexByte(b[i:], '"') + 1
			if j == 0 {
				j = len(b) - i
			} else {
				c.inString, c.length = true, 0
			}
			c.keep(b[i : i+j])
			i += j
			continue
		}
		j := i
		for ; j < len(b); j++ {
			if c.escaped {
				c.escaped = false
			} else if b[j] == '\\' {
				c.escaped = true
			} else if b[j] == '"' {
				break
			}
		}
		c.keep(b[i : i+min(j-i, max(0, maxText-c.length))])
		c.length += j - i
		if i = j; i < len(b) {
			if c.length > maxText { // it was cut, maybe amid an escape
				c.line = bytes.TrimRight(c.line, `\`)
			}
			c.keep(b[i : i+1])
			c.inString = false
			i++
		}
	}
}

func (c *cutter) keep(b []byte) {
	if c.full = c.full || len(c.line)+len(b) > MaxRow; c.full {
		c.line = nil
		return
	}
	if cap(c.line)-len(c.line) < len(b) { // append alone would grow a large buffer by small steps, and leave them all behind
		c.line = slices.Grow(c.line, max(len(b), min(cap(c.line), MaxRow-len(c.line))))
	}
	c.line = append(c.line, b...)
}

// read takes a line apart. ok is false for what is no JSON object, or counts tokens in no numbers; wanted tells whether the
// row is of one of the kinds. A row whose type is of no interest is not read to its end: of such rows only the brackets
// at both ends are looked at.
func (r *Row) read(line []byte) (ok, wanted bool) {
	w := walk{b: line}
	if !w.enter('{') || line[len(line)-1] != '}' {
		return false, false
	}
	var f fields
	for {
		key, more := w.key()
		if !more {
			break
		}
		switch string(key) {
		case "type":
			f.kind, f.typed = w.text(), true
			if f.boring(line, w.i, r.Side) {
				return true, false
			}
		case "attachment":
			f.attached = resumes(line[w.i:])
			if !f.attached && !f.typed && bytes.Contains(line[max(w.i, len(line)-maxText):], []byte(`"type":"attachment"`)) {
				return true, false // the row's type comes behind what may be long
			}
			w.skip()
		case "data": // of a progress row
			f.progress = resumes(line[w.i:])
			w.skip()
		case "subtype":
			f.boundary = string(w.text()) == "compact_boundary"
		case "isSidechain":
			r.Side = w.truth()
		case "isApiErrorMessage":
			f.failed = w.truth()
		case "sessionId":
			r.Session = decoded(w.text())
		case "agentId":
			r.Agent = decoded(w.text())
		case "attributionAgent":
			r.Type = decoded(w.text())
		case "version":
			r.Version = decoded(w.text())
		case "cwd":
			r.Folder = decoded(w.text())
		case "uuid":
			r.UUID = decoded(w.text())
		case "timestamp":
			r.Time = milliseconds(w.text())
		case "totalCostUSD":
			f.cost = string(w.skip())
		case "compactMetadata":
			r.compaction(&w)
		case "message":
			r.message(&w, &f)
		case "toolUseResult":
			r.result(&w)
		default:
			w.skip()
		}
	}
	if w.space(); w.bad || w.i != len(line) {
		return false, false
	}
	return r.settle(&f)
}

// fields are what is seen of a row until it is whole and its kind is known.
type fields struct {
	kind      []byte
	typed     bool
	failed    bool // the client wrote the row in the model's name
	boundary  bool
	attached  bool // the attachment is of a resumed session's start
	progress  bool // the data is
	message   bool // there is a message that is an object
	usage     bool // with a usage object
	badUsage  bool
	synthetic bool
	cost      string
	command   []byte
}

// namesAgent tells whether a row has the key agentId. It looks for the letter that is rare in texts.
func namesAgent(line []byte) bool {
	const before, after = `"agent`, `Id"`
	for i := 0; ; i++ {
		n := bytes.IndexByte(line[i:], after[0])
		if n < 0 {
			return false
		}
		if i += n; i >= len(before) && string(line[i-len(before):i]) == before && bytes.HasPrefix(line[i:], []byte(after)) {
			return true
		}
	}
}

// boring tells whether nothing in a row of this type is wanted. at is behind the type.
func (f *fields) boring(line []byte, at int, side bool) bool {
	switch string(f.kind) {
	case "assistant", "cost-state", "system":
		return false
	case "user":
		// The result of a call that started a sub-agent, or a command. In a text the quotes would be escaped.
		return side || !namesAgent(line) && !bytes.Contains(line[:min(len(line), at+maxText)], []byte("<command-name>"))
	case "progress", "attachment":
		return !f.attached && !f.progress && !bytes.Contains(line[at:], []byte(sessionResumed))
	}
	return true
}

// sessionResumed is what the client calls the hooks of a resumed session's start.
const sessionResumed = "SessionStart:resume"

// resumes tells whether the object that begins here says that a hook ran at the start of a resumed session. What says
// first that it is about no hook is not read to its end.
func resumes(object []byte) (resumed bool) {
	w := walk{b: object}
	if !w.enter('{') {
		return false
	}
	for {
		key, more := w.key()
		if !more {
			return resumed && !w.bad
		}
		switch string(key) {
		case "type":
			if !bytes.HasPrefix(w.text(), []byte("hook_")) {
				return false
			}
		case "hookName":
			resumed = string(w.text()) == sessionResumed
		default:
			w.skip()
		}
	}
}

// settle gives the row its kind.
func (r *Row) settle(f *fields) (ok, wanted bool) {
	switch kind := string(f.kind); {
	case kind == "assistant" || !f.typed:
		// A row without figures still has calls.
		if !f.message || !f.usage && len(r.Calls) == 0 || f.failed || f.synthetic {
			return true, false
		}
		if f.badUsage {
			return false, false
		}
		r.Kind = Response
	case kind == "system" && f.boundary:
		r.Kind = Compaction
	case kind == "cost-state":
		var err error
		if r.CostUSD, err = strconv.ParseFloat(f.cost, 64); err != nil || !(r.CostUSD >= 0 && r.CostUSD <= math.MaxFloat64) {
			return f.cost == "", false
		}
		r.Kind = CostState
	case kind == "user" && len(r.CallID) > 0 && len(r.Name) > 0 && !r.Side:
		r.Kind, r.Agent, r.Name = AgentMade, r.Name, nil
	case kind == "user" && f.command != nil && !r.Side:
		r.Kind, r.Name = Command, f.command
	case (kind == "progress" && f.progress || kind == "attachment" && f.attached) && !r.Side:
		r.Kind = Resumed
	}
	return true, r.Kind != 0
}

// message reads what a row says of a response, of a command, or of the call whose result it holds.
func (r *Row) message(w *walk, f *fields) {
	// Of duplicates the last counts.
	r.ID, r.Model, r.Usage, r.Calls, r.CallID = nil, nil, Usage{}, r.Calls[:0], nil
	f.message, f.usage, f.badUsage, f.synthetic, f.command = false, false, false, false, nil
	if !w.enter('{') {
		w.skip()
		return
	}
	f.message = true
	for {
		key, more := w.key()
		if !more {
			return
		}
		switch string(key) {
		case "id":
			r.ID = decoded(w.text())
		case "model":
			r.Model = decoded(w.text())
			f.synthetic = string(r.Model) == "<synthetic>"
		case "usage":
			r.usage(w, f)
		case "content":
			r.content(w, f)
		default:
			w.skip()
		}
	}
}

func (r *Row) usage(w *walk, f *fields) {
	r.Usage, f.usage, f.badUsage = Usage{}, false, false
	if !w.enter('{') {
		w.skip()
		return
	}
	f.usage = true
	var written, short, long int64
	split := false
	count := func() int64 {
		n, ok := w.count()
		f.badUsage = f.badUsage || !ok
		return n
	}
	for {
		key, more := w.key()
		if !more {
			break
		}
		switch string(key) {
		case "input_tokens":
			r.Usage.Input = count()
		case "output_tokens":
			r.Usage.Output = count()
		case "cache_read_input_tokens":
			r.Usage.CacheRead = count()
		case "cache_creation_input_tokens":
			written = count()
		case "cache_creation":
			if !w.enter('{') {
				w.skip()
				continue
			}
			short, long, split = 0, 0, false
			for {
				key, more := w.key()
				if !more {
					break
				}
				switch string(key) {
				case "ephemeral_5m_input_tokens":
					short, split = count(), true
				case "ephemeral_1h_input_tokens":
					long, split = count(), true
				default:
					w.skip()
				}
			}
		case "speed":
			r.Usage.Fast = string(w.text()) == "fast"
		case "inference_geo":
			r.Usage.US = string(w.text()) == "us"
		default:
			w.skip()
		}
	}
	// Old clients and some gateways tell the sum alone. What the split leaves out was written for five minutes, which is
	// the API's default.
	if !split || short+long < written {
		short = written - long
	}
	r.Usage.CacheWrite5m, r.Usage.CacheWrite1h = max(short, 0), long
}

// content reads the calls of a response, the command that a text is, or the id of the call whose result stands there.
func (r *Row) content(w *walk, f *fields) {
	r.Calls, r.CallID, f.command = r.Calls[:0], nil, nil
	if w.i < len(w.b) && w.b[w.i] == '"' {
		f.command = commandName(w.str())
		return
	}
	if !w.enter('[') {
		w.skip()
		return
	}
	for w.element() {
		if !w.enter('{') {
			w.skip()
			continue
		}
		var kind, name, id, result, input []byte
		for {
			key, more := w.key()
			if !more {
				break
			}
			switch string(key) {
			case "type":
				kind = w.text()
			case "name":
				name = w.text()
			case "id":
				id = w.text()
			case "tool_use_id":
				result = w.text()
			case "input":
				input = w.skip()
			default:
				w.skip()
			}
		}
		switch string(kind) {
		case "tool_use":
			if tool := string(name); tool == "Skill" || tool == "Agent" || tool == "Task" {
				r.Calls = append(r.Calls, Call{ID: decoded(id), Tool: name, Name: capability(tool, input)})
			}
		case "tool_result":
			r.CallID = decoded(result)
		}
	}
}

// capability is the skill or the sub-agent's type that a call's input names; nil when it names none.
func capability(tool string, input []byte) []byte {
	w := walk{b: input}
	if !w.enter('{') {
		return nil
	}
	var first, second, third []byte
	for {
		key, more := w.key()
		if !more {
			break
		}
		switch k := string(key); {
		case tool == "Skill" && k == "skill", tool != "Skill" && k == "subagent_type":
			first = decoded(w.text())
		case tool == "Skill" && k == "name":
			second = decoded(w.text())
		case tool == "Skill" && k == "command":
			third = decoded(w.text())
		default:
			w.skip()
		}
	}
	for _, name := range [...][]byte{first, second, third} {
		if len(name) > 0 {
			return name
		}
	}
	return nil
}

// commandName is the slash command in the text of a prompt, as the client writes it down; nil for any other text.
func commandName(text []byte) []byte {
	text = text[:min(len(text), maxText)]
	if !bytes.HasPrefix(text, []byte("<command-")) {
		return nil // a text that is about commands
	}
	_, rest, _ := bytes.Cut(text, []byte("<command-name>"))
	name, _, ok := bytes.Cut(rest, []byte("</command-name>"))
	if !ok || len(name) == 0 {
		return nil
	}
	return decoded(name)
}

// result reads which sub-agent a call started.
func (r *Row) result(w *walk) {
	r.Name = nil
	if !w.enter('{') {
		w.skip()
		return
	}
	for {
		key, more := w.key()
		if !more {
			return
		}
		if string(key) == "agentId" {
			r.Name = decoded(w.text())
		} else {
			w.skip()
		}
	}
}

func (r *Row) compaction(w *walk) {
	r.Pre, r.Post, r.Trigger = 0, 0, nil
	if !w.enter('{') {
		w.skip()
		return
	}
	for {
		key, more := w.key()
		if !more {
			return
		}
		switch string(key) {
		case "trigger":
			r.Trigger = decoded(w.text())
		case "preTokens":
			r.Pre, _ = w.count()
		case "postTokens":
			r.Post, _ = w.count()
		default:
			w.skip()
		}
	}
}

// milliseconds reads a moment as the client writes it, 2026-11-30T23:00:05.015Z, into ms since the Unix epoch; 0 for
// anything else that is no moment.
func milliseconds(text []byte) int64 {
	// The days that not every month has are left to the library.
	if len(text) == len("2026-11-30T23:00:05.015Z") && text[4] == '-' && text[7] == '-' && text[10] == 'T' &&
		text[13] == ':' && text[16] == ':' && text[19] == '.' && text[23] == 'Z' {
		n := func(from, to int) (n int) {
			for _, c := range text[from:to] {
				if c < '0' || c > '9' {
					return -1 << 20
				}
				n = n*10 + int(c-'0')
			}
			return n
		}
		year, month, day, hour, minute, second, milli := n(0, 4), n(5, 7), n(8, 10), n(11, 13), n(14, 16), n(17, 19), n(20, 23)
		if year >= 1970 && month >= 1 && month <= 12 && day >= 1 && day <= 28 && hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 60 && milli >= 0 {
			return int64(days(year, month, day))*86_400_000 + int64(hour*3_600_000+minute*60_000+second*1000+milli)
		}
	}
	t, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}

// days counts the days since the Unix epoch.
func days(year, month, day int) int {
	if month <= 2 {
		year--
		month += 12
	}
	return 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 719_469
}
