// Benchgateway measures what a gateway costs: it puts nginx, haproxy and gatewayd,
// one after the other and in one run, in front of one trivial worker, and prints
// what each of them adds to asking the worker directly.
//
// The proxy that is measured has the first core, with all of its child processes;
// the generator and the worker share the others, but that the worker has the first
// while it is asked directly. Figures move with the machine and its load, so compare
// ratios of one run.
//
// Reading order: main.go (the run), measures.go (what is measured), wrk.go (load at
// saturation), open.go and streams.go (all other load), client.go (one connection of
// it), worker.go (what stands behind), contender.go and configs.go (what is compared),
// place.go (on which cores), proc.go (CPU and memory of a process with its children),
// report.go (medians and ratios), stolen.go (what others on the machine took).
package main
