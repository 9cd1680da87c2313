package trace

import (
	"bytes"
	"fmt"
	"time"

	"github.com/tidwall/gjson"
)

// RAGPulse's form (github.com/flashserve/RAGPulse): one JSON object a line with
// timestamp (a string, s), input_length, output_length, session_id and hash_ids,
// an object with lists of ids of the parts that make up the prompt: sys_prompt,
// passages_ids, history, web_search, user_input. Five dictionaries beside the
// trace give the length of each part. The joined parts are some tokens shorter
// than the prompt, which is the template's.
//
// The reader turns a prompt's parts into blocks of ragBlockTokens: block i's id
// stands for all parts up to and including the one that block i ends in, so equal
// ids mean equal prefixes as everywhere.

const (
	ragBlockTokens = 16
	ragWeek        = 7 * 24 * time.Hour
)

func ragpulseFormat() format {
	return format{
		name:  "ragpulse",
		looks: "JSON lines with timestamp, input_length, output_length and an object hash_ids with sys_prompt and passages_ids",
		detect: func(line []byte) bool {
			return line[0] == '{' && bytes.Contains(line, []byte(`"sys_prompt"`)) && bytes.Contains(line, []byte(`"passages_ids"`))
		},
		read: readRAGPulse,
	}
}

// rag is a RAGPulse file under way.
type rag struct {
	t        *Trace
	parts    parts
	sessions names
	last     time.Duration // At of the row before
	shift    time.Duration // added to the recorded times
	falls    []string      // where the clock fell back
	longer   int           // rows whose parts are longer than the prompt
	strange  ignored
}

func readRAGPulse(l *lines) (*Trace, error) {
	g := rag{sessions: names{}, t: &Trace{BlockTokens: ragBlockTokens, Partial: PartialDropped, Scope: ScopeGlobal, Clock: true}}
	var err error
	if g.parts, err = openParts(l); err != nil {
		return nil, err
	}
	if err := l.each(g.add); err != nil {
		return nil, err
	}
	return g.done(), nil
}

func (g *rag) add(line []byte, n int) error {
	var (
		r       = Request{Line: n}
		seen    [5]bool
		session string
		lists   gjson.Result
		strange []string
	)
	err := object(line, seen[:], func(key string, v gjson.Result) (place int, err error) {
		switch key {
		case "timestamp":
			r.At, err = spanText(key, v.String(), time.Second)
			return 0, err
		case "input_length":
			r.Input, err = tokens(key, v)
			return 1, err
		case "output_length":
			r.Output, err = tokens(key, v)
			return 2, err
		case "hash_ids":
			lists = v
			return 3, nil
		case "session_id":
			session, err = name(key, v, "a number or a string")
			return 4, err
		}
		strange = append(strange, key)
		return -1, nil
	})
	if err != nil {
		return err
	}
	for i, name := range []string{"timestamp", "input_length", "output_length", "hash_ids", "session_id"} {
		if !seen[i] {
			return problem{what: name + " is missing", hint: "every row needs timestamp, input_length, output_length, hash_ids and session_id"}
		}
	}
	if err := g.parts.read(lists); err != nil {
		return err
	}
	if r.Blocks = g.parts.blocks(r.Input); g.parts.length > r.Input {
		g.longer++
	}
	g.strange.add(strange)
	r.Session = g.sessions.number(session)
	return g.append(r)
}

// append puts a row on the time line. The origin's file is two recordings, one
// after the other, each of a week and with a clock from 0.
func (g *rag) append(r Request) error {
	if r.At += g.shift; len(g.t.Requests) > 0 && r.At < g.last {
		fall := g.last - r.At
		if fall < ragWeek/2 {
			return problem{what: fmt.Sprintf("timestamp goes back by %v", fall), hint: "sort the rows by timestamp first"}
		}
		weeks := (fall + ragWeek - 1) / ragWeek
		g.shift += weeks * ragWeek
		r.At += weeks * ragWeek
		if r.At > maxMillis*time.Millisecond {
			return problem{what: "the clock falls back too often", hint: "is this one trace?"}
		}
		g.falls = append(g.falls, fmt.Sprintf("the clock falls back by %v in line %d, after row %d: a second recording; its times were moved by %d days", fall, r.Line, len(g.t.Requests), weeks*7))
	}
	g.last = r.At
	g.t.Requests = append(g.t.Requests, r)
	return nil
}

func (g *rag) done() *Trace {
	t := g.t
	t.File.Unordered = len(g.falls) > 0
	t.Notes = append(t.Notes, g.falls[:min(len(g.falls), 8)]...)
	t.Facts.Parts = g.parts.facts()
	t.Notes = append(t.Notes, fmt.Sprintf("prompts are made of parts in recorded order, as blocks of %d tokens; %s", ragBlockTokens, g.parts.order()))
	if g.longer > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d prompts are shorter than their parts: ids end with the prompt", g.longer))
	}
	t.link(nil)
	t.fromZero()
	t.Notes = append(t.Notes, g.strange.notes()...)
	return t
}
