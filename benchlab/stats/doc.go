// Package stats says how sure a comparison is: intervals, paired differences and
// the smallest difference that could have been seen, for figures of runs of the
// same traffic through several contenders with several seeds. It is pure: equal
// inputs give equal results, to the bit, on any number of processors.
//
// # The model
//
// A figure of contender c is its mean over seeds s of the figure of each run,
// theta(c,s). Two things could have been otherwise: which sessions came, and what
// the seeds drew. Sessions g and seeds s are crossed, each session being in every
// run, so the figure varies by session, by seed, and by session within a seed:
//
//	theta(c,s) = theta(c) + b(c,s) + mean over g of (a(c,g) + e(c,g,s))
//
// # The scheme
//
// Sessions are resampled: a draw has as many sessions as the traffic, taken with
// replacement, and a session that is taken k times counts k times with all its
// requests, in the runs of all seeds and all contenders alike. That is the cluster
// bootstrap (Davison and Hinkley, Bootstrap Methods and their Application, 1997,
// section 3.8); taking the same sessions everywhere keeps the pairing, so that
// what all contenders share cancels from their differences. Every figure is
// computed anew from the draw, percentiles too. The variance over draws of the
// mean over seeds,
//
//	V = (var a + var e / S) / G
//
// covers everything but what a whole run shares with its seed. That is the random
// effect b, and its variance component is what the figures of the seeds differ by
// beyond the share of e, estimated from the same draws (the method of moments for
// crossed effects, as in Searle, Casella and McCulloch, Variance Components, 1992,
// chapter 4):
//
//	E = (mean over s of var of theta*(s) - V) / (S - 1)
//	B = max(0, var over s of theta(s) / S - E)
//
// The interval is theta ± t * sqrt(V + B) with Student's t at Satterthwaite's
// degrees of freedom (Biometrics Bulletin 2, 1946), where sessions count as their
// effective number (Carter, Schnepel and Steigerwald, Review of Economics and
// Statistics 99, 2017). Figures that a run has only once, such as energy, have no
// V; their interval is the plain paired one over seeds.
//
// # Many contenders
//
// Differences to the baseline are judged together: one level for all, at which
// the intervals of all contenders hold at once with the stated confidence. It
// comes from the joint draws (the single-step minP of Westfall and Young,
// Resampling-Based Multiple Testing, 1993), so contenders that behave alike cost
// little; it is never worse than Bonferroni's. A difference is told from 0 where
// its interval leaves 0 out. The family is one figure over all contenders.
//
// # What it does not cover
//
// Sessions are taken as drawn independently from traffic like this. Requests wait
// for each other, so a burst touches many sessions at once; what is common to all
// contenders cancels, and what the seeds move is in B, but a different week is
// another traffic. A percentile rests on few sessions when its tail does.
//
// Reading order: clusters.go, figure.go (what is resampled), bootstrap.go,
// estimate.go (one figure), family.go (many contenders), student.go.
package stats
