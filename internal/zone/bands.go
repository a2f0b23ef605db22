package zone

import (
	"sort"
	"strconv"
	"strings"

	"plimsoll/internal/rawjson"
)

// Edges are the upper ends of smart and acceptable, both inclusive, in percent or in tokens.
type Edges struct {
	SmartMax, AcceptableMax float64
}

func (e Edges) word(v float64) Word {
	switch {
	case v <= e.SmartMax:
		return Smart
	case v <= e.AcceptableMax:
		return Acceptable
	}
	return Dumb
}

// Row holds the token edges for windows of Class tokens and more.
type Row struct {
	Class float64
	Edges
}

// Origin tells where bands came from.
type Origin string

// The origins of bands.
const (
	Shipped   Origin = "default"
	Tuned     Origin = "zones.json"
	Malformed Origin = "default, zones.json malformed"
)

// Bands is the whole tuning: both shapes with where each came from.
type Bands struct {
	Percent       Edges
	PercentOrigin Origin
	Tokens        []Row // ascending by class
	TokensOrigin  Origin
}

// Default returns the shipped bands. They are declared judgment, not measurement: the row for 1M windows leans on the
// 300,000 to 400,000 tokens at which practitioners report answers getting worse.
func Default() Bands {
	return Bands{
		Percent: Edges{50, 75}, PercentOrigin: Shipped,
		Tokens: []Row{
			{200_000, Edges{100_000, 160_000}},
			{1_000_000, Edges{200_000, 400_000}},
		}, TokensOrigin: Shipped,
	}
}

// Notices of a zones.json that cannot be used; scripts look for the words before the dash.
const (
	PercentNotice = "plimsoll: zones.json malformed — using shipped default bands (50/75)"
	TokensNotice  = "plimsoll: zones.json token_bands malformed — using shipped default token bands (200000:100000/160000, 1000000:200000/400000)"
)

// Notices lists what the operator should hear about the tuning.
func (b Bands) Notices() []string {
	var n []string
	if b.PercentOrigin == Malformed {
		n = append(n, PercentNotice)
	}
	if b.TokensOrigin == Malformed {
		n = append(n, TokensNotice)
	}
	return n
}

// row selects the largest class that the window reaches. A smaller window borrows no looser row.
func (b Bands) row(window float64) (Row, bool) {
	for i := len(b.Tokens) - 1; i >= 0; i-- {
		if b.Tokens[i].Class <= window {
			return b.Tokens[i], true
		}
	}
	return Row{}, false
}

// ParseBands reads a zones.json. Each shape is valid or not on its own; one that is not falls back to the shipped
// bands. An absent token_bands is not malformed, absent percent keys are.
func ParseBands(data []byte) Bands {
	b := Default()
	root, err := rawjson.Parse(data)
	if err != nil {
		b.PercentOrigin, b.TokensOrigin = Malformed, Malformed
		return b
	}
	if e, ok := parseEdges(root, "smart_max_used_percentage", "acceptable_max_used_percentage", 100); ok {
		b.Percent, b.PercentOrigin = e, Tuned
	} else {
		b.PercentOrigin = Malformed
	}
	tokens := root.Get("token_bands")
	switch tokens.Kind() {
	case rawjson.Absent, rawjson.Null, rawjson.False:
		return b
	}
	if rows, ok := parseRows(tokens); ok {
		b.Tokens, b.TokensOrigin = rows, Tuned
	} else {
		b.TokensOrigin = Malformed
	}
	return b
}

func parseRows(tokens rawjson.Value) ([]Row, bool) {
	var rows []Row
	seen := map[string]bool{}
	for key := range tokens.Members() {
		if seen[key] {
			continue
		}
		seen[key] = true
		class, err := strconv.ParseFloat(key, 64)
		if err != nil || strings.Trim(key, "0123456789") != "" {
			return nil, false
		}
		e, ok := parseEdges(tokens.Get(key), "smart_max_tokens", "acceptable_max_tokens", class)
		if !ok {
			return nil, false
		}
		rows = append(rows, Row{class, e})
	}
	sort.Slice(rows, func(i, j int) bool { return rows[i].Class < rows[j].Class })
	return rows, len(rows) > 0
}

func parseEdges(obj rawjson.Value, smart, acceptable string, limit float64) (Edges, bool) {
	s, sOK := obj.Get(smart).Float()
	a, aOK := obj.Get(acceptable).Float()
	return Edges{s, a}, sOK && aOK && 0 < s && s < a && a <= limit
}
