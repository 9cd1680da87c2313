// Package study measures what placement alone does to prefix caches: real
// sessions, the real core with real strategies, workers that are nothing but
// block-level LRU caches, and no time model: each request is over before the next
// one comes.
//
//	load, err := study.Sessions(recording, study.Load{Active: 24, Seed: 1})
//	result, err := study.Run(load, study.Fleet{}, "sticky")
//
// What is left out (queues, batches, prefill and decode time) is what the
// simulator of benchlab/sim is for. What is left in can be computed exactly and
// in a second.
//
// It does no I/O and reads no clock: equal inputs give equal results.
//
// Reading order: load.go (sessions become traffic), run.go (one run), cache.go (a
// worker).
package study
