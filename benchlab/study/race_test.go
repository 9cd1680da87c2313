//go:build race

package study

// raced is whether the race detector watches: a run, which has one goroutine, then
// takes ten times as long and has nothing to show.
const raced = true
