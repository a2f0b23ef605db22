package transcript

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// row is an assistant's row of a session; more are further members.
func row(usage, more string) string {
	return `{"type":"assistant","message":{"model":"claude-opus-5","usage":` + usage + `}` + more + `}`
}

func TestReadTail(t *testing.T) {
	const u100, u5 = `{"input_tokens":100}`, `{"input_tokens":5}`
	boundary := `{"type":"system","subtype":"compact_boundary","compactMetadata":{"preTokens":400000}}`
	for _, c := range []struct {
		n     string
		lines []string
		want  Tail
	}{
		{"G34", []string{`{"message":{"model":"m"}}`, `{"message":{"usage":{"input_tokens":100,"cache_read_input_tokens":50,"cache_creation_input_tokens":25}}}`}, Tail{175, "m", true, false}},
		{"G35", []string{`{"message":{"model":"m"}}`}, Tail{}},
		{"G36", []string{row(`{"input_tokens":1000000}`, ""), row(`{"input_tokens":5,"cache_read_input_tokens":10}`, "")}, Tail{15, "claude-opus-5", true, false}},
		{"G75", []string{`{"message":{"usage":` + u100 + `}}`}, Tail{100, "", true, false}},
		{"G78", []string{`{"message":{"model":12345,"usage":` + u100 + `}}`}, Tail{100, "", true, false}},
		{"G112-G115", []string{"", "junk", "[]", `{"message":123}`, row(u100, "")}, Tail{100, "claude-opus-5", true, false}},
		{"G116", []string{row(`{"input_tokens":13}`, ""), row(`{"input_tokens":"oops"}`, "")}, Tail{13, "claude-opus-5", true, false}},
		{"G117", []string{row(`{"cache_read_input_tokens":100}`, "")}, Tail{100, "claude-opus-5", true, false}},
		{"G119", []string{row(`{"input_tokens":0,"output_tokens":7}`, "")}, Tail{}},
		{"G120", []string{row(`{"input_tokens":1}`, "")}, Tail{1, "claude-opus-5", true, false}},
		{"G169", []string{row(u100, ""), row(u5, `,"isSidechain":true`)}, Tail{100, "claude-opus-5", true, false}},
		{"G172", []string{row(u5, `,"isSidechain":true`)}, Tail{}},
		{"G174-G178", []string{row(u100, `,"isSidechain":false`), row(u5, `,"isSidechain":null`)}, Tail{5, "claude-opus-5", true, false}},
		{"side by other spellings", []string{row(u100, `,"isSidechain":0`), row(u5, `,"isSidechain":1`), row(u5, `,"isSidechain":"false"`)}, Tail{100, "claude-opus-5", true, false}},
		{"E1 synthetic", []string{row(u100, ""), `{"type":"assistant","isApiErrorMessage":true,"message":{"model":"<synthetic>","usage":{"input_tokens":0}}}`}, Tail{100, "claude-opus-5", true, false}},
		{"synthetic with usage", []string{row(u100, ""), `{"type":"assistant","message":{"model":"<synthetic>","usage":` + u5 + `}}`}, Tail{100, "claude-opus-5", true, false}},
		{"API error with usage", []string{row(u100, ""), row(u5, `,"isApiErrorMessage":true`)}, Tail{100, "claude-opus-5", true, false}},
		{"zero after positive", []string{row(u100, ""), row(`{"input_tokens":0}`, "")}, Tail{100, "claude-opus-5", true, false}},
		{"bool is no number", []string{row(u100, ""), row(`{"input_tokens":true}`, "")}, Tail{100, "claude-opus-5", true, false}},
		{"fraction is no number", []string{row(u100, ""), row(`{"input_tokens":500000.0}`, "")}, Tail{100, "claude-opus-5", true, false}},
		{"negative sum", []string{row(u100, ""), row(`{"input_tokens":-5}`, "")}, Tail{100, "claude-opus-5", true, false}},
		{"F80 user row", []string{row(u100, ""), `{"type":"user","message":{"usage":` + u5 + `}}`}, Tail{100, "claude-opus-5", true, false}},
		{"nested usage", []string{row(u100, ""), `{"type":"user","toolUseResult":{"usage":` + u5 + `}}`}, Tail{100, "claude-opus-5", true, false}},
		{"E2 compaction", []string{row(u100, ""), boundary}, Tail{0, "", false, true}},
		{"compaction, then usage", []string{row(u100, ""), boundary, row(u5, "")}, Tail{5, "claude-opus-5", true, false}},
		{"side chain's compaction", []string{row(u100, ""), strings.TrimSuffix(boundary, "}") + `,"isSidechain":true}`}, Tail{100, "claude-opus-5", true, false}},
		{"F21 micro-compaction", []string{row(u100, ""), strings.Replace(boundary, "compact_boundary", "microcompact_boundary", 1)}, Tail{100, "claude-opus-5", true, false}},
		{"boundary in a text", []string{row(u100, ""), `{"type":"user","message":{"content":"\"compact_boundary\""},"subtype":"compact_boundary"}`}, Tail{100, "claude-opus-5", true, false}},
		{"torn last line", []string{row(u100, ""), row(u5, "")[:40]}, Tail{100, "claude-opus-5", true, false}},
		{"E7 U+2028", []string{row(u100, ",\"x\":\"a\u2028b\u0085c\"")}, Tail{100, "claude-opus-5", true, false}},
		{"E19 a text cut amid a character", []string{row(u5, ""), row(u100, `,"x":"\ud83d"`)}, Tail{100, "claude-opus-5", true, false}},
		{"E19 bytes that are no text", []string{row(u5, ""), row(u100, ",\"x\":\"\xff\xfe\"")}, Tail{100, "claude-opus-5", true, false}},
		{"CRLF", []string{row(u100, "") + "\r", ""}, Tail{100, "claude-opus-5", true, false}},
		{"NULs", []string{row(u100, ""), strings.Repeat("\x00", 5000)}, Tail{100, "claude-opus-5", true, false}},
		{"deep row", []string{row(u100, ""), `{"usage":` + strings.Repeat("[", 100_000)}, Tail{100, "claude-opus-5", true, false}},
		{"E9 far back", append([]string{row(u100, "")}, strings.Split(strings.Repeat(`{"type":"user"}`+"\n", 5000), "\n")...), Tail{100, "claude-opus-5", true, false}},
		{"E16 the model of its time", []string{`{"type":"assistant","message":{"model":"claude-haiku-4-5"}}`, row(u100, ""), `{"type":"user","message":{"model":"x"}}`}, Tail{100, "claude-opus-5", true, false}},
		{"long lines between", []string{row(u100, ""), `{"type":"api-request-shape","x":"` + strings.Repeat("usage ", 200_000) + `"}`, strings.Repeat("y", 3<<20)}, Tail{100, "claude-opus-5", true, false}},
		{"a line past the bound", []string{row(u100, ""), row(u5, `,"x":"`+strings.Repeat("z", 17<<20)+`"`)}, Tail{100, "claude-opus-5", true, false}},
		{"nothing within 64 MiB", append([]string{row(u100, "")}, strings.Split(strings.Repeat(strings.Repeat("q", 1<<20)+"\n", 66), "\n")...), Tail{}},
		{"empty", nil, Tail{}},
	} {
		t.Run(c.n, func(t *testing.T) {
			got, err := ReadTail(write(t, c.lines...), Main)
			if err != nil || got != c.want {
				t.Errorf("%+v, %v; want %+v", got, err, c.want)
			}
		})
	}
	if got, err := ReadTail(write(t, row(u100, ""), row(u5, `,"isSidechain":true`), row(u100, "")), Side); err != nil || got.Occupancy != 5 {
		t.Errorf("side chain: %+v, %v", got, err)
	}
	if _, err := ReadTail(t.TempDir(), Main); err == nil {
		t.Error("a folder was read") // A16
	}
	if _, err := ReadTail(filepath.Join(t.TempDir(), "none"), Main); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err) // G37
	}
}

