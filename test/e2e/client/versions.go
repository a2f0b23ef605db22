package client

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// A Pin is one line of the versions file: a version that tests run against, and why.
type Pin struct {
	Version string
	Why     string
}

// Pins are the pinned versions, oldest first. The last one is the newest that tests know.
type Pins []Pin

// Floor is the oldest version that Plimsoll supports: in older ones the statusline's totals are not the context.
const Floor = "2.1.132"

var versionForm = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

// ReadPins reads a versions file: one "<version> <why>" a line; empty lines and lines that begin with # are skipped.
func ReadPins(r io.Reader) (Pins, error) {
	var pins Pins
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		version, why, _ := strings.Cut(line, " ")
		if !versionForm.MatchString(version) {
			return nil, fmt.Errorf("read versions: line %d: %q is no version", n, version)
		}
		pins = append(pins, Pin{version, strings.TrimSpace(why)})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read versions: %w", err)
	}
	if len(pins) == 0 {
		return nil, errors.New("read versions: none pinned")
	}
	return pins, nil
}

// Newest is the newest pinned version.
func (p Pins) Newest() string { return p[len(p)-1].Version }

// Select resolves a choice of versions: "" is floor and newest, "matrix" every pinned version, and a comma-separated
// list names versions, "floor" or "newest". A version need not be pinned to be named.
func (p Pins) Select(choice string) ([]string, error) {
	var versions []string
	switch choice {
	case "":
		versions = []string{Floor, p.Newest()}
	case "matrix":
		for _, pin := range p {
			versions = append(versions, pin.Version)
		}
	default:
		for word := range strings.SplitSeq(choice, ",") {
			switch word = strings.TrimSpace(word); {
			case word == "floor":
				word = Floor
			case word == "newest":
				word = p.Newest()
			case !versionForm.MatchString(word):
				return nil, fmt.Errorf("select client versions: %q is neither a version nor floor, newest or matrix", word)
			}
			versions = append(versions, word)
		}
	}
	return slices.Compact(versions), nil
}
