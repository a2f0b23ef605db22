package model

import "testing"

func TestNormalise(t *testing.T) {
	for id, want := range map[string]string{
		"claude-opus-4-8":                                                  "opus-4-8",
		" Claude-Opus-4.8 ":                                                "opus-4-8",
		"claude-opus-4-8-20260101":                                         "opus-4-8",
		"claude-opus-4-8@20260101":                                         "opus-4-8",
		"us.anthropic.claude-opus-4-8-v1:0":                                "opus-4-8",
		"anthropic.claude-opus-4-8-20260101-v1:0":                          "opus-4-8",
		"global.anthropic.claude-haiku-4-5-v2":                             "haiku-4-5",
		"anthropic/claude-sonnet-5":                                        "sonnet-5",
		"arn:aws:bedrock:x:inference-profile/eu.anthropic.claude-opus-5-5": "opus-5-5",
		"claude-3-5-haiku-20241022":                                        "3-5-haiku",
		"claude-3-5-haiku-latest":                                          "3-5-haiku",
		"opus":                                                             "opus",
		"gpt-5-turbo":                                                      "gpt-5-turbo",
		"claude-opus-4-v":                                                  "opus-4-v",
		"":                                                                 "",
	} {
		if got, large := Normalise(id); got != want || large {
			t.Errorf("Normalise(%q) = %q, %v; want %q", id, got, large, want)
		}
		if got, large := Normalise(id + "[1m]"); id != "" && id != " Claude-Opus-4.8 " && (got != want || !large) {
			t.Errorf("Normalise(%q) = %q, %v; want %q, true", id+"[1m]", got, large, want)
		}
	}
}

func TestWindow(t *testing.T) {
	for id, want := range map[string]int{ // 0: the id does not tell
		"claude-haiku-4-5": 200_000, "claude-3-5-haiku-20241022": 200_000, // G45, G46
		"claude-opus-4-8": 1_000_000, "claude-opus-4-7": 1_000_000, "claude-opus-4-6": 1_000_000, "claude-opus-5": 1_000_000, // G47-G50
		"claude-sonnet-5": 1_000_000, "claude-sonnet-4-6": 1_000_000, "claude-fable-5": 1_000_000, // G51-G53
		"claude-fable-1": 1_000_000, "claude-mythos-1": 1_000_000, // G54, G55
		"some-unrecognized-model": 0, "claude-opus-4-5": 0, "claude-3-opus-20240229": 0, "claude-sonnet-4-5": 0, "claude-3-5-sonnet-20241022": 0, // G56-G60
		"claude-sonnet-4": 0, "claude-opus-4-1": 0, "opus": 0, "": 0, "[1m]": 0,
		"claude-opus-4-5[1m]": 1_000_000, "opus[1m]": 1_000_000, "claude-opus-4.8": 1_000_000, // E4
		"claude-opus-5-5": 1_000_000, "claude-sonnet-5-5": 1_000_000, "claude-haiku-5-5": 1_000_000, "claude-mythos-5": 1_000_000,
		// Whole names only: none of these is the model whose name it contains.
		"claude-opus-50": 0, "claude-opus-4-60": 0, "claude-opus-4-8-preview": 0, "my-claude-opus-4-8": 0, "claude-opus-6": 0, "haiku": 0, "gpt-5-turbo": 0,
	} {
		got, ok := Window(id)
		if got != want && ok || ok != (want > 0) {
			t.Errorf("Window(%q) = %d, %v; want %d", id, got, ok, want)
		}
	}
}

func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rows() {
		if name, large := Normalise("claude-" + r.Name); name != r.Name || large || seen[r.Name] {
			t.Errorf("row %q: normalises to %q, double %v", r.Name, name, seen[r.Name])
		}
		seen[r.Name] = true
		if r.Source == "" || len(r.Date) != len("2026-11-30") || r.Window != 0 && r.Window != Window200K && r.Window != Window1M {
			t.Errorf("row %+v", r)
		}
	}
}
