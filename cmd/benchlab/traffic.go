package main

import "gatewayd/benchlab/trace"

// defaultSHA256 is the checksum of the file behind trace.Default.
const defaultSHA256 = "305089d2c56eb675538c50f0817d6b82d8175ae6e9235d5402e2fca8102db7a8"

// input is a trace with the checksum of its file.
type input struct {
	trace  *trace.Trace
	sha256 string
}
