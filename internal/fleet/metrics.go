package fleet

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
)

// maxMetrics bounds one reading of metrics in bytes, decompressed.
const maxMetrics = 16 << 20

// errLarge is of metrics that are not read to their end.
var errLarge = errors.New("metrics are larger")

// maxLine bounds one line of metrics in bytes; longer ones are skipped.
const maxLine = 32 << 10

// Parse reads metrics in Prometheus' text form and keeps the names it knows;
// lines that it cannot read are skipped, as are values that are no count. It fails
// only when reading fails or the text is larger than 16 MiB: half a text would make
// half a sum.
func Parse(r io.Reader) (Sample, error) { return parse(r, maxMetrics, "") }

// parse is Parse with a limit in bytes, for one data-parallel rank, or "" for all.
// It fails when there are series of ranks, but none of that one.
func parse(r io.Reader, limit int64, rank string) (Sample, error) {
	limited := &io.LimitedReader{R: r, N: limit + 1}
	in := lineReaders.Get().(*bufio.Reader)
	in.Reset(limited)
	defer func() {
		in.Reset(nil)
		lineReaders.Put(in)
	}()
	s := sums{rank: rank}
	for {
		line, err := in.ReadSlice('\n')
		long := false
		for errors.Is(err, bufio.ErrBufferFull) {
			long = true
			_, err = in.ReadSlice('\n')
		}
		if !long {
			s.line(line)
		}
		if limited.N <= 0 {
			return Sample{}, fmt.Errorf("%w than %d bytes", errLarge, limit)
		}
		if err == io.EOF && s.others != "" && !s.own {
			return Sample{}, fmt.Errorf("the metrics tell of data-parallel rank %.20q and not of rank %s: check the worker's ranks", s.others, rank)
		}
		if err == io.EOF {
			return s.sample(), nil
		}
		if err != nil {
			return Sample{}, fmt.Errorf("read metrics: %w", err)
		}
	}
}

// lineReaders are kept, since all workers are read every second or so.
var lineReaders = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, maxLine) }}

// sums adds up series by quantity and rank of the name.
type sums struct {
	engine string
	rank   string // that counts; "" if all do
	own    bool   // a series of that rank was there
	others string // a rank that does not count
	total  [quantities][ranks]float64
	series [quantities][ranks]int
}

// line takes in one line: name, optionally {labels}, value, and whatever follows.
func (s *sums) line(line []byte) {
	line = bytes.TrimSpace(line)
	end := bytes.IndexAny(line, "{ \t")
	if end <= 0 || line[0] == '#' {
		return
	}
	from, ok := sources[string(line[:end])]
	if !ok {
		return
	}
	var labels []byte
	rest := bytes.TrimLeft(line[end:], " \t")
	if rest[0] == '{' {
		if labels, rest, ok = cutLabels(rest); !ok {
			return
		}
	}
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return
	}
	value, ok := number(fields[0])
	if from.size != "" {
		size, sized := number(label(labels, from.size))
		count, counted := number(label(labels, from.count))
		value, ok = size*count, sized && counted
	}
	if !s.counts(labels) {
		return
	}
	// SGLang writes a total, and again the part of each priority.
	if !ok || len(label(labels, "priority")) > 0 {
		return
	}
	if s.engine == "" {
		s.engine = from.engine
	}
	s.total[from.quantity][from.rank] += value
	s.series[from.quantity][from.rank]++
}

// counts reports whether a series with these labels is of the wanted rank, or of
// the whole server.
func (s *sums) counts(labels []byte) bool {
	for _, name := range [...]string{"engine", "dp_rank"} { // of vLLM and SGLang
		of := label(labels, name)
		if s.rank == "" || of == nil {
			continue
		}
		if string(of) != s.rank {
			s.others = string(of)
			return false
		}
		s.own = true
	}
	return true
}

// sample chooses among the names of each quantity.
func (s *sums) sample() Sample {
	out := Sample{
		Engine: s.engine, Running: s.sum(running), Waiting: s.sum(waiting), KVUsed: s.mean(kvUsed),
		KVTokens: s.sum(kvTokens), PromptTokens: s.sum(promptTokens), OutputTokens: s.sum(outputTokens),
		CacheQueries: s.sum(cacheQueries), CacheHits: s.sum(cacheHits), HitRate: s.mean(hitRate), Start: s.mean(processStart),
	}
	for _, share := range []*Figure{&out.KVUsed, &out.HitRate} {
		if share.Value > 1.01 { // no share: some exporter's per cent
			*share = Figure{}
		}
		share.Value = min(share.Value, 1)
	}
	if count, size := s.sum(blocks), s.mean(blockTokens); count.Known && size.Known && !out.KVTokens.Known {
		out.KVTokens = Figure{count.Value * size.Value, true}
	}
	return out
}

func (s *sums) sum(q quantity) Figure {
	for rank, n := range s.series[q] {
		if n > 0 {
			return Figure{s.total[q][rank], true}
		}
	}
	return Figure{}
}

func (s *sums) mean(q quantity) Figure {
	for rank, n := range s.series[q] {
		if n > 0 {
			return Figure{s.total[q][rank] / float64(n), true}
		}
	}
	return Figure{}
}

// number reads a number that is not negative and no larger than any count.
func number(text []byte) (float64, bool) {
	f, err := strconv.ParseFloat(string(text), 64)
	return f, err == nil && f >= 0 && f < 1e18
}

// cutLabels splits {labels} from what follows; a brace in a quoted value does
// not end them.
func cutLabels(text []byte) (labels, rest []byte, ok bool) {
	quoted := false
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == '}' && !quoted:
			return text[1:i], text[i+1:], true
		}
	}
	return nil, nil, false
}

// label returns the value of a label as it is written, nil if there is none.
func label(labels []byte, name string) []byte {
	for {
		before, after, ok := bytes.Cut(labels, []byte("="))
		after, quoted := bytes.CutPrefix(bytes.TrimLeft(after, " \t"), []byte(`"`))
		if !ok || !quoted {
			return nil
		}
		end := 0
		for end < len(after) && after[end] != '"' {
			if after[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(after) {
			return nil
		}
		if string(bytes.Trim(before, ", \t")) == name {
			return after[:end]
		}
		labels = after[end+1:]
	}
}
