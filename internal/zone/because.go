package zone

import (
	"math"
	"strconv"
)

// Because says in one sentence for people which figures gave the word.
func (r Reading) Because(b Bands) string {
	switch {
	case r.Word == Unknown:
		return r.Why
	case r.Tokens.Word == r.Word && (r.Percent.Word == Unknown || r.Tokens.Word.Rank() >= r.Percent.Word.Rank()):
		row, _ := b.row(r.Tokens.Window)
		return FormatTokens(r.Tokens.Occupancy()) + " tokens, " + row.side(r.Tokens.Occupancy(), FormatTokens)
	}
	return percentText(r.Percent.Used) + " of the window, " + b.Percent.side(r.Percent.Used, percentText)
}

// side says on which side of which edge a value lies.
func (e Edges) side(v float64, format func(float64) string) string {
	switch e.word(v) {
	case Smart:
		return "up to " + format(e.SmartMax) + " is " + string(Smart)
	case Acceptable:
		return "past " + format(e.SmartMax) + " is " + string(Acceptable)
	}
	return "past " + format(e.AcceptableMax) + " is " + string(Dumb)
}

func percentText(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) + "%" }

// FormatTokens is a token count for people: 15075 is 15.1k, 200000 is 200k, 1000000 is 1M.
func FormatTokens(n float64) string {
	switch {
	case n >= 999_950:
		return strconv.FormatFloat(math.Round(n/1e5)/10, 'f', -1, 64) + "M"
	case n >= 1000:
		return strconv.FormatFloat(math.Round(n/100)/10, 'f', -1, 64) + "k"
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}
