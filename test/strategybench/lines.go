package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// line is one figure with what it is compared with and held to.
type line struct {
	what, name, twin string
	limit            time.Duration
	bytes            float64 // at most for each key; 0: not held to anything
	allocates        bool    // may
}

// lines are the figures of the report.
func lines() []line {
	all := []line{
		{"look-up, 1 M keys", "Table/hit/keys=1000000", "Table/twin/keys=1000000", 60, 40, false},
		{"record, 1 M keys", "Record/rates/keys=1000000", "Record/twin/keys=1000000", 250, 40, false},
	}
	for _, path := range []string{"table", "hold", "cost", "rendezvous", "rotation", "builtin"} {
		all = append(all, line{"decision: " + path, "Decision/" + path + "/workers=16", "Decision/twin/workers=16", 500, 0, false})
	}
	for _, size := range []struct {
		name, in string
		fresh    time.Duration
	}{
		{"128,824 keys, 30 workers", "/keys=128824/workers=30", 10 * time.Millisecond},
		{"1 M keys, 1,024 workers", "/keys=1000000/workers=1024", 200 * time.Millisecond},
	} {
		twin := "Plan/twin" + size.in
		all = append(all,
			line{"fresh plan, " + size.name, "Plan/paper" + size.in, twin, size.fresh, 0, true},
			line{"planned, the first", "Plan/first" + size.in, twin, 2 * size.fresh, 0, true},
			line{"planned, rates drifted", "Plan/again" + size.in, twin, 2 * size.fresh, 0, true},
			line{"planned, a worker joined", "Plan/joined" + size.in, twin, 2 * size.fresh, 0, true},
			line{"planned, none divided", "Plan/whole" + size.in, twin, 2 * size.fresh, 0, true},
			line{"planned, divided", "Plan/divided" + size.in, twin, 2 * size.fresh, 0, true},
			line{"planned, divided, with waste", "Plan/wasted" + size.in, twin, 2 * size.fresh, 0, true},
		)
	}
	return all
}

// print writes the medians.
func (s samples) print(out io.Writer, lines []line) error {
	var unit [3]float64
	for i, name := range []string{arithmetic, reads, chain} {
		unit[i], _ = s.median(name, onCore)
	}
	fmt.Fprintf(out, "Reference loops of this run: a step of arithmetic %.2f ns, a read at random of 32 MiB %.1f ns, one that waits for the one before %.1f ns.\n"+
		"Times are of one core, medians; steps and reads say how many of those loops' they are.\n\n", unit[0], unit[1], unit[2])
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "what\tmedian\tlimit\ttwin\ttwin/median\tsteps\treads\tallocs\tB/key\t")
	for _, l := range lines {
		took, ok := s.median(l.name, onCore)
		if !ok {
			continue
		}
		twin, _ := s.median(l.twin, onCore)
		n, _ := s.median(l.name, allocs)
		size := "-"
		if b, ok := s.median(l.name, perKey); ok {
			size = fmt.Sprintf("%.1f", b)
		}
		fmt.Fprintf(w, "%s\t%s\t%v\t%s\t%.1f\t%.3g\t%.3g\t%.0f\t%s\t\n", l.what, short(took), l.limit, short(twin), twin/took, took/unit[0], took/unit[1], n, size)
	}
	return w.Flush()
}

// short is a time in ns, of three digits.
func short(ns float64) string {
	d := time.Duration(ns)
	for unit := time.Duration(1); ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit).String()
		}
	}
}

// over names the limits that were not kept.
func (s samples) over(lines []line) (problems []error) {
	for _, l := range lines {
		took, ok := s.median(l.name, onCore)
		n, _ := s.median(l.name, allocs)
		bytes, sized := s.median(l.name, perKey)
		switch {
		case !ok:
			problems = append(problems, fmt.Errorf("%s: benchmark %s was not run; is it still there?", l.what, l.name))
		case took > float64(l.limit):
			problems = append(problems, fmt.Errorf("%s took %s, limit %v", l.what, short(took), l.limit))
		case n > 0 && !l.allocates:
			problems = append(problems, fmt.Errorf("%s made %v allocations, limit 0", l.what, n))
		case l.bytes > 0 && !(sized && bytes <= l.bytes):
			problems = append(problems, fmt.Errorf("%s takes %.1f B for each key, limit %v", l.what, bytes, l.bytes))
		}
	}
	return problems
}
