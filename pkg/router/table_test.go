package router

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// bytesOf is what a compiled plan and its plan take for the table.
func bytesOf(c *Compiled) int {
	t := &c.plan.Table
	return 16*cap(c.table.slots) + 8*len(t.Keys) + 4*len(t.Offsets) + 2*len(t.Members)
}

// unmix is the inverse of Mix.
func unmix(x uint64) uint64 {
	x ^= x>>31 ^ x>>62
	x *= 0x319642b2d24d8ec3
	x ^= x>>27 ^ x>>54
	x *= 0x96de1b173f119089
	x ^= x>>30 ^ x>>60
	return x - 0x9e3779b97f4a7c15
}

// TestTableLikeMap looks up all keys, and others, in tables of random keys, of
// keys whose hashes are all close together, and of the two at the ends of the
// range of hashes.
func TestTableLikeMap(t *testing.T) {
	if unmix(Mix(12345)) != 12345 {
		t.Fatal("unmix does not undo Mix")
	}
	rng := rand.New(rand.NewPCG(11, 12))
	for round := range 300 {
		p := Plan{Version: 1}
		for range 8 {
			p.Workers = append(p.Workers, WorkerRef{ID: string(rune('a' + len(p.Workers)))})
		}
		want := map[uint64][]uint16{}
		var keys []uint64
		for range rng.IntN(200) {
			key := rng.Uint64()
			switch round % 4 {
			case 1:
				key = unmix(1<<40 + rng.Uint64N(50))
			case 2:
				key = unmix(^uint64(0) - rng.Uint64N(50))
			case 3:
				key = unmix(rng.Uint64N(2) * ^uint64(0))
			}
			var members []uint16
			for _, m := range rng.Perm(8)[:1+rng.IntN(8)] {
				members = append(members, uint16(m))
			}
			p.Table.Append(key, members...) // now and then again: the last counts
			want[key], keys = members, append(keys, key)
		}
		c, err := Compile(&p)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			for _, k := range []uint64{key, key + 1, unmix(Mix(key) + 1), unmix(Mix(key) - 1)} {
				if got := c.members(k); !slices.Equal(got, want[k]) {
					t.Fatalf("round %d: key %d has %v, want %v", round, k, got, want[k])
				}
			}
		}
		if c.members(rng.Uint64()) != nil {
			t.Errorf("round %d: a key that is not in the table has workers", round)
		}
	}
}

func TestSizeOfTable(t *testing.T) {
	for _, keys := range []uint64{1000, 100_000, 300_000} {
		p := Plan{Version: 1, Workers: []WorkerRef{{ID: "a"}}}
		p.Table = Table{Keys: make([]uint64, 0, keys), Offsets: make([]uint32, 1, keys+1), Members: make([]uint16, 0, keys)}
		for key := range keys {
			p.Table.Append(key, 0)
		}
		c, err := Compile(&p)
		if err != nil {
			t.Fatal(err)
		}
		if per := float64(bytesOf(c)) / float64(keys); per > 40 {
			t.Errorf("%d keys take %.1f bytes each, want at most 40", keys, per)
		}
	}
}

// BenchmarkTable looks up keys that are in the table (hit) and keys of which half
// are (half). "twin" is a map of slices, "reference" one read of a random place in
// as much memory as the table takes.
func BenchmarkTable(b *testing.B) {
	for _, keys := range []uint64{100_000, 1_000_000} {
		p := Plan{Version: 1, Workers: []WorkerRef{{ID: "a"}, {ID: "b"}}}
		twin := make(map[uint64][]uint16, keys)
		for key := range keys {
			p.Table.Append(Mix(key), uint16(key%2))
		}
		for i, key := range p.Table.Keys {
			twin[key] = p.Table.Of(i)
		}
		c, err := Compile(&p)
		if err != nil {
			b.Fatal(err)
		}
		memory := make([]uint16, len(c.table.slots)*8)
		for i := range memory {
			memory[i] = 1 // memory that was never written is one page
		}
		// Keys are drawn beforehand: to draw one takes as many steps as to find it.
		lookup := func(name string, asked []uint64, find func(keys []uint64) (found int)) {
			asked = slices.Clone(asked)
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(asked), func(i, j int) { asked[i], asked[j] = asked[j], asked[i] })
			b.Run(fmt.Sprintf("%s/keys=%d", name, keys), func(b *testing.B) {
				b.ReportAllocs()
				found, left := 0, asked
				report := onCore(b)
				for n := b.N; n > 0; {
					if len(left) == 0 {
						left = asked
					}
					some := left[:min(len(left), n, 1000)]
					found += find(some)
					n, left = n-len(some), left[len(some):]
				}
				report()
				b.ReportMetric(float64(bytesOf(c))/float64(keys), "B/key")
				if b.N > 1000 && found == 0 {
					b.Fatal("no key was found")
				}
			})
		}
		members := func(keys []uint64) (found int) {
			for _, key := range keys {
				found += len(c.members(key))
			}
			return found
		}
		strange := slices.Clone(p.Table.Keys)
		for i := range strange {
			strange[i] = Mix(uint64(i) + keys/2)
		}
		lookup("hit", p.Table.Keys, members)
		lookup("half", strange, members)
		lookup("twin", p.Table.Keys, func(keys []uint64) (found int) {
			for _, key := range keys {
				found += len(twin[key])
			}
			return found
		})
		lookup("reference", p.Table.Keys, func(keys []uint64) (found int) {
			for _, key := range keys {
				at, _ := bits.Mul64(key, uint64(len(memory)))
				found += int(memory[at])
			}
			return found
		})
		b.Run(fmt.Sprintf("compile/keys=%d", keys), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Compile(&p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
