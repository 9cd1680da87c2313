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

// TestRegisterWhileAnotherIsTried: what is registered or removed while another fleet
// is tried stays so when that one takes over; where it names the worker itself, its
// own one counts.
func TestRegisterWhileAnotherIsTried(t *testing.T) {
	w := network("a", "b", "c", "d", "e")
	within(t, w, []Spec{spec("a")}, func(t *testing.T, old *Fleet) {
		register := func(f *Fleet, id string) {
			t.Helper()
			if err := f.Register(id, []Spec{spec(id)}); err != nil {
				t.Error(err)
			}
		}
		register(old, "b")
		pass(time.Second)
		next, err := New([]Spec{spec("a"), spec("e")}, Options{Transport: w, From: old})
		if err != nil {
			t.Fatal(err)
		}
		defer next.Close()
		register(old, "c")
		register(old, "e")
		if !old.Remove("b") || old.Remove("b") {
			t.Error("it is not known who was registered")
		}
		pass(10 * time.Second)
		expect(t, "the old one", pool(old, "llama"), "a c e")
		expect(t, "the new one", pool(next, "llama"), "a c e")
		register(next, "d") // e is left out there, which is nothing to d
		old.Close()
		register(old, "b") // by one who does not know of the other fleet yet
		if !old.Remove("c") || old.Register("a", []Spec{spec("a")}) == nil {
			t.Error("a fleet that was replaced does not ask the other one")
		}
		pass(10 * time.Second)
		expect(t, "at last", pool(next, "llama"), "a b d e")
	})
}

// A fleet that nobody replaces takes no worker once it is closed.
func TestRegisterAfterTheEnd(t *testing.T) {
	within(t, network("a", "b"), []Spec{spec("a")}, func(t *testing.T, f *Fleet) {
		f.Close()
		if err := f.Register("b", []Spec{spec("b")}); err == nil || f.Remove("b") {
			t.Errorf("%v", err)
		}
	})
}
