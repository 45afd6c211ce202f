package forge

import (
	"cmp"
	"slices"
	"sync"
)

// maxDrift is the maximum number of different entries in a Drift.
const maxDrift = 10_000

// Drift records the parts of responses that this version of the package does not know: unknown
// fields, and values of a type other than the documented one. It stores names and JSON types, never
// values. A Drift is safe for concurrent use; the zero Drift is ready for use. See WithDrift.
type Drift struct {
	mu      sync.Mutex
	entries map[driftKey]int
	dropped int
}

type driftKey struct{ route, path, want, got string }

// DriftEntry is a field that a server sends and this package does not know, or reads as another
// type.
type DriftEntry struct {
	// Route is the endpoint: "GET /groups/:id/issues".
	Route string
	// Pointer is the field's place in a response, as a JSON pointer with "*" for indexes and for
	// keys that are data: "/*/author/pronouns".
	Pointer string
	// Want is the JSON type that the package expects; empty for an unknown name.
	Want string
	// Got is the JSON type that the server sent.
	Got string
	// Count is the number of times that the server sent it.
	Count int
}

// Entries returns the recorded entries, sorted by route and path. Only the first 10,000 different
// entries are kept.
func (d *Drift) Entries() []DriftEntry {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := make([]DriftEntry, 0, len(d.entries))
	for k, count := range d.entries {
		list = append(list, DriftEntry{Route: k.route, Pointer: k.path, Want: k.want, Got: k.got, Count: count})
	}
	slices.SortFunc(list, func(a, b DriftEntry) int {
		return cmp.Or(cmp.Compare(a.Route, b.Route), cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Want, b.Want), cmp.Compare(a.Got, b.Got))
	})
	return list
}

// Dropped returns the number of findings that were not recorded, because d already had 10,000 other
// entries.
func (d *Drift) Dropped() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dropped
}

// watch returns a function that records the findings of one response, with cleaned names.
func (d *Drift) watch(r *route, clean func(text string, limit int) string) func(place, want, got string) {
	route := r.Method + " " + r.Template
	return func(place, want, got string) { d.record(driftKey{route, clean(place, 512), want, got}) }
}

func (d *Drift) record(key driftKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.entries == nil {
		d.entries = map[driftKey]int{}
	}
	if _, known := d.entries[key]; !known && len(d.entries) == maxDrift {
		d.dropped++
		return
	}
	d.entries[key]++
}
