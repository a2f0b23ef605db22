// Package transcript reads Claude Code's session transcripts: files of JSON lines whose entry format is the client's
// own affair. It takes from them only what the client has written the same way for many versions, and says "not
// measured" rather than guess.
package transcript

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"plimsoll/internal/harness"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/statefile"
)

const (
	// MaxTail is how far back, in bytes, a measurement is looked for.
	MaxTail = 64 << 20

	// maxLine is the longest line that is looked into, in bytes. Rows that the client writes between the turns are
	// hundreds of kB; an assistant's row of more than this has never been seen.
	maxLine = 16 << 20

	firstBlock = 64 << 10
	lastBlock  = 1 << 20
)

// Chain is which of a file's rows count.
type Chain bool

// The chains: a session's main thread, or the side chain that a sub-agent's own transcript is.
const (
	Main Chain = false
	Side Chain = true
)

// Tail is what the end of a transcript says about the context.
type Tail struct {
	Occupancy int64  // tokens at the last API response: input, cache read and cache creation
	Model     string // the id at that time, as the transcript has it; "" when no row names one
	Measured  bool   // a positive measurement was found
	Compacted bool   // the context was compacted after it, or before any was found: nothing is measured since
}

// AgentPath is the transcript of a sub-agent of the session at path.
func AgentPath(path string, agent harness.ID) string {
	return filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents", "agent-"+agent.String()+".jsonl")
}

// ReadTail reads a transcript backwards up to its last measurement. What it costs does not depend on the size of the
// file. A file without a measurement in its last MaxTail bytes is not measured, which is no error.
func ReadTail(path string, chain Chain) (Tail, error) {
	f, size, err := Open(path)
	if err != nil {
		return Tail{}, err
	}
	defer f.Close()
	var t Tail
	err = backwards(f, size, func(line []byte) bool { return t.take(line, chain) })
	return t, err
}

// Open opens a transcript and tells its size in bytes. What is no regular file is statefile.ErrNotRegular.
func Open(path string) (f *os.File, size int64, err error) {
	// Without O_NONBLOCK the open of a FIFO waits for a writer that may never come.
	f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("read %s: %w", path, statefile.ErrNotRegular)
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// take looks at one line, later lines first, and tells whether the search is over.
func (t *Tail) take(line []byte, chain Chain) (done bool) {
	usage := bytes.Contains(line, []byte(`"usage"`))
	boundary := bytes.Contains(line, []byte(`"compact_boundary"`))
	// A row that is measured but names no model takes the nearest one before it.
	named := t.Measured && bytes.Contains(line, []byte(`"model"`))
	if !usage && !boundary && !named {
		return false
	}
	row, err := rawjson.Parse(line)
	if err != nil {
		// A text that was cut amid a character makes no row unmeasured: the client's own parser takes it too.
		row, err = rawjson.Parse(rawjson.Repair(line))
	}
	if err != nil || row.Kind() != rawjson.Object || truthy(row.Get("isSidechain")) != bool(chain) {
		return false
	}
	if boundary && row.Get("type").TextOr("") == "system" && row.Get("subtype").TextOr("") == "compact_boundary" {
		t.Compacted = !t.Measured
		return true
	}
	response, ok := responseOf(row)
	if !ok {
		return false
	}
	model, _ := response.Get("model").Text()
	if !t.Measured {
		n, ok := occupancy(response.Get("usage"))
		if !ok || n <= 0 {
			return false
		}
		t.Occupancy, t.Measured = n, true
	}
	t.Model = model
	return model != ""
}

// responseOf returns the message of a row that stands for an API response. A row without a type counts, as old clients
// wrote them; errors and fillers that the client writes in the model's name do not.
func responseOf(row rawjson.Value) (message rawjson.Value, ok bool) {
	if kind := row.Get("type"); kind != nil && kind.TextOr("") != "assistant" {
		return nil, false
	}
	if truthy(row.Get("isApiErrorMessage")) {
		return nil, false
	}
	message = row.Get("message")
	if message.Kind() != rawjson.Object || message.Get("model").TextOr("") == "<synthetic>" {
		return nil, false
	}
	return message, true
}

// occupancy sums up a usage object; ok is false when it is none, or a figure in it is no whole number.
func occupancy(usage rawjson.Value) (tokens int64, ok bool) {
	if usage.Kind() != rawjson.Object {
		return 0, false
	}
	for _, key := range []string{"input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"} {
		v := usage.Get(key)
		switch v.Kind() {
		case rawjson.Absent, rawjson.Null, rawjson.False:
			continue
		}
		n, err := strconv.ParseInt(string(v), 10, 64)
		if err != nil || n > 1<<50 || n < -1<<50 {
			return 0, false
		}
		tokens += n
	}
	return tokens, true
}

// truthy is what a flag means that may be missing: anything but null, false, 0 and "".
func truthy(v rawjson.Value) bool {
	switch v.Kind() {
	case rawjson.Absent, rawjson.Null, rawjson.False:
		return false
	case rawjson.Number:
		f, _ := v.Float()
		return f != 0
	case rawjson.String:
		return len(v) > len(`""`)
	}
	return true
}

// backwards calls take for each line of the last MaxTail bytes, the last line first, until it answers true. Lines end
// at LF alone. A line longer than maxLine is passed over.
func backwards(f io.ReaderAt, size int64, take func(line []byte) (done bool)) error {
	var tail []byte // the beginning of the line whose end was read already, without what stands before it
	tooLong := false
	block := make([]byte, firstBlock)
	for end := size; end > 0; {
		if size-end >= MaxTail {
			return nil
		}
		n := min(int64(len(block)), end)
		end -= n
		if _, err := f.ReadAt(block[:n], end); err != nil && err != io.EOF {
			return err
		}
		rest := block[:n]
		for {
			i := bytes.LastIndexByte(rest, '\n')
			if i < 0 {
				break
			}
			line := rest[i+1:]
			if len(tail) > 0 {
				line = append(append(make([]byte, 0, len(line)+len(tail)), line...), tail...)
			}
			if !tooLong && len(line) <= maxLine && take(line) {
				return nil
			}
			tail, tooLong, rest = tail[:0], false, rest[:i]
		}
		if !tooLong {
			if tooLong = len(rest)+len(tail) > maxLine; tooLong {
				tail = nil
			} else {
				tail = append(append(make([]byte, 0, len(rest)+len(tail)), rest...), tail...)
			}
		}
		if len(block) < lastBlock {
			block = make([]byte, 4*len(block))
		}
	}
	if !tooLong && len(tail) > 0 {
		take(tail)
	}
	return nil
}
