package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// place says where the worker runs while a contender is measured. The generator never
// shares the contenders' core.
type place string

const (
	// apart puts each program and the next one on different cores, as networks put them
	// on different machines: the worker is beside the generator while it is behind a
	// proxy, and has the contenders' core while it is itself the contender. To wake
	// another core takes this machine's place of a network's delay, and direct requests
	// pay for that too.
	apart place = "apart"
	// besideGenerator and besideContender keep the worker on one core. The first lets
	// direct requests wake no other core, so that a proxy is charged with all of that;
	// the second spares a proxy's way to the worker what direct requests pay.
	besideGenerator place = "generator"
	besideContender place = "contender"
)

func (p place) valid() error {
	switch p {
	case apart, besideGenerator, besideContender:
		return nil
	}
	return fmt.Errorf("there is no place %q for the worker: it may be %s, %s or %s", string(p), apart, besideGenerator, besideContender)
}

// seat moves the worker to the cores that are its own while c is measured. It moves
// nothing where nothing is pinned.
func (s scene) seat(c *contender) error {
	if s.core == "" {
		return nil
	}
	var cores unix.CPUSet
	if alone := c.command == nil; s.place == besideContender || s.place == apart && alone {
		core, err := strconv.Atoi(s.core)
		if err != nil {
			return err
		}
		cores.Set(core)
	} else if err := unix.SchedGetaffinity(0, &cores); err != nil { // the generator's own
		return err
	}
	return move(s.workerPID, cores)
}

// move gives all threads of a process these cores. A thread that begins meanwhile may
// have been started by one that was not moved yet, so that they are gone through until
// there is no new one.
func move(pid int, cores unix.CPUSet) error {
	moved := map[string]bool{}
	for grown := true; grown; {
		grown = false
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*", pid))
		if err != nil {
			return err
		}
		for _, t := range threads {
			id, err := strconv.Atoi(filepath.Base(t))
			if err != nil {
				return err
			}
			if err := unix.SchedSetaffinity(id, &cores); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("move the worker to another core: %w", err)
			}
			grown = grown || !moved[t]
			moved[t] = true
		}
	}
	if len(moved) == 0 {
		return fmt.Errorf("process %d has ended", pid)
	}
	return nil
}
