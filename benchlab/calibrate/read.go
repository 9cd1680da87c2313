package calibrate

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Bounds of a recording.
const (
	maxFileBytes = 256 << 20 // unpacked
	maxLineBytes = 16 << 20
	maxRows      = 1 << 20
)

// open opens name.gz, or else name.
func open(dir fs.FS, name string) (io.Reader, func() error, error) {
	f, err := dir.Open(name + ".gz")
	if errors.Is(err, fs.ErrNotExist) {
		f, err = dir.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("there is neither %s.gz nor %s: %w", name, name, fs.ErrNotExist)
		}
		if err != nil {
			return nil, nil, err
		}
		return io.LimitReader(f, maxFileBytes), f.Close, nil
	}
	if err != nil {
		return nil, nil, err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s.gz: %w", name, err)
	}
	return io.LimitReader(z, maxFileBytes), f.Close, nil
}

// eachLine calls do with the lines of a file that are not blank; its error is
// given the file's name and the line's number.
func eachLine(dir fs.FS, name string, do func(line []byte) error) error {
	r, closeFile, err := open(dir, name)
	if err != nil {
		return err
	}
	defer closeFile()
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLineBytes)
	n := 0
	for s.Scan() {
		if n++; n > maxRows {
			return fmt.Errorf("%s: more than %d lines", name, maxRows)
		}
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		if err := do(s.Bytes()); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", name, n+1, err)
	}
	return nil
}

// eachRow calls do with every row of a JSON lines file.
func eachRow[T any](dir fs.FS, name string, do func(row T) error) error {
	return eachLine(dir, name, func(line []byte) error {
		var row T
		if err := json.Unmarshal(line, &row); err != nil {
			return err
		}
		return do(row)
	})
}
