package trace

import (
	"bytes"
	"fmt"
	"time"
)

// BurstGPT's form (github.com/HPMLL/BurstGPT): CSV with Timestamp (s), Model,
// Request tokens, Response tokens, Total tokens and Log Type, and from version 1.2
// on Session ID and Elapsed time (s, how long the answer took). A request that
// failed has no response tokens.

const (
	burstTime    = "Timestamp"
	burstIn      = "Request tokens"
	burstOut     = "Response tokens"
	burstTotal   = "Total tokens"
	burstModel   = "Model"
	burstKind    = "Log Type"
	burstSession = "Session ID"
	burstElapsed = "Elapsed time"
)

func burstFormat() format {
	return format{
		name:  "burstgpt",
		looks: "CSV with Timestamp, Model, Request tokens and Response tokens",
		detect: func(line []byte) bool {
			return bytes.Contains(line, []byte(burstIn)) && bytes.Contains(line, []byte(burstOut))
		},
		read: readBurst,
	}
}

func readBurst(l *lines) (*Trace, error) {
	s, err := openSheet(l, burstTime, burstModel, burstIn, burstOut)
	if err != nil {
		return nil, err
	}
	b := burst{s: s, sessions: names{}, words: pool{}}
	b.t = &Trace{BlockTokens: lengthsOnlyBlock, Partial: PartialDropped, Scope: ScopeNone, Clock: true}
	for {
		ok, err := s.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		if err := b.add(); err != nil {
			return nil, err
		}
	}
	if err := l.refuseUnordered(b.t.Requests, burstTime); err != nil {
		return nil, err
	}
	return b.done(), nil
}

// burst is a BurstGPT file under way.
type burst struct {
	s        *sheet
	t        *Trace
	sessions names
	words    pool
	elapsed  []time.Duration // how long each answer took; -1: not recorded
	failed   int
	sums     int // rows whose total is not the sum
}

func (b *burst) add() (err error) {
	s, r := b.s, Request{Line: b.s.l.n, Model: b.words.one(b.s.cell(burstModel))}
	if r.At, err = spanText(burstTime, s.cell(burstTime), time.Second); err != nil {
		return s.refuse(burstTime, err)
	}
	if r.Input, err = tokensText(burstIn, s.cell(burstIn)); err != nil {
		return s.refuse(burstIn, err)
	}
	if r.Output, err = tokensText(burstOut, s.cell(burstOut)); err != nil {
		return s.refuse(burstOut, err)
	}
	if text := s.cell(burstTotal); text != "" {
		total, err := tokensText(burstTotal, text)
		if err != nil {
			return s.refuse(burstTotal, err)
		}
		if total != r.Input+r.Output {
			b.sums++
		}
	}
	took := time.Duration(-1)
	if text := s.cell(burstElapsed); text != "" {
		if took, err = spanText(burstElapsed, text, time.Second); err != nil {
			return s.refuse(burstElapsed, err)
		}
	}
	if session := s.cell(burstSession); session != "" {
		r.Session = b.sessions.number(session)
	}
	if r.Output == 0 {
		b.failed++
	}
	b.elapsed = append(b.elapsed, took)
	b.t.Requests = append(b.t.Requests, r)
	return nil
}

func (b *burst) done() *Trace {
	t := b.t
	t.link(func(row int32) (time.Duration, bool) { return max(0, b.elapsed[row]), b.elapsed[row] >= 0 })
	t.fromZero()
	t.Notes = append(t.Notes, noPrefixes)
	if b.failed > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d requests have no response tokens, so they failed when they were recorded; kept, with empty answers", b.failed))
	}
	if b.sums > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d rows have a total that is not the sum of their tokens; the total is not used", b.sums))
	}
	if list := b.s.others(burstTime, burstModel, burstIn, burstOut, burstTotal, burstKind, burstSession, burstElapsed); len(list) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("columns ignored: %q", list))
	}
	return t
}
