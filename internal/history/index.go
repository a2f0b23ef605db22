package history

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"hash/fnv"
	"io"
	"path/filepath"

	"plimsoll/internal/statefile"
)

// parser is raised with every change in what a scan finds in the same bytes. An index of another parser is not read.
const parser = 1

// maxIndex bounds an index, in bytes. A gigabyte of transcripts makes some four megabytes.
const maxIndex = 1 << 30

// entry is what the index remembers of one transcript.
type entry struct {
	size   int64 // of the file when it was read
	mtime  int64 // ns since the Unix epoch
	offset int64 // up to where lines were whole: the record is of these
	print  print // of the bytes before offset
	kind   string
	record []byte // encoded
}

// print recognises a file that only grew: it covers what a program changes that rewrites a file.
type print struct{ head, tail uint64 }

// printed is how much a print covers at both ends, in bytes.
const printed = 4 << 10

func printOf(f io.ReaderAt, offset int64) (print, error) {
	var p print
	n := min(offset, printed)
	buf := make([]byte, n)
	for _, part := range []struct {
		at  int64
		sum *uint64
	}{{0, &p.head}, {offset - n, &p.tail}} {
		if _, err := f.ReadAt(buf, part.at); err != nil {
			return print{}, err
		}
		h := fnv.New64a()
		_, _ = h.Write(buf)
		*part.sum = h.Sum64()
	}
	return p, nil
}

// index is the entries by the transcripts' absolute paths.
type index map[string]entry

func magic() []byte { return append([]byte("plimsoll transcripts "), parser, '\n') }

// readIndex reads an index. Whatever is wrong with it, what cannot be used is as if it had never been there.
func readIndex(path string) index {
	entries := index{}
	if path == "" {
		return entries
	}
	data, err := statefile.Read(path, maxIndex)
	if err != nil {
		return entries
	}
	rest, ok := bytes.CutPrefix(data, magic())
	if !ok {
		return entries
	}
	for len(rest) > 0 {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > uint64(len(rest)-size) || uint64(len(rest)-size)-n < crc32.Size {
			break
		}
		body, sum := rest[size:size+int(n)], rest[size+int(n):size+int(n)+crc32.Size]
		rest = rest[size+int(n)+crc32.Size:]
		if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(sum) {
			continue
		}
		if path, e, ok := decodeEntry(body); ok {
			entries[path] = e
		}
	}
	return entries
}

func decodeEntry(body []byte) (path string, e entry, ok bool) {
	d := &decoder{b: body}
	text := func() string {
		n := d.length(1)
		s := string(d.b[:n])
		d.b = d.b[n:]
		return s
	}
	path = text()
	e = entry{size: int64(d.key()), mtime: int64(d.key()), offset: int64(d.key()), print: print{d.key(), d.key()}, kind: text()}
	e.record = d.b
	return path, e, !d.bad && filepath.IsAbs(path) && e.offset >= 0 && e.offset <= e.size
}

func (x index) encode() []byte {
	out := magic()
	var body []byte
	for _, path := range sortedKeys(x) {
		e := x[path]
		body = binary.AppendUvarint(body[:0], uint64(len(path)))
		body = append(body, path...)
		for _, n := range []uint64{uint64(e.size), uint64(e.mtime), uint64(e.offset), e.print.head, e.print.tail} {
			body = binary.LittleEndian.AppendUint64(body, n)
		}
		body = binary.AppendUvarint(body, uint64(len(e.kind)))
		body = append(body, e.kind...)
		body = append(body, e.record...)
		out = binary.AppendUvarint(out, uint64(len(body)))
		out = append(out, body...)
		out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(body))
	}
	return out
}
