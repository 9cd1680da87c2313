package record

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"gatewayd/internal/config"
	"gatewayd/internal/telemetry"
	"gatewayd/pkg/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func options(t *testing.T) Options {
	return Options{
		Config: config.Record{File: filepath.Join(t.TempDir(), "traffic.jsonl"), FileBytes: 1 << 20, Files: 3},
		Salt:   NewSalt(), BlockBytes: 512, Metrics: telemetry.Off().Metrics, Logger: hclog.NewNullLogger(),
	}
}

func open(t *testing.T, o Options) *Recorder {
	t.Helper()
	r, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func end(t *testing.T, r *Recorder) {
	t.Helper()
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// lines reads a file of the recorder.
func lines(t *testing.T, path string) (h record.Header, all []record.Line) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s has mode %v, want 600 (%v)", path, info.Mode(), err)
	}
	in := json.NewDecoder(bufio.NewReader(f))
	if err := in.Decode(&h); err != nil {
		t.Fatal(err)
	}
	for in.More() {
		var l record.Line
		if err := in.Decode(&l); err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	return h, all
}

// counted is how many requests were written, dropped and failed.
func counted(o Options) (got [3]string) {
	w := httptest.NewRecorder()
	o.Metrics.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		for i, name := range []string{"written", "dropped", "failed"} {
			if rest, ok := strings.CutPrefix(line, telemetry.MetricRecorded+`{result="`+name+`"} `); ok {
				got[i] = strings.TrimSpace(rest)
			}
		}
	}
	return got
}

func entry(start time.Time, n int) *Entry {
	at := start.Add(time.Duration(n) * time.Millisecond)
	return &Entry{
		Arrived: at, First: at.Add(time.Second), Ended: at.Add(3 * time.Second), Model: "m", Tenant: "t", Key: 5, Stream: true,
		Bytes: 1100, Blocks: []uint64{1, 2}, Prompt: 300 + n, Output: 20, Cached: 128, Outcome: "completed", Status: 200, Worker: "w", Attempts: 1,
	}
}

func TestRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t)
		r := open(t, o)
		r.Take(entry(r.start, 0))
		unknown := &Entry{Arrived: r.start, Ended: r.start, Cached: -1, Estimated: true, Prompt: 7, Outcome: "failed"}
		r.Take(unknown)
		<-time.After(2 * flushEvery)
		if _, got := lines(t, o.Config.File); len(got) != 2 {
			t.Errorf("%d lines after the time to flush", len(got))
		}
		r.Take(entry(r.start, 9))
		end(t, r)
		h, got := lines(t, o.Config.File)
		if !h.Start.Equal(r.start) || h.BlockBytes != 512 || len(got) != 3 {
			t.Fatalf("%+v, %d lines", h, len(got))
		}
		a, b := got[0], got[1]
		if a.AtNS != 0 || a.TTFTNS != 1e9 || a.E2ENS != 3e9 || a.PromptTokens != 300 || a.OutputTokens != 20 || *a.CachedTokens != 128 || !a.Stream {
			t.Errorf("%+v", a)
		}
		if b.CachedTokens != nil || b.TTFTNS != 0 || !b.Estimated || b.Session != "" || len(b.Blocks) != 0 {
			t.Errorf("%+v", b)
		}
		if !slices.Equal(a.Blocks, got[2].Blocks) || slices.Equal(a.Blocks, []uint64{1, 2}) || a.Session != got[2].Session || len(a.Session) != 16 {
			t.Errorf("hashes %x and %x, sessions %q and %q", a.Blocks, got[2].Blocks, a.Session, got[2].Session)
		}
		if c := counted(o); c != [3]string{"3", "0", "0"} {
			t.Errorf("written, dropped, failed: %v", c)
		}
	})
}

// TestNeverWaits: with nobody who writes, requests go on, and the next line that is
// written says how many are missing.
func TestNeverWaits(t *testing.T) {
	o := options(t)
	r := &Recorder{o: o, start: time.Now(), queue: make(chan *Entry, queued), closing: make(chan struct{}), done: make(chan struct{}),
		files: &files{path: o.Config.File, most: 1 << 30, keep: 2, header: record.Header{BlockBytes: 512}}}
	if err := r.files.open(); err != nil {
		t.Fatal(err)
	}
	for n := range queued + 70 {
		r.Take(entry(r.start, n))
	}
	huge := &Entry{Arrived: r.start, Blocks: make([]uint64, queuedBlocks)}
	r.Take(huge)
	if c := counted(o); c[1] != "71" || r.blocks.Load() != 2*queued {
		t.Errorf("written, dropped, failed: %v; %d block ids are queued", c, r.blocks.Load())
	}
	go r.run()
	end(t, r)
	_, got := lines(t, o.Config.File)
	if len(got) != queued || got[0].Dropped != 71 || got[1].Dropped != 0 || r.blocks.Load() != 0 {
		t.Errorf("%d lines, the first says that %d were dropped, the second %d", len(got), got[0].Dropped, got[1].Dropped)
	}
}

