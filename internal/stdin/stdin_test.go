package stdin

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestReadWhole(t *testing.T) {
	for _, size := range []int{0, 1, chunkSize - 1, chunkSize, chunkSize + 1, 3*chunkSize + 7} {
		want := strings.Repeat("x", size)
		for name, r := range map[string]io.Reader{
			"plain": strings.NewReader(want), "one byte at a time": iotest.OneByteReader(strings.NewReader(want[:min(size, 999)])),
			"data with EOF": iotest.DataErrReader(strings.NewReader(want)),
		} {
			in := Read(r, 1<<20, time.Minute)
			if expect := want[:min(size, len(in.Data))]; !in.Complete || string(in.Data) != expect || name != "one byte at a time" && len(in.Data) != size {
				t.Errorf("%s, %d bytes: got %d, complete %v", name, size, len(in.Data), in.Complete)
			}
			var out bytes.Buffer
			if n, err := in.WriteTo(&out); err != nil || int(n) != len(in.Data) {
				t.Errorf("%s: wrote %d, %v", name, n, err)
			}
		}
	}
}

func TestReadTooLarge(t *testing.T) {
	all := strings.Repeat("0123456789", 40_000)
	in := Read(strings.NewReader(all), 100_000, time.Minute)
	if in.Complete {
		t.Error("complete past the bound")
	}
	if len(in.Data) > 100_000+chunkSize {
		t.Errorf("kept %d bytes", len(in.Data))
	}
	var out bytes.Buffer
	if _, err := in.WriteTo(&out); err != nil || out.String() != all {
		t.Errorf("passed on %d of %d bytes, %v", out.Len(), len(all), err)
	}
	// One byte over is over.
	if in := Read(strings.NewReader("12345"), 4, time.Minute); in.Complete {
		t.Error("five bytes are complete within four")
	}
}

func TestReadStalls(t *testing.T) {
	r, w := io.Pipe()
	go w.Write([]byte("first "))
	in := Read(r, 1<<20, 50*time.Millisecond)
	if in.Complete || in.Err != nil || string(in.Data) != "first " {
		t.Fatalf("stalled input: %q, complete %v, %v", in.Data, in.Complete, in.Err)
	}
	go func() {
		w.Write([]byte("and the rest"))
		w.Close()
	}()
	var out bytes.Buffer
	if _, err := in.WriteTo(&out); err != nil || out.String() != "first and the rest" {
		t.Errorf("passed on %q, %v", &out, err)
	}
}

func TestReadFails(t *testing.T) {
	broken := errors.New("broken")
	in := Read(io.MultiReader(strings.NewReader("some"), iotest.ErrReader(broken)), 1<<20, time.Minute)
	if in.Complete || !errors.Is(in.Err, broken) || string(in.Data) != "some" {
		t.Errorf("%q, complete %v, %v", in.Data, in.Complete, in.Err)
	}
}

type panicky struct{}

func (panicky) Read([]byte) (int, error) { panic("reader") }

func TestReaderPanics(t *testing.T) {
	if in := Read(panicky{}, 1<<20, time.Minute); in.Complete || in.Err == nil {
		t.Errorf("complete %v, %v", in.Complete, in.Err)
	}
}
