package trace

import (
	"bytes"
	"fmt"
	"time"

	"github.com/tidwall/gjson"
)

// Qwen-Bailian's form (github.com/alibaba-edu/qwen-bailian-usagetraces-anon): one
// JSON object a line with chat_id, parent_chat_id (-1 for the first turn of a
// conversation), timestamp (s), input_length, output_length, type, turn and
// hash_ids, one chained id for each 16 prompt tokens, a partial last block
// included. A conversation is a tree of chats.

const bailianBlockTokens = 16

func bailianFormat() format {
	return format{
		name:  "bailian",
		looks: "JSON lines with chat_id, parent_chat_id, timestamp, input_length, output_length and hash_ids",
		detect: func(line []byte) bool {
			return line[0] == '{' && bytes.Contains(line, []byte(`"chat_id"`)) && bytes.Contains(line, []byte(`"parent_chat_id"`))
		},
		read: readBailian,
	}
}

// chats is a Bailian file under way.
type chats struct {
	t       *Trace
	size    int
	rows    map[string]int32 // chat_id -> row
	orphans int              // chats whose parent no earlier row is
	turns   int              // with a parent
	strange ignored
}

func readBailian(l *lines) (*Trace, error) {
	size := l.o.BlockTokens
	if size == 0 {
		size = bailianBlockTokens
	}
	c := chats{size: size, rows: map[string]int32{}, t: &Trace{BlockTokens: size, Partial: PartialCounted, Scope: ScopeGlobal, Clock: true}}
	if err := l.each(c.add); err != nil {
		return nil, err
	}
	t := c.t
	if err := l.refuseUnordered(t.Requests, "timestamp"); err != nil {
		return nil, err
	}
	t.fromZero()
	if c.orphans > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("chats whose parent does not stand before them in the file: %d; each begins a session of its own", c.orphans))
	}
	if c.turns > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("think time of %d follow-ups is the time between arrivals, which holds the answer's time too", c.turns))
	}
	t.Notes = append(t.Notes, c.strange.notes()...)
	return t, nil
}

func (c *chats) add(line []byte, n int) error {
	var (
		r            Request
		seen         [6]bool
		id, parent   string
		strange      []string
		chat, father = "chat_id", "parent_chat_id"
	)
	err := object(line, seen[:], func(key string, v gjson.Result) (place int, err error) {
		switch key {
		case "timestamp":
			r.At, err = span(key, v, time.Second)
			return 0, err
		case "input_length":
			r.Input, err = tokens(key, v)
			return 1, err
		case "output_length":
			r.Output, err = tokens(key, v)
			return 2, err
		case "hash_ids":
			r.Blocks, err = ids(key, v)
			return 3, err
		case chat:
			id, err = name(key, v, "a number or a string")
			return 4, err
		case father:
			parent, err = name(key, v, "-1 if there is none")
			return 5, err
		case "turn", "type":
			return -1, nil // the parent tells the turn; the type changes nothing here
		}
		strange = append(strange, key)
		return -1, nil
	})
	if err != nil {
		return err
	}
	for i, name := range []string{"timestamp", "input_length", "output_length", "hash_ids", chat, father} {
		if !seen[i] {
			return problem{what: name + " is missing", hint: "every row needs timestamp, input_length, output_length, hash_ids, chat_id and parent_chat_id"}
		}
	}
	if err := checkIDs(&r, PartialCounted, c.size); err != nil {
		return err
	}
	c.strange.add(strange)
	r.ID, r.Line = string([]byte(unquoted(id))), n
	return c.place(r, id, parent)
}

// place gives a chat its session, which is that of its parent.
func (c *chats) place(r Request, id, parent string) error {
	row := int32(len(c.t.Requests))
	if other, ok := c.rows[id]; ok {
		return problem{what: fmt.Sprintf("chat_id %s is taken by line %d", clip(id), c.t.Requests[other].Line), hint: "give each chat an id of its own"}
	}
	before, known := c.rows[parent]
	switch {
	case known:
		b := &c.t.Requests[before]
		r.Session, r.After, r.Think = b.Session, []int32{before}, max(0, r.At-b.At)
		c.turns++
	case parent != "-1":
		c.orphans++
		fallthrough
	default:
		r.Session = uint64(len(c.rows) + 1 - c.turns)
	}
	c.rows[string([]byte(id))] = row
	c.t.Requests = append(c.t.Requests, r)
	return nil
}
