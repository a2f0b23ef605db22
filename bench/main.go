// Command bench times the hook binary's paths beside programs that everybody knows, interleaved in one run: machines
// drift, ratios within a run do not. It prints a Markdown table; with -o it replaces the table in a document.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// subject is one command that is timed.
type subject struct {
	name    string
	argv    []string
	stdin   []byte
	prepare func() error // before every run, outside the clock
	ours    bool
	times   []time.Duration
}

func main() {
	runs := flag.Int("runs", 200, "timed runs of each command")
	out := flag.String("o", "", "replace the table in this document instead of printing it")
	flag.Parse()
	if err := run(*runs, *out); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func run(runs int, out string) error {
	dir, err := os.MkdirTemp("", "plimsoll-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	subjects, err := prepare(dir)
	if err != nil {
		return err
	}
	env := []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "COLUMNS=120", "LANG=C.UTF-8"}
	const warmup = 5
	for i := range runs + warmup {
		for s := range subjects {
			took, err := subjects[s].once(env)
			if err != nil {
				return fmt.Errorf("run %s: %w", subjects[s].name, err)
			}
			if i >= warmup {
				subjects[s].times = append(subjects[s].times, took)
			}
		}
		if i%20 == 0 {
			fmt.Fprintf(os.Stderr, "\r%d of %d rounds", i, runs+warmup)
		}
	}
	fmt.Fprintln(os.Stderr)
	text := table(subjects, runs, env)
	if out == "" {
		fmt.Print(text)
		return nil
	}
	return replace(out, text)
}

// prepare builds the binaries and lists what is timed. The first subject is the yardstick.
func prepare(dir string) ([]subject, error) {
	bare, hook := filepath.Join(dir, "bare"), filepath.Join(dir, "plimsoll-hook")
	for bin, pkg := range map[string]string{bare: "./bench/bare", hook: "./cmd/plimsoll-hook"} {
		if msg, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, pkg).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build %s: %w\n%s", pkg, err, msg)
		}
	}
	payload, err := os.ReadFile("internal/harness/testdata/payloads/2.1.332/statusline-02.json")
	if err != nil {
		return nil, err
	}
	unheard, err := os.ReadFile("internal/harness/testdata/payloads/2.1.332/Stop-01.json")
	if err != nil {
		return nil, err
	}
	const session = "1aeeb7b7-007e-4117-8eba-286dd3b7efcf"
	snapshot := filepath.Join(dir, ".claude", "context-guard", "context", session+".json")
	written := func() error {
		if _, err := os.Stat(snapshot); err == nil {
			return nil
		}
		cmd := exec.Command(hook, "statusline")
		cmd.Env, cmd.Stdin = []string{"HOME=" + dir}, bytes.NewReader(payload)
		return cmd.Run()
	}
	stale := func() error {
		err := os.Remove(snapshot)
		if os.IsNotExist(err) {
			return nil
		}
		return err
	}
	past, err := transcripts(dir)
	if err != nil {
		return nil, err
	}
	all := []subject{
		{name: "a Go program that reads stdin", argv: []string{bare}, stdin: payload},
		{name: "`plimsoll-hook statusline`, unchanged", argv: []string{hook, "statusline"}, stdin: payload, prepare: written, ours: true},
		{name: "`plimsoll-hook statusline`, writing", argv: []string{hook, "statusline"}, stdin: payload, prepare: stale, ours: true},
		{name: "`plimsoll-hook statusline true`, unchanged", argv: []string{hook, "statusline", "/bin/true"}, stdin: payload, prepare: written, ours: true},
		{name: "`plimsoll-hook zone`, with a snapshot", argv: []string{hook, "zone", session}, prepare: written, ours: true},
		{name: "`plimsoll-hook zone`, without", argv: []string{hook, "zone", "none"}, ours: true},
		{name: "`plimsoll-hook`, unheard event", argv: []string{hook}, stdin: unheard, ours: true},
		{name: "`plimsoll-hook`, Skill past the ceiling, 1 MB transcript", argv: []string{hook}, stdin: past[0], ours: true},
		{name: "`plimsoll-hook`, Skill past the ceiling, 50 MB", argv: []string{hook}, stdin: past[1], ours: true},
		{name: "`plimsoll-hook`, Skill past the ceiling, 200 MB", argv: []string{hook}, stdin: past[2], ours: true},
		{name: "`/bin/true`", argv: []string{"/bin/true"}},
		{name: "`bash -c :`", argv: []string{"bash", "-c", ":"}},
		{name: "`jq -n 1`", argv: []string{"jq", "-n", "1"}},
		{name: "`python3 -c pass`", argv: []string{python(), "-c", "pass"}},
		{name: "`node -e 0`", argv: []string{"node", "-e", "0"}},
	}
	var there []subject
	for _, s := range all {
		path, err := exec.LookPath(s.argv[0])
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s is not installed, left out\n", s.argv[0])
			continue
		}
		s.argv[0] = path
		there = append(there, s)
	}
	return there, nil
}

