package gateway

import (
	"maps"
	"slices"
	"strings"
)

// priority returns the priority of the class that the client names for its
// request, 0 if it names none.
func (x *exchange) priority() (int, *apiError) {
	named := x.r.Header.Get(x.priorities)
	if named == "" {
		return 0, nil
	}
	h := x.cfg.Headers
	priority, known := h.Priorities[named]
	if !known {
		return 0, badRequest("", "the header "+h.Priority+" names no class of priority; it may be "+strings.Join(slices.Sorted(maps.Keys(h.Priorities)), ", "))
	}
	return priority, nil
}
