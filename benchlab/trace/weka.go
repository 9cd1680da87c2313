package trace

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Claude Code sessions, in the form of kv-cache-tester ("weka",
// github.com/callanjfox/kv-cache-tester, traces): one JSON object a line, which is
// a session, with its requests. Times count from the session's start, so sessions
// have no common clock, and ids of blocks mean something in one session only;
// Superpose makes one fleet's traffic of them. A partial last block has no id.
// Sub-agents are entries of type "subagent" with requests of their own.

func wekaFormat() format {
	return format{
		name:  "weka",
		looks: "JSON lines with id, block_size and requests, one session each",
		detect: func(line []byte) bool {
			return line[0] == '{' && bytes.Contains(line, []byte(`"block_size"`)) && bytes.Contains(line, []byte(`"requests"`))
		},
		read: readWeka,
	}
}

// weka is a file of sessions under way.
type weka struct {
	t        *Trace
	sessions map[string]int // id -> line
	sums     map[uint64]int // hash of a session without its id -> line
	seed     maphash.Seed   // of sums
	words    pool           // names of models
	copies   int            // sessions left out because they equal an earlier one
	unjoined int            // sub-agents that nobody waits for
	untimed  int            // requests that do not say how long their answer took
	global   int            // sessions whose ids mean the same in others
	absolute int            // sub-agents whose requests' times count from the session's start
	models   map[string]int // requests by model
	strange  ignored
}

func readWeka(l *lines) (*Trace, error) {
	w := weka{
		t:        &Trace{Partial: PartialDropped, Scope: ScopeSession},
		sessions: map[string]int{}, sums: map[uint64]int{}, seed: maphash.MakeSeed(), words: pool{}, models: map[string]int{},
	}
	w.t.Facts.Models = map[string]int{}
	if err := l.each(w.add); err != nil {
		return nil, err
	}
	return w.done(), nil
}

// add takes one session.
func (w *weka) add(line []byte, n int) error {
	s := wekaSession{w: w, line: n, number: uint64(len(w.sessions) + 1)}
	var seen [8]bool
	if err := object(line, seen[:], s.field); err != nil {
		return err
	}
	for i, name := range []string{"id", "block_size", "requests"} {
		if !seen[i] {
			return problem{what: name + " is missing", hint: "every session needs id, block_size and requests"}
		}
	}
	if other, ok := w.sessions[s.id]; ok {
		return problem{what: fmt.Sprintf("session %s is in line %d too", clip(s.id), other), hint: "keep one of the two"}
	}
	if size := w.t.BlockTokens; size != 0 && size != s.blockTokens {
		return problem{what: fmt.Sprintf("blocks of %d tokens, those of earlier sessions have %d", s.blockTokens, size), hint: "put sessions of one block size into one file"}
	}
	w.t.BlockTokens = s.blockTokens
	sum := maphash.String(w.seed, s.requests.Raw)
	if w.sums[sum] > 0 {
		w.copies++
		return nil
	}
	w.sums[sum] = n
	if err := s.read(); err != nil {
		return err
	}
	w.sessions[strings.Clone(s.id)] = n
	for _, m := range s.models {
		w.t.Facts.Models[w.words.one(m)]++
	}
	w.t.Facts.ToolTokens = append(w.t.Facts.ToolTokens, s.toolTokens)
	w.t.Facts.SystemTokens = append(w.t.Facts.SystemTokens, s.systemTokens)
	return nil
}

// done orders the requests of all sessions by the time since their session's
// start.
func (w *weka) done() *Trace {
	t := w.t
	t.Requests, _ = sorted(t.Requests)
	note := func(format string, args ...any) { t.Notes = append(t.Notes, fmt.Sprintf(format, args...)) }
	note("%d sessions have no common clock: times count from the start of each", len(w.sessions))
	if w.copies > 0 {
		note("%d sessions equal an earlier one in all requests; left out", w.copies)
	}
	if w.global > 0 {
		note("%d sessions say that their ids mean the same in others; compared inside sessions only", w.global)
	}
	if n := t.Facts.Subagents; n > 0 {
		note("%d sub-agents: their time is when they ended, so they start their duration earlier; those with one start run in parallel and the next request of their session waits for all", n)
	}
	if w.absolute > 0 {
		note("%d sub-agents give times from the start of the session, not from their own", w.absolute)
	}
	if w.unjoined > 0 {
		note("%d sub-agents end after their session's last request: nobody waits for them", w.unjoined)
	}
	if w.untimed > 0 {
		note("%d requests do not say how long their answer took", w.untimed)
	}
	if len(w.models) > 1 {
		note("requests name %d models (%s); a lab with one model serves them all with it", len(w.models), strings.Join(commonest(w.models, 4), ", "))
	}
	t.Notes = append(t.Notes, w.strange.notes()...)
	return t
}

// commonest lists the n names with the largest counts.
func commonest(counts map[string]int, n int) (list []string) {
	byCount := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for _, k := range byCount[:min(n, len(byCount))] {
		list = append(list, fmt.Sprintf("%s %d", clip(k), counts[k]))
	}
	return list
}

// wekaTime reads seconds from the start of a session or a sub-agent.
func wekaTime(key string, v gjson.Result) (time.Duration, error) { return span(key, v, time.Second) }
