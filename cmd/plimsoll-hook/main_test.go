package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// build makes the hook binary as a user gets it, with build tags if any.
func build(t *testing.T, tags string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "plimsoll-hook")
	out, err := exec.Command("go", "build", "-tags", tags, "-o", bin, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

func payloads(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../internal/harness/testdata/payloads/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 200 {
		t.Fatalf("%d recorded payloads, want all of 18 client versions", len(files))
	}
	return files
}

// answer runs the binary on a payload and fails the test on anything but exit code 0 and silence on stderr.
func answer(t *testing.T, bin, home, payloadFile string) []byte {
	t.Helper()
	payload, err := os.Open(payloadFile)
	if err != nil {
		t.Fatal(err)
	}
	defer payload.Close()
	cmd := exec.Command(bin)
	cmd.Env = []string{"HOME=" + home, "PLIMSOLL_DEBUG=" + filepath.Join(home, "debug.log")}
	cmd.Stdin = payload
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil || stderr.Len() > 0 {
		t.Errorf("%s: %v, stderr %q", payloadFile, err, &stderr)
	}
	return stdout.Bytes()
}

// Each in a home of its own: in one home a recorded compaction is rightly remembered.
func TestRecordedPayloadsAreLeftAlone(t *testing.T) {
	bin := build(t, "")
	for _, file := range payloads(t) {
		home := t.TempDir()
		if out := answer(t, bin, home, file); len(out) > 0 {
			t.Errorf("%s: answered %s", file, out)
		}
		if log, err := os.ReadFile(filepath.Join(home, "debug.log")); err == nil {
			t.Errorf("%s: errors\n%s", file, log)
		}
	}
}

// A bug in a rule: the call goes on, the other rules still answer, and the debug log has the stack.
func TestPanicFailsOpen(t *testing.T) {
	bin, home := build(t, "plimsoll_panic"), t.TempDir()
	for _, file := range payloads(t)[:3] {
		if out := answer(t, bin, home, file); len(out) > 0 {
			t.Errorf("%s: answered %s", file, out)
		}
	}
	log, err := os.ReadFile(filepath.Join(home, "debug.log"))
	if err != nil || !bytes.Contains(log, []byte("rule planted-panic: panic: planted")) {
		t.Errorf("debug log %q, %v", log, err)
	}
	decisions, err := os.ReadFile(filepath.Join(home, ".claude", "plimsoll", "decisions.jsonl"))
	if err != nil || !bytes.Contains(decisions, []byte(`"decision":"fail-open","why":"panic"`)) {
		t.Errorf("decision log %q, %v", decisions, err)
	}
}

// What the hook binary links is paid for on every tool call, and network code must not be there at all.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, pkg := range strings.Fields(string(out)) {
		first, _, _ := strings.Cut(pkg, "/")
		switch {
		case pkg == "net" || strings.HasPrefix(pkg, "net/") || pkg == "regexp" || pkg == "crypto/tls" || pkg == "encoding/json" || pkg == "flag":
			t.Errorf("the hook binary links %s", pkg)
		case strings.Contains(first, "."):
			t.Errorf("the hook binary links %s from outside the standard library", pkg)
		}
	}
}
