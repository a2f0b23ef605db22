package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/config"
	"plimsoll/internal/harness"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/registration"
	"plimsoll/internal/settings"
)

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// world is a machine on which everything is as it should be; a case spoils something.
type world struct {
	t             *testing.T
	home, project string
	env           map[string]string
	texts         map[settings.Scope]string
	session       string
	hookErr       error
	outcome       func(Command) Outcome
	ran           []Command
}

const sid = "abc-1"

func newWorld(t *testing.T) *world {
	w := &world{t: t, home: t.TempDir(), project: t.TempDir(), texts: map[settings.Scope]string{}}
	w.env = map[string]string{"HOME": w.home, "CLAUDE_CODE_SESSION_ID": sid, "CLAUDE_CODE_ENTRYPOINT": "cli"}
	w.texts[settings.User] = `{` + hooks() + `,` + line(ours) + `}`
	w.outcome = func(Command) Outcome { return Outcome{} }
	w.put(".claude/context-guard/context/"+sid+".json", snapshotText(sid, now.Add(-time.Minute), 200_000))
	return w
}

const ours = "/opt/plimsoll-hook statusline my-line"

func line(command string) string {
	return fmt.Sprintf(`"statusLine":{"type":"command","command":%q}`, command)
}

func snapshotText(id string, at time.Time, window int) string {
	return fmt.Sprintf(`{"captured_at":%q,"session_id":%q,"cli_version":"2.1.332","context_window":{"total_input_tokens":15000,"total_output_tokens":76,`+
		`"context_window_size":%d,"current_usage":{"input_tokens":4},"used_percentage":8}}`, at.Format("2006-01-02T15:04:05Z"), id, window)
}

const hookCommand = `"command":"/opt/plimsoll-hook","args":["hook"]`

// hooks is the "hooks" member of a settings file with everything registered.
func hooks() string { return hooksFor(config.Default().KB, hookCommand) }

func hooksFor(kb config.KB, command string) string {
	byEvent := map[string][]string{}
	var events []string
	for _, e := range registration.Table(kb) {
		if byEvent[e.Event] == nil {
			events = append(events, e.Event)
		}
		conditions := e.If
		if len(conditions) == 0 {
			conditions = []string{""}
		}
		var handlers []string
		for _, c := range conditions {
			handlers = append(handlers, fmt.Sprintf(`{"type":"command",%s,"if":%q}`, command, c))
		}
		byEvent[e.Event] = append(byEvent[e.Event], fmt.Sprintf(`{"matcher":%q,"hooks":[%s]}`, e.Matcher, strings.Join(handlers, ",")))
	}
	var members []string
	for _, event := range events {
		members = append(members, fmt.Sprintf(`%q:[%s]`, event, strings.Join(byEvent[event], ",")))
	}
	return `"hooks":{` + strings.Join(members, ",") + `}`
}

