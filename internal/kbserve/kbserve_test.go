package kbserve

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"plimsoll/internal/config"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// connect serves root over pipes to a client of the SDK, and ends both with the test.
func connect(t *testing.T, root string) *mcp.ClientSession {
	t.Helper()
	home := t.TempDir()
	env := config.Env(func(name string) (string, bool) { return home, name == "HOME" })
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- Serve(context.Background(), root, env, "v1", fromClient, toClient)
		toClient.Close()
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "v1"}, nil)
	session, err := client.Connect(context.Background(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		if err := <-done; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return session
}

func call(t *testing.T, s *mcp.ClientSession, tool string, args map[string]any) (text string, failed bool) {
	t.Helper()
	r, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return err.Error(), true
	}
	if r.StructuredContent != nil || len(r.Content) != 1 {
		t.Errorf("%s: %d contents, structured %v: a model would read it twice", tool, len(r.Content), r.StructuredContent)
	}
	return r.Content[0].(*mcp.TextContent).Text, r.IsError
}

func TestTools(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, ".git"), "")
	s := connect(t, root)
	if name := s.InitializeResult().ServerInfo.Name; name != "plimsoll" {
		t.Errorf("the server's name is %q", name)
	}
	tools, err := s.ListTools(context.Background(), nil)
	if err != nil || len(tools.Tools) != 2 {
		t.Fatal(tools, err)
	}
	required := map[string]string{}
	for _, tool := range tools.Tools {
		schema, err := json.Marshal(tool.InputSchema)
		if err != nil || tool.Annotations == nil || !tool.Annotations.ReadOnlyHint || tool.OutputSchema != nil {
			t.Errorf("%+v, %v", tool, err)
		}
		// Else the model first has to search for the tool that the gate has named.
		if tool.Meta["anthropic/alwaysLoad"] != true {
			t.Errorf("%s may be kept back: %v", tool.Name, tool.Meta)
		}
		var in struct {
			Required   []string
			Properties map[string]any
		}
		if err := json.Unmarshal(schema, &in); err != nil {
			t.Fatal(err)
		}
		required[tool.Name] = strings.Join(in.Required, ",")
		for _, p := range map[string][]string{"query": {"query", "limit"}, "get": {"file", "heading"}}[tool.Name] {
			if in.Properties[p] == nil {
				t.Errorf("%s has no input %s", tool.Name, p)
			}
		}
	}
	if required["query"] != "query" || required["get"] != "file" {
		t.Errorf("required inputs: %q", required)
	}
	expect := func(tool string, args map[string]any, wantFailed bool, want ...string) {
		t.Helper()
		text, failed := call(t, s, tool, args)
		for _, w := range want {
			if failed != wantFailed || !strings.Contains(text, w) {
				t.Errorf("%s %v: failed %v: %q; want failed %v and %q", tool, args, failed, text, wantFailed, w)
			}
		}
	}
	type in = map[string]any
	// Without notes the tool answers: the lookup counts, and the model is told that there is nothing.
	expect("query", in{"query": "holds"}, false, "no notes yet")
	expect("get", in{"file": "x.md"}, true, "no .claude/memories")
	note := filepath.Join(root, ".claude", "memories", "sub", "holds.md")
	write(t, note, "---\nname: Holds\n---\n# Holds\n\nIntro\n\n## Lease\n\nTwelve minutes.\n")
	write(t, filepath.Join(filepath.Dir(note), "other.md"), "minutes of the meeting")
	expect("query", in{"query": "lease minutes"}, false, "1. sub/holds.md#Lease  (lines 8-10,", "project", "> Twelve minutes.", "2. sub/other.md")
	if text, _ := call(t, s, "query", in{"query": "minutes", "limit": 1}); strings.Contains(text, "2. ") {
		t.Errorf("limit 1: %q", text)
	}
	expect("query", in{"query": "unfindable"}, false, "No note fits.")
	expect("query", in{"query": " "}, true, "query is empty")
	expect("query", in{}, true, "query")
	expect("query", in{"query": 5}, true, "")
	expect("get", in{"file": "sub/holds.md", "heading": "lease"}, false, "(lines 8-10 of "+note+")", "## Lease\n\nTwelve minutes.")
	expect("get", in{"file": "sub/holds.md#Lease"}, false, "## Lease\n\nTwelve minutes.")
	expect("get", in{"file": "sub/holds.md"}, false, "name: Holds", "Intro", "Twelve minutes.")
	expect("get", in{"file": "sub/holds.md", "heading": "None"}, true, "no such heading", "it has: Holds, Lease")
	expect("get", in{"file": "../../secret"}, true, "")
	expect("get", in{"file": "none.md"}, true, "query names the files")
}

// The client ends the server by closing its input.
func TestEndOfInput(t *testing.T) {
	err := Serve(context.Background(), t.TempDir(), func(string) (string, bool) { return "", false }, "v1", strings.NewReader(""), io.Discard)
	if err != nil {
		t.Error(err)
	}
}
