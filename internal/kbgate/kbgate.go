// Package kbgate is the rule that delegated discovery needs a knowledge-base lookup: a sub-agent of a discovery type
// may start only when the model has searched the project's knowledge base in this turn and the sub-agent's prompt
// carries what it found. A search alone is not enough, since a sub-agent sees nothing but its prompt.
//
// The counting and the texts are pure functions. Files, formats and the marker are those of the Bash hook kb-gate, so
// that a session can change over in the middle; docs/kb-gate.md has them.
package kbgate

import (
	"errors"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/config"
	"plimsoll/internal/guard"
	"plimsoll/internal/harness"
	"plimsoll/internal/rawjson"
)

// Gate is what the rule needs from outside.
type Gate struct {
	Settings func(root string) config.KB // the settings of the project at root
	// AtHand narrows the settings to the searches that a session in the project at root is known to have, for the texts: a
	// model must not be sent to one that is not there. Nil: nothing is known.
	AtHand     func(kb config.KB, root string) config.KB
	ProjectDir string // the client's CLAUDE_PROJECT_DIR
	Now        func() time.Time
	Debug      func(err error) // hears what went wrong, and of spawns in projects without a knowledge base; nil: nobody does
}

// Rule is the gate. In a project without .claude/memories it does nothing; with the mode off it writes and says nothing.
func Rule(g Gate) guard.Rule {
	return guard.Rule{Name: "kb-gate", Hears: hears, Judge: g.judge}
}

func hears(e harness.Event) bool {
	switch e.Name {
	case harness.PreToolUse:
		return e.ToolName == "Agent" || e.ToolName == "Task"
	case harness.UserPromptSubmit, harness.PostToolUse, harness.SubagentStart:
		return true
	}
	return false
}

// call is one event in one project.
type call struct {
	Gate
	event harness.Event
	kb    config.KB
	root  string
	state state
}

func (g Gate) debug(err error) {
	if g.Debug != nil {
		g.Debug(err)
	}
}

func (g Gate) judge(e harness.Event) harness.Verdict {
	root := Root(e.Cwd, g.ProjectDir)
	if root == "" || !HasMemories(root) {
		if e.Name == harness.PreToolUse {
			g.debug(errors.New("kb-gate: skip: " + whyNoMemories))
		}
		return harness.Verdict{}
	}
	c := call{Gate: g, event: e, kb: g.Settings(root), root: root, state: stateOf(root, e.RawSession)}
	if c.kb.Mode.V == config.KBOff {
		return harness.Verdict{}
	}
	switch e.Name {
	case harness.UserPromptSubmit:
		return c.prompted()
	case harness.PostToolUse:
		return c.used()
	case harness.SubagentStart:
		return c.started()
	}
	return c.spawned()
}

// named are the settings that texts name searches from.
func (c call) named() config.KB {
	if c.AtHand == nil {
		return c.kb
	}
	return c.AtHand(c.kb, c.root)
}

// prompted begins a turn.
func (c call) prompted() harness.Verdict {
	if c.event.AgentID != "" {
		c.logSkip(whyNested, nil)
		return harness.Verdict{}
	}
	if err := c.state.usable(); err != nil {
		return c.failOpen("state_unwritable", err)
	}
	turn, promptID := c.state.turn(), c.event.PromptID
	if len(promptID) > maxPromptID {
		promptID = ""
	}
	number := func(o *rawjson.Builder) { o.Int("turn", int64(turn)) }
	if c.state.sameTurn(promptID, c.event.Prompt) {
		c.logSkip(whySameTurn, number)
		return harness.Verdict{}
	}
	if turn++; turn == 1 {
		c.state.sweep(c.Now())
	}
	if err := c.state.begin(turn, promptID); err != nil {
		return c.failOpen("state_unwritable", err)
	}
	if err := c.state.shortenLog(); err != nil {
		c.debug(err)
	}
	c.log(func(o *rawjson.Builder) {
		o.Text("decision", decidedTurn)
		number(o)
	})
	return harness.Verdict{}
}

// used records a search.
func (c call) used() harness.Verdict {
	text := searchText(c.kb, c.event.ToolName, c.event.ToolInput)
	if text == "" {
		return harness.Verdict{}
	}
	query := func(o *rawjson.Builder) { o.Text("query", cut(text, maxLoggedQuery)) }
	if c.event.AgentID != "" {
		// What a sub-agent found is not in the parent's context, so nobody could put it into a prompt.
		c.logSkip(whyNested, query)
		return harness.Verdict{}
	}
	err := c.state.usable()
	if err == nil {
		err = c.state.addSearch(c.state.turn(), text)
	}
	if err != nil {
		c.logSkip(whyUnrecorded, query)
		return c.failOpen(whyUnrecorded, err)
	}
	c.log(func(o *rawjson.Builder) {
		o.Text("decision", decidedRecorded)
		query(o)
	})
	return harness.Verdict{}
}