func TestFilesAreBounded(t *testing.T) {
	o := options(t)
	o.Config.FileBytes = 3000
	if err := os.WriteFile(o.Config.File, []byte("from before"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := open(t, o)
	if was, err := os.ReadFile(o.Config.File + ".1"); err != nil || string(was) != "from before" {
		t.Errorf("the file from before is %q, %v", was, err)
	}
	for n := range 100 {
		r.Take(entry(r.start, n))
	}
	end(t, r)
	all, err := filepath.Glob(o.Config.File + "*")
	if err != nil || len(all) != 3 {
		t.Fatalf("files %v, %v", all, err)
	}
	next := 100
	for _, path := range all { // FILE is the newest, then FILE.1
		h, got := lines(t, path)
		if !h.Start.Equal(r.start) {
			t.Errorf("%s begins at %v, want %v: its times count from there", path, h.Start, r.start)
		}
		for i := len(got) - 1; i >= 0; i-- {
			if next--; got[i].PromptTokens != 300+next {
				t.Fatalf("%s: line %d has %d tokens, want %d", path, i, got[i].PromptTokens, 300+next)
			}
		}
		if info, err := os.Stat(path); err != nil || info.Size() > 3000+500 {
			t.Errorf("%s has %d bytes, %v", path, info.Size(), err)
		}
	}
	if next == 0 {
		t.Error("no file was removed: the test is too easy")
	}
}

func TestOneFile(t *testing.T) {
	o := options(t)
	o.Config.Files = 1
	end(t, open(t, o))
	end(t, open(t, o))
	if all, _ := filepath.Glob(o.Config.File + "*"); len(all) != 1 {
		t.Errorf("files %v", all)
	}
}

// TestBrokenFile: a file that cannot be written ends the recording, not the
// gateway, and is said once.
func TestBrokenFile(t *testing.T) {
	o := options(t)
	var log strings.Builder
	o.Logger = hclog.New(&hclog.LoggerOptions{Output: &log})
	r := &Recorder{o: o, start: time.Now(), queue: make(chan *Entry, queued), closing: make(chan struct{}), done: make(chan struct{}),
		files: &files{path: o.Config.File, most: 1 << 30, keep: 2, header: record.Header{BlockBytes: 512}}}
	if err := r.files.open(); err != nil {
		t.Fatal(err)
	}
	r.files.file.Close()
	for n := range 2000 {
		r.Take(entry(r.start, n))
	}
	go r.run()
	end(t, r)
	c := counted(o)
	if c[0] == "2000" || c[2] == "0" || strings.Count(log.String(), "not recorded any more") != 1 {
		t.Errorf("written, dropped, failed: %v; log:\n%s", c, log.String())
	}
}

func TestOpenRefuses(t *testing.T) {
	o := options(t)
	o.Config.File = filepath.Join(t.TempDir(), "missing", "x")
	if _, err := Open(o); err == nil {
		t.Error("a missing folder: no error")
	}
	o.Config.File = t.TempDir()
	if _, err := Open(o); err == nil {
		t.Error("a folder: no error")
	}
	o = options(t)
	if err := os.Symlink("elsewhere", o.Config.File); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(o); err == nil {
		t.Error("a link: no error")
	}
}

func TestCloseGivesUp(t *testing.T) {
	r := &Recorder{closing: make(chan struct{}), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Close(ctx); err == nil {
		t.Error("no error although nothing was written")
	}
}

func TestSaltFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "salt")
	first, err := LoadSalt(path)
	if err != nil {
		t.Fatal(err)
	}
	second, err := LoadSalt(path)
	if err != nil || first != second || first == (record.Salt{}) {
		t.Errorf("two gateways with one file have different salts (%v)", err)
	}
	if first == NewSalt() {
		t.Error("salts are not drawn")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for _, text := range []string{"", "abc", strings.Repeat("g", 64), fmt.Sprintf("%x0", first[:])} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadSalt(path); err == nil || !strings.Contains(err.Error(), "64 hexadecimal digits") {
			t.Errorf("salt file %q: %v", text, err)
		}
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadSalt(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a salt that others may read: %v", err)
	}
}
