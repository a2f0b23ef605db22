package ceiling

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/config"
	"plimsoll/internal/guard"
	"plimsoll/internal/harness"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/snapshot"
	"plimsoll/internal/statefile"
	"plimsoll/internal/transcript"
)

// Guard is what the rule needs from outside.
type Guard struct {
	Settings config.Ceiling
	Store    snapshot.Store // the session's snapshot; unused without HasStore
	HasStore bool
	State    string   // the folder of private state, "" for none
	Skills   []string // folders that hold skills, each <name>/SKILL.md
	Plugins  string   // the client's plugin cache: <marketplace>/<plugin>/<version>/skills
	Now      func() time.Time
}

// Rule is the ceiling.
func Rule(g Guard) guard.Rule {
	return guard.Rule{
		Name: "ceiling",
		Hears: func(e harness.Event) bool {
			return e.Name == harness.PreToolUse && Gated(e.ToolName) && e.TranscriptPath != ""
		},
		Judge: g.judge,
	}
}

func (g Guard) judge(e harness.Event) harness.Verdict {
	skill := ""
	if e.ToolName == "Skill" {
		if skill = skillName(e.ToolInput); Recovers(skill, g.Settings.RecoverySkills.V) {
			return harness.Verdict{}
		}
	}
	path, chain := e.TranscriptPath, transcript.Main
	if e.AgentID != "" {
		// A sub-agent is another context. Its payload carries the parent's transcript, its rows are in its own.
		agent, ok := harness.ParseID(e.AgentID)
		if !ok {
			return harness.Verdict{}
		}
		path, chain = transcript.AgentPath(path, agent), transcript.Side
	}
	tail, err := transcript.ReadTail(path, chain)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return harness.Verdict{Decision: harness.FailOpen, Why: "transcript-unreadable"}
	}
	if !tail.Measured {
		return harness.Verdict{} // nothing is known, so nothing is said; compaction begins a new climb by itself
	}
	p := PolicyOf(g.Settings)
	j := p.Judge(e.ToolName, tail.Occupancy, ResolveWindow(p.Override, g.measuredWindow(e), tail.Model, tail.Occupancy))
	c := g.claims(e)
	if !j.Over {
		c.reset()
		return g.weigh(e, skill, p, j, c)
	}
	what := label(e, skill)
	v := harness.Verdict{Figures: figures(p, j, what)}
	if j.Denied {
		v.Decision = harness.Denial
		v.Reason, v.ToOperator = denialForModel(e.ToolName, j, what), denialForOperator(e.ToolName, j, what)
		return v
	}
	// One warning for each band of a climb, and again for each further 5% of the window.
	if !c.first(int(j.Band)*1000 + int(min(tail.Occupancy*20/max(j.Window.Tokens, 1), 999))) {
		return harness.Verdict{}
	}
	v.Decision = harness.Note
	v.ToModel, v.ToOperator = warningForModel(p, e.ToolName, j, what), warningForOperator(p, e.ToolName, j, what)
	return v
}

// measuredWindow is the client's own figure for the session's window, in tokens; 0 when there is none. It is the main
// thread's: a sub-agent may run another model.
func (g Guard) measuredWindow(e harness.Event) int64 {
	if !g.HasStore || e.AgentID != "" || e.Session == (harness.ID{}) {
		return 0
	}
	return int64(g.Store.Resolve(e.Session, g.Now()).Tokens.Window)
}

// skillName is the skill that a call names, "" when it names none.
func skillName(input rawjson.Value) string {
	if name := input.Get("skill").TextOr(""); name != "" {
		return name
	}
	switch input.Get("skill").Kind() {
	case rawjson.Absent, rawjson.Null, rawjson.False, rawjson.String:
		return input.Get("name").TextOr("")
	}
	return ""
}

func figures(p Policy, j Judgement, what string) []harness.Figure {
	return []harness.Figure{
		{Key: "occupancy", Value: j.Occupancy, Provenance: "transcript"},
		{Key: "window", Value: j.Window.Tokens, Provenance: string(j.Window.Provenance)},
		{Key: "threshold", Value: j.Threshold, Provenance: string(j.Bound)},
		{Key: "percent", Value: p.Percent},
		{Key: "absolute", Value: p.Absolute},
		{Key: "strict", Value: p.Strict},
		{Key: "gate_agent", Value: p.GateAgent},
		{Key: "what", Value: what},
	}
}

// bytesPerToken is the usual rule of thumb for English text and code. It is good enough to warn, never to block.
const bytesPerToken = 4

// weigh warns of a skill that by itself would load a context past its ceiling.
func (g Guard) weigh(e harness.Event, skill string, p Policy, j Judgement, c claims) harness.Verdict {
	if skill == "" {
		return harness.Verdict{}
	}
	load, ok := g.load(skill)
	if !ok || j.Occupancy+load < j.Threshold || !c.firstLoad(skill) {
		return harness.Verdict{}
	}
	what := label(e, skill)
	return harness.Verdict{
		Decision: harness.Note, Why: "load", ToModel: loadForModel(j, load, what), ToOperator: loadForOperator(j, load, what),
		Figures: append(figures(p, j, what), harness.Figure{Key: "load", Value: load, Provenance: "estimate"}),
	}
}

