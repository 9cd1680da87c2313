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
