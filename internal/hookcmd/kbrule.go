package hookcmd

import (
	"plimsoll/internal/config"
	"plimsoll/internal/guard"
	"plimsoll/internal/kbgate"
	"plimsoll/internal/kbsource"
)

// kbRule is the KB gate. Its mode is a project's, so the rule itself finds out whether it is off.
func (p Process) kbRule(c config.Config) guard.Rule {
	return kbgate.Rule(kbgate.Gate{
		Settings:   func(root string) config.KB { return c.KBFor(root, p.Env) },
		AtHand:     p.atHand,
		ProjectDir: p.Env.Get("CLAUDE_PROJECT_DIR"),
		Now:        p.Now,
		Debug:      p.debug,
	})
}

// atHand leaves the searches that the session has. Where none is found the settings stand: a server may be registered in
// a way that cannot be seen from here.
func (p Process) atHand(kb config.KB, root string) config.KB {
	has := kbsource.Find(kb, p.Env, root)
	if len(has.Tools)+len(has.Commands) > 0 {
		kb.SearchTools.V, kb.SearchCommands.V = has.Tools, has.Commands
	}
	return kb
}
