package hookcmd

import (
	"fmt"
	"strconv"
	"time"

	"plimsoll/internal/harness"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/snapshot"
	"plimsoll/internal/statusline"
	"plimsoll/internal/stdin"
	"plimsoll/internal/zone"
)

// Statusline writes the session's snapshot, then runs the renderer that the arguments name, or draws a line. The exit
// code is the renderer's, 0 without one.
func Statusline(p Process) (code int) {
	in := stdin.Read(p.Stdin, stdin.MaxBytes, stdin.Wait)
	if in.Complete {
		if code, ended := p.tee(in.Data); ended {
			return code
		}
	}
	if len(p.Args) > 0 {
		return statusline.Render(p.Args, in, p.Stdout, p.Stderr)
	}
	defer p.failOpen(&code)
	if line := p.line(in.Data); line != "" {
		fmt.Fprintln(p.Stdout, line)
	}
	return 0
}

// tee writes the snapshot. Nothing that goes wrong with it, a bug included, may keep the renderer from running.
func (p Process) tee(payload []byte) (code int, ended bool) {
	defer p.failOpen(&code)
	store, ok := snapshot.In(p.Env.Home())
	if !ok {
		return 0, false
	}
	w := snapshot.Writer{Store: store, Floor: p.floor(), Pause: pause}
	outcome, err := w.Write(payload, p.Now())
	if killed, ok := asKilled(err); ok {
		return killed.exitCode(), true
	}
	if err != nil {
		p.debug(fmt.Errorf("tee: %s: %w", outcome, err))
	}
	return 0, false
}

// floor is the no-change floor: CG_TEE_NOCHANGE_FLOOR in whole seconds, as the predecessor read it, else the default.
func (p Process) floor() time.Duration {
	s := p.Env.Get("CG_TEE_NOCHANGE_FLOOR")
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return snapshot.Floor
		}
	}
	if n, err := strconv.ParseInt(s, 10, 32); err == nil {
		return time.Duration(n) * time.Second
	}
	return snapshot.Floor
}

func (p Process) line(payload []byte) string {
	bands, compacted := zone.Default(), false
	if store, ok := snapshot.In(p.Env.Home()); ok {
		bands = store.Bands()
		if root, err := rawjson.Parse(payload); err == nil {
			if id, ok := harness.ParseID(root.Get("session_id").TextOr("")); ok {
				compacted = store.Compacted(id)
			}
		}
	}
	return statusline.Line(payload, bands, compacted, p.Now(), statusline.StyleFrom(p.Env))
}
