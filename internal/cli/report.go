package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // --timezone works where the system has no zones

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/config"
	"plimsoll/internal/history"
	"plimsoll/internal/model/price"
	"plimsoll/internal/report"
	"plimsoll/internal/report/page"
	"plimsoll/internal/settings"
)

func reportCommand(p Process) *cobra.Command {
	var r reportFlags
	sections := make([]string, 0, 5)
	for _, s := range report.Sections() {
		sections = append(sections, string(s))
	}
	cmd := &cobra.Command{
		Use: "report [SECTION] [PATH...]", Short: "Tell from your own history what sessions cost and where the ceiling should be",
		Long: `Reads the client's transcripts and Plimsoll's logs. SECTION prints one part alone:

  ceilings   what candidate ceilings would have denied, replayed over the history
  cost       tokens and dollars by model, day, thread, session and occupancy
  cache      what the prompt cache missed, by cause
  sessions   how full sessions became, compactions, hand-offs
  gates      what the rules said and what was obeyed

PATH is a transcript or a folder that holds some; by default all of the client's (CLAUDE_CONFIG_DIR or ~/.claude, projects).
A path that is named like a section is written ./cost. What was read is remembered in ~/.claude/plimsoll/index, so that the
next report reads only what is new. Nothing leaves the machine.

Exit codes: 0 done; 1 failed, or there is no transcript; 2 wrong usage.`,
		Example: `  plimsoll report                          everything
  plimsoll report --calibrate              and one recommendation
  plimsoll report cost --since 2026-11-01  one section, one month
  plimsoll report --html report.html       a page to look at
  plimsoll report ceilings --json          for a script`,
		ValidArgs: sections,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.given = cmd.Flags().Changed
			if len(args) > 0 && slices.Contains(sections, args[0]) {
				r.section, args = report.Section(args[0]), args[1:]
			}
			return r.run(p, args)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&r.json, "json", false, "print JSON; docs/report.md names the keys")
	f.StringVar(&r.html, "html", "", "write everything into one HTML `file` instead of printing it")
	f.BoolVar(&r.calibrate, "calibrate", false, "end with one recommendation")
	f.StringVar(&r.since, "since", "", "leave out what came before this `day`, 2026-11-30, or moment, 2026-11-30T18:00:00Z")
	f.StringVar(&r.until, "until", "", "leave out what came after this `day`, or from this moment on")
	f.StringVar(&r.zone, "timezone", "", "`zone` of days, as in Europe/Berlin or UTC (default: this machine's)")
	f.StringVar(&r.ceilings, "ceilings", joined(report.DefaultCeilings()), "candidates for the absolute cap, in `tokens`")
	f.Int64Var(&r.percent, "ceiling-pct", 0, "`percent` of the window (default: the one in force)")
	f.Int64Var(&r.shipped, "shipped", 0, "the absolute cap to judge, in `tokens` (default: the one in force)")
	f.IntVar(&r.nearDone, "near-done-turns", report.DefaultNearDone, "`turns` left, up to which a session counts as near its end")
	f.StringVar(&r.prices, "prices", "", "`file` with prices of your own (default: ~/.claude/plimsoll/prices.json)")
	f.IntVar(&r.top, "top", 15, "`rows` of long lists; 0: all")
	f.BoolVar(&r.noIndex, "no-index", false, "read every transcript anew, and remember nothing")
	return cmd
}

type reportFlags struct {
	section                                    report.Section
	given                                      func(flag string) bool
	json, calibrate, noIndex                   bool
	html, since, until, zone, ceilings, prices string
	percent, shipped                           int64
	nearDone, top                              int
}

