package trace

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

func csvFormat() format {
	return format{
		name:  "csv",
		looks: "CSV with " + csvArrival + ", " + csvInput + " and " + csvOutput,
		detect: func(line []byte) bool {
			return bytes.Contains(line, []byte(csvArrival)) && bytes.Contains(line, []byte(csvInput))
		},
		read: readCSV,
	}
}

// table is a file in the CSV form under way. It is a recording with the names of
// columns for those of fields.
type table struct {
	s *sheet
	own
	floor bool // a prompt has no id for its partial last block
}

func readCSV(l *lines) (*Trace, error) {
	s, err := openSheet(l, csvArrival, csvInput, csvOutput)
	if err != nil {
		return nil, err
	}
	b := table{s: s, own: own{sessions: names{}, tenants: pool{}, ids: map[string]int32{}}}
	b.t = &Trace{Partial: PartialCounted, Scope: ScopeGlobal, Clock: true}
	for {
		ok, err := s.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		if head, err := b.row(); err != nil {
			return nil, s.refuse(head, err)
		}
	}
	if b.floor {
		b.t.Partial = PartialDropped
	}
	for i := range b.t.Requests {
		if r := &b.t.Requests[i]; len(r.Blocks) > b.t.Partial.ids(r.Input, b.t.BlockTokens) {
			return nil, l.refuseRow(r.Line, fmt.Sprintf("%d blocks for %d prompt tokens", len(r.Blocks), r.Input), fmt.Sprintf("one id for each %d tokens", b.t.BlockTokens))
		}
	}
	if list := s.others(csvHeads()...); len(list) > 0 {
		b.t.Notes = append(b.t.Notes, fmt.Sprintf("columns ignored: %q", list))
	}
	return b.done(l)
}

// row takes a row; head is the column that an error is about.
func (b *table) row() (head string, err error) {
	s, r, o := b.s, Request{Line: b.s.l.n}, ownRow{}
	if r.At, err = spanText(csvArrival, s.cell(csvArrival), time.Second); err != nil {
		return csvArrival, err
	}
	if r.Input, err = tokensText(csvInput, s.cell(csvInput)); err != nil {
		return csvInput, err
	}
	if r.Output, err = tokensText(csvOutput, s.cell(csvOutput)); err != nil {
		return csvOutput, err
	}
	if text := s.cell(csvThink); text != "" {
		if r.Think, err = spanText(csvThink, text, time.Second); err != nil {
			return csvThink, err
		}
	}
	if text := s.cell(csvSession); text != "" {
		r.Session = b.sessions.number(text)
	}
	if r.ID = strings.Clone(s.cell(csvID)); r.ID != "" {
		if _, ok := b.ids[r.ID]; ok {
			return csvID, problem{what: fmt.Sprintf("id %q is taken by an earlier row", clip(r.ID)), hint: "give each request an id of its own"}
		}
		b.ids[r.ID] = int32(len(b.rows))
	}
	o.after = strings.Fields(strings.Clone(s.cell(csvAfter)))
	r.Tenant, r.Model = b.tenants.one(s.cell(csvTenant)), b.tenants.one(s.cell(csvModel))
	if head, err := b.blocks(&r); err != nil {
		return head, err
	}
	b.rows = append(b.rows, o)
	b.t.Requests = append(b.t.Requests, r)
	return "", nil
}

// blocks reads the ids of a row and learns how the file treats the last one.
func (b *table) blocks(r *Request) (head string, err error) {
	size := lengthsOnlyBlock
	if text := b.s.cell(csvSize); text != "" {
		if size, err = tokensText(csvSize, text); err != nil || size < 1 || size > maxBlockTokens {
			return csvSize, problem{what: "no sound block size: " + clip(text), hint: fmt.Sprintf("1 to %d tokens", maxBlockTokens)}
		}
	}
	if b.t.BlockTokens == 0 {
		b.t.BlockTokens = size
	}
	if size != b.t.BlockTokens {
		return csvSize, problem{what: fmt.Sprintf("blocks of %d tokens, those of earlier rows have %d", size, b.t.BlockTokens), hint: "one size a file"}
	}
	for text := range strings.FieldsSeq(b.s.cell(csvBlocks)) {
		id, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return csvBlocks, problem{what: csvBlocks + " holds " + clip(text), hint: "whole numbers from 0 to 2^64-1, with spaces between"}
		}
		r.Blocks = append(r.Blocks, id)
	}
	b.floor = b.floor || len(r.Blocks) < PartialCounted.ids(r.Input, size)
	return "", nil
}
