package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/config"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/settings"
	"plimsoll/internal/settings/edit"
)

// corpus are settings files as people have them. In every one setup and uninstall have to be the identity on bytes.
var corpus = map[string]string{
	"empty file":          "",
	"white space":         " \n\n",
	"empty object":        "{}",
	"empty object, line":  "{}\n",
	"empty object, open":  "{\n}\n",
	"empty object, space": "{ }",
	"one key":             "{\n  \"model\": \"opus\"\n}\n",
	"no final newline":    "{\n  \"model\": \"opus\"\n}",
	"two newlines":        "{\n  \"model\": \"opus\"\n}\n\n",
	"CRLF":                "{\r\n  \"model\": \"opus\",\r\n  \"env\": {\r\n    \"A\": \"1\"\r\n  }\r\n}\r\n",
	"CRLF, no final":      "{\r\n  \"model\": \"opus\"\r\n}",
	"tabs":                "{\n\t\"model\": \"opus\",\n\t\"env\": {\n\t\t\"A\": \"1\"\n\t}\n}\n",
	"four spaces":         "{\n    \"model\": \"opus\"\n}\n",
	"one line":            `{"model":"opus","env":{"A":"1"}}`,
	"one line, spaced":    `{"model": "opus", "env": {"A": "1"}}`,
	"one line, airy":      `{ "model" : "opus" }`,
	"odd indentation":     "{\n \"a\": 1,\n     \"b\": 2\n}\n",
	"key per odd line":    "{\"a\": 1,\n\"b\": 2}\n",
	"unicode":             "{\n  \"outputStyle\": \"日本語 é 😀\",\n  \"x\": \"\\u00e9\\ud83d\\ude00\"\n}\n",
	"escapes":             "{\n  \"a\\\"b\": \"\\\\ \\/ \\n < > &\"\n}\n",
	"numbers":             "{\n  \"big\": 12345678901234567890,\n  \"f\": 1.0,\n  \"e\": 1e3\n}\n",
	"null hooks' sibling": "{\n  \"permissions\": null,\n  \"model\": \"x\"\n}\n",
	"empty hooks":         "{\n  \"hooks\": {}\n}\n",
	"empty hooks, open":   "{\n  \"hooks\": {\n  }\n}\n",
	"empty event":         "{\n  \"hooks\": {\n    \"PreToolUse\": []\n  }\n}\n",
	"other event":         "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"say done\"\n          }\n        ]\n      }\n    ]\n  }\n}\n",
	"same event":          "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"guard\"\n          }\n        ]\n      }\n    ]\n  }\n}\n",
	"same event, inline":  "{\n  \"hooks\": {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"guard\"}]}]}\n}\n",
	"many hooks":          `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"a"}]},{"hooks":[{"type":"command","command":"b"}]}],"PostCompact":[{"hooks":[{"type":"http","url":"http://127.0.0.1/"}]}]}}`,
	"status line":         "{\n  \"statusLine\": {\n    \"type\": \"command\",\n    \"command\": \"my-line --flag\",\n    \"padding\": 0\n  }\n}\n",
	"status line, shim":   "{\n  \"statusLine\": {\n    \"type\": \"command\",\n    \"command\": \"bash ~/.claude/context-guard/bin/statusline-shim.sh my-line\"\n  }\n}\n",
	"status line, tee":    "{\n  \"statusLine\": {\n    \"type\": \"command\",\n    \"command\": \"bash \\\"~/.claude/plugins/cache/m/context-guard/0.1.0/scripts/statusline-tee.sh\\\" my-line\"\n  }\n}\n",
	"status line, other":  "{\n  \"statusLine\": {\n    \"type\": \"command\",\n    \"command\": \"bash ~/.claude/rate-limit-guard/bin/statusline-shim.sh my-line\"\n  }\n}\n",
	"status line, shell":  "{\n  \"statusLine\": {\n    \"type\": \"command\",\n    \"command\": \"THEME=dark my-line | tr a b\"\n  }\n}\n",
	"status line, sh -c":  "{\n  \"statusLine\": {\"type\": \"command\", \"command\": \"sh -c 'ulimit -n'\"}\n}\n",
	"status line, quotes": "{\n  \"statusLine\": {\n    \"command\": \"my-line --format 'a | b' \\\"$HOME\\\"\",\n    \"type\": \"command\"\n  }\n}\n",
	"status line, empty":  "{\n  \"statusLine\": {\n    \"type\": \"command\",\n    \"command\": \"\"\n  }\n}\n",
	"status line, string": "{\n  \"statusLine\": \"my-line\"\n}\n",
	"status line, null":   "{\n  \"statusLine\": null\n}\n",
	"permissions":         "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(git *)\",\n      \"Read\"\n    ],\n    \"deny\": []\n  },\n  \"enabledPlugins\": {\n    \"other@market\": true\n  }\n}\n",
	"deep":                `{"a":` + strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200) + "}",
	"long":                "{\n  \"x\": \"" + strings.Repeat("y", 100_000) + "\"\n}\n",
	"duplicate elsewhere": "{\n  \"env\": {\"A\": \"1\", \"A\": \"2\"},\n  \"model\": \"x\",\n  \"model\": \"y\"\n}\n",
}

