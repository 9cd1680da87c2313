package fleet

import (
	"context"
	"strings"
	"time"
)

// Source is a place where workers are found, looked at again and again.
type Source struct {
	// Name names it for people; of the sources of a fleet each has its own.
	Name string
	// Interval is the time between two looks.
	Interval time.Duration
	// Find returns all workers that are there now, within the time of ctx. It is
	// called by one goroutine. When it fails, what it found last stays in force.
	Find func(ctx context.Context) ([]Spec, error)
}

// SourceStatus is what is known of a source, for people.
type SourceStatus struct {
	Name    string
	Workers int       // found last
	Found   time.Time // when that was; zero if it never was
	Error   string    // why it cannot be read now, or what of it was left out; ""
}

// find is what a source said last.
type find struct {
	source Source
	specs  []Spec
	at     time.Time
	err    error  // of the last look
	left   error  // what of the specs is left out
	told   string // of both, in the log
}

// trouble is what is wrong with it, in one line.
func (found *find) trouble() string {
	err := found.err
	if err == nil {
		err = found.left
	}
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

// findTimeout bounds one look at a source.
const findTimeout = 5 * time.Second

// Discover replaces the places where further workers are found. What a source of
// the same name found last stays in force; what others found is forgotten.
func (f *Fleet) Discover(sources []Source) {
	f.setting.Lock()
	defer f.setting.Unlock()
	if f.ctx.Err() != nil {
		return
	}
	f.unlook()
	before := f.finds
	f.finds = nil
	ctx, stop := context.WithCancel(f.ctx)
	f.unlook = stop
	for _, s := range sources {
		next := &find{}
		for _, known := range before {
			if known.source.Name == s.Name {
				*next = *known
			}
		}
		next.source = s
		f.finds = append(f.finds, next)
	}
	f.merge()
	for _, found := range f.finds {
		f.running.Go(func() {
			repeat(ctx, nil, 0, func() time.Duration {
				f.look(ctx, found)
				return spread(found.source.Interval)
			})
		})
	}
}

// look looks at a source once.
func (f *Fleet) look(ctx context.Context, found *find) {
	limit, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	specs, err := found.source.Find(limit)
	f.setting.Lock()
	defer f.setting.Unlock()
	if ctx.Err() != nil {
		return
	}
	if found.err = err; err == nil {
		found.specs, found.at = specs, time.Now()
	}
	f.merge()
}

// tell logs what is wrong with the sources, when it is news. The lock is held.
func (f *Fleet) tell() {
	for _, found := range f.finds {
		text := found.trouble()
		switch log := f.options.Logger; {
		case text == found.told:
		case text == "":
			log.Info("workers are found again", "source", found.source.Name, "workers", len(found.specs))
		default:
			log.Warn("not all workers can be found; those found last stay", "source", found.source.Name, "error", text, "workers", len(found.specs))
		}
		found.told = text
	}
}

// Sources returns the status of every source, in order.
func (f *Fleet) Sources() []SourceStatus {
	f.setting.Lock()
	defer f.setting.Unlock()
	out := make([]SourceStatus, len(f.finds))
	for i, found := range f.finds {
		out[i] = SourceStatus{found.source.Name, len(found.specs), found.at, found.trouble()}
	}
	return out
}
