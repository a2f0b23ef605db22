package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/model/price"
)

// outcome is what a candidate does to one session.
type outcome struct {
	advisory, blocks int
	delegations      int  // of the advisory calls those that are not denied whatever the window
	over             int  // turns at or past the threshold
	first            gate // the first call that is denied, when blocks > 0
	remaining        int  // turns after the one that made it
	tokensAfter      int64
	saved            float64
}

// replay goes through a session as if nothing had changed after a denial.
func (b *builder) replay(s *session, p ceiling.Policy) (o outcome) {
	for _, g := range s.gates {
		if g.occupancy == 0 {
			continue // nothing was measured yet
		}
		j := p.Judge(g.tool, g.occupancy, g.window)
		switch {
		case !j.Over:
		case j.Denied:
			if o.blocks == 0 {
				o.first = g
			}
			o.blocks++
		default:
			o.advisory++
			if !p.Blocks(g.tool) {
				o.delegations++
			}
		}
	}
	for _, t := range s.turns {
		if threshold, _ := ceiling.Threshold(t.window.Tokens, p.Percent, p.Absolute); t.window.Known() && t.occupancy >= threshold {
			o.over++
		}
	}
	if o.blocks > 0 {
		after := s.turns[min(o.first.turn+1, len(s.turns)):]
		o.remaining = len(after)
		for _, t := range after {
			o.tokensAfter += t.occupancy
		}
		o.saved = b.saved(s, p)
	}
	return o
}

// handoffTokens is what a hand-off note adds to a fresh session, in tokens: the skill asks for six short parts.
const handoffTokens = 5_000

// saved estimates what hand-offs at the denials would have saved, in US dollars. A fresh session starts with what this one
// started with and the note, which it writes to the cache once, and grows by what this one grew. Every later turn reads
// that much less from the cache, until a call of its own is denied again, or this session's context was cut anyway. It may
// be negative.
func (b *builder) saved(s *session, p ceiling.Policy) float64 {
	fresh := s.turns[0].occupancy + handoffTokens
	var spared int64 // tokens that the fresh session has less than this one
	var usd sum
	next := 0
	for i, t := range s.turns {
		if t.occupancy-spared < fresh {
			spared = 0
		}
		// Of a turn without a price nothing is known to be saved.
		count := func(tokens int64, rate float64) {
			usd.add(float64(tokens) * rate / 1e6 * price.Factor(t.Usage.US))
		}
		if t.priced {
			count(spared, b.rate(t.model).At(t.occupancy).CacheRead)
		}
		for ; next < len(s.gates) && s.gates[next].turn == i; next++ {
			g := s.gates[next]
			now := g.occupancy - spared
			if now <= fresh || !p.Judge(g.tool, now, g.window).Denied {
				continue
			}
			spared = g.occupancy - fresh
			if t.priced {
				count(-fresh, b.rate(t.model).At(fresh).CacheWrite5m)
			}
		}
	}
	return usd.total()
}