// world is a home with settings, in a folder with a space and a quote in its name.
type world struct {
	t    *testing.T
	home string
	o    Options
}

func newWorld(t *testing.T, text string, exists bool) world {
	t.Helper()
	home := filepath.Join(t.TempDir(), "a b'c")
	w := world{t, home, Options{
		Scope: settings.User, Statusline: Wrap, Hook: "/opt/bin/plimsoll-hook", Tool: "/opt/bin/plimsoll", Project: filepath.Join(home, "project"),
		Env: config.Env(func(name string) (string, bool) { return map[string]string{"HOME": home}[name], name == "HOME" }),
	}}
	if exists {
		w.put(w.settings(), text)
	}
	return w
}

func (w world) settings() string { return filepath.Join(w.home, ".claude", "settings.json") }

func (w world) put(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		w.t.Fatal(err)
	}
}

func (w world) apply(p Plan, err error) Plan {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := (Applier{Home: w.home, Now: time.Now()}).Apply(p); err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w world) text(path string) string {
	w.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// tree is every file of the home with its content.
func (w world) tree() map[string]string {
	files := map[string]string{}
	_ = filepath.WalkDir(w.home, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			data, _ := os.ReadFile(path)
			files[path] = string(data)
		}
		return nil
	})
	return files
}

func TestInstallThenUninstallIsTheIdentity(t *testing.T) {
	if len(corpus) < 40 {
		t.Fatalf("%d files", len(corpus))
	}
	for name, text := range corpus {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, text, true)
			before := w.tree()
			w.o.Zones, w.o.KB, w.o.KBServer = config.Blocking, config.KBEnforce, true
			plan := w.apply(Make(w.o))
			if plan.Empty() || w.text(w.settings()) == text {
				t.Fatal("setup changed nothing")
			}
			w.check(text)
			if again, err := Make(w.o); err != nil || !again.Empty() {
				t.Errorf("a second setup would change\n%s%v", again.Diff(), err)
			}
			w.apply(Undo(w.o))
			if after := w.tree(); !reflect.DeepEqual(after, before) {
				t.Errorf("after uninstall:\n%q\nwant\n%q", after, before)
			}
			if info, _ := os.Stat(w.settings()); info.Mode().Perm() != 0o640 {
				t.Errorf("mode %v", info.Mode())
			}
		})
	}
}

