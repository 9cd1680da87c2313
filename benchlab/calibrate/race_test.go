//go:build race

package calibrate

// raced is whether the race detector watches: a fit, which has one goroutine, then
// takes ten times as long and has nothing to show.
const raced = true
