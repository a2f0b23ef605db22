package memories

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/config"
	"plimsoll/internal/kb/note"
)

func env(vars map[string]string) config.Env {
	return func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

// labels is what Find found, as "label root" relative to top.
func labels(t *testing.T, top string, p Places) (out []string) {
	t.Helper()
	for _, f := range p.Found {
		rel, err := filepath.Rel(top, f.Root)
		if err != nil || f.Dir != filepath.Join(f.Root, ".claude", "memories") {
			t.Errorf("%+v: %v", f, err)
		}
		out = append(out, f.Label+" "+filepath.ToSlash(rel))
	}
	return out
}

func TestFind(t *testing.T) {
	top := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{top}, parts...)...) }
	for _, dir := range []string{"home", "home/mono", "home/mono/packages", "home/mono/packages/app", "elsewhere/lone"} {
		mkdir(t, at(dir, ".claude", "memories"))
	}
	mkdir(t, at("home/mono/packages/app/.git"))
	mkdir(t, at("home/mono/packages/app/src/deep"))
	mkdir(t, at("elsewhere/lone/sub"))
	mkdir(t, at("home/plain/.git"))
	write(t, at("home/mono/tree/.git"), "gitdir: elsewhere\n")
	if err := os.Symlink(at("home/mono/.claude/memories"), at("linked-memories")); err != nil {
		t.Skip(err)
	}
	mkdir(t, at("linked/.claude"))
	mkdir(t, at("linked/.git"))
	if err := os.Symlink(at("linked-memories"), at("linked/.claude/memories")); err != nil {
		t.Fatal(err)
	}
	home := map[string]string{"HOME": at("home")}
	for name, c := range map[string]struct {
		dir  string
		env  map[string]string
		want []string
	}{
		"project, parents, user": {"home/mono/packages/app/src/deep", home, []string{"project home/mono/packages/app", "parent home/mono/packages", "parent2 home/mono", "user home"}},
		"no project notes":       {"home/plain", home, []string{"user home"}},
		"a linked worktree":      {"home/mono/tree", home, []string{"parent home/mono", "user home"}},
		"the home folder itself": {"home", home, []string{"user home"}},
		"outside of home":        {"elsewhere/lone", home, []string{"project elsewhere/lone", "user home"}},
		"below, without git":     {"elsewhere/lone/sub", home, []string{"parent elsewhere/lone", "user home"}},
		"CLAUDE_PROJECT_DIR":     {"elsewhere/lone/sub", map[string]string{"HOME": at("home"), "CLAUDE_PROJECT_DIR": at("elsewhere/lone")}, []string{"project elsewhere/lone", "user home"}},
		"no home":                {"elsewhere/lone", nil, []string{"project elsewhere/lone"}},
		"a relative home":        {"elsewhere/lone", map[string]string{"HOME": "home"}, []string{"project elsewhere/lone"}},
		"a link to a folder":     {"linked", home, []string{"project linked", "user home"}},
	} {
		if got := labels(t, top, Find(at(c.dir), env(c.env))); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}

func list(t *testing.T, f Folder) (names []string, ignored map[string]string) {
	t.Helper()
	o, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	files, out, err := o.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		names = append(names, file.Name)
	}
	ignored = map[string]string{}
	for _, i := range out {
		ignored[i.Path] = i.Why
	}
	return names, ignored
}