func (r *reportFlags) run(p Process, paths []string) error {
	o, err := r.options(p)
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		dir := settings.ConfigDir(p.Env)
		if dir == "" {
			return errors.New("report: there is no home folder, so name the transcripts")
		}
		paths = []string{filepath.Join(dir, "projects")}
	}
	d, charts, err := r.document(p, paths, o)
	if err != nil {
		return err
	}
	if charts != nil {
		return r.writePage(p, d, charts)
	}
	if r.json {
		return writeJSON(p.Stdout, d)
	}
	if err := d.Text(p.Stdout, r.top); err != nil {
		return err
	}
	if r.calibrate {
		return d.Calibrate(p.Stdout)
	}
	return nil
}

// document computes what is asked for, with what the page draws where that is asked for. A section of transcripts that did
// not change since it was computed last is not computed again; the gates have logs of their own, so they always are.
func (r *reportFlags) document(p Process, paths []string, o report.Options) (*report.Document, *report.Charts, error) {
	o.Section = r.section
	found, err := history.Find(paths)
	if errors.Is(err, history.ErrNothing) {
		return nil, nil, hinted{err, "the client writes them below projects in its folder; name another folder or a file"}
	}
	if err != nil {
		return nil, nil, err
	}
	home := p.Env.Home()
	var source history.Source
	last, key := "", ""
	if home != "" && !r.noIndex {
		folder := filepath.Join(config.PathsIn(home).Root(), "index")
		source.Index = filepath.Join(folder, "transcripts")
		if r.section != "" && r.section != report.SectionGates {
			last, key = filepath.Join(folder, "document"), o.Key(found.Fingerprint())
			if d, ok := report.Recall(last, key, o); ok {
				return d, nil, nil
			}
		}
	}
	bar := newProgress(p.Stderr)
	source.Progress = bar.set
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	h, err := found.Load(ctx, source)
	bar.clear()
	if errors.Is(err, context.Canceled) {
		return nil, nil, errors.New("report: interrupted; nothing was written")
	}
	if err != nil {
		return nil, nil, err
	}
	if r.section == "" || r.section == report.SectionGates {
		o.Gates = gatesOf(home, h, o)
	}
	if r.html != "" {
		d, charts := report.BuildPage(h, o)
		return d, charts, nil
	}
	d := report.Build(h, o)
	if key != "" {
		report.Remember(last, key, d)
	}
	return d, nil, nil
}

// options checks the flags and gathers what is in force.
func (r *reportFlags) options(p Process) (report.Options, error) {
	o := report.Options{Now: p.Now(), Location: time.Local, NearDone: r.nearDone}
	wrong := func(flag, want string) (report.Options, error) {
		return o, usageError{fmt.Errorf("--%s has to be %s", flag, want)}
	}
	if r.calibrate && r.section != "" && r.section != report.SectionCeilings {
		return o, usageError{fmt.Errorf("--calibrate is about the ceilings, not about %s", r.section)}
	}
	if r.html != "" && (r.json || r.section != "" || r.calibrate) {
		return o, usageError{errors.New("--html writes everything: it goes with no section, and neither with --json nor --calibrate")}
	}
	if r.zone != "" {
		zone, err := time.LoadLocation(r.zone)
		if err != nil {
			return wrong("timezone", "a zone such as Europe/Berlin or UTC")
		}
		o.Location = zone
	}
	var err error
	if o.Since, err = moment(r.since, o.Location, 0); err != nil {
		return wrong("since", "a day, 2026-11-30, or a moment, 2026-11-30T18:00:00Z")
	}
	if o.Until, err = moment(r.until, o.Location, 1); err != nil {
		return wrong("until", "a day, 2026-11-30, or a moment, 2026-11-30T18:00:00Z")
	}
	if !o.Since.IsZero() && !o.Until.IsZero() && !o.Since.Before(o.Until) {
		return o, usageError{errors.New("--since has to be before --until")}
	}
	if o.Ceilings, err = numbers(r.ceilings); err != nil {
		return wrong("ceilings", "comma-separated integers above 0")
	}
	if r.given("ceiling-pct") && (r.percent < 1 || r.percent > 100) {
		return wrong("ceiling-pct", "a number from 1 to 100")
	}
	if r.given("shipped") && r.shipped < 1 {
		return wrong("shipped", "a number above 0")
	}
	if r.nearDone < 0 {
		return wrong("near-done-turns", "a number from 0 on")
	}
	if r.top < 0 {
		return wrong("top", "a number from 0 on")
	}
	project, _ := os.Getwd()
	files := settings.Load(p.Env, project)
	env, _ := settings.Environment(p.Env, files)
	c := config.Load(env)
	o.Policy, o.Recovery = ceiling.PolicyOf(c.Ceiling), c.Ceiling.RecoverySkills.V
	if r.given("ceiling-pct") {
		o.Policy.Percent = r.percent
	}
	if r.given("shipped") {
		o.Policy.Absolute = r.shipped
	}
	o.KeptDays = 30 // the client's default
	if v, _ := settings.Lookup(files, "cleanupPeriodDays"); v != nil {
		days, _ := v.Float()
		o.KeptDays = int(days)
	}
	path := r.prices
	if path == "" && p.Env.Home() != "" {
		path = filepath.Join(config.PathsIn(p.Env.Home()).Root(), "prices.json")
	}
	o.Prices, err = prices(path, r.prices != "")
	return o, err
}

