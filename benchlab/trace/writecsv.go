package trace

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// The CSV form has one row a request and these columns; a reader needs the first
// three.
const (
	csvArrival = "arrival_s"
	csvInput   = "input_tokens"
	csvOutput  = "output_tokens"
	csvSession = "session"
	csvID      = "id"
	csvAfter   = "after" // ids of requests whose answers came first, with spaces between
	csvThink   = "think_s"
	csvTenant  = "tenant"
	csvModel   = "model"
	csvSize    = "block_tokens"
	csvBlocks  = "blocks" // ids, with spaces between
)

func csvHeads() []string {
	return []string{csvArrival, csvInput, csvOutput, csvSession, csvID, csvAfter, csvThink, csvTenant, csvModel, csvSize, csvBlocks}
}

// WriteCSV writes a trace as CSV. It refuses a trace without a clock (Superpose it
// first).
func (t *Trace) WriteCSV(w io.Writer) error {
	if t.Scope == ScopeSession {
		return fmt.Errorf("write %s: sessions have no common clock; superpose them first", t.Name)
	}
	buffer := bufio.NewWriterSize(w, 1<<16)
	out := csv.NewWriter(buffer)
	if err := out.Write(csvHeads()); err != nil {
		return fmt.Errorf("write %s: %w", t.Name, err)
	}
	named := t.named(func(id string) bool { return oneLine(id) != id || strings.Contains(id, " ") })
	var number numbering
	var text strings.Builder
	for i := range t.Requests {
		r := &t.Requests[i]
		text.Reset()
		for k, id := range number.own(t, r) {
			if k > 0 {
				text.WriteByte(' ')
			}
			text.WriteString(strconv.FormatUint(id, 10))
		}
		var after []string
		for _, a := range r.After {
			after = append(after, named[a])
		}
		session, think := "", ""
		if r.Session != 0 {
			session = strconv.FormatUint(r.Session, 10)
		}
		if after != nil {
			think = decimalOf(r.Think, time.Second).String()
		}
		err := out.Write([]string{
			decimalOf(r.At, time.Second).String(), strconv.Itoa(r.Input), strconv.Itoa(r.Output), session, named[i],
			strings.Join(after, " "), think, oneLine(r.Tenant), oneLine(r.Model), strconv.Itoa(t.BlockTokens), text.String(),
		})
		if err != nil {
			return fmt.Errorf("write %s: %w", t.Name, err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write %s: %w", t.Name, err)
	}
	if err := buffer.Flush(); err != nil {
		return fmt.Errorf("write %s: %w", t.Name, err)
	}
	return nil
}

// oneLine keeps a name in its row.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