// check holds what setup wrote against what was there: every line of before is there still, in its order, and the file
// is valid and has what it should.
func (w world) check(before string) {
	w.t.Helper()
	after := w.text(w.settings())
	root, err := rawjson.Parse([]byte(after))
	if err != nil {
		w.t.Fatalf("setup wrote invalid JSON: %v\n%s", err, after)
	}
	if strings.Contains(before, "\r\n") && strings.Count(after, "\n") != strings.Count(after, "\r\n") {
		w.t.Errorf("line ends are mixed:\n%q", after)
	}
	for _, event := range []string{"PreToolUse", "PostToolUse", "PostToolBatch", "UserPromptSubmit", "SubagentStart", "PostCompact", "SessionStart"} {
		n := 0
		for g := range root.Get("hooks").Get(event).Elements() {
			ours, _ := ourHandlers(g)
			n += ours
		}
		want := 1
		if event == "PostToolUse" {
			want = 2
		}
		if n != want {
			w.t.Errorf("%d handlers for %s, want %d\n%s", n, event, want, after)
		}
	}
	line := root.Get("statusLine")
	if command := line.Get("command").TextOr(line.TextOr("")); !strings.HasPrefix(command, "/opt/bin/plimsoll-hook statusline") {
		w.t.Errorf("status line %s", line)
	}
}

func TestMissingFile(t *testing.T) {
	w := newWorld(t, "", false)
	plan := w.apply(Make(w.o))
	w.check("")
	if !strings.Contains(plan.Diff(), "--- "+os.DevNull) {
		t.Errorf("the diff does not show a new file:\n%s", plan.Diff())
	}
	if info, _ := os.Stat(w.settings()); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	w.apply(Undo(w.o))
	if left := w.tree(); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

// With the record gone, or the file edited since, only what is ours goes; the rest is what it was, as values.
func TestUninstallWithoutAWayBack(t *testing.T) {
	for name, text := range corpus {
		if strings.Contains(text, "statusline-shim.sh my-line") && strings.Contains(text, "context-guard") || strings.Contains(name, "tee") {
			continue // setup replaced the predecessor's wrapper, which uninstall cannot know any more
		}
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, text, true)
			w.apply(Make(w.o))
			edited, err := edit.Set([]byte(w.text(w.settings())), "since", "added")
			if err != nil {
				t.Fatal(err)
			}
			w.put(w.settings(), string(edited))
			plan := w.apply(Undo(w.o))
			if len(plan.Notes) == 0 {
				t.Error("uninstall does not say what it left")
			}
			var got, want map[string]any
			if err := json.Unmarshal([]byte(w.text(w.settings())), &got); err != nil {
				t.Fatal(err)
			}
			if got["added"] != "since" {
				t.Error("the edit since setup is gone")
			}
			delete(got, "added")
			if len(bytes.TrimSpace([]byte(text))) > 0 {
				if err := json.Unmarshal([]byte(text), &want); err != nil {
					t.Fatal(err)
				}
			}
			for _, m := range []map[string]any{got, want} {
				// Empty containers, and a line that shows nothing, are as good as none.
				if hooks, ok := m["hooks"].(map[string]any); ok {
					for event, list := range hooks {
						if l, ok := list.([]any); ok && len(l) == 0 {
							delete(hooks, event)
						}
					}
					if len(hooks) == 0 {
						delete(m, "hooks")
					}
				}
				if line, ok := m["statusLine"].(map[string]any); ok && line["command"] == "" || m["statusLine"] == nil {
					delete(m, "statusLine")
				}
			}
			if len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
				t.Errorf("left\n%v, want\n%v", got, want)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"comment":            {"{\n  // mine\n  \"a\": 1\n}\n", "line 2, column 3: a comment or a trailing comma"},
		"trailing comma":     {"{\n  \"a\": 1,\n}\n", "line 3, column 1: a comment or a trailing comma"},
		"BOM":                {"\xef\xbb\xbf{}\n", "line 1, column 1: a byte order mark"},
		"invalid":            {"{\n  \"a\" 1\n}\n", "line 2, column 7: invalid JSON"},
		"truncated":          {"{\"a\": ", "line 1, column 7: invalid JSON"},
		"array":              {"[]", "line 1, column 1: the root is no object"},
		"hooks a list":       {"{\n  \"hooks\": []\n}", "line 2, column 12: hooks is no object"},
		"hooks null":         {"{\"hooks\": null}", "hooks is no object"},
		"event an object":    {"{\n  \"hooks\": {\n    \"Stop\": {}\n  }\n}", "line 3, column 13: hooks.Stop is no list"},
		"two hooks":          {"{\"hooks\": {},\n\"hooks\": {}}", `line 2, column 1: a second key "hooks"`},
		"two status lines":   {"{\"statusLine\": null,\n \"statusLine\": null}", `line 2, column 2: a second key "statusLine"`},
		"two events":         {"{\"hooks\": {\"Stop\": [], \"Stop\": []}}", `a second key "Stop"`},
		"line a number":      {"{\"statusLine\": 5}", "line 1, column 16: statusLine has no command"},
		"command a number":   {"{\"statusLine\": {\"command\": 5}}", "statusLine has no command"},
		"line unbalanced":    {"{\"statusLine\": {\"command\": \"a 'b\"}}", "read status line command"},
		"two documents":      {"{} {}", "line 1, column 4: invalid JSON"},
		"invalid UTF-8":      {"{\"a\": \"\xff\"}", "invalid UTF-8"},
		"too deep":           {strings.Repeat(`{"a":`, 1001) + "1" + strings.Repeat("}", 1001), "nested too deeply"},
		"a fourth-key comma": {"{\"a\": [1,]}", "line 1, column 10: a comment or a trailing comma"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.text, true)
			_, err := Make(w.o)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), w.settings()) {
				t.Errorf("got %v, want %q and the file's name", err, c.want)
			}
			if w.text(w.settings()) != c.text {
				t.Error("the file was touched")
			}
		})
	}
}

