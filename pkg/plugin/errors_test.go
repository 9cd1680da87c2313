package plugin

import (
	"errors"
	"fmt"
	"testing"

	"gatewayd/pkg/plugin/wire"
)

// Every code of the protocol has a sentinel of its own, which the error has again
// on the other side, with its message.
func TestErrorsSurviveTheWire(t *testing.T) {
	kinds := map[wire.Code]error{}
	for _, c := range errorCodes {
		kinds[c.code] = c.err
	}
	for number, name := range wire.Code_name {
		kind := kinds[wire.Code(number)]
		if number == 0 {
			kind = errors.New("any other")
		}
		if kind == nil {
			t.Errorf("%s has no sentinel", name)
			continue
		}
		sent := tag(kind, fmt.Errorf("what happened: %d", number))
		m := encodeError(sent)
		if int32(m.GetCode()) != number {
			t.Errorf("%v is sent as %v, want %s", kind, m.GetCode(), name)
		}
		got := decodeError(m)
		if got.Error() != sent.Error() || number != 0 && !errors.Is(got, kind) {
			t.Errorf("%s comes back as %v", name, got)
		}
		for other, k := range kinds {
			if other != wire.Code(number) && errors.Is(got, k) {
				t.Errorf("%s comes back as %v, too", name, other)
			}
		}
	}
	if decodeError(encodeError(nil)) != nil {
		t.Error("no error comes back as one")
	}
}
