package plugin

import (
	"reflect"
	"testing"

	"gatewayd/pkg/plugin/wire"
	"gatewayd/pkg/router"
)

// Whatever field of a worker changes, the next route says so.
func TestTableNoticesEveryField(t *testing.T) {
	in := router.Input{Workers: workers(3)}
	var table table
	said := func() int {
		var task wire.RouteTask
		write := table.prepare(&in, &task)
		return len(write.GetSlots()) + len(task.Loads) + len(task.PeersAge)
	}
	if n := said(); n != 3 {
		t.Fatalf("of 3 new workers %d are told", n)
	}
	each(reflect.ValueOf(&in.Workers[1]).Elem(), "Worker", func(name string, change func()) {
		if n := said(); n != 0 {
			t.Errorf("before %s changes, %d things are told", name, n)
		}
		change()
		if n := said(); n == 0 {
			t.Errorf("nobody is told that %s changes", name)
		}
		in.Workers[1].Load.PeersAge = 0 // it is told with every route
	})
}

// A plugin that missed a write to the table says so instead of answering about
// other workers.
func TestWritesToTheTableAreCounted(t *testing.T) {
	slots := func(numbers ...uint32) (s []*wire.Slot) {
		for _, n := range numbers {
			s = append(s, &wire.Slot{Slot: n, Worker: &wire.Worker{Id: "w"}})
		}
		return s
	}
	for want, writes := range map[string][]*wire.TableWrite{
		"":                               {{Number: 1, Slots: slots(0, 1)}, {Number: 2, Clear: true, Slots: slots(0)}, {Number: 3, Slots: slots(1, 0)}},
		"write 2 to the table of":        {{Number: 2, Slots: slots(0)}},
		"write 1 to the table of":        {{Number: 1, Slots: slots(0)}, {Number: 1, Slots: slots(0)}},
		"slot 2 of the table of workers": {{Number: 1, Slots: slots(0, 2)}},
	} {
		l := laneServer{in: &served{}}
		var err error
		for _, w := range writes {
			if err == nil {
				err = l.work([]*wire.Task{{Work: &wire.Task_Table{Table: w}}})
			}
		}
		switch {
		case want == "" && err != nil:
			t.Error(err)
		case want != "":
			wantError(t, want, err, ErrInvalid, want)
		}
	}
}

// each calls f for every field of v, with a function that changes it.
func each(v reflect.Value, name string, f func(name string, change func())) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			each(v.Field(i), name+"."+v.Type().Field(i).Name, f)
		}
	case reflect.String:
		f(name, func() { v.SetString(v.String() + "x") })
	case reflect.Bool:
		f(name, func() { v.SetBool(!v.Bool()) })
	case reflect.Int, reflect.Int64:
		f(name, func() { v.SetInt(v.Int() + 1) })
	case reflect.Uint64:
		f(name, func() { v.SetUint(v.Uint() + 1) })
	case reflect.Float64:
		f(name, func() { v.SetFloat(v.Float() + 1) })
	default:
		panic("no rule to change a " + v.Kind().String())
	}
}
