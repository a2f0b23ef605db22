package client

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestReadPins(t *testing.T) {
	pins, err := ReadPins(strings.NewReader("# comment\n\n2.1.131 before the floor\n2.1.132\n2.1.332 newest\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := (Pins{{"2.1.131", "before the floor"}, {"2.1.132", ""}, {"2.1.332", "newest"}}); !slices.Equal(pins, want) {
		t.Errorf("pins %v, want %v", pins, want)
	}
	for _, bad := range []string{"", "# nothing\n", "latest\n", "2.1\n"} {
		if pins, err := ReadPins(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was read as %v", bad, pins)
		}
	}
}

// The file that the tests run with is one that can be read, in order and with the floor in it.
func TestPinnedVersions(t *testing.T) {
	f, err := os.Open("../versions")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	pins, err := ReadPins(f)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(pins, func(p Pin) bool { return p.Version == Floor }) {
		t.Errorf("the floor %s is not pinned", Floor)
	}
	for _, p := range pins {
		if p.Why == "" {
			t.Errorf("%s is pinned for no reason", p.Version)
		}
	}
}

func TestSelect(t *testing.T) {
	pins := Pins{{"2.1.131", ""}, {Floor, ""}, {"2.1.332", ""}}
	for _, c := range []struct{ choice, want string }{
		{"", Floor + " 2.1.332"},
		{"matrix", "2.1.131 " + Floor + " 2.1.332"},
		{"newest", "2.1.332"},
		{"floor, 2.1.200", Floor + " 2.1.200"},
		{"2.1.332,newest", "2.1.332"},
	} {
		got, err := pins.Select(c.choice)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("Select(%q) = %v, %v, want %s", c.choice, got, err, c.want)
		}
	}
	if got, err := pins.Select("latest"); err == nil {
		t.Errorf("Select(latest) = %v", got)
	}
}

func newHome(t *testing.T) Home {
	t.Helper()
	h, err := NewHome(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestEnvironmentIsMadeFromNothing(t *testing.T) {
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "somebody's")
	t.Setenv("CLAUDE_CONFIG_DIR", "/somewhere/else")
	h := newHome(t)
	env := h.Environ("http://127.0.0.1:1")
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if name == "ANTHROPIC_AUTH_TOKEN" || name == "CLAUDE_CONFIG_DIR" {
			t.Errorf("%s leaked in", name)
		}
		if (name == "HOME" || name == "TMPDIR") && !strings.HasPrefix(value, h.Root) {
			t.Errorf("%s is elsewhere", entry)
		}
	}
	if !slices.Contains(env, "ANTHROPIC_BASE_URL=http://127.0.0.1:1") {
		t.Error("no base URL")
	}
}

func TestSettings(t *testing.T) {
	h := newHome(t)
	line := Shell("/opt/it's/hook", "a b")
	s := Settings{StatusLine: &line}
	s.On("PreToolUse", "Write|Edit", Shell("hook"))
	s.On("PreToolUse", "", Shell("other"))
	if err := h.WriteSettings(s); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(h.Claude(), "settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{
		"statusLine": {"type": "command", "command": "'/opt/it'\\''s/hook' 'a b'"},
		"hooks": {"PreToolUse": [
			{"matcher": "Write|Edit", "hooks": [{"type": "command", "command": "'hook'"}]},
			{"hooks": [{"type": "command", "command": "'other'"}]}
		]}
	}`), &want); err != nil {
		t.Fatal(err)
	}
	gotJSON, _ := json.Marshal(got)
	wantJSON, _ := json.Marshal(want)
	if string(gotJSON) != string(wantJSON) {
		t.Errorf("settings %s, want %s", gotJSON, wantJSON)
	}
}

// What is in the cache is used as it is; npm is not asked.
func TestInstallFromTheCache(t *testing.T) {
	t.Setenv("PATH", "")
	cache := t.TempDir()
	path := filepath.Join(cache, "2.1.1", "node_modules", ".bin", "claude")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	c, err := Install(context.Background(), cache, "2.1.1")
	if err != nil || c != (Client{"2.1.1", path}) {
		t.Errorf("installed %v, %v", c, err)
	}
	if _, err := Install(context.Background(), cache, "2.1.2"); err == nil || !strings.Contains(err.Error(), "install client 2.1.2: npm install") {
		t.Errorf("without npm: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(cache, "2.1.2*"))
	if err != nil || len(left) > 0 {
		t.Errorf("a failed installation left %v, %v", left, err)
	}
}
