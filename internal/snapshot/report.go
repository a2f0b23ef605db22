package snapshot

import (
	"math"

	"plimsoll/internal/harness"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/zone"
)

// JSON is the state as one line for scripts; docs/contract.md documents its keys. why is the reason of an unknown
// word, which the caller may know better than the snapshot.
func (st State) JSON(id, path, why string) []byte {
	var o rawjson.Builder
	o.Open()
	o.Text("session_id", harness.Label(id))
	o.Text("zone", string(st.Word))
	if st.Word == zone.Unknown {
		o.Text("reason", why)
	}
	o.Bool("compacted", st.Compacted)
	o.Key("snapshot")
	o.Open()
	o.Text("path", path)
	if !st.CapturedAt.IsZero() {
		o.Text("captured_at", st.CapturedAt.Format(TimeFormat))
		o.Float("age_seconds", math.Round(st.Age.Seconds()))
	}
	if st.CLIVersion != "" {
		o.Text("cli_version", harness.Label(st.CLIVersion))
	}
	o.Close()
	o.Key("percent")
	o.Open()
	shape(&o, st.Percent.Shape)
	if st.Percent.Word != zone.Unknown {
		o.Float("used_percentage", st.Percent.Used)
	}
	o.Close()
	o.Key("tokens")
	o.Open()
	t := st.Tokens
	shape(&o, t.Shape)
	if t.Window > 0 {
		o.Float("input_tokens", t.Input)
		o.Float("output_tokens", t.Output)
		o.Float("occupancy", t.Occupancy())
		o.Float("window", t.Window)
	}
	if t.Class > 0 {
		o.Float("class", t.Class)
	}
	o.Close()
	o.Key("bands")
	o.Open()
	o.Key("percent")
	o.Open()
	edges(&o, st.Bands.Percent)
	o.Text("from", string(st.Bands.PercentOrigin))
	o.Close()
	o.Key("tokens")
	o.Open()
	o.Key("rows")
	o.OpenArray()
	for _, row := range st.Bands.Tokens {
		o.Open()
		o.Float("class", row.Class)
		edges(&o, row.Edges)
		o.Close()
	}
	o.CloseArray()
	o.Text("from", string(st.Bands.TokensOrigin))
	o.Close()
	o.Close()
	o.Close()
	o.EndLine()
	return o.Bytes()
}

func shape(o *rawjson.Builder, s zone.Shape) {
	o.Text("zone", string(s.Word))
	if s.WhyNot != "" {
		o.Text("reason", s.WhyNot)
	}
}

func edges(o *rawjson.Builder, e zone.Edges) {
	o.Float("smart_max", e.SmartMax)
	o.Float("acceptable_max", e.AcceptableMax)
}
