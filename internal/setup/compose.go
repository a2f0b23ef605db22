package setup

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Composition is the status line command that runs ours in front of what was there.
type Composition struct {
	Command  string
	Renderer string // what was there, without wrappers of ours; "" when nothing was
	Peeled   int    // wrappers that were taken off
	Shell    string // why the renderer runs through sh -c; "" when it runs by itself
}

// Compose puts the wrapper, for instance `/usr/local/bin/plimsoll-hook statusline`, in front of a status line command.
// Wrappers of ours and of the predecessor that stand there already are taken off first, so that composing twice gives
// what composing once gives. Anything else, wrappers of other tools included, stays as it is. Nothing is executed.
func Compose(wrapper, command string) (Composition, error) {
	c, err := compose(wrapper, command)
	if err != nil {
		return Composition{}, err
	}
	// What we write has to survive a second setup unchanged.
	if again, err := compose(wrapper, c.Command); err != nil || again.Command != c.Command {
		return Composition{}, fmt.Errorf("wrap status line %q: wrapping it twice gives something else", command)
	}
	return c, nil
}

func compose(wrapper, command string) (Composition, error) {
	c, err := Decompose(command)
	if err != nil {
		return Composition{}, err
	}
	if c.Renderer == "" {
		c.Command = wrapper
		return c, nil
	}
	if c.Shell, err = needsShell(c.Renderer); err != nil {
		return Composition{}, err
	}
	c.Command = wrapper + " " + c.Renderer
	if c.Shell != "" {
		c.Command = wrapper + " sh -c " + quote(c.Renderer)
	}
	return c, nil
}

// Decompose takes the wrappers off a status line command.
func Decompose(command string) (Composition, error) {
	c := Composition{Renderer: strings.TrimSpace(command)}
	for c.Renderer != "" {
		inner, ok, err := peel(c.Renderer, c.Peeled > 0)
		if err != nil {
			return Composition{}, err
		}
		if !ok {
			break
		}
		c.Renderer = inner
		c.Peeled++
	}
	return c, nil
}

// peel takes one layer off: a wrapper at the front, or a whole sh -c that only carries what a wrapper could not. An
// sh -c that was not put there for a wrapper is the operator's own, so below no wrapper it is opened only when one
// stands inside.
func peel(command string, below bool) (inner string, ok bool, err error) {
	call, err := parseCall(command)
	if err != nil || call == nil {
		return "", false, err
	}
	if n := wrapperWords(call); n > 0 {
		if n == len(call.Args) {
			return "", true, nil
		}
		return command[call.Args[n].Pos().Offset():], true, nil
	}
	text, ok := adapter(call)
	if !ok {
		return "", false, nil
	}
	innerCall, err := parseCall(text)
	if err != nil {
		return "", false, nil // not for us to open
	}
	if innerCall == nil || len(innerCall.Assigns) > 0 {
		return text, below, nil
	}
	if wrapperWords(innerCall) > 0 || strings.HasSuffix(literal(innerCall, 1), "/statusline-shim.sh") && literal(innerCall, 0) == "bash" {
		return text, true, nil
	}
	if _, nested := adapter(innerCall); nested && below {
		return text, true, nil
	}
	return "", false, nil
}

// wrapperWords is how many words at the front of a call are a wrapper that setup replaces: ours, or the predecessor's
// shim or tee.
func wrapperWords(call *syntax.CallExpr) int {
	if len(call.Assigns) > 0 {
		return 0
	}
	first, second := literal(call, 0), literal(call, 1)
	base := strings.TrimSuffix(filepath.Base(strings.ReplaceAll(first, `\`, "/")), ".exe")
	switch {
	case (base == "plimsoll-hook" || base == "plimsoll") && second == "statusline":
		return 2
	case first == "bash" && strings.HasSuffix(second, "/context-guard/bin/statusline-shim.sh"):
		return 2
	case first == "bash" && strings.Contains(second, "/context-guard/") && strings.HasSuffix(second, "/statusline-tee.sh"):
		return 2
	}
	return 0
}

// adapter returns the text of a call that is sh -c and one single-quoted word, and nothing else.
func adapter(call *syntax.CallExpr) (string, bool) {
	if len(call.Assigns) > 0 || len(call.Args) != 3 || literal(call, 0) != "sh" || literal(call, 1) != "-c" {
		return "", false
	}
	return wordText(call.Args[2])
}

// literal is the text of a word that holds no expansion; "" for any other and for none.
func literal(call *syntax.CallExpr, i int) string {
	if i >= len(call.Args) {
		return ""
	}
	text, _ := wordText(call.Args[i])
	return text
}

// wordText is the text a shell makes of a word without expansions.
func wordText(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value))
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return "", false
				}
				b.WriteString(unescape(lit.Value))
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// unescape drops the backslashes that quote the next character.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// parse reads a command as bash does: the client's shell is sh, but operators write what their bash takes.
func parse(command string) (*syntax.File, error) {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "statusLine")
	if err != nil {
		return nil, fmt.Errorf("read status line command %q: %w", command, err)
	}
	return f, nil
}

// parseCall returns the command when it is one simple call and nothing around it; nil when it is more than that.
func parseCall(command string) (*syntax.CallExpr, error) {
	f, err := parse(command)
	if err != nil {
		return nil, err
	}
	if len(f.Stmts) != 1 {
		return nil, nil
	}
	st := f.Stmts[0]
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || st.Negated || st.Background || st.Coprocess || st.Semicolon.IsValid() || len(st.Redirs) > 0 || len(call.Args) == 0 {
		return nil, nil
	}
	return call, nil
}

// needsShell tells why a renderer cannot simply follow the wrapper's words; "" when it can.
func needsShell(renderer string) (string, error) {
	call, err := parseCall(renderer)
	switch {
	case err != nil:
		return "", err
	case call == nil || strings.ContainsAny(renderer, "\r\n"):
		return "shell syntax", nil
	case len(call.Assigns) > 0:
		return "assignment", nil
	}
	name, ok := wordText(call.Args[0])
	if !ok || strings.Contains(name, "/") {
		return "", nil
	}
	if _, err := exec.LookPath(name); err != nil && !errors.Is(err, exec.ErrDot) && slices.Contains(builtins, name) {
		return "builtin", nil
	}
	return "", nil
}

// builtins are the words that mean something to a shell without a file of that name (POSIX XCU 1.7, 2.9, 2.14).
var builtins = []string{
	".", ":", "alias", "bg", "break", "builtin", "cd", "command", "continue", "declare", "eval", "exec", "exit", "export",
	"fc", "fg", "getopts", "hash", "jobs", "let", "local", "read", "readonly", "return", "set", "shift", "source", "times",
	"trap", "type", "typeset", "ulimit", "umask", "unalias", "unset", "wait",
}

// quote writes s as one word of a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// shellWord is s as one word, quoted only when it has to be.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+:@%,") == "" {
		return s
	}
	return quote(s)
}
