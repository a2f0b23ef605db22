//go:build e2e

// Package e2e runs Plimsoll's real binaries inside the real Claude Code client, against a Messages API that plays a
// script. It asserts on three things: what the model was sent, what the operator saw, and what is on disk.
//
// README.md says how to run it and how to add a scenario.
package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"plimsoll/test/e2e/client"
	"plimsoll/test/e2e/loopback"
)

// preparedVar carries what was prepared with the network to the run without it.
const preparedVar = "PLIMSOLL_E2E_PREPARED"

// prepared is what tests need and cannot make themselves: inside, there is no network to install or build with.
var prepared preparation

type preparation struct {
	Versions []string                 // to test, oldest first
	Clients  map[string]client.Client // by version
	Missing  string                   // why some version has no client
	Hook     string                   // plimsoll-hook
	Tool     string                   // plimsoll, in the folder of plimsoll-hook: setup wires what is beside it
	Panics   string                   // plimsoll-hook with a rule that panics on every event
	Isolated bool                     // tests run where only loopback is
}

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	if state := os.Getenv(preparedVar); state != "" {
		if err := json.Unmarshal([]byte(state), &prepared); err != nil {
			return 0, fmt.Errorf("read preparation: %w", err)
		}
		if err := loopback.Up(); err != nil {
			return 0, err
		}
		return m.Run(), nil
	}
	bin, err := os.MkdirTemp("", "plimsoll-e2e")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(bin)
	if prepared, err = prepare(bin); err != nil {
		return 0, err
	}
	if prepared.Missing != "" {
		fmt.Fprintln(os.Stderr, "e2e: SKIPPING clients that cannot be installed:", prepared.Missing)
	}
	inside := prepared
	inside.Isolated = true
	state, err := json.Marshal(inside)
	if err != nil {
		return 0, err
	}
	code, err := loopback.Rerun(preparedVar + "=" + string(state))
	if errors.Is(err, loopback.ErrNotPermitted) {
		fmt.Fprintln(os.Stderr, "e2e: running without a network of its own:", err)
		return m.Run(), nil
	}
	return code, err
}

// prepare installs the chosen clients and builds the binaries under test.
func prepare(bin string) (preparation, error) {
	p := preparation{Clients: make(map[string]client.Client)}
	pins, err := pinned()
	if err != nil {
		return p, err
	}
	if p.Versions, err = pins.Select(os.Getenv("PLIMSOLL_E2E_VERSIONS")); err != nil {
		return p, err
	}
	cache, err := client.CacheDir()
	if err != nil {
		return p, err
	}
	for _, version := range p.Versions {
		c, err := client.Install(context.Background(), cache, version)
		if err != nil {
			// The reason holds for the other versions too, and finding it out again would take minutes each.
			p.Missing = err.Error()
			break
		}
		p.Clients[version] = c
	}
	for _, b := range []struct {
		path   *string
		name   string
		source string   // variable that names a binary to take instead
		args   []string // of go build
	}{
		{&p.Panics, "plimsoll-hook-panics", "", []string{"-tags", "plimsoll_panic", "plimsoll/cmd/plimsoll-hook"}},
		{&p.Hook, "plimsoll-hook", "PLIMSOLL_E2E_HOOK", []string{"plimsoll/cmd/plimsoll-hook"}},
		{&p.Tool, "plimsoll", "PLIMSOLL_E2E_TOOL", []string{"plimsoll/cmd/plimsoll"}},
	} {
		*b.path = filepath.Join(bin, b.name)
		if err := place(*b.path, os.Getenv(b.source), b.args); err != nil {
			return p, err
		}
	}
	return p, nil
}

// place puts a binary at a path: a given one, or else what go build makes.
func place(path, given string, args []string) error {
	if given != "" {
		given, err := filepath.Abs(given)
		if err != nil {
			return err
		}
		return os.Symlink(given, path)
	}
	cmd := exec.Command("go", append([]string{"build", "-o", path}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", filepath.Base(path), err, out)
	}
	return nil
}

func pinned() (client.Pins, error) {
	f, err := os.Open("versions")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return client.ReadPins(f)
}
