package settings

import (
	"path/filepath"
	"reflect"
	"testing"

	"plimsoll/internal/config"
)

func TestLocalPaths(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"repo/.git/HEAD":                   "",
		"repo/.git/worktrees/wt/commondir": "../..\n",
		"wt/.git":                          "gitdir: " + filepath.Join(root, "repo/.git/worktrees/wt") + "\n",
		"repo/beside/.git":                 "gitdir: ../.git/worktrees/wt\n",
		"repo/module/.git":                 "gitdir: ../.git/modules/module\n",
		"repo/.git/modules/module/HEAD":    "",
		"bare.git/worktrees/b/commondir":   "../..\n",
		"b/.git":                           "gitdir: " + filepath.Join(root, "bare.git/worktrees/b") + "\n",
		"moved/.git":                       "gitdir: /nowhere/at/all\n",
		"broken/.git":                      "no pointer\n",
		"empty/.git":                       "",
		"plain/x":                          "",
	} {
		put(t, filepath.Join(root, name), text)
	}
	for start, repo := range map[string]string{
		"repo": "repo", "repo/a/b": "repo", "wt": "repo", "wt/a": "repo", "repo/beside": "repo", "repo/module": "repo/module",
		"repo/module/a": "repo/module", "b": "b", "b/a": "b", "moved": "moved", "broken/a": "broken", "empty": "empty", "plain": "plain",
	} {
		want := []string{filepath.Join(root, repo, ".claude", "settings.local.json")}
		if start != repo {
			want = append(want, filepath.Join(root, start, ".claude", "settings.local.json"))
		}
		if got := localPaths(filepath.Join(root, start)); !reflect.DeepEqual(got, want) {
			t.Errorf("started in %s: %q, want %q", start, got, want)
		}
	}
}

// The repository's local file wins over the start folder's, and both over the project's.
func TestRepositorysLocalSettingsWin(t *testing.T) {
	repo := t.TempDir()
	start := filepath.Join(repo, "sub")
	put(t, filepath.Join(repo, ".git", "HEAD"), "")
	put(t, filepath.Join(repo, ".claude", "settings.local.json"), `{"a":"repository"}`)
	put(t, filepath.Join(repo, ".claude", "settings.json"), `{"d":"not read from here"}`)
	put(t, filepath.Join(start, ".claude", "settings.local.json"), `{"a":"start","b":"start"}`)
	put(t, filepath.Join(start, ".claude", "settings.json"), `{"a":"project","b":"project","c":"project"}`)
	files := Load(config.Env(func(string) (string, bool) { return "", false }), start)
	for key, want := range map[string]string{"a": "repository", "b": "start", "c": "project", "d": ""} {
		if v, _ := Lookup(files, key); v.TextOr("") != want {
			t.Errorf("%s is %q, want %q", key, v.TextOr(""), want)
		}
	}
}
