package cacheroute

import (
	"reflect"
	"testing"

	"gatewayd/pkg/router"
)

func TestSettled(t *testing.T) {
	var before router.Table
	before.Append(2, 0)
	before.Append(5, 0, 2)
	got := settled(&before, []router.KeyRate{{Key: 1, Home: 3}, {Key: 2, Home: 3}, {Key: 3}, {Key: 4, Home: 1}, {Key: 9, Home: 2}})
	var want router.Table
	want.Append(1, 2)
	want.Append(2, 0) // planned homes win
	want.Append(4, 0)
	want.Append(5, 0, 2)
	want.Append(9, 1)
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("settled to %+v, want %+v", *got, want)
	}
}