func TestReadOnlyFileIsRefused(t *testing.T) {
	w := newWorld(t, "{}", true)
	if err := os.Chmod(w.settings(), 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := Make(w.o); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("got %v", err)
	}
}

func TestSymlinkIsEditedAtItsTarget(t *testing.T) {
	w := newWorld(t, "", false)
	target := filepath.Join(w.home, "dotfiles", "claude.json")
	w.put(target, "{\n  \"model\": \"x\"\n}\n")
	if err := os.MkdirAll(filepath.Dir(w.settings()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, w.settings()); err != nil {
		t.Fatal(err)
	}
	w.apply(Make(w.o))
	if info, err := os.Lstat(w.settings()); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
	if !strings.Contains(w.text(target), "plimsoll-hook") {
		t.Error("the target was not edited")
	}
	w.apply(Undo(w.o))
	if got := w.text(target); got != "{\n  \"model\": \"x\"\n}\n" {
		t.Errorf("the target is now %q", got)
	}
	if err := os.Remove(target); err != nil {
		t.Fatal(err)
	}
	if _, err := Make(w.o); err == nil {
		t.Error("a link to nothing was followed")
	}
}

func TestChangedMeanwhile(t *testing.T) {
	w := newWorld(t, "{}", true)
	plan, err := Make(w.o)
	if err != nil {
		t.Fatal(err)
	}
	w.put(w.settings(), `{"model":"new"}`)
	if _, err := (Applier{Home: w.home, Now: time.Now()}).Apply(plan); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v", err)
	}
	if got := w.text(w.settings()); got != `{"model":"new"}` {
		t.Errorf("the file is now %q", got)
	}
}

func TestPluginMeansNoHooks(t *testing.T) {
	w := newWorld(t, `{"enabledPlugins":{"plimsoll@plimsoll":true}}`, true)
	plan := w.apply(Make(w.o))
	text := w.text(w.settings())
	if strings.Contains(text, `"hooks"`) || !strings.Contains(text, "statusLine") {
		t.Errorf("wrote %s", text)
	}
	if !strings.Contains(strings.Join(plan.Notes, "\n"), "plimsoll@plimsoll is enabled") {
		t.Errorf("notes %q", plan.Notes)
	}
}

