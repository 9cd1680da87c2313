// Package workload makes the traffic of CacheRoute's study (Huang Cheng,
// arXiv:2608.19677): a population of routing keys of unequal rates, arrivals, and
// prompts that share a template and, per key, a context.
//
// Nothing recorded was published, so everything is drawn. A lognormal population
// of sigma 1.65 has the three published statistics at once: a Gini coefficient of
// 0.756, 47 % of the requests on 4 % of the keys, and a largest key below 0.3 %.
// No Zipf law has.
//
// Equal seeds give equal traffic. It does no I/O and reads no clock.
package workload