func (w *world) put(path, text string) {
	w.t.Helper()
	path = filepath.Join(w.home, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(path string) {
	w.t.Helper()
	if err := os.RemoveAll(filepath.Join(w.home, path)); err != nil {
		w.t.Fatal(err)
	}
}

// user replaces a part of the user's settings.
func (w *world) user(old, text string) {
	w.t.Helper()
	before := w.texts[settings.User]
	after := strings.Replace(before, old, text, 1)
	if before == after {
		w.t.Fatalf("the settings hold no %q", old)
	}
	w.texts[settings.User] = after
}

// heard makes an event heard some time ago.
func (w *world) heard(event string, ago time.Duration) {
	w.t.Helper()
	w.put(".claude/plimsoll/heard/"+event, "")
	at := now.Add(-ago)
	if err := os.Chtimes(config.PathsIn(w.home).Heard(event), at, at); err != nil {
		w.t.Fatal(err)
	}
}

// enable enables the plugin, installed with these hooks.
func (w *world) enable(hooks string) {
	w.put("plugin/hooks/hooks.json", "{"+hooks+"}")
	w.put(".claude/plugins/installed_plugins.json", fmt.Sprintf(`{"version":2,"plugins":{"plimsoll@m":[{"scope":"user","installPath":%q}]}}`, filepath.Join(w.home, "plugin")))
	w.texts[settings.User] = `{"enabledPlugins":{"plimsoll@m":true},` + w.texts[settings.User][1:]
}

func (w *world) examine() Report {
	w.t.Helper()
	env := config.Env(func(name string) (string, bool) { v, ok := w.env[name]; return v, ok })
	in := Input{Env: env, Project: w.project, Session: w.session, Now: now, Hook: "/opt/plimsoll-hook", HookErr: w.hookErr}
	for _, scope := range []settings.Scope{settings.Managed, settings.Local, settings.Project, settings.User} {
		f := settings.File{Scope: scope, Path: "/" + string(scope) + ".json"}
		if text := w.texts[scope]; text != "" {
			if f.Root, f.Err = rawjson.Parse([]byte(text)); f.Err != nil {
				f.Root = nil
			}
		}
		in.Files = append(in.Files, f)
	}
	for name, v := range w.env {
		in.Environ = append(in.Environ, name+"="+v)
	}
	in.Run = func(c Command) Outcome {
		w.ran = append(w.ran, c)
		return w.outcome(c)
	}
	return Examine(in)
}

// isStatusline tells which of the two kinds of command is run.
func isStatusline(c Command) bool { return strings.Contains(c.Line, "statusline") }

func on(statusline bool, o Outcome) func(*world) {
	return func(w *world) {
		w.outcome = func(c Command) Outcome {
			if isStatusline(c) == statusline {
				return o
			}
			return Outcome{}
		}
	}
}

func setEnv(pairs ...string) func(*world) {
	return func(w *world) {
		for i := 0; i < len(pairs); i += 2 {
			w.env[pairs[i]] = pairs[i+1]
		}
	}
}

func set(scope settings.Scope, members string) func(*world) {
	return func(w *world) { w.texts[scope] = "{" + members + "}" }
}

func also(spoil ...func(*world)) func(*world) {
	return func(w *world) {
		for _, s := range spoil {
			s(w)
		}
	}
}

const largeWindow = 1_000_000

func large(w *world) {
	w.put(".claude/context-guard/context/"+sid+".json", snapshotText(sid, now, largeWindow))
}

func noSession(w *world) {
	delete(w.env, "CLAUDE_CODE_SESSION_ID")
	delete(w.env, "CLAUDE_CODE_ENTRYPOINT")
	w.remove(".claude/context-guard/context")
}

// Each case spoils one thing. want lists every result that is not PASS as "STATUS id"; text has to stand in one of them,
// or in the whole report when nothing is wrong.
var cases = []struct {
	name  string
	spoil func(*world)
	want  []string
	text  string
}{
	{"healthy", func(*world) {}, nil, "smart, measured 1 min ago"},

	{"no home", func(w *world) { w.env["HOME"] = "relative" }, []string{"FAIL home"}, "HOME is not set"},
	{"no binary", func(w *world) { w.hookErr = errors.New("find plimsoll-hook: not there") }, []string{"FAIL binary"}, "not there"},

	// Settings files.
	{"no settings", func(w *world) { delete(w.texts, settings.User) }, []string{"INFO settings", "FAIL hooks", "INFO statusline"}, "plimsoll setup"},
	{"broken user file", func(w *world) { w.texts[settings.User] = "{,}" }, []string{"FAIL settings.user", "FAIL hooks", "INFO statusline"}, "/user.json cannot be used"},
	{"what a broken file holds is not known", func(w *world) { w.texts[settings.User] = "{,}" }, []string{"FAIL settings.user", "FAIL hooks", "INFO statusline"}, "/user.json may hold one"},
	{"broken project file", func(w *world) { w.texts[settings.Project] = "[" }, []string{"FAIL settings.project"}, "nothing in it applies"},
	{"broken local file", func(w *world) { w.texts[settings.Local] = "[" }, []string{"FAIL settings.local"}, ""},
	{"broken managed file", func(w *world) { w.texts[settings.Managed] = "[" }, []string{"FAIL settings.managed"}, ""},
	{"precedence is shown", set(settings.Local, ""), nil, "local (/local.json), user (/user.json)"},

	// Shape.
	{"hooks no object", set(settings.Project, `"hooks":[]`), []string{"FAIL hooks.shape"}, "hooks is no object"},
	{"event no list", set(settings.Project, `"hooks":{"Stop":{}}`), []string{"FAIL hooks.shape"}, "Stop is no list"},
	{"entry no object", set(settings.Project, `"hooks":{"Stop":["x"]}`), []string{"FAIL hooks.shape"}, "Stop[0] has no list of hooks"},
	{"matcher no text", set(settings.Project, `"hooks":{"PreToolUse":[{"hooks":[]},{"matcher":["Bash"],"hooks":[]}]}`), []string{"FAIL hooks.shape"}, "PreToolUse[1] has a matcher"},
	{"hook without type", set(settings.Project, `"hooks":{"Stop":[{"hooks":[{"command":"x"}]}]}`), []string{"FAIL hooks.shape"}, "without a type"},
	{"hook without command", set(settings.Project, `"hooks":{"Stop":[{"hooks":[{"type":"command"}]}]}`), []string{"FAIL hooks.shape"}, "without a command"},
	{"args no list", set(settings.Project, `"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x","args":"y"}]}]}`), []string{"FAIL hooks.shape"}, "args"},
	{"other tools' hooks are fine", set(settings.Project, `"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"},{"type":"http","url":"u"},{"type":"prompt","prompt":"p"}]}]}`), nil, ""},

	// Completeness.
	{"no hooks", func(w *world) { w.texts[settings.User] = "{" + line(ours) + "}" }, []string{"FAIL hooks"}, "nothing is watched"},
	{"no hooks, heard long ago", func(w *world) {
		w.texts[settings.User] = "{" + line(ours) + "}"
		w.heard("PreToolUse", time.Hour)
	}, []string{"FAIL hooks"}, ""},
	{"no hooks, heard just now", func(w *world) {
		w.texts[settings.User] = "{" + line(ours) + "}"
		w.heard("PreToolUse", 2*time.Minute)
	}, []string{"INFO hooks"}, "PreToolUse was heard 2 min ago"},
	{"event missing", func(w *world) { w.user(`"PostCompact":`, `"PreCompact":`) }, []string{"FAIL hooks.PostCompact", "INFO hooks.extra"}, "plimsoll setup --only hooks"},
	{"tool missing", func(w *world) { w.user(`|Workflow|Skill"`, `|Workflow"`) }, []string{"FAIL hooks.PreToolUse"}, "not registered for Skill"},
	{"tool in another entry", also(func(w *world) { w.user(`|Workflow|Skill"`, `|Workflow"`) }, set(settings.Project, `"hooks":{"PreToolUse":[{"matcher":"Skill","hooks":[{"type":"command",`+hookCommand+`}]}]}`)), nil, ""},
	{"wider matcher", func(w *world) { w.user(`"Write|Edit|NotebookEdit|Agent|Task|Workflow|Skill"`, `"*"`) }, nil, ""},
	{"pattern", func(w *world) {
		w.user(`"Write|Edit|NotebookEdit|Agent|Task|Workflow|Skill"`, `"^(Write|.*Edit|Agent|Task|Workflow|Skill)$"`)
	}, nil, ""},
	{"pattern too narrow", func(w *world) {
		w.user(`"Write|Edit|NotebookEdit|Agent|Task|Workflow|Skill"`, `"^(Write|Edit|Agent|Task|Workflow|Skill)$"`)
	}, []string{"FAIL hooks.PreToolUse"}, "not registered for NotebookEdit"},
	{"pattern that is none", func(w *world) {
		w.user(`"Write|Edit|NotebookEdit|Agent|Task|Workflow|Skill"`, `"(["`)
	}, []string{"FAIL hooks.PreToolUse"}, "Write, Edit"},
	{"condition missing", func(w *world) { w.user(`"if":"Bash(plimsoll kb search *)"`, `"if":"Bash(git *)"`) }, []string{"FAIL hooks.PostToolUse"}, "Bash(plimsoll kb search *)"},
	{"no condition is wider", func(w *world) { w.user(`"if":"Bash(plimsoll kb search *)"`, `"if":""`) }, nil, ""},
	{"narrowed start", func(w *world) { w.user(`"matcher":"compact"`, `"matcher":"resume"`) }, []string{"FAIL hooks.SessionStart"}, "not registered for compact"},
	{"narrowed SubagentStart", func(w *world) { w.user(`"SubagentStart":[{"matcher":""`, `"SubagentStart":[{"matcher":"Explore"`) }, []string{"FAIL hooks.SubagentStart"}, "SubagentStart is not registered"},
	{"a matcher where none is read", func(w *world) { w.user(`"PostToolBatch":[{"matcher":""`, `"PostToolBatch":[{"matcher":"x"`) }, nil, ""},
	{"project's own search tools", func(w *world) {
		w.project = filepath.Join(w.home, "p")
		w.put("p/.claude/plimsoll.json", `{"kb":{"search_tools":["mcp__mine__find"]}}`)
	}, []string{"FAIL hooks.PostToolUse"}, "--scope local"},
	{"project's own search tools, registered", func(w *world) {
		w.project = filepath.Join(w.home, "p")
		w.put("p/.claude/plimsoll.json", `{"kb":{"search_tools":["mcp__mine__find"]}}`)
		kb := config.Default().KB
		kb.SearchTools.V = []string{"mcp__mine__find"}
		w.texts[settings.Local] = "{" + hooksFor(kb, hookCommand) + "}"
	}, nil, ""},
	{"project's file at the repository's root", func(w *world) {
		w.project = filepath.Join(w.home, "p", "sub")
		w.put("p/.git", "gitdir: elsewhere")
		w.put("p/.claude/plimsoll.json", `{"kb":{"search_commands":["notes"]}}`)
	}, []string{"FAIL hooks.PostToolUse"}, "Bash(notes *)"},
	{"shell form by hand", func(w *world) {
		w.texts[settings.User] = strings.ReplaceAll(w.texts[settings.User], hookCommand, `"command":"\"$HOME/go/bin/plimsoll-hook\" || true"`)
	}, nil, `plimsoll-hook" || true runs`},
	{"last heard", func(w *world) { w.heard("PostCompact", 26*time.Hour) }, nil, "last heard 26 h ago"},
	{"never heard", func(*world) {}, nil, "never heard so far"},

	// Registered too much.
	{"WorktreeCreate", set(settings.Project, `"hooks":{"WorktreeCreate":[{"hooks":[{"type":"command",`+hookCommand+`}]}]}`), []string{"FAIL hooks.worktree"}, "making of worktrees"},
	{"another's WorktreeCreate", set(settings.Project, `"hooks":{"WorktreeCreate":[{"hooks":[{"type":"command","command":"x"}]}]}`), nil, ""},
	{"extra event", set(settings.Project, `"hooks":{"Stop":[{"hooks":[{"type":"command",`+hookCommand+`}]}]}`), []string{"INFO hooks.extra"}, "Stop"},
	{"async", func(w *world) { w.user(hookCommand, hookCommand+`,"async":true`) }, []string{"FAIL hooks.async"}, "does not wait"},
	{"async false", func(w *world) { w.user(hookCommand, hookCommand+`,"async":false`) }, nil, ""},
	{"two commands", set(settings.Project, strings.ReplaceAll(hooks(), "/opt/", "/usr/")), []string{"FAIL hooks.twice"}, `/usr/plimsoll-hook ["hook"] in /project.json`},
	{"the same command twice", set(settings.Project, hooks()), nil, "/project.json, /user.json"},

	// The plugin.
	{"plugin alone", func(w *world) {
		w.texts[settings.User] = "{" + line(ours) + "}"
		w.enable(hooks())
	}, nil, "plimsoll@m is enabled"},
	{"plugin and settings", func(w *world) { w.enable(hooks()) }, []string{"FAIL hooks.both"}, "every rule counts and reports twice"},
	{"plugin and settings, plugin not found", func(w *world) {
		w.enable(hooks())
		w.remove(".claude/plugins")
	}, []string{"FAIL hooks.both"}, ""},
	{"plugin switched off in the project", also(func(w *world) { w.enable(hooks()) }, set(settings.Local, `"enabledPlugins":{"plimsoll@m":false}`)), nil, ""},
	{"plugin not found", func(w *world) {
		w.texts[settings.User] = "{" + line(ours) + "}"
		w.enable(hooks())
		w.remove(".claude/plugins")
	}, []string{"INFO plugin"}, "cannot be looked at"},
	{"plugin of an older record", func(w *world) {
		w.texts[settings.User] = "{" + line(ours) + "}"
		w.enable(hooks())
		w.put(".claude/plugins/installed_plugins.json", fmt.Sprintf(`{"version":1,"plugins":{"plimsoll@m":{"installPath":%q}}}`, filepath.Join(w.home, "plugin")))
	}, nil, ""},
	{"plugin without hooks", func(w *world) {
		w.texts[settings.User] = "{" + line(ours) + "}"
		w.enable(`"hooks":{}`)
	}, []string{"FAIL hooks"}, "registers none"},
	{"plugin lacks an event", func(w *world) {
		w.texts[settings.User] = "{" + line(ours) + "}"
		w.enable(strings.Replace(hooks(), "PostCompact", "Stop", 1))
	}, []string{"FAIL hooks.PostCompact", "INFO hooks.extra"}, "reinstall the plugin"},

	// Switches.
	{"all hooks off", set(settings.Local, `"disableAllHooks":true`), []string{"INFO hooks.off", "INFO statusline"}, "no instrument in this environment: disableAllHooks in /local.json"},
	{"all hooks off below, on above", also(set(settings.Local, `"disableAllHooks":false`), set(settings.Project, `"disableAllHooks":true`)), nil, ""},
	{"managed hooks only", set(settings.Managed, `"allowManagedHooksOnly":true`), []string{"INFO hooks.off", "INFO statusline"}, "this is policy"},
	{"managed hooks only, by nobody", set(settings.Project, `"allowManagedHooksOnly":true`), nil, ""},
	{"managed hooks only, ours managed", set(settings.Managed, `"allowManagedHooksOnly":true,`+hooks()+","+line(ours)), []string{"INFO hooks.off"}, "registered in /managed.json"},
	{"managed hooks only, plugin forced", func(w *world) {
		w.texts[settings.User] = "{" + line(ours) + "}"
		w.enable(hooks())
		w.texts[settings.Managed] = `{"allowManagedHooksOnly":true,"enabledPlugins":{"plimsoll@m":true}}`
	}, []string{"INFO statusline"}, ""},
	{"plugin hooks only", set(settings.Managed, `"strictPluginOnlyCustomization":["skills","hooks"]`), []string{"INFO hooks.off"}, "strictPluginOnlyCustomization"},
	{"plugin skills only", set(settings.Managed, `"strictPluginOnlyCustomization":["skills"]`), nil, ""},
	{"untrusted", func(w *world) {
		w.put(".claude.json", fmt.Sprintf(`{"projects":{%q:{"hasTrustDialogAccepted":false}}}`, w.project))
	}, []string{"INFO hooks.off", "INFO statusline"}, "accept the trust question"},
	{"untrusted, headless", func(w *world) {
		w.put(".claude.json", fmt.Sprintf(`{"projects":{%q:{"hasTrustDialogAccepted":false}}}`, w.project))
		w.env["CLAUDE_CODE_ENTRYPOINT"] = "sdk-cli"
	}, []string{"INFO statusline"}, ""},

	// Hook commands, as they end. F40.
	{"hook not found", on(false, Outcome{Code: 127, Stderr: "sh: /opt/plimsoll-hook: not found\n"}), []string{"FAIL hooks.run"}, "as if there were no hook"},
	{"hook cannot start", on(false, Outcome{Err: errors.New("no such file")}), []string{"FAIL hooks.run"}, "no such file"},
	{"hook not executable", on(false, Outcome{Code: 126}), []string{"FAIL hooks.run"}, "not executable"},
	{"hook blocks", on(false, Outcome{Code: 2, Stderr: "python3: can't open file"}), []string{"FAIL hooks.run"}, "every matched call is blocked"},
	{"hook fails", on(false, Outcome{Code: 1}), []string{"FAIL hooks.run"}, "exit code 1"},
	{"hook hangs", on(false, Outcome{TimedOut: true}), []string{"FAIL hooks.run"}, "does not end"},
	{"hook talks", on(false, Outcome{Stdout: "Welcome!"}), []string{"FAIL hooks.run"}, "Welcome!"},

	// The status line: the reader contract's four cases.
	{"case 1: none", func(w *world) { w.texts[settings.User] = "{" + hooks() + "}" }, []string{"INFO statusline"}, "no instrument in this environment: no statusLine is configured"},
	{"case 1: none, none needed", func(w *world) {
		w.texts[settings.User] = "{" + hooks() + "}"
		w.env["CLAUDE_CODE_REMOTE"] = "true"
	}, []string{"INFO statusline"}, "wiring one would change nothing"},
	{"case 1: no snapshot either", func(w *world) {
		w.texts[settings.User] = "{" + hooks() + "}"
		w.remove(".claude/context-guard/context")
	}, []string{"INFO statusline", "INFO snapshot"}, "no instrument in this environment"},
	{"case 2: switched off", also(set(settings.Managed, `"disableAllHooks":true`), func(w *world) { w.remove(".claude/context-guard/context") }), []string{"INFO hooks.off", "INFO statusline", "INFO snapshot"}, "policy or trust, not of wiring"},
	{"case 3: cloud", also(setEnv("CLAUDE_CODE_REMOTE", "true"), func(w *world) { w.remove(".claude/context-guard/context") }), []string{"INFO statusline", "INFO snapshot"}, "a cloud session runs no status line"},
	{"case 3: headless", also(setEnv("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"), func(w *world) { w.remove(".claude/context-guard/context") }), []string{"INFO statusline", "INFO snapshot"}, "is never invoked"},
	{"case 4: a defect", func(w *world) { w.remove(".claude/context-guard/context") }, []string{"FAIL snapshot"}, "is not switched off, and this environment runs one"},
	{"case 4: stale", func(w *world) {
		w.put(".claude/context-guard/context/"+sid+".json", snapshotText(sid, now.Add(-11*time.Minute), 200_000))
	}, []string{"FAIL snapshot"}, "11 min old"},

	{"shadowed", set(settings.Project, line("other-line")), []string{"FAIL statusline.shadowed"}, "/project.json wins"},
	{"shadowed by policy", set(settings.Managed, line("other-line")), []string{"FAIL statusline.shadowed"}, "ask the owner"},
	{"shadows", set(settings.Project, line(ours)), nil, "wins over the one in /user.json"},
	{"foreign", func(w *world) {
		w.user(ours, "other-line")
		w.remove(".claude/context-guard/context")
	}, []string{"FAIL statusline", "FAIL snapshot"}, "does not run Plimsoll's"},
	{"foreign, and snapshots arrive", func(w *world) { w.user(ours, "~/bin/my-line") }, []string{"INFO statusline"}, "a script of its own"},
	{"without a command", func(w *world) { w.user(line(ours), `"statusLine":7`) }, []string{"FAIL statusline"}, "has no command"},
	{"context-guard", func(w *world) { w.user(ours, "bash ~/.claude/context-guard/bin/statusline-shim.sh") }, []string{"INFO statusline"}, "same contract"},
	{"context-guard and ours", func(w *world) {
		w.user(ours, "bash ~/.claude/context-guard/bin/statusline-shim.sh /opt/plimsoll-hook statusline")
	}, []string{"INFO statusline.writers"}, "two programs"},
	{"inside a shell", func(w *world) { w.user(ours, "THEME=x sh -c '/opt/a b/plimsoll-hook statusline' | cat") }, nil, "runs Plimsoll's"},
	{"line not found", on(true, Outcome{Code: 127}), []string{"FAIL statusline.run"}, "blank line"},
	{"line not executable", on(true, Outcome{Code: 126}), []string{"FAIL statusline.run"}, "not executable"},
	{"line cannot start", on(true, Outcome{Err: errors.New("no shell")}), []string{"FAIL statusline.run"}, "no shell"},
	{"line hangs", on(true, Outcome{TimedOut: true}), []string{"FAIL statusline.run"}, "does not end"},
	{"line dislikes empty input", on(true, Outcome{Code: 1, Stderr: "Traceback\nx"}), []string{"INFO statusline.run"}, `it says "Traceback"`},
	{"line draws", on(true, Outcome{Stdout: "[Claude]"}), nil, ""},

	// Snapshots of other sessions, or of none.
	{"no session yet", noSession, []string{"INFO snapshot"}, "start claude"},
	{"newest", also(noSession, func(w *world) {
		w.put(".claude/context-guard/context/x.json", snapshotText("x", now, 200_000))
		w.put(".claude/context-guard/context/.hidden.json", "")
	}), nil, "session x (newest snapshot)"},
	{"newest is idle", also(noSession, func(w *world) {
		w.put(".claude/context-guard/context/x.json", snapshotText("x", now.Add(-3*time.Hour), 200_000))
	}), []string{"INFO snapshot"}, "idle or has ended"},
	{"the own one, named", func(w *world) {
		w.session = sid
		w.put(".claude/context-guard/context/"+sid+".json", snapshotText(sid, now.Add(-time.Hour), 200_000))
	}, []string{"FAIL snapshot"}, "session abc-1: the snapshot is 1 h old"},
	{"named", func(w *world) { w.session = "other" }, []string{"FAIL snapshot"}, "session other (argument): no snapshot"},
	{"named, idle", func(w *world) {
		w.session = "other"
		w.put(".claude/context-guard/context/other.json", snapshotText("other", now.Add(-time.Hour), 200_000))
	}, []string{"INFO snapshot"}, "1 h old"},
	{"unexpanded", also(noSession, func(w *world) {
		w.session = Placeholder
		w.put(".claude/context-guard/context/x.json", snapshotText("x", now, 200_000))
	}), nil, "arrived unexpanded"},
	{"garbage", func(w *world) { w.put(".claude/context-guard/context/"+sid+".json", "{") }, []string{"FAIL snapshot"}, "not one valid JSON object"},
	{"of another session", func(w *world) {
		w.put(".claude/context-guard/context/"+sid+".json", snapshotText("other", now, 200_000))
	}, []string{"FAIL snapshot"}, "another session"},
	{"from the future", func(w *world) {
		w.put(".claude/context-guard/context/"+sid+".json", snapshotText(sid, now.Add(time.Hour), 200_000))
	}, []string{"FAIL snapshot"}, "future"},
	{"nothing measured", func(w *world) {
		w.put(".claude/context-guard/context/"+sid+".json", `{"captured_at":"2026-11-30T11:59:00Z","session_id":"abc-1","context_window":{"current_usage":null}}`)
	}, []string{"INFO snapshot"}, "so the instrument works"},
	{"folder occupied", func(w *world) {
		w.remove(".claude/context-guard/context")
		w.put(".claude/context-guard/context", "")
	}, []string{"FAIL snapshot"}, "is no folder"},
	{"folder occupied, no session", also(noSession, func(w *world) { w.put(".claude/context-guard/context", "") }), []string{"FAIL snapshot"}, "is no folder"},
	{"compacted", func(w *world) { w.put(".claude/context-guard/context/"+sid+".compacted", "") }, []string{"INFO marker"}, "counts as dumb"},

	// zones.json, each shape on its own.
	{"valid bands", func(w *world) {
		w.put(".claude/context-guard/zones.json", `{"smart_max_used_percentage":40,"acceptable_max_used_percentage":60,"token_bands":{"200000":{"smart_max_tokens":1,"acceptable_max_tokens":2}}}`)
	}, nil, "smart up to 40%"},
	{"percent bands malformed", func(w *world) {
		w.put(".claude/context-guard/zones.json", `{"smart_max_used_percentage":80,"acceptable_max_used_percentage":75}`)
	}, []string{"FAIL zones.percent"}, "0 < smart < acceptable ≤ 100"},
	{"token bands malformed", func(w *world) {
		w.put(".claude/context-guard/zones.json", `{"smart_max_used_percentage":50,"acceptable_max_used_percentage":75,"token_bands":{"big":{}}}`)
	}, []string{"FAIL zones.tokens"}, "window in digits"},
	{"no JSON", func(w *world) { w.put(".claude/context-guard/zones.json", `{,}`) }, []string{"FAIL zones.percent", "FAIL zones.tokens"}, ""},

	// Where the client compacts by itself. F53.
	{"default, 200k", func(*world) {}, nil, "187k tokens, 93.5% of the window"},
	{"default, 1M", large, nil, "967k tokens, 96.7% of the window"},
	{"lowered to 400000 of 1M", also(large, setEnv(envWindow, "400000")), []string{"FAIL compaction.bands", "FAIL compaction.ceiling"}, "400k tokens, 40% of the window"},
	{"lowered to 800000 of 1M", also(large, setEnv(envWindow, "800000")), nil, "80% of the window"},
	{"lowered by a setting", also(large, set(settings.Local, `"autoCompactWindow":700000`)), []string{"FAIL compaction.bands"}, "autoCompactWindow in /local.json"},
	{"at the very edge", also(large, set(settings.Local, `"autoCompactWindow":750000`)), []string{"FAIL compaction.bands"}, "dumb (past 75%)"},
	{"just past the edge", also(large, set(settings.Local, `"autoCompactWindow":750001`)), nil, ""},
	{"the variable wins", also(large, set(settings.Local, `"autoCompactWindow":700000`), setEnv(envWindow, "800000")), nil, "80%"},
	{"set in a settings file", also(large, set(settings.Local, `"env":{"`+envWindow+`":"600000"}`)), []string{"FAIL compaction.bands"}, "CLAUDE_CODE_AUTO_COMPACT_WINDOW (env in /local.json)"},
	{"larger than the window", set(settings.Local, `"autoCompactWindow":1000000`), nil, "93.5%"},
	{"500k", also(large, setEnv(envWindow, "500k")), []string{"FAIL compaction.window", "FAIL compaction.bands", "FAIL compaction.ceiling"}, `reads "500k" as 500 and uses 100000`},
	{"a bare 500", also(large, setEnv(envWindow, "500")), []string{"FAIL compaction.window", "FAIL compaction.bands", "FAIL compaction.ceiling"}, "uses 100000"},
	{"too large", also(large, setEnv(envWindow, "2000000")), []string{"FAIL compaction.window"}, "uses 1000000"},
	{"no number", also(large, setEnv(envWindow, "lots")), []string{"FAIL compaction.window"}, "does not use it"},
	{"setting out of range", set(settings.Local, `"autoCompactWindow":500`), []string{"FAIL compaction.window"}, "outside 100000 to 1000000"},
	{"setting no number", set(settings.Local, `"autoCompactWindow":"500k"`), []string{"FAIL compaction.window"}, "no whole number"},
	{"setting null", set(settings.Local, `"autoCompactWindow":null`), nil, ""},
	{"percent lowers", also(large, setEnv(envPercent, "60")), []string{"FAIL compaction.bands"}, "600k tokens, 60% of the window"},
	{"percent of a lowered window", also(large, setEnv(envPercent, "90", envWindow, "900000")), nil, "810k tokens, 81%"},
	{"percent never raises", setEnv(envPercent, "99"), nil, "above the default and has no effect"},
	{"percent no number", setEnv(envPercent, "80%"), []string{"FAIL compaction.percent"}, "no number from 1 to 100"},
	{"percent out of range", setEnv(envPercent, "0.5"), []string{"FAIL compaction.percent"}, ""},
	{"off by setting", also(set(settings.Local, `"autoCompactEnabled":false`), setEnv(envWindow, "100000")), []string{"INFO compaction"}, "the dumb band is the only warning"},
	{"off by variable", setEnv(envOff, "1"), []string{"INFO compaction"}, envOff},
	{"not off", setEnv(envOff, "0"), nil, ""},
	{"bands tuned to it", also(large, setEnv(envWindow, "800000"), func(w *world) {
		w.put(".claude/context-guard/zones.json", `{"smart_max_used_percentage":50,"acceptable_max_used_percentage":85}`)
	}), []string{"FAIL compaction.bands"}, "below 80"},
	{"ceiling above", also(large, setEnv("DEV_TEAM_CONTEXT_CEILING_PCT", "99", "DEV_TEAM_CONTEXT_ABS_CEILING", "990000")), []string{"FAIL compaction.ceiling"}, "the ceiling (990k tokens)"},
	{"ceiling above, switched off", also(large, setEnv("DEV_TEAM_CONTEXT_CEILING_PCT", "99", "DEV_TEAM_CONTEXT_ABS_CEILING", "990000", "DEV_TEAM_CONTEXT_CEILING", "off")), []string{"INFO rules.ceiling"}, ""},
	{"a band of the ceiling above", also(large, setEnv("DEV_TEAM_CONTEXT_CEILING_PCT", "70", "DEV_TEAM_CONTEXT_ABS_CEILING", "700000")), []string{"FAIL compaction.ceiling"}, "its band full-summary (1.1M tokens)"}, // the ceiling itself comes in time
	{"window unknown", also(noSession, setEnv(envWindow, "400000")), []string{"INFO snapshot", "FAIL compaction.bands", "FAIL compaction.ceiling"}, "40% of a window of 1M"},
	{"window unknown, no 1M", also(noSession, setEnv(envWindow, "400000", envNo1M, "1")), []string{"INFO snapshot"}, ""},

	// Plimsoll's own settings.
	{"everything off", setEnv("PLIMSOLL", "off"), []string{"INFO rules"}, "PLIMSOLL is off"},
	{"off in a settings file", set(settings.Local, `"env":{"PLIMSOLL":"off"}`), []string{"INFO rules"}, "(env in /local.json)"},
	{"zones off", setEnv("CLAUDE_PLUGIN_OPTION_CONTEXT_GUARD_HOOKS_ENABLED", "false"), []string{"INFO rules.zones"}, "zone rules are switched off"},
	{"zones unknown", setEnv("CLAUDE_PLUGIN_OPTION_CONTEXT_GUARD_HOOKS_ENABLED", "${user_config.x}"), []string{"INFO rules.zones"}, "is unknown"},
	{"ceiling off", setEnv("DEV_TEAM_CONTEXT_CEILING", "off"), []string{"INFO rules.ceiling"}, "environment DEV_TEAM_CONTEXT_CEILING"},
	{"KB gate off", setEnv("PLIMSOLL_KB_MODE", "off"), []string{"INFO rules.kb"}, ""},
	{"ceiling warns", setEnv("DEV_TEAM_CONTEXT_STRICT", "off"), nil, "ceiling warns only"},
	{"unknown key", func(w *world) { w.put(".claude/plimsoll/config.json", `{"zone":{}}`) }, []string{"FAIL config"}, "unknown key zone"},
	{"two problems", setEnv("DEV_TEAM_CONTEXT_CEILING_PCT", "x", "PLIMSOLL_KB_MODE", "loud"), []string{"FAIL config", "FAIL config"}, "CEILING_PCT"},
}

func TestChecks(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			c.spoil(w)
			r := w.examine()
			var got []string
			var amiss, all strings.Builder
			for _, result := range r.Results {
				text := fmt.Sprintf("%s %s: %s (%s) fix: %s\n", result.Status, result.ID, result.What, result.Why, result.Fix)
				all.WriteString(text)
				if result.Status != Pass {
					got = append(got, string(result.Status)+" "+result.ID)
					amiss.WriteString(text)
				}
				if result.Status == Fail && (result.Why == "" || result.Fix == "") {
					t.Errorf("a failure without reason or fix: %s", text)
				}
			}
			slices.Sort(got)
			want := slices.Clone(c.want)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q\n%s", got, want, all.String())
			}
			where := amiss.String()
			if len(c.want) == 0 || !strings.Contains(where, c.text) {
				where = all.String()
			}
			if !strings.Contains(where, c.text) {
				t.Errorf("nothing says %q:\n%s", c.text, where)
			}
		})
	}
}

