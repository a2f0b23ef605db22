// Package guard hears an event, asks each rule, settles and merges their verdicts, writes the one answer and logs the
// decision. It fails open: a rule that panics has no opinion, and no error reaches the client.
package guard

import (
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"plimsoll/internal/harness"
)

// Rule is one policy. Rules know nothing of each other; the order in which they are given is the order in which their
// reasons and notes are joined.
type Rule struct {
	Name  string
	Hears func(e harness.Event) bool
	Judge func(e harness.Event) harness.Verdict
}

// Guard judges events by its rules.
type Guard struct {
	Rules []Rule
	Log   func(line []byte)  // takes one line of the decision log; nil: none is kept
	Debug func(err error)    // hears what went wrong; nil: nobody does
	Now   func() time.Time   // the clock of the log
	Heard func(event string) // hears the name of every event that some rule heard; nil: nobody does
}

// Handle judges one event and writes the answer to w: one line of JSON, or nothing. It never panics.
func (g Guard) Handle(e harness.Event, w io.Writer) {
	heard := false
	verdicts := make([]harness.Verdict, 0, len(g.Rules))
	for _, r := range g.Rules {
		if !g.hears(r, e) {
			continue
		}
		heard = true
		verdicts = append(verdicts, g.ask(r.Name, func() harness.Verdict { return r.Judge(e) }))
	}
	if !heard {
		return
	}
	if g.Heard != nil {
		g.Heard(e.Name)
	}
	g.settle(verdicts)
	answer := harness.Encode(e.Name, Merge(verdicts))
	written := true
	if len(answer) > 0 {
		if _, err := w.Write(answer); err != nil {
			written = false
			g.report(fmt.Errorf("write answer: %w", err))
		}
	}
	for _, v := range verdicts {
		if v.Written != nil {
			g.ask(v.Rule, func() harness.Verdict { v.Written(written); return harness.Verdict{} })
		}
	}
	if g.Log != nil {
		for _, v := range verdicts {
			if v.Decision != harness.Silent {
				g.Log(logLine(g.Now(), e, v))
			}
		}
	}
}

func (g Guard) hears(r Rule, e harness.Event) (yes bool) {
	defer func() {
		if p := recover(); p != nil {
			g.report(fmt.Errorf("rule %s: panic: %v\n%s", r.Name, p, debug.Stack()))
		}
	}()
	return r.Hears(e)
}

// ask calls a part of a rule. A panic in it is no opinion.
func (g Guard) ask(rule string, judge func() harness.Verdict) (v harness.Verdict) {
	defer func() {
		if p := recover(); p != nil {
			g.report(fmt.Errorf("rule %s: panic: %v\n%s", rule, p, debug.Stack()))
			v = harness.Verdict{Rule: rule, Decision: harness.FailOpen, Why: "panic"}
		}
	}()
	v = judge()
	v.Rule = rule
	return v
}

func (g Guard) report(err error) {
	if g.Debug != nil {
		g.Debug(err)
	}
}

// settle makes every verdict definite, last rule first, so that a rule whose budget is spent by calls it lets pass
// knows whether a later one denies this call anyway.
func (g Guard) settle(verdicts []harness.Verdict) {
	denied := false
	for _, v := range verdicts {
		denied = denied || v.Settle == nil && v.Decision == harness.Denial
	}
	for i := len(verdicts) - 1; i >= 0; i-- {
		if settle := verdicts[i].Settle; settle != nil {
			verdicts[i] = g.ask(verdicts[i].Rule, func() harness.Verdict { return settle(denied) })
			denied = denied || verdicts[i].Decision == harness.Denial
		}
	}
}

// Merge joins definite verdicts: any denial denies, reasons and notes are joined in order, each for its audience.
func Merge(verdicts []harness.Verdict) harness.Verdict {
	var m harness.Verdict
	var reasons, model, operator []string
	for _, v := range verdicts {
		if v.Decision == harness.Denial {
			m.Decision = harness.Denial
			reasons = append(reasons, v.Reason)
		}
		if v.ToModel != "" {
			model = append(model, v.ToModel)
		}
		if v.ToOperator != "" {
			operator = append(operator, v.ToOperator)
		}
	}
	m.Reason = strings.Join(reasons, "\n\n")
	m.ToModel = strings.Join(model, "\n\n")
	m.ToOperator = strings.Join(operator, "\n\n")
	return m
}
