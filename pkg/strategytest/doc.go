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
// A strategy is checked in the test's own process and once more behind the
// protocol: Run starts the test binary again as a plugin, so the test must be in
// the package's own TestMain-free run or its TestMain must print nothing to
// standard output.
package strategytest
