package trace

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// recorded reads a file of testdata/recorded.
func recorded(t testing.TB, file string) *Trace {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "recorded", file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := Read(f, file, Options{Open: func(name string) (io.ReadCloser, error) {
		return os.Open(filepath.Join("testdata", "recorded", name+".gz"))
	}})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

var sessions84 = sync.OnceValues(func() (*Trace, error) {
	f, err := os.Open("testdata/recorded/sessions_dev_small84.jsonl.gz")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, "sessions_dev_small84.jsonl.gz", Options{})
})

// agents reads recorded sessions once for all tests; no test may change them.
func agents(t testing.TB) *Trace {
	t.Helper()
	tr, err := sessions84()
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestRoundTrips writes recorded traffic in each form and reads it back.
func TestRoundTrips(t *testing.T) {
	traces := []*Trace{mustDefault(t).Cut(800), recorded(t, "AzureLLMInferenceTrace_conv_2023_first40min.csv.gz").Cut(800), recorded(t, "0_trace_segmentA.jsonl.gz").Cut(300)}
	if !testing.Short() {
		weka := agents(t).CutSessions(2, 1)
		traces = append(traces, weka, weka.Superpose(Superposition{Seed: 5}))
	}
	for _, tr := range traces {
		for form, write := range map[string]func(io.Writer) error{"own": tr.WriteOwn, "csv": tr.WriteCSV} {
			if form == "csv" && tr.Scope == ScopeSession {
				continue
			}
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			back, err := Read(&b, form, Options{})
			if err != nil {
				t.Fatal(err)
			}
			same(t, tr.Name+" as "+form, back, tr)
			if back.BlockTokens != tr.BlockTokens || back.Scope != tr.Scope || form == "own" && (back.Clock != tr.Clock || back.Partial != tr.Partial) {
				t.Errorf("%s as %s: %+v", tr.Name, form, back.Info())
			}
		}
	}
}

// same compares all that forms keep; ids are compared by what they share.
func same(t *testing.T, what string, got, want *Trace) {
	t.Helper()
	if len(got.Requests) != len(want.Requests) {
		t.Fatalf("%s: %d requests, want %d", what, len(got.Requests), len(want.Requests))
	}
	g, w := numbering{}, numbering{}
	sessions := map[uint64]uint64{}
	for i := range want.Requests {
		a, b := got.Requests[i], want.Requests[i]
		if !slices.Equal(g.own(got, &a), w.own(want, &b)) {
			t.Fatalf("%s: row %d has other blocks", what, i)
		}
		if s, ok := sessions[b.Session]; ok && s != a.Session || (a.Session == 0) != (b.Session == 0) {
			t.Fatalf("%s: row %d is in session %d, was in %d", what, i, a.Session, b.Session)
		}
		sessions[b.Session] = a.Session
		if strings.HasPrefix(a.ID, "row-") {
			a.ID = ""
		}
		if got.Scope != ScopeSession { // tables do not tell sub-agents
			a.Preamble, a.Agent, b.Preamble, b.Agent = 0, false, 0, false
		}
		a.Blocks, a.Line, a.Session, b.Blocks, b.Line, b.Session = nil, 0, 0, nil, 0, 0
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%s: row %d is %+v, was %+v", what, i, a, b)
		}
	}
}

// TestMooncakeRoundTrip holds that Mooncake's form keeps arrivals, lengths and
// what prompts share, in its own blocks and in smaller ones.
func TestMooncakeRoundTrip(t *testing.T) {
	tr := mustDefault(t).Cut(600)
	for _, size := range []int{512, 64} {
		var b bytes.Buffer
		if err := tr.WriteMooncake(&b, MooncakeOptions{BlockTokens: size}); err != nil {
			t.Fatal(err)
		}
		back, err := Read(&b, "x", Options{BlockTokens: size})
		if err != nil {
			t.Fatal(err)
		}
		was, is := tr.Info(), back.Info()
		if is.Rows != was.Rows || is.Arrivals != was.Arrivals || is.Input != was.Input || is.Output != was.Output {
			t.Errorf("blocks of %d: %+v, was %+v", size, is, was)
		}
		if got, want := is.Reuse.TokenHit, was.Reuse.TokenHit; got > want+1e-9 || got < want-0.003 {
			t.Errorf("blocks of %d: token hit %.5f, was %.5f", size, got, want)
		}
		if size == 512 {
			same(t, "512", back, tr)
		}
	}
}

func TestWideWindow(t *testing.T) {
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithWindowSize(8<<20))
	if err != nil {
		t.Fatal(err)
	}
	if err := mustDefault(t).WriteOwn(z); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	tr, err := Read(&b, "x.zst", Options{})
	if err != nil || len(tr.Requests) != 7851 {
		t.Errorf("%v, %d requests", err, len(tr.Requests))
	}
}

func TestMarksAndLineEnds(t *testing.T) {
	plain, err := Read(strings.NewReader(twoRows), "x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(strings.NewReader("\ufeff"+strings.ReplaceAll(twoRows, "\n", "\r\n")), "x", Options{})
	if err != nil || !got.File.CRLF || len(got.Notes) != 1 || got.Notes[0] != "byte order mark skipped" {
		t.Fatalf("%v, %+v", err, got)
	}
	if !reflect.DeepEqual(got.Requests, plain.Requests) {
		t.Errorf("got %+v, want %+v", got.Requests, plain.Requests)
	}
	if _, err := Read(strings.NewReader("\xff\xfe{\x00"), "x", Options{}); err == nil || !strings.Contains(err.Error(), "UTF-16") {
		t.Errorf("UTF-16: %v", err)
	}
}

// TestLongLines holds that a line may be longer than the buffer, up to the bound.
func TestLongLines(t *testing.T) {
	row := `{"timestamp":0,"input_length":1,"output_length":1,"hash_ids":[5],"x":"` + strings.Repeat("y", 200<<10) + "\"}\n"
	tr, err := Read(strings.NewReader(row+row), "x", Options{})
	if err != nil || len(tr.Requests) != 2 {
		t.Errorf("%v", err)
	}
	if _, err := Read(strings.NewReader(row), "x", Options{MaxLine: 150 << 10}); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("%v", err)
	}
}

// TestSuperposeSharesBeginnings compares what sessions have in common with and
// without common beginnings.
func TestSuperposeSharesBeginnings(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves it out: it reads 20 MB of sessions")
	}
	tr := agents(t).CutSessions(20, 1)
	inside := tr.Info().Reuse.TokenHit
	apart := tr.Superpose(Superposition{Seed: 1, Apart: true})
	common := tr.Superpose(Superposition{Seed: 1})
	checkSound(t, common)
	if got := apart.Info().Reuse.TokenHit; got != inside {
		t.Errorf("apart: %.5f, inside sessions %.5f", got, inside)
	}
	if got := common.Info().Reuse.TokenHit; got <= inside || got > inside+0.01 {
		t.Errorf("common: %.5f, inside sessions %.5f", got, inside)
	}
	if a, b := tr.Superpose(Superposition{Seed: 1}), tr.Superpose(Superposition{Seed: 2}); !reflect.DeepEqual(a.Requests, common.Requests) || reflect.DeepEqual(b.Requests, common.Requests) {
		t.Error("starts are not a function of the seed")
	}
	if last := common.Requests[len(common.Requests)-1].At; last > 42951*time.Second+time.Hour {
		t.Errorf("the last request arrives at %v", last)
	}
}
