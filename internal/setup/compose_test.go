package setup

import (
	"os"
	"path/filepath"
	"testing"
)

// The predecessor's table, with our wrapper for its shim: CG and RLG are shims of the predecessor and of another tool.
func TestCompose(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "my-statusline"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	const (
		P   = "/opt/bin/plimsoll-hook statusline"
		CG  = "bash ~/.claude/context-guard/bin/statusline-shim.sh"
		RLG = "bash ~/.claude/rate-limit-guard/bin/statusline-shim.sh"
	)
	for _, c := range []struct {
		n, in, want string
		peeled      int
		shell       string
	}{
		{"C1", RLG + " ~/.claude/statusline/render.sh", P + " " + RLG + " ~/.claude/statusline/render.sh", 0, ""},
		{"C2", CG + " sh -c 'THEME=dark my-statusline --flag'", P + " sh -c 'THEME=dark my-statusline --flag'", 2, "assignment"},
		{"C3", "sh -c 'ulimit -n'", P + " sh -c 'ulimit -n'", 0, ""},
		{"C4", CG + ` sh -c 'sh -c '\''THEME=dark my-statusline'\'''`, P + " sh -c 'THEME=dark my-statusline'", 3, "assignment"},
		{"C5", CG + ` sh -c '` + RLG + ` my-renderer --format '\''a b'\'''`, P + " " + RLG + " my-renderer --format 'a b'", 2, ""},
		{"C6", "ulimit '-n'", P + ` sh -c 'ulimit '\''-n'\'''`, 0, "builtin"},
		{"C7", "my-statusline --format 'a | b'", P + " my-statusline --format 'a | b'", 0, ""},
		{"C8", "my-statusline | my-filter", P + " sh -c 'my-statusline | my-filter'", 0, "shell syntax"},
		{"C9a", "(printf hi)", P + " sh -c '(printf hi)'", 0, "shell syntax"},
		{"C9b", "! false", P + " sh -c '! false'", 0, "shell syntax"},
		{"C9c", "[[ -f file ]]", P + " sh -c '[[ -f file ]]'", 0, "shell syntax"},
		{"C10a", "", P, 0, ""},
		{"C10b", CG, P, 1, ""},
		{"C11", `bash "~/.claude/plugins/cache/melodic-software/context-guard/0.1.0/scripts/statusline-tee.sh" ~/.claude/statusline/render.sh`,
			P + " ~/.claude/statusline/render.sh", 1, ""},
		{"C12", "THEME=$(date +%H) my-statusline", P + " sh -c 'THEME=$(date +%H) my-statusline'", 0, "assignment"},
		{"ours", P + " my-statusline", P + " my-statusline", 1, ""},
		{"ours elsewhere", "'/a b/plimsoll-hook' statusline my-statusline", P + " my-statusline", 1, ""},
		{"ours in the full tool", "plimsoll statusline my-statusline", P + " my-statusline", 1, ""},
		{"ours on Windows", `"C:/p/plimsoll-hook.exe" statusline x`, P + " x", 1, ""},
		{"redirection", "my-statusline 2>/dev/null", P + " sh -c 'my-statusline 2>/dev/null'", 0, "shell syntax"},
		{"background", "my-statusline &", P + " sh -c 'my-statusline &'", 0, "shell syntax"},
		{"two lines", "my-statusline\nother", P + " sh -c 'my-statusline\nother'", 0, "shell syntax"},
		{"expansion", `my-statusline "$HOME/x" $(date)`, P + ` my-statusline "$HOME/x" $(date)`, 0, ""},
		{"node", `node ~/.claude/line.js`, P + ` node ~/.claude/line.js`, 0, ""},
		{"unknown name", `no-such-command -x`, P + ` no-such-command -x`, 0, ""},
	} {
		got, err := Compose(P, c.in)
		if err != nil || got.Command != c.want || got.Peeled != c.peeled || got.Shell != c.shell {
			t.Errorf("%s: %q (peeled %d, shell %q, %v)\nwant   %q (peeled %d, shell %q)", c.n, got.Command, got.Peeled, got.Shell, err, c.want, c.peeled, c.shell)
			continue
		}
		again, err := Compose(P, got.Command)
		if err != nil || again.Command != got.Command { // C18
			t.Errorf("%s: composed again %q, %v", c.n, again.Command, err)
		}
	}
	for _, bad := range []string{"my-statusline 'unbalanced", `x "`, "$("} { // C15
		if got, err := Compose(P, bad); err == nil {
			t.Errorf("%q: composed to %q", bad, got.Command)
		}
	}
}
