package kbgate

import (
	"bytes"
	"errors"
	"strconv"

	"plimsoll/internal/statefile"
)

// The budgets: how many denials there are at most. The first two are those of the Bash original. A denial costs one
// short round trip, a sub-agent that starts blind tens of thousands of tokens, so the budgets err on the side of denying.
const (
	MaxPerSearch  = 4   // since the model last searched; a fan-out of that many is denied whole
	MaxPerTurn    = 8   // in one turn of the human's, however often the model searches
	MaxPerSession = 200 // in one session: a gate must come to an end
)

// phase is what this gate's records are called in a denials file.
const phase = "discovery"

// maxDigits bounds a number in a state file.
const maxDigits = 15

// stamp is what a denial belongs to.
type stamp struct {
	turn     int
	searches int // recorded in that turn when the denial was written
}

// tally is how many denials were issued.
type tally struct {
	state   map[stamp]int
	turn    map[int]int
	session int
}

// spent names the budget that has no denial left for s; "" when all have.
func (t *tally) spent(s stamp) string {
	switch {
	case t.session >= MaxPerSession:
		return whySession
	case t.turn[s.turn] >= MaxPerTurn:
		return whyTurn
	case t.state[s] >= MaxPerSearch:
		return whyNoProgress
	}
	return ""
}

// add counts one record in its place among the others. It is issued, that is, a denial, only if every budget had one
// left; any other record is no denial and spends nothing. The result is what spent said.
func (t *tally) add(s stamp) (why string) {
	if why = t.spent(s); why != "" {
		return why
	}
	if t.state == nil {
		t.state, t.turn = map[stamp]int{}, map[int]int{}
	}
	t.state[s]++
	t.turn[s.turn]++
	t.session++
	return ""
}

// fold adds up the records of a denials file in their order. Lines of other phases, lines that are none of ours and a
// last line without an end are skipped.
func fold(records []byte) tally {
	var t tally
	for len(records) > 0 {
		line, rest, whole := bytes.Cut(records, []byte{'\n'})
		records = rest
		turn, after, _ := bytes.Cut(line, []byte{'\t'})
		kind, count, _ := bytes.Cut(after, []byte{'\t'})
		if n, ok := number(turn); ok && whole && string(kind) == phase {
			searches, _ := number(count)
			t.add(stamp{n, searches})
		}
	}
	return t
}

func (s stamp) record() []byte {
	b := strconv.AppendInt(nil, int64(s.turn), 10)
	b = append(b, '\t')
	b = append(b, phase...)
	b = append(b, '\t')
	b = strconv.AppendInt(b, int64(s.searches), 10)
	return append(b, '\n')
}

var errRecordGone = errors.New("the denial just recorded is not in the file")

// spend asks for one denial at s. It is granted, with why "", only when its record stands in the file at path at a
// position where the budgets still had one; t then counts it. Without a record there is no denial.
func spend(path string, s stamp) (t tally, why string, err error) {
	// Budgets never refill, so a file that spends one need not grow. What cannot be read shows when it is written.
	if data, err := statefile.Read(path, statefile.MaxCounted); err == nil {
		t = fold(data)
		if why := t.spent(s); why != "" {
			return t, why, nil
		}
	}
	record := s.record()
	content, end, err := statefile.AppendOwn(path, record)
	if err != nil {
		return tally{}, "", err
	}
	earlier, ok := bytes.CutSuffix(content[:end], record)
	if !ok || len(earlier) > 0 && earlier[len(earlier)-1] != '\n' {
		return tally{}, "", errRecordGone // also behind a line without end, where no other process counts it
	}
	t = fold(earlier)
	return t, t.add(s), nil
}

// number reads a number of a state file; leading zeros and white space around it mean nothing.
func number(text []byte) (n int, ok bool) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || len(text) > maxDigits {
		return 0, false
	}
	u, err := strconv.ParseUint(string(text), 10, strconv.IntSize-1)
	return int(u), err == nil
}

// countSearches counts the searches of a turn in a queries file.
func countSearches(records []byte, turn int) (n int) {
	prefix := append(strconv.AppendInt(nil, int64(turn), 10), '\t')
	for line := range bytes.SplitSeq(records, []byte{'\n'}) {
		if bytes.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

// maxQuery bounds the text of a recorded search, in bytes, so that its record is written in one piece.
const maxQuery = 3900

// searchRecord is a line of a queries file. The text keeps its line feeds, as in the original; a line within it that
// begins with a digit is moved by a space, or it would count as a search of its own.
func searchRecord(turn int, text string) []byte {
	b := append(strconv.AppendInt(nil, int64(turn), 10), '\t')
	for i := range len(text) {
		if i > 0 && text[i-1] == '\n' && text[i] >= '0' && text[i] <= '9' {
			b = append(b, ' ')
		}
		b = append(b, text[i])
	}
	return append(b, '\n')
}