// The words of the reader contract: where the environment has no instrument nobody hears of anything broken.
func TestStructuralAbsenceIsNeverCalledBroken(t *testing.T) {
	for _, c := range cases {
		if !strings.HasPrefix(c.name, "case ") || strings.HasPrefix(c.name, "case 4") {
			continue
		}
		w := newWorld(t)
		c.spoil(w)
		for _, r := range w.examine().Results {
			if r.ID != "statusline" && r.ID != "snapshot" {
				continue
			}
			text := strings.ToLower(r.What + r.Why + r.Fix)
			if r.Status == Fail || strings.Contains(text, "broken") || strings.Contains(strings.ReplaceAll(text, "not a defect", ""), "defect") || strings.Contains(text, "degraded") {
				t.Errorf("%s: %+v", c.name, r)
			}
			if r.ID == "statusline" && !strings.HasPrefix(r.What, settings.NoInstrument) {
				t.Errorf("%s: %q", c.name, r.What)
			}
		}
		for _, c := range w.ran {
			if isStatusline(c) {
				t.Errorf("a status line that the environment does not run was run: %+v", c)
			}
		}
	}
}

// Every failure that can be reported is seen above and explained in docs/troubleshooting.md, and the page explains none
// that cannot.
func TestEveryFailureIsSeenAndDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	_, table, _ := strings.Cut(string(page), "| check | means | do |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, row := range strings.Split(table, "\n") {
		if id, ok := strings.CutPrefix(row, "| `"); ok {
			id, _, _ = strings.Cut(id, "`")
			documented[id] = true
		}
	}
	seen := map[string]bool{}
	for _, c := range cases {
		for _, w := range c.want {
			if id, ok := strings.CutPrefix(w, "FAIL "); ok {
				if event, ok := strings.CutPrefix(id, "hooks."); ok && event[0] >= 'A' && event[0] <= 'Z' {
					id = "hooks.EVENT"
				}
				if strings.HasPrefix(id, "settings.") {
					id = "settings.SCOPE"
				}
				seen[id] = true
			}
		}
	}
	for id := range seen {
		if !documented[id] {
			t.Errorf("%s is not in docs/troubleshooting.md", id)
		}
	}
	for id := range documented {
		if !seen[id] {
			t.Errorf("docs/troubleshooting.md explains %s, which is not seen to fail", id)
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	failing := regexp.MustCompile(`(?:fail\(|const id = )"([a-z.]*[a-z])"`)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range failing.FindAllStringSubmatch(string(text), -1) {
			if !seen[m[1]] {
				t.Errorf("%s: no case sees %s fail", name, m[1])
			}
		}
	}
}

