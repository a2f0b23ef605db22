//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"plimsoll/test/e2e/client"
)

// The status line that Plimsoll draws is on the operator's screen, with the percentage that the last answer came to.
func TestOurLineIsOnTheScreen(t *testing.T) {
	eachVersion(t, func(t *testing.T, c client.Client) {
		w := newWorld(t, c, step{Text: "first answer", Usage: usage{Input: 1000, Output: 50, CacheRead: 79_000}})
		w.statusLine(prepared.Hook, "statusline")
		v := w.open()
		v.says("begin")
		v.sees("first answer")
		// Every model that these clients choose by themselves has a window of a million tokens.
		line := regexp.MustCompile(`\[[A-Z][^\]]+\] ctx 8%`)
		v.until("our line", func() bool { return line.MatchString(v.Screen()) })
	})
}

// Wrapped around a status line that is there already, Plimsoll hands its input and its output through byte for byte,
// and still takes its snapshot.
func TestExistingLineIsWrapped(t *testing.T) {
	// Colours, a character of several bytes, a second line, trailing blanks, and no line break at the end.
	const line = "\x1b[32mmy own\x1b[0m line ✓  \nand a second  "
	eachVersion(t, func(t *testing.T, c client.Client) {
		w := newWorld(t, c, step{Text: "first answer", Usage: usage{Input: 80_000}})
		runs := t.TempDir()
		w.write("line", line)
		renderer := w.shellScript("renderer", `cat >"$1/seen"; cat "$HOME/line"`)
		// A run that the client cancels, because there is news already, never gets to "whole".
		w.statusLine("sh", "-c", `run=$(mktemp -d "$3/XXXXXX")
			tee "$run/in" | "$1" statusline "$2" "$run" | tee "$run/out"
			: >"$run/whole"`, "sh", prepared.Hook, renderer, runs)
		v := w.open()
		v.says("begin")
		v.sees("first answer")
		v.sees("my own line ✓")
		v.sees("and a second")
		v.until("a snapshot", func() bool { return w.onlySession() != "" })

		var whole []string
		v.until("a whole run", func() bool {
			var err error
			if whole, err = filepath.Glob(filepath.Join(runs, "*", "whole")); err != nil {
				t.Fatal(err)
			}
			return len(whole) > 0
		})
		for _, path := range whole {
			run := filepath.Dir(path)
			if in, seen := w.readFile(filepath.Join(run, "in")), w.readFile(filepath.Join(run, "seen")); in != seen || in == "" {
				t.Errorf("the renderer saw %q, the client sent %q", seen, in)
			}
			if out := w.readFile(filepath.Join(run, "out")); out != line {
				t.Errorf("the client got %q, the renderer printed %q", out, line)
			}
		}
	})
}

// Snapshots follow the session: the zone worsens as usage grows, is unknown after /compact until there is an answer
// again, and is then the new answer's.
func TestZoneFollowsTheSession(t *testing.T) {
	eachVersion(t, func(t *testing.T, c client.Client) {
		middle := "acceptable"
		if c.Version == "2.1.131" {
			// Below the floor the totals say nothing about the context, and 30% of the window is little.
			middle = "smart"
		}
		w := newWorld(t, c,
			step{Text: "answer one", Usage: usage{Input: 1000, CacheRead: 99_000, Output: 100}},
			step{Text: "answer two", Usage: usage{Input: 1000, CacheRead: 299_000, Output: 100}},
			step{Text: "answer three", Usage: usage{Input: 1000, CacheRead: 799_000, Output: 100}},
			step{Text: "answer four", Usage: usage{Input: 1000, CacheRead: 19_000, Output: 100}},
		)
		w.statusLine(prepared.Hook, "statusline")
		v := w.open()
		zoneIs := func(want string) {
			t.Helper()
			v.until("zone "+want, func() bool {
				session := w.onlySession()
				return session != "" && w.zone(session) == want
			})
		}
		for i, turn := range []struct{ answer, zone string }{{"one", "smart"}, {"two", middle}, {"three", "dumb"}} {
			v.says(fmt.Sprintf("prompt %d", i+1))
			v.sees("answer " + turn.answer)
			zoneIs(turn.zone)
		}
		v.says("/compact")
		v.until("a compaction", func() bool { return len(w.api.Compactions()) == 1 })
		zoneIs("unknown")
		v.says("prompt 4")
		v.sees("answer four")
		zoneIs("smart")

		if got := w.read(".claude/context-guard/context/" + w.onlySession() + ".json"); strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, "\n") {
			t.Errorf("the snapshot is not one line: %q", got)
		}
		info, err := os.Stat(filepath.Join(w.Claude(), "context-guard", "context"))
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o700 {
			t.Errorf("the folder of snapshots has mode %o", mode)
		}
	})
}
