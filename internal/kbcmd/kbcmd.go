// Package kbcmd is the commands of the knowledge base: kb search, get, status, add and serve. Each is a function that
// takes the arguments behind its name and returns the exit code.
package kbcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"plimsoll/internal/config"
	"plimsoll/internal/kb"
	"plimsoll/internal/kb/memories"
	"plimsoll/internal/kbserve"
	"plimsoll/internal/kbsource"
)

// Process is what a command may see of the process that it runs in.
type Process struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Env            config.Env
	Now            func() time.Time
	Version        string // for kb serve to introduce itself with
}

// Exit codes.
const (
	ok    = 0
	wrong = 1 // failed, or found something wrong
	usage = 2 // the command line is wrong
)

// The commands' help without their flags.
const (
	SearchHelp = `Searches the notes of this project, of the folders above it and of the user, best first. Words are joined by "or" and
compared by their stems; identifiers and paths are found whole and by their parts. Says which folder each note is from.

  plimsoll kb search QUERY...
`
	GetHelp = `Prints a note, or one section of it with the sections below it. FILE is what search prints, or a path. HEADING may be
written as in the note, in any case, or as a link's anchor.

  plimsoll kb get FILE[#HEADING]
`
	StatusHelp = `Lists the memory folders, what in them is not searched and why, the index, and which searches a session here has.

  plimsoll kb status
`
	AddHelp = `Writes a note from standard input into the project's .claude/memories, named after its title, with front matter. Keys
that the text brings along win. An existing note is never written over.

  plimsoll kb add TITLE [--description TEXT] [--tags a,b] [--in FOLDER] [--user] < TEXT
`
	ServeHelp = `Serves the knowledge base to a model, as an MCP server on standard input and output with the tools query and get. Claude
Code starts it; register it under the name plimsoll.

  plimsoll kb serve
`
)

// command is one command's flags and outcome.
type command struct {
	Process
	name, help string
	flags      *pflag.FlagSet
	project    *string
	asJSON     *bool
}

func (p Process) command(name, help string) *command {
	c := &command{Process: p, name: name, help: help, flags: pflag.NewFlagSet("kb "+name, pflag.ContinueOnError)}
	c.flags.SetOutput(io.Discard)
	c.project = c.flags.String("project", "", "a folder of the project (default: the current one)")
	return c
}

func (c *command) json() { c.asJSON = c.flags.Bool("json", false, "print JSON") }

// parse returns false with the exit code when there is nothing more to do.
func (c *command) parse(args []string, least, most int) (code int, goOn bool) {
	err := c.flags.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		return c.print(c.help + "\nFlags:\n" + c.flags.FlagUsages()), false
	}
	n := c.flags.NArg()
	switch {
	case err != nil:
	case n < least:
		err = errors.New("an argument is missing")
	case n > most:
		err = fmt.Errorf("unexpected argument %q", c.flags.Arg(most))
	default:
		return ok, true
	}
	return c.fail(usage, err, "plimsoll kb "+c.name+" --help lists the arguments"), false
}

func (c *command) fail(code int, err error, hint string) int {
	fmt.Fprintf(c.Stderr, "plimsoll: kb %s: %s\n", c.name, kb.Line(err.Error()))
	if hint != "" {
		fmt.Fprintf(c.Stderr, "hint: %s\n", hint)
	}
	return code
}

func (c *command) print(text string) int {
	if _, err := io.WriteString(c.Stdout, text); err != nil {
		return c.fail(wrong, fmt.Errorf("write the answer: %w", err), "")
	}
	return ok
}

func (c *command) printJSON(v any) int {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return c.fail(wrong, err, "")
	}
	return c.print(b.String())
}

// dir is the folder that the command is about.
func (c *command) dir() (string, error) {
	if *c.project == "" {
		return os.Getwd()
	}
	info, err := os.Stat(*c.project)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is no folder", *c.project)
	}
	return filepath.Abs(*c.project)
}

func (c *command) open() (*kb.Base, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	return kb.Open(dir, c.Env)
}

func (c *command) openFailed(err error) int {
	hint := ""
	if errors.Is(err, kb.ErrNone) {
		hint = "plimsoll kb add TITLE writes a first note"
	}
	return c.fail(wrong, err, hint)
}

// Search is kb search.
func Search(args []string, p Process) int {
	c := p.command("search", SearchHelp)
	c.json()
	limit := c.flags.IntP("limit", "n", kb.DefaultLimit, fmt.Sprintf("how many notes at most, 1 to %d", kb.MaxLimit))
	if code, goOn := c.parse(args, 1, len(args)); !goOn {
		return code
	}
	if *limit < 1 || *limit > kb.MaxLimit {
		return c.fail(usage, fmt.Errorf("-n %d is not between 1 and %d", *limit, kb.MaxLimit), "")
	}
	b, err := c.open()
	if err != nil {
		return c.openFailed(err)
	}
	defer b.Close()
	hits, err := b.Search(strings.Join(c.flags.Args(), " "), *limit)
	switch {
	case err != nil:
		return c.fail(wrong, err, "")
	case *c.asJSON:
		if hits == nil {
			hits = []kb.Hit{}
		}
		return c.printJSON(hits)
	case len(hits) == 0:
		return c.print("No note fits.\n")
	}
	return c.print(kb.HitsText(hits))
}

