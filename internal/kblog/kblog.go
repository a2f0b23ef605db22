// Package kblog is the command kb log: it adds up a project's KB gate log and, given transcripts, finds the spawns of
// sub-agents that the hook never heard. It reads only.
package kblog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"plimsoll/internal/config"
	"plimsoll/internal/harness"
	"plimsoll/internal/kbgate"
)

// Help is the command's help without its flags.
const Help = `Adds up the KB gate's log of a project: spawns of sub-agents by what became of them, searches per turn, briefings.

Given transcripts of the project's sessions (files, or folders that hold them), it also lists the spawns that the hook
never heard. Spawns inside sub-agents are not looked at.

  plimsoll kb log [TRANSCRIPT...] [--project DIR] [--session ID] [--json]

Exit codes: 0 done; 1 failed, or there is no log, or a spawn was never heard; 2 wrong usage.
`

const (
	ok    = 0
	wrong = 1
	usage = 2
)

// Run is the command. args are those after "kb log".
func Run(args []string, stdout, stderr io.Writer, env config.Env) (code int) {
	flags := pflag.NewFlagSet("kb log", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	project := flags.String("project", "", "a folder of the project (default: the current one's)")
	session := flags.String("session", "", "only this session")
	asJSON := flags.Bool("json", false, "print JSON")
	if err := flags.Parse(args); errors.Is(err, pflag.ErrHelp) {
		fmt.Fprint(stdout, Help+"\nFlags:\n"+flags.FlagUsages())
		return ok
	} else if err != nil {
		return fail(stderr, usage, err, "plimsoll kb log --help lists the flags")
	}
	root, err := rootOf(*project, env)
	if err != nil {
		return fail(stderr, wrong, err, "")
	}
	name := ""
	if *session != "" {
		name = kbgate.SessionName(*session)
	}
	s, h, err := read(root, name)
	if err != nil {
		return fail(stderr, wrong, err, "")
	}
	if flags.NArg() > 0 {
		if s.Transcripts, err = compare(s, h, name, flags.Args()); err != nil {
			return fail(stderr, wrong, err, "transcripts stand in ~/.claude/projects/<project>/<session>.jsonl")
		}
	}
	if s.Sessions == 0 && s.BadLines == 0 && s.Transcripts == nil {
		return fail(stderr, wrong, nothing(root, name), hintForNothing(root, name))
	}
	if *asJSON {
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "  ")
		err = enc.Encode(s)
	} else {
		_, err = io.WriteString(stdout, s.text())
	}
	if err != nil {
		return fail(stderr, wrong, fmt.Errorf("write the summary: %w", err), "")
	}
	if s.Transcripts != nil && len(s.Transcripts.Unheard) > 0 {
		return wrong
	}
	return ok
}

// rootOf finds the project as the hook does, from the folder named or from the current one.
func rootOf(project string, env config.Env) (string, error) {
	if project == "" {
		dir, err := os.Getwd()
		return kbgate.Root(dir, env.Get("CLAUDE_PROJECT_DIR")), err
	}
	info, err := os.Stat(project)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is no folder", project)
	}
	dir, err := filepath.Abs(project)
	return kbgate.Root(dir, ""), err
}

func fail(stderr io.Writer, code int, err error, hint string) int {
	fmt.Fprintf(stderr, "plimsoll: kb log: %v\n", err)
	if hint != "" {
		fmt.Fprintf(stderr, "hint: %s\n", hint)
	}
	return code
}

func nothing(root, session string) error {
	if session != "" {
		return fmt.Errorf("%s has no line of session %s", kbgate.LogPath(root), session)
	}
	return fmt.Errorf("there is no log at %s", kbgate.LogPath(root))
}

func hintForNothing(root, session string) string {
	switch {
	case !kbgate.HasMemories(root):
		return "the project has no .claude/memories/; the KB gate does nothing there"
	case session != "":
		return "without --session all sessions are added up"
	}
	return "the KB gate has heard no event in this project: its hooks are not registered, or its mode is off"
}

// text is the summary for a person.
func (s Summary) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "KB gate in %s\n", harness.Label(s.Project))
	if !s.First.IsZero() {
		const minute = "2006-01-02 15:04"
		fmt.Fprintf(&b, "%s to %s UTC: %s, %s\n", s.First.UTC().Format(minute), s.Last.UTC().Format(minute), plural(s.Sessions, "session"), plural(s.Turns, "turn"))
	}
	row := func(name string, n int, more string) {
		fmt.Fprintf(&b, "%s\n", strings.TrimRight(fmt.Sprintf("%-12s %5d  %s", name, n, more), " "))
	}
	var searches []string
	if s.Turns > 0 {
		searches = append(searches, fmt.Sprintf("%.1f per turn", s.SearchesPerTurn))
	}
	if s.SearchesInAgents > 0 {
		searches = append(searches, fmt.Sprintf("%d more inside sub-agents", s.SearchesInAgents))
	}
	if s.SearchesLost > 0 {
		searches = append(searches, fmt.Sprintf("%d that could not be recorded", s.SearchesLost))
	}
	row("searches", s.Searches, strings.Join(searches, ", "))
	row("spawns", s.Spawns.Total, "")
	row("  satisfied", s.Spawns.Satisfied, "")
	row("  warned", s.Spawns.Warned, "")
	row("  observed", s.Spawns.Observed, "")
	row("  denied", s.Spawns.Denied, "")
	row("  released", sum(s.Spawns.Released), reasons(s.Spawns.Released))
	row("  skipped", sum(s.Spawns.Skipped), reasons(s.Spawns.Skipped))
	row("briefings", s.Briefings, "")
	if s.BadLines > 0 {
		row("unreadable", s.BadLines, "lines of the log")
	}
	if s.Transcripts != nil {
		s.Transcripts.text(&b, row)
	}
	return b.String()
}

func (t Transcripts) text(b *strings.Builder, row func(name string, n int, more string)) {
	fmt.Fprintf(b, "\n%s\n", plural(t.Files, "transcript"))
	row("spawns", t.Spawns, "")
	row("  heard", t.Heard, "in the log")
	row("  before", t.Before, "older than the log")
	row("  elsewhere", t.Elsewhere, "in a folder of another project")
	row("  unheard", len(t.Unheard), "")
	for _, u := range t.Unheard {
		fmt.Fprintf(b, "    %s  %s  %s  %s\n", u.At.Format("2006-01-02T15:04:05Z"), harness.Label(u.Session), harness.Label(u.AgentType), harness.Label(u.ToolUseID))
	}
	if len(t.Unheard) > 0 {
		b.WriteString("hint: PreToolUse has to be registered for Agent and Task; with the mode off nothing is logged\n")
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

func reasons(counts map[string]int) string {
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", harness.Label(why), counts[why]))
	}
	return strings.Join(parts, ", ")
}
