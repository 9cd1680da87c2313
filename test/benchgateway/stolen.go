package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// cores is what all cores of the machine have done since its start, in ticks.
type cores struct{ all, stolen int64 }

// since returns the share of the cores' time that the hypervisor has taken since then:
// what is measured meanwhile moves with it.
func (c cores) since(then cores) float64 {
	if c.all == then.all {
		return 0
	}
	return float64(c.stolen-then.stolen) / float64(c.all-then.all)
}

func readCores() (cores, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return cores{}, err
	}
	return parseCores(text)
}

// parseCores reads the first line of /proc/stat (proc(5)): user, nice, system, idle,
// iowait, irq, softirq, steal, and what is within user and nice.
func parseCores(text []byte) (c cores, err error) {
	const steal = 8
	line, _, _ := bytes.Cut(text, []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) <= steal || string(fields[0]) != "cpu" {
		return cores{}, fmt.Errorf("the first line of /proc/stat is %q", line)
	}
	for i, field := range fields[1 : steal+1] {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return cores{}, fmt.Errorf("/proc/stat: %w", err)
		}
		c.all += n
		if i+1 == steal {
			c.stolen = n
		}
	}
	return c, nil
}
