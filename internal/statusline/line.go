// Package statusline is what stands behind the statusLine setting: it runs the renderer that was there before, or
// draws a line of its own.
package statusline

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"plimsoll/internal/config"
	"plimsoll/internal/harness"
	"plimsoll/internal/promptcache"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/zone"
)

// Style is what the terminal can show.
type Style struct {
	Columns int // width in cells; 0: not known
	Colour  bool
	UTF8    bool
}

// StyleFrom reads the style from the environment. The client runs the status line on a pipe, so the terminal itself
// cannot be asked.
func StyleFrom(env config.Env) Style {
	var s Style
	if n, err := strconv.Atoi(env.Get("COLUMNS")); err == nil && n > 0 {
		s.Columns = n
	}
	_, plain := env("NO_COLOR")
	s.Colour = !plain && env.Get("TERM") != "dumb"
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := env.Get(name); locale != "" {
			locale = strings.ToLower(locale)
			s.UTF8 = strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
			break
		}
	}
	return s
}

// Waiting is the line for a payload that is not JSON, which some clients send before the session is up.
const Waiting = "plimsoll: waiting for session data"

const (
	red    = "31"
	green  = "32"
	yellow = "33"
	dim    = "2"
)

type segment struct{ text, colour string }

// Line draws the status line for a payload, without a line end: model and percent first, then tokens, zone, cost and
// cache, as far as they are known and fit. Empty input gives an empty line.
func Line(payload []byte, bands zone.Bands, compacted bool, now time.Time, style Style) string {
	root, err := rawjson.Parse(payload)
	if err == rawjson.ErrEmpty {
		return ""
	}
	if err != nil || root.Kind() != rawjson.Object {
		return Waiting
	}
	window := root.Get("context_window")
	reading := zone.Read(window, root.Get("version"), bands)
	return style.fit(segments(root, window, reading, compacted, now))
}

func segments(root, window rawjson.Value, reading zone.Reading, compacted bool, now time.Time) []segment {
	name := harness.Label(root.Get("model").Get("display_name").TextOr(""))
	if name == "" {
		name = "Claude"
	}
	percent := "-"
	if reading.Percent.Word != zone.Unknown {
		percent = string(window.Get("used_percentage"))
	}
	head := "[" + name + "] ctx " + percent + "%"
	word := segment{string(reading.Word), wordColour(reading.Word)}
	if compacted {
		word.text += " (compacted)"
	}
	var s []segment
	if reading.Word == zone.Unknown {
		s = append(s, segment{head + " " + word.text, ""})
	} else {
		s = append(s, segment{head, ""})
		if t := reading.Tokens; t.Window > 0 && t.Occupancy() > 0 {
			s = append(s, segment{zone.FormatTokens(t.Occupancy()) + "/" + zone.FormatTokens(t.Window), ""})
		}
		s = append(s, word)
	}
	if usd, ok := root.Get("cost").Get("total_cost_usd").Float(); ok && usd >= 0 {
		s = append(s, segment{"$" + strconv.FormatFloat(usd, 'f', 2, 64), ""})
	}
	switch w := promptcache.WarmthAt(root, now); {
	case w.Warm && w.Left > 0:
		s = append(s, segment{"cache warm " + strconv.Itoa(int(math.Ceil(w.Left.Minutes()))) + " min", dim})
	case w.Warm:
		s = append(s, segment{"cache warm", dim})
	case w.Known:
		s = append(s, segment{"cache cold", dim})
	}
	return s
}

func wordColour(w zone.Word) string {
	switch w {
	case zone.Smart:
		return green
	case zone.Acceptable:
		return yellow
	case zone.Dumb:
		return red
	}
	return dim
}

// fit joins the segments that fit into the width, dropping from the end; the first is cut when it alone is too wide.
func (s Style) fit(segs []segment) string {
	sep := " · "
	if !s.UTF8 {
		sep = " | "
		for i := range segs {
			segs[i].text = ascii(segs[i].text)
		}
	}
	if s.Columns > 0 {
		segs[0].text = cut(segs[0].text, s.Columns)
	}
	used := width(segs[0].text)
	var b strings.Builder
	b.WriteString(segs[0].text)
	for _, seg := range segs[1:] {
		if used += width(sep) + width(seg.text); s.Columns > 0 && used > s.Columns {
			break
		}
		b.WriteString(sep)
		if s.Colour && seg.colour != "" {
			b.WriteString("\x1b[" + seg.colour + "m" + seg.text + "\x1b[0m")
		} else {
			b.WriteString(seg.text)
		}
	}
	return b.String()
}

func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x7f {
			return '?'
		}
		return r
	}, s)
}

func cut(s string, columns int) string {
	used := 0
	for i, r := range s {
		if used += cells(r); used > columns {
			return s[:i]
		}
	}
	return s
}

func width(s string) int {
	n := 0
	for _, r := range s {
		n += cells(r)
	}
	return n
}

// cells is how many terminal cells a character takes: none for combining marks, two for the wide blocks of East Asian
// scripts and emoji. The blocks are those of Unicode's East Asian Width property (UAX #11), taken coarsely.
func cells(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.Is(unicode.Mn, r):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff,
		r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}