// plain is the reference: the whole file, forwards, with encoding/json.
func plain(data []byte) (t Tail) {
	for _, line := range bytes.Split(data, []byte{'\n'}) {
		var r struct {
			Type        *string
			Subtype     string
			IsSidechain bool
			Message     *struct {
				Model string
				Usage *struct {
					In    int64 `json:"input_tokens"`
					Read  int64 `json:"cache_read_input_tokens"`
					Write int64 `json:"cache_creation_input_tokens"`
				}
			}
			IsAPIErrorMessage bool
		}
		if json.Unmarshal(line, &r) != nil || r.IsSidechain {
			continue
		}
		if r.Type != nil && *r.Type == "system" && r.Subtype == "compact_boundary" {
			t = Tail{Compacted: true}
		}
		if r.Type != nil && *r.Type != "assistant" || r.IsAPIErrorMessage || r.Message == nil || r.Message.Model == "<synthetic>" || r.Message.Usage == nil {
			continue
		}
		if n := r.Message.Usage.In + r.Message.Usage.Read + r.Message.Usage.Write; n > 0 {
			t = Tail{Occupancy: n, Model: r.Message.Model, Measured: true}
		}
	}
	return t
}

// Random sessions whose lines straddle every block: backwards and forwards agree.
func TestAgreesWithThePlainReading(t *testing.T) {
	kinds := []string{row(`{"input_tokens":7}`, ""), row(`{"input_tokens":9,"cache_read_input_tokens":90}`, ""), row(`{"input_tokens":0}`, ""),
		row(`{"input_tokens":3}`, `,"isSidechain":true`), `{"type":"system","subtype":"compact_boundary"}`, `{"type":"user"}`, "junk", ""}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		var lines []string
		for range r.IntN(12) {
			line := kinds[r.IntN(len(kinds))]
			if r.IntN(3) == 0 && strings.HasSuffix(line, "}") {
				line = line[:len(line)-1] + `,"pad":"` + strings.Repeat("p", r.IntN(200_000)) + `"}`
			}
			lines = append(lines, line)
		}
		path := write(t, lines...)
		data, _ := os.ReadFile(path)
		got, err := ReadTail(path, Main)
		if want := plain(data); err != nil || got != want {
			t.Fatalf("seed %d: %+v, %v; plain reading %+v", seed, got, err, want)
		}
	}
}

// The corpus of real transcripts, where it is unpacked.
func TestCorpus(t *testing.T) {
	var files []string
	_ = filepath.WalkDir("../../.corpus", func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.HasSuffix(path, ".jsonl") {
			files = append(files, path)
		}
		return nil
	})
	if len(files) == 0 {
		t.Skip("no corpus in .corpus: unpack transcripts.tar.gz there to check against real sessions")
	}
	measured := 0
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadTail(path, Main)
		want := plain(data)
		if err != nil || got.Occupancy != want.Occupancy || got.Measured != want.Measured || got.Compacted != want.Compacted {
			t.Errorf("%s: %+v, %v; plain reading %+v", path, got, err, want)
		}
		if got.Measured {
			measured++
		}
	}
	t.Logf("%d of %d files measured", measured, len(files))
}
