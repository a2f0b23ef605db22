package config

import (
	"path/filepath"
	"testing"
)

// Private state stands in the plugin's data folder or below the home, and never relative to the working directory (B6).
func TestStateDir(t *testing.T) {
	home, data := t.TempDir(), t.TempDir()
	below := filepath.Join(home, ".claude", "context-guard", "state")
	for _, c := range []struct{ home, data, want string }{
		{home, "", below},
		{home, data, filepath.Join(data, "state")},
		{"", data, filepath.Join(data, "state")},
		{home, "data", below},
		{home, "${CLAUDE_PLUGIN_DATA}", below},
		{"", "data", ""},
		{"home", "", ""},
		{"", "", ""},
	} {
		env := Env(func(name string) (string, bool) {
			v := map[string]string{"HOME": c.home, "CLAUDE_PLUGIN_DATA": c.data}[name]
			return v, v != ""
		})
		if got := env.StateDir(); got != c.want {
			t.Errorf("HOME=%q CLAUDE_PLUGIN_DATA=%q: %q, want %q", c.home, c.data, got, c.want)
		}
	}
}
