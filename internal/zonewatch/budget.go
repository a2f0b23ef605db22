package zonewatch

import (
	"bytes"
	"errors"
	"io/fs"
	"strconv"

	"plimsoll/internal/statefile"
)

// The budget file counts by appending; nobody truncates or deletes it while its session counts. A record is a line
// feed and then
//
//	<cycle> arm            the arming cycle begins
//	<cycle> <grace> call   one counted call in that cycle, under that budget
//
// The kind stands last and the line feed first: a record that was cut short names no kind, and the next one is whole.
// Everything follows from the records in their order, so that all processes agree: a call is denied when its cycle
// holds as many calls before it as it has grace, unless MaxDenials were denied before it.

// MaxDenials is how often the gate denies in one session, whatever else happens: a guard must come to an end.
const MaxDenials = 200

// maxDigits bounds a number of a record, as it does the setting of the grace budget.
const maxDigits = 10

// kind is what becomes of a counted call.
type kind int

const (
	passes kind = iota
	denies
	releases // it would be denied, were it not for MaxDenials
)

// tally is what the records of a budget file add up to.
type tally struct {
	cycle    int         // the latest
	calls    map[int]int // counted calls by cycle
	denials  int
	releases int
}

// add counts one more call and tells what becomes of it.
func (t *tally) add(cycle, grace int) kind {
	if t.calls == nil {
		t.calls = map[int]int{}
	}
	t.calls[cycle]++
	switch {
	case t.calls[cycle] <= grace:
		return passes
	case t.denials < MaxDenials:
		t.denials++
		return denies
	}
	t.releases++
	return releases
}

// fold adds up records. What is none is skipped.
func fold(records []byte) tally {
	var t tally
	for line := range bytes.SplitSeq(records, []byte{'\n'}) {
		var word [3][]byte
		n := 0
		for w := range bytes.FieldsSeq(line) {
			if n < len(word) {
				word[n] = w
			}
			n++
		}
		cycle, ok := number(word[0])
		switch {
		case !ok:
		case n == 2 && string(word[1]) == "arm":
			t.cycle = max(t.cycle, cycle)
		case n == 3 && string(word[2]) == "call":
			if grace, ok := number(word[1]); ok {
				t.add(cycle, grace)
			}
		}
	}
	return t
}

func number(digits []byte) (n int, ok bool) {
	if len(digits) > maxDigits {
		return 0, false
	}
	u, err := strconv.ParseUint(string(digits), 10, 0)
	return int(u), err == nil
}

func callRecord(cycle, grace int) []byte {
	b := strconv.AppendInt([]byte{'\n'}, int64(cycle), 10)
	b = strconv.AppendInt(append(b, ' '), int64(grace), 10)
	return append(b, " call"...)
}

func armRecord(cycle int) []byte {
	return append(strconv.AppendInt([]byte{'\n'}, int64(cycle), 10), " arm"...)
}

func readTally(path string) (tally, error) {
	data, err := statefile.Read(path, statefile.MaxCounted)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return tally{}, err
	}
	return fold(data), nil
}

// outcome is what became of one counted call.
type outcome struct {
	kind
	calls        int  // in its cycle, itself included
	denials      int  // in the session, itself included
	first        bool // the file begins with it
	firstRelease bool // no call was released before it
}

// spend counts one call and tells what becomes of it. A call that is denied anyway spends no grace; where there is none
// left it is counted, for its denial is one of this gate's too.
func spend(path string, grace int, deniedAnyway bool) (outcome, error) {
	now, err := readTally(path)
	if err != nil {
		return outcome{}, err
	}
	if deniedAnyway && (now.calls[now.cycle] < grace || now.denials >= MaxDenials) {
		return outcome{}, nil
	}
	record := callRecord(now.cycle, grace)
	content, end, err := statefile.AppendOwn(path, record)
	if err != nil {
		return outcome{}, err
	}
	earlier, ok := bytes.CutSuffix(content[:end], record)
	if !ok {
		return outcome{}, errors.New("the record just written to " + path + " is gone")
	}
	t := fold(earlier)
	out := outcome{first: len(earlier) == 0, firstRelease: t.releases == 0}
	out.kind = t.add(now.cycle, grace)
	out.calls, out.denials = t.calls[now.cycle], t.denials
	return out, nil
}

// rearm begins a new arming cycle, with a fresh budget, unless nothing was spent of the present one. Two processes that
// do so at once begin the same cycle.
func rearm(path string) error {
	t, err := readTally(path)
	if err != nil {
		return err
	}
	if t.calls[t.cycle] == 0 {
		return nil
	}
	_, _, err = statefile.AppendOwn(path, armRecord(t.cycle+1))
	return err
}
