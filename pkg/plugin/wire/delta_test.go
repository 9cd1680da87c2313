package wire

import (
	"math/rand/v2"
	"strings"
	"testing"

	"gatewayd/pkg/router"
)

// changed returns a table of about n keys and one that differs from it in about
// one of every rows.
func changed(rnd *rand.Rand, n, every int) (base, next router.Table) {
	row := func() []uint16 {
		members := make([]uint16, 1+rnd.IntN(3))
		for i := range members {
			members[i] = uint16(rnd.IntN(8))
		}
		return members
	}
	for key := range uint64(n) {
		members := row()
		base.Append(key<<32, members...)
		if rnd.IntN(every) > 0 {
			next.Append(key<<32, members...)
			continue
		}
		if rnd.IntN(3) > 0 { // else the key is removed
			next.Append(key<<32, row()...)
		}
		if rnd.IntN(3) == 0 {
			next.Append(key<<32+1, row()...)
		}
	}
	return base, next
}

func TestDeltaMakesTheNextTable(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		base, next := changed(rnd, 100+n, 10)
		delta, ok := Delta(&base, &next)
		if !ok {
			t.Fatalf("no delta of %d keys", n)
		}
		var received router.Table
		for part := range EncodeTable(&delta) {
			if err := DecodeTable(part, &received); err != nil {
				t.Fatal(err)
			}
		}
		got, err := Apply(&base, &received)
		if err != nil {
			t.Fatal(err)
		}
		same(t, next, got)
	}
}

func TestDeltaIsSmallOrNone(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	base, next := changed(rnd, 10_000, 100)
	if delta, ok := Delta(&base, &next); !ok || len(delta.Keys) > 500 {
		t.Errorf("a change of one row in a hundred makes %d of 10000, %v", len(delta.Keys), ok)
	}
	if delta, ok := Delta(&base, &base); !ok || len(delta.Keys) > 0 {
		t.Errorf("no change makes %d rows, %v", len(delta.Keys), ok)
	}
	var empty, falling router.Table
	falling.Append(2, 0)
	falling.Append(1, 0)
	_, other := changed(rnd, 10_000, 1)
	for what, pair := range map[string][2]*router.Table{
		"from nothing":      {&empty, &base},
		"to nothing":        {&base, &empty},
		"of all rows":       {&base, &other},
		"from falling keys": {&falling, &base},
		"to falling keys":   {&base, &falling},
	} {
		if _, ok := Delta(pair[0], pair[1]); ok {
			t.Errorf("a delta %s", what)
		}
	}
}

func TestWrongDeltas(t *testing.T) {
	var base, falling, removes router.Table
	base.Append(5, 1)
	falling.Append(2, 0)
	falling.Append(1, 0)
	removes.Append(4)
	for want, pair := range map[string][2]*router.Table{
		"do not ascend": {&base, &falling},
		"remove key 4":  {&base, &removes},
		"whose keys":    {&falling, &removes},
	} {
		if _, err := Apply(pair[0], pair[1]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	removes = router.Table{}
	removes.Append(5)
	got, err := Apply(&base, &removes)
	if err != nil {
		t.Fatal(err)
	}
	same(t, router.Table{}, got)
}
