package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// script has wrk send the requests that lie in a folder, each as often as the others,
// and tell what became of them.
//
//go:embed wrk.lua
var script []byte

// sent is what wrk tells of a run.
type sent struct {
	Requests int64 // that were answered well
	Failed   int64 // that were not
	Micros   int64 // how long it took
}

// closed sends requests for a time on n connections, each as soon as the one before it
// was answered.
func closed(folder string, c *contender, n int, text func(host string, i int) []byte, span time.Duration) (s sent, err error) {
	folder, err = os.MkdirTemp(folder, "requests-")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(folder)
	lua := filepath.Join(folder, "wrk.lua")
	if err := os.WriteFile(lua, script, 0o600); err != nil {
		return s, err
	}
	for i := range n {
		if err := os.WriteFile(filepath.Join(folder, strconv.Itoa(i)), text(c.address, i), 0o600); err != nil {
			return s, err
		}
	}
	seconds := max(1, int((span+time.Second/2)/time.Second)) // wrk counts in them
	out, err := exec.Command("wrk", "-t1", "-c"+strconv.Itoa(n), "-d"+strconv.Itoa(seconds)+"s", "-s", lua, "http://"+c.address+"/", "--", folder, strconv.Itoa(n)).CombinedOutput()
	if err != nil {
		return s, fmt.Errorf("wrk: %w\n%s\nhint: apt-get install -y wrk", err, out)
	}
	return told(out)
}

// told reads what the script says behind wrk's own report.
func told(out []byte) (s sent, err error) {
	_, line, ok := bytes.Cut(out, []byte("told "))
	if !ok {
		return s, fmt.Errorf("wrk told nothing: %s", out)
	}
	if err := json.Unmarshal(line, &s); err != nil {
		return s, fmt.Errorf("wrk told %q: %w", line, err)
	}
	switch {
	case s.Failed > 0:
		return s, fmt.Errorf("%d of %d requests failed\n%s", s.Failed, s.Failed+s.Requests, out)
	case s.Requests <= 0 || s.Micros <= 0:
		return s, fmt.Errorf("no request was answered in time\n%s", out)
	}
	return s, nil
}