// load estimates what a skill's text weighs, in tokens. Only plain names are looked for: a name is a part of a path here.
func (g Guard) load(skill string) (tokens int64, ok bool) {
	plugin, name := parts(skill)
	if _, plain := harness.ParseID(name); !plain {
		return 0, false
	}
	dirs := g.Skills
	if plugin != "" {
		dirs = g.pluginDirs(plugin)
	}
	for _, dir := range dirs {
		if info, err := os.Stat(filepath.Join(dir, name, "SKILL.md")); err == nil && info.Mode().IsRegular() {
			return info.Size() / bytesPerToken, true
		}
	}
	return 0, false
}

// pluginDirs are the skill folders of a plugin's installed versions, the newest first.
func (g Guard) pluginDirs(plugin string) []string {
	if _, plain := harness.ParseID(plugin); !plain || g.Plugins == "" {
		return nil
	}
	type version struct {
		dir string
		at  time.Time
	}
	var versions []version
	markets, _ := os.ReadDir(g.Plugins)
	for _, m := range markets {
		installed, _ := os.ReadDir(filepath.Join(g.Plugins, m.Name(), plugin))
		for _, v := range installed {
			if info, err := v.Info(); err == nil {
				versions = append(versions, version{filepath.Join(g.Plugins, m.Name(), plugin, v.Name(), "skills"), info.ModTime()})
			}
		}
	}
	slices.SortFunc(versions, func(a, b version) int { return b.at.Compare(a.at) })
	var dirs []string
	for _, v := range versions {
		dirs = append(dirs, v.dir)
	}
	return dirs
}

// claims are the warnings that one context was given in one climb. Each is a file that only one process can make, so of
// the hooks of one batch, which run at once, one warns.
type claims struct {
	dir string // "" when no state can be kept
	now func() time.Time
}

// loadsExt ends the folder of the claims on skills' weights. No id has the character.
const loadsExt = "+loads"

// linked tells whether somebody put a link, or anything else that is no folder, where the claims go. Nothing is written
// or removed behind it.
func (c claims) linked() bool {
	for _, dir := range []string{filepath.Dir(c.dir), c.dir} {
		if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
			return true
		}
	}
	return false
}

// claims belong to a context and to its latest compaction: a compacted context climbs anew.
func (g Guard) claims(e harness.Event) claims {
	if g.State == "" || e.Session == (harness.ID{}) {
		return claims{}
	}
	key := e.Session.String()
	if e.AgentID != "" {
		key += "." + e.AgentID
	} else if g.HasStore {
		if info, err := os.Stat(g.Store.MarkerPath(e.Session)); err == nil {
			key += "@" + strconv.FormatInt(info.ModTime().UnixNano(), 36)
		}
	}
	return claims{filepath.Join(g.State, "ceiling", key), g.Now}
}

// first claims a warning that stands for itself and all lesser ones. Where nothing can be claimed every call warns: a
// read-only home must not silence the ceiling.
func (c claims) first(rank int) bool {
	if c.dir == "" || c.linked() {
		return true
	}
	entries, err := os.ReadDir(c.dir)
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && n >= rank {
			return false
		}
	}
	if err != nil {
		c.prune() // a context's first warning: no other call pays for it
	}
	return c.claim(strconv.Itoa(rank))
}

// firstLoad claims the warning of one skill's weight, for this climb. It has a folder of its own, since the context is
// below its ceiling then, where a climb that was warned of ends.
func (c claims) firstLoad(skill string) bool {
	if c.dir == "" {
		return true
	}
	plugin, name := parts(skill)
	c.dir += loadsExt
	return c.linked() || c.claim(plugin+"+"+name)
}

func (c claims) claim(name string) bool {
	if err := os.MkdirAll(c.dir, statefile.DirMode); err != nil {
		return true
	}
	f, err := os.OpenFile(filepath.Join(c.dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, statefile.FileMode)
	if err != nil {
		return !errors.Is(err, fs.ErrExist)
	}
	f.Close()
	return true
}

// reset ends a climb, if one was warned of: its warnings and those of skills' weights may be said again.
func (c claims) reset() {
	if c.dir == "" || c.linked() {
		return
	}
	if _, err := os.Lstat(c.dir); err != nil {
		return
	}
	c.remove()
	if c.dir += loadsExt; !c.linked() {
		c.remove()
	}
}

// remove takes a folder of claims away. Claims are empty files, and a link in place of one goes without what it points to;
// whatever else stands there is somebody else's.
func (c claims) remove() {
	entries, _ := os.ReadDir(c.dir)
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && (info.Mode().IsRegular() && info.Size() == 0 || info.Mode().Type() == fs.ModeSymlink) {
			_ = os.Remove(filepath.Join(c.dir, e.Name()))
		}
	}
	_ = os.Remove(c.dir)
}

// prune removes the claims of contexts that were not warned for as long as snapshots are kept.
func (c claims) prune() {
	root := filepath.Dir(c.dir)
	cutoff := c.now().Add(-snapshot.PruneAge)
	entries, _ := os.ReadDir(root)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.IsDir() && info.ModTime().Before(cutoff) {
			claims{dir: filepath.Join(root, e.Name())}.remove()
		}
	}
}

// label names what is loaded, as the payload has it, made fit to be shown; it cannot look like one of our tags.
func label(e harness.Event, skill string) string {
	kind, name := "invoking skill ", skill
	if e.ToolName != "Skill" {
		kind, name = "loading agent ", e.ToolInput.Get("subagent_type").TextOr("")
	}
	name = strings.NewReplacer("[", "(", "]", ")", "'", "’").Replace(harness.Label(name))
	if name == "" {
		name = "?"
	}
	return kind + "'" + name + "'"
}
