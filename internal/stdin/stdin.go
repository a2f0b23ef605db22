// Package stdin reads standard input with a bound on size and on time, and keeps the rest for whoever wants it live.
package stdin

import (
	"fmt"
	"io"
	"time"
)

const (
	// MaxBytes is the largest payload that is kept. The largest seen from a client is under 2 MB.
	MaxBytes = 64 << 20

	// Wait is how long a whole payload may take to arrive. Clients write it at once; a pipe that nobody closes must
	// not hold up the session.
	Wait = 5 * time.Second

	chunkSize = 64 << 10
)

// Input is what arrived in time.
type Input struct {
	Data     []byte
	Complete bool  // the end was seen, within both bounds
	Err      error // a read that failed; the bounds being reached is no error
	chunks   <-chan chunk
}

type chunk struct {
	data []byte
	err  error
}

// Read reads r up to its end, to maxBytes or for the given time, whichever comes first.
func Read(r io.Reader, maxBytes int, wait time.Duration) *Input {
	chunks := make(chan chunk, 4)
	go produce(r, chunks)
	in := &Input{chunks: chunks}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case c := <-chunks:
			if in.Data == nil {
				in.Data = c.data
			} else {
				in.Data = append(in.Data, c.data...)
			}
			if c.err == io.EOF {
				in.Complete = len(in.Data) <= maxBytes
				in.chunks = nil
				return in
			}
			if c.err != nil {
				in.Err, in.chunks = c.err, nil
				return in
			}
			if len(in.Data) > maxBytes {
				return in
			}
		case <-timer.C:
			return in
		}
	}
}

// produce sends what r gives until it errs, io.EOF included. It stays behind, blocked, when nobody listens any more;
// the process is about to end then.
func produce(r io.Reader, chunks chan<- chunk) {
	defer func() {
		if p := recover(); p != nil {
			chunks <- chunk{err: fmt.Errorf("read stdin: panic: %v", p)}
		}
	}()
	for {
		buf := make([]byte, chunkSize)
		n, err := r.Read(buf)
		chunks <- chunk{buf[:n], err}
		if err != nil {
			return
		}
	}
}

// WriteTo writes what arrived and then, as it comes, what still arrives.
func (in *Input) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(in.Data)
	total := int64(n)
	if err != nil || in.chunks == nil {
		return total, err
	}
	for c := range in.chunks {
		n, err := w.Write(c.data)
		total += int64(n)
		if err != nil {
			return total, err
		}
		if c.err == io.EOF {
			return total, nil
		}
		if c.err != nil {
			return total, c.err
		}
	}
	return total, nil
}
