package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/harness"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/statefile"
)

// Value is a setting with where it came from: "default", "environment NAME", "user file" or "project file".
type Value[T any] struct {
	V    T
	From string
}

// Sources of values, besides "environment NAME".
const (
	FromDefault = "default"
	FromUser    = "user file"
	FromProject = "project file"
)

// Config is every setting.
type Config struct {
	Zones    Zones
	Ceiling  Ceiling
	KB       KB
	Problems []string // what in the files or the environment is ignored, and why; doctor shows it
}

// Zones are the settings of the crossing reports, the blocking gate and the marker.
type Zones struct {
	Enabled Value[bool]
	Mode    Value[string] // Advisory or Blocking
	Grace   Value[int]    // matched calls that pass in a dumb zone before the gate denies
}

// The modes of the zone rules.
const (
	Advisory = "advisory"
	Blocking = "blocking"
)

// Ceiling are the settings of the context ceiling.
type Ceiling struct {
	Enabled        Value[bool]
	Strict         Value[bool]     // deny; otherwise only warn
	GateAgent      Value[bool]     // Agent and Task are denied too, not only Skill
	Percent        Value[int]      // percent of the window
	Absolute       Value[int]      // tokens
	Window         Value[int]      // tokens; 0: not overridden
	RecoverySkills Value[[]string] // further skills that always run
}

// KB are the settings of the knowledge-base gate.
type KB struct {
	Mode           Value[string]   // KBOff, KBObserve, KBWarn or KBEnforce
	AgentTypes     Value[[]string] // sub-agents that need a lookup
	SearchTools    Value[[]string] // tool names that are a search; a name may end in *
	SearchCommands Value[[]string] // first words of shell commands that are a search
	Marker         Value[string]   // what opens the findings in a prompt
}

// The modes of the knowledge-base gate.
const (
	KBOff     = "off"
	KBObserve = "observe"
	KBWarn    = "warn"
	KBEnforce = "enforce"
)

// maxFile bounds a settings file, in bytes.
const maxFile = 1 << 20

// Names of the environment variables.
const (
	envZonesEnabled = "CLAUDE_PLUGIN_OPTION_CONTEXT_GUARD_HOOKS_ENABLED"
	envZoneMode     = "CLAUDE_PLUGIN_OPTION_ZONE_HOOK_MODE"
	envZoneGrace    = "CLAUDE_PLUGIN_OPTION_ZONE_GATE_GRACE_CALLS"
	envCeiling      = "DEV_TEAM_CONTEXT_CEILING"
	envStrict       = "DEV_TEAM_CONTEXT_STRICT"
	envGateAgent    = "DEV_TEAM_CONTEXT_GATE_AGENT"
	envPercent      = "DEV_TEAM_CONTEXT_CEILING_PCT"
	envAbsolute     = "DEV_TEAM_CONTEXT_ABS_CEILING"
	envWindow       = "DEV_TEAM_CONTEXT_WINDOW"
	envKBMode       = "PLIMSOLL_KB_MODE"
)

// Default returns the settings of a machine where nothing is set.
func Default() Config {
	return Config{
		Zones: Zones{byDefault(true), byDefault(Advisory), byDefault(20)},
		Ceiling: Ceiling{byDefault(true), byDefault(true), byDefault(false), byDefault(40), byDefault(350_000), byDefault(0),
			byDefault([]string(nil))},
		KB: KB{
			Mode:           byDefault(KBWarn),
			AgentTypes:     byDefault([]string{"Explore", "general-purpose", "Plan"}),
			SearchTools:    byDefault([]string{"mcp__plimsoll__query", "mcp__plugin_plimsoll_kb__query", "mcp__memory-loop__query", "mcp__docs-mcp-server__search_docs"}),
			SearchCommands: byDefault([]string{"plimsoll kb search"}),
			Marker:         byDefault("KB context:"),
		},
	}
}

// Load reads the user file and the environment. A file that cannot be used is as good as none; a setting that cannot
// be used falls to its default, never to something looser.
func Load(env Env) Config {
	c := Default()
	if home := env.Home(); home != "" {
		c.userFile(PathsIn(home).Config())
	}
	c.environment(env)
	return c
}

func byDefault[T any](v T) Value[T] { return Value[T]{v, FromDefault} }

// Config is the user file.
func (p Paths) Config() string { return filepath.Join(p.Root(), "config.json") }

// ProjectPath is a project's file.
func ProjectPath(root string) string { return filepath.Join(root, ".claude", "plimsoll.json") }

func (c *Config) problem(format string, args ...any) {
	c.Problems = append(c.Problems, fmt.Sprintf(format, args...))
}

