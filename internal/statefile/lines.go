package statefile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// lineBuffer is how much of a file EachLine reads at a time, in bytes.
const lineBuffer = 64 << 10

// EachLine calls f for every line of a regular file, without its end and without empty ones. The line is only valid
// during the call. A line of more than maxLine bytes is passed over and counted, so that memory stays bounded whatever
// the file holds. As for Read, a file of more than maxFile bytes is ErrTooLarge, a pipe or device is ErrNotRegular and
// cannot block the caller, and what another process appends meanwhile is not read.
func EachLine(path string, maxFile int64, maxLine int, f func(line []byte)) (long int, err error) {
	file, err := openRead(path)
	if err != nil {
		return 0, err
	}
	defer file.close()
	mode, size, err := file.stat()
	if err != nil {
		return 0, err
	}
	if !mode.IsRegular() {
		return 0, fmt.Errorf("read %s: %w", path, ErrNotRegular)
	}
	if size > maxFile {
		return 0, fmt.Errorf("read %s: %d bytes: %w", path, size, ErrTooLarge)
	}
	lines := bufio.NewReaderSize(io.LimitReader(fileReader{file}, size), max(maxLine+2, lineBuffer)) // 2: the line's end
	for {
		line, err := lines.ReadSlice('\n')
		whole := err != bufio.ErrBufferFull
		for err == bufio.ErrBufferFull {
			_, err = lines.ReadSlice('\n')
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
		switch {
		case !whole || len(line) > maxLine:
			long++
		case len(line) > 0:
			f(line)
		}
		if err == io.EOF {
			return long, nil
		}
		if err != nil {
			return long, fmt.Errorf("read %s: %w", path, err)
		}
	}
}

// fileReader is a readFile as the library's readers want it.
type fileReader struct{ readFile }

func (f fileReader) Read(b []byte) (int, error) {
	n, err := f.read(b)
	if n == 0 && err == nil && len(b) > 0 {
		err = io.EOF
	}
	return n, err
}
