// Command kb times the knowledge base on 1,000 notes of 5 kB: whole processes of the built binary, in turns, so that a
// busy machine hits all of them alike. It prints wall-clock and processor time (user and system) of each; the latter
// hardly depends on what else the machine does.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// took is what one run of a process cost.
type took struct{ wall, cpu time.Duration }

// subject is one thing that is timed.
type subject struct {
	name string
	runs int
	once func() (took, error)
	all  []took
}

func main() {
	runs := flag.Int("runs", 40, "timed runs of each command; a first index has a quarter of it")
	against := flag.String("against", "", "another build of plimsoll to time beside this one")
	flag.Parse()
	if err := run(*runs, *against); err != nil {
		fmt.Fprintf(os.Stderr, "bench/kb: %v\n", err)
		os.Exit(1)
	}
}

func run(runs int, against string) error {
	dir, err := os.MkdirTemp("", "plimsoll-bench-kb-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "plimsoll")
	if msg, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, "./cmd/plimsoll").CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, msg)
	}
	subjects, err := of(bin, "", filepath.Join(dir, "this"), runs)
	if err != nil {
		return err
	}
	if against != "" {
		if against, err = filepath.Abs(against); err != nil {
			return err
		}
		more, err := of(against, "other build: ", filepath.Join(dir, "other"), runs)
		if err != nil {
			return err
		}
		subjects = append(subjects, more...)
	}
	const warmup = 2
	for i := range runs + warmup {
		for s := range subjects {
			sub := &subjects[s]
			if i >= sub.runs+warmup {
				continue
			}
			t, err := sub.once()
			if err != nil {
				return fmt.Errorf("%s: %w", sub.name, err)
			}
			if i >= warmup {
				sub.all = append(sub.all, t)
			}
		}
		fmt.Fprintf(os.Stderr, "\r%d of %d rounds", i+1, runs+warmup)
	}
	fmt.Fprintln(os.Stderr)
	fmt.Printf("1,000 notes of 5 kB; %d rounds, in turns, %s/%s, %s, %d CPUs. Milliseconds.\n\n", runs, runtime.GOOS, runtime.GOARCH, runtime.Version(), runtime.NumCPU())
	fmt.Print("| | wall median | wall least | ratio of medians | processor median | processor least |\n|---|---:|---:|---:|---:|---:|\n")
	yardstick := median(walls(subjects[0].all))
	for _, s := range subjects {
		wall, cpu := walls(s.all), cpus(s.all)
		fmt.Printf("| %s | %.1f | %.1f | %.2f | %.1f | %.1f |\n", s.name, ms(median(wall)), ms(slices.Min(wall)), float64(median(wall))/float64(yardstick), ms(median(cpu)), ms(slices.Min(cpu)))
	}
	return nil
}

const query = "w17ing w230 w1999ing"

