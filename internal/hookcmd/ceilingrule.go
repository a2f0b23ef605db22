package hookcmd

import (
	"os"
	"path/filepath"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/config"
	"plimsoll/internal/guard"
	"plimsoll/internal/settings"
	"plimsoll/internal/snapshot"
)

// ceilingRules is the context ceiling, unless it is switched off.
func (p Process) ceilingRules(c config.Ceiling) []guard.Rule {
	if !c.Enabled.V {
		return nil
	}
	g := ceiling.Guard{Settings: c, State: p.Env.StateDir(), Now: p.Now}
	project := p.Env.Get("CLAUDE_PROJECT_DIR")
	if project == "" {
		project, _ = os.Getwd()
	}
	g.Skills = []string{filepath.Join(project, ".claude", "skills")}
	if dir := settings.ConfigDir(p.Env); dir != "" {
		g.Skills = append(g.Skills, filepath.Join(dir, "skills"))
		g.Plugins = filepath.Join(dir, "plugins", "cache")
	}
	g.Store, g.HasStore = snapshot.In(p.Env.Home())
	return []guard.Rule{ceiling.Rule(g)}
}
