package plugin

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"
)

// Bounds of what is kept of a process's output.
const (
	lineBytes = 64 << 10 // a longer line is logged in pieces
	tailLines = 10       // the last lines, for error messages
	tailBytes = 300      // of each of them
)

// output logs what a process prints, line by line: JSON lines of hclog and slog
// with their level and fields, other lines as they are at level info, and a Go
// panic with its whole trace at level error.
type output struct {
	log  hclog.Logger
	tail *tail

	mu      sync.Mutex
	partial []byte
	panics  bool // a panic was seen: what follows is its trace
}

// Write takes the next bytes of the stream; it never fails.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(p)
	for {
		line, rest, whole := bytes.Cut(p, []byte{'\n'})
		for len(o.partial)+len(line) > lineBytes {
			cut := lineBytes - len(o.partial)
			o.line(append(o.partial, line[:cut]...))
			o.partial, line = o.partial[:0], line[cut:]
		}
		o.partial = append(o.partial, line...)
		if !whole {
			return n, nil
		}
		o.line(o.partial)
		o.partial, p = o.partial[:0], rest
	}
}

// flush logs a last line that has no end.
func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.partial) > 0 {
		o.line(o.partial)
		o.partial = nil
	}
}

func (o *output) line(b []byte) {
	line := strings.TrimRight(strings.ToValidUTF8(string(b), "\uFFFD"), "\r")
	if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
		o.panics = true
		o.tail.set(line)
	}
	switch {
	case o.panics:
		o.log.Error(line)
	case strings.HasPrefix(line, "{") && o.structured(b):
		return
	case line != "":
		o.log.Info(line)
	}
	o.tail.add(line)
}

// structured logs a line of hclog's or slog's JSON format.
func (o *output) structured(b []byte) bool {
	var fields map[string]any
	if json.Unmarshal(b, &fields) != nil {
		return false
	}
	take := func(keys ...string) string {
		for _, key := range keys {
			if s, ok := fields[key].(string); ok {
				delete(fields, key)
				return s
			}
		}
		return ""
	}
	message, level := take("@message", "msg"), hclog.LevelFromString(take("@level", "level"))
	if message == "" || level == hclog.NoLevel {
		return false
	}
	take("@timestamp", "time")
	var args []any
	if module := take("@module"); module != "" {
		args = append(args, "module", module)
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		args = append(args, key, fields[key])
	}
	o.log.Log(level, message, args...)
	o.tail.add(message)
	return true
}

// tail keeps the last lines of a process, and the first line of a panic.
type tail struct {
	mu    sync.Mutex
	lines []string
	cause string
}

func (t *tail) add(line string) {
	if line == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == tailLines {
		t.lines = slices.Delete(t.lines, 0, 1)
	}
	t.lines = append(t.lines, short(line))
}

func (t *tail) set(cause string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cause == "" {
		t.cause = short(cause)
	}
}

// String returns the last lines, joined with slashes.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, " / ")
}

// last returns the first line of a panic, or else the last line of all.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cause != "" || len(t.lines) == 0 {
		return t.cause
	}
	return t.lines[len(t.lines)-1]
}

func short(s string) string {
	if len(s) > tailBytes {
		return strings.ToValidUTF8(s[:tailBytes], "") + "..."
	}
	return s
}
