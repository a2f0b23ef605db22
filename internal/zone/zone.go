// Package zone turns figures into a zone word: pure functions, no files, no clock.
//
// Two shapes of evidence are judged apart and the worse word wins. The percent shape asks how far compaction is, the
// token shape how much there is in the window for the model to lose track of. A shape that cannot be computed drops
// out; when both do, the word is unknown. docs/contract.md states the rules for other readers.
package zone

import (
	"strings"

	"plimsoll/internal/rawjson"
)

// Word is a zone.
type Word string

// The zones, best first. Unknown has no rank: it is no evidence of a full window and none of an empty one.
const (
	Smart      Word = "smart"
	Acceptable Word = "acceptable"
	Dumb       Word = "dumb"
	Unknown    Word = "unknown"
)

// Rank orders words: smart, unknown and anything that is no word 0, acceptable 1, dumb 2.
func (w Word) Rank() int {
	switch w {
	case Acceptable:
		return 1
	case Dumb:
		return 2
	}
	return 0
}

// TokenFloor is the first client version whose total_input_tokens and total_output_tokens are the current occupancy;
// before it they sum up over the session (measured with 2.1.131 and 2.1.132).
const TokenFloor = "2.1.132"

// Shape is what one measure says. Word is Unknown exactly when WhyNot says why the shape cannot be computed.
type Shape struct {
	Word   Word
	WhyNot string
}

// Percent is the percent shape.
type Percent struct {
	Shape
	Used float64 // percent of the window, input tokens only
}

// Tokens is the token shape.
type Tokens struct {
	Shape
	Input, Output float64 // tokens; their sum is the occupancy
	Window        float64 // tokens
	Class         float64 // tokens; the row of the band table that was used
}

// Occupancy is the number of tokens in the window.
func (t Tokens) Occupancy() float64 { return t.Input + t.Output }

// Reading is everything that was concluded from one context_window object.
type Reading struct {
	Word    Word
	Percent Percent
	Tokens  Tokens
	Why     string // when Word is Unknown
}

// Reasons for an unknown word that the figures alone give.
const (
	NoFigures     = "the payload carries no context_window"
	NotMeasured   = "no response since the start or /compact"
	NoShapeStands = "neither the percent nor the token shape can be computed"
)

// Nothing is the reading of figures that are not there.
func Nothing(why string) Reading {
	none := Shape{Unknown, why}
	return Reading{Word: Unknown, Percent: Percent{Shape: none}, Tokens: Tokens{Shape: none}, Why: why}
}

// Read judges a context_window object against the bands. version is the client's, as a JSON value.
func Read(window, version rawjson.Value, bands Bands) Reading {
	switch {
	case window.Kind() != rawjson.Object:
		return Nothing(NoFigures)
	case !measured(window.Get("current_usage")):
		return Nothing(NotMeasured)
	}
	r := Reading{Percent: readPercent(window, bands), Tokens: readTokens(window, version, bands)}
	r.Word = Worse(r.Percent.Word, r.Tokens.Word)
	if r.Word == Unknown {
		r.Why = NoShapeStands
	}
	return r
}

// Worse is the combination rule: the worse of two computable words, or the one that is computable.
func Worse(a, b Word) Word {
	if a == Unknown || b != Unknown && b.Rank() > a.Rank() {
		return b
	}
	return a
}

// measured tells whether current_usage stands for a response. Null comes before the first response and, from some
// clients, after /compact; others send every figure as 0 after /compact, which no response can have.
func measured(usage rawjson.Value) bool {
	switch usage.Kind() {
	case rawjson.Absent, rawjson.Null, rawjson.False:
		return false
	case rawjson.Object:
	default:
		return true
	}
	held := false
	for _, key := range []string{"input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"} {
		v := usage.Get(key)
		if v.Kind() == rawjson.Absent || v.Kind() == rawjson.Null {
			continue
		}
		if f, ok := v.Float(); !ok || f != 0 {
			return true
		}
		held = true
	}
	return !held
}

func readPercent(window rawjson.Value, bands Bands) Percent {
	used, ok := window.Get("used_percentage").Float()
	switch {
	case !ok:
		return Percent{Shape: Shape{Unknown, "used_percentage is no number"}}
	case used < 0 || used > 100:
		return Percent{Shape: Shape{Unknown, "used_percentage is outside 0 to 100"}, Used: used}
	}
	return Percent{Shape{bands.Percent.word(used), ""}, used}
}

func readTokens(window, version rawjson.Value, bands Bands) Tokens {
	var t Tokens
	var inOK, outOK, winOK bool
	t.Input, inOK = window.Get("total_input_tokens").Float()
	t.Output, outOK = window.Get("total_output_tokens").Float()
	t.Window, winOK = window.Get("context_window_size").Float()
	t.Word = Unknown
	switch {
	case !inOK || !outOK:
		t.WhyNot = "a token total is no number"
	case t.Input < 0 || t.Output < 0:
		t.WhyNot = "a token total is negative"
	case !winOK || t.Window <= 0:
		t.WhyNot = "context_window_size is no positive number"
	case !atLeast(version.TextOr(""), TokenFloor):
		t.WhyNot = "cli_version is missing, not numeric or below " + TokenFloor
	case t.Occupancy() > t.Window:
		t.WhyNot = "more tokens than the window holds"
	default:
		row, ok := bands.row(t.Window)
		if !ok {
			t.WhyNot = "the window is smaller than every band class"
			break
		}
		t.Class = row.Class
		t.Word = row.Edges.word(t.Occupancy())
	}
	return t
}

// atLeast compares dotted versions number by number, a missing part being 0. A version that is not purely numeric is
// below everything.
func atLeast(version, floor string) bool {
	have, want := strings.Split(version, "."), strings.Split(floor, ".")
	for _, p := range have {
		if p == "" || strings.Trim(p, "0123456789") != "" {
			return false
		}
	}
	for i := range max(len(have), len(want)) {
		h, w := part(have, i), part(want, i)
		if len(h) != len(w) {
			return len(h) > len(w)
		}
		if h != w {
			return h > w
		}
	}
	return true
}

// part returns a version part without leading zeros, so that longer means larger.
func part(parts []string, i int) string {
	if i >= len(parts) {
		return ""
	}
	return strings.TrimLeft(parts[i], "0")
}