// Get is kb get.
func Get(args []string, p Process) int {
	c := p.command("get", GetHelp)
	c.json()
	if code, goOn := c.parse(args, 1, 1); !goOn {
		return code
	}
	b, err := c.open()
	if err != nil {
		return c.openFailed(err)
	}
	defer b.Close()
	t, err := b.GetAt(c.flags.Arg(0), "")
	var heading *kb.HeadingError
	switch {
	case errors.As(err, &heading):
		return c.fail(wrong, err, "it has: "+strings.Join(heading.Have, ", "))
	case errors.Is(err, fs.ErrNotExist):
		return c.fail(wrong, err, "plimsoll kb search names files")
	case err != nil:
		return c.fail(wrong, err, "")
	case *c.asJSON:
		return c.printJSON(t)
	}
	return c.print(t.Text + "\n")
}

// status is what kb status prints.
type status struct {
	Project string `json:"project"`
	kb.Status
	Searches kbsource.Sources `json:"searches"`
}

// Status is kb status.
func Status(args []string, p Process) int {
	c := p.command("status", StatusHelp)
	c.json()
	if code, goOn := c.parse(args, 0, 0); !goOn {
		return code
	}
	b, err := c.open()
	if err != nil {
		return c.openFailed(err)
	}
	defer b.Close()
	st := status{Project: b.Places.Project.Root}
	settings := config.Load(c.Env)
	st.Searches = kbsource.Find(settings.KBFor(st.Project, c.Env), c.Env, st.Project)
	if st.Status, err = b.Status(); err != nil {
		return c.fail(wrong, err, "")
	}
	if *c.asJSON {
		return c.printJSON(st)
	}
	return c.print(st.text())
}

func (st status) text() string {
	var b strings.Builder
	for _, f := range st.Folders {
		fmt.Fprintf(&b, "%-8s %s: %d notes, %d passages\n", f.Label, kb.Line(f.Dir), f.Notes, f.Passages)
		for _, i := range f.Ignored {
			fmt.Fprintf(&b, "         not searched: %s: %s\n", kb.Line(i.Path), i.Why)
		}
	}
	for _, i := range st.Ignored {
		fmt.Fprintf(&b, "ignored  %s: %s\n", kb.Line(i.Path), i.Why)
	}
	if st.Index.InMemory != "" {
		fmt.Fprintf(&b, "index    in memory, made anew by every command: %s\n", kb.Line(st.Index.InMemory))
	} else {
		fmt.Fprintf(&b, "index    %s: %d kB, up to date\n", kb.Line(st.Index.Dir), (st.Index.Bytes+1023)/1024)
	}
	var searches []string
	searches = append(searches, st.Searches.Tools...)
	for _, command := range st.Searches.Commands {
		searches = append(searches, "Bash "+command)
	}
	if len(searches) == 0 {
		searches = append(searches, "none; plimsoll setup --kb-server registers one")
	}
	fmt.Fprintf(&b, "sessions search with: %s\n", kb.Line(strings.Join(searches, ", ")))
	return b.String()
}

// Add is kb add.
func Add(args []string, p Process) int {
	c := p.command("add", AddHelp)
	description := c.flags.String("description", "", "one line on what the note says")
	tags := c.flags.StringSlice("tags", nil, "comma-separated words")
	in := c.flags.String("in", "", "a folder within the memory folder")
	user := c.flags.Bool("user", false, "into ~/.claude/memories, for all projects")
	if code, goOn := c.parse(args, 1, 1); !goOn {
		return code
	}
	dir, err := c.dir()
	if err != nil {
		return c.fail(wrong, err, "")
	}
	places := memories.Find(dir, c.Env)
	folder := places.Project
	if *user {
		if folder = places.Home; folder.Dir == "" {
			return c.fail(wrong, errors.New("there is no home folder"), "")
		}
	}
	text, err := io.ReadAll(io.LimitReader(c.Stdin, memories.MaxFile+1))
	if err != nil {
		return c.fail(wrong, fmt.Errorf("read standard input: %w", err), "")
	}
	draft := memories.Draft{
		Title: kb.Line(c.flags.Arg(0)), Description: kb.Line(*description), Date: c.Now().Format(time.DateOnly), Text: string(text),
	}
	for _, tag := range *tags {
		if tag = kb.Line(tag); tag != "" {
			draft.Tags = append(draft.Tags, tag)
		}
	}
	name, err := folder.Add(*in, draft)
	switch {
	case errors.Is(err, fs.ErrExist) && name != "":
		return c.fail(wrong, err, "choose another title, or edit "+filepath.Join(folder.Dir, filepath.FromSlash(name)))
	case errors.Is(err, memories.ErrEmpty):
		return c.fail(wrong, fmt.Errorf("%w on standard input", err), "")
	case err != nil:
		return c.fail(wrong, err, "")
	}
	return c.print(filepath.Join(folder.Dir, filepath.FromSlash(name)) + "\n")
}

// Serve is kb serve.
func Serve(args []string, p Process) int {
	c := p.command("serve", ServeHelp)
	if code, goOn := c.parse(args, 0, 0); !goOn {
		return code
	}
	dir, err := c.dir()
	if err != nil {
		return c.fail(wrong, err, "")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := kbserve.Serve(ctx, dir, c.Env, c.Version, c.Stdin, c.Stdout); err != nil {
		return c.fail(wrong, err, "")
	}
	return ok
}
