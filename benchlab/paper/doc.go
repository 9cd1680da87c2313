// Package paper repeats the study of CacheRoute (Huang Cheng, arXiv:2608.19677) in
// the simulator, with the strategies that serve live traffic, and sets the figures
// beside the published ones.
//
//	tables, err := paper.Study(ctx, paper.Options{Seeds: 3, Parallel: 2})
//
// Nothing of the original but its tables is public: no code, no traffic, no engine
// flags, no sizes of caches or intervals but those in testbed.go. So absolute
// figures follow from what is assumed here, which each table says; what can be
// compared is order, ratios, imbalance and churn. Where a figure went into the
// assumptions, the table says that too. Nothing is fitted to any other.
//
// It does no I/O and reads no clock: equal options give equal tables, to the bit.
//
// Reading order: testbed.go (engines and prompts), policy.go, telemetry.go and
// random.go (the policies), run.go (one run), capacity.go (the ladder), table.go
// (the form of results), study.go, then one file for each table (walk.go belongs to
// drift.go); published.go has the published figures, text.go writes all of them.
// whales.go lends one workload to package survey.
package paper
