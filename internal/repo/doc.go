// Package repo holds the house rules of this repository as tests: who may
// import whom (lattice.txt), what is documented, how long a file may be, which
// words never appear (words.txt), that links lead somewhere and that every
// dependency is explained.
//
// Reading order: rules_test.go (the table of rules), tree_test.go (what they
// look at), then one file a rule. Each rule is itself held by a small tree in
// testdata/RULE.txtar that breaks it, with the findings it must report.
package repo
