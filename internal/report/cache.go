package report

import "plimsoll/internal/model/price"

// The causes of a cache miss, in the order in which they are asked for; docs/report.md has what each means.
const (
	CauseCompaction = "compaction"
	CauseModel      = "model switch"
	CauseOver60     = "idle over 60 min"
	CauseResume     = "resume"
	CauseOver5      = "idle 5-60 min"
	CauseUnder5     = "idle under 5 min"
	CauseUnknown    = "unknown"
)

func causes() []string {
	return []string{CauseCompaction, CauseModel, CauseOver60, CauseResume, CauseOver5, CauseUnder5, CauseUnknown}
}

// A shortfall below these is no miss: the last blocks of a prompt are written anew at every turn.
const (
	missTokens = 2_000 // tokens
	missPct    = 5     // percent of what the cache had held
)

// cache compares every response with the one before it in the same context. What the earlier one read from the cache or
// wrote to it is what the later one could have read.
func (b *builder) cache(d *Document, threads []session) {
	type tally struct {
		misses    int
		rewritten int64
		cost      sum
	}
	found := map[string]*tally{}
	for _, c := range causes() {
		found[c] = &tally{}
	}
	hit := &CacheHit{}
	for i := range threads {
		s := &threads[i]
		contexts := map[string]*turn{} // the last response of each sub-agent
		look := func(before, now *turn, main bool) {
			held := before.Usage.CacheRead + before.Usage.CacheWrite5m + before.Usage.CacheWrite1h
			written := now.Usage.CacheWrite5m + now.Usage.CacheWrite1h
			rewritten := min(held-now.Usage.CacheRead, written)
			if rewritten < missTokens || rewritten*100 < held*missPct {
				return
			}
			t := found[cause(s, before, now, main)]
			t.misses++
			t.rewritten += rewritten
			if now.priced {
				r := b.rate(now.model).At(now.occupancy)
				long := float64(now.Usage.CacheWrite1h) / float64(written)
				t.cost.add(float64(rewritten) * (long*r.CacheWrite1h + (1-long)*r.CacheWrite5m) / 1e6 * price.Factor(now.Usage.US))
			}
		}
		for j := range s.turns {
			t := &s.turns[j]
			hit.ReadTokens += t.Usage.CacheRead
			hit.PromptTokens += t.occupancy
			if j > 0 {
				look(&s.turns[j-1], t, true)
			}
		}
		for j := range s.side {
			t := &s.side[j]
			hit.ReadTokens += t.Usage.CacheRead
			hit.PromptTokens += t.occupancy
			if t.occupancy == 0 || t.Agent == "" { // without an id nothing tells one sub-agent from the other
				continue
			}
			if before := contexts[t.Agent]; before != nil {
				look(before, t, false)
			}
			contexts[t.Agent] = t
		}
	}
	if hit.PromptTokens > 0 {
		ratio := float64(hit.ReadTokens) / float64(hit.PromptTokens)
		hit.Ratio = &ratio
	}
	d.CacheHit = hit
	d.Cache = []CacheCause{}
	for _, c := range causes() {
		t := found[c]
		d.Cache = append(d.Cache, CacheCause{c, t.misses, t.rewritten, t.cost.total()})
	}
}

// cause is why a response missed the cache, as far as a transcript tells.
func cause(s *session, before, now *turn, main bool) string {
	between := func(at int64) bool { return at >= before.Time && at <= now.Time }
	if before.Time == 0 || now.Time == 0 {
		if before.model != now.model {
			return CauseModel
		}
		return CauseUnknown
	}
	if main {
		for _, c := range s.Compactions {
			if between(c.Time) {
				return CauseCompaction
			}
		}
	}
	if before.model != now.model {
		return CauseModel
	}
	const minute = 60_000 // ms
	idle := now.Time - before.Time
	if idle > 60*minute {
		return CauseOver60 // no cache lives longer, however the session went on
	}
	if main {
		restarted := before.Version != "" && now.Version != "" && before.Version != now.Version
		for _, at := range s.Restarts {
			restarted = restarted || between(at)
		}
		if restarted {
			return CauseResume
		}
	}
	if idle >= 5*minute {
		return CauseOver5
	}
	return CauseUnder5
}
