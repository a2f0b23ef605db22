package report

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// long is a session of n turns, a minute apart, with the occupancies of f.
func long(session string, n int, model string, f func(i int) int64) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(response(fmt.Sprint(session, i), session, model, minute(2*i), fmt.Sprintf(`{"input_tokens":%d}`, f(i)), ""))
	}
	return b.String()
}

func minute(n int) string {
	return time.Date(2026, 11, 1, 0, n, 0, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
}

func boundaryAt(session string, n int) string {
	return fmt.Sprintf(`{"type":"system","subtype":"compact_boundary","sessionId":%q,"uuid":"c%s%d","timestamp":%q}`, session, session, n, minute(n)) + "\n"
}

func flat(n int64) func(int) int64 { return func(int) int64 { return n } }

func TestCurvesAreTheFullestSessions(t *testing.T) {
	files := map[string]string{"agent": response("x", "agent", "claude-opus-5", minute(0), `{"input_tokens":999999}`, `,"isSidechain":true`)}
	for i := range maxCurves + 5 {
		session := fmt.Sprintf("s%02d", i)
		files[session] = long(session, 2, "claude-opus-5", flat(int64(1000+i)))
	}
	_, c := pageOf(t, files, nil)
	if len(c.Occupancy) != maxCurves || c.Occupancy[0].SessionID != "s64" || c.Occupancy[maxCurves-1].SessionID != "s05" {
		t.Errorf("%d curves, from %s to %s", len(c.Occupancy), c.Occupancy[0].SessionID, c.Occupancy[len(c.Occupancy)-1].SessionID)
	}
}

// A short session is drawn whole; of a long one the highs and the compactions stay.
func TestCurve(t *testing.T) {
	_, c := pageOf(t, map[string]string{"s": boundaryAt("s", -1) + long("s", 5, "claude-opus-5", func(i int) int64 { return int64(100 - i) }) + boundaryAt("s", 5)}, nil)
	var got []string
	for _, p := range c.Occupancy[0].Points {
		got = append(got, fmt.Sprint(p.Occupancy, p.Compacted, " ", time.UnixMilli(p.At).UTC().Format("15:04")))
	}
	if want := "100 false 00:00, 99 false 00:02, 98 false 00:04, 97 true 00:06, 96 false 00:08"; strings.Join(got, ", ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	const n = 10 * maxPoints
	highs := map[int64]bool{777_777: true, 888_888: true}
	_, c = pageOf(t, map[string]string{"s": boundaryAt("s", 2*1003-1) + boundaryAt("s", 2*2000-1) + long("s", n, "claude-opus-5", func(i int) int64 {
		switch i {
		case 1005:
			return 777_777 // soon after a compaction, whose point it takes
		case 3333:
			return 888_888
		}
		return int64(1000 + i%7)
	})}, nil)
	points := c.Occupancy[0].Points
	if len(points) < maxPoints || len(points) > maxPoints+2 {
		t.Errorf("%d points", len(points))
	}
	compacted := 0
	for i, p := range points {
		delete(highs, p.Occupancy)
		if p.Compacted {
			compacted++
		}
		if i > 0 && p.At <= points[i-1].At {
			t.Errorf("point %d is not in order", i)
		}
	}
	if compacted != 2 || len(highs) > 0 {
		t.Errorf("%d compactions are drawn, highs that are not: %v", compacted, highs)
	}
}

// The sample of turns is spread over all of them, and has those with a price alone.
func TestSampleOfTurns(t *testing.T) {
	_, c := pageOf(t, map[string]string{"s": long("s", maxTurns+500, "claude-haiku-4-5", func(i int) int64 { return int64(i + 1) }), "u": long("u", 30, "unheard-of", flat(5))}, nil)
	if len(c.Turns) != maxTurns || c.Turns[0] != (Turn{1, 1e-6}) || c.Turns[maxTurns-1].Occupancy < maxTurns+490 {
		t.Errorf("%d turns, from %+v to %+v", len(c.Turns), c.Turns[0], c.Turns[len(c.Turns)-1])
	}
	_, c = pageOf(t, map[string]string{"u": long("u", 30, "unheard-of", flat(5))}, nil)
	if c.Turns == nil || len(c.Turns) != 0 {
		t.Errorf("turns without a price: %v", c.Turns)
	}
}
