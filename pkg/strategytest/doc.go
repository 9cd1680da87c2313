// Package strategytest holds a routing strategy to the rules that every strategy
// keeps. It is one line of test:
//
//	func TestConformance(t *testing.T) {
//		strategytest.Run(t, mine.Definition(), strategytest.Options{})
//	}
//
// Each rule is a subtest, and says in a sentence what it holds; package rules
// lists them. Nothing judges speed: the time per decision is logged (go test -v).
//
// A strategy is checked in the test's own process and compared with itself behind
// the protocol: Run starts the test binary again, with only this test, as a plugin.
// A TestMain must therefore run its tests and print nothing to standard output.
package strategytest
