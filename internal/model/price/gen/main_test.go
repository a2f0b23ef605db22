package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The table is what the generator makes of the pinned package. The package is taken from npm's cache, where make prices
// leaves it; nothing is asked of the network.
func TestTableIsGenerated(t *testing.T) {
	path, err := cached()
	if err != nil {
		t.Fatal(err)
	}
	archive, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s %s is not in npm's cache; make prices puts it there", name, version)
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := generate(func() ([]byte, error) { return archive, nil })
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../table.tsv")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("table.tsv is not what the generator makes; run make prices")
	}
}

// cached is where npm's cache has the package, if it does: files are kept there by the hash of their content.
func cached() (string, error) {
	dir := os.Getenv("npm_config_cache")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, ".npm")
		if runtime.GOOS == "windows" {
			dir = filepath.Join(os.Getenv("LOCALAPPDATA"), "npm-cache")
		}
	}
	sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(integrity, "sha512-"))
	if err != nil {
		return "", err
	}
	h := hex.EncodeToString(sum)
	return filepath.Join(dir, "_cacache", "content-v2", "sha512", h[:2], h[2:4], h[4:]), nil
}

func TestOtherArchivesAreRefused(t *testing.T) {
	_, err := generate(func() ([]byte, error) { return []byte("another archive"), nil })
	if err == nil || !strings.Contains(err.Error(), "not the pinned one") {
		t.Errorf("%v", err)
	}
}

func TestParse(t *testing.T) {
	rows, err := parse([]byte(`{"api":{"chat:claude-x":{"cost":{"input":1,"output":2,"cacheRead":0.1,"cacheWrite":1.25,
		"tiers":[{"inputTokensAbove":5,"input":2,"output":3,"cacheRead":0.2,"cacheWrite":2.5}]}},"chat:gpt":{"cost":{}},"embed:claude":{}}}`), "f.json")
	if err != nil || len(rows) != 2 || rows[0].rate != (rate{1, 2, 0.1, 1.25}) || rows[1].above != 5 || rows[1].rate != (rate{2, 3, 0.2, 2.5}) {
		t.Errorf("%+v, %v", rows, err)
	}
	for text, want := range map[string]string{
		`{"api":{"chat:claude-x":{"cost":{}}}}`:                                       "claude-x lacks a price",
		`{"api":{"chat:claude-x":{"cost":{"input":1,"output":2,"cacheWrite":1.25}}}}`: "claude-x lacks a price",
		`{"api":{"chat:claude-x":{"cost":{"input":1,"output":2,"cacheRead":0.1,"cacheWrite":1.25,
			"tiers":[{"inputTokensAbove":5,"input":2,"output":3,"cacheRead":0.2}]}}}}`: "claude-x lacks a price",
		`{"api":{"chat:claude-x":{"cost":{"input":1,"output":2,"cacheRead":0.1,"cacheWrite":1.25,
			"tiers":[{"input":2,"output":3,"cacheRead":0.2,"cacheWrite":2.5}]}}}}`: "where it begins",
		`{}`: "no Claude model", `x`: "invalid",
	} {
		if _, err := parse([]byte(text), "f.json"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
