// Package ceiling is the rule that denies Skill loads past the context ceiling: before a capability is loaded into a
// context, the context's real occupancy is measured from its transcript and held against
// min(percent of window, absolute cap). docs/ceiling.md says what is measured, what blocks, and how to get out.
//
// The arithmetic is pure and exported: the report and explain recompute with it.
package ceiling

import (
	"math/bits"
	"slices"
	"strings"

	"plimsoll/internal/config"
	"plimsoll/internal/model"
)

// Bound is which term of the threshold binds.
type Bound string

// The bounds. On a tie it is the percentage.
const (
	Percentage Bound = "percentage"
	Absolute   Bound = "absolute"
)

// Threshold is the effective ceiling in tokens: percent of the window, rounded down, or the absolute cap, whichever is
// less.
func Threshold(window, percent, absolute int64) (tokens int64, bound Bound) {
	hi, lo := bits.Mul64(uint64(max(window, 0)), uint64(max(percent, 0)))
	share := uint64(1 << 62) // beyond what any cap is
	if hi < 100 {
		share, _ = bits.Div64(hi, lo, 100)
	}
	if share <= uint64(max(absolute, 0)) {
		return int64(share), Percentage
	}
	return absolute, Absolute
}

// Band is how far past the ceiling an occupancy is.
type Band int

// The bands, with the multiple of the threshold at which each begins.
const (
	Nudge       Band = iota // 1x
	RunNow                  // 1.25x
	FullSummary             // 1.5x
)

// BandOf returns the band of an occupancy at or past the threshold.
func BandOf(occupancy, threshold int64) Band {
	switch {
	case threshold <= 0:
		return Nudge
	case occupancy >= threshold+threshold/2:
		return FullSummary
	case occupancy >= threshold+threshold/4:
		return RunNow
	}
	return Nudge
}

// Provenance is where a window's size came from.
type Provenance string

// The provenances, the surest first. A window of Default provenance is not known: it warns and never blocks.
const (
	Override Provenance = "override" // DEV_TEAM_CONTEXT_WINDOW, or the user file
	Measured Provenance = "measured" // the client's own figure, from this session's fresh snapshot
	Detected Provenance = "detected" // the model's row in our table
	Default  Provenance = "default"  // a guess
)

// Window is a context window.
type Window struct {
	Tokens     int64
	Provenance Provenance
}

// Known tells whether a denial may rest on the window.
func (w Window) Known() bool { return w.Provenance != Default }

// ResolveWindow finds the window of a context that holds that many tokens. measured is the client's figure, 0 for none.
// Tokens beyond a window prove it wrong, so what they disprove is passed over; an override always stands.
func ResolveWindow(override, measured int64, modelID string, occupancy int64) Window {
	n, _ := model.Window(modelID)
	return WindowOf(override, measured, int64(n), occupancy)
}

// WindowOf is ResolveWindow for a caller who has looked the model up: detected is its window, 0 where the id does not tell.
func WindowOf(override, measured, detected, occupancy int64) Window {
	if override > 0 {
		return Window{override, Override}
	}
	if measured > 0 && measured >= occupancy {
		return Window{measured, Measured}
	}
	if detected > 0 && detected >= occupancy {
		return Window{detected, Detected}
	}
	if occupancy > model.Window200K {
		return Window{model.Window1M, Default}
	}
	return Window{model.Window200K, Default}
}

// Policy is what the verdict depends on besides the measurement.
type Policy struct {
	Strict    bool // deny; otherwise only warn
	GateAgent bool // Agent and Task are denied too
	Percent   int64
	Absolute  int64 // tokens
	Override  int64 // tokens; 0: none
}

// PolicyOf takes the policy from the settings.
func PolicyOf(c config.Ceiling) Policy {
	return Policy{c.Strict.V, c.GateAgent.V, int64(c.Percent.V), int64(c.Absolute.V), int64(c.Window.V)}
}

// Gated tells whether the ceiling listens to a tool.
func Gated(tool string) bool { return tool == "Skill" || tool == "Agent" || tool == "Task" }

// Blocks tells whether a tool is denied past the ceiling. A Skill grows this context, so denying it prevents that; a
// sub-agent is the cheapest way not to grow it, so denying one only moves its work here.
func (p Policy) Blocks(tool string) bool {
	return tool == "Skill" || p.GateAgent && Gated(tool)
}

// Judgement is a measurement held against the ceiling.
type Judgement struct {
	Occupancy int64
	Window    Window
	Threshold int64
	Bound     Bound
	Over      bool
	Band      Band // when Over
	Denied    bool
}

// Judge holds an occupancy against the ceiling. Equality is over.
func (p Policy) Judge(tool string, occupancy int64, w Window) Judgement {
	j := Judgement{Occupancy: occupancy, Window: w}
	j.Threshold, j.Bound = Threshold(w.Tokens, p.Percent, p.Absolute)
	if j.Over = occupancy >= j.Threshold; !j.Over {
		return j
	}
	j.Band = BandOf(occupancy, j.Threshold)
	j.Denied = p.Strict && w.Known() && p.Blocks(tool)
	return j
}

// recovery are the skills that always run: without them a session past its ceiling could not even save its work.
var recovery = [...]string{"handoff", "context-loading-protocol", "continue", "review-summary", "session-review"}

// Recovers tells whether a skill always runs: one of the built-in five or of the configured ones, under whatever plugin
// and however the slash, the case and the white space around it are written.
func Recovers(skill string, configured []string) bool {
	name := BareName(skill)
	return name != "" && (slices.Contains(recovery[:], name) || slices.ContainsFunc(configured, func(c string) bool { return BareName(c) == name }))
}

// BareName is a skill's own name in lower case, without plugin, slashes and white space: recovery skills are compared by it.
func BareName(skill string) string {
	_, name := parts(skill)
	return strings.ToLower(name)
}

// parts takes a skill's name apart: its plugin, "" for none, and its own name, as they are spelled, without white space
// and slashes around them. Of several prefixes the first is the plugin.
func parts(skill string) (plugin, name string) {
	trim := func(s string) string { return strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(s), "/")) }
	i := strings.LastIndexByte(skill, ':')
	if i < 0 {
		return "", trim(skill)
	}
	plugin, _, _ = strings.Cut(skill, ":")
	return trim(plugin), trim(skill[i+1:])
}