func TestFilesStayInside(t *testing.T) {
	root := t.TempDir()
	f := in(Project, root)
	outside := filepath.Join(t.TempDir(), "secret.md")
	write(t, outside, "secret")
	write(t, filepath.Join(f.Dir, "a.md"), "a")
	write(t, filepath.Join(f.Dir, "sub", "b.MD"), "b")
	write(t, filepath.Join(f.Dir, "big.md"), strings.Repeat("x", MaxFile+1))
	write(t, filepath.Join(f.Dir, "limit.md"), strings.Repeat("x", MaxFile))
	write(t, filepath.Join(f.Dir, "other.txt"), "x")
	write(t, filepath.Join(f.Dir, ".hidden.md"), "x")
	write(t, filepath.Join(f.Dir, ".obsidian", "c.md"), "x")
	mkdir(t, filepath.Join(f.Dir, "folder.md"))
	for link, target := range map[string]string{
		"out.md": outside, "outdir": filepath.Dir(outside), "dead.md": "nothing.md", "in.md": "a.md", "loop": ".", "up.md": "../../../x.md",
	} {
		if err := os.Symlink(target, filepath.Join(f.Dir, link)); err != nil {
			t.Skip(err)
		}
	}
	names, ignored := list(t, f)
	if want := []string{"a.md", "limit.md", "sub/b.MD"}; !reflect.DeepEqual(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
	const link = "a link that leaves the folder or leads nowhere"
	if want := map[string]string{"out.md": link, "outdir": link, "dead.md": link, "up.md": link, "big.md": "larger than 1 MiB"}; !reflect.DeepEqual(ignored, want) {
		t.Errorf("ignored %q, want %q", ignored, want)
	}
	o, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	for _, name := range []string{"out.md", "outdir/secret.md", "../memories/a.md/../../x", "../../../../etc/passwd", "/etc/passwd", outside, "big.md", "folder.md", "none.md", ""} {
		if text, err := o.Read(name); err == nil {
			t.Errorf("Read(%q) = %.20q", name, text)
		}
	}
	if text, err := o.Read("in.md"); err != nil || text != "a" {
		t.Errorf("a link inside: %q, %v", text, err)
	}
	write(t, filepath.Join(f.Dir, "latin.md"), "caf\xe9")
	if _, err := o.Read("latin.md"); !errors.Is(err, ErrNotText) {
		t.Errorf("not UTF-8: %v", err)
	}
}

// What Files says of a file is what a plain walk and look say, at any depth and also of many.
func TestFilesAsPlainWalk(t *testing.T) {
	f := in(Project, t.TempDir())
	for i := range 300 {
		name := filepath.Join(f.Dir, strings.Repeat("d/", i%4), "n"+strconv.Itoa(i)+".md")
		write(t, name, strings.Repeat("x", i))
		at := time.Unix(1_700_000_000+int64(i), int64(i)*1000)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	var want []File
	err := filepath.WalkDir(f.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(f.Dir, path)
		want = append(want, File{filepath.ToSlash(rel), info.Size(), info.ModTime().UnixNano()})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	o, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if got, _, err := o.Files(); err != nil || len(got) != 300 || !reflect.DeepEqual(got, want) {
		t.Errorf("%v; files %v, want %v", err, got, want)
	}
}

func TestAdd(t *testing.T) {
	f := in(Project, t.TempDir())
	add := func(sub string, d Draft) (string, string) {
		t.Helper()
		name, err := f.Add(sub, d)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(f.Dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return name, string(data)
	}
	name, text := add("", Draft{Title: "pgx: break behind PgBouncer!", Description: `say "so"`, Tags: []string{"a b", "c"}, Date: "2026-01-02", Text: "\nBody\n"})
	if want := "---\nname: \"pgx: break behind PgBouncer!\"\ndescription: \"say \\\"so\\\"\"\ntags: [a b, c]\ndate: 2026-01-02\n---\n\nBody\n"; name != "pgx-break-behind-pgbouncer.md" || text != want {
		t.Errorf("%s:\n%s\nwant\n%s", name, text, want)
	}
	name, text = add("gotchas/deep", Draft{Title: "Own keys", Tags: []string{"x"}, Date: "2026-01-02", Text: "---\r\nname: Mine\r\nextra: kept\r\n---\r\nBody"})
	if n := note.Parse(text); name != "gotchas/deep/own-keys.md" || n.Name != "Mine" || n.Date != "2026-01-02" || !reflect.DeepEqual(n.Tags, []string{"x"}) || !strings.Contains(text, "\nextra: kept\n") || strings.Count(text, "name:") != 1 || !strings.HasSuffix(text, "\nBody\n") {
		t.Errorf("%s:\n%s", name, text)
	}
	if _, err := f.Add("", Draft{Title: "PGX break behind pgbouncer", Text: "new"}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("writing over: %v", err)
	}
	if data, err := os.ReadFile(filepath.Join(f.Dir, "pgx-break-behind-pgbouncer.md")); err != nil || strings.Contains(string(data), "new") {
		t.Errorf("the note became %q, %v", data, err)
	}
	for why, d := range map[string]Draft{
		"no text": {Title: "x", Text: " \n"}, "no name": {Title: "!?", Text: "x"}, "not UTF-8": {Title: "x", Text: "\xff"}, "too large": {Title: "x", Text: strings.Repeat("x", MaxFile+1)},
	} {
		if name, err := f.Add("", d); err == nil {
			t.Errorf("%s: wrote %s", why, name)
		}
	}
	for _, sub := range []string{"..", "../..", "a/../../b", "/tmp"} {
		if name, err := f.Add(sub, Draft{Title: "escape", Text: "x"}); err == nil {
			t.Errorf("into %s: wrote %s", sub, name)
		}
	}
}
