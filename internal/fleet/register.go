package fleet

import "slices"

// registration is a worker that was registered while the fleet runs.
type registration struct {
	id    string
	specs []Spec // one, or one for each of its ranks
}

// Register adds a worker beside those that are named, or replaces the one that was
// registered with this ID. It fails, and changes nothing, on specs that Set would
// leave out: what is named cannot be registered.
func (f *Fleet) Register(id string, specs []Spec) error {
	f.setting.Lock()
	defer f.setting.Unlock()
	before := f.registered
	f.registered = append(without(before, id), registration{id, specs})
	if err := f.merge()[1]; err != nil {
		f.registered = before
		f.merge()
		return err
	}
	return nil
}

// Remove forgets a worker that was registered, and reports whether there was one.
func (f *Fleet) Remove(id string) bool {
	f.setting.Lock()
	defer f.setting.Unlock()
	before := len(f.registered)
	f.registered = without(f.registered, id)
	f.merge()
	return len(f.registered) < before
}

func without(all []registration, id string) []registration {
	return slices.DeleteFunc(slices.Clone(all), func(r registration) bool { return r.id == id })
}