func TestCommandsAreRunAsTheClientDoes(t *testing.T) {
	w := newWorld(t)
	w.env["PLIMSOLL_DEBUG"] = filepath.Join(w.home, "debug.log")
	w.env["SHELL_ONLY"] = "shell"
	w.texts[settings.Local] = `{"env":{"PATH":"/from/settings","N":7,"PLIMSOLL_DEBUG":"/x"}}`
	w.user(hookCommand, `"command":"${CLAUDE_PROJECT_DIR}/bin/plimsoll-hook","args":["hook","${CLAUDE_PROJECT_DIR}"]`)
	w.user(hookCommand, `"command":"'/a b/plimsoll-hook' hook","shell":"bash"`)
	w.examine()
	var exec, shell, statusline *Command
	for i := range w.ran {
		c := &w.ran[i]
		switch {
		case isStatusline(*c):
			statusline = c
		case len(c.Argv) == 3:
			exec = c
		case c.Shell == "bash":
			shell = c
		}
	}
	if len(w.ran) != 4 || exec == nil || shell == nil || statusline == nil {
		t.Fatalf("ran %+v, want each spelling once", w.ran)
	}
	if want := []string{w.project + "/bin/plimsoll-hook", "hook", w.project}; !slices.Equal(exec.Argv, want) {
		t.Errorf("exec form %q, want %q", exec.Argv, want)
	}
	if shell.Line != "'/a b/plimsoll-hook' hook" || shell.Argv != nil || statusline.Line != ours {
		t.Errorf("shell form %+v, status line %+v", shell, statusline)
	}
	for _, want := range []string{"PATH=/from/settings", "N=7", "SHELL_ONLY=shell", "HOME=" + w.home, "CLAUDE_PROJECT_DIR=" + w.project, "CLAUDECODE=1"} {
		if !slices.Contains(exec.Env, want) {
			t.Errorf("the environment lacks %s: %q", want, exec.Env)
		}
	}
	for _, v := range exec.Env {
		if strings.HasPrefix(v, "PLIMSOLL_DEBUG=") {
			t.Errorf("the hook would write its debug log: %s", v)
		}
	}
	if exec.Dir != w.project {
		t.Errorf("runs in %s", exec.Dir)
	}
}

