package main

import (
	"errors"
	"syscall"
	"time"
)

// Names of the reference loops.
const (
	arithmetic = "reference/arithmetic"
	reads      = "reference/reads"
	chain      = "reference/chain"
)

// reference is a loop of fixed work.
type reference struct {
	name string
	loop func(steps int) uint64
}

// references returns the loops: arithmetic in which each step needs the one before
// it, reads at random of more memory than fits the caches near a core, and such reads
// where each tells where the next one goes.
func references() []reference {
	memory := make([]uint64, 1<<22) // 32 MiB
	for i := range memory {
		memory[i] = scramble(uint64(i))
	}
	return []reference{
		{arithmetic, func(steps int) uint64 {
			x := uint64(1)
			for range steps {
				x = scramble(x)
			}
			return x
		}},
		{reads, func(steps int) uint64 {
			x, sum := uint64(1), uint64(0)
			for range steps {
				x = x*0x5851f42d4c957f2d + 1
				sum += memory[x>>42]
			}
			return sum
		}},
		{chain, func(steps int) uint64 {
			x := uint64(1)
			for i := range uint64(steps) {
				x = memory[(x+i)>>42]
			}
			return x
		}},
	}
}

// scramble is the finalizer of splitmix64.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// sample runs the loop once.
func (r reference) sample(all samples) error {
	const steps = 2_000_000
	before, err := coreTime()
	if err != nil {
		return err
	}
	if r.loop(steps) == 0 {
		return errors.New(r.name + ": the loop was left out")
	}
	after, err := coreTime()
	if err != nil {
		return err
	}
	all.add(r.name, onCore, float64(after-before)/steps)
	return nil
}

// coreTime is the time that the process has spent on cores.
func coreTime() (time.Duration, error) {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0, err
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano()), nil
}
