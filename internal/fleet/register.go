package fleet

import "slices"

// registration is a worker that was registered while the fleet runs.
type registration struct {
	id    string
	specs []Spec // one, or one for each of its ranks
}

// Register adds a worker beside those that are named, or replaces the one that was
// registered with this ID. It fails, and changes nothing, on specs that Set would
// leave out: what is named cannot be registered. A fleet that is to take this one's
// place gets the worker as well, and leaves it out if it names another one so.
func (f *Fleet) Register(id string, specs []Spec) error {
	f.setting.Lock()
	next, closed := f.next.Value(), f.ctx.Err() != nil
	others := without(f.registered, id)
	_, left := unite([][]Spec{f.set, specsOf(others), specs})
	err := left[2]
	if err == nil && !closed {
		f.registered = append(others, registration{id, specs})
		f.merge()
	}
	f.setting.Unlock()
	switch {
	case closed && next != nil:
		return next.Register(id, specs)
	case closed:
		return errClosed
	case err == nil && next != nil:
		next.inherit(id, specs)
	}
	return err
}

// inherit takes in that a worker was registered at the fleet whose place this one is
// to take.
func (f *Fleet) inherit(id string, specs []Spec) {
	f.setting.Lock()
	next := f.next.Value()
	if f.ctx.Err() == nil {
		f.registered = append(without(f.registered, id), registration{id, specs})
		f.tellLeft(f.merge()[1])
	}
	f.setting.Unlock()
	if next != nil {
		next.inherit(id, specs)
	}
}

// Remove forgets a worker that was registered, and reports whether this fleet, or the
// one that is to take its place, had it.
func (f *Fleet) Remove(id string) bool {
	f.setting.Lock()
	next, before := f.next.Value(), len(f.registered)
	f.registered = without(f.registered, id)
	removed := len(f.registered) < before
	if removed && f.ctx.Err() == nil {
		f.merge()
	}
	f.setting.Unlock()
	return next != nil && next.Remove(id) || removed
}

func without(all []registration, id string) []registration {
	return slices.DeleteFunc(slices.Clone(all), func(r registration) bool { return r.id == id })
}

// specsOf returns the workers of all registrations.
func specsOf(all []registration) []Spec {
	var specs []Spec
	for _, r := range all {
		specs = append(specs, r.specs...)
	}
	return specs
}
