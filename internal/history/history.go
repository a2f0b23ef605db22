// Package history is what the transcripts on a machine tell together: every session with every response once, however many
// rows, copies and files it stands in. An index remembers what was read, so that only what was appended is read again.
// docs/report.md says what counts.
package history

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/transcript"
)

// History is all that was found.
type History struct {
	Sessions []*Session // by the time of their first response, then by id
	Files    int        // that were read
	Bytes    int64      // that they hold
	Skipped  []Skipped
	Folders  []string // that the client worked in
}

// Session is one session with its sub-agents.
type Session struct {
	ID          string
	Main        []*Response // in order of time
	Side        []*Response // of sub-agents, in order of time
	Compactions []Compaction
	Commands    []Command // that the operator typed
	Restarts    []int64   // when the client was started again on the session, ms since the Unix epoch
	Client      Client
}

// Client is the client's own sum for a session.
type Client struct {
	Known bool
	USD   float64
}

// Response is one API response.
type Response struct {
	Time    int64  // ms since the Unix epoch; 0: not known
	Model   string // as the transcript has it; "" when it names none
	Version string // of the client
	Agent   string // the sub-agent's id; "" for the main thread, and where nothing tells it
	Kind    string // the sub-agent's type; "" as above
	Usage   transcript.Usage
	Calls   []Call
}

// Call is a call of the Skill, Agent or Task tool.
type Call struct {
	Tool string
	Name string // the skill, or the sub-agent's type; "" when the call names none
}

// Compaction is one compaction of the main thread.
type Compaction struct {
	Time      int64
	Trigger   string
	Pre, Post int64 // tokens by the client's count; 0: not told
}

// Command is a slash command.
type Command struct {
	Time int64
	Name string // with its slash
}

// Counts tells whether a response used anything. What the client keeps of a request that failed does not.
func (r *Response) Counts() bool { return r.Usage.Prompt() > 0 || r.Usage.Output > 0 }

// placed is where a response stands: the record whose words it has, and the place in it.
type placed struct {
	from *record
	at   uint32
}

// copied is what the copies of a response are together.
type copied struct {
	response
	words []string
}

// placedKind is what one row says of a sub-agent's type.
type placedKind struct{ agent, kind word }

