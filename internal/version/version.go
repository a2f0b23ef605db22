// Package version tells which build this is, from what the Go tool recorded in the binary.
package version

import (
	"runtime"
	"runtime/debug"
)

// String is the version on one line: the module's version or commit, the Go release and the platform.
func String() string {
	v, rev, dirty := "(devel)", "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			v = info.Main.Version
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision" && len(s.Value) >= 12:
				rev = " " + s.Value[:12]
			case s.Key == "vcs.modified" && s.Value == "true":
				dirty = "+dirty"
			}
		}
	}
	return "plimsoll " + v + rev + dirty + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
}
