package fleet

import (
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// TestRegister: registered workers stand beside those that are named, which they
// cannot take the place of, move with their address, and outlive a change of the
// configuration.
func TestRegister(t *testing.T) {
	w := network("a", "b", "c", "d")
	within(t, w, []Spec{spec("a")}, func(t *testing.T, f *Fleet) {
		for _, id := range []string{"b", "c"} {
			if err := f.Register(id, []Spec{spec(id)}); err != nil {
				t.Error(err)
			}
		}
		pass(time.Second)
		expect(t, "three", pool(f, "llama"), "a b c")
		if err := f.Register("a", []Spec{spec("a")}); err == nil {
			t.Error("a worker that is named can be registered")
		}
		if err := f.Register("e", []Spec{{Worker: router.Worker{ID: "e"}}}); err == nil {
			t.Error("a worker without an address can be registered")
		}
		moved := spec("b")
		moved.URL = spec("d").URL
		if err := f.Register("b", []Spec{moved}); err != nil {
			t.Error(err)
		}
		pass(time.Second)
		expect(t, "moved", f.Snapshot().Pools()["llama"][1].URL.Host, "d")
		heir, err := New([]Spec{spec("a")}, Options{Transport: w, From: f})
		if err != nil {
			t.Fatal(err)
		}
		defer heir.Close()
		expect(t, "the next fleet", pool(heir, "llama"), "a b c")
		if !heir.Remove("b") || heir.Remove("b") || heir.Remove("a") {
			t.Error("it is not known who was registered")
		}
		pass(time.Second)
		expect(t, "removed", pool(heir, "llama"), "a c")
		expect(t, "the other fleet", pool(f, "llama"), "a b c")
	})
}
