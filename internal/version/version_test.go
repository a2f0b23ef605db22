package version

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestFromBuildInfo(t *testing.T) {
	platform := runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	const commit = "0123456789abcdef0123456789abcdef01234567"
	settings := func(kv ...string) (s []debug.BuildSetting) {
		for i := 0; i < len(kv); i += 2 {
			s = append(s, debug.BuildSetting{Key: kv[i], Value: kv[i+1]})
		}
		return s
	}
	for _, c := range []struct {
		build *debug.BuildInfo
		want  Info
		line  string
	}{
		{nil, Info{Version: "(devel)"}, "plimsoll (devel)"},
		{&debug.BuildInfo{}, Info{Version: "(devel)"}, "plimsoll (devel)"},
		{&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: settings("vcs.revision", commit, "vcs.modified", "false")},
			Info{Version: "v1.2.3", Commit: commit}, "plimsoll v1.2.3 0123456789ab"},
		{&debug.BuildInfo{Main: debug.Module{Version: "v1.2.4-0.2"}, Settings: settings("vcs.modified", "true", "vcs.revision", commit)},
			Info{Version: "v1.2.4-0.2", Commit: commit, Modified: true}, "plimsoll v1.2.4-0.2 0123456789ab+dirty"},
		{&debug.BuildInfo{Settings: settings("vcs.revision", "short")}, Info{Version: "(devel)", Commit: "short"}, "plimsoll (devel)"},
	} {
		c.want.Go, c.want.OS, c.want.Arch = runtime.Version(), runtime.GOOS, runtime.GOARCH
		got := from(c.build)
		if got != c.want {
			t.Errorf("got %+v, want %+v", got, c.want)
		}
		if line := got.String(); line != c.line+" "+platform {
			t.Errorf("line %q, want %q", line, c.line+" "+platform)
		}
	}
}