// started briefs a sub-agent. The event does not have its prompt, so the text says what to do with and without findings.
func (c call) started() harness.Verdict {
	kind := c.event.AgentType
	if !slices.Contains(c.kb.AgentTypes.V, kind) || !c.canSearch() {
		return harness.Verdict{}
	}
	return harness.Verdict{
		Decision: harness.Note,
		ToModel:  briefing(c.named()),
		Why:      decidedBriefed,
		Figures:  []harness.Figure{{Key: "agent_type", Value: kind}},
		Written: func(ok bool) {
			if ok {
				c.log(func(o *rawjson.Builder) {
					o.Text("agent_type", harness.Label(kind))
					o.Text("decision", decidedBriefed)
				})
			}
		},
	}
}

// canSearch tells whether the settings count anything as a search. Where nothing does, no model could comply.
func (c call) canSearch() bool {
	return len(c.kb.SearchTools.V) > 0 || len(c.kb.SearchCommands.V) > 0
}

// defaultKind is the client's type for a call that names none.
const defaultKind = "general-purpose"

// spawned judges the start of a sub-agent.
func (c call) spawned() harness.Verdict {
	if c.event.AgentID != "" {
		c.logSkip(whyNested, nil)
		return harness.Verdict{}
	}
	input := c.event.ToolInput
	prompt := input.Get("prompt")
	switch prompt.Kind() {
	case rawjson.String, rawjson.Null, rawjson.Absent:
	default:
		return harness.Verdict{} // the client refuses such a call by itself
	}
	l := lookup{kind: input.Get("subagent_type").TextOr("")}
	if l.kind == "" {
		l.kind = defaultKind
	}
	kind := func(o *rawjson.Builder) { o.Text("agent_type", harness.Label(l.kind)) }
	switch {
	case !slices.Contains(c.kb.AgentTypes.V, l.kind):
		c.logSkip(whyNotGated, kind)
		return harness.Verdict{}
	case !c.canSearch():
		c.logSkip(whyNoSearch, kind)
		return harness.Verdict{}
	}
	l.block = strings.Contains(prompt.TextOr(""), c.kb.Marker.V)
	if err := c.state.usable(); err != nil {
		return c.uncounted(l, whyUnwritable, err)
	}
	turn := c.state.turn()
	searches, err := c.state.searches(turn)
	if err != nil {
		return c.uncounted(l, whyUnreadable, err)
	}
	l.searched = searches > 0
	if l.satisfied() {
		c.logJudged(l, decidedAllow, "", nil)
		return harness.Verdict{}
	}
	switch c.kb.Mode.V {
	case config.KBObserve:
		c.logJudged(l, decidedObserve, "", nil)
		return harness.Verdict{}
	case config.KBEnforce:
		return harness.Verdict{Settle: func(bool) harness.Verdict { return c.enforce(l, stamp{turn, searches}) }}
	}
	c.logJudged(l, decidedWarn, "", nil)
	v := c.verdict(l, harness.Note, "", nil)
	v.ToModel = adviceForModel(c.named(), l)
	if c.state.firstTold(turn, decidedWarn) {
		v.ToOperator = adviceForOperator(l)
	}
	return v
}

// enforce denies a spawn while the budgets allow it. The reason is given, and counted, also when another rule denies
// the call anyway: the model then learns of both at once.
func (c call) enforce(l lookup, s stamp) harness.Verdict {
	t, why, err := spend(c.state.path(denialsExt), s)
	if err != nil {
		return c.uncounted(l, whyUnwritable, err)
	}
	spent := &spending{t.turn[s.turn], t.state[s]}
	if why == "" {
		c.logJudged(l, decidedDeny, "", spent)
		v := c.verdict(l, harness.Denial, "", spent)
		v.Reason = denialForModel(c.named(), l)
		if c.state.firstTold(s.turn, decidedDeny) {
			v.ToOperator = denialForOperator(l)
		}
		return v
	}
	v := c.verdict(l, harness.Release, why, spent)
	if c.state.firstTold(s.turn, why) {
		v.ToOperator = releaseForOperator(l, why)
	}
	decision := decidedAllow
	if why == whySession {
		decision = decidedWarn
		v.ToModel = adviceForModel(c.named(), l)
	}
	c.logJudged(l, decision, why, spent)
	return v
}

// uncounted lets a spawn pass that cannot be counted: a gate that cannot count cannot promise to end.
func (c call) uncounted(l lookup, why string, err error) harness.Verdict {
	c.logJudged(l, decidedAllow, why, nil)
	return c.failOpen(why, err)
}

func (c call) failOpen(why string, err error) harness.Verdict {
	c.debug(err)
	return harness.Verdict{Decision: harness.FailOpen, Why: why}
}

func (c call) verdict(l lookup, d harness.Decision, why string, s *spending) harness.Verdict {
	v := harness.Verdict{Decision: d, Why: why, Figures: []harness.Figure{
		{Key: "agent_type", Value: l.kind}, {Key: "fresh_query", Value: l.searched}, {Key: "had_kb_block", Value: l.block},
	}}
	if s != nil {
		v.Figures = append(v.Figures, harness.Figure{Key: "denials_turn", Value: s.turn}, harness.Figure{Key: "denials_state", Value: s.state})
	}
	return v
}
