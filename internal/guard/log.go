package guard

import (
	"time"

	"plimsoll/internal/harness"
	"plimsoll/internal/rawjson"
)

// MaxLogLine is the size in bytes below which every line of the decision log stays, so that a single append is whole
// beside those of other processes.
const MaxLogLine = 4096

// logLine is one decision. It holds the figures that the decision was made on, and never a prompt or a tool's input.
func logLine(now time.Time, e harness.Event, v harness.Verdict) []byte {
	var o rawjson.Builder
	text := func(key, value string) {
		if value != "" {
			o.Text(key, harness.Label(value))
		}
	}
	o.Open()
	o.Text("ts", now.UTC().Format("2006-01-02T15:04:05.000Z"))
	text("session", e.Session.String())
	text("agent", e.AgentID)
	text("event", e.Name)
	text("tool", e.ToolName)
	text("rule", v.Rule)
	text("decision", string(v.Decision))
	text("why", v.Why)
	for _, f := range v.Figures {
		whole := o.Len()
		switch value := f.Value.(type) {
		case bool:
			o.Bool(f.Key, value)
		case int:
			o.Int(f.Key, int64(value))
		case int64:
			o.Int(f.Key, value)
		case float64:
			o.Float(f.Key, value)
		case string:
			o.Text(f.Key, harness.Label(value))
		}
		text(f.Key+"_from", f.Provenance)
		if o.Len() > MaxLogLine-len("}\n") {
			o.Truncate(whole)
			break
		}
	}
	o.Close()
	o.EndLine()
	return o.Bytes()
}
