package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/config"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/settings"
)

func checkHome(e *exam) []Result {
	if e.home == "" {
		return one(fail("home", "there is no home folder", "HOME is not set to an absolute path, so no state is kept and nothing is measured",
			"set HOME for the client and for your shell"))
	}
	return one(pass("home", "state is kept below "+filepath.Join(e.home, ".claude"), ""))
}

// checkBinary looks for the hook binary that belongs to this tool, and for settings that run another one.
func checkBinary(e *exam) []Result {
	if e.HookErr != nil {
		return one(fail("binary", "plimsoll-hook is not found", e.HookErr.Error(), "install both binaries into one folder and run plimsoll setup from there"))
	}
	results := one(pass("binary", "plimsoll-hook is "+e.Hook, ""))
	seen := map[string]bool{}
	for _, r := range e.registered {
		path := r.binary()
		if !filepath.IsAbs(path) || seen[path] || sameFile(path, e.Hook) || r.source.plugin != "" {
			continue
		}
		seen[path] = true
		results = append(results, info("binary.other", "the settings run another binary: "+path, "this tool belongs to "+e.Hook+"; the two may differ in version",
			"plimsoll setup wires the one beside this tool"))
	}
	return results
}

func sameFile(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	return errA != nil || errB == nil && os.SameFile(ia, ib) // one that is missing is found out by running it
}

// checkSettings tells which settings files apply, and which of them the client cannot read.
func checkSettings(e *exam) []Result {
	var results []Result
	var order []string
	for _, f := range e.Files {
		switch {
		case f.Err != nil:
			results = append(results, fail("settings."+string(f.Scope), f.Path+" cannot be used", f.Err.Error(),
				"mend the file; until then nothing in it applies"))
		case f.Root != nil:
			order = append(order, string(f.Scope)+" ("+f.Path+")")
		}
	}
	switch {
	case len(order) == 0 && len(results) > 0:
		return results
	case len(order) == 0:
		return append(results, info("settings", "no settings file applies here", "", "plimsoll setup writes one"))
	}
	return append(results, pass("settings", "settings read, those that win first: "+strings.Join(order, ", "), ""))
}

// checkShapes looks for hook entries that the client refuses: one of them disables every hook of its file.
func checkShapes(e *exam) []Result {
	var results []Result
	for _, s := range e.sources {
		if where := malformed(s.hooks); where != "" {
			results = append(results, fail("hooks.shape", "the hooks in "+s.path+" are malformed", where+"; one malformed entry can disable all hooks of its file", "correct the entry"))
		}
	}
	return results
}

// malformed names the first thing in a hooks object that is not of the client's shape; "" when all is.
func malformed(hooks rawjson.Value) string {
	if hooks == nil {
		return ""
	}
	if hooks.Kind() != rawjson.Object {
		return "hooks is no object"
	}
	for event, groups := range hooks.Members() {
		if groups.Kind() != rawjson.Array {
			return event + " is no list"
		}
		i := 0
		for group := range groups.Elements() {
			at := fmt.Sprintf("%s[%d]", event, i)
			i++
			if m := group.Get("matcher"); m != nil && m.Kind() != rawjson.String {
				return at + " has a matcher that is no text"
			}
			if group.Get("hooks").Kind() != rawjson.Array {
				return at + " has no list of hooks"
			}
			for h := range group.Get("hooks").Elements() {
				kind, ok := h.Get("type").Text()
				if !ok {
					return at + " has a hook without a type"
				}
				if _, ok := h.Get("command").Text(); kind == "command" && !ok {
					return at + " has a command hook without a command"
				}
				if args := h.Get("args"); args != nil && args.Kind() != rawjson.Array {
					return at + " has args that are no list"
				}
			}
		}
	}
	return ""
}

// checkRules tells which rules are switched off.
func checkRules(e *exam) []Result {
	if e.env.Off() {
		return one(info("rules", "every rule is switched off", "PLIMSOLL is off"+e.by("PLIMSOLL"), "unset PLIMSOLL to switch them on again"))
	}
	var results []Result
	var on []string
	c := e.cfg
	variable, _ := strings.CutPrefix(c.Zones.Enabled.From, "environment ")
	switch {
	case strings.Contains(e.env.Get(variable), "${"):
		results = append(results, info("rules.zones", "whether the zone rules are on is unknown", variable+" holds an unexpanded placeholder"+e.by(variable),
			"set the plugin's option; where the placeholder stays they are off"))
	case !c.Zones.Enabled.V:
		results = append(results, info("rules.zones", "the zone rules are switched off", e.source(c.Zones.Enabled.From), ""))
	default:
		on = append(on, "zones "+c.Zones.Mode.V)
	}
	switch {
	case !c.Ceiling.Enabled.V:
		results = append(results, info("rules.ceiling", "the ceiling is switched off", e.source(c.Ceiling.Enabled.From), ""))
	case c.Ceiling.Strict.V:
		on = append(on, "ceiling strict")
	default:
		on = append(on, "ceiling warns only")
	}
	if e.kb.Mode.V == config.KBOff {
		results = append(results, info("rules.kb", "the KB gate is switched off", e.source(e.kb.Mode.From), ""))
	} else {
		on = append(on, "KB gate "+e.kb.Mode.V)
	}
	if len(on) > 0 {
		results = append(results, pass("rules", "rules that are on: "+strings.Join(on, ", "), ""))
	}
	return results
}

// by tells which file set a variable, in brackets; "" when the shell did.
func (e *exam) by(name string) string {
	if from := e.envFrom(name); from != "" {
		return " (" + from + ")"
	}
	return ""
}

// source is where a value came from, with the file that set the variable where one did.
func (e *exam) source(from string) string {
	if name, ok := strings.CutPrefix(from, "environment "); ok {
		return from + e.by(name)
	}
	return from
}

// checkProblems lists what somebody configured and what has no effect.
func checkProblems(e *exam) []Result {
	if len(e.cfg.Problems) == 0 {
		return one(pass("config", "every setting of Plimsoll's that is given is understood", ""))
	}
	var results []Result
	for i, p := range e.cfg.Problems {
		if slices.Contains(e.cfg.Problems[:i], p) {
			continue // the KB gate's variable is read for the user and again for the project
		}
		results = append(results, fail("config", "a setting has no effect", p, "correct it or take it out"))
	}
	return results
}

// age is a duration for people.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// scopeFlag is what setup has to be told to edit a file.
func scopeFlag(s settings.Scope) string {
	switch s {
	case settings.Project, settings.Local:
		return " --scope " + string(s)
	}
	return ""
}

// base is a command word's file name without folder and .exe, in either system's spelling.
func base(word string) string {
	return strings.TrimSuffix(word[strings.LastIndexAny(word, `/\`)+1:], ".exe")
}
