package main

import (
	"os/exec"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSeat holds where the worker is while it is itself the contender, and while it
// is behind one.
func TestSeat(t *testing.T) {
	var own, first unix.CPUSet
	if err := unix.SchedGetaffinity(0, &own); err != nil {
		t.Fatal(err)
	}
	core := 0
	for !own.IsSet(core) {
		core++
	}
	first.Set(core)
	worker := exec.Command("cat")
	in, err := worker.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	direct, proxy := &contender{}, &contender{command: worker}
	for _, c := range []struct {
		place
		direct, proxy unix.CPUSet
	}{{apart, first, own}, {besideGenerator, own, own}, {besideContender, first, first}} {
		s := scene{workerPID: worker.Process.Pid, core: strconv.Itoa(core), place: c.place}
		for who, want := range map[*contender]unix.CPUSet{direct: c.direct, proxy: c.proxy} {
			var got unix.CPUSet
			if err := s.seat(who); err != nil {
				t.Fatal(err)
			}
			if err := unix.SchedGetaffinity(s.workerPID, &got); err != nil || got != want {
				t.Errorf("%s, a proxy %v: cores %v, want %v, %v", c.place, who == proxy, got, want, err)
			}
		}
	}
	in.Close()
	if err := worker.Wait(); err != nil {
		t.Error(err)
	}
	if err := (scene{workerPID: worker.Process.Pid, core: "0"}).seat(direct); err == nil {
		t.Error("a worker that has ended was moved")
	}
	if err := (scene{}).seat(direct); err != nil {
		t.Errorf("nothing is pinned: %v", err)
	}
}
