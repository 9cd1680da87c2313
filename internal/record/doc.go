// Package record writes down the traffic of a gateway, without any text of a
// prompt, in the form of pkg/record, which benchlab reads.
//
// A request hands over what became of it and goes on: a queue, bounded in requests
// and in block ids, stands before one goroutine that salts, encodes and writes.
// What does not fit is dropped and counted, in the metrics and in the file. Files
// are bounded: a full one is put aside under a number, the oldest is removed.
//
// Reading order: record.go (the queue), entry.go (what is handed over), writer.go
// (the goroutine), files.go, salt.go.
package record
