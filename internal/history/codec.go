package history

import (
	"encoding/binary"
	"errors"
	"math"

	"plimsoll/internal/transcript"
)

// errCorrupt reports bytes that no record was encoded as.
var errCorrupt = errors.New("corrupt record")

// encode appends r. Times are differences, and everything else is small, so varints make a response some 40 bytes.
func (r *record) encode(b []byte) []byte {
	u := func(n uint64) { b = binary.AppendUvarint(b, n) }
	i := func(n int64) { b = binary.AppendVarint(b, n) }
	w := func(n word) { u(uint64(n)) }
	key := func(n uint64) { b = binary.LittleEndian.AppendUint64(b, n) }
	u(uint64(len(r.strings)))
	for _, s := range r.strings {
		u(uint64(len(s)))
		b = append(b, s...)
	}
	var clock int64
	at := func(t int64) {
		i(t - clock)
		clock = t
	}
	u(uint64(len(r.responses)))
	for _, x := range r.responses {
		key(x.key)
		w(x.session)
		w(x.agent)
		w(x.kind)
		w(x.version)
		w(x.model)
		at(x.time)
		u(flags(x.side, x.usage.Fast, x.usage.US))
		for _, n := range [...]int64{x.usage.Input, x.usage.Output, x.usage.CacheRead, x.usage.CacheWrite5m, x.usage.CacheWrite1h} {
			u(uint64(n))
		}
	}
	u(uint64(len(r.calls)))
	for _, x := range r.calls {
		key(x.key)
		u(uint64(x.response))
		w(x.tool)
		w(x.name)
	}
	u(uint64(len(r.compactions)))
	for _, x := range r.compactions {
		key(x.key)
		w(x.session)
		u(flags(x.side, false, false))
		at(x.time)
		u(uint64(x.pre))
		u(uint64(x.post))
		w(x.trigger)
	}
	u(uint64(len(r.moments)))
	for _, x := range r.moments {
		key(x.key)
		w(x.session)
		at(x.time)
		w(x.name)
	}
	u(uint64(len(r.made)))
	for _, x := range r.made {
		key(x.call)
		w(x.agent)
	}
	u(uint64(len(r.costs)))
	for _, x := range r.costs {
		w(x.session)
		key(math.Float64bits(x.usd))
	}
	u(uint64(len(r.folders)))
	for _, x := range r.folders {
		w(x)
	}
	u(uint64(r.malformed))
	u(uint64(r.tooLong))
	return b
}

func flags(a, b, c bool) (n uint64) {
	for i, set := range [...]bool{a, b, c} {
		if set {
			n |= 1 << i
		}
	}
	return n
}

// decoder reads what encode wrote. A number that cannot be, such as a word that the table does not have, is an error:
// the rest of the program indexes with them.
type decoder struct {
	b     []byte
	words uint64
	clock int64
	bad   bool
}

func (d *decoder) u() uint64 {
	// Most numbers take one byte.
	if len(d.b) > 0 && d.b[0] < 0x80 {
		n := uint64(d.b[0])
		d.b = d.b[1:]
		return n
	}
	n, size := binary.Uvarint(d.b)
	if size <= 0 {
		d.bad = true
		d.b = nil
		return 0
	}
	d.b = d.b[size:]
	return n
}

func (d *decoder) tokens() int64 {
	n := d.u()
	if n > math.MaxInt64 {
		d.bad = true
		return 0
	}
	return int64(n)
}

func (d *decoder) at() int64 {
	n, size := binary.Varint(d.b)
	if size <= 0 {
		d.bad = true
		d.b = nil
		return 0
	}
	d.b = d.b[size:]
	d.clock += n
	return d.clock
}

func (d *decoder) key() uint64 {
	if len(d.b) < 8 {
		d.bad = true
		d.b = nil
		return 0
	}
	n := binary.LittleEndian.Uint64(d.b)
	d.b = d.b[8:]
	return n
}

func (d *decoder) word() word {
	n := d.u()
	if n >= d.words {
		d.bad = true
		return 0
	}
	return word(n)
}

// length reads how many things follow, of which each takes at least that many bytes.
func (d *decoder) length(each int) int {
	n := d.u()
	if n > uint64(len(d.b)/each) {
		d.bad = true
		return 0
	}
	return int(n)
}

func decode(b []byte) (*record, error) {
	d := &decoder{b: b}
	r := &record{}
	n := d.length(1)
	d.words = uint64(n)
	r.strings = make([]string, n)
	for i := range r.strings {
		size := d.length(1)
		r.strings[i] = string(d.b[:size])
		d.b = d.b[size:]
	}
	if n == 0 || r.strings[0] != "" {
		return nil, errCorrupt
	}
	r.responses = make([]response, d.length(20))
	for i := range r.responses {
		x := &r.responses[i]
		*x = response{key: d.key(), session: d.word(), agent: d.word(), kind: d.word(), version: d.word(), model: d.word(), time: d.at()}
		f := d.u()
		x.side = f&1 != 0
		x.usage = transcript.Usage{
			Fast: f&2 != 0, US: f&4 != 0,
			Input: d.tokens(), Output: d.tokens(), CacheRead: d.tokens(), CacheWrite5m: d.tokens(), CacheWrite1h: d.tokens(),
		}
	}
	r.calls = make([]call, d.length(11))
	for i := range r.calls {
		x := call{key: d.key(), response: uint32(d.u()), tool: d.word(), name: d.word()}
		d.bad = d.bad || int64(x.response) >= int64(len(r.responses))
		r.calls[i] = x
	}
	r.compactions = make([]compaction, d.length(14))
	for i := range r.compactions {
		r.compactions[i] = compaction{key: d.key(), session: d.word(), side: d.u()&1 != 0, time: d.at(), pre: d.tokens(), post: d.tokens(), trigger: d.word()}
	}
	r.moments = make([]moment, d.length(11))
	for i := range r.moments {
		r.moments[i] = moment{d.key(), d.word(), d.at(), d.word()}
	}
	r.made = make([]made, d.length(9))
	for i := range r.made {
		r.made[i] = made{d.key(), d.word()}
	}
	r.costs = make([]cost, d.length(9))
	for i := range r.costs {
		r.costs[i] = cost{d.word(), math.Float64frombits(d.key())}
	}
	r.folders = make([]word, d.length(1))
	for i := range r.folders {
		r.folders[i] = d.word()
	}
	r.malformed, r.tooLong = int(d.u()), int(d.u())
	if d.bad || len(d.b) > 0 {
		return nil, errCorrupt
	}
	return r, nil
}
