// Package config gathers Plimsoll's own settings: environment, project file, user file, default, in that order of
// precedence, each value with where it came from.
package config

import (
	"path/filepath"
	"runtime"
	"strings"
)

// Env looks up an environment variable, as os.LookupEnv does.
type Env func(name string) (value string, ok bool)

// Get returns a variable's value, "" when it is not set.
func (e Env) Get(name string) string {
	if v, ok := e(name); ok {
		return v
	}
	return ""
}

// Home is the home directory, or "" when there is none to be had. A relative one is none: state must never land in
// whatever folder a session happens to run in.
func (e Env) Home() string {
	home := e.Get("HOME")
	if home == "" && runtime.GOOS == "windows" {
		home = e.Get("USERPROFILE")
	}
	if !filepath.IsAbs(home) {
		return ""
	}
	return home
}

// Off tells whether PLIMSOLL switches every rule off. Only the word off does, in any case and with white space around
// it: a value somebody mistyped must not silently disarm the guard.
func (e Env) Off() bool { return strings.EqualFold(strings.TrimSpace(e.Get("PLIMSOLL")), "off") }

// Paths are the files of one home directory that are not part of the reader contract.
type Paths struct{ home string }

// PathsIn returns the paths below home.
func PathsIn(home string) Paths { return Paths{home} }

// Root is the folder of Plimsoll's own files.
func (p Paths) Root() string { return filepath.Join(p.home, ".claude", "plimsoll") }

// Decisions is the decision log.
func (p Paths) Decisions() string { return filepath.Join(p.Root(), "decisions.jsonl") }

// Heard is the file whose modification time tells when an event was last heard.
func (p Paths) Heard(event string) string { return filepath.Join(p.Root(), "heard", event) }
