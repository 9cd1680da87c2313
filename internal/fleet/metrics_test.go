package fleet

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cockroachdb/datadriven"
)

func TestMetrics(t *testing.T) {
	datadriven.Walk(t, "testdata/metrics", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s, err := Parse(iotest.OneByteReader(strings.NewReader(d.Input)))
			if err != nil {
				t.Fatal(err)
			}
			return describe(s)
		})
	})
}

// describe writes the figures that are known.
func describe(s Sample) string {
	var out strings.Builder
	fmt.Fprintf(&out, "engine %q\n", s.Engine)
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		if f, ok := v.Field(i).Interface().(Figure); ok && f.Known {
			fmt.Fprintf(&out, "%s %v\n", v.Type().Field(i).Name, f.Value)
		}
	}
	return out.String()
}

// TestLongLines makes sure that a line of any length is skipped without harm
// to its neighbours, and that a text of any length ends.
func TestLongLines(t *testing.T) {
	long := "vllm:num_requests_running{x=\"" + strings.Repeat("a", 3*maxLine) + "\"} 1\n"
	s, err := Parse(strings.NewReader("vllm:num_requests_waiting 1\n" + long + "vllm:num_requests_running 2"))
	if err != nil || s.Waiting.Value != 1 || s.Running.Value != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, endless := range []io.Reader{endless("# " + strings.Repeat("a", 1000) + "\n"), endless("a")} {
		if s, err := parse(endless, 1<<20, ""); err == nil {
			t.Errorf("an endless text is read as %+v", s)
		}
	}
	broken := errors.New("broken")
	if _, err := Parse(io.MultiReader(strings.NewReader("vllm:num_requests_running 1\n"), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("a broken text: %v", err)
	}
}

// endless repeats itself.
type endless string

func (e endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		n += copy(p[n:], e)
	}
	return n, nil
}

// FuzzParse makes sure that no text panics, and that figures are what they say.
func FuzzParse(f *testing.F) {
	f.Add("vllm:num_requests_running{engine=\"0\"} 1 2\nvllm:kv_cache_usage_perc 0.5", "")
	f.Add("vllm:num_requests_running{engine=\"0\"} 1\nvllm:num_requests_running{engine=\"1\"} 2", "1")
	f.Add("vllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"\\\"\"} 1", "0")
	f.Add("trtllm_kv_cache_max_blocks 1\ntrtllm_kv_cache_tokens_per_block 3e300\n# x\n\n{} 1", "")
	f.Fuzz(func(t *testing.T, text, rank string) {
		s, err := parse(strings.NewReader(text), maxMetrics, rank)
		if err != nil && (rank == "" || s != Sample{}) {
			t.Fatal(s, err)
		}
		v := reflect.ValueOf(s)
		for i := range v.NumField() {
			figure, ok := v.Field(i).Interface().(Figure)
			if ok && (!(figure.Value >= 0) || !figure.Known && figure.Value != 0) {
				t.Errorf("%s is %+v", v.Type().Field(i).Name, figure)
			}
		}
		if s.KVUsed.Value > 1 {
			t.Errorf("KVUsed is %+v", s.KVUsed)
		}
	})
}