func assemble(files []file, all []loaded, skipped []Skipped) *History {
	h := &History{Skipped: skipped}
	n := 0
	for _, l := range all {
		for _, r := range l.records {
			n += len(r.responses)
		}
	}
	var (
		responses = make([]placed, 0, n)
		byKey     = make(map[uint64]uint32, n)
		merged    = map[uint32]copied{} // by their places in responses: what has copies
		made      = map[uint32][]Call{} // by the same
		calls     = map[uint64]bool{}
		kinds     = map[string]string{} // types by sub-agents' ids
		started   = map[uint64]string{} // types by calls
		sessions  = map[string]*Session{}
		joined    = map[string]string{} // types by sub-agents' ids, where only a call tells
		homes     = map[uint64]string{} // sessions of compactions, commands and restarts, by their rows
		first     = map[uint64]bool{}   // of these the ones that were taken
		folders   = map[string]bool{}
	)
	session := func(id string) *Session {
		s := sessions[id]
		if s == nil {
			s = &Session{ID: id}
			sessions[id] = s
		}
		return s
	}
	// A copy in another session belongs where the copies of the responses do.
	for _, l := range all {
		for _, r := range l.records {
			for _, c := range r.compactions {
				if old, again := homes[c.key]; !c.side && (!again || sooner(r.strings[c.session], old)) {
					homes[c.key] = r.strings[c.session]
				}
			}
			for _, m := range r.moments {
				if old, again := homes[m.key]; !again || sooner(r.strings[m.session], old) {
					homes[m.key] = r.strings[m.session]
				}
			}
		}
	}
	home := func(key uint64, own string) (s *Session, again bool) {
		if key == 0 {
			return session(own), false
		}
		again, first[key] = first[key], true
		return session(homes[key]), again
	}
	for i, l := range all {
		if l.err != nil {
			h.Skipped = append(h.Skipped, Skipped{files[i].path, reason(l.err)})
			continue
		}
		h.Files++
		h.Bytes += files[i].size
		malformed, tooLong := 0, 0
		for _, r := range l.records {
			malformed += r.malformed
			tooLong += r.tooLong
			places := make([]uint32, len(r.responses))
			named := placedKind{}
			for j := range r.responses {
				x := &r.responses[j]
				at, again := byKey[x.key]
				if again = again && x.key != 0; again {
					old, more := merged[at]
					if !more {
						p := responses[at]
						old = copied{p.from.responses[p.at], p.from.strings}
					}
					var second bool
					if old.response, second = merge(old.response, old.words, *x, r.strings); second {
						old.words = r.strings
					}
					merged[at] = old
				} else {
					at = uint32(len(responses))
					byKey[x.key] = at
					responses = append(responses, placed{r, uint32(j)})
				}
				places[j] = at
				// The rows of a sub-agent stand together, so most repeat what the one before said.
				if now := (placedKind{x.agent, x.kind}); x.agent != 0 && now != named {
					named = now
					if kind := r.strings[x.kind]; kind != "" {
						name(kinds, r.strings[x.agent], kind)
					} else if l.entry.kind != "" {
						name(kinds, r.strings[x.agent], l.entry.kind)
					}
				}
			}
			for _, c := range r.calls {
				if c.key != 0 {
					if calls[c.key] {
						continue
					}
					calls[c.key] = true
				}
				at := places[c.response]
				made[at] = append(made[at], Call{r.strings[c.tool], r.strings[c.name]})
				if tool := r.strings[c.tool]; tool != "Skill" && c.key != 0 {
					started[c.key] = r.strings[c.name]
				}
			}
			for _, c := range r.compactions {
				if c.side {
					continue
				}
				if s, again := home(c.key, r.strings[c.session]); !again {
					s.Compactions = append(s.Compactions, Compaction{c.time, r.strings[c.trigger], c.pre, c.post})
				}
			}
			for _, m := range r.moments {
				s, again := home(m.key, r.strings[m.session])
				if again {
					continue
				}
				if m.name == 0 {
					s.Restarts = append(s.Restarts, m.time)
				} else {
					s.Commands = append(s.Commands, Command{m.time, r.strings[m.name]})
				}
			}
			for _, c := range r.costs {
				s := session(r.strings[c.session])
				s.Client = Client{true, max(s.Client.USD, c.usd)}
			}
			for _, f := range r.folders {
				folders[r.strings[f]] = true
			}
		}
		if malformed > 0 {
			h.Skipped = append(h.Skipped, Skipped{files[i].path, rows(malformed) + " no JSON object, or with figures that are no token counts"})
		}
		if tooLong > 0 {
			h.Skipped = append(h.Skipped, Skipped{files[i].path, rows(tooLong) + " longer than can be looked into"})
		}
		if l.short {
			h.Skipped = append(h.Skipped, Skipped{files[i].path, "became shorter while it was read"})
		}
		if l.torn {
			h.Skipped = append(h.Skipped, Skipped{files[i].path, "the last row is not ended"})
		}
	}
	for _, l := range all {
		for _, r := range l.records {
			for _, m := range r.made {
				if kind := started[m.call]; kind != "" {
					name(joined, r.strings[m.agent], kind)
				}
			}
		}
	}
	whole := make([]Response, len(responses))
	var last *Session
	for i, p := range responses {
		x, words := &p.from.responses[p.at], p.from.strings
		if m, more := merged[uint32(i)]; more {
			x, words = &m.response, m.words
		}
		r := &whole[i]
		*r = Response{Time: x.time, Model: words[x.model], Version: words[x.version], Usage: x.usage, Calls: made[uint32(i)]}
		slices.SortStableFunc(r.Calls, compareCalls) // its rows may have come in any order
		if id := words[x.session]; last == nil || last.ID != id {
			last = session(id)
		}
		if !x.side {
			last.Main = append(last.Main, r)
			continue
		}
		r.Agent = words[x.agent]
		if r.Kind = words[x.kind]; r.Kind == "" {
			if r.Kind = kinds[r.Agent]; r.Kind == "" {
				r.Kind = joined[r.Agent]
			}
		}
		last.Side = append(last.Side, r)
	}
	for _, s := range sessions {
		for _, list := range [][]*Response{s.Main, s.Side} {
			if !slices.IsSortedFunc(list, compareResponses) { // the client writes in the order of time
				slices.SortStableFunc(list, compareResponses)
			}
		}
		slices.SortFunc(s.Compactions, func(a, b Compaction) int {
			return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Pre, b.Pre), cmp.Compare(a.Post, b.Post), strings.Compare(a.Trigger, b.Trigger))
		})
		slices.SortFunc(s.Commands, func(a, b Command) int {
			return cmp.Or(cmp.Compare(a.Time, b.Time), strings.Compare(a.Name, b.Name))
		})
		slices.Sort(s.Restarts)
		if len(s.Main)+len(s.Side) > 0 || s.Client.Known {
			h.Sessions = append(h.Sessions, s)
		}
	}
	slices.SortFunc(h.Sessions, func(a, b *Session) int {
		return cmp.Or(cmp.Compare(a.from(), b.from()), strings.Compare(a.ID, b.ID))
	})
	slices.SortStableFunc(h.Skipped, func(a, b Skipped) int { return strings.Compare(a.Path, b.Path) })
	h.Folders = sortedKeys(folders)
	return h
}

// compareResponses orders by time. What came at the same moment is put in an order that the files' order has no part in:
// a context grows, so the smaller came first. Of responses without a time only their place in a file tells.
func compareResponses(a, b *Response) int {
	if c := cmp.Compare(a.Time, b.Time); c != 0 || a.Time == 0 {
		return c
	}
	return cmp.Or(
		cmp.Compare(a.Usage.Prompt(), b.Usage.Prompt()), compareUsage(a.Usage, b.Usage), strings.Compare(a.Model, b.Model),
		strings.Compare(a.Agent, b.Agent), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Version, b.Version),
		slices.CompareFunc(a.Calls, b.Calls, compareCalls),
	)
}

func compareCalls(a, b Call) int {
	return cmp.Or(strings.Compare(a.Tool, b.Tool), strings.Compare(a.Name, b.Name))
}

// name keeps the type of a sub-agent; of several, which no client writes, the same one whatever the order.
func name(kinds map[string]string, agent, kind string) {
	if old := kinds[agent]; old == "" || kind < old {
		kinds[agent] = kind
	}
}

func rows(n int) string {
	if n == 1 {
		return "1 row:"
	}
	return strconv.Itoa(n) + " rows:"
}

// from is when the session's first response came, ms since the Unix epoch; 0 when no response has a time.
func (s *Session) from() int64 {
	for _, list := range [][]*Response{s.Main, s.Side} {
		for _, r := range list {
			if r.Time != 0 {
				return r.Time
			}
		}
	}
	return 0
}