func TestPluginCommandKnowsItsRoot(t *testing.T) {
	w := newWorld(t)
	w.texts[settings.User] = "{" + line(ours) + "}"
	w.enable(hooksFor(config.Default().KB, `"command":"${CLAUDE_PLUGIN_ROOT}/bin/plimsoll-hook","args":["hook"]`))
	w.examine()
	root := filepath.Join(w.home, "plugin")
	for _, c := range w.ran {
		if !isStatusline(c) && (c.Argv[0] != root+"/bin/plimsoll-hook" || !slices.Contains(c.Env, "CLAUDE_PLUGIN_ROOT="+root)) {
			t.Errorf("%+v", c)
		}
	}
}

func TestAnotherBinaryIsMentioned(t *testing.T) {
	w := newWorld(t)
	w.put("mine/plimsoll-hook", "")
	w.put("wired/plimsoll-hook", "")
	wired := filepath.Join(w.home, "wired", "plimsoll-hook")
	w.texts[settings.User] = "{" + hooksFor(config.Default().KB, fmt.Sprintf(`"command":%q,"args":["hook"]`, wired)) + "," + line(ours) + "}"
	e := gather(Input{Env: func(n string) (string, bool) { v, ok := w.env[n]; return v, ok }, Now: now, Hook: filepath.Join(w.home, "mine", "plimsoll-hook"),
		Files: []settings.File{{Scope: settings.User, Path: "/u", Root: rawjson.Value(w.texts[settings.User])}}})
	if got := checkBinary(e); len(got) != 2 || got[1].ID != "binary.other" || got[1].Status != Info || !strings.Contains(got[1].What, wired) {
		t.Errorf("%+v", got)
	}
	e.Hook = wired
	if got := checkBinary(e); len(got) != 1 {
		t.Errorf("the same binary: %+v", got)
	}
}

