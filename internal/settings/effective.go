package settings

import (
	"strings"

	"plimsoll/internal/config"
	"plimsoll/internal/rawjson"
)

// Environment is the environment that the client gives its hooks and status line: its own, with what the settings
// files set under "env" in place of it. from tells which file set a variable; its Path is "" when none did.
func Environment(env config.Env, files []File) (overlaid config.Env, from func(name string) File) {
	set := map[string]string{}
	by := map[string]File{}
	for _, f := range files { // those that win come first
		for name, v := range f.Root.Get("env").Members() {
			if _, ok := by[name]; ok && by[name].Path != f.Path {
				continue
			}
			if text, ok := scalar(v); ok {
				set[name], by[name] = text, f
			}
		}
	}
	return func(name string) (string, bool) {
		if v, ok := set[name]; ok {
			return v, true
		}
		return env(name)
	}, func(name string) File { return by[name] }
}

// scalar is how a value of a settings file reads in an environment.
func scalar(v rawjson.Value) (string, bool) {
	switch v.Kind() {
	case rawjson.String:
		return v.Text()
	case rawjson.Number, rawjson.True, rawjson.False:
		return string(v), true
	}
	return "", false
}

// PluginPrefix begins the name of our plugin, whatever the marketplace that it comes from is called.
const PluginPrefix = "plimsoll@"

// EnabledPlugin returns the name under which our plugin is enabled and the file that enables it. The settings merge
// key by key: a local false switches off what the user's file switches on.
func EnabledPlugin(files []File) (name string, by File) {
	seen := map[string]bool{}
	for _, f := range files {
		for key := range f.Root.Get("enabledPlugins").Members() {
			if !strings.HasPrefix(key, PluginPrefix) || seen[key] {
				continue
			}
			seen[key] = true
			if name == "" && f.Root.Get("enabledPlugins").Get(key).Kind() == rawjson.True {
				name, by = key, f
			}
		}
	}
	return name, by
}

// PluginOptions are the options that the operator gave a plugin, under the names by which its hooks see them.
func PluginOptions(files []File, plugin string) map[string]string {
	options := map[string]string{}
	for _, f := range files {
		for key, v := range f.Root.Get("pluginConfigs").Get(plugin).Get("options").Members() {
			name := "CLAUDE_PLUGIN_OPTION_" + strings.ToUpper(key)
			if _, ok := options[name]; ok {
				continue
			}
			if text, ok := scalar(v); ok {
				options[name] = text
			}
		}
	}
	return options
}
