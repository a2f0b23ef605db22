// Package doctor finds out whether Plimsoll works here and says what to do where it does not. It only reads: the one
// thing it starts are Plimsoll's own commands, spelled as the settings spell them and with nothing on standard input.
//
// Its checks are small functions over facts that are gathered once. "No instrument in this environment" is never a
// failure, as the reader contract demands: a failure is something that somebody can mend.
package doctor

import (
	"time"

	"plimsoll/internal/config"
	"plimsoll/internal/harness"
	"plimsoll/internal/kbgate"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/registration"
	"plimsoll/internal/settings"
	"plimsoll/internal/snapshot"
)

// Status is a check's outcome.
type Status string

// The outcomes. Only Fail is something to mend.
const (
	Pass Status = "PASS"
	Info Status = "INFO"
	Fail Status = "FAIL"
)

// Result is what one check found.
type Result struct {
	ID     string `json:"id"` // stable, for scripts
	Status Status `json:"status"`
	What   string `json:"what"`
	Why    string `json:"why,omitempty"`
	Fix    string `json:"fix,omitempty"` // what the operator can do
}

// Input is everything that the checks may look at.
type Input struct {
	Env     config.Env
	Environ []string        // the same as a list, for the commands that are started
	Project string          // the folder that the client was or would be started in
	Files   []settings.File // as settings.Load lists them
	Session string          // as the operator named it; "" when not
	Now     time.Time
	Hook    string // the plimsoll-hook that belongs to this tool; "" when there is none
	HookErr error  // why there is none
	Run     func(Command) Outcome
}

// Report is everything that was found.
type Report struct {
	Session    Session
	Project    string
	Files      []settings.File
	Results    []Result
	Compaction []Trigger
	Heard      []Heard
	Values     []Value
}

// Failed tells whether any check failed.
func (r Report) Failed() bool { return r.Count(Fail) > 0 }

// Count is how many checks ended so.
func (r Report) Count(s Status) int {
	n := 0
	for _, result := range r.Results {
		if result.Status == s {
			n++
		}
	}
	return n
}

// exam is the facts, gathered once.
type exam struct {
	Input
	home       string
	env        config.Env // as hooks see it
	envFrom    func(name string) string
	cfg        config.Config
	kb         config.KB
	store      snapshot.Store
	plugin     string // the name under which our plugin is enabled
	pluginErr  error  // why its hooks cannot be looked at
	instrument settings.Instrument
	session    Session
	state      snapshot.State // of the session; zero without one
	sources    []source
	registered []registered
	heard      []Heard
}

// Examine runs every check.
func Examine(in Input) Report {
	e := gather(in)
	r := Report{Session: e.session, Project: e.Project, Files: e.Files, Heard: e.heard}
	for _, check := range []func(*exam) []Result{
		checkHome, checkBinary, checkSettings, checkShapes,
		checkPlugin, checkHooksAllowed, checkHooksTwice, checkEvents, checkExtraEvents, checkAsync, checkHookRuns,
		checkStatusline, checkSnapshot, checkMarker, checkZones,
		checkCompactionValues, checkCompaction,
		checkRules, checkProblems,
	} {
		r.Results = append(r.Results, check(e)...)
	}
	for i := range r.Results {
		r.Results[i] = plain(r.Results[i])
	}
	r.Compaction = triggers(e)
	r.Values = values(e)
	return r
}

// maxText is how many characters of a text are shown.
const maxText = 1000

// plain drops what has no business on a terminal: paths and commands come from files that others wrote.
func plain(r Result) Result {
	r.What = harness.Plain(r.What, maxText)
	r.Why = harness.Plain(r.Why, maxText)
	r.Fix = harness.Plain(r.Fix, maxText)
	return r
}

func gather(in Input) *exam {
	e := &exam{Input: in, home: in.Env.Home()}
	if e.Run == nil {
		e.Run = func(c Command) Outcome { return Run(c, Limit) }
	}
	e.plugin, _ = settings.EnabledPlugin(e.Files)
	options := settings.PluginOptions(e.Files, e.plugin)
	overlaid, from := settings.Environment(e.Env, e.Files)
	e.env = func(name string) (string, bool) {
		if v, ok := options[name]; ok && e.plugin != "" {
			return v, true
		}
		return overlaid(name)
	}
	e.envFrom = func(name string) string {
		if _, ok := options[name]; ok && e.plugin != "" {
			return "pluginConfigs of " + e.plugin
		}
		if f := from(name); f.Path != "" {
			return "env in " + f.Path
		}
		return ""
	}
	// HOME is where the tool itself was started; a settings file that moves it moves the hooks' home only.
	e.cfg = config.Load(e.env)
	e.kb = e.cfg.KBFor(kbgate.Root(e.Project, ""), e.env)
	e.store, _ = snapshot.In(e.home)
	e.instrument = settings.InstrumentIn(e.env, e.Project, e.Files)
	e.session = findSession(in, e.store)
	e.state = snapshot.State{Bands: e.bands()}
	if id, ok := harness.ParseID(e.session.ID); ok && e.home != "" {
		e.state = e.store.Resolve(id, in.Now)
	}
	e.sources = e.findSources()
	e.registered = registrations(e.sources)
	e.heard = e.findHeard()
	return e
}

// expected is what has to be registered.
func (e *exam) expected() []registration.Entry { return registration.Table(e.kb) }

func pass(id, what, why string) Result { return Result{id, Pass, what, why, ""} }

func info(id, what, why, fix string) Result { return Result{id, Info, what, why, fix} }

func fail(id, what, why, fix string) Result { return Result{id, Fail, what, why, fix} }

func one(r Result) []Result { return []Result{r} }

// object is a settings file's member that is an object; nil for every other.
func object(v rawjson.Value) rawjson.Value {
	if v.Kind() == rawjson.Object {
		return v
	}
	return nil
}
