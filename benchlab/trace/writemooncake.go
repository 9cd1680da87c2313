package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// MooncakeOptions change what WriteMooncake writes. The zero value is what most
// tools read.
type MooncakeOptions struct {
	BlockTokens int // of a block; 0 is 512
	// Delays writes, in place of their timestamps, how long after which answer
	// requests were sent: delay, and where sessions are more than one turn after the
	// other, request_id and wait_for too.
	Delays bool
}

type mooncakeLine struct {
	Timestamp json.Number `json:"timestamp,omitempty"`
	Input     int         `json:"input_length"`
	Output    int         `json:"output_length"`
	Blocks    []uint64    `json:"hash_ids"`
	Session   string      `json:"session_id,omitempty"`
	Delay     json.Number `json:"delay,omitempty"`
	ID        string      `json:"request_id,omitempty"`
	WaitFor   []string    `json:"wait_for,omitempty"`
}

// WriteMooncake writes a trace in Mooncake's form. It refuses a trace without a
// clock (Superpose it first) and a block size that cannot be made of the trace's.
func (t *Trace) WriteMooncake(w io.Writer, o MooncakeOptions) error {
	if o.BlockTokens == 0 {
		o.BlockTokens = mooncakeBlockTokens
	}
	if err := t.Regroups(o.BlockTokens); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if t.Scope == ScopeSession {
		return fmt.Errorf("write %s: sessions have no common clock; superpose them first", t.Name)
	}
	out := bufio.NewWriterSize(w, 1<<16)
	enc := json.NewEncoder(out)
	var number numbering
	graph := o.Delays && !t.turnByTurn()
	known := t.sessions() > 0
	var named []string
	if graph {
		named = t.named(nil)
	}
	for i := range t.Requests {
		r := &t.Requests[i]
		l := mooncakeLine{Input: r.Input, Output: r.Output, Blocks: number.regrouped(t, r, o.BlockTokens)}
		if l.Blocks == nil {
			l.Blocks = []uint64{}
		}
		switch {
		case r.Session != 0:
			l.Session = strconv.FormatUint(r.Session, 10)
		case known: // all rows have a session or none has
			l.Session = "alone-" + strconv.Itoa(i+1)
		}
		if o.Delays && len(r.After) > 0 {
			l.Delay = decimalOf(r.Think, time.Millisecond)
		} else {
			l.Timestamp = decimalOf(r.At, time.Millisecond)
		}
		if graph {
			l.ID = named[i]
			for _, a := range r.After {
				l.WaitFor = append(l.WaitFor, named[a])
			}
		}
		if err := enc.Encode(&l); err != nil {
			return fmt.Errorf("write %s: %w", t.Name, err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write %s: %w", t.Name, err)
	}
	return nil
}

// turnByTurn reports whether each row of a session follows the row of the session
// before it, and no other.
func (t *Trace) turnByTurn() bool {
	last := map[uint64]int32{}
	for i := range t.Requests {
		r := &t.Requests[i]
		before, ok := last[r.Session]
		if r.Session == 0 {
			ok = false
		}
		if ok != (len(r.After) == 1) || len(r.After) > 1 || ok && r.After[0] != before {
			return false
		}
		last[r.Session] = int32(i)
	}
	return true
}

// decimalOf writes a time that is not negative in units, exactly.
func decimalOf(d, unit time.Duration) json.Number {
	digits := len(strconv.FormatInt(int64(unit), 10)) - 1
	s := fmt.Sprintf("%d.%0*d", d/unit, digits, d%unit)
	return json.Number(strings.TrimRight(strings.TrimRight(s, "0"), "."))
}
