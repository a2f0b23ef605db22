package settings

import (
	"reflect"
	"testing"

	"plimsoll/internal/config"
	"plimsoll/internal/rawjson"
)

func file(t *testing.T, scope Scope, text string) File {
	t.Helper()
	v, err := rawjson.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return File{Scope: scope, Path: string(scope) + ".json", Root: v}
}

func TestEnvironment(t *testing.T) {
	shell := config.Env(func(name string) (string, bool) {
		v, ok := map[string]string{"A": "shell", "B": "shell", "S": "shell"}[name]
		return v, ok
	})
	env, from := Environment(shell, []File{
		file(t, Local, `{"env":{"A":"local","N":400000,"X":null}}`),
		file(t, User, `{"env":{"A":"user","B":"user","D":"1","D":"2"}}`),
		{Scope: Project, Path: "broken.json"},
	})
	for name, want := range map[string][2]string{
		"A": {"local", "local.json"}, "B": {"user", "user.json"}, "N": {"400000", "local.json"}, "D": {"2", "user.json"},
		"S": {"shell", ""}, "X": {"", ""}, "none": {"", ""},
	} {
		if got := env.Get(name); got != want[0] || from(name).Path != want[1] {
			t.Errorf("%s is %q from %q, want %q", name, got, from(name).Path, want)
		}
	}
	if _, ok := env("X"); ok {
		t.Error("null sets a variable")
	}
}

func TestEnabledPlugin(t *testing.T) {
	on, off := `{"enabledPlugins":{"plimsoll@m":true}}`, `{"enabledPlugins":{"plimsoll@m":false}}`
	for _, c := range []struct {
		name  string
		files []File
		want  string
	}{
		{"none", []File{file(t, User, `{"enabledPlugins":{"other@m":true,"not-plimsoll@m":true}}`)}, ""},
		{"user", []File{file(t, User, on)}, "plimsoll@m"},
		{"switched off above", []File{file(t, Local, off), file(t, User, on)}, ""},
		{"switched on above", []File{file(t, Local, on), file(t, User, off)}, "plimsoll@m"},
		{"no boolean", []File{file(t, User, `{"enabledPlugins":{"plimsoll@m":"true"}}`)}, ""},
		{"of duplicates the last", []File{file(t, User, `{"enabledPlugins":{"plimsoll@m":true,"plimsoll@m":false}}`)}, ""},
		{"two marketplaces", []File{file(t, Local, off), file(t, User, `{"enabledPlugins":{"plimsoll@m":true,"plimsoll@n":true}}`)}, "plimsoll@n"},
	} {
		if got, _ := EnabledPlugin(c.files); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPluginOptions(t *testing.T) {
	got := PluginOptions([]File{
		file(t, Local, `{"pluginConfigs":{"plimsoll@m":{"options":{"zone_hook_mode":"blocking"}}}}`),
		file(t, User, `{"pluginConfigs":{"plimsoll@m":{"options":{"zone_hook_mode":"advisory","zone_gate_grace_calls":7,"on":true,"list":[]}},"x@m":{"options":{"y":"z"}}}}`),
	}, "plimsoll@m")
	want := map[string]string{"CLAUDE_PLUGIN_OPTION_ZONE_HOOK_MODE": "blocking", "CLAUDE_PLUGIN_OPTION_ZONE_GATE_GRACE_CALLS": "7", "CLAUDE_PLUGIN_OPTION_ON": "true"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
