package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// TestScripts runs testdata/*.txt. The profile of the scripts is made for
// mental arithmetic: a step costs max(10, tokens) ms, plus 1 ms per sequence,
// plus 1 ms per 100 tokens of decoding context, at 100 W; blocks hold 4 tokens.
//
//	new [blocks=N] [budget=N] [seqs=N] [context=N] [reserve]
//	submit id=N prompt=N output=N [block-tokens=N] [blocks=(a,b)] [output-blocks=(c)] [owner=N] [at=N]
//	cancel id=N [at=N]      flush      reset
//	protect [owners=(a,b)]  evicts blocks of these owners last; none: of nobody
//	cached blocks=(a,b) [block-tokens=N]
//	step [n=N]              N single steps from the present
//	run [until=N]           one Start with a horizon, and its Finish
//	start [until=N]         the two halves of a run,
//	finish                  to look or act in between
//	stats [at=N]
//
// Times are milliseconds.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{}
		datadriven.RunTest(t, path, s.do)
	})
}

type script struct {
	e   *Engine
	now time.Duration
}

func (s *script) do(t *testing.T, d *datadriven.TestData) string {
	number := func(name string, fallback int) int {
		d.MaybeScanArgs(t, name, &fallback)
		return fallback
	}
	at := s.now
	if arg, ok := d.Arg("at"); ok {
		var err error
		if at, err = time.ParseDuration(arg.Vals[0] + "ms"); err != nil {
			t.Fatal(err)
		}
	}
	switch d.Cmd {
	case "new":
		return s.new(t, Profile{
			KVBlocks: number("blocks", 8), MaxBatchedTokens: number("budget", 16), MaxSeqs: number("seqs", 4),
			MaxContext: number("context", 0), ReservePrompt: d.HasArg("reserve"),
		})
	case "submit":
		r := Request{
			ID: uint64(number("id", 0)), PromptTokens: number("prompt", 0), OutputTokens: number("output", 0),
			BlockTokens: number("block-tokens", 0), Owner: uint64(number("owner", 0)),
		}
		d.MaybeScanArgs(t, "blocks", &r.Blocks)
		d.MaybeScanArgs(t, "output-blocks", &r.OutputBlocks)
		if err := s.e.Submit(at, r); errors.Is(err, ErrContext) {
			return fmt.Sprintf("%v (context)\n", err)
		} else if err != nil {
			return fmt.Sprintf("%v (too large %t, invalid %t, duplicate %t)\n", err,
				errors.Is(err, ErrTooLarge), errors.Is(err, ErrInvalid), errors.Is(err, ErrDuplicate))
		}
	case "cancel":
		return fmt.Sprintln(s.e.Cancel(at, uint64(number("id", 0))))
	case "flush":
		s.e.Flush(s.now)
	case "protect":
		var owners []uint64
		d.MaybeScanArgs(t, "owners", &owners)
		s.e.Protect(s.now, func(owner uint64) bool { return slices.Contains(owners, owner) })
	case "cached":
		var blocks []uint64
		d.ScanArgs(t, "blocks", &blocks)
		return fmt.Sprintln(s.e.Cached(s.now, blocks, number("block-tokens", 0)), "tokens")
	case "reset":
		return fmt.Sprintln("lost", s.e.Reset())
	case "start":
		end, busy := s.e.Start(s.now, time.Duration(number("until", 0))*time.Millisecond)
		return fmt.Sprintln(end, busy)
	case "finish":
		return s.finish()
	case "step":
		var out strings.Builder
		for range number("n", 1) {
			if _, busy := s.e.Start(s.now, s.now); !busy {
				out.WriteString("idle\n")
				break
			}
			out.WriteString(s.finish())
		}
		return out.String()
	case "run":
		if _, busy := s.e.Start(s.now, time.Duration(number("until", 1e6))*time.Millisecond); !busy {
			return "idle\n"
		}
		return s.finish()
	case "stats":
		return s.stats(at)
	default:
		t.Fatalf("%s: no command %q", d.Pos, d.Cmd)
	}
	return ""
}

func (s *script) new(t *testing.T, p Profile) string {
	p.Name, p.WeightsMS, p.TokenUS, p.DecodeKctxMS, p.OverheadSeqMS = "script", 10, 1000, 10, Known(1)
	p.BlockTokens = 4
	p.Power = Power{BaseW: Known(100), RangeW: Known(0), KneeSeqs: Known(1)}
	e, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	s.e, s.now = e, 0
	return ""
}

func (s *script) finish() string {
	end, busy := s.e.End()
	if !busy {
		return "idle\n"
	}
	load := s.e.load
	s.now = end
	events := s.e.Finish(end)
	var out strings.Builder
	fmt.Fprintf(&out, "%v: decode %d, prefill %d tokens of %d;", end, load.Decoding, load.PrefillTokens, load.Prefilling)
	for id, tokens := range s.e.Producing() {
		fmt.Fprintf(&out, " %d:%d", id, tokens)
	}
	out.WriteString("\n")
	for _, v := range events {
		fmt.Fprintf(&out, "  %d %v: tokens %d, cached %d, admitted %v, preemptions %d\n",
			v.ID, v.Kind, v.Tokens, v.Cached, v.Admitted, v.Preemptions)
	}
	return out.String()
}

func (s *script) stats(at time.Duration) string {
	x := s.e.Stats(at)
	return fmt.Sprintf("running %d, waiting %d; kv %.3f: used %d, cached %d, free %d\n"+
		"queries %d, hits %d; prompt %d, generated %d, preemptions %d\n"+
		"steps %d, busy %v, prefill %v, %.3f J\n",
		x.Running, x.Waiting, x.KVUsed, x.UsedBlocks, x.CachedBlocks, x.FreeBlocks,
		x.QueryTokens, x.HitTokens, x.PromptTokens, x.GeneratedTokens, x.Preemptions,
		x.Steps, x.Busy, x.Prefill, x.Joules.Or(-1))
}
