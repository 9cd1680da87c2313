package trace

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// examples are the inputs of the scripts.
func examples(f *testing.F) (list []string) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 9 {
		f.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?ms)^(?:read|write)[^\n]*\n(.*?)\n?^----`).FindAllStringSubmatch(string(text), -1) {
			list = append(list, m[1])
		}
	}
	return list
}

// dictionaries stand in for RAGPulse's.
func dictionaries(name string) (io.ReadCloser, error) {
	id := map[string]string{
		"1_sys_prompt.jsonl": "sys_prompt_id", "2_passages.jsonl": "passage_id", "3_history.jsonl": "history_id",
		"4_user_input.jsonl": "user_input_id", "5_web_search.jsonl": "web_search_id",
	}[name]
	var b strings.Builder
	for _, n := range []string{"1", "10", "11", "30", "40", "50", "51"} {
		b.WriteString(`{"` + id + `": ` + n + `, "token_length": ` + n + "}\n")
	}
	return io.NopCloser(strings.NewReader(b.String())), nil
}

// FuzzRead holds what any input is read as to what the types promise, and its
// reshaped and written forms too.
func FuzzRead(f *testing.F) {
	for _, text := range examples(f) {
		f.Add([]byte(text))
	}
	for _, data := range packed(f, twoRows) {
		f.Add(data)
	}
	f.Add([]byte(`{"hash_ids","input_length"` + strings.Repeat("[", 100)))
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := Read(bytes.NewReader(data), "f", Options{MaxLine: 1 << 14, MaxBytes: 1 << 16, Open: dictionaries})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("error without its place: %v", err)
			}
			return
		}
		checkSound(t, tr)
		for _, made := range []*Trace{tr.Spread(1), tr.Superpose(Superposition{Seed: 1, MaxThink: 1}), tr.Prepare(Preparation{}), tr.CutSessions(1, 1)} {
			checkSound(t, made)
		}
		if cut := tr.CutTime(tr.Requests[len(tr.Requests)-1].At, maxMillis*1e6+1); len(cut.Requests) > 0 {
			checkSound(t, cut)
		}
		checkExpanded(t, tr)
		tr.Info()
		tr.LRUHit(3)
		checkWritten(t, tr)
	})
}

func checkExpanded(t *testing.T, tr *Trace) {
	t.Helper()
	e, err := tr.Expander(tr.BlockTokens)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tr.Requests {
		if got := len(e.Append(nil, &tr.Requests[i])); got != e.Len(&tr.Requests[i]) {
			t.Fatalf("row %d: %d small blocks, Len says %d", i, got, e.Len(&tr.Requests[i]))
		}
	}
}

// checkWritten reads back what is written.
func checkWritten(t *testing.T, tr *Trace) {
	t.Helper()
	global := tr.Superpose(Superposition{})
	for form, write := range map[string]func(io.Writer) error{
		"own": tr.WriteOwn, "csv": global.WriteCSV,
		"mooncake": func(w io.Writer) error {
			return global.WriteMooncake(w, MooncakeOptions{BlockTokens: global.BlockTokens})
		},
		"mooncake delays": func(w io.Writer) error {
			return global.WriteMooncake(w, MooncakeOptions{BlockTokens: global.BlockTokens, Delays: true})
		},
	} {
		total := 0
		for i := range tr.Requests {
			total += tr.Requests[i].Input / tr.BlockTokens
		}
		if total > 1<<16 && strings.HasPrefix(form, "mooncake") {
			continue // as many ids as the prompts are said to have
		}
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		back, err := Read(&b, form, Options{BlockTokens: tr.BlockTokens})
		if err != nil {
			t.Fatalf("%v\nof %+v", err, tr.Requests)
		}
		checkSound(t, back)
		if len(back.Requests) != len(tr.Requests) {
			t.Fatalf("%s: %d requests of %d came back", form, len(back.Requests), len(tr.Requests))
		}
	}
}

// checkSound holds a trace to what its types promise.
func checkSound(t *testing.T, tr *Trace) {
	t.Helper()
	if len(tr.Requests) == 0 || tr.BlockTokens < 1 {
		t.Fatalf("a trace of %d requests with blocks of %d", len(tr.Requests), tr.BlockTokens)
	}
	for i := range tr.Requests {
		r := &tr.Requests[i]
		if r.Input < 0 || r.Output < 0 || r.At < 0 || r.Line < 1 || r.Think < 0 || r.Think > 0 && r.After == nil {
			t.Fatalf("row %d: %+v", i, r)
		}
		if n := tr.Partial.ids(r.Input, tr.BlockTokens); len(r.Blocks) > n || tr.Partial == PartialCounted && len(r.Blocks) < n {
			t.Fatalf("row %d: %d blocks for %d tokens", i, len(r.Blocks), r.Input)
		}
		if int(r.Preamble) > len(r.Blocks) || r.Preamble < 0 {
			t.Fatalf("row %d: preamble of %d blocks of %d", i, r.Preamble, len(r.Blocks))
		}
		if i > 0 && r.At < tr.Requests[i-1].At {
			t.Fatalf("row %d is before row %d", i, i-1)
		}
		for _, a := range r.After {
			if int(a) >= i || a < 0 || tr.Requests[a].At > r.At {
				t.Fatalf("row %d follows row %d", i, a)
			}
		}
	}
	if n := tr.unchained(); n != 0 {
		t.Fatalf("%d ids under two predecessors", n)
	}
}
