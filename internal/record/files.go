package record

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"gatewayd/pkg/record"
)

// files is one file that grows, and those before it under a number: FILE.1 is the
// newest of them.
type files struct {
	path   string
	most   int64 // bytes of one file
	keep   int   // files, the one that grows included
	header record.Header
	broken bool // nothing can be written any more

	file   *os.File
	buffer *bufio.Writer
	size   int64
	form   *record.Writer
}

// open puts the file aside that there may be, and begins a new one.
func (f *files) open() error {
	if err := f.shift(); err != nil {
		return err
	}
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	f.file, f.size = file, 0
	f.buffer = bufio.NewWriterSize(file, 256<<10)
	if f.form, err = record.NewWriter(f, f.header); err == nil {
		err = f.flush()
	}
	if err != nil {
		file.Close()
	}
	return err
}

// shift renames FILE to FILE.1, FILE.1 to FILE.2 and so on; the oldest goes.
func (f *files) shift() error {
	info, err := os.Lstat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file; name another one", f.path)
	}
	if f.keep < 2 {
		return os.Remove(f.path)
	}
	for n := f.keep - 2; n > 0; n-- {
		if err := os.Rename(f.numbered(n), f.numbered(n+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(f.path, f.numbered(1))
}

func (f *files) numbered(n int) string { return fmt.Sprintf("%s.%d", f.path, n) }

// write writes a line, into a new file if this one is full.
func (f *files) write(l *record.Line) error {
	if f.size >= f.most {
		if err := f.close(); err != nil {
			return err
		}
		if err := f.open(); err != nil {
			return err
		}
	}
	return f.form.Write(l)
}

// Write implements io.Writer for the lines.
func (f *files) Write(b []byte) (int, error) {
	n, err := f.buffer.Write(b)
	f.size += int64(n)
	return n, err
}

func (f *files) flush() error {
	if f.broken {
		return nil
	}
	return f.buffer.Flush()
}

// close ends the file.
func (f *files) close() error {
	err := f.flush()
	return errors.Join(err, f.file.Close())
}
