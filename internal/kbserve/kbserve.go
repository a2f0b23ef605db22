// Package kbserve is the knowledge base as an MCP server on two streams: the tools query and get, which Claude Code
// calls mcp__plimsoll__query and mcp__plimsoll__get when the server goes by its name.
package kbserve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"plimsoll/internal/config"
	"plimsoll/internal/kb"
)

// Name is the server's name, and part of the names that its tools have in the client.
const Name = "plimsoll"

// Server answers for the knowledge base of one working folder.
type Server struct {
	dir string
	env config.Env

	mu   sync.Mutex
	base *kb.Base
}

// Query is the input of the tool query.
type Query struct {
	Query string `json:"query" jsonschema:"keywords, identifiers or a question; words are joined by or"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many notes to return, 1 to 50 (default 6)"`
}

// Get is the input of the tool get.
type Get struct {
	File    string `json:"file" jsonschema:"a file as query names it, with or without #heading"`
	Heading string `json:"heading,omitempty" jsonschema:"a heading of the file; without one the whole file is returned"`
}

// Serve answers requests from in on out until in ends or ctx is done. dir is an absolute path.
func Serve(ctx context.Context, dir string, env config.Env, version string, in io.Reader, out io.Writer) error {
	s := &Server{dir: dir, env: env}
	defer s.close()
	server := mcp.NewServer(&mcp.Implementation{Name: Name, Version: version}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{},
		Instructions: "The project's knowledge base: what earlier sessions learnt and decided (.claude/memories). " +
			"Search it with query before exploring code; a hit is an excerpt, so read it whole with get before relying on it.",
	})
	readOnly := &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)}
	// Claude Code keeps a server's tools back until the model looks for them with a tool of the client's, unless they say
	// otherwise (clients from 2.1.132 on or earlier know this key). The KB gate asks for this search by name, so it is
	// to be among the tools from the start; the two definitions take a few hundred tokens.
	offered := mcp.Meta{"anthropic/alwaysLoad": true}
	mcp.AddTool(server, &mcp.Tool{
		Meta: offered, Name: "query", Title: "Search the knowledge base", Annotations: readOnly,
		Description: "Full-text search over the notes of this project, of the folders above it and of the user. Returns the best notes with the passage that fits, its lines and a snippet.",
	}, s.query)
	mcp.AddTool(server, &mcp.Tool{
		Meta: offered, Name: "get", Title: "Read a note", Annotations: readOnly,
		Description: "Returns a note, or one section of it, whole.",
	}, s.get)
	err := server.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: nopCloser{out}})
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// open finds the folders anew with every call: notes may come to a project while the server runs.
func (s *Server) open() (*kb.Base, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := kb.Open(s.dir, s.env)
	if err != nil {
		return nil, err
	}
	// The one in use may hold an index in memory.
	if s.base != nil && reflect.DeepEqual(s.base.Places, b.Places) {
		return s.base, nil
	}
	s.base = b
	return b, nil
}

func (s *Server) close() {
	if s.base != nil {
		s.base.Close()
	}
}

func text(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

func (s *Server) query(_ context.Context, _ *mcp.CallToolRequest, in Query) (*mcp.CallToolResult, any, error) {
	if strings.TrimSpace(in.Query) == "" {
		return nil, nil, errors.New("query is empty: pass keywords or a question")
	}
	b, err := s.open()
	if errors.Is(err, kb.ErrNone) {
		return text("There are no notes yet: %v.", err), nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	hits, err := b.Search(in.Query, in.Limit)
	if err != nil {
		return nil, nil, err
	}
	if len(hits) == 0 {
		return text("No note fits."), nil, nil
	}
	return text("%s", kb.HitsText(hits)), nil, nil
}

func (s *Server) get(_ context.Context, _ *mcp.CallToolRequest, in Get) (*mcp.CallToolResult, any, error) {
	b, err := s.open()
	if err != nil {
		return nil, nil, err
	}
	t, err := b.GetAt(in.File, in.Heading)
	var heading *kb.HeadingError
	switch {
	case errors.As(err, &heading):
		return nil, nil, fmt.Errorf("%w; it has: %s", err, strings.Join(heading.Have, ", "))
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fmt.Errorf("%w; query names the files", err)
	case err != nil:
		return nil, nil, err
	}
	return text("%s (lines %d-%d of %s)\n\n%s", t.File, t.First, t.Last, t.Path, t.Text), nil, nil
}
