package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// tick is the unit of CPU times in /proc (USER_HZ).
const tick = 10 * time.Millisecond

// stat is what is read of /proc/PID/stat.
type stat struct {
	pid, parent int
	cpu         time.Duration
}

// parseStat reads the line of /proc/PID/stat (proc(5)). The name of a program may
// hold spaces and brackets.
func parseStat(line []byte) (stat, error) {
	end := bytes.LastIndexByte(line, ')')
	open := bytes.IndexByte(line, '(')
	if open < 0 || end < open {
		return stat{}, fmt.Errorf("no name in %q", line)
	}
	fields := bytes.Fields(line[end+1:]) // the first is field 3, the state
	if len(fields) < 13 {
		return stat{}, fmt.Errorf("%d fields behind the name in %q", len(fields), line)
	}
	var numbers [4]int64
	for i, text := range [][]byte{bytes.TrimSpace(line[:open]), fields[1], fields[11], fields[12]} {
		n, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return stat{}, err
		}
		numbers[i] = n
	}
	return stat{int(numbers[0]), int(numbers[1]), time.Duration(numbers[2]+numbers[3]) * tick}, nil
}

// processes returns all processes.
func processes() ([]stat, error) {
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	var all []stat
	for _, path := range paths {
		line, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		s, err := parseStat(line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// family returns a process and its living descendants.
func family(all []stat, pid int) ([]stat, error) {
	members := map[int]bool{pid: true}
	for grown := true; grown; {
		grown = false
		for _, s := range all {
			if members[s.parent] && !members[s.pid] {
				members[s.pid], grown = true, true
			}
		}
	}
	var out []stat
	found := false
	for _, s := range all {
		if members[s.pid] {
			out = append(out, s)
			found = found || s.pid == pid
		}
	}
	if !found {
		return nil, fmt.Errorf("process %d has ended", pid)
	}
	return out, nil
}

// cpuOf adds up the CPU time of a process and its descendants since their start.
func cpuOf(pid int) (time.Duration, error) {
	all, err := processes()
	if err != nil {
		return 0, err
	}
	members, err := family(all, pid)
	var sum time.Duration
	for _, s := range members {
		sum += s.cpu
	}
	return sum, err
}

// memoryOf adds up the resident bytes of a process and its descendants; what they
// share counts once (PSS).
func memoryOf(pid int) (int64, error) {
	all, err := processes()
	if err != nil {
		return 0, err
	}
	members, err := family(all, pid)
	var sum int64
	for _, s := range members {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", s.pid))
		if err != nil {
			continue // it has ended
		}
		n, err := parsePSS(text)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, err
}

// parsePSS finds the proportional set size in /proc/PID/smaps_rollup, in bytes.
func parsePSS(text []byte) (int64, error) {
	_, rest, found := bytes.Cut(text, []byte("\nPss:"))
	fields := bytes.Fields(rest)
	if !found || len(fields) < 2 || string(fields[1]) != "kB" {
		return 0, errors.New("smaps_rollup has no Pss in kB")
	}
	n, err := strconv.ParseInt(string(fields[0]), 10, 64)
	return n << 10, err
}

// raiseFiles lets this process, and those that it starts, open as many files as it
// may, and returns how many that are.
func raiseFiles() (int, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, err
	}
	limit.Cur = limit.Max
	return int(min(limit.Max, 1<<20)), syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
}
