package main

import (
	"bufio"
	"io"

	"gatewayd/benchlab/report"
)

// requestLog writes what became of every request. A nil log writes nothing.
type requestLog struct{ *bufio.Writer }

func newRequestLog(w io.Writer) *requestLog {
	const buffer = 1 << 16
	return &requestLog{bufio.NewWriterSize(w, buffer)}
}

// add writes a run of a contender.
func (l *requestLog) add(contender string, o *outcome) error {
	if l == nil {
		return nil
	}
	return report.WriteRequests(l, contender, o.ready.seed, o.ready.trace, o.Run)
}

func (l *requestLog) flush() error {
	if l == nil {
		return nil
	}
	return l.Flush()
}
