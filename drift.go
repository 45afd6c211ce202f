package forge

import (
	"cmp"
	"slices"
	"sync"

	"github.com/forge-sdk/forge-go/internal/safetext"
)

// maxDrift is how many different entries a Drift keeps.
const maxDrift = 10_000

// Drift collects what servers send that this version of the package does not know: fields that
// no struct field names, and values of another type than documented. It holds names and JSON
// types, and no values. A Drift is safe for concurrent use; the zero Drift is ready for use.
// See WithDrift.
type Drift struct {
	mu      sync.Mutex
	entries map[driftKey]int
	dropped int
}

type driftKey struct{ route, path, want, got string }

// DriftEntry is one field that a server sends and this package does not know, or reads otherwise.
type DriftEntry struct {
	// Route is the endpoint: "GET /groups/:id/issues".
	Route string
	// Path is the field's place in a response, as a JSON pointer with "*" for indexes and for
	// keys that are data: "/*/author/pronouns".
	Path string
	// Want is the JSON type that the package reads there; empty for a name that it does not know.
	Want string
	// Got is the JSON type that came.
	Got string
	// Count is how often it came.
	Count int
}

// Entries returns what was recorded, sorted by route and path. Of more than 10,000 different
// entries the first are kept.
func (d *Drift) Entries() []DriftEntry {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := make([]DriftEntry, 0, len(d.entries))
	for k, count := range d.entries {
		list = append(list, DriftEntry{Route: k.route, Path: k.path, Want: k.want, Got: k.got, Count: count})
	}
	slices.SortFunc(list, func(a, b DriftEntry) int {
		return cmp.Or(cmp.Compare(a.Route, b.Route), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Want, b.Want), cmp.Compare(a.Got, b.Got))
	})
	return list
}

// Dropped returns how many findings were not recorded, since there were 10,000 others.
func (d *Drift) Dropped() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dropped
}

// watch returns what records the findings of one response; nil for a nil Drift.
func (d *Drift) watch(r *route) func(place, want, got string) {
	if d == nil {
		return nil
	}
	route := r.Method + " " + r.Template
	return func(place, want, got string) { d.record(driftKey{route, safetext.Clean(place, 512), want, got}) }
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
