package settings

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"plimsoll/internal/config"
	"plimsoll/internal/rawjson"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLoadOrder(t *testing.T) {
	home, project, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	env := config.Env(func(name string) (string, bool) { return home, name == "HOME" })
	put(t, filepath.Join(home, ".claude", "settings.json"), `{"a":"user","b":"user","c":"user"}`)
	put(t, filepath.Join(project, ".claude", "settings.json"), `{"a":"project","b":"project"}`)
	put(t, filepath.Join(project, ".claude", "settings.local.json"), `{"a":"local"}`)
	files := Load(env, project)
	for key, want := range map[string]string{"a": "local", "b": "project", "c": "user", "d": ""} {
		v, f := Lookup(files, key)
		if got := v.TextOr(""); got != want || string(f.Scope) != want {
			t.Errorf("%s is %q from %q, want %q", key, got, f.Scope, want)
		}
	}
	moved := config.Env(func(name string) (string, bool) {
		v, ok := map[string]string{"HOME": home, "CLAUDE_CONFIG_DIR": elsewhere}[name]
		return v, ok
	})
	put(t, filepath.Join(elsewhere, "settings.json"), `{"c":"moved"}`)
	if v, _ := Lookup(Load(moved, ""), "c"); v.TextOr("") != "moved" {
		t.Errorf("CLAUDE_CONFIG_DIR is not followed: %s", v)
	}
}

func TestManagedPaths(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"managed-settings.json", "managed-settings.d/10-a.json", "managed-settings.d/20-b.json", "managed-settings.d/.hidden.json", "managed-settings.d/x.txt"} {
		put(t, filepath.Join(dir, name), "{}")
	}
	var got []string
	for _, p := range managedPaths(dir) {
		rel, _ := filepath.Rel(dir, p)
		got = append(got, filepath.ToSlash(rel))
	}
	want := []string{"managed-settings.d/20-b.json", "managed-settings.d/10-a.json", "managed-settings.json"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v: of two drop-ins the later name wins", got, want)
	}
}

func TestLoadKeepsWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"comma": `{"a":1,}`, "array": "[]", "empty": ""} {
		path := filepath.Join(dir, name)
		put(t, path, text)
		if f := load(User, path); f.Err == nil || f.Root != nil {
			t.Errorf("%s: %v, %s", name, f.Err, f.Root)
		}
	}
	if f := load(User, filepath.Join(dir, "none")); f.Err != nil || f.Root != nil {
		t.Errorf("a missing file: %v", f.Err)
	}
}

func TestInstrument(t *testing.T) {
	line := `"statusLine":{"type":"command","command":"x"}`
	object := func(scope Scope, members string) File {
		v, err := rawjson.Parse([]byte("{" + members + "}"))
		if err != nil {
			t.Fatal(err)
		}
		return File{Scope: scope, Path: string(scope) + ".json", Root: v}
	}
	for _, c := range []struct {
		name    string
		files   []File
		env     map[string]string
		present bool
		why     string
	}{
		{"none", []File{object(User, "")}, nil, false, "no statusLine is configured"},
		{"null", []File{object(User, `"statusLine":null`)}, nil, false, "no statusLine is configured"},
		{"broken file", []File{{Scope: Local, Path: "local.json", Err: errors.New("no JSON")}, object(User, "")}, nil, false, "any settings file that can be read"},
		{"user", []File{object(User, line)}, nil, true, "statusLine in user.json"},
		{"project", []File{object(Project, line), object(User, line)}, nil, true, "statusLine in project.json"},
		{"hooks off", []File{object(Local, `"disableAllHooks":true`), object(User, line)}, nil, false, "disableAllHooks in local.json"},
		{"hooks on above", []File{object(Local, `"disableAllHooks":false`), object(User, `"disableAllHooks":true,`+line)}, nil, true, "user.json"},
		{"narrowed", []File{object(Managed, `"allowManagedHooksOnly":true`), object(User, line)}, nil, false, "allowManagedHooksOnly"},
		{"narrowed to managed", []File{object(Managed, `"allowManagedHooksOnly":true,`+line), object(User, line)}, nil, true, "managed.json"},
		{"narrowed by nobody", []File{object(Project, `"allowManagedHooksOnly":true`), object(User, line)}, nil, true, "user.json"},
		{"cloud", []File{object(User, line)}, map[string]string{"CLAUDE_CODE_REMOTE": "true"}, false, "cloud session"},
		{"headless", []File{object(User, line)}, map[string]string{"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}, false, "sdk-cli"},
		{"terminal", []File{object(User, line)}, map[string]string{"CLAUDE_CODE_ENTRYPOINT": "cli"}, true, "user.json"},
	} {
		home := t.TempDir()
		env := config.Env(func(name string) (string, bool) {
			if name == "HOME" {
				return home, true
			}
			v, ok := c.env[name]
			return v, ok
		})
		got := InstrumentIn(env, t.TempDir(), c.files)
		if got.Present != c.present || !strings.Contains(got.Why, c.why) || strings.HasPrefix(got.Why, NoInstrument) == c.present {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestTrust(t *testing.T) {
	home := t.TempDir()
	env := config.Env(func(name string) (string, bool) { return home, name == "HOME" })
	for record, want := range map[string]bool{
		``:   true, // nothing is known
		`{}`: true,
		`{"projects":{"/a/b":{"hasTrustDialogAccepted":true}}}`:                                                 true,
		`{"projects":{"/a/b":{"hasTrustDialogAccepted":false}}}`:                                                false,
		`{"projects":{"/a/b":{"hasTrustDialogAccepted":false},"/a":{"hasTrustDialogAccepted":true}}}`:           true,
		`{"projects":{"/a/bc":{"hasTrustDialogAccepted":false},"/x":{"hasTrustDialogAccepted":false},"/b":{}}}`: true,
	} {
		put(t, filepath.Join(home, ".claude.json"), record)
		if got := Trusted(env, "/a/b"); got != want {
			t.Errorf("%s: trusted %v", record, got)
		}
	}
}
