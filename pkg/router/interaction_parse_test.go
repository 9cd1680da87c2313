package router

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// scriptBlock is the tokens of one block in scripts.
const scriptBlock = 16

// arguments reads those of one command.
type arguments struct {
	t *testing.T
	d *datadriven.TestData
}

// words are the arguments without a value.
func (a arguments) words() (words []string) {
	for _, arg := range a.d.CmdArgs {
		if len(arg.Vals) == 0 {
			words = append(words, arg.Key)
		}
	}
	return words
}

func (a arguments) has(word string) bool { return slices.Contains(a.words(), word) }

// list returns the values of key=(...); a word of the same name does not count.
func (a arguments) list(key string) []string {
	for _, arg := range a.d.CmdArgs {
		if arg.Key == key && len(arg.Vals) > 0 {
			return arg.Vals
		}
	}
	return nil
}

func (a arguments) text(key, otherwise string) string {
	if vals := a.list(key); len(vals) > 0 {
		return vals[0]
	}
	return otherwise
}

func (a arguments) int(key string, otherwise int) int {
	text := a.text(key, "")
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	a.check(err)
	return n
}

func (a arguments) float(key string, otherwise float64) float64 {
	if text := a.text(key, ""); text != "" {
		return a.number(text)
	}
	return otherwise
}

func (a arguments) number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	a.check(err)
	return v
}

func (a arguments) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	a.check(err)
	return d
}

func (a arguments) check(err error) {
	if err != nil {
		a.d.Fatalf(a.t, "%v", err)
	}
}

// named reads the values of an argument as options of their own: words, and
// values by name.
func (a arguments) named(vals []string) arguments {
	d := &datadriven.TestData{Pos: a.d.Pos}
	for _, v := range vals {
		key, value, found := strings.Cut(v, "=")
		arg := datadriven.CmdArg{Key: key}
		if found {
			arg.Vals = []string{value}
		}
		d.CmdArgs = append(d.CmdArgs, arg)
	}
	return arguments{a.t, d}
}

func (a arguments) feature(name string) Feature {
	if name == "uncached*batch" {
		return UncachedByBatch
	}
	i := slices.Index(featureNames[:], name)
	if i < 0 {
		a.d.Fatalf(a.t, "no feature %q", name)
	}
	return Feature(i)
}

func (a arguments) guard() Guard {
	if g := a.list("guard"); len(g) == 3 {
		return Guard{a.feature(g[0]), a.number(g[1]), a.number(g[2])}
	}
	return Guard{}
}

func (a arguments) row(key string) (row Row) {
	for _, term := range a.list(key) {
		name, weights, _ := strings.Cut(term, ":")
		t := Term{Feature: a.feature(name)}
		for w := range strings.SplitSeq(weights, "/") {
			t.Weights = append(t.Weights, a.number(w))
		}
		row = append(row, t)
	}
	return row
}

// blocks are the chained hashes of a prompt's segments: SEGMENT*BLOCKS.
func (a arguments) blocks() (out []uint64) {
	hash := uint64(0)
	for _, segment := range a.list("prompt") {
		name, count, _ := strings.Cut(segment, "*")
		for range int(a.number(count)) {
			hash = Mix(hash ^ HashID(name))
			out = append(out, hash)
		}
	}
	return out
}

// parsePlan reads a plan for the workers of a fleet.
func (a arguments) parsePlan(workers []WorkerRef) *Plan {
	p := &Plan{Workers: workers, Guard: a.guard()}
	index := func(id string) uint16 {
		i := slices.IndexFunc(workers, func(w WorkerRef) bool { return w.ID == id })
		if i < 0 {
			a.d.Fatalf(a.t, "no worker %q", id)
		}
		return uint16(i)
	}
	for _, entry := range a.list("table") {
		key, ids, _ := strings.Cut(entry, ":")
		var members []uint16
		for id := range strings.SplitSeq(ids, "+") {
			members = append(members, index(id))
		}
		p.Table.Append(uint64(a.number(key)), members...)
	}
	p.Bind = Bind{TTL: a.duration(a.text("bind", "0s")), Keep: a.has("keep"), MinCached: a.float("cached", 0)}
	orders := map[string]Order{"": Abstain, "cost": ByCost, "rendezvous": ByRendezvous, "rotation": ByRotation}
	p.Rest = Rest{
		Order: orders[a.text("rest", "")], Sample: a.int("sample", 0), FirstTie: a.has("first"),
		Cost: a.row("cost"), Limit: a.row("limit"), Bound: a.float("bound", 0),
	}
	for _, id := range a.list("among") {
		p.Rest.Among = append(p.Rest.Among, index(id))
	}
	return p
}
