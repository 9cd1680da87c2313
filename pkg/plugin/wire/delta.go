package wire

import (
	"fmt"
	"slices"

	"gatewayd/pkg/router"
)

// Delta returns the rows by which next differs from base, where a row without
// workers removes its key. It reports false when next is better sent whole: keys
// do not ascend, or half of them change.
func Delta(base, next *router.Table) (router.Table, bool) {
	var delta router.Table
	if len(base.Keys) == 0 || !ascend(base.Keys) || !ascend(next.Keys) {
		return delta, false
	}
	for i, j := 0, 0; i < len(base.Keys) || j < len(next.Keys); {
		switch {
		case j == len(next.Keys) || i < len(base.Keys) && base.Keys[i] < next.Keys[j]:
			delta.Append(base.Keys[i])
			i++
		case i == len(base.Keys) || next.Keys[j] < base.Keys[i]:
			delta.Append(next.Keys[j], next.Of(j)...)
			j++
		default:
			if !slices.Equal(base.Of(i), next.Of(j)) {
				delta.Append(next.Keys[j], next.Of(j)...)
			}
			i++
			j++
		}
		if 2*len(delta.Keys) > len(next.Keys) {
			return router.Table{}, false
		}
	}
	return delta, true
}

// Apply returns the table that the rows of delta make of base, which stays as it
// is. It is the inverse of Delta.
func Apply(base, delta *router.Table) (router.Table, error) {
	if !ascend(base.Keys) || !ascend(delta.Keys) {
		return router.Table{}, fmt.Errorf("changes to a table whose keys do not ascend")
	}
	out := router.Table{
		Keys:    make([]uint64, 0, len(base.Keys)+len(delta.Keys)),
		Offsets: append(make([]uint32, 0, len(base.Keys)+len(delta.Keys)+1), 0),
		Members: make([]uint16, 0, len(base.Members)+len(delta.Members)),
	}
	at := 0
	for i, key := range delta.Keys {
		n, found := slices.BinarySearch(base.Keys[at:], key)
		appendRows(&out, base, at, at+n)
		if at += n; found {
			at++
		}
		if members := delta.Of(i); len(members) > 0 {
			out.Append(key, members...)
		} else if !found {
			return router.Table{}, fmt.Errorf("changes remove key %d, which the table does not have", key)
		}
	}
	appendRows(&out, base, at, len(base.Keys))
	if len(out.Keys) == 0 {
		return router.Table{}, nil
	}
	return out, nil
}

// appendRows appends the rows of from between two indexes.
func appendRows(t, from *router.Table, first, last int) {
	if first == last {
		return
	}
	shift := uint32(len(t.Members)) - from.Offsets[first]
	t.Keys = append(t.Keys, from.Keys[first:last]...)
	t.Members = append(t.Members, from.Members[from.Offsets[first]:from.Offsets[last]]...)
	for _, end := range from.Offsets[first+1 : last+1] {
		t.Offsets = append(t.Offsets, end+shift)
	}
}

// ascend reports whether each key is higher than the one before it.
func ascend(keys []uint64) bool {
	for i := 1; i < len(keys); i++ {
		if keys[i] <= keys[i-1] {
			return false
		}
	}
	return true
}
