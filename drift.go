package forge

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// maxDrift is how many different entries a Drift keeps.
const maxDrift = 10_000

// Drift collects what servers send that this version of the package does not know: fields that no struct field names, and values of
// another type than documented. It holds names and JSON types, and no values. A Drift is safe for concurrent use; the zero Drift
// is ready for use. See WithDrift.
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
	// Path is the field's place in a response, as a JSON pointer with "*" for indexes and for keys that are data:
	// "/*/author/pronouns".
	Path string
	// Want is the JSON type that the package reads there; empty for a name that it does not know.
	Want string
	// Got is the JSON type that came.
	Got string
	// Count is how often it came.
	Count int
}

// WithDrift makes the client record what it does not know in the responses that it decodes, for reports and for tests against a new
// release of a server. The values stay in Extra and in Response.Mismatches as without it. nil records nothing. A column of
// PlaceholderReassignmentsService.List that no field names is recorded for each row.
func WithDrift(d *Drift) Option {
	return func(c *config) error {
		c.drift = d
		return c.give("WithDrift")
	}
}

// Entries returns what was recorded, sorted by route and path. Of more than 10,000 different entries the first are kept.
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
	route := r.method + " " + r.template
	return func(place, want, got string) { d.record(driftKey{route, cleanText(place, 512), want, got}) }
}

// columns returns a yield that records the columns of a file that no field names.
func (d *Drift) columns(r *route, yield func(*PlaceholderReassignment, error) bool) func(*PlaceholderReassignment, error) bool {
	watch := d.watch(r)
	if watch == nil {
		return yield
	}
	return func(row *PlaceholderReassignment, err error) bool {
		if err == nil {
			for name := range row.Extra {
				watch("/*/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name), "", "string")
			}
		}
		return yield(row, err)
	}
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
