package trace

import (
	"fmt"
	"io"
	"strconv"

	"gatewayd/pkg/record"
)

// WriteOwn writes a trace in the own form (package record). Read gives back the
// same requests, but that rows which others wait for get an ID if they have none,
// and that block ids and session names are numbered anew.
func (t *Trace) WriteOwn(w io.Writer) error {
	h := record.Header{
		BlockTokens: t.BlockTokens, Partial: t.Partial == PartialCounted, NoClock: !t.Clock, LocalIDs: t.Scope == ScopeSession,
		Source: source(t), Notes: t.Notes,
	}
	out, err := record.NewWriter(w, h)
	if err != nil {
		return fmt.Errorf("write %s: %w", t.Name, err)
	}
	named := t.named(nil)
	number := numbering{}
	for i := range t.Requests {
		r := &t.Requests[i]
		l := record.Line{
			AtNS: int64(r.At), ID: named[i], Model: r.Model, Tenant: r.Tenant,
			PromptTokens: r.Input, OutputTokens: r.Output, ThinkNS: int64(r.Think),
			PreambleBlocks: int(r.Preamble), Agent: r.Agent, Blocks: number.own(t, r),
		}
		if r.Session != 0 {
			l.Session = strconv.FormatUint(r.Session, 10)
		}
		for _, a := range r.After {
			l.After = append(l.After, named[a])
		}
		if err := out.Write(&l); err != nil {
			return fmt.Errorf("write %s: %w", t.Name, err)
		}
	}
	return nil
}

// source says what a written trace was made from.
func source(t *Trace) string {
	if t.Origin != "" {
		return t.Origin
	}
	return fmt.Sprintf("made from %s (%s)", t.Name, t.Format)
}

// named lists the rows' IDs, with one for each row that another waits for. IDs
// that bad reports are left out.
func (t *Trace) named(bad func(id string) bool) []string {
	list, taken := make([]string, len(t.Requests)), map[string]bool{}
	for i := range t.Requests {
		if id := t.Requests[i].ID; bad == nil || !bad(id) {
			list[i] = id
			taken[id] = true
		}
	}
	for i := range t.Requests {
		for _, a := range t.Requests[i].After {
			for id := "row-" + strconv.Itoa(int(a)+1); list[a] == ""; id += "x" {
				if !taken[id] {
					list[a], taken[id] = id, true
				}
			}
		}
	}
	return list
}
