package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/config"
	"plimsoll/internal/harness"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/registration"
	"plimsoll/internal/settings"
	"plimsoll/internal/statefile"
)

// source is one place that registers hooks: a settings file, or the plugin.
type source struct {
	path    string
	scope   settings.Scope // of a settings file
	plugin  string         // the plugin's name
	root    string         // the plugin's folder
	hooks   rawjson.Value
	blocked string // why the client runs none of them; "" when it does
}

// registered is one handler of ours that some source registers.
type registered struct {
	event, matcher, cond string
	handler              rawjson.Value
	source               *source
}

// binary is the file or name that the handler runs.
func (r registered) binary() string {
	command := r.handler.Get("command").TextOr("")
	if r.handler.Get("args").Kind() == rawjson.Array {
		return command
	}
	for _, word := range words(command) {
		if b := base(word); b == "plimsoll-hook" || b == "plimsoll" {
			return word
		}
	}
	return command
}

// spelled is the command as the settings spell it: what makes two handlers one to the client.
func (r registered) spelled() string {
	return strings.TrimSpace(r.handler.Get("command").TextOr("") + " " + string(r.handler.Get("args").AppendCompact(nil)))
}

// findSources lists the settings files that hold hooks, and the plugin.
func (e *exam) findSources() []source {
	var sources []source
	for _, f := range e.Files {
		if hooks := f.Root.Get("hooks"); hooks != nil {
			sources = append(sources, source{path: f.Path, scope: f.Scope, hooks: hooks})
		}
	}
	if e.plugin != "" {
		var s source
		if s, e.pluginErr = e.pluginSource(); e.pluginErr == nil {
			sources = append(sources, s)
		}
	}
	for i := range sources {
		sources[i].blocked = e.blocked(sources[i])
	}
	return sources
}

// maxPlugin bounds the files of a plugin that are read, in bytes.
const maxPlugin = 4 << 20

// pluginSource reads the enabled plugin's hooks from where the client's install record says that it is.
func (e *exam) pluginSource() (source, error) {
	record := filepath.Join(settings.ConfigDir(e.Env), "plugins", "installed_plugins.json")
	root, err := readJSON(record)
	if err != nil {
		return source{}, err
	}
	entry := root.Get("plugins").Get(e.plugin)
	dir := entry.Get("installPath").TextOr("")
	for install := range entry.Elements() { // newer records list one installation per scope
		if dir == "" {
			dir = install.Get("installPath").TextOr("")
		}
	}
	if dir == "" {
		return source{}, fmt.Errorf("%s does not say where %s is", record, e.plugin)
	}
	path := filepath.Join(dir, "hooks", "hooks.json")
	file, err := readJSON(path)
	if err != nil {
		return source{}, err
	}
	return source{path: path, plugin: e.plugin, root: dir, hooks: file.Get("hooks")}, nil
}

