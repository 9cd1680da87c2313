package trace

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"
)

// partKind is one kind of parts of a RAGPulse prompt.
type partKind struct {
	list string // in hash_ids of the trace
	file string // dictionary at the origin
	id   string // field of the dictionary
}

// partKinds lists the kinds in the order in which they make up a prompt.
func partKinds() []partKind {
	return []partKind{
		{"sys_prompt", "1_sys_prompt.jsonl", "sys_prompt_id"},
		{"passages_ids", "2_passages.jsonl", "passage_id"},
		{"history", "3_history.jsonl", "history_id"},
		{"web_search", "5_web_search.jsonl", "web_search_id"},
		{"user_input", "4_user_input.jsonl", "user_input_id"},
	}
}

const passageKind = 1

// part is an id with its kind.
type part struct {
	kind int
	id   uint64
}

// parts turns the parts of prompts into blocks and counts what is found again.
type parts struct {
	kinds   []partKind
	lengths map[part]int

	prompt []part // of the row under way
	length int    // tokens of its parts

	tokens, prefix, content int             // of all parts; of those found again
	chains                  map[uint64]bool // leading parts that were seen
	passages                map[uint64]int
	seen                    map[part]bool
}

// openParts reads the dictionaries.
func openParts(l *lines) (parts, error) {
	p := parts{kinds: partKinds(), lengths: map[part]int{}, chains: map[uint64]bool{}, passages: map[uint64]int{}, seen: map[part]bool{}}
	for kind, k := range p.kinds {
		if l.o.Open == nil {
			return p, fmt.Errorf("%s: %s is missing; RAGPulse's five dictionaries must lie beside the trace, or in the folder that --dict names", l.name, k.file)
		}
		f, err := l.o.Open(k.file)
		if err != nil {
			return p, fmt.Errorf("%s: dictionary: %w; put RAGPulse's five dictionaries beside the trace, or name their folder with --dict", l.name, err)
		}
		err = p.dictionary(f, kind, l.o)
		if closed := f.Close(); err == nil && closed != nil {
			err = fmt.Errorf("%s: %w", k.file, closed)
		}
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p *parts) dictionary(r io.Reader, kind int, o Options) error {
	l, done, err := open(r, p.kinds[kind].file, o)
	if err != nil {
		return err
	}
	defer done()
	for {
		line, ok, err := l.next()
		if err != nil || !ok {
			return err
		}
		var seen [2]bool
		var id uint64
		var length int
		err = object(line, seen[:], func(key string, v gjson.Result) (place int, err error) {
			switch key {
			case p.kinds[kind].id:
				if id, err = strconv.ParseUint(v.Raw, 10, 64); err != nil {
					err = problem{what: key + " is not a whole number: " + clip(v.Raw), hint: "as in the origin's dictionaries"}
				}
				return 0, err
			case "token_length":
				length, err = tokens(key, v)
				return 1, err
			}
			return -1, nil
		})
		if err == nil && !(seen[0] && seen[1]) {
			err = problem{what: fmt.Sprintf("%s or token_length is missing", p.kinds[kind].id), hint: "is this the right dictionary?"}
		}
		if err != nil {
			return l.refuse(err)
		}
		p.lengths[part{kind, id}] = length
	}
}

// read takes the lists of ids of the next prompt.
func (p *parts) read(lists gjson.Result) error {
	if !lists.IsObject() {
		return problem{what: "hash_ids is not an object", hint: "an object with lists of ids", column: lists.Index + 1}
	}
	p.prompt, p.length = p.prompt[:0], 0
	for kind, k := range p.kinds {
		list := lists.Get(k.list)
		if !list.Exists() {
			continue
		}
		found, err := ids(k.list, list)
		if err != nil {
			return err
		}
		for _, id := range found {
			length, ok := p.lengths[part{kind, id}]
			if !ok {
				return problem{what: fmt.Sprintf("%s has %d, which %s does not have", k.list, id, k.file), hint: "are the dictionaries those of this trace?"}
			}
			p.prompt = append(p.prompt, part{kind, id})
			p.length += length
		}
	}
	p.count()
	return nil
}

// count adds the prompt to the shares.
func (p *parts) count() {
	leading, chain := true, uint64(0)
	for _, x := range p.prompt {
		n := p.lengths[x]
		p.tokens += n
		chain = x.chain(chain)
		if leading = leading && p.chains[chain]; leading {
			p.prefix += n
		}
		p.chains[chain] = true
		if p.seen[x] {
			p.content += n
		}
		p.seen[x] = true
		if x.kind == passageKind {
			p.passages[x.id]++
		}
	}
}

// chain is the id of the parts up to and including x.
func (x part) chain(before uint64) uint64 {
	return mix(before^mix(x.id, uint64(x.kind)+8), 4)
}

// blocks gives the ids of a prompt's full blocks. What is left behind the parts is
// the template's, which equal parts are taken to have in common.
func (p *parts) blocks(input int) []uint64 {
	out := make([]uint64, 0, input/ragBlockTokens)
	chain, end := uint64(0), 0
	fill := func() {
		for len(out) < cap(out) && (len(out)+1)*ragBlockTokens <= end {
			out = append(out, mix(chain, uint64(len(out))))
		}
	}
	for _, x := range p.prompt {
		chain = x.chain(chain)
		end += p.lengths[x]
		fill()
	}
	chain, end = mix(chain^uint64(input), 5), input
	fill()
	return out
}

func (p *parts) facts() *Parts {
	f := &Parts{
		PrefixHit: ratio(p.prefix, p.tokens), ContentHit: ratio(p.content, p.tokens), Passages: len(p.passages),
	}
	var counts []int
	for _, n := range p.passages {
		counts = append(counts, n)
		f.PassageRefs += n
	}
	f.TopPassagesShare = ratio(top(counts, 10), f.PassageRefs)
	return f
}

// order tells what the order of parts costs.
func (p *parts) order() string {
	f := p.facts()
	return fmt.Sprintf("%.1f %% of their tokens are found again as a prefix, %.1f %% would be if order did not matter", 100*f.PrefixHit, 100*f.ContentHit)
}

// top is the sum of the n largest counts.
func top(counts []int, n int) (sum int) {
	slices.SortFunc(counts, func(a, b int) int { return b - a })
	for _, c := range counts[:min(n, len(counts))] {
		sum += c
	}
	return sum
}
