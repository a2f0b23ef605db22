package hookcmd

import (
	"time"

	"plimsoll/internal/config"
	"plimsoll/internal/guard"
	"plimsoll/internal/harness"
	"plimsoll/internal/statefile"
	"plimsoll/internal/stdin"
)

const (
	// maxDecisions is where the decision log is rotated, in bytes.
	maxDecisions = 10 << 20

	// heardEvery is how often at most the time at which an event was last heard is brought up to date.
	heardEvery = time.Minute
)

// Hook answers one hook event. The exit code is always 0.
func Hook(p Process) (code int) {
	defer p.failOpen(&code)
	in := stdin.Read(p.Stdin, stdin.MaxBytes, stdin.Wait)
	if p.Env.Off() || !in.Complete {
		return 0
	}
	event, err := harness.Decode(in.Data)
	if err != nil {
		p.debug(err)
		return 0
	}
	p.guard().Handle(event, p.Stdout)
	return 0
}

func (p Process) guard() guard.Guard {
	g := guard.Guard{Rules: append(p.rules(), plantedRules...), Debug: p.debug, Now: p.Now}
	home := p.Env.Home()
	if home == "" {
		return g
	}
	paths := config.PathsIn(home)
	g.Log = func(line []byte) {
		if err := statefile.AppendLine(paths.Decisions(), line, maxDecisions); err != nil {
			p.debug(err)
		}
	}
	g.Heard = func(event string) {
		if err := statefile.Touch(paths.Heard(event), p.Now(), heardEvery); err != nil {
			p.debug(err)
		}
	}
	return g
}

// rules are the rules in the order in which their reasons are joined.
func (p Process) rules() []guard.Rule {
	c := config.Load(p.Env)
	rules := append(p.zoneRules(c.Zones), p.ceilingRules(c.Ceiling)...)
	return append(rules, p.kbRule(c))
}