// A local false wins over the user's true, so the plugin's hooks do not run and setup's have to.
func TestPluginSwitchedOffInTheProjectMeansHooks(t *testing.T) {
	w := newWorld(t, `{"enabledPlugins":{"plimsoll@plimsoll":true}}`, true)
	local := filepath.Join(w.o.Project, ".claude", "settings.local.json")
	if err := os.MkdirAll(filepath.Dir(local), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(local, []byte(`{"enabledPlugins":{"plimsoll@plimsoll":false}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	w.apply(Make(w.o))
	if text := w.text(w.settings()); !strings.Contains(text, `"hooks"`) {
		t.Errorf("wrote %s", text)
	}
}

func TestOurHandlersAreFoundWhereverInstalled(t *testing.T) {
	for text, want := range map[string]bool{
		`{"type":"command","command":"/a/plimsoll-hook"}`:                   true,
		`{"type":"command","command":"/a/plimsoll-hook","args":["hook"]}`:   true,
		`{"type":"command","command":"'/a b/plimsoll-hook'"}`:               true,
		`{"type":"command","command":"C:\\p\\plimsoll-hook.exe","args":[]}`: true,
		`{"type":"command","command":"plimsoll hook"}`:                      true,
		`{"type":"command","command":"plimsoll","args":["hook"]}`:           true,
		`{"type":"command","command":"plimsoll","args":["doctor"]}`:         false,
		`{"type":"command","command":"plimsoll-hook statusline"}`:           false,
		`{"type":"command","command":"guard plimsoll-hook"}`:                false,
		`{"type":"command","command":"plimsoll-hook || true"}`:              false,
		`{"type":"http","url":"plimsoll-hook"}`:                             false,
		`{"type":"command"}`:                                                false,
	} {
		v, err := rawjson.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := isOurs(v); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestMixedEntriesKeepTheOthersHandler(t *testing.T) {
	text := `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"guard"},{"type":"command","command":"/old/plimsoll-hook"}]}]}}`
	out, err := unwireHooks([]byte(text))
	want := `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"guard"}]}]}}`
	if err != nil || string(out) != want {
		t.Errorf("%s, %v", out, err)
	}
}

func TestAMovedBinaryIsRewired(t *testing.T) {
	w := newWorld(t, corpus["same event"], true)
	w.apply(Make(w.o))
	w.o.Hook = "/usr/local/my apps/plimsoll-hook"
	w.apply(Make(w.o))
	text := w.text(w.settings())
	if strings.Contains(text, "/opt/bin") || strings.Count(text, `'/usr/local/my apps/plimsoll-hook'`) != 9 {
		t.Errorf("after the move:\n%s", text)
	}
	if strings.Contains(text, `"args"`) {
		t.Error("a path that needs a shell is given to none")
	}
	w.apply(Undo(w.o))
	if got := w.text(w.settings()); got != corpus["same event"] {
		t.Errorf("after uninstall:\n%s", got)
	}
}

func TestZonesAreSeeded(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"valid stays": {`{"smart_max_used_percentage": 30, "acceptable_max_used_percentage": 60, "token_bands": {"200000": {"smart_max_tokens": 1, "acceptable_max_tokens": 2}}}`, ""},
		"percent alone": {"{\n  \"smart_max_used_percentage\": 30,\n  \"acceptable_max_used_percentage\": 60\n}\n",
			"{\n  \"smart_max_used_percentage\": 30,\n  \"acceptable_max_used_percentage\": 60,\n  \"token_bands\": {\n    \"1000000\": {\n      \"smart_max_tokens\": 200000,\n      \"acceptable_max_tokens\": 400000\n    },\n    \"200000\": {\n      \"smart_max_tokens\": 100000,\n      \"acceptable_max_tokens\": 160000\n    }\n  }\n}\n"},
		"inverted": {`{"smart_max_used_percentage":80,"acceptable_max_used_percentage":60,"token_bands":false,"mine":1}`,
			`{"smart_max_used_percentage":50,"acceptable_max_used_percentage":75,"token_bands":false,"mine":1}`},
	} {
		got, err := seedZones([]byte(c.before))
		want := c.after
		if want == "" {
			want = c.before
		}
		if err != nil || string(got) != want {
			t.Errorf("%s:\n%s\nwant\n%s\n%v", name, got, want, err)
		}
	}
	if _, err := seedZones([]byte("{")); err == nil {
		t.Error("seeded into invalid JSON")
	}
}

func TestForeignServerIsRefused(t *testing.T) {
	w := newWorld(t, "{}", true)
	w.o.KBServer = true
	w.put(filepath.Join(w.home, ".claude.json"), `{"mcpServers":{"plimsoll":{"command":"other"}}}`)
	if _, err := Make(w.o); err == nil || !strings.Contains(err.Error(), "not Plimsoll's") {
		t.Errorf("got %v", err)
	}
}

// The process ends at every stage of a setup and of an uninstall: each file is whole, old or new, and running the
// uninstall again leads back.
func TestInterruptedAnywhere(t *testing.T) {
	type crash struct{}
	text := corpus["status line"]
	for _, undo := range []bool{false, true} {
		for stop := 1; ; stop++ {
			w := newWorld(t, text, true)
			after := w.settings()
			plan, err := Make(w.o)
			if undo {
				w.apply(plan, err)
				plan, err = Undo(w.o)
			}
			if err != nil {
				t.Fatal(err)
			}
			before, want := w.text(w.settings()), ""
			for _, c := range plan.Changes {
				if c.Path == after {
					want = string(c.After)
				}
			}
			stages := 0
			crashed := func() (crashed bool) {
				defer func() {
					if r := recover(); r != nil {
						if _, ok := r.(crash); !ok {
							panic(r)
						}
						crashed = true
					}
				}()
				_, err := Applier{Home: w.home, Now: time.Now(), Step: func(string) error {
					if stages++; stages == stop {
						panic(crash{})
					}
					return nil
				}}.Apply(plan)
				if err != nil {
					t.Fatal(err)
				}
				return false
			}()
			if got := w.text(w.settings()); got != before && got != want {
				t.Fatalf("undo %v, stage %d: the file is neither old nor new:\n%s", undo, stop, got)
			}
			w.apply(Undo(w.o))
			if got := w.text(w.settings()); got != text {
				t.Fatalf("undo %v, stage %d: uninstall gives\n%s", undo, stop, got)
			}
			if !crashed {
				if stop < 8 {
					t.Fatalf("only %d stages", stop-1)
				}
				break
			}
		}
	}
}

func FuzzInstallUninstall(f *testing.F) {
	for _, text := range corpus {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4000 {
			return
		}
		out, err := wireHooks(data, "/opt/bin/plimsoll-hook", config.Default().KB)
		if err != nil {
			return
		}
		out, _, err = wireStatusline(out, "/opt/bin/plimsoll-hook", Wrap)
		if err != nil {
			return
		}
		if _, err := edit.Parse(out); err != nil {
			t.Fatalf("%q became %q: %v", data, out, err)
		}
		again, err := wireHooks(out, "/opt/bin/plimsoll-hook", config.Default().KB)
		if err != nil || !bytes.Equal(again, out) {
			t.Fatalf("%q: a second setup changes %q to %q, %v", data, out, again, err)
		}
		w := newWorld(t, string(data), true)
		before := w.tree()
		w.apply(Make(w.o))
		w.apply(Undo(w.o))
		if after := w.tree(); !reflect.DeepEqual(after, before) {
			t.Fatalf("%q became %q", before, after)
		}
	})
}

func ExamplePlan_Diff() {
	p := Plan{Changes: []Change{{Path: "settings.json", Before: []byte("{}\n"), After: []byte("{\n}\n")}}}
	fmt.Print(p.Diff())
	// Output:
	// --- settings.json
	// +++ settings.json
	// @@ -1 +1,2 @@
	// -{}
	// +{
	// +}
}