func (c *Config) read(path string) rawjson.Value {
	data, err := statefile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var root rawjson.Value
	if err == nil {
		root, err = rawjson.Parse(data)
	}
	if err == nil && root.Kind() != rawjson.Object {
		err = errors.New("the root is no object")
	}
	if err != nil {
		c.problem("%s is ignored: %v", path, err)
		return nil
	}
	return root
}

func (c *Config) userFile(path string) {
	f := file{c, path, FromUser}
	f.members(c.read(path), "", map[string]func(rawjson.Value){
		"zones": func(v rawjson.Value) {
			f.members(v, "zones.", map[string]func(rawjson.Value){
				"enabled":     f.flag("zones.enabled", &c.Zones.Enabled),
				"mode":        f.word("zones.mode", &c.Zones.Mode, Advisory, Blocking),
				"grace_calls": f.count("zones.grace_calls", &c.Zones.Grace, 0),
			})
		},
		"ceiling": func(v rawjson.Value) {
			f.members(v, "ceiling.", map[string]func(rawjson.Value){
				"enabled":         f.flag("ceiling.enabled", &c.Ceiling.Enabled),
				"strict":          f.flag("ceiling.strict", &c.Ceiling.Strict),
				"gate_agent":      f.flag("ceiling.gate_agent", &c.Ceiling.GateAgent),
				"percent":         f.count("ceiling.percent", &c.Ceiling.Percent, 1),
				"absolute":        f.count("ceiling.absolute", &c.Ceiling.Absolute, 1),
				"window":          f.count("ceiling.window", &c.Ceiling.Window, 1),
				"recovery_skills": f.list("ceiling.recovery_skills", &c.Ceiling.RecoverySkills),
			})
		},
		"kb": func(v rawjson.Value) {
			keys := f.kb(&c.KB)
			keys["marker"] = f.label("kb.marker", &c.KB.Marker)
			f.members(v, "kb.", keys)
		},
	})
}

// KBFor returns the knowledge-base settings of the project at root. Of the project's file only the kb section counts,
// without its marker: a cloned repository must not be able to loosen anything else.
func (c *Config) KBFor(root string, env Env) KB {
	kb := c.KB
	if root == "" {
		return kb
	}
	path := ProjectPath(root)
	f := file{c, path, FromProject}
	f.members(c.read(path), "", map[string]func(rawjson.Value){
		"kb": func(v rawjson.Value) { f.members(v, "kb.", f.kb(&kb)) },
	})
	c.kbEnvironment(env, &kb)
	return kb
}

func (c *Config) environment(env Env) {
	d := Default()
	if s := env.Get(envZonesEnabled); s != "" {
		c.Zones.Enabled = Value[bool]{s == "true", fromEnv(envZonesEnabled)}
	}
	if s, ok := env(envZoneMode); ok && s != "" {
		// Exactly "blocking": an unexpanded placeholder or a typo must not start to deny.
		mode := Advisory
		if s == Blocking {
			mode = Blocking
		} else if s != Advisory {
			c.problem("%s is %q, which is neither %s nor %s", envZoneMode, s, Advisory, Blocking)
		}
		c.Zones.Mode = Value[string]{mode, fromEnv(envZoneMode)}
	}
	c.number(env, envZoneGrace, &c.Zones.Grace, d.Zones.Grace, 0, 9)
	onOff := func(name, word string, v *Value[bool], when bool) {
		s, ok := env(name)
		if !ok || strings.TrimSpace(s) == "" {
			return
		}
		if strings.EqualFold(strings.TrimSpace(s), word) {
			*v = Value[bool]{when, fromEnv(name)}
			return
		}
		*v = Value[bool]{!when, fromEnv(name)}
	}
	onOff(envCeiling, "off", &c.Ceiling.Enabled, false)
	onOff(envStrict, "off", &c.Ceiling.Strict, false)
	onOff(envGateAgent, "block", &c.Ceiling.GateAgent, true)
	c.number(env, envPercent, &c.Ceiling.Percent, d.Ceiling.Percent, 1, 18)
	c.number(env, envAbsolute, &c.Ceiling.Absolute, d.Ceiling.Absolute, 1, 18)
	c.number(env, envWindow, &c.Ceiling.Window, d.Ceiling.Window, 1, 18)
	c.kbEnvironment(env, &c.KB)
}

func (c *Config) kbEnvironment(env Env, kb *KB) {
	if s := strings.ToLower(strings.TrimSpace(env.Get(envKBMode))); s != "" {
		if !slices.Contains(kbModes, s) {
			c.problem("%s is %q, which behaves as %s", envKBMode, s, KBWarn)
			s = KBWarn
		}
		kb.Mode = Value[string]{s, fromEnv(envKBMode)}
	}
}

