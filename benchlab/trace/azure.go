package trace

import (
	"bytes"
	"fmt"
	"time"
)

// Azure's form (github.com/Azure/AzurePublicDataset, LLM inference traces): CSV
// with TIMESTAMP (a date and time, up to nine digits of a second, with or without
// an offset from UTC), ContextTokens and GeneratedTokens, lines ending in CR LF.
// It has arrivals and lengths only: no prompt has anything in common with
// another. Dates give nothing but the distance between rows.

const (
	azureTime    = "TIMESTAMP"
	azureContext = "ContextTokens"
	azureOutput  = "GeneratedTokens"
)

func azureFormat() format {
	return format{
		name:  "azure",
		looks: "CSV with TIMESTAMP, ContextTokens and GeneratedTokens",
		detect: func(line []byte) bool {
			return bytes.HasPrefix(line, []byte(azureTime)) && bytes.Contains(line, []byte(azureContext))
		},
		read: readAzure,
	}
}

func readAzure(l *lines) (*Trace, error) {
	s, err := openSheet(l, azureTime, azureContext, azureOutput)
	if err != nil {
		return nil, err
	}
	t := &Trace{BlockTokens: lengthsOnlyBlock, Partial: PartialDropped, Scope: ScopeNone, Clock: true}
	var start time.Time
	for {
		ok, err := s.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		text := s.cell(azureTime)
		at, err := date(text)
		if err != nil {
			return nil, s.refuse(azureTime, err)
		}
		if len(t.Requests) == 0 {
			start, t.Facts.First = at, text
		}
		t.Facts.Last = text
		r := Request{At: at.Sub(start), Line: l.n}
		if r.At > maxMillis*time.Millisecond || r.At < -maxMillis*time.Millisecond {
			return nil, s.refuse(azureTime, problem{what: "the date is centuries away from the first row's", hint: "correct it"})
		}
		if r.Input, err = tokensText(azureContext, s.cell(azureContext)); err != nil {
			return nil, s.refuse(azureContext, err)
		}
		if r.Output, err = tokensText(azureOutput, s.cell(azureOutput)); err != nil {
			return nil, s.refuse(azureOutput, err)
		}
		t.Requests = append(t.Requests, r)
	}
	if err := l.refuseUnordered(t.Requests, azureTime); err != nil {
		return nil, err
	}
	t.Facts.First, t.Facts.Last = string([]byte(t.Facts.First)), string([]byte(t.Facts.Last))
	t.Notes = append(t.Notes, noPrefixes, fmt.Sprintf("dates from %s to %s as written; descriptions of this data name other days: only the distances are used", clip(t.Facts.First), clip(t.Facts.Last)))
	ignored := s.others(azureTime, azureContext, azureOutput)
	if len(ignored) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("columns ignored: %q", ignored))
	}
	return t, nil
}

// lengthsOnlyBlock is the block size of formats without block ids. It divides
// what engines use.
const lengthsOnlyBlock = 16

const noPrefixes = "the format does not say which prompts have what in common: no prompt is ever served from a cache"

// date reads a date and time with up to nine digits of a second.
func date(text string) (time.Time, error) {
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z07:00"} {
		if at, err := time.Parse(layout, text); err == nil && len(text) <= len("2006-01-02 15:04:05.000000000+00:00") {
			return at, nil
		}
	}
	return time.Time{}, problem{what: "not a date and time: " + clip(text), hint: "as 2023-11-16 18:15:46.6805900"}
}
