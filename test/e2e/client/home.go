package client

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// key is the API key that clients are given. It opens nothing; the scripted API does not look at it.
const key = "plimsoll-tests-dummy-key-that-opens-nothing"

// A Home is a throw-away home folder and beside it one project, which the client trusts and has been introduced to.
type Home struct {
	Root    string // holds everything below
	Dir     string // the home folder
	Project string // where the client is started
}

// NewHome makes a home in an empty folder.
func NewHome(root string) (Home, error) {
	h := Home{Root: root, Dir: filepath.Join(root, "home"), Project: filepath.Join(root, "project")}
	for _, d := range []string{h.Claude(), h.Project, h.temp()} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return Home{}, fmt.Errorf("make home: %w", err)
		}
	}
	// Without these answers an interactive client asks for a theme, for the key and for trust before anything else.
	err := writeJSON(h.state(), map[string]any{
		"hasCompletedOnboarding":        true,
		"theme":                         "dark",
		"bypassPermissionsModeAccepted": true,
		"customApiKeyResponses":         map[string]any{"approved": []string{key[len(key)-20:]}, "rejected": []string{}},
		"projects": map[string]any{h.Project: map[string]any{
			"hasTrustDialogAccepted":        true,
			"hasCompletedProjectOnboarding": true,
		}},
	})
	if err != nil {
		return Home{}, fmt.Errorf("make home: %w", err)
	}
	return h, nil
}

// Claude is the home's .claude folder.
func (h Home) Claude() string { return filepath.Join(h.Dir, ".claude") }

// state is the file in which the client keeps what it knows of its user.
func (h Home) state() string { return filepath.Join(h.Dir, ".claude.json") }

func (h Home) temp() string { return filepath.Join(h.Root, "tmp") }

// Environ is the whole environment of a client that talks to the API at baseURL: built from nothing, because the
// caller's may hold credentials or the settings of another client. Only the search path comes from the caller.
func (h Home) Environ(baseURL string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + h.Dir,
		"TMPDIR=" + h.temp(),
		"SHELL=/bin/sh",
		"LANG=C.UTF-8",
		"TERM=xterm-256color",
		"ANTHROPIC_BASE_URL=" + baseURL,
		"ANTHROPIC_API_KEY=" + key,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
		// Older clients fetch a list of plugins at their first start, and say on the screen that they could not.
		"CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1",
		// Allows --dangerously-skip-permissions to root, which is who tests in containers are.
		"IS_SANDBOX=1",
	}
}

// WriteSettings replaces the home's user settings.
func (h Home) WriteSettings(s Settings) error {
	if err := writeJSON(filepath.Join(h.Claude(), "settings.json"), s); err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	return nil
}

// Settings are the parts of Claude Code's user settings that wire other programs to it.
type Settings struct {
	StatusLine *Command             `json:"statusLine,omitempty"`
	Hooks      map[string][]Matcher `json:"hooks,omitempty"`
}

// A Matcher runs commands for those events that it matches; an empty Match matches all.
type Matcher struct {
	Match string    `json:"matcher,omitempty"`
	Hooks []Command `json:"hooks"`
}

// A Command is a line for the shell.
type Command struct {
	Type    string `json:"type"`
	Command string `json:"command"`
}

// Shell quotes the words of a command for the shell and joins them.
func Shell(words ...string) Command {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return Command{Type: "command", Command: strings.Join(quoted, " ")}
}

// On adds a command to an event. Several commands of one event run at the same time.
func (s *Settings) On(event, match string, c Command) {
	if s.Hooks == nil {
		s.Hooks = make(map[string][]Matcher)
	}
	s.Hooks[event] = append(s.Hooks[event], Matcher{Match: match, Hooks: []Command{c}})
}

func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}