// transcripts writes sessions of 1, 50 and 200 MB that end past the ceiling, and returns a Skill call in each. Between the
// answers stand rows of hundreds of kB, as recent clients write them.
func transcripts(dir string) (payloads [3][]byte, err error) {
	const answer = `{"type":"assistant","message":{"model":"claude-opus-5","usage":{"input_tokens":2,"cache_read_input_tokens":399998}}}` + "\n"
	filler := `{"type":"api-request-shape","x":"` + strings.Repeat("0123456789", 20_000) + `"}` + "\n"
	for i, megabytes := range []int{1, 50, 200} {
		path := filepath.Join(dir, fmt.Sprintf("%d.jsonl", megabytes))
		f, err := os.Create(path)
		if err != nil {
			return payloads, err
		}
		for written := 0; written < megabytes<<20 && err == nil; written += len(answer) + len(filler) {
			_, err = f.WriteString(answer + filler)
		}
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return payloads, err
		}
		payloads[i] = fmt.Appendf(nil, `{"session_id":"bench","hook_event_name":"PreToolUse","transcript_path":%q,"tool_name":"Skill","tool_input":{"skill":"plan"}}`, path)
	}
	return payloads, nil
}

// python avoids version managers' shims, which start a shell first.
func python() string {
	if _, err := os.Stat("/usr/bin/python3"); err == nil {
		return "/usr/bin/python3"
	}
	return "python3"
}

func (s *subject) once(env []string) (time.Duration, error) {
	if s.prepare != nil {
		if err := s.prepare(); err != nil {
			return 0, err
		}
	}
	cmd := exec.Command(s.argv[0], s.argv[1:]...)
	cmd.Env, cmd.Stdin = env, bytes.NewReader(s.stdin)
	start := time.Now()
	err := cmd.Run()
	return time.Since(start), err
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

func table(subjects []subject, runs int, env []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d runs each, interleaved, %s/%s, %s, %d CPUs.\n\n", runs, runtime.GOOS, runtime.GOARCH, runtime.Version(), runtime.NumCPU())
	b.WriteString("| command | median ms | best ms | ratio of medians | child processes |\n|---|---:|---:|---:|---:|\n")
	yardstick := median(subjects[0].times)
	for _, s := range subjects {
		m := median(s.times)
		fmt.Fprintf(&b, "| %s | %.2f | %.2f | %.2f | %s |\n", s.name, ms(m), ms(slices.Min(s.times)), float64(m)/float64(yardstick), s.children(env))
	}
	return b.String()
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// children counts the processes that one of our commands starts, as strace sees them; threads are no processes.
func (s *subject) children(env []string) string {
	if !s.ours {
		return ""
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		return "not counted"
	}
	if s.prepare != nil {
		if err := s.prepare(); err != nil {
			return "not counted"
		}
	}
	cmd := exec.Command(strace, append([]string{"-f", "-qq", "-e", "trace=clone,clone3,fork,vfork", "-e", "signal=none"}, s.argv...)...)
	var trace bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stderr = env, bytes.NewReader(s.stdin), &trace
	if err := cmd.Run(); err != nil {
		return "not counted"
	}
	n := 0
	for _, line := range strings.Split(trace.String(), "\n") {
		if strings.Contains(line, "(") && !strings.Contains(line, "CLONE_THREAD") && !strings.Contains(line, "resumed") {
			n++
		}
	}
	return fmt.Sprint(n)
}

const (
	begin = "<!-- bench:begin -->\n"
	end   = "<!-- bench:end -->\n"
)

// replace puts the table between the marks of a document.
func replace(path, text string) error {
	doc, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(doc), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("replace table in %s: no %q or %q", path, begin, end)
	}
	return os.WriteFile(path, []byte(head+begin+text+end+tail), 0o644)
}