func TestEveryValueWithItsSource(t *testing.T) {
	w := newWorld(t)
	w.put(".claude/plimsoll/config.json", `{"ceiling":{"percent":30,"recovery_skills":["x"]},"kb":{"mode":"enforce"}}`)
	w.env["DEV_TEAM_CONTEXT_WINDOW"] = "500000"
	w.texts[settings.Project] = `{"env":{"DEV_TEAM_CONTEXT_STRICT":"off"}}`
	w.enable(hooks())
	w.user(`{"enabledPlugins"`, `{"pluginConfigs":{"plimsoll@m":{"options":{"zone_hook_mode":"blocking"}}},"enabledPlugins"`)
	got := map[string]string{}
	values := w.examine().Values
	for _, v := range values {
		text, err := json.Marshal(v.Value)
		if err != nil || got[v.Name] != "" {
			t.Fatalf("%s: %v %v", v.Name, v, err)
		}
		got[v.Name] = string(text) + " from " + v.From
	}
	for name, want := range map[string]string{
		"rules":                   "true from default",
		"debug_log":               "null from default",
		"ceiling.percent":         "30 from user file",
		"ceiling.strict":          "false from environment DEV_TEAM_CONTEXT_STRICT (env in /project.json)",
		"ceiling.window":          "500000 from environment DEV_TEAM_CONTEXT_WINDOW",
		"ceiling.absolute":        "350000 from default",
		"ceiling.recovery_skills": `["x"] from user file`,
		"zones.mode":              `"blocking" from environment CLAUDE_PLUGIN_OPTION_ZONE_HOOK_MODE (pluginConfigs of plimsoll@m)`,
		"kb.mode":                 `"enforce" from user file`,
		"kb.search_commands":      `["plimsoll kb search"] from default`,
	} {
		if got[name] != want {
			t.Errorf("%s is %s, want %s", name, got[name], want)
		}
	}
	if len(values) != 18 {
		t.Errorf("%d values", len(values))
	}
	w = newWorld(t)
	for _, v := range w.examine().Values {
		if v.Name == "ceiling.window" && v.Value != nil {
			t.Errorf("no window is set, and it reads %v", v.Value)
		}
	}
}

