package trace

import (
	"slices"
	"time"

	"github.com/tidwall/gjson"
)

// wekaAgent is who sends one request after the other: the session itself, or a
// sub-agent.
type wekaAgent struct {
	s        *wekaSession
	sub      bool
	start    time.Duration // of the agent, from the session's start
	spawner  int32         // row whose answer started it, -1 if there is none
	preamble int           // tokens of tools and system prompt
	first    []uint64      // ids of the first prompt
	last     int32         // row sent last
	sent     int
	ended    []int32       // last rows of sub-agents since then, which the next row waits for
	end      time.Duration // when the last of these ended
	waiting  int           // how many sub-agents these are
}

// entry takes the next entry of the agent's requests.
func (a *wekaAgent) entry(v gjson.Result) error {
	if v.Get("type").Str == "subagent" {
		if a.sub {
			return problem{what: "a sub-agent of a sub-agent", hint: "this reader knows one level", column: v.Index + 1}
		}
		return a.spawn(v)
	}
	row := wekaRow{Request: Request{Session: a.s.number, Line: a.s.line, Agent: a.sub}}
	var seen [8]bool
	var strange []string
	err := fields(v, seen[:], func(key string, v gjson.Result) (int, error) { return row.field(key, v, &strange) })
	if err != nil {
		return err
	}
	for i, name := range []string{"t", "in", "out", "hash_ids"} {
		if !seen[i] {
			return problem{what: name + " is missing", hint: "every request needs t, in, out and hash_ids", column: v.Index + 1}
		}
	}
	if err := checkIDs(&row.Request, PartialDropped, a.s.blockTokens); err != nil {
		return err
	}
	row.At += a.start
	a.s.w.strange.add(strange)
	row.Model = a.s.w.words.one(row.Model)
	a.s.w.models[row.Model]++
	if row.hasThink {
		a.s.w.t.Facts.Thinks = append(a.s.w.t.Facts.Thinks, row.think)
	}
	if !row.timed {
		a.s.w.untimed++
	}
	return a.send(row, v)
}

// send puts a row behind the agent's rows and the sub-agents that ended.
func (a *wekaAgent) send(row wekaRow, v gjson.Result) error {
	before := a.spawner
	if a.sent > 0 {
		before = a.last
	}
	if before >= 0 {
		b := &a.s.rows[before]
		if row.At < b.At {
			return problem{what: "t goes back", hint: "requests of an agent stand in order of time", column: v.Index + 1}
		}
		row.After = []int32{before}
		switch end := max(b.At+b.took, a.end); {
		case len(a.ended) > 0:
			row.Think = max(0, row.At-end)
		case row.hasThink && a.sent > 0:
			row.Think = row.think
		default:
			row.Think = max(0, row.At-end)
		}
	}
	for _, e := range a.ended {
		if a.s.rows[e].At <= row.At {
			row.After = append(row.After, e)
		}
	}
	slices.Sort(row.After)
	a.ended, a.end, a.waiting = nil, 0, 0
	if a.sent == 0 {
		a.first = row.Blocks[:min(len(row.Blocks), a.preamble/a.s.blockTokens)]
	}
	for int(row.Preamble) < min(len(a.first), len(row.Blocks)) && row.Blocks[row.Preamble] == a.first[row.Preamble] {
		row.Preamble++
	}
	a.last = int32(len(a.s.rows))
	a.sent++
	a.s.rows = append(a.s.rows, row)
	return nil
}

// spawn takes a sub-agent, which was written down when it ended.
func (a *wekaAgent) spawn(v gjson.Result) error {
	end, err := wekaTime("t", v.Get("t"))
	if err != nil {
		return err
	}
	took, err := span("duration_ms", v.Get("duration_ms"), time.Millisecond)
	if err != nil {
		return err
	}
	var length [2]int
	for i, key := range []string{"tool_tokens", "system_tokens"} {
		if n := v.Get(key); n.Exists() {
			if length[i], err = tokens(key, n); err != nil {
				return err
			}
		}
	}
	sub := wekaAgent{s: a.s, sub: true, spawner: -1, start: end - took, preamble: length[0] + length[1]}
	if sub.start < 0 { // then t cannot be when it ended
		sub.start, end = end, end+took
	}
	for k := len(a.s.rows) - 1; k >= 0; k-- { // the latest of the session's own requests before it
		if r := &a.s.rows[k]; !r.Agent && r.At <= sub.start {
			sub.spawner = int32(k)
			break
		}
	}
	if first := v.Get("requests.0.t"); first.Num > took.Seconds() && first.Num >= sub.start.Seconds()-1 {
		sub.start = 0
		a.s.w.absolute++
	}
	list := v.Get("requests")
	list.Index += v.Index
	if err := each(list, sub.entry); err != nil {
		return err
	}
	a.s.w.t.Facts.Subagents++
	if sub.sent > 0 {
		a.ended = append(a.ended, sub.last)
		a.end = max(a.end, end)
		a.waiting++
	}
	return nil
}

// field reads one field of a request.
func (row *wekaRow) field(key string, v gjson.Result, strange *[]string) (place int, err error) {
	switch key {
	case "t":
		row.At, err = wekaTime(key, v)
		return 0, err
	case "in":
		row.Input, err = tokens(key, v)
		return 1, err
	case "out":
		row.Output, err = tokens(key, v)
		return 2, err
	case "hash_ids":
		row.Blocks, err = ids(key, v)
		return 3, err
	case "model":
		row.Model, err = name(key, v, "a string")
		row.Model = unquoted(row.Model)
		return 4, err
	case "api_time":
		row.took, err = wekaTime(key, v)
		row.timed = true
		return 5, err
	case "think_time":
		row.think, err = wekaTime(key, v)
		row.hasThink = true
		return 6, err
	case "type", "input_types", "output_types", "stop", "ttft":
		return -1, nil // of no use here
	}
	*strange = append(*strange, key)
	return -1, nil
}
