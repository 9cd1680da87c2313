// Package trace reads recorded traffic of language-model servers into one native
// form, reshapes it, and writes it: arrivals spread inside the recorder's tick,
// sessions inferred from shared prefixes or superposed, time scaled, rows and
// sessions cut, prompt blocks expanded.
//
// Read takes any supported file from an io.Reader; Default is the trace that
// ships inside the binary; Prepare makes a recording ready for replay. A Trace is a
// value that nothing here changes after it was returned: every reshaping method
// gives a new one, which shares the block ids of the old, and says in Notes what it
// did. So a Trace may be read from many goroutines at once.
//
// What each format has, which traps it holds and what is done about each is in
// docs/traces.md.
//
// Reading order: trace.go (the form), read.go, unpack.go and lines.go (packing,
// detection, lines), object.go, csv.go and fields.go (JSON lines, CSV, values);
// then one format after the other: mooncake.go with graph.go, bailian.go, weka.go,
// ragpulse.go, azure.go, burstgpt.go, own.go, table.go; order.go and chain.go (what
// all of them promise); spread.go, superpose.go, session.go, reshape.go, expand.go
// (reshaping); info.go, reuse.go, lru.go (statistics); regroup.go and write*.go
// (writing). A further format is one more file with a format value, named in
// formats.
package trace
