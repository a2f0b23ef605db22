//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/test/e2e/client"
	"plimsoll/test/e2e/fakeapi"
	"plimsoll/test/e2e/loopback"
)

// limit is the longest that a client may run. A scenario takes seconds; the rest is for a busy machine.
const limit = 2 * time.Minute

// running bounds how many clients run at once. Each takes some 300 MB and a processor.
var running = make(chan struct{}, 2)

// Short names for what every script is made of.
type (
	step  = fakeapi.Step
	call  = fakeapi.Call
	usage = fakeapi.Usage
	input = map[string]any
)

// events are all events that a client of any version has, except WorktreeCreate, whose mere registration replaces the
// making of worktrees. Clients ignore names that they do not know.
var events = strings.Fields(`
	PreToolUse PostToolUse PostToolUseFailure PostToolBatch PermissionRequest PermissionDenied PreSkillShellCommand
	UserPromptSubmit UserPromptExpansion SessionStart SessionEnd Stop StopFailure SubagentStart SubagentStop
	PreCompact PostCompact PreModelSwitch PostModelSwitch Notification MessageDisplay Setup InstructionsLoaded
	ConfigChange CwdChanged FileChanged DirectoryAdded TaskCreated TaskCompleted TeammateIdle
	Elicitation ElicitationResult WorktreeRemove`)

// eachVersion runs a test with every chosen client.
func eachVersion(t *testing.T, test func(t *testing.T, c client.Client)) {
	t.Parallel()
	for _, version := range prepared.Versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c, ok := prepared.Clients[version]
			if !ok {
				t.Skip(prepared.Missing)
			}
			test(t, c)
		})
	}
}

// A world is one client with a home of its own and an API that plays a script. A test sets it up, starts the client
// once with print or open, and looks at what the model was sent (api), what the operator saw, and what is on disk.
type world struct {
	client.Home
	api      *fakeapi.Server
	settings client.Settings
	session  client.Session
	log      string // folder that witnesses write to; outside the home, which may be read-only
	ready    bool   // settings are written
	t        *testing.T
}