// prices loads the operator's prices; a file that was asked for has to be there.
func prices(path string, asked bool) (*price.Table, error) {
	if path == "" {
		return price.Default(), nil
	}
	if asked {
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("read prices: %w", err)
		}
	}
	t, err := price.Load(path)
	if err != nil {
		return nil, hinted{err, "docs/prices.md shows what the file looks like"}
	}
	return t, nil
}

// moment reads a day or a moment; for a day, the beginning of the one that many days later.
func moment(s string, zone *time.Location, later int) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, "20060102"} {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return t.AddDate(0, 0, later), nil
		}
	}
	return time.Parse(time.RFC3339, s)
}

// numbers reads a list of token counts. Spaces and blanks are passed over.
func numbers(list string) (out []int64, err error) {
	for _, s := range strings.Split(list, ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		n, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 10, 64)
		if err != nil || n <= 0 {
			return nil, errors.New("no token count")
		}
		out = append(out, n)
	}
	if len(out) == 0 {
		return nil, errors.New("no token count")
	}
	return out, nil
}

func joined(numbers []int64) string {
	var s []string
	for _, n := range numbers {
		s = append(s, strconv.FormatInt(n, 10))
	}
	return strings.Join(s, ",")
}

// gatesOf reads Plimsoll's own logs.
func gatesOf(home string, h *history.History, o report.Options) *report.Gates {
	in := report.GateInput{Folders: h.Folders, Handoffs: report.Handoffs(h), Since: o.Since, Until: o.Until, Zone: o.Location}
	if home != "" {
		in.Decisions = config.PathsIn(home).Decisions()
	}
	g := report.GatesOf(in)
	return &g
}

// writePage writes the page, whole or not at all.
func (r *reportFlags) writePage(p Process, d *report.Document, c *report.Charts) error {
	var b bytes.Buffer
	if err := page.Write(&b, *d, *c); err != nil {
		return err
	}
	if err := writeFile(r.html, b.Bytes()); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	_, err := fmt.Fprintf(p.Stdout, "wrote %s\n", r.html)
	return err
}

// writeFile replaces a file that the user names. Unlike state it may be read by others, as any file that a program writes.
func writeFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// progress is a bar on a terminal, and nothing anywhere else.
type progress struct {
	mu   sync.Mutex
	w    io.Writer
	bar  *progressbar.ProgressBar
	most int64
}

func newProgress(w io.Writer) *progress {
	if !terminal(w) {
		return &progress{}
	}
	return &progress{w: w}
}

func (p *progress) set(done, total int64) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription("Reading transcripts"), progressbar.OptionShowBytes(true),
			progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetWidth(30))
	}
	if done > p.most { // workers may come out of turn
		p.most = done
		_ = p.bar.Set64(done)
	}
}

func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
