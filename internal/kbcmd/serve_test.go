package kbcmd

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"
)

// The server speaks MCP on standard output and nothing else, and ends with its input. It answers what came in before
// the end only while the client listens, so the client here does as clients do: it waits for the answer first.
func TestServe(t *testing.T) {
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	var stderr bytes.Buffer
	home := t.TempDir()
	code := make(chan int, 1)
	go func() {
		code <- Serve([]string{"--project", t.TempDir()}, Process{Stdin: fromClient, Stdout: toClient, Stderr: &stderr, Version: "v1",
			Env: func(name string) (string, bool) { return home, name == "HOME" }})
		toClient.Close()
	}()
	out := bufio.NewReader(fromServer)
	for _, exchange := range []struct{ request, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`, `"serverInfo":{"name":"plimsoll","version":"v1"}`},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `"name":"query"`},
	} {
		if _, err := io.WriteString(toServer, exchange.request+"\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := out.ReadString('\n'); err != nil || !strings.HasPrefix(line, `{"jsonrpc":"2.0","id":`) || !strings.Contains(line, exchange.want) {
			t.Fatalf("answer %q, %v", line, err)
		}
	}
	toServer.Close()
	if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
		t.Errorf("after the end of input: %q, %v", rest, err)
	}
	if c := <-code; c != 0 || stderr.Len() > 0 {
		t.Errorf("exit code %d, stderr %q", c, &stderr)
	}
}
