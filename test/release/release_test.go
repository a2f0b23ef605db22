// Package release checks what a release is made of against the tree. goreleaser itself is asked by "make release-check",
// which takes minutes.
package release

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const root = "../.."

type info struct {
	Owner, Group, Mtime string
}

// configuration has the keys that our .goreleaser.yaml may have. None of them leads to a host: what publishes, signs or
// announces is not among them, and release and changelog are only there to be switched off.
type configuration struct {
	Version int
	Project string `yaml:"project_name"`
	Before  struct{ Hooks []string }
	Builds  []struct {
		ID, Main, Binary string
		Env, Flags       []string
		Ldflags          []string
		ModTimestamp     string `yaml:"mod_timestamp"`
		Goos, Goarch     []string
	}
	Archives []struct {
		ID              string
		IDs             []string
		Formats         []string
		NameTemplate    string `yaml:"name_template"`
		WrapInDirectory string `yaml:"wrap_in_directory"`
		BuildsInfo      info   `yaml:"builds_info"`
		Files           []struct {
			Src, Dst    string
			StripParent bool `yaml:"strip_parent"`
			Info        info
		}
	}
	Checksum struct {
		NameTemplate string `yaml:"name_template"`
		Algorithm    string
	}
	Snapshot struct {
		VersionTemplate string `yaml:"version_template"`
	}
	Changelog, Release struct{ Disable bool }
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func load(t *testing.T) (c configuration) {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(read(t, ".goreleaser.yaml")))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNothingIsPublished(t *testing.T) {
	if c := load(t); !c.Release.Disable || !c.Changelog.Disable {
		t.Errorf("release %+v, changelog %+v", c.Release, c.Changelog)
	}
}

// Every program of the tree is built, for the same platforms, and so that a second build gives the same bytes and knows
// its commit.
func TestBothBinariesAreBuiltAlike(t *testing.T) {
	c := load(t)
	dirs, err := os.ReadDir(filepath.Join(root, "cmd"))
	if err != nil {
		t.Fatal(err)
	}
	var programs, built, archived []string
	for _, d := range dirs {
		programs = append(programs, d.Name())
	}
	for _, b := range c.Builds {
		built = append(built, b.Binary)
		if b.ID != b.Binary || b.Main != "./cmd/"+b.Binary {
			t.Errorf("build %s makes %s of %s", b.ID, b.Binary, b.Main)
		}
		if !slices.Equal(b.Goos, c.Builds[0].Goos) || !slices.Equal(b.Goarch, c.Builds[0].Goarch) || len(b.Goos) == 0 || len(b.Goarch) == 0 {
			t.Errorf("%s is built for %v on %v", b.ID, b.Goarch, b.Goos)
		}
		if !slices.Contains(b.Flags, "-trimpath") || !slices.Contains(b.Flags, "-buildvcs=true") || !slices.Contains(b.Env, "CGO_ENABLED=0") ||
			b.ModTimestamp != "{{ .CommitTimestamp }}" {
			t.Errorf("%s cannot be reproduced, or does not know its commit: %+v", b.ID, b)
		}
	}
	slices.Sort(built)
	if !slices.Equal(built, programs) {
		t.Errorf("built are %v, programs are %v", built, programs)
	}
	if len(c.Archives) != 1 {
		t.Fatalf("%d archives", len(c.Archives))
	}
	archived = slices.Sorted(slices.Values(c.Archives[0].IDs))
	if !slices.Equal(archived, programs) {
		t.Errorf("archived are %v, programs are %v", archived, programs)
	}
}

// What an archive is to hold is there, is dated by the commit, and lacks nothing that the README leads to.
func TestArchivesHoldWhatIsThere(t *testing.T) {
	c := load(t)
	a := c.Archives[0]
	tracked := os.DirFS(root)
	covered := func(name string) bool {
		return slices.ContainsFunc(a.Files, func(f struct {
			Src, Dst    string
			StripParent bool `yaml:"strip_parent"`
			Info        info
		}) bool {
			whole, below := strings.CutSuffix(f.Src, "/**") // goreleaser's /**/* leaves out what stands in the folder itself
			match, _ := path.Match(f.Src, name)
			return match || below && strings.HasPrefix(name, whole+"/")
		})
	}
	if a.BuildsInfo.Mtime != "{{ .CommitDate }}" {
		t.Errorf("binaries are dated %q", a.BuildsInfo.Mtime)
	}
	for _, f := range a.Files {
		if f.Info != a.BuildsInfo {
			t.Errorf("%s is %+v", f.Src, f.Info)
		}
		if strings.HasPrefix(f.Src, ".generated/") {
			continue
		}
		found, err := fs.Glob(tracked, strings.TrimSuffix(f.Src, "/**"))
		if err != nil || len(found) == 0 {
			t.Errorf("%s matches nothing: %v", f.Src, err)
		}
	}
	for _, name := range []string{"LICENSE", "CHANGELOG.md", "plugin/hooks/hooks.json", "plugin/.mcp.json", ".claude-plugin/marketplace.json"} {
		if !covered(name) {
			t.Errorf("%s is in no archive", name)
		}
	}
	for _, m := range regexp.MustCompile(`\]\(([^):#]+)\)`).FindAllStringSubmatch(read(t, "README.md"), -1) {
		name := strings.TrimSuffix(m[1], "/")
		if _, err := fs.Stat(tracked, name); err != nil {
			t.Errorf("the README leads to %s: %v", name, err)
		}
		if !covered(name) {
			t.Errorf("the README leads to %s, which is in no archive", name)
		}
	}
	made := regexp.MustCompile(`go run (\./\S+) (\S+)`).FindStringSubmatch(strings.Join(c.Before.Hooks, "\n"))
	if made == nil {
		t.Fatalf("nothing makes man pages: %q", c.Before.Hooks)
	}
	if _, err := fs.Stat(tracked, path.Join(path.Clean(made[1]), "main.go")); err != nil {
		t.Error(err)
	}
	for _, part := range []string{"man", "completions"} {
		if name := made[2] + "/" + part + "/x"; !covered(name) {
			t.Errorf("%s is made and in no archive", name)
		}
	}
}

var heading = regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+)\b`)

// The plugin's version is the one that the changelog tells of first.
func TestVersionsAgree(t *testing.T) {
	var manifest struct{ Version string }
	if err := json.Unmarshal([]byte(read(t, "plugin/.claude-plugin/plugin.json")), &manifest); err != nil {
		t.Fatal(err)
	}
	if m := heading.FindStringSubmatch(read(t, "CHANGELOG.md")); m == nil || m[1] != manifest.Version {
		t.Errorf("the changelog begins with %q, the plugin is %s", m, manifest.Version)
	}
}