func (b *builder) ceilings(d *Document, threads []session) {
	p := b.o.Policy
	p.Strict = true
	shipped := p.Absolute
	d.Policy = &Policy{Percent: int(p.Percent), Shipped: shipped, NearDoneTurns: b.o.NearDone, GateAgent: p.GateAgent}
	var prompt int64
	var replayed []*session
	for i := range threads {
		s := &threads[i]
		if len(s.turns) == 0 {
			continue
		}
		replayed = append(replayed, s)
		blockable := 0
		for _, g := range s.gates {
			d.Policy.GatedCalls++
			if p.Blocks(g.tool) {
				blockable++
			}
		}
		d.Policy.BlockableCalls += blockable
		if blockable > 0 {
			d.Policy.SessionsBlockable++
		}
		last := s.turns[len(s.turns)-1]
		if !last.window.Known() {
			d.Policy.Unverified++
		}
		for _, t := range s.turns {
			prompt += t.occupancy
		}
	}
	d.Policy.SessionsReplayed = len(replayed)
	candidates := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(b.o.Ceilings), shipped))))
	d.Ceilings = []Ceiling{}
	delegations := 0 // past the ceiling in force
	for _, c := range candidates {
		p.Absolute = c
		row := Ceiling{AbsCeiling: c, Shipped: c == shipped}
		var occupancies, remaining []int64
		var saved sum
		for _, s := range replayed {
			if t, _ := ceiling.Threshold(s.turns[len(s.turns)-1].window.Tokens, p.Percent, c); t < c {
				row.ClampedSessions++
			}
			o := b.replay(s, p)
			row.AdvisoryFires += o.advisory
			if row.Shipped {
				delegations += o.delegations
			}
			row.BlocksTotal += o.blocks
			row.TurnsOver += o.over
			if o.over > 0 {
				row.SessionsOverPerTurn++
			}
			if o.blocks == 0 {
				continue
			}
			row.SessionsBlocked++
			occupancies = append(occupancies, o.first.occupancy)
			remaining = append(remaining, int64(o.remaining))
			if o.remaining <= b.o.NearDone {
				row.NearDoneBlocked++
			}
			row.PromptTokensAfterFirst += o.tokensAfter
			saved.add(o.saved)
		}
		row.ClampedPct = percent(float64(row.ClampedSessions), float64(len(replayed)))
		row.SessionsBlockedPct = percent(float64(row.SessionsBlocked), float64(d.Policy.SessionsBlockable))
		row.SessionsOverPerTurnPct = percent(float64(row.SessionsOverPerTurn), float64(len(replayed)))
		row.MedianOccupancyAtFirst = median(occupancies)
		row.NearDoneBlockedPct = percent(float64(row.NearDoneBlocked), float64(row.SessionsBlocked))
		if m := median(remaining); m != nil {
			turns := int(*m)
			row.MedianRemainingTurns = &turns
		}
		row.PromptTokensAfterFirstPc = percent(float64(row.PromptTokensAfterFirst), float64(prompt))
		row.SavedUSD = saved.total()
		d.Ceilings = append(d.Ceilings, row)
	}
	d.Verdict = verdict(d, delegations)
	d.Recommendation = recommend(d)
}

// Outcomes of a verdict.
const (
	Inconclusive = "inconclusive"
	OverBlocking = "over-blocking"
	NotDominant  = "not-dominant"
)

// overBlocking is the share of denials near a session's end from which they are too many, in percent.
const overBlocking = 50

func shippedRow(d *Document) Ceiling {
	for _, c := range d.Ceilings {
		if c.Shipped {
			return c
		}
	}
	return Ceiling{}
}

func verdict(d *Document, delegations int) *Verdict {
	c := shippedRow(d)
	v := &Verdict{Revisit: revisit(c, delegations)}
	at := "At " + thousands(c.AbsCeiling) + " tokens "
	switch {
	case c.SessionsBlocked == 0:
		v.Outcome = Inconclusive
		v.Text = at + "no session of this history would have been denied a call. That says nothing for or against the ceiling."
	case *c.NearDoneBlockedPct >= overBlocking:
		v.Outcome = OverBlocking
		v.Text = at + fmt.Sprintf("%s of the sessions that would have been denied a call had %s left at most: over-blocking. A higher ceiling would cost them less.", percentText(c.NearDoneBlockedPct), turnsText(d.Policy.NearDoneTurns))
	default:
		v.Outcome = NotDominant
		v.Text = at + fmt.Sprintf("sessions near their end do not dominate: %s of those that would have been denied a call had %s left at most.", percentText(c.NearDoneBlockedPct), turnsText(d.Policy.NearDoneTurns))
	}
	if c.SessionsBlocked > 0 {
		v.Text += fmt.Sprintf(" %s of all prompt tokens came after a first denial. Read both together: the first is what a denial costs, the second what it could save.", percentText(c.PromptTokensAfterFirstPc))
	}
	return v
}

