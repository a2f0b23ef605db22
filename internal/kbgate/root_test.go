package kbgate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRoot(t *testing.T) {
	top := t.TempDir() // not below any .git
	mk := func(parts ...string) string {
		dir := filepath.Join(append([]string{top}, parts...)...)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	repo, plain, env := mk("repo"), mk("plain", "sub"), mk("env")
	mk("repo", ".git")
	inner := mk("repo", "a", "inner")
	worktree := mk("repo", "a", "worktree")
	if err := os.WriteFile(filepath.Join(worktree, ".git"), []byte("gitdir: elsewhere\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	deep := mk("repo", "a", "worktree", "x", "y")
	for _, c := range []struct{ name, cwd, env, want string }{
		{"at the root", repo, "", repo},
		{"below it", inner, env, repo},
		{"a linked worktree", deep, env, worktree},
		{"a folder that is gone", filepath.Join(inner, "gone"), "", repo},
		{"no git", plain, "", plain},
		{"no git, client's folder", plain, env, env},
		{"untidy", inner + "/../inner//", "", repo},
		{"no cwd", "", env, env},
		{"relative", "repo", env, env},
		{"nothing", "", "", ""},
		{"all relative", "repo", "env", ""},
		{"too long", "/" + strings.Repeat("x/", maxPath), "", ""},
	} {
		if got := Root(c.cwd, c.env); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
