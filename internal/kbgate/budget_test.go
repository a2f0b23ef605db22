package kbgate

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func TestFold(t *testing.T) {
	line := func(turn, searches int) string { return string(stamp{turn, searches}.record()) }
	for _, c := range []struct {
		name, records string
		at            stamp
		state, turn   int
		session       int
		why           string
	}{
		{"nothing", "", stamp{1, 0}, 0, 0, 0, ""},
		{"one", line(1, 0), stamp{1, 0}, 1, 1, 1, ""},
		{"four since the last search", strings.Repeat(line(1, 0), 4), stamp{1, 0}, 4, 4, 4, whyNoProgress},
		{"a fifth record is no denial", strings.Repeat(line(1, 0), 5), stamp{1, 0}, 4, 4, 4, whyNoProgress},
		{"released racers spend nothing of the turn", strings.Repeat(line(1, 0), 100), stamp{1, 1}, 0, 4, 4, ""},
		{"four, a search, four", strings.Repeat(line(1, 0), 4) + strings.Repeat(line(1, 1), 4), stamp{1, 2}, 0, 8, 8, whyTurn},
		{"both spent: the turn is named", strings.Repeat(line(1, 0), 4) + strings.Repeat(line(1, 1), 5), stamp{1, 1}, 4, 8, 8, whyTurn},
		{"another turn", strings.Repeat(line(1, 0), 9), stamp{2, 0}, 0, 0, 4, ""},
		{"other phases", "1\tmemory_write\n1\tmemory_delete\t0\n", stamp{1, 0}, 0, 0, 0, ""},
		{"third field missing or junk is 0", "1\tdiscovery\n1\tdiscovery\tx\n1\tdiscovery\t\n", stamp{1, 0}, 3, 3, 3, ""},
		{"leading zeros", "01\tdiscovery\t00\n", stamp{1, 0}, 1, 1, 1, ""},
		{"junk", "\n\t\nx\tdiscovery\t0\n-1\tdiscovery\t0\n1 discovery 0\n" + strings.Repeat("9", 99) + "\tdiscovery\t0\n", stamp{1, 0}, 0, 0, 0, ""},
		{"a line without end", line(1, 0) + "1\tdiscovery\t0", stamp{1, 0}, 1, 1, 1, ""},
	} {
		got := fold([]byte(c.records))
		if got.state[c.at] != c.state || got.turn[c.at.turn] != c.turn || got.session != c.session || got.spent(c.at) != c.why {
			t.Errorf("%s: state %d, turn %d, session %d, spent %q, want %d %d %d %q", c.name, got.state[c.at], got.turn[c.at.turn],
				got.session, got.spent(c.at), c.state, c.turn, c.session, c.why)
		}
	}
}

// The budgets hold whatever the records and their order, and a session comes to its end.
func TestFoldHoldsTheBudgets(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var tal tally
		var grants []stamp
		for range 2000 {
			s := stamp{rng.IntN(40), rng.IntN(4)}
			if tal.add(s) == "" {
				grants = append(grants, s)
			}
		}
		perTurn, perState := map[int]int{}, map[stamp]int{}
		for _, s := range grants {
			perTurn[s.turn]++
			perState[s]++
			if perTurn[s.turn] > MaxPerTurn || perState[s] > MaxPerSearch {
				t.Fatalf("seed %d: %d denials in turn %d, %d at %v", seed, perTurn[s.turn], s.turn, perState[s], s)
			}
		}
		if len(grants) != MaxPerSession {
			t.Errorf("seed %d: %d denials in a session with endless reasons, want %d", seed, len(grants), MaxPerSession)
		}
	}
}

func TestSpendIsExactUnderConcurrency(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.denials")
	// Reading a long file takes longer than appending to it: who decides by what was read before the append is wrong.
	if err := os.WriteFile(path, bytes.Repeat([]byte("1\tmemory_write\n"), 50_000), 0o600); err != nil {
		t.Fatal(err)
	}
	for searches := range 3 {
		var wg sync.WaitGroup
		var mu sync.Mutex
		denied := 0
		for range 40 {
			wg.Go(func() {
				_, why, err := spend(path, stamp{1, searches})
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				} else if why == "" {
					denied++
				}
			})
		}
		wg.Wait()
		if want := []int{4, 4, 0}[searches]; denied != want {
			t.Errorf("after %d searches: %d of 40 denied, want %d", searches, denied, want)
		}
	}
}

func TestSpendBehindALineWithoutEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.denials")
	if err := os.WriteFile(path, []byte("1\tdisc"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := spend(path, stamp{1, 0}); err == nil {
		t.Error("a record that no other process counts was taken for a denial")
	}
	if tal, why, err := spend(path, stamp{1, 0}); err != nil || why != "" || tal.session != 1 {
		t.Errorf("the next one: %+v, %q, %v", tal, why, err)
	}
}

func TestSpentBudgetLeavesTheFileAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.denials")
	for range 6 {
		if _, _, err := spend(path, stamp{1, 0}); err != nil {
			t.Fatal(err)
		}
	}
	if data, _ := os.ReadFile(path); bytes.Count(data, []byte{'\n'}) != MaxPerSearch {
		t.Errorf("the file holds %q", data)
	}
}

func TestSearchesAreCountedAsRecorded(t *testing.T) {
	var file []byte
	texts := []string{"plain", "two\nlines", "x\n1", "x\n1\ty\n2\tz", "tabs\there", "\n1\t", "7\t", "ends\n\n"}
	for _, text := range texts {
		file = append(file, searchRecord(1, text)...)
		file = append(file, searchRecord(11, text)...)
	}
	for turn, want := range map[int]int{1: len(texts), 11: len(texts), 0: 0, 2: 0, 7: 0} {
		if got := countSearches(file, turn); got != want {
			t.Errorf("turn %d: %d searches, want %d in\n%s", turn, got, want, file)
		}
	}
	if got := countSearches([]byte("1\n1\tx"), 1); got != 1 {
		t.Errorf("a line without a tab is no search, one without an end is: %d", got)
	}
}

func FuzzSearchRecord(f *testing.F) {
	f.Add("a\n1\tb", 1)
	f.Fuzz(func(t *testing.T, text string, turn int) {
		if turn < 0 {
			return
		}
		record := searchRecord(turn, text)
		n := 0
		for probe := range 12 {
			n += countSearches(record, probe)
		}
		if turn >= 12 {
			n += countSearches(record, turn)
		}
		if n != 1 {
			t.Errorf("%q counts as %d searches", record, n)
		}
	})
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "8": 8, "08": 8, " 12 \n": 12, "": -1, "1x": -1, "-1": -1, "+1": -1, "1 2": -1, "999999999999999": 999999999999999, "1000000000000000": -1} {
		n, ok := number([]byte(text))
		if strconv.IntSize < 64 && want > 1<<30 {
			continue
		}
		if ok != (want >= 0) || ok && n != want {
			t.Errorf("%q: %d, %v", text, n, ok)
		}
	}
}