// The trigger fires where delegations, which are only warned of, outnumber denials that much, and are that many. The
// history that the decision rested on had 1,562 to 65, which is 24 to 1. A Skill that is only warned of because no table
// verifies the window evades nothing.
const (
	revisitRatio = 10
	revisitFires = 20
)

func revisit(c Ceiling, delegations int) Revisit {
	r := Revisit{Delegations: delegations, Blocks: c.BlocksTotal}
	counts := fmt.Sprintf("delegations past the ceiling: %s; denials: %s", thousands(int64(delegations)), thousands(int64(c.BlocksTotal)))
	if c.BlocksTotal > 0 {
		x := math.Round(float64(delegations)/float64(c.BlocksTotal)*10) / 10
		r.Ratio = &x
		counts += "; " + strconv.FormatFloat(x, 'f', -1, 64) + " to 1"
	}
	low := c.SessionsBlockedPct == nil || *c.SessionsBlockedPct < overBlocking
	r.Fired = low && delegations >= revisitFires && delegations >= revisitRatio*c.BlocksTotal
	if r.Fired {
		r.Text = "The revisit trigger of ADR 39 fires (" + counts + "). Sessions run on past the ceiling by delegating; what would help is a control of a session's whole cost, not denying delegations."
	} else {
		r.Text = "The revisit trigger of ADR 39 does not fire (" + counts + ")."
	}
	return r
}

// What a recommendation needs: sessions with a call that can be denied, and of them some that a candidate would deny.
const (
	enoughSessions = 20
	enoughBlocked  = 5
)

// What a recommended ceiling must keep to: it denies at most that share of the sessions with a blockable call (the
// decision that set 350,000 tokens accepted 26.6%), and a denied session has that many turns left in the median, or a
// hand-off does not pay.
const (
	maxBlockedPct = 30
	minTurnsLeft  = 10
)

func recommend(d *Document) *Recommendation {
	r := &Recommendation{}
	lowest := d.Ceilings[0]
	if d.Policy.SessionsBlockable < enoughSessions || lowest.SessionsBlocked < enoughBlocked {
		r.Reason = fmt.Sprintf("Too little data to say: %d sessions with a call that can be denied, %d of them past the lowest candidate; at least %d and %d are needed. Keep %s tokens for now.",
			d.Policy.SessionsBlockable, lowest.SessionsBlocked, enoughSessions, enoughBlocked, thousands(d.Policy.Shipped))
		return r
	}
	r.Enough = true
	best := shippedRow(d)
	found := false
	for _, c := range d.Ceilings {
		if c.SessionsBlocked == 0 || *c.SessionsBlockedPct > maxBlockedPct || *c.NearDoneBlockedPct >= overBlocking || *c.MedianRemainingTurns < minTurnsLeft {
			continue
		}
		if !found || c.SavedUSD > best.SavedUSD {
			best, found = c, true
		}
	}
	r.AbsCeiling, r.SessionsBlocked, r.Blocks, r.SavedUSD = &best.AbsCeiling, best.SessionsBlocked, best.BlocksTotal, best.SavedUSD
	switch rule := fmt.Sprintf("denies at most %d%% of the sessions that could be denied a call, leaves the denied ones %d turns or more in the median, and fewer than half of them near their end", maxBlockedPct, minTurnsLeft); {
	case !found:
		r.Reason = "No candidate " + rule + ". Stay with the ceiling that is in force."
	default:
		r.Reason = "Of the candidates it saves most among those that keep to this: it " + rule + "."
	}
	r.Settings = fmt.Sprintf(`{"ceiling": {"absolute": %d, "percent": %d}}`, best.AbsCeiling, d.Policy.Percent)
	r.Environment = []string{
		"DEV_TEAM_CONTEXT_ABS_CEILING=" + strconv.FormatInt(best.AbsCeiling, 10),
		"DEV_TEAM_CONTEXT_CEILING_PCT=" + strconv.Itoa(d.Policy.Percent),
	}
	return r
}
