package compat

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

var sections = []Section{
	{"Events", []Row{
		{"`PostToolBatch`", map[string]string{"2.1.132": "-", "2.1.332": "yes"}},
		{"a note: X | Y", map[string]string{"2.1.132": "a|b", "2.1.332": "`c`"}},
	}},
	{"Status line", []Row{{"after `/compact`", map[string]string{"2.1.132": "null", "2.1.332": "all 0"}}}},
}

var versions = []string{"2.1.132", "2.1.332"}

func TestRender(t *testing.T) {
	want := "## Events\n\n" +
		"|  | 2.1.132 | 2.1.332 |\n| --- | --- | --- |\n| `PostToolBatch` | - | yes |\n| a note: X \\| Y | a\\|b | `c` |\n\n" +
		"## Status line\n\n" +
		"|  | 2.1.132 | 2.1.332 |\n| --- | --- | --- |\n| after `/compact` | null | all 0 |\n"
	if got := Render(versions, sections); got != want {
		t.Errorf("rendered\n%s\nwant\n%s", got, want)
	}
}

func TestParseReadsWhatRenderWrote(t *testing.T) {
	got, err := Parse("# A page\n\nwith text.\n\n" + Render(versions, sections) + "\nand more.\n")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, sections) {
		t.Errorf("read %v, want %v", got, sections)
	}
	for _, bad := range []string{"", "no table", "| a |\n", "## T\n| | v |\n|---|---|\n| a | b | c |\n"} {
		if got, err := Parse(bad); err == nil {
			t.Errorf("%q was read as %v", bad, got)
		}
	}
}

func TestDifferences(t *testing.T) {
	if diffs := Differences(sections, sections, versions); len(diffs) > 0 {
		t.Errorf("with itself: %q", diffs)
	}
	measured := []Section{{"Events", []Row{
		{"`PostToolBatch`", map[string]string{"2.1.132": "yes", "2.1.332": "yes", "2.1.400": "yes"}},
		{"new", map[string]string{"2.1.332": "yes"}},
	}}}
	want := []string{
		"2.1.332: new: \"yes\" is not on the page",
		"2.1.400: `PostToolBatch`: \"yes\" is not on the page",
	}
	if got := Differences(sections, measured, []string{"2.1.332", "2.1.400"}); len(got) != 3 || !contains(got, want) {
		t.Errorf("differences %q", got)
	}
	if got := Differences(sections, measured, []string{"2.1.132"}); !strings.Contains(strings.Join(got, "\n"), `measured "yes", the page says "-"`) {
		t.Errorf("differences %q", got)
	}
}

func contains(got, want []string) bool {
	for _, w := range want {
		if !slices.Contains(got, w) {
			return false
		}
	}
	return true
}