// newWorld makes a world. The test fails if the client and the script do not fit.
func newWorld(t *testing.T, c client.Client, script ...step) *world {
	t.Helper()
	home, err := client.NewHome(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return worldAt(t, c, home, script...)
}

// worldAt makes a world in a home that is there, for the next session of the same user in the same project.
func worldAt(t *testing.T, c client.Client, home client.Home, script ...step) *world {
	t.Helper()
	w := &world{Home: home, api: fakeapi.New(script...), log: t.TempDir(), t: t}
	w.session = client.Session{Client: c, Home: home, BaseURL: w.api.URL()}
	t.Cleanup(func() {
		w.api.Close()
		for _, problem := range w.api.Problems() {
			t.Errorf("script: %s", problem)
		}
	})
	if err := os.WriteFile(filepath.Join(w.log, "witness"), []byte(witness), 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

// witness runs a hook and keeps what it was told and what it answered: without it, a hook that never ran looks like one
// that had nothing to say.
const witness = `#!/bin/sh
# usage: witness EVENT COMMAND [ARG...]
folder=${0%/*} event=$1
shift
out=$(tee "$folder/$event.$$.json" | "$@" 2>"$folder/$$.err")
code=$?
printf '%s' "$out" | tee -a "$folder/stdout"
tee -a "$folder/stderr" <"$folder/$$.err" >&2
echo "$event $code" >>"$folder/ran"
exit $code
`

// hook has the client run a command on an event, under a witness.
func (w *world) hook(event, match string, command ...string) {
	w.settings.On(event, match, client.Shell(w.witnessed(event, command...)...))
}

// witnessed puts a command under a witness, which files what it keeps under a name.
func (w *world) witnessed(name string, command ...string) []string {
	return append([]string{filepath.Join(w.log, "witness"), name}, command...)
}

// hookAll has the client run a command on every event.
func (w *world) hookAll(command ...string) {
	for _, event := range events {
		w.hook(event, "", command...)
	}
}

// statusLine has the client run a command for its status line.
func (w *world) statusLine(command ...string) {
	line := client.Shell(command...)
	w.settings.StatusLine = &line
}

// print runs the client headless with one prompt, to its end.
func (w *world) print(prompt string) client.Output {
	w.t.Helper()
	w.writeSettings()
	running <- struct{}{}
	defer func() { <-running }()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	out, err := w.session.Print(ctx, prompt)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// A terminal is an interactive client that fails its test when something does not come.
type terminal struct {
	*client.Terminal
	warned bool // the client began with a warning about its settings
	ctx    context.Context
	t      *testing.T
}

// open starts the client in a terminal and waits until it takes input. Some versions stop at an event in the settings
// that they do not know, and go on when told to.
func (w *world) open() terminal {
	w.t.Helper()
	w.writeSettings()
	running <- struct{}{}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	term, err := w.session.Open(ctx)
	if err != nil {
		<-running
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := term.Close(); err != nil {
			w.t.Error(err)
		}
		cancel()
		<-running
	})
	const warning = "Settings Warning"
	v := terminal{Terminal: term, ctx: ctx, t: w.t}
	v.sees("❯")
	if v.warned = strings.Contains(v.Screen(), warning); v.warned {
		if err := v.Type("\r"); err != nil {
			w.t.Fatal(err)
		}
		v.until("the end of the warning", func() bool {
			screen := v.Screen()
			return !strings.Contains(screen, warning) && strings.Contains(screen, "❯")
		})
	}
	return v
}

// says submits a prompt or a command.
func (v terminal) says(prompt string) {
	v.t.Helper()
	if err := v.Submit(v.ctx, prompt); err != nil {
		v.t.Fatal(err)
	}
}

// sees waits for a text on the screen.
func (v terminal) sees(text string) {
	v.t.Helper()
	if err := v.WaitFor(v.ctx, text); err != nil {
		v.t.Fatal(err)
	}
}

// until waits for a condition that is not on the screen.
func (v terminal) until(what string, condition func() bool) {
	v.t.Helper()
	if err := v.WaitUntil(v.ctx, what, condition); err != nil {
		v.t.Fatal(err)
	}
}

// plimsoll runs the full tool as the operator does in the project, and returns what it printed. It has to exit with 0.
func (w *world) plimsoll(args ...string) string {
	w.t.Helper()
	w.writeSettings()
	cmd := exec.Command(prepared.Tool, args...)
	cmd.Dir = w.Project
	cmd.Env = slices.Concat(w.Environ(w.api.URL()), w.session.Env)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		w.t.Fatalf("plimsoll %v: %v\n%s%s", args, err, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// zone asks the hook binary for a session's zone.
func (w *world) zone(session string) string {
	w.t.Helper()
	cmd := exec.Command(prepared.Hook, "zone", session)
	cmd.Env = []string{"HOME=" + w.Dir}
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("zone %s: %v", session, err)
	}
	return strings.TrimSpace(string(out))
}

// onlySession is the id of the one session that has a snapshot, or "".
func (w *world) onlySession() string {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.Claude(), "context-guard", "context", "*.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	if len(files) > 1 {
		w.t.Fatalf("snapshots of several sessions: %v", files)
	}
	if len(files) == 0 {
		return ""
	}
	return strings.TrimSuffix(filepath.Base(files[0]), ".json")
}

// toolResult is what the model was told about a call.
func (w *world) toolResult(id string) fakeapi.ToolResult {
	w.t.Helper()
	result, ok := w.api.ToolResult(id)
	if !ok {
		w.t.Fatalf("the model was never told the result of %s", id)
	}
	return result
}

// passed fails the test unless a call was let through and its result began with this line. Older clients add notes of
// their own to the results of tools.
func (w *world) passed(id, line string) {
	w.t.Helper()
	result := w.toolResult(id)
	if first, _, _ := strings.Cut(result.Text, "\n"); result.IsError || first != line {
		w.t.Errorf("the result of %s is %+v, want %q", id, result, line)
	}
}

// read returns a file of the home, "" if it is not there.
func (w *world) read(name string) string {
	w.t.Helper()
	return w.readFile(filepath.Join(w.Dir, name))
}

func (w *world) readFile(path string) string {
	w.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	return string(data)
}

// said returns what all hooks together printed: both of their outputs.
func (w *world) said() string {
	w.t.Helper()
	return w.readFile(filepath.Join(w.log, "stdout")) + w.readFile(filepath.Join(w.log, "stderr"))
}

// A payload is what a hook or a status line was told.
type payload map[string]any

// payloads returns what the witnesses of a name were told, in order of time.
func (w *world) payloads(name string) []payload {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.log, name+".*.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	written := func(path string) time.Time {
		info, err := os.Stat(path)
		if err != nil {
			w.t.Fatal(err)
		}
		return info.ModTime()
	}
	slices.SortFunc(files, func(a, b string) int { return written(a).Compare(written(b)) })
	var all []payload
	for _, file := range files {
		var p payload
		// A witness that the client cancelled, or that is just writing, leaves half a payload.
		if json.Unmarshal([]byte(w.readFile(file)), &p) == nil {
			all = append(all, p)
		}
	}
	return all
}

// write makes a file of the home.
func (w *world) write(name, content string) {
	w.t.Helper()
	path := filepath.Join(w.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// writeProject makes a file of the project.
func (w *world) writeProject(name, content string) {
	w.t.Helper()
	path := filepath.Join(w.Project, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// writeSettings puts the settings in place, once: print and open do it, and before them whoever locks the home.
func (w *world) writeSettings() {
	w.t.Helper()
	if w.ready {
		return
	}
	w.ready = true
	if err := w.WriteSettings(w.settings); err != nil {
		w.t.Fatal(err)
	}
}

// ran counts the hooks that ran, by event and exit code, as in "PreToolUse 0".
func (w *world) ran() map[string]int {
	counts := make(map[string]int)
	for line := range strings.Lines(w.readFile(filepath.Join(w.log, "ran"))) {
		counts[strings.TrimSpace(line)]++
	}
	return counts
}

// readOnly makes the home read-only for as long as the test runs. The client needs to write, so its own settings and
// transcripts are moved out with CLAUDE_CONFIG_DIR, which moves nothing of Plimsoll's.
func (w *world) readOnly() {
	w.t.Helper()
	if !prepared.Isolated {
		w.t.Skip("a folder that root cannot write to takes a mount namespace, which is not permitted here")
	}
	w.writeSettings()
	config := filepath.Join(w.Root, "config")
	if err := os.CopyFS(config, os.DirFS(w.Claude())); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, ".claude.json"), []byte(w.read(".claude.json")), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.session.Env = append(w.session.Env, "CLAUDE_CONFIG_DIR="+config)
	undo, err := loopback.ReadOnly(w.Dir)
	if err != nil {
		w.t.Skip(err)
	}
	w.t.Cleanup(func() {
		if err := undo(); err != nil {
			w.t.Error(err)
		}
	})
}

// shellScript writes an executable script into the home and returns its path.
func (w *world) shellScript(name, body string) string {
	w.t.Helper()
	w.write(name, "#!/bin/sh\n"+body)
	path := filepath.Join(w.Dir, name)
	if err := os.Chmod(path, 0o755); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// bash is a call of the Bash tool.
func bash(id, command string) call {
	return call{ID: id, Name: "Bash", Input: input{"command": command, "description": fmt.Sprintf("run %s", command)}}
}

// agent is a call of the Agent tool that the main thread waits for.
func agent(id, prompt string) call {
	return call{ID: id, Name: "Agent", Input: input{
		"description": "a sub-agent", "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": false,
	}}
}
