package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// The table is what the generator makes of the pinned package.
func TestTableIsGenerated(t *testing.T) {
	if os.Getenv("PLIMSOLL_ONLINE") == "" {
		t.Skip("asks the npm registry; PLIMSOLL_ONLINE=1 runs it")
	}
	got, err := generate(fetch)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../table.tsv")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("table.tsv is not what the generator makes; run go generate ./internal/model/price")
	}
}

func TestOtherArchivesAreRefused(t *testing.T) {
	_, err := generate(func() ([]byte, error) { return []byte("another archive"), nil })
	if err == nil || !strings.Contains(err.Error(), "not the pinned one") {
		t.Errorf("%v", err)
	}
}

func TestParse(t *testing.T) {
	rows, err := parse([]byte(`{"api":{"chat:claude-x":{"cost":{"input":1,"output":2,"cacheRead":0.1,"cacheWrite":1.25,"tiers":[{"inputTokensAbove":5,"input":2,"output":3}]}},"chat:gpt":{"cost":{}},"embed:claude":{}}}`), "f.json")
	if err != nil || len(rows) != 2 || rows[1].above != 5 || rows[0].rate != (rate{1, 2, 0.1, 1.25}) {
		t.Errorf("%+v, %v", rows, err)
	}
	for _, text := range []string{`{"api":{"chat:claude-x":{"cost":{}}}}`, `{}`, `x`} {
		if _, err := parse([]byte(text), "f.json"); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