var kbModes = []string{KBOff, KBObserve, KBWarn, KBEnforce}

func fromEnv(name string) string { return "environment " + name }

// number reads a variable of ASCII digits. One that is set to anything else means the default, even over a file: who
// set it wanted the file's value gone.
func (c *Config) number(env Env, name string, v *Value[int], def Value[int], least, digits int) {
	s, ok := env(name)
	if !ok || s == "" {
		return
	}
	n, err := strconv.Atoi(s)
	if err != nil || strings.Trim(s, "0123456789") != "" || len(s) > digits || n < least {
		c.problem("%s is %q, which is no whole number of at least %d", name, s, least)
		*v = def
		return
	}
	*v = Value[int]{n, fromEnv(name)}
}

// file reads the members of one settings file into values.
type file struct {
	c    *Config
	path string
	from string
}

func (f file) members(obj rawjson.Value, prefix string, known map[string]func(rawjson.Value)) {
	if obj == nil {
		return
	}
	if obj.Kind() != rawjson.Object {
		f.c.problem("%s: %s is no object", f.path, strings.TrimSuffix(prefix, "."))
		return
	}
	for key, v := range obj.Members() {
		set, ok := known[key]
		if !ok {
			f.c.problem("%s: unknown key %s%s", f.path, prefix, key)
			continue
		}
		set(v)
	}
}

func (f file) kb(kb *KB) map[string]func(rawjson.Value) {
	return map[string]func(rawjson.Value){
		"mode":            f.kbMode(kb),
		"agent_types":     f.list("kb.agent_types", &kb.AgentTypes),
		"search_tools":    f.list("kb.search_tools", &kb.SearchTools),
		"search_commands": f.list("kb.search_commands", &kb.SearchCommands),
	}
}

func (f file) kbMode(kb *KB) func(rawjson.Value) {
	return func(v rawjson.Value) {
		mode := strings.ToLower(strings.TrimSpace(v.TextOr("")))
		if !slices.Contains(kbModes, mode) {
			f.c.problem("%s: kb.mode is %s, which behaves as %s", f.path, v, KBWarn)
			mode = KBWarn
		}
		kb.Mode = Value[string]{mode, f.from}
	}
}

func (f file) wrong(key, want string, v rawjson.Value) {
	f.c.problem("%s: %s is %.40s, not %s", f.path, key, v, want)
}

func (f file) flag(key string, dst *Value[bool]) func(rawjson.Value) {
	return func(v rawjson.Value) {
		switch v.Kind() {
		case rawjson.True, rawjson.False:
			*dst = Value[bool]{v.Kind() == rawjson.True, f.from}
		default:
			f.wrong(key, "true or false", v)
		}
	}
}

func (f file) word(key string, dst *Value[string], words ...string) func(rawjson.Value) {
	return func(v rawjson.Value) {
		if s, ok := v.Text(); ok && slices.Contains(words, s) {
			*dst = Value[string]{s, f.from}
			return
		}
		f.wrong(key, strings.Join(words, " or "), v)
	}
}

// label takes a text that can be shown to a model as it is.
func (f file) label(key string, dst *Value[string]) func(rawjson.Value) {
	return func(v rawjson.Value) {
		if s, ok := v.Text(); ok && strings.TrimSpace(s) != "" && harness.Label(s) == s {
			*dst = Value[string]{s, f.from}
			return
		}
		f.wrong(key, "a line of at most "+strconv.Itoa(harness.MaxLabel)+" characters", v)
	}
}

// count takes a whole number; null leaves the value as it was.
func (f file) count(key string, dst *Value[int], least int) func(rawjson.Value) {
	return func(v rawjson.Value) {
		if v.Kind() == rawjson.Null {
			return
		}
		if n, err := strconv.Atoi(string(v)); err == nil && n >= least && n <= 1e9 {
			*dst = Value[int]{n, f.from}
			return
		}
		f.wrong(key, "a whole number of at least "+strconv.Itoa(least), v)
	}
}

func (f file) list(key string, dst *Value[[]string]) func(rawjson.Value) {
	return func(v rawjson.Value) {
		list := []string{}
		for e := range v.Elements() {
			s, ok := e.Text()
			if !ok || strings.TrimSpace(s) == "" {
				f.wrong(key, "a list of texts", v)
				return
			}
			list = append(list, s)
		}
		if v.Kind() != rawjson.Array {
			f.wrong(key, "a list of texts", v)
			return
		}
		*dst = Value[[]string]{list, f.from}
	}
}
