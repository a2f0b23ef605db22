package doctor

import (
	"strconv"
	"strings"

	"plimsoll/internal/config"
)

// Value is one configuration value with where it came from.
type Value struct {
	Name  string `json:"name"`
	Value any    `json:"value"` // a boolean, a number, a text, a list of texts, or nil where none is set
	From  string `json:"from"`
}

// values lists every configuration value.
func values(e *exam) []Value {
	c, kb := e.cfg, e.kb
	window := value(e, "ceiling.window", c.Ceiling.Window)
	if c.Ceiling.Window.V == 0 { // not overridden
		window.Value = nil
	}
	return []Value{
		{"rules", !e.env.Off(), e.fromVariable("PLIMSOLL")},
		{"debug_log", e.text("PLIMSOLL_DEBUG"), e.fromVariable("PLIMSOLL_DEBUG")},
		{"client_config_dir", e.text("CLAUDE_CONFIG_DIR"), e.fromVariable("CLAUDE_CONFIG_DIR")},
		value(e, "zones.enabled", c.Zones.Enabled),
		value(e, "zones.mode", c.Zones.Mode),
		value(e, "zones.grace_calls", c.Zones.Grace),
		value(e, "ceiling.enabled", c.Ceiling.Enabled),
		value(e, "ceiling.strict", c.Ceiling.Strict),
		value(e, "ceiling.gate_agent", c.Ceiling.GateAgent),
		value(e, "ceiling.percent", c.Ceiling.Percent),
		value(e, "ceiling.absolute", c.Ceiling.Absolute),
		window,
		value(e, "ceiling.recovery_skills", c.Ceiling.RecoverySkills),
		value(e, "kb.mode", kb.Mode),
		value(e, "kb.agent_types", kb.AgentTypes),
		value(e, "kb.search_tools", kb.SearchTools),
		value(e, "kb.search_commands", kb.SearchCommands),
		value(e, "kb.marker", kb.Marker),
	}
}

func value[T any](e *exam, name string, v config.Value[T]) Value {
	if list, ok := any(v.V).([]string); ok {
		return Value{name, append([]string{}, list...), e.source(v.From)}
	}
	return Value{name, v.V, e.source(v.From)}
}

// fromVariable is the source of a value that only a variable sets.
func (e *exam) fromVariable(name string) string {
	if _, ok := e.env(name); ok {
		return e.source("environment " + name)
	}
	return config.FromDefault
}

func (e *exam) text(name string) any {
	if v := e.env.Get(name); v != "" {
		return v
	}
	return nil
}

// Text is the value for people.
func (v Value) Text() string {
	switch x := v.Value.(type) {
	case nil:
		return "not set"
	case bool:
		if x {
			return "on"
		}
		return "off"
	case int:
		return strconv.Itoa(x)
	case []string:
		if len(x) == 0 {
			return "none"
		}
		return strings.Join(x, ", ")
	case string:
		return x
	}
	return ""
}
