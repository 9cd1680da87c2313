// Package rules holds the rules that every routing strategy keeps, and judges a
// strategy by them, in this process or in one of its own. Authors use package
// strategytest; gatewayd plugin check uses this one.
//
// Each rule plays the same script of requests, events and plans, drawn from a
// fixed seed, to fresh instances, changes one thing about it, and compares.
//
// Reading order: rules.go (the rules), check.go and report.go (what a check is
// and says), script.go (what is played), play.go and subject.go (to whom),
// answers.go, plans.go and text.go (what an answer must be), then the rules by
// subject: describe.go, repeat.go, figures.go, memory.go.
package rules
