package rules

import "context"

// Rule is one thing that every strategy keeps.
type Rule struct {
	// Name is one word, as reports and Config.Except have it.
	Name string
	// Says is the rule in a sentence.
	Says  string
	check func(context.Context, *trial)
}

// Rules returns all rules in the order in which they are checked.
func Rules() []Rule {
	return []Rule{
		{"description", "name, version, one-line summary and help of each option are given, and an instance says the same and does what it says", describes},
		{"options", "each default and each listed word is taken; an unknown option and a word that is not listed are refused by name", options},
		{"valid", "each answer is one that a gateway can execute: known verdicts and features, finite figures, positive times, few and short reasons", valid},
		{"eligible", "it never names a worker that it was not shown", eligible},
		{"distinct", "a ranking names no placement twice, a table no key and no member of a key twice", distinct},
		{"untouched", "it neither changes nor keeps its input", untouched},
		{"deterministic", "the same options, seed and inputs give the same answers", deterministic},
		{"order", "the choice does not depend on the order in which workers are listed", order},
		{"names", "with renamed workers every answer is still valid", names},
		{"figures", "it survives figures that are missing, stale, huge or zero, one worker and a thousand", figures},
		{"memory", "its memory stays bounded over a long history of keys seen once", memory},
		{"elsewhere", "in another process it gives the same answers", elsewhere},
	}
}
