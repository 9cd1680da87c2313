package plugin

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A process is started only from the executable that was pinned, also when it is
// started again.
func TestPinnedExecutable(t *testing.T) {
	sum, err := Checksum(os.Args[0])
	if err != nil || len(sum) != 64 {
		t.Fatal(sum, err)
	}
	s := spec("good", "faulty")
	s.SHA256 = strings.ToUpper(sum)
	started(t, s).Close()

	s.SHA256 = strings.Repeat("0", 64)
	_, err = Launch(t.Context(), s)
	wantError(t, "another executable", err, ErrInvalid, "invalid checksum: the executable's SHA-256 is "+sum+", pinned is 000")
	wantError(t, "another executable", err, ErrInvalid, "hint: if the executable was replaced on purpose, pin its new checksum")
	s.Path = filepath.Join(t.TempDir(), "none")
	_, err = Launch(t.Context(), s)
	wantError(t, "no executable", err, fs.ErrNotExist, "hint: build it")
	noChildren(t)
}

func TestReplacedExecutableIsNotRestarted(t *testing.T) {
	path := script(t, "exec "+os.Args[0]+" good\n")
	s := spec("good", "faulty")
	s.Path = path
	var err error
	if s.SHA256, err = Checksum(path); err != nil {
		t.Fatal(err)
	}
	sup, states := supervised(t, s)
	states.next(t, Starting)
	states.next(t, Up)
	i, err := sup.Open(t.Context(), nil, 1, "pool")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = i.RouteContext(t.Context(), request("crash"), TraceContext{})
	wantError(t, "a crash", err, ErrDown, "")
	states.next(t, Down)
	states.next(t, Starting)
	wantError(t, "the replaced executable", states.next(t, Down).Err, ErrInvalid, "invalid checksum")
}