// What files of others hold must not reach a terminal as it is.
func TestTextIsPlain(t *testing.T) {
	w := newWorld(t)
	w.texts[settings.User] = strings.ReplaceAll(w.texts[settings.User], "/opt/plimsoll-hook", `/opt/\u001b[31m\u202e/plimsoll-hook`)
	w.outcome = func(Command) Outcome { return Outcome{Code: 127, Stderr: "\x1b]0;title\a\n"} }
	w.put(".claude/plimsoll/config.json", `{"\u001b[31mred\u202e":1}`)
	for _, r := range w.examine().Results {
		if text := r.What + r.Why + r.Fix; harness.Plain(text, 10_000) != text {
			t.Errorf("%q", text)
		}
	}
}

func TestCompactsAt(t *testing.T) {
	for _, c := range []struct {
		window, configured, percent, want float64
	}{
		{1_000_000, 0, 0, 967_000},
		{200_000, 0, 0, 187_000},
		{1_000_000, 400_000, 0, 400_000},
		{1_000_000, 980_000, 0, 967_000}, // a window above the default trigger extends nothing
		{200_000, 400_000, 0, 187_000},
		{200_000, 100_000, 0, 100_000},
		{1_000_000, 0, 50, 500_000},
		{1_000_000, 400_000, 50, 200_000},
		{200_000, 400_000, 50, 100_000}, // capped at the model's window first
		{1_000_000, 0, 97, 967_000},
		{100_000, 0, 0, 93_500},
	} {
		got := compactsAt(c.window, setting{use: c.configured}, setting{use: c.percent})
		if got.Tokens != c.want {
			t.Errorf("window %v, configured %v, percent %v: %v, want %v", c.window, c.configured, c.percent, got.Tokens, c.want)
		}
	}
}

func TestPlainInteger(t *testing.T) {
	for text, want := range map[string]struct {
		use   float64
		noted bool
	}{
		"400000": {400_000, false}, " 400000\n": {400_000, false}, "100000": {100_000, false}, "1000000": {1_000_000, false},
		"500k": {100_000, true}, "1M": {100_000, true}, "500": {100_000, true}, "400_000": {100_000, true}, "400000.5": {400_000, true},
		"99999": {100_000, true}, "1000001": {1_000_000, true}, "": {0, true}, "k": {0, true}, "-400000": {0, true},
		strings.Repeat("9", 400): {1_000_000, true},
	} {
		got := plainInteger(text)
		if got.use != want.use || (got.problem != "") != want.noted {
			t.Errorf("%.20q: %+v, want %+v", text, got, want)
		}
	}
}
