package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gatewayd/pkg/record"
)

// The own form is that of package record: a header, then one JSON object a
// request in the order in which requests ended. The gateway cuts prompts into
// blocks of bytes; how many tokens these are is known from the worker's counts.

func ownFormat() format {
	return format{
		name:  "own",
		looks: "JSON lines that begin with a header " + `{"format":"` + record.Format + `"}`,
		detect: func(line []byte) bool {
			return line[0] == '{' && bytes.Contains(line, []byte(`"gatewayd.record/`))
		},
		read: readOwn,
	}
}

// own is a recording under way.
type own struct {
	t        *Trace
	header   record.Header
	rows     []ownRow
	sessions names
	tenants  pool
	ids      map[string]int32

	bytes, tokens int // of prompts whose tokens a worker counted
	guessed       int // prompts that no worker counted
	failed        int // requests that did not complete
	dropped       int // requests that were not written down
}

// ownRow is what a line says besides the request.
type ownRow struct {
	after []string
	took  time.Duration
	bytes int
}

func readOwn(l *lines) (*Trace, error) {
	o := own{sessions: names{}, tenants: pool{}, ids: map[string]int32{}}
	line, _, err := l.next()
	if err != nil {
		return nil, err
	}
	if err := o.head(line); err != nil {
		return nil, l.refuse(err)
	}
	if err := l.each(o.add); err != nil {
		return nil, err
	}
	return o.done(l)
}

func (o *own) head(line []byte) error {
	if err := decode(line, &o.header); err != nil {
		return err
	}
	h := &o.header
	switch {
	case h.Format != record.Format:
		return problem{what: "format " + clip(h.Format), hint: "this reader knows " + record.Format}
	case (h.BlockTokens > 0) == (h.BlockBytes > 0), h.BlockTokens < 0, h.BlockBytes < 0, h.BlockTokens > maxBlockTokens, h.BlockBytes > maxBlockBytes:
		return problem{what: "the header states no sound block size", hint: fmt.Sprintf("block_bytes from 1 to %d or block_tokens from 1 to %d", maxBlockBytes, maxBlockTokens)}
	}
	o.t = &Trace{BlockTokens: h.BlockTokens, Partial: PartialDropped, Scope: ScopeGlobal, Clock: !h.NoClock, Origin: clip(h.Source)}
	if h.Partial {
		o.t.Partial = PartialCounted
	}
	if h.LocalIDs {
		o.t.Scope = ScopeSession
	}
	for _, n := range h.Notes[:min(len(h.Notes), 32)] {
		o.t.Notes = append(o.t.Notes, strings.ToValidUTF8(n, "?"))
	}
	return nil
}

const maxBlockBytes = 1 << 20

func (o *own) add(line []byte, n int) error {
	var v record.Line
	if err := decode(line, &v); err != nil {
		return err
	}
	for _, d := range []struct {
		name string
		ns   int64
	}{{"at_ns", v.AtNS}, {"e2e_ns", v.E2ENS}, {"think_ns", v.ThinkNS}} {
		if d.ns < 0 || d.ns > maxMillis*1e6 {
			return problem{what: fmt.Sprintf("%s is negative or more than 90 years: %d", d.name, d.ns), hint: "nanoseconds"}
		}
	}
	if min(v.PromptTokens, v.OutputTokens, v.PromptBytes, v.PreambleBlocks) < 0 || max(v.PromptTokens, v.OutputTokens, v.PromptBytes, v.PreambleBlocks) > maxTokens {
		return problem{what: "a length is negative or out of range", hint: fmt.Sprintf("whole numbers from 0 to %d", maxTokens)}
	}
	r := Request{
		At: time.Duration(v.AtNS), Input: v.PromptTokens, Output: v.OutputTokens, Blocks: v.Blocks, Line: n,
		Think: time.Duration(v.ThinkNS), ID: v.ID, Tenant: o.tenants.one(v.Tenant), Model: o.tenants.one(v.Model),
		Preamble: int32(min(v.PreambleBlocks, len(v.Blocks))), Agent: v.Agent,
	}
	if v.Session != "" {
		r.Session = o.sessions.number(v.Session)
	}
	if v.ID != "" {
		if _, ok := o.ids[v.ID]; ok {
			return problem{what: fmt.Sprintf("id %q is taken by an earlier line", clip(v.ID)), hint: "give each request an id of its own"}
		}
		o.ids[v.ID] = int32(len(o.rows))
	}
	if o.header.BlockTokens > 0 {
		if err := o.fits(&r); err != nil {
			return err
		}
	}
	switch {
	case v.Estimated:
		o.guessed++
	default:
		o.bytes += v.PromptBytes
		o.tokens += v.PromptTokens
	}
	if v.Outcome != "" && v.Outcome != record.Completed || v.Status >= 400 {
		o.failed++
	}
	o.dropped += max(0, min(v.Dropped, maxTokens-o.dropped))
	o.rows = append(o.rows, ownRow{after: v.After, took: time.Duration(v.E2ENS), bytes: v.PromptBytes})
	o.t.Requests = append(o.t.Requests, r)
	return nil
}

// fits refuses ids that the prompt has no room for.
func (o *own) fits(r *Request) error {
	want := o.t.Partial.ids(r.Input, o.t.BlockTokens)
	if len(r.Blocks) == want || o.t.Partial == PartialDropped && len(r.Blocks) < want {
		return nil
	}
	return problem{what: fmt.Sprintf("%d blocks for %d prompt tokens, at most %d expected", len(r.Blocks), r.Input, want), hint: fmt.Sprintf("blocks of %d tokens, as the header says", o.t.BlockTokens)}
}

// decode reads a line into v.
func decode(line []byte, v any) error {
	err := json.Unmarshal(line, v)
	if err == nil {
		return nil
	}
	p := problem{what: err.Error(), hint: "as docs/traces.md describes the form"}
	switch e := err.(type) {
	case *json.SyntaxError:
		p.what, p.column = "not JSON: "+p.what, int(e.Offset)
	case *json.UnmarshalTypeError:
		p.column = int(e.Offset)
	}
	return p
}
