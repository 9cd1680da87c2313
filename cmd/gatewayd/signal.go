package main

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// onSecondSignal calls f when the user asks to end once more. The returned
// function ends the wait.
func onSecondSignal(f func()) (stop func()) {
	signals := make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			f()
		case <-done:
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

// onHangUp calls f, one call after the other, at each SIGHUP until stop.
func onHangUp(f func()) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	var running sync.WaitGroup
	running.Go(func() {
		for range signals {
			f()
		}
	})
	return func() {
		signal.Stop(signals)
		close(signals)
		running.Wait()
	}
}
