package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// generate writes that many bytes of transcripts below dir, always the same ones. The kinds of row have the shares of
// bytes that 107 recorded transcripts have: results of tools 41%, progress 28%, responses 16%, attachments 9%, shapes of
// requests 4%.
func generate(dir string, size int64) error {
	r := rand.New(rand.NewSource(1))
	done := filepath.Join(dir, "complete")
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	at := time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC)
	for n := 0; size > 0; n++ {
		length := int64(100_000 * (1 + r.ExpFloat64()*40)) // 100 kB to some 60 MB
		length = min(length, 60_000_000, max(size, 100_000))
		session := fmt.Sprintf("%08x-0000-4000-8000-%012x", r.Uint32(), n)
		project := filepath.Join(dir, fmt.Sprintf("-home-u-project%d", n%12))
		g := generator{r: r, session: session, at: at.Add(time.Duration(n%25) * 24 * time.Hour)}
		if err := g.write(filepath.Join(project, session+".jsonl"), length*9/10); err != nil {
			return err
		}
		g.agent = fmt.Sprintf("a%016x", r.Uint64())
		if err := g.write(filepath.Join(project, session, "subagents", "agent-"+g.agent+".jsonl"), length/10); err != nil {
			return err
		}
		size -= length
	}
	return os.WriteFile(done, nil, 0o644)
}

type generator struct {
	r       *rand.Rand
	session string
	agent   string
	at      time.Time
	context int
}

func (g *generator) write(path string, size int64) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	g.context = 20_000
	for size > 0 {
		n, err := g.turn(w)
		if err != nil {
			return err
		}
		size -= int64(n)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// text is like what transcripts hold: words, line ends and quotes, escaped.
func (g *generator) text(size int) string {
	var b strings.Builder
	for b.Len() < size {
		switch g.r.Intn(12) {
		case 0:
			b.WriteString(`\n`)
		case 1:
			b.WriteString(`\"name\": \"value\", `)
		default:
			b.WriteString("function word in a line of text "[:4+g.r.Intn(28)])
		}
	}
	return b.String()
}

func (g *generator) common(kind string) string {
	g.at = g.at.Add(time.Duration(1+g.r.Intn(20)) * time.Second)
	more := ""
	if g.agent != "" {
		more = fmt.Sprintf(`,"agentId":%q`, g.agent)
	}
	return fmt.Sprintf(`"isSidechain":%t%s,"userType":"external","cwd":"/home/u/project","sessionId":%q,"version":"2.1.332","gitBranch":"main","type":%q,"uuid":"%016x-%016x","timestamp":%q`,
		g.agent != "", more, g.session, kind, g.r.Uint64(), g.r.Uint64(), g.at.UTC().Format("2006-01-02T15:04:05.000Z"))
}

// turn writes a response of one to three rows, the result of its call, and what the client writes around them.
func (g *generator) turn(w io.Writer) (written int, err error) {
	row := func(format string, args ...any) {
		if err != nil {
			return
		}
		var n int
		n, err = fmt.Fprintf(w, format+"\n", args...)
		written += n
	}
	id := fmt.Sprintf("msg_01%016x%04x", g.r.Uint64(), g.r.Intn(1<<16))
	call := fmt.Sprintf("toolu_01%016x", g.r.Uint64())
	model := []string{"claude-opus-5", "claude-opus-5", "claude-sonnet-5", "claude-haiku-4-5"}[g.r.Intn(4)]
	fresh := 200 + g.r.Intn(3000)
	usage := fmt.Sprintf(`{"input_tokens":3,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation":{"ephemeral_5m_input_tokens":%d,"ephemeral_1h_input_tokens":0},"output_tokens":%d,"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"service_tier":"standard","inference_geo":"global","iterations":[],"speed":"standard"}`,
		fresh, g.context, fresh, 50+g.r.Intn(900))
	if g.context += fresh; g.context > 600_000 {
		row(`{%s,"subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{"trigger":"auto","preTokens":%d,"postTokens":20000}}`, g.common("system"), g.context)
		g.context = 20_000
	}
	for block := range 1 + g.r.Intn(3) {
		content := fmt.Sprintf(`{"type":"text","text":"%s"}`, g.text(200+g.r.Intn(800)))
		switch {
		case block == 1 && g.r.Intn(40) == 0:
			content = fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Skill","input":{"skill":"review"}}`, call+"s")
		case block == 1:
			content = fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"%s"}}`, call, g.text(300))
		}
		row(`{"parentUuid":"%016x","message":{"model":%q,"id":%q,"type":"message","role":"assistant","content":[%s],"stop_reason":null,"stop_sequence":null,"usage":%s},"requestId":"req_%s",%s}`,
			g.r.Uint64(), model, id, content, usage, id[4:], g.common("assistant"))
	}
	output := g.text(1000 + g.r.Intn(5000))
	row(`{"parentUuid":"%016x",%s,"message":{"role":"user","content":[{"tool_use_id":%q,"type":"tool_result","content":"%s","is_error":false}]},"toolUseResult":{"stdout":"%s","stderr":"","interrupted":false}}`,
		g.r.Uint64(), g.common("user"), call, output, output)
	for range 5 {
		row(`{"parentUuid":"%016x",%s,"data":{"type":"hook_progress","hookEvent":"PostToolUse","hookName":"PostToolUse:Bash","command":"%s"},"parentToolUseID":%q}`,
			g.r.Uint64(), g.common("progress"), g.text(700), call)
	}
	if g.r.Intn(6) == 0 {
		row(`{"parentUuid":"%016x","attachment":{"type":"file","content":"%s"},%s}`, g.r.Uint64(), g.text(5000), g.common("attachment"))
	}
	if g.r.Intn(150) == 0 {
		row(`{"type":"api-request-shape","sessionId":%q,"shape":{"system":[{"type":"text","text":"%s"}]}}`, g.session, g.text(50_000))
	}
	return written, err
}

// long writes a transcript of 600 MB that has one line of 64 MB.
func long(path string) error {
	if info, err := os.Stat(path); err == nil && info.Size() > 600_000_000 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	g := generator{r: rand.New(rand.NewSource(2)), session: "long", at: time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC), context: 20_000}
	for size := 0; size < 540_000_000; {
		n, err := g.turn(w)
		if err != nil {
			return err
		}
		size += n
	}
	if _, err := fmt.Fprintf(w, `{%s,"message":{"role":"user","content":"%s"}}`+"\n", g.common("user"), strings.Repeat("sixteen bytes... ", 64<<20/17)); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