func readJSON(path string) (rawjson.Value, error) {
	data, err := statefile.Read(path, maxPlugin)
	if err != nil {
		return nil, err
	}
	v, err := rawjson.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

// blocked says why the client runs no hooks of a source.
func (e *exam) blocked(s source) string {
	managed := s.scope == settings.Managed
	if off, by := settings.Lookup(e.Files, "disableAllHooks"); off.Kind() == rawjson.True && (!managed || by.Scope == settings.Managed) {
		return "disableAllHooks in " + by.Path
	}
	if settings.ManagedOnly(e.Files) && !managed && !e.forced(s.plugin) {
		return "allowManagedHooksOnly in managed settings"
	}
	if !managed && s.plugin == "" && pluginsOnly(e.Files) {
		return "strictPluginOnlyCustomization in managed settings"
	}
	// The client asks for trust only where there is a terminal to ask on.
	if e.Project != "" && settings.NoStatusline(e.env) == "" && !settings.Trusted(e.env, e.Project) {
		return "the folder is not trusted"
	}
	return ""
}

// forced tells whether managed settings enable the plugin, which exempts it from the narrowing.
func (e *exam) forced(plugin string) bool {
	for _, f := range e.Files {
		if plugin != "" && f.Scope == settings.Managed && f.Root.Get("enabledPlugins").Get(plugin).Kind() == rawjson.True {
			return true
		}
	}
	return false
}

// pluginsOnly tells whether managed settings take hooks from plugins alone.
func pluginsOnly(files []settings.File) bool {
	for _, f := range files {
		strict := f.Root.Get("strictPluginOnlyCustomization")
		if f.Scope != settings.Managed {
			continue
		}
		if strict.Kind() == rawjson.True {
			return true
		}
		for part := range strict.Elements() {
			if part.TextOr("") == "hooks" {
				return true
			}
		}
	}
	return false
}

// registrations lists our handlers in every source.
func registrations(sources []source) []registered {
	var list []registered
	for i := range sources {
		var seen []string
		for event := range object(sources[i].hooks).Members() {
			if slices.Contains(seen, event) {
				continue
			}
			seen = append(seen, event)
			for group := range sources[i].hooks.Get(event).Elements() { // of duplicate keys the last counts
				for h := range group.Get("hooks").Elements() {
					if runsHook(h) {
						list = append(list, registered{event, group.Get("matcher").TextOr(""), h.Get("if").TextOr(""), h, &sources[i]})
					}
				}
			}
		}
	}
	return list
}

// runsHook recognises a handler of ours. It is less strict than setup, which only edits what it knows to be its own:
// whoever registered it by hand, in a shell line of his own, wants to hear about it too.
func runsHook(h rawjson.Value) bool {
	if h.Get("type").TextOr("command") != "command" {
		return false
	}
	line := words(h.Get("command").TextOr(""))
	if args := h.Get("args"); args.Kind() == rawjson.Array {
		line = []string{h.Get("command").TextOr("")}
		for a := range args.Elements() {
			line = append(line, a.TextOr(""))
		}
	}
	for i, word := range line {
		next := ""
		if i+1 < len(line) {
			next = line[i+1]
		}
		switch base(word) {
		case "plimsoll-hook":
			return next != "statusline" && next != "zone"
		case "plimsoll":
			return next == "hook"
		}
	}
	return false
}

// words splits a shell line where words can end. It knows no quoting, which is enough to find a name in it.
func words(command string) []string {
	return strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`;|&()<>", r) })
}

// active lists our handlers that the client runs.
func (e *exam) active() []registered {
	return slices.DeleteFunc(slices.Clone(e.registered), func(r registered) bool { return r.source.blocked != "" })
}

// switchedOff tells whether hooks of ours are registered and the client runs none of them.
func (e *exam) switchedOff() bool { return len(e.registered) > 0 && len(e.active()) == 0 }

// checkPlugin looks for hooks that the plugin and the settings both register, and for a plugin that is not there.
func checkPlugin(e *exam) []Result {
	if e.plugin == "" {
		return nil
	}
	var both []string
	fix := "keep one: disable the plugin, or take the settings' out with plimsoll setup --uninstall"
	for _, r := range e.active() {
		if r.source.plugin == "" && !slices.Contains(both, r.source.path) {
			both = append(both, r.source.path)
			fix += scopeFlag(r.source.scope)
		}
	}
	if len(both) > 0 && e.blocked(source{plugin: e.plugin}) == "" {
		return one(fail("hooks.both", "the plugin "+e.plugin+" and "+strings.Join(both, ", ")+" both register the hooks", "both run, so every rule counts and reports twice",
			fix+", and then run plimsoll setup, which writes no hooks beside the plugin"))
	}
	if e.pluginErr != nil {
		return one(info("plugin", "the plugin "+e.plugin+" is enabled, and its hooks cannot be looked at", e.pluginErr.Error(), "/plugin in the client shows whether it is installed"))
	}
	return one(pass("plugin", "the plugin "+e.plugin+" is enabled", ""))
}

// checkHooksAllowed tells of hooks that policy, choice or trust keep from running: nothing is broken there.
func checkHooksAllowed(e *exam) []Result {
	var results []Result
	for i := range e.sources {
		s := &e.sources[i]
		if s.blocked == "" || !slices.ContainsFunc(e.registered, func(r registered) bool { return r.source == s }) {
			continue
		}
		results = append(results, info("hooks.off", "the hooks in "+s.path+" are switched off", s.blocked, remedy(s.blocked)))
	}
	return results
}

// remedy is what there is to do about a switch: policy, choice or trust, never wiring.
func remedy(why string) string {
	switch {
	case strings.Contains(why, "not trusted"):
		return "start claude in the folder and accept the trust question"
	case strings.Contains(why, "allowManagedHooksOnly"), strings.Contains(why, "strictPluginOnly"):
		return "this is policy: ask the owner of the managed settings"
	}
	return "take disableAllHooks out of that file, or ask its owner where it is managed"
}

// checkHooksTwice looks for two spellings of our command on one event: the client runs the same handler once, and
// different ones each.
func checkHooksTwice(e *exam) []Result {
	byEvent := map[string]map[string]string{}
	var events []string
	for _, r := range e.active() {
		if r.source.plugin != "" {
			continue // checkPlugin's
		}
		if byEvent[r.event] == nil {
			byEvent[r.event] = map[string]string{}
			events = append(events, r.event)
		}
		byEvent[r.event][r.spelled()] = r.source.path
	}
	var twice, where []string
	for _, event := range events {
		if len(byEvent[event]) < 2 {
			continue
		}
		twice = append(twice, event)
		for command, path := range byEvent[event] {
			if text := harness.Label(command) + " in " + path; !slices.Contains(where, text) {
				where = append(where, text)
			}
		}
	}
	if len(twice) == 0 {
		return nil
	}
	slices.Sort(where)
	return one(fail("hooks.twice", "two different hook commands of Plimsoll's are registered for "+strings.Join(twice, ", "), "both run, so every rule counts and reports twice: "+strings.Join(where, "; "),
		"take one of them out; plimsoll setup --uninstall in the scope that should not have it"))
}

// checkEvents holds what is registered against what has to be, event by event.
func checkEvents(e *exam) []Result {
	if e.switchedOff() {
		return nil
	}
	active := e.active()
	if len(active) == 0 && e.pluginErr != nil {
		return nil // checkPlugin's
	}
	if len(active) == 0 {
		return one(e.nothingRegistered())
	}
	var results []Result
	var order []string
	lacking, silent := map[string][]string{}, map[string]bool{}
	for _, want := range e.expected() {
		if !silent[want.Event] {
			silent[want.Event] = true
			order = append(order, want.Event)
		}
		lacking[want.Event] = append(lacking[want.Event], missing(want, active)...)
	}
	for _, event := range order {
		if lack := lacking[event]; len(lack) > 0 {
			what := event + " is not registered"
			if lack[0] != "" {
				what += " for " + strings.Join(lack, ", ")
			}
			results = append(results, fail("hooks."+event, what, servedBy(event), e.wireHooks(event, active[0].source)))
			continue
		}
		var paths []string
		for _, r := range active {
			if r.event == event && !slices.Contains(paths, r.source.path) {
				paths = append(paths, r.source.path)
			}
		}
		results = append(results, pass("hooks."+event, event+" is registered in "+strings.Join(paths, ", "), e.lastHeard(event)))
	}
	return results
}

// wireHooks is how an event comes to be registered beside what a source registers already.
func (e *exam) wireHooks(event string, s *source) string {
	ofProject := event == harness.PostToolUse && (e.kb.SearchTools.From == config.FromProject || e.kb.SearchCommands.From == config.FromProject)
	switch {
	case s.plugin != "" && event == harness.PostToolUse:
		return "the plugin registers the shipped search tools: for others disable it and run plimsoll setup"
	case s.plugin != "":
		return "update or reinstall the plugin"
	case ofProject && s.scope == settings.User:
		return "plimsoll setup --only hooks --scope local, since this project names search tools of its own"
	}
	return "plimsoll setup --only hooks" + scopeFlag(s.scope)
}

// nothingRegistered is a failure, unless events arrive all the same.
func (e *exam) nothingRegistered() Result {
	for _, h := range e.heard {
		if e.Now.Sub(h.At) < recently {
			return info("hooks", "no settings file registers the hooks, and yet events arrive", h.Event+" was heard "+age(e.Now.Sub(h.At))+" ago: they are loaded with --plugin-dir or --settings, or through a command that does not name plimsoll-hook", "")
		}
	}
	if e.plugin != "" {
		return fail("hooks", "no hook of Plimsoll's is registered", "the plugin "+e.plugin+" is enabled, but registers none", "install the plugin again with /plugin")
	}
	return fail("hooks", "no hook of Plimsoll's is registered", "nothing is watched or denied, and no compaction is marked", "plimsoll setup --only hooks")
}

// recently is how old an event may be to count as arriving now.
const recently = 10 * time.Minute

// servedBy says what does not work without an event.
func servedBy(event string) string {
	switch event {
	case harness.PreToolUse:
		return "zone gate, ceiling and KB gate do not see these calls"
	case harness.PostToolUse:
		return "the KB gate does not see these searches, so it keeps asking for one"
	case harness.PostToolBatch:
		return "a crossing into a worse zone is not reported while the model works"
	case harness.UserPromptSubmit:
		return "crossings are not reported with a prompt, and the KB gate does not see where a turn begins"
	case harness.SubagentStart:
		return "sub-agents are not briefed about the knowledge base"
	case harness.PostCompact, harness.SessionStart:
		return "a compaction may go unmarked, and a compacted session then looks fresh"
	}
	return ""
}

// missing lists what of a registration no handler covers: tool names, conditions, or "" for the whole event.
func missing(want registration.Entry, have []registered) []string {
	conditions := want.If
	if len(conditions) == 0 {
		conditions = []string{""}
	}
	var lack []string
	for _, tool := range names(want.Matcher) {
		for _, cond := range conditions {
			covered := slices.ContainsFunc(have, func(r registered) bool {
				return r.event == want.Event && (r.cond == "" || r.cond == cond) && matches(r.event, r.matcher, tool)
			})
			if covered {
				continue
			}
			if cond != "" {
				lack = append(lack, cond)
			} else {
				lack = append(lack, tool)
			}
		}
	}
	return lack
}

// names splits a matcher that is a list of names; any other is one name.
func names(matcher string) []string {
	if !exact(matcher) {
		return []string{matcher}
	}
	list := strings.FieldsFunc(matcher, func(r rune) bool { return r == '|' || r == ',' || r == ' ' })
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

// exact tells whether the client reads a matcher as names, not as a regular expression.
func exact(matcher string) bool {
	return strings.Trim(matcher, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_- ,|") == ""
}

// matches tells whether the client runs a handler with that matcher for a tool, or for everything when tool is "".
func matches(event, matcher, tool string) bool {
	switch {
	case matcher == "" || matcher == "*" || matcher == tool:
		return true
	case event == harness.PostToolBatch || event == harness.UserPromptSubmit:
		return true // there is nothing for a matcher to match there, and the client ignores it
	case tool == "" || !exact(tool):
		return false
	case exact(matcher):
		return slices.Contains(names(matcher), tool)
	}
	re, err := regexp.Compile(matcher)
	return err == nil && re.MatchString(tool)
}

// checkExtraEvents looks for registrations that nobody needs, and for the one that does harm.
func checkExtraEvents(e *exam) []Result {
	var extra []string
	for _, r := range e.active() {
		if r.event == "WorktreeCreate" {
			return one(fail("hooks.worktree", "WorktreeCreate is registered in "+r.source.path, "registering it replaces the client's own making of worktrees, which then fails", "take the entry out"))
		}
		known := slices.ContainsFunc(e.expected(), func(w registration.Entry) bool { return w.Event == r.event })
		if !known && !slices.Contains(extra, r.event) {
			extra = append(extra, r.event)
		}
	}
	if len(extra) == 0 {
		return nil
	}
	return one(info("hooks.extra", "registered without need: "+strings.Join(extra, ", "), "Plimsoll answers nothing to them", "take the entries out"))
}

// checkAsync looks for handlers that the client does not wait for: their denials come too late.
func checkAsync(e *exam) []Result {
	for _, r := range e.active() {
		if r.handler.Get("async").Kind() == rawjson.True || r.handler.Get("asyncRewake").Kind() == rawjson.True {
			return one(fail("hooks.async", r.event+" is registered as async in "+r.source.path, "the client does not wait for it, so it can deny and report nothing", "take async out, or run plimsoll setup --only hooks"+scopeFlag(r.source.scope)))
		}
	}
	return nil
}

// checkHookRuns runs every command of ours exactly as it is spelled.
func checkHookRuns(e *exam) []Result {
	var results []Result
	var done []string
	for _, r := range e.active() {
		key := r.spelled() + "\x00" + r.source.root
		if slices.Contains(done, key) {
			continue
		}
		done = append(done, key)
		o := e.Run(e.hookCommand(r))
		results = append(results, judgeHook(harness.Label(r.spelled()), o, scopeFlag(r.source.scope)))
	}
	return results
}

// judgeHook tells what the client makes of how a hook ended on empty input, to which ours says nothing and ends well.
func judgeHook(command string, o Outcome, scope string) Result {
	const id = "hooks.run"
	rewire := "plimsoll setup --only hooks" + scope + " wires the binary that is there"
	what := "the hook command " + command
	switch {
	case o.Err != nil:
		return fail(id, what+" cannot be started", o.Err.Error()+"; the client goes on as if there were no hook", rewire)
	case o.TimedOut:
		return fail(id, what+" does not end", "it was stopped after "+Limit.String()+"; the client waits for it at every matched call", "run it by hand with empty input to see what it waits for")
	case o.Code == notFound:
		return fail(id, what+" is not found", o.said()+"the client goes on as if there were no hook", rewire)
	case o.Code == notExecutable:
		return fail(id, what+" is not executable", o.said()+"the client goes on as if there were no hook", "make it executable, or "+rewire)
	case o.Code == 2:
		return fail(id, what+" ends with exit code 2", o.said()+"the client reads 2 as \"block\", so every matched call is blocked", rewire+"; plimsoll-hook itself never ends so")
	case o.Code != 0:
		return fail(id, fmt.Sprintf("%s ends with exit code %d", what, o.Code), o.said()+"plimsoll-hook itself always ends with 0", rewire)
	case o.Stdout != "":
		return fail(id, what+" answers to empty input", "it says "+harness.Label(o.Stdout)+"; plimsoll-hook says nothing", "take out of the command what prints")
	}
	return pass(id, what+" runs", "")
}

// hookCommand is how the client starts a handler.
func (e *exam) hookCommand(r registered) Command {
	env := e.childEnv()
	fill := []string{"${CLAUDE_PROJECT_DIR}", e.Project}
	if r.source.root != "" {
		env = append(env, "CLAUDE_PLUGIN_ROOT="+r.source.root)
		fill = append(fill, "${CLAUDE_PLUGIN_ROOT}", r.source.root)
	}
	placeholders := strings.NewReplacer(fill...)
	command := r.handler.Get("command").TextOr("")
	args := r.handler.Get("args")
	if args.Kind() != rawjson.Array {
		return Command{Shell: r.handler.Get("shell").TextOr(""), Line: command, Dir: e.Project, Env: env}
	}
	c := Command{Argv: []string{placeholders.Replace(command)}, Dir: e.Project, Env: env}
	for a := range args.Elements() {
		c.Argv = append(c.Argv, placeholders.Replace(a.TextOr("")))
	}
	return c
}

// childEnv is the environment that the client gives its children. The debug log is left out: nothing may be written.
func (e *exam) childEnv() []string {
	names := map[string]bool{"PLIMSOLL_DEBUG": true, "CLAUDE_PROJECT_DIR": true, "CLAUDECODE": true}
	var env []string
	for _, f := range e.Files {
		for name := range f.Root.Get("env").Members() {
			if v, ok := e.env(name); ok && !names[name] {
				names[name] = true
				env = append(env, name+"="+v)
			}
		}
	}
	for _, variable := range e.Environ {
		if name, _, _ := strings.Cut(variable, "="); !names[name] {
			env = append(env, variable)
		}
	}
	return append(env, "CLAUDECODE=1", "CLAUDE_PROJECT_DIR="+e.Project)
}

// Heard is when an event last reached a rule, at a minute's precision.
type Heard struct {
	Event string
	At    time.Time // zero: never
}

// findHeard reads the times at which events were last heard.
func (e *exam) findHeard() []Heard {
	var list []Heard
	for _, want := range e.expected() {
		if slices.ContainsFunc(list, func(h Heard) bool { return h.Event == want.Event }) {
			continue
		}
		h := Heard{Event: want.Event}
		if e.home != "" {
			if info, err := os.Stat(config.PathsIn(e.home).Heard(want.Event)); err == nil {
				h.At = info.ModTime()
			}
		}
		list = append(list, h)
	}
	return list
}

func (e *exam) lastHeard(event string) string {
	for _, h := range e.heard {
		if h.Event == event && !h.At.IsZero() {
			return "last heard " + age(e.Now.Sub(h.At)) + " ago"
		}
	}
	return "never heard so far"
}
