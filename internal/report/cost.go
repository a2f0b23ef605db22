package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// bandWidth and bands are how occupancies are grouped, in tokens: ten bands, the last without an end.
const (
	bandWidth = 100_000
	bands     = 10
)

// MainThread and Unattributed are the threads that are no type of sub-agent.
const (
	MainThread   = "main"
	Unattributed = "unattributed"
)

// sum adds up without losing small amounts among large ones, so that the order of the files makes no difference that
// anybody sees (Neumaier's summation).
type sum struct{ value, lost float64 }

func (s *sum) add(x float64) {
	t := s.value + x
	if math.Abs(s.value) >= math.Abs(x) {
		s.lost += s.value - t + x
	} else {
		s.lost += x - t + s.value
	}
	s.value = t
}

func (s *sum) total() float64 { return s.value + s.lost }

// bucket is Totals while it is being added up.
type bucket struct {
	Totals
	cost sum
}

func (b *bucket) add(t *turn) {
	b.Responses++
	u := t.Usage
	b.InputTokens += u.Input
	b.OutputTokens += u.Output
	b.CacheReadTokens += u.CacheRead
	b.CacheWrite5m += u.CacheWrite5m
	b.CacheWrite1h += u.CacheWrite1h
	if t.priced {
		b.cost.add(t.cost)
	} else {
		b.UnpricedTokens += u.Prompt() + u.Output
	}
}

func (b *bucket) totals() Totals {
	b.CostUSD = b.cost.total()
	return b.Totals
}

// buckets are the totals by a key.
type buckets map[string]*bucket

func (b buckets) add(key string, t *turn) {
	n := b[key]
	if n == nil {
		n = &bucket{}
		b[key] = n
	}
	n.add(t)
}

// byCost lists the keys, the dearest first.
func (b buckets) byCost() []string {
	return slices.SortedFunc(maps.Keys(b), func(x, y string) int {
		return cmp.Or(cmp.Compare(b[y].cost.total(), b[x].cost.total()), strings.Compare(x, y))
	})
}

func (b *builder) cost(d *Document, threads []session) {
	var all bucket
	models, days, kinds, unpriced := buckets{}, buckets{}, buckets{}, map[string]int64{}
	var band [bands]bucket
	var inBand [bands]map[*session]bool
	var pricedIn [bands]int // turns
	var main sum
	d.BySession, d.Client = []SessionTotals{}, []ClientCost{}
	perSession := map[*session]*bucket{}
	// The day is found once for each hour and not for each response: a time zone's rules are slow to ask.
	hours := map[int64]string{}
	eachTurn(threads, func(s *session, t *turn, isMain bool) {
		all.add(t)
		models.add(t.model, t)
		hour := t.Time / 900_000 // zones differ by quarters of an hour
		day, ok := hours[hour]
		if !ok {
			day = b.day(t.Time)
			hours[hour] = day
		}
		days.add(day, t)
		kind := MainThread
		if !isMain {
			if kind = t.Kind; kind == "" {
				kind = Unattributed
			}
		}
		kinds.add(kind, t)
		if perSession[s] == nil {
			perSession[s] = &bucket{}
		}
		perSession[s].add(t)
		if !t.priced {
			unpriced[modelLabel(t)] += t.Usage.Prompt() + t.Usage.Output
		}
		if isMain {
			if t.priced {
				main.add(t.cost)
			}
			i := min(t.occupancy/bandWidth, bands-1)
			band[i].add(t)
			if inBand[i] == nil {
				inBand[i] = map[*session]bool{}
			}
			inBand[i][s] = true
			if t.priced {
				pricedIn[i]++
			}
		}
	})
	totals := all.totals()
	d.Totals = &totals
	d.ByModel, d.ByDay, d.ByThread = []ModelTotals{}, []DayTotals{}, []ThreadTotals{}
	for _, k := range models.byCost() {
		d.ByModel = append(d.ByModel, ModelTotals{k, models[k].totals()})
	}
	for _, k := range slices.Sorted(maps.Keys(days)) {
		d.ByDay = append(d.ByDay, DayTotals{k, days[k].totals()})
	}
	for _, k := range kinds.byCost() {
		d.ByThread = append(d.ByThread, ThreadTotals{k, kinds[k].totals()})
	}
	for i := range threads {
		s := &threads[i]
		own := perSession[s]
		if own == nil {
			own = &bucket{}
		} else {
			d.BySession = append(d.BySession, SessionTotals{s.ID, own.totals()})
		}
		if s.Client.Known && b.all() {
			ours := own.cost.total()
			d.Client = append(d.Client, ClientCost{s.ID, s.Client.USD, ours, s.Client.USD - ours})
		}
	}
	d.Bands = []BandTotals{}
	for i := range band {
		t := BandTotals{FromTokens: int64(i) * bandWidth, ToTokens: int64(i+1) * bandWidth, Totals: band[i].totals(), Sessions: len(inBand[i])}
		if i == bands-1 {
			t.ToTokens = 0
		}
		if pricedIn[i] > 0 {
			perTurn := t.CostUSD / float64(pricedIn[i])
			t.CostPerTurn = &perTurn
		}
		t.CostShare = percent(t.CostUSD, main.total())
		d.Bands = append(d.Bands, t)
	}
	d.Unpriced = []ModelTokens{}
	for _, k := range slices.Sorted(maps.Keys(unpriced)) {
		d.Unpriced = append(d.Unpriced, ModelTokens{k, unpriced[k]})
	}
}

// modelLabel names what has no price.
func modelLabel(t *turn) string {
	if t.Usage.Fast {
		return t.model + " (fast mode)"
	}
	return t.model
}
