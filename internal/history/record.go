package history

import (
	"cmp"
	"strings"

	"plimsoll/internal/transcript"
)

// record is what one transcript tells. Records are merged in any order into the same history, so a file may be split and
// its parts read in any order.
type record struct {
	strings     []string // what the numbers below of type word stand for; the first is ""
	responses   []response
	calls       []call
	compactions []compaction
	moments     []moment
	made        []made
	costs       []cost
	folders     []word // that the client worked in
	malformed   int
	tooLong     int

	words map[string]word // while it is being filled
	last  [lastWords]word // what was asked for last, which is mostly asked for again
	known map[word]bool   // the folders
}

type word uint32

// The places of last.
const (
	sessionWord = iota
	agentWord
	kindWord
	versionWord
	modelWord
	folderWord
	lastWords
)

// again is word for what mostly is the same as in the row before.
func (r *record) again(place int, b []byte) word {
	if len(b) == 0 {
		return 0
	}
	if w := r.last[place]; r.strings[w] == string(b) {
		return w
	}
	r.last[place] = r.word(b)
	return r.last[place]
}

// response is an API response as far as this file tells it.
type response struct {
	key                           uint64 // of its message id, else of its row's uuid; 0: neither, so it cannot be a copy
	session, agent, kind, version word
	model                         word
	side                          bool
	time                          int64
	usage                         transcript.Usage
}

// call is a call of a tool that starts a capability.
type call struct {
	key        uint64
	response   uint32 // in the same record
	tool, name word
}

type compaction struct {
	key       uint64
	session   word
	side      bool
	time      int64
	pre, post int64
	trigger   word
}

// moment is something that happened in a session at a time: a command of that name, or with none the client's restart.
type moment struct {
	key     uint64
	session word
	time    int64
	name    word
}

// made is which sub-agent a call started.
type made struct {
	call  uint64
	agent word
}

// cost is the client's own sum for a session, in US dollars. It grows, so the largest is the last.
type cost struct {
	session word
	usd     float64
}

func newRecord() *record {
	return &record{strings: []string{""}}
}

// id is what stands for a long name. Of a million names, two being the same by chance has a chance of 1 in 37 million.
func id(b []byte) uint64 {
	if len(b) == 0 {
		return 0
	}
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	h := uint64(offset)
	for _, c := range b {
		h = (h ^ uint64(c)) * prime
	}
	return max(h, 1)
}

func (r *record) word(b []byte) word {
	if len(b) == 0 {
		return 0
	}
	if r.words == nil {
		r.words = make(map[string]word, len(r.strings))
		for i, s := range r.strings {
			r.words[s] = word(i)
		}
	}
	if w, ok := r.words[string(b)]; ok {
		return w
	}
	s := string(b)
	w := word(len(r.strings))
	r.strings = append(r.strings, s)
	r.words[s] = w
	return w
}

// take adds a row. session stands in for the id of a row that has none, and agent for a sub-agent's.
func (r *record) take(row *transcript.Row, session, agent string) {
	if len(row.Session) == 0 {
		row.Session = []byte(session)
	}
	if row.Side && len(row.Agent) == 0 {
		row.Agent = []byte(agent)
	}
	in := r.again(sessionWord, row.Session)
	switch row.Kind {
	case transcript.Response:
		r.takeResponse(row, in)
	case transcript.Compaction:
		r.compactions = append(r.compactions, compaction{
			key: id(row.UUID), session: in, side: row.Side, time: row.Time, pre: row.Pre, post: row.Post, trigger: r.word(row.Trigger),
		})
	case transcript.CostState:
		for i := range r.costs {
			if c := &r.costs[i]; c.session == in {
				c.usd = max(c.usd, row.CostUSD)
				return
			}
		}
		r.costs = append(r.costs, cost{in, row.CostUSD})
	case transcript.AgentMade:
		r.made = append(r.made, made{id(row.CallID), r.word(row.Agent)})
	case transcript.Command:
		r.moments = append(r.moments, moment{id(row.UUID), in, row.Time, r.word(row.Name)})
	case transcript.Resumed:
		r.moments = append(r.moments, moment{id(row.UUID), in, row.Time, 0})
	}
}

func (r *record) takeResponse(row *transcript.Row, session word) {
	next := response{
		key: id(row.ID), session: session, side: row.Side, time: row.Time, usage: row.Usage,
		agent:   r.again(agentWord, row.Agent),
		kind:    r.again(kindWord, row.Type),
		version: r.again(versionWord, row.Version),
		model:   r.again(modelWord, row.Model),
	}
	if next.key == 0 {
		next.key = id(row.UUID)
	}
	if len(row.Folder) > 0 {
		r.folder(r.again(folderWord, row.Folder))
	}
	// The rows of a response follow each other. Where they do not, the history puts them together, as it does with copies.
	at := len(r.responses)
	if last := at - 1; last >= 0 && next.key != 0 && r.responses[last].key == next.key {
		at = last
		r.responses[at], _ = merge(r.responses[at], r.strings, next, r.strings)
	} else {
		r.responses = append(r.responses, next)
	}
	for i, c := range row.Calls {
		key := id(c.ID)
		if key == 0 { // its place tells it from others: every row of a response has calls of its own
			if key = id(row.UUID); key == 0 {
				key = next.key
			}
			if key != 0 {
				key += uint64(i) + 1
			}
		}
		r.calls = append(r.calls, call{key, uint32(at), r.word(c.Tool), r.word(c.Name)})
	}
}

func (r *record) folder(w word) {
	if r.known == nil {
		r.known = make(map[word]bool, len(r.folders))
		for _, f := range r.folders {
			r.known[f] = true
		}
	}
	if !r.known[w] {
		r.known[w] = true
		r.folders = append(r.folders, w)
	}
}

// merge makes one of two rows, or of two copies, of one response. The order of a and b does not matter. Of the usage
// counts the largest output, for early rows hold what was streamed so far; a copy in another session belongs to the
// session with the smaller id, and what the main thread has is the main thread's. second tells that the words of the
// result are b's.
func merge(a response, as []string, b response, bs []string) (m response, second bool) {
	m, other := a, b
	if second = precedes(b, bs, a, as); second {
		m, other = b, a
	}
	if compareUsage(other.usage, m.usage) > 0 {
		m.usage = other.usage
	}
	if m.time == 0 || other.time != 0 && other.time < m.time {
		m.time = other.time
	}
	return m, second
}

// precedes tells whether a's place is the response's rather than b's.
func precedes(a response, as []string, b response, bs []string) bool {
	if a.side != b.side {
		return !a.side
	}
	for _, w := range [...][2]word{{a.session, b.session}, {a.agent, b.agent}, {a.model, b.model}, {a.kind, b.kind}, {a.version, b.version}} {
		x, y := as[w[0]], bs[w[1]]
		if c := strings.Compare(x, y); c != 0 {
			return sooner(x, y)
		}
	}
	return false
}

// sooner tells whether a names the place rather than b: one that is named comes before one that is not.
func sooner(a, b string) bool { return a != "" && (b == "" || a < b) }

// compareUsage orders by the output, then by everything else, so that only the same are equal.
func compareUsage(a, b transcript.Usage) int {
	return cmp.Or(
		cmp.Compare(a.Output, b.Output), cmp.Compare(a.Prompt(), b.Prompt()), cmp.Compare(a.CacheWrite1h, b.CacheWrite1h),
		cmp.Compare(a.CacheWrite5m, b.CacheWrite5m), cmp.Compare(a.CacheRead, b.CacheRead),
		compareBools(a.Fast, b.Fast), compareBools(a.US, b.US),
	)
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
