// Package survey runs every strategy on four workloads that are unlike each other,
// and makes one table of them:
//
//   - owners: 2,000 owners of Zipf 1.1 on 8 workers with room for 40 prefixes each,
//     least recently used first out, without time; the traffic of VeloxQuant's
//     benchmark, with prefixes that are where they were served.
//   - agents: recorded sessions of coding agents, about 24 or 40 at a time, on 8
//     workers whose caches hold 7,000 blocks, without time (package study).
//   - chat: the recorded chat traffic that ships with benchlab, in the simulator.
//   - whales: many keys and one hot one, in the simulator (package paper).
//
// Each chain may run with several signals of reuse, which tells what a better one is
// worth. Strategies are those of the catalog, driven by the core that gateways run. It
// does no I/O and reads no clock: equal options give equal results.
//
// Reading order: survey.go, workload.go, owners.go with slots.go, simulated.go,
// agents.go, markdown.go.
package survey