// of makes a project in root and lists what is timed of one build. The first subject is the yardstick.
func of(bin, label, root string, runs int) ([]subject, error) {
	notes := filepath.Join(root, ".claude", "memories")
	if err := generate(notes); err != nil {
		return nil, err
	}
	plimsoll := func(args ...string) *exec.Cmd {
		cmd := exec.Command(bin, args...)
		cmd.Dir = root
		cmd.Env = []string{"HOME=" + filepath.Join(root, "home"), "PATH=" + os.Getenv("PATH"), "CLAUDE_PROJECT_DIR=" + root}
		return cmd
	}
	search := func() (took, error) {
		cmd := plimsoll("kb", "search", query)
		var out bytes.Buffer
		cmd.Stdout = &out
		t, err := timed(cmd)
		if err == nil && !strings.HasPrefix(out.String(), "1. ") {
			err = fmt.Errorf("unexpected answer %q", out.String())
		}
		return t, err
	}
	index := filepath.Join(root, ".claude", ".kb-gate")
	if _, err := search(); err != nil {
		return nil, err
	}
	changes := 0
	return []subject{
		{name: label + "`plimsoll version`, the yardstick", runs: runs, once: func() (took, error) { return timed(plimsoll("version")) }},
		{name: label + "`plimsoll kb search`, nothing changed", runs: runs, once: search},
		{name: label + "`plimsoll kb search`, one note changed", runs: runs, once: func() (took, error) {
			changes++
			f, err := os.OpenFile(filepath.Join(notes, "note0500.md"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return took{}, err
			}
			_, err = fmt.Fprintf(f, "\nchange number %d\n", changes)
			if err := errors.Join(err, f.Close()); err != nil {
				return took{}, err
			}
			t, err := search()
			if err == nil {
				// The next search would read this note again, whose time is too young to be trusted.
				err = age(f.Name())
			}
			if err == nil {
				_, err = search()
			}
			return t, err
		}},
		{name: label + "`plimsoll kb search`, no index yet", runs: max(1, runs/4), once: func() (took, error) {
			if err := os.RemoveAll(index); err != nil {
				return took{}, err
			}
			return search()
		}},
		{name: label + "`query` of a running `plimsoll kb serve`", runs: runs, once: func() (took, error) { return served(plimsoll) }},
	}, nil
}

func timed(cmd *exec.Cmd) (took, error) {
	var problem bytes.Buffer
	cmd.Stderr = &problem
	start := time.Now()
	err := cmd.Run()
	t := took{wall: time.Since(start)}
	if err != nil {
		return t, fmt.Errorf("%w: %s", err, problem.String())
	}
	t.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return t, nil
}

// served is one query of a server that has answered one before. Its processor time is what a server with twenty more of
// them needs more than one without.
func served(plimsoll func(...string) *exec.Cmd) (t took, err error) {
	const more = 20
	var cpu [2]time.Duration
	var all []time.Duration
	for i, queries := range []int{1, 1 + more} {
		cmd := plimsoll("kb", "serve")
		in, err := cmd.StdinPipe()
		if err != nil {
			return t, err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return t, err
		}
		if err := cmd.Start(); err != nil {
			return t, err
		}
		times, err := ask(in, bufio.NewReader(out), queries)
		in.Close()
		if err := errors.Join(err, cmd.Wait()); err != nil {
			return t, err
		}
		cpu[i] = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		all = append(all, times[1:]...)
	}
	return took{median(all), max(0, cpu[1]-cpu[0]) / more}, nil
}

// ask speaks MCP: it introduces itself and queries n times.
func ask(in io.Writer, out *bufio.Reader, n int) (times []time.Duration, err error) {
	call := func(id int, method string, params any) error {
		line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
		if err != nil {
			return err
		}
		if _, err := in.Write(append(line, '\n')); err != nil {
			return err
		}
		answer, err := out.ReadBytes('\n')
		if err != nil {
			return err
		}
		if method == "tools/call" && !bytes.Contains(answer, []byte(`"text":"1. `)) {
			return fmt.Errorf("unexpected answer %s", answer)
		}
		return nil
	}
	err = call(0, "initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "bench", "version": "1"}})
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		return nil, err
	}
	for i := range n {
		start := time.Now()
		if err := call(i+1, "tools/call", map[string]any{"name": "query", "arguments": map[string]any{"query": query}}); err != nil {
			return nil, err
		}
		times = append(times, time.Since(start))
	}
	return times, nil
}

// generate writes 1,000 notes of 5 kB out of a vocabulary with the skew of language: the k-th word is used about 1/k as
// often as the first.
func generate(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	r := rand.New(rand.NewSource(1))
	zipf := rand.NewZipf(r, 1.1, 4, 19_999)
	for i := range 1000 {
		var t strings.Builder
		fmt.Fprintf(&t, "---\nname: Note %d on w%d\ndescription: About w%d and w%d\ntags: [w%d]\ndate: 2026-01-02\n---\n# Note %d\n", i, zipf.Uint64(), zipf.Uint64(), zipf.Uint64(), zipf.Uint64(), i)
		for s := 0; t.Len() < 5000; s++ {
			fmt.Fprintf(&t, "\n## Section %d w%d\n\n", s, zipf.Uint64())
			for range 120 {
				fmt.Fprintf(&t, "w%ding ", zipf.Uint64())
			}
		}
		name := filepath.Join(dir, fmt.Sprintf("note%04d.md", i))
		if err := os.WriteFile(name, []byte(t.String()), 0o644); err != nil {
			return err
		}
		// Files that were just written are read again by the next use.
		if err := age(name); err != nil {
			return err
		}
	}
	return nil
}

// age sets a file's time to yesterday.
func age(name string) error {
	day := time.Now().AddDate(0, 0, -1)
	return os.Chtimes(name, day, day)
}

func walls(all []took) (out []time.Duration) {
	for _, t := range all {
		out = append(out, t.wall)
	}
	return out
}

func cpus(all []took) (out []time.Duration) {
	for _, t := range all {
		out = append(out, t.cpu)
	}
	return out
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
