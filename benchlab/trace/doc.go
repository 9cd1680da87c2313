// Package trace reads recorded traffic of language-model servers into one native
// form, and reshapes it: arrivals spread inside the recorder's tick, sessions
// inferred from shared prefixes, time scaled, rows cut, prompt blocks expanded.
//
// Read takes any supported file from an io.Reader; Default is the trace that
// ships inside the binary. A Trace is a value that nothing here changes after it
// was returned: every reshaping method gives a new one, which shares the block
// ids of the old, and says in Notes what it did. So a Trace may be read from
// many goroutines at once.
//
// Reading order: trace.go (the form), read.go (compression and detection),
// mooncake.go (one format), spread.go, session.go, reshape.go, expand.go,
// info.go (statistics). A further format is one more file with a format value,
// named in formats.
package trace
