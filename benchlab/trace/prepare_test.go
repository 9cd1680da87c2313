package trace

import (
	"slices"
	"strings"
	"testing"
)

// TestEmptyPrompts are filled with a token each, and told of; the recording stays
// as it is.
func TestEmptyPrompts(t *testing.T) {
	recorded := at(0, 10, 20)
	recorded.Requests[1].Input = 7
	got := recorded.Prepare(Preparation{})
	for i, want := range []int{1, 7, 1} {
		if got.Requests[i].Input != want {
			t.Errorf("prompt %d has %d tokens, want %d", i, got.Requests[i].Input, want)
		}
	}
	if !slices.ContainsFunc(got.Notes, func(n string) bool { return strings.HasPrefix(n, "empty prompts: 2;") }) {
		t.Errorf("notes are %q", got.Notes)
	}
	if recorded.Requests[0].Input != 0 || len(recorded.Notes) != 0 {
		t.Errorf("the recording was changed: %+v", recorded)
	}
	recorded.Requests[0].Input, recorded.Requests[2].Input = 1, 1
	if n := recorded.Prepare(Preparation{}).Notes; slices.ContainsFunc(n, func(n string) bool { return strings.Contains(n, "empty") }) {
		t.Errorf("notes without an empty prompt are %q", n)
	}
}

// TestCommonBlock holds that a few prompts that begin otherwise, an empty one for
// instance, do not make one session of all that share a system prompt.
func TestCommonBlock(t *testing.T) {
	tr := at(make([]int, 20)...)
	for i := range tr.Requests {
		tr.Requests[i].Input, tr.Requests[i].Blocks = 1024, []uint64{0, uint64(i + 1)}
	}
	tr.Requests[0].Input, tr.Requests[0].Blocks = 512, []uint64{0} // which all others extend
	tr.Requests[5] = Request{Line: 6}
	if got := tr.Prepare(Preparation{}).sessions(); got != 20 {
		t.Errorf("%d sessions, want 20", got)
	}
	for i := range 3 {
		tr.Requests[6+i].Blocks = []uint64{uint64(100 + i), uint64(200 + i)}
	}
	if got := tr.InferSessions(0).sessions(); got != 5 {
		t.Errorf("%d sessions of prompts that need not begin alike, want 5", got)
	}
}
