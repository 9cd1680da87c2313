// Package replay sends recorded traffic to a server with an OpenAI-compatible
// API, on schedule, and measures what comes back.
//
//	c := replay.Config{Trace: t, Target: url, Model: "llama-3.1-8b"}
//	result, err := replay.Run(ctx, c)
//	figures := result.Figures(slo)
//
// The load is open: a request is sent when the schedule says so, whatever became
// of earlier ones, and its latency counts from that time, so a server that
// stalls is charged for all who would have come meanwhile. How late the sending
// itself was is reported as lag: it says whether the figures are the server's or
// this machine's. With Sessions timing a turn follows the end of the answers
// that it builds on, after the recorded think time.
//
// Prompts are made of common short words. Equal block ids of the trace give equal
// text, so a server's prefix cache finds what it would have found in the real
// traffic; a salt keeps two runs from finding each other's. A prompt is never held
// in memory: it is made while it is sent.
//
// Results become a measure.Run, which simulated traffic becomes too, so the
// figures of both are computed by the same code.
//
// Reading order: config.go, schedule.go (what is sent when; pure), text.go and
// body.go (what is sent), tokens.go and probe.go (what the server is asked
// beforehand), run.go (the loop), send.go and stream.go (one request), outcome.go
// and result.go (what became of it), report.go, table.go and rows.go (output).
package replay
