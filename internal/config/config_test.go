package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func env(vars map[string]string) Env {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

// load returns the settings of a home with that user file, under those variables.
func load(t *testing.T, file string, vars map[string]string) Config {
	t.Helper()
	home := t.TempDir()
	if file != "" {
		path := PathsIn(home).Config()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all := map[string]string{"HOME": home}
	for k, v := range vars {
		all[k] = v
	}
	return Load(env(all))
}

func TestDefaults(t *testing.T) {
	got := load(t, "", nil)
	if !reflect.DeepEqual(got, Default()) {
		t.Errorf("with nothing set: %+v", got)
	}
}

func TestUserFile(t *testing.T) {
	c := load(t, `{"zones":{"enabled":false,"mode":"blocking","grace_calls":0},
		"ceiling":{"enabled":false,"strict":false,"gate_agent":true,"percent":55,"absolute":100000,"window":500000,"recovery_skills":["x"]},
		"kb":{"mode":" Enforce ","agent_types":["A"],"search_tools":[],"search_commands":["rg"],"marker":"M:"}}`, nil)
	want := Config{
		Zones: Zones{Value[bool]{false, FromUser}, Value[string]{"blocking", FromUser}, Value[int]{0, FromUser}},
		Ceiling: Ceiling{Value[bool]{false, FromUser}, Value[bool]{false, FromUser}, Value[bool]{true, FromUser}, Value[int]{55, FromUser},
			Value[int]{100000, FromUser}, Value[int]{500000, FromUser}, Value[[]string]{[]string{"x"}, FromUser}},
		KB: KB{Value[string]{"enforce", FromUser}, Value[[]string]{[]string{"A"}, FromUser}, Value[[]string]{[]string{}, FromUser},
			Value[[]string]{[]string{"rg"}, FromUser}, Value[string]{"M:", FromUser}},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
}

func TestBadUserFileIsAsGoodAsNone(t *testing.T) {
	for file, problem := range map[string]string{
		`{`: "ignored", `[]`: "ignored", "\xff": "ignored",
		`{"zone":{}}`:                    "unknown key zone",
		`{"zones":[]}`:                   "zones is no object",
		`{"zones":{"grace":1}}`:          "unknown key zones.grace",
		`{"zones":{"mode":"Blocking"}}`:  "zones.mode",
		`{"zones":{"grace_calls":-1}}`:   "zones.grace_calls",
		`{"ceiling":{"percent":0}}`:      "ceiling.percent",
		`{"ceiling":{"percent":"40"}}`:   "ceiling.percent",
		`{"ceiling":{"strict":"off"}}`:   "ceiling.strict",
		`{"kb":{"agent_types":"A"}}`:     "kb.agent_types",
		`{"kb":{"agent_types":["A",1]}}`: "kb.agent_types",
		`{"kb":{"marker":" "}}`:          "kb.marker",
		`{"kb":{"marker":"two\nlines"}}`: "kb.marker",
	} {
		c := load(t, file, nil)
		if len(c.Problems) != 1 || !strings.Contains(c.Problems[0], problem) {
			t.Errorf("%s: problems %q, want one about %q", file, c.Problems, problem)
		}
		c.Problems = nil
		if !reflect.DeepEqual(c, Default()) {
			t.Errorf("%s: %+v", file, c)
		}
	}
	if c := load(t, `{"kb":{"mode":"loud"}}`, nil); c.KB.Mode.V != KBWarn || len(c.Problems) != 1 {
		t.Errorf("an unknown mode: %+v %q", c.KB.Mode, c.Problems)
	}
	if c := load(t, `{"ceiling":{"window":null}}`, nil); len(c.Problems) > 0 {
		t.Errorf("window null: %q", c.Problems)
	}
}

func TestEnvironment(t *testing.T) {
	const file = `{"zones":{"grace_calls":7,"mode":"blocking"},"ceiling":{"percent":55,"enabled":false,"strict":false,"gate_agent":true,"window":5}}`
	for _, c := range []struct {
		name, value string
		got         func(Config) any
		want        any
	}{
		{envZonesEnabled, "", func(c Config) any { return c.Zones.Enabled.V }, true},
		{envZonesEnabled, "true", func(c Config) any { return c.Zones.Enabled.V }, true},
		{envZonesEnabled, "TRUE", func(c Config) any { return c.Zones.Enabled.V }, false},
		{envZonesEnabled, "1", func(c Config) any { return c.Zones.Enabled.V }, false},
		{envZoneMode, "blocking", func(c Config) any { return c.Zones.Mode.V }, "blocking"},
		{envZoneMode, "Blocking", func(c Config) any { return c.Zones.Mode.V }, "advisory"}, // G36
		{envZoneMode, "${user_config.mode}", func(c Config) any { return c.Zones.Mode.V }, "advisory"},
		{envZoneGrace, "08", func(c Config) any { return c.Zones.Grace.V }, 8}, // G16
		{envZoneGrace, "0", func(c Config) any { return c.Zones.Grace.V }, 0},
		{envZoneGrace, "banana", func(c Config) any { return c.Zones.Grace.V }, 20}, // G13
		{envZoneGrace, "-1", func(c Config) any { return c.Zones.Grace.V }, 20},     // G29
		{envZoneGrace, "3.5", func(c Config) any { return c.Zones.Grace.V }, 20},
		{envZoneGrace, "1234567890", func(c Config) any { return c.Zones.Grace.V }, 20},
		{envZoneGrace, "", func(c Config) any { return c.Zones.Grace.V }, 7},
		{envCeiling, " OFF ", func(c Config) any { return c.Ceiling.Enabled.V }, false},
		{envCeiling, "0", func(c Config) any { return c.Ceiling.Enabled.V }, true},
		{envStrict, "Off", func(c Config) any { return c.Ceiling.Strict.V }, false},
		{envStrict, "no", func(c Config) any { return c.Ceiling.Strict.V }, true},
		{envGateAgent, "\tBLOCK", func(c Config) any { return c.Ceiling.GateAgent.V }, true},
		{envGateAgent, "deny", func(c Config) any { return c.Ceiling.GateAgent.V }, false},
		{envPercent, "040", func(c Config) any { return c.Ceiling.Percent.V }, 40},
		{envPercent, "200", func(c Config) any { return c.Ceiling.Percent.V }, 200},
		{envPercent, " 41", func(c Config) any { return c.Ceiling.Percent.V }, 40},
		{envPercent, "+41", func(c Config) any { return c.Ceiling.Percent.V }, 40},
		{envPercent, "0x28", func(c Config) any { return c.Ceiling.Percent.V }, 40},
		{envPercent, "٤١", func(c Config) any { return c.Ceiling.Percent.V }, 40},
		{envPercent, "0", func(c Config) any { return c.Ceiling.Percent.V }, 40},
		{envPercent, strings.Repeat("9", 5000), func(c Config) any { return c.Ceiling.Percent.V }, 40},
		{envAbsolute, "1e5", func(c Config) any { return c.Ceiling.Absolute.V }, 350_000},
		{envWindow, "400000", func(c Config) any { return c.Ceiling.Window.V }, 400_000},
		{envWindow, "big", func(c Config) any { return c.Ceiling.Window.V }, 0},
		{envKBMode, " ENFORCE", func(c Config) any { return c.KB.Mode.V }, "enforce"},
		{envKBMode, "loud", func(c Config) any { return c.KB.Mode.V }, "warn"},
	} {
		if got := c.got(load(t, file, map[string]string{c.name: c.value})); got != c.want {
			t.Errorf("%s=%.20q: %v, want %v", c.name, c.value, got, c.want)
		}
	}
}

// A cloned repository must not be able to loosen anything but its own knowledge-base gate, and that without the marker.
func TestProjectFileHoldsKBOnly(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := `{"ceiling":{"enabled":false},"zones":{"enabled":false},"kb":{"mode":"enforce","marker":"x","agent_types":["P"]}}`
	if err := os.WriteFile(ProjectPath(root), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e := env(map[string]string{"HOME": t.TempDir()})
	c := Load(e)
	kb := c.KBFor(root, e)
	if kb.Mode != (Value[string]{"enforce", FromProject}) || !reflect.DeepEqual(kb.AgentTypes, Value[[]string]{[]string{"P"}, FromProject}) {
		t.Errorf("kb of the project: %+v", kb)
	}
	if kb.Marker.V != "KB context:" || !c.Ceiling.Enabled.V || !c.Zones.Enabled.V {
		t.Errorf("the project file loosened %+v %+v %+v", kb.Marker, c.Ceiling.Enabled, c.Zones.Enabled)
	}
	if len(c.Problems) != 3 {
		t.Errorf("problems %q, want the three keys that do not belong there", c.Problems)
	}
	e = env(map[string]string{"HOME": t.TempDir(), envKBMode: "observe"})
	c = Load(e)
	if kb := c.KBFor(root, e); kb.Mode.V != "observe" {
		t.Errorf("the environment loses to the project: %+v", kb.Mode)
	}
}

func TestOff(t *testing.T) {
	for value, want := range map[string]bool{"off": true, " OFF\n": true, "": false, "0": false, "false": false, "offf": false} {
		if got := env(map[string]string{"PLIMSOLL": value}).Off(); got != want {
			t.Errorf("PLIMSOLL=%q: off %v", value, got)
		}
	}
}

func TestHome(t *testing.T) {
	for value, want := range map[string]string{"/home/u": "/home/u", "": "", ".": "", "rel/home": ""} {
		if got := env(map[string]string{"HOME": value}).Home(); got != want {
			t.Errorf("HOME=%q: %q, want %q", value, got, want)
		}
	}
}
