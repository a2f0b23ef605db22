package hookcmd

import (
	"plimsoll/internal/config"
	"plimsoll/internal/guard"
	"plimsoll/internal/kbgate"
)

// kbRule is the KB gate. Its mode is a project's, so the rule itself finds out whether it is off.
func (p Process) kbRule(c config.Config) guard.Rule {
	return kbgate.Rule(kbgate.Gate{
		Settings:   func(root string) config.KB { return c.KBFor(root, p.Env) },
		ProjectDir: p.Env.Get("CLAUDE_PROJECT_DIR"),
		Now:        p.Now,
		Debug:      p.debug,
	})
}
