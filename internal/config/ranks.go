package config

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	maxRank  = 1 << 12 // highest data-parallel rank
	maxRanks = 256     // that one worker may own
)

// RankList returns the data-parallel ranks that the worker owns, nil if it
// names none: the server then spreads requests over its ranks itself.
func (w Worker) RankList() ([]int, error) {
	if w.Ranks == "" {
		return nil, nil
	}
	var ranks []int
	seen := map[int]bool{}
	for part := range strings.SplitSeq(w.Ranks, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			to = from
		}
		first, err1 := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || first < 0 || last < first || last > maxRank || last-first >= maxRanks {
			return nil, fmt.Errorf("%s is no list of ranks", quote(w.Ranks))
		}
		for rank := first; rank <= last; rank++ {
			if seen[rank] {
				return nil, fmt.Errorf("rank %d is there twice", rank)
			}
			seen[rank] = true
			ranks = append(ranks, rank)
		}
	}
	if len(ranks) > maxRanks {
		return nil, fmt.Errorf("there are more than %d ranks", maxRanks)
	}
	return ranks, nil
}

// RankID returns the ID of one rank of a worker.
func RankID(worker string, rank int) string { return worker + "@" + strconv.Itoa(rank) }

// ids returns the IDs under which a worker is routed to, as far as its ranks
// can be read.
func (w Worker) ids() []string {
	ranks, err := w.RankList()
	if err != nil || ranks == nil {
		return []string{w.Name()}
	}
	out := make([]string, len(ranks))
	for i, rank := range ranks {
		out[i] = RankID(w.Name(), rank)
	}
	return out
}
