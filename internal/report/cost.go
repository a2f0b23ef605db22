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

// buckets are the totals by a key. The next response mostly has the key of the one before.
type buckets struct {
	by   map[string]*bucket
	last string
	now  *bucket
}

func (b *buckets) add(key string, t *turn) {
	if b.now == nil || key != b.last {
		if b.by == nil {
			b.by = map[string]*bucket{}
		}
		if b.now = b.by[key]; b.now == nil {
			b.now = &bucket{}
			b.by[key] = b.now
		}
		b.last = key
	}
	b.now.add(t)
}

// byCost lists the keys, the dearest first.
func (b *buckets) byCost() []string {
	return slices.SortedFunc(maps.Keys(b.by), func(x, y string) int {
		return cmp.Or(cmp.Compare(b.by[y].cost.total(), b.by[x].cost.total()), strings.Compare(x, y))
	})
}

func (b *builder) cost(d *Document, threads []session) {
	var all bucket
	var models, days, kinds buckets
	unpriced := map[string]int64{}
	var band [bands]bucket
	var sessionsIn, pricedIn [bands]int // sessions, and turns that have a price
	var main sum
	d.BySession, d.Client = []SessionTotals{}, []ClientCost{}
	// The day is found once for each quarter of an hour, by which zones differ, and not for each response.
	quarters := map[int64]string{}
	quarter, day := int64(-1), ""
	eachTurn(threads, func(s *session, t *turn, isMain bool) {
		all.add(t)
		models.add(t.model, t)
		if q := t.Time / 900_000; q != quarter || t.Time == 0 {
			quarter = q
			var ok bool
			if day, ok = quarters[q]; !ok {
				day = b.day(t.Time)
				quarters[q] = day
			}
		}
		days.add(day, t)
		kind := MainThread
		if !isMain {
			if kind = t.Kind; kind == "" {
				kind = Unattributed
			}
		}
		kinds.add(kind, t)
		s.total.add(t)
		if !t.priced {
			unpriced[modelLabel(t)] += t.Usage.Prompt() + t.Usage.Output
		}
		if isMain {
			if t.priced {
				main.add(t.cost)
			}
			i := min(t.occupancy/bandWidth, bands-1)
			band[i].add(t)
			if !s.inBand[i] {
				s.inBand[i] = true
				sessionsIn[i]++
			}
			if t.priced {
				pricedIn[i]++
			}
		}
	})
	totals := all.totals()
	d.Totals = &totals
	d.ByModel, d.ByDay, d.ByThread = []ModelTotals{}, []DayTotals{}, []ThreadTotals{}
	for _, k := range models.byCost() {
		d.ByModel = append(d.ByModel, ModelTotals{k, models.by[k].totals()})
	}
	for _, k := range slices.Sorted(maps.Keys(days.by)) {
		d.ByDay = append(d.ByDay, DayTotals{k, days.by[k].totals()})
	}
	for _, k := range kinds.byCost() {
		d.ByThread = append(d.ByThread, ThreadTotals{k, kinds.by[k].totals()})
	}
	for i := range threads {
		s := &threads[i]
		if s.total.Responses > 0 {
			d.BySession = append(d.BySession, SessionTotals{s.ID, s.total.totals()})
		}
		if s.Client.Known && b.all() {
			ours := s.total.cost.total()
			d.Client = append(d.Client, ClientCost{s.ID, s.Client.USD, ours, s.Client.USD - ours})
		}
	}
	d.Bands = []BandTotals{}
	for i := range band {
		t := BandTotals{FromTokens: int64(i) * bandWidth, ToTokens: int64(i+1) * bandWidth, Totals: band[i].totals(), Sessions: sessionsIn[i]}
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
