// Command report times plimsoll report on a gigabyte of generated transcripts beside ccusage and beside Python's json.loads,
// whole processes in turns, so that a busy machine hits all of them alike. It prints wall-clock time, processor time (user
// and system, which hardly depends on what else the machine does) and the most memory that was resident.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"plimsoll/bench/internal/ccusage"
)

// took is what one run of a process cost.
type took struct {
	wall, cpu time.Duration
	resident  int64 // bytes, at most
}

// subject is one command that is timed.
type subject struct {
	name    string
	argv    []string
	prepare func() error // before every run, outside the clock
	all     []took
}

func main() {
	rounds := flag.Int("rounds", 5, "runs of each command")
	size := flag.Int64("bytes", 1<<30, "transcripts to generate")
	only := flag.Bool("generate", false, "generate the transcripts and stop")
	flag.Parse()
	err := data(*size, *only)
	if err == nil && !*only {
		err = run(*rounds, *size)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench/report: %v\n", err)
		os.Exit(1)
	}
}

// data generates the transcripts, in a process of its own: what a child has resident is at first what its parent has.
func data(size int64, here bool) error {
	if !here {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		cmd := exec.Command(self, "-generate", "-bytes", fmt.Sprint(size))
		cmd.Stderr = os.Stderr
		return cmd.Run()
	}
	home, one, err := folders(size)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "generating transcripts, once")
	if err := generate(filepath.Join(home, "projects"), size); err != nil {
		return err
	}
	return long(one)
}

// folders are where the transcripts lie: a folder like the client's, and the long one.
func folders(size int64) (home, long string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", "", err
	}
	cache = filepath.Join(cache, "plimsoll-bench")
	return filepath.Join(cache, fmt.Sprintf("transcripts-2-%d", size)), filepath.Join(cache, "long", "long.jsonl"), nil
}

func run(rounds int, size int64) error {
	data, one, err := folders(size)
	if err != nil {
		return err
	}
	projects := filepath.Join(data, "projects")
	dir, err := os.MkdirTemp("", "plimsoll-bench-report-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "plimsoll")
	if msg, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, "./cmd/plimsoll").CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, msg)
	}
	index := filepath.Join(dir, ".claude", "plimsoll", "index")
	report := func(args ...string) []string { return append([]string{bin, "report", "cost", "--json"}, args...) }
	subjects := []subject{
		{name: "`plimsoll report cost --no-index`", argv: report("--no-index", projects)},
		{name: "`plimsoll report cost`, first run", argv: report(projects), prepare: func() error { return os.RemoveAll(index) }},
		{name: "`plimsoll report cost`, second run", argv: report(projects)},
	}
	switch other, err := ccusage.Binary(); {
	case errors.Is(err, ccusage.ErrMissing):
		fmt.Fprintf(os.Stderr, "bench/report: left out: %v\n", err)
	case err != nil:
		return err
	default:
		subjects = append(subjects, subject{name: "ccusage " + ccusage.Release, argv: []string{other, "claude", "daily", "--json", "--offline", "--mode", "calculate"}})
	}
	if python, err := exec.LookPath("python3"); err == nil {
		subjects = append(subjects, subject{name: "Python, `json.loads` of every line", argv: []string{python, "bench/report/json_loads.py", projects}})
	}
	subjects = append(subjects, subject{name: "`plimsoll report cost --no-index`, one file of 600 MB with a line of 64 MB", argv: report("--no-index", one)})
	env := []string{"HOME=" + dir, "CLAUDE_CONFIG_DIR=" + data, "PATH=" + os.Getenv("PATH"), "TZ=UTC", "LOG_LEVEL=0"}
	for round := range rounds + 1 { // the first fills the page cache
		for i := range subjects {
			s := &subjects[i]
			fmt.Fprintf(os.Stderr, "\rround %d of %d: %d of %d ", round, rounds, i+1, len(subjects))
			t, err := s.once(env)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if round > 0 {
				s.all = append(s.all, t)
			}
		}
	}
	fmt.Fprintln(os.Stderr)
	return show(subjects, projects, rounds)
}

func (s *subject) once(env []string) (took, error) {
	if s.prepare != nil {
		if err := s.prepare(); err != nil {
			return took{}, err
		}
	}
	cmd := exec.Command(s.argv[0], s.argv[1:]...)
	var problem strings.Builder
	cmd.Env, cmd.Stderr = env, &problem
	start := time.Now()
	err := cmd.Run()
	t := took{wall: time.Since(start)}
	if err != nil {
		return t, fmt.Errorf("%w: %s", err, problem.String())
	}
	t.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	t.resident = resident(cmd.ProcessState)
	return t, nil
}

func show(subjects []subject, projects string, rounds int) error {
	var size int64
	files := 0
	err := filepath.Walk(projects, func(path string, info os.FileInfo, err error) error {
		if err == nil && filepath.Ext(path) == ".jsonl" {
			size += info.Size()
			files++
		}
		return err
	})
	if err != nil {
		return err
	}
	fmt.Printf("%d transcripts, %.2f GB; medians of %d runs in turns, page cache warm; %s/%s, %s, %d CPUs.\n\n", files, float64(size)/1e9, rounds, runtime.GOOS, runtime.GOARCH, runtime.Version(), runtime.NumCPU())
	fmt.Print("| command | wall s | processor s | processor, ratio | wall, ratio | resident MB |\n|---|---:|---:|---:|---:|---:|\n")
	wall := func(t took) float64 { return t.wall.Seconds() }
	cpu := func(t took) float64 { return t.cpu.Seconds() }
	yard := subjects[0].all
	for _, s := range subjects {
		fmt.Printf("| %s | %.3f | %.3f | %.3f | %.3f | %.0f |\n", s.name, median(s.all, wall), median(s.all, cpu),
			median(s.all, cpu)/median(yard, cpu), median(s.all, wall)/median(yard, wall), median(s.all, func(t took) float64 { return float64(t.resident) / 1e6 }))
	}
	return nil
}

func median(all []took, of func(took) float64) float64 {
	var v []float64
	for _, t := range all {
		v = append(v, of(t))
	}
	slices.Sort(v)
	return v[len(v)/2]
}
