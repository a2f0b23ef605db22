package harness

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseID(t *testing.T) {
	for _, s := range []string{"a", "abc-DEF_09", "1aeeb7b7-007e-4117-8eba-286dd3b7efcf", "-"} {
		if id, ok := ParseID(s); !ok || id.String() != s {
			t.Errorf("ParseID(%q) = %v, %v", s, id, ok)
		}
	}
	for _, s := range []string{"", "a/b", "..", "a.b", "a b", "a\n", "é", "${CLAUDE_SESSION_ID}", "a\x00"} {
		if id, ok := ParseID(s); ok || id.String() != "" {
			t.Errorf("ParseID(%q) = %v, %v", s, id, ok)
		}
	}
}

func TestLabel(t *testing.T) {
	for in, want := range map[string]string{
		"plan":                     "plan",
		"a\x1b[31m\r\nb\x00\x7f":   "a[31mb",
		"\u202eevil\u2066\u200b":   "evil",
		"line\u2028sep\u2029":      "linesep",
		"bad\xffbytes":             "badbytes",
		"日本 é 😀":                   "日本 é 😀",
		strings.Repeat("é", 100):   strings.Repeat("é", 80),
		strings.Repeat("\x01", 99): "",
	} {
		if got := Label(in); got != want {
			t.Errorf("Label(%q) = %q, want %q", in, got, want)
		}
	}
}

// Every recorded hook payload says the same through Decode as through encoding/json.
func TestDecodeRecordedPayloads(t *testing.T) {
	files, err := filepath.Glob("testdata/payloads/*/[A-Z]*.json")
	if err != nil || len(files) < 200 {
		t.Fatalf("%d payloads, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Decode(data)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		var want map[string]any
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		for key, got := range map[string]string{
			"hook_event_name": e.Name, "session_id": e.Session.String(), "transcript_path": e.TranscriptPath, "cwd": e.Cwd,
			"prompt_id": e.PromptID, "agent_id": e.AgentID, "agent_type": e.AgentType, "tool_name": e.ToolName,
			"tool_use_id": e.ToolUseID, "prompt": e.Prompt, "source": e.Source, "trigger": e.Trigger,
		} {
			if w, _ := want[key].(string); got != w {
				t.Errorf("%s: %s is %q, want %q", file, key, got, w)
			}
		}
		if (e.ToolInput != nil) != (want["tool_input"] != nil) {
			t.Errorf("%s: tool_input %q", file, e.ToolInput)
		}
		if name, _, _ := strings.Cut(filepath.Base(file), "-"); e.Name != name {
			t.Errorf("%s: event %s", file, e.Name)
		}
	}
}

func TestDecodeOddities(t *testing.T) {
	e, err := Decode([]byte(`{"session_id":"a","session_id":"b","hook_event_name":7,"tool_name":["x"],"agent_id":null,"SESSION_ID":"c"}`))
	if err != nil || e.Session.String() != "b" || e.Name != "" || e.ToolName != "" || e.AgentID != "" {
		t.Errorf("%+v, %v", e, err)
	}
	if e, err := Decode([]byte(`{"session_id":"../x"}`)); err != nil || e.Session.String() != "" || e.RawSession != "../x" {
		t.Errorf("%+v, %v", e, err)
	}
	for _, bad := range []string{"", "null", "[]", "{", `{"a":1}{}`} {
		if _, err := Decode([]byte(bad)); err == nil {
			t.Errorf("Decode(%q) succeeded", bad)
		}
	}
}
