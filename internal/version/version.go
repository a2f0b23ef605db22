// Package version tells which build this is, from what the Go tool recorded in the binary.
package version

import (
	"runtime"
	"runtime/debug"
)

// Info is one build.
type Info struct {
	Version  string `json:"version"`            // the module's version, "(devel)" for a build without one
	Commit   string `json:"commit,omitempty"`   // of the source, whole; "" where the build did not record it
	Modified bool   `json:"modified,omitempty"` // the source was not as committed
	Go       string `json:"go"`                 // the Go release
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// Get reads the running binary's.
func Get() Info {
	info, _ := debug.ReadBuildInfo()
	return from(info)
}

func from(build *debug.BuildInfo) Info {
	i := Info{Version: "(devel)", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if build == nil {
		return i
	}
	if build.Main.Version != "" {
		i.Version = build.Main.Version
	}
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			i.Commit = s.Value
		case "vcs.modified":
			i.Modified = s.Value == "true"
		}
	}
	return i
}

// String is the build on one line: version, commit, Go release and platform.
func (i Info) String() string {
	s := "plimsoll " + i.Version
	if len(i.Commit) >= 12 {
		s += " " + i.Commit[:12]
	}
	if i.Modified {
		s += "+dirty"
	}
	return s + " " + i.Go + " " + i.OS + "/" + i.Arch
}

// String is the running binary on one line.
func String() string { return Get().String() }
