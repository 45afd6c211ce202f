package forge

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFiltersAreDocumented is the table of all fields of options, those of Not included, and of all
// methods that take them: a field that neither the catalogue nor deployed servers have on the
// endpoint is refused before anything is sent, with its names, and Unchecked sends it. Every other
// field arrives: TestConformance.
func TestFiltersAreDocumented(t *testing.T) {
	server := newContractServer(t)
	refusals, fields := 0, 0
	for _, c := range conformanceCases(t) {
		if c.options == nil || c.endpoint.Method != http.MethodGet {
			continue
		}
		all := wireFields(t, reflect.New(c.options).Interface())
		fields += len(all)
		for _, wire := range slices.Sorted(maps.Keys(all)) {
			key := nameKey(wire)
			if !c.foreign[key] {
				continue
			}
			refusals++
			client := server.begin(t, c.endpoint)
			foreign := c.foreign
			c.foreign = nil
			left := c.fill(t, 0, nil).keys()
			delete(left, key)
			only := c.fill(t, 0, left)
			c.foreign = foreign
			in, _ := c.arguments(t, client, only)
			var invalid *ValidationError
			require.ErrorAs(t, consume(c.method.Call(in)), &invalid, "%s: %s", c.name, wire)
			assert.Equal(t, strings.TrimSuffix(wire, "[]"), strings.TrimSuffix(invalid.Param, "[]"), c.name)
			assert.Equal(t, c.options.Name()+"."+fieldOf(c.options, wire), invalid.Option, c.name)
			assert.Contains(t, invalid.Reason, c.endpoint.Path)
			assert.Empty(t, server.end(), "%s: %s", c.name, wire)
			require.NoError(t, consume(c.method.Call(append(in, reflect.ValueOf(Unchecked())))))
			assert.Equal(t, only.sent[key].texts, server.end()[0].query[wire], "%s: %s", c.name, wire)
			client.CloseIdleConnections()
		}
	}
	// entity_type and entity_id of two lists, version_prefix, iids of all merge requests, and the keys
	// of not that one list of issues has.
	assert.Equal(t, 2*2+1+1+4, refusals)
	t.Logf("%d of %d pairs of a field and a method are refused", refusals, fields)
}

// TestFilterTypesTakeWhatTheRowsAllow compares the types of fields with the rows of the catalogue: a
// type takes the words that the row has and no others, an id where the row has integers, and a
// boolean of which one value is legal cannot have the other.
func TestFilterTypesTakeWhatTheRowsAllow(t *testing.T) {
	seen := 0
	for _, c := range conformanceCases(t) {
		if c.options == nil || c.endpoint.Method != http.MethodGet {
			continue
		}
		all := wireFields(t, reflect.New(c.options).Interface())
		for _, param := range c.endpoint.params() {
			field, known := all[param.Wire]
			if !known {
				continue
			}
			seen++
			if param.Wire == "not[milestone_id]" { // the row of not names keys; the words are those of milestone_id
				param.Special = []string{"None", "Any", "Upcoming", "Started"}
			}
			at := c.name + " " + param.Wire
			for word, value := range map[string]any{"None": None, "Any": Any, "Upcoming": Upcoming, "Started": Started} {
				assert.Equal(t, slices.Contains(param.Special, word), fits(value, field), "%s: %s", at, word)
			}
			if fits(ID(1), field) || fits(Number(1), field) || field == reflect.TypeFor[*Number]() {
				assert.Equal(t, "integer", param.Type, at)
			}
			if param.Type == "boolean" {
				assert.Equal(t, len(param.Allowed) == 1, field == reflect.TypeFor[bool](), at)
			}
		}
	}
	assert.Greater(t, seen, 150)
}

// TestNotExcludesAsTheRowsDo tries each pair of keys of not: it is refused where the rows of the two
// parameters exclude one another, and nowhere else.
func TestNotExcludesAsTheRowsDo(t *testing.T) {
	endpoints, pairs := readEndpoints(t), 0
	for id, options := range map[string]any{"issues.list": &ListIssuesOptions{}, "merge_requests.list": &ListMergeRequestsOptions{}} {
		exclusive := map[string]bool{}
		for _, param := range endpoints[id].Query {
			for _, other := range param.ExclusiveWith {
				exclusive[param.Name+" "+other] = true
			}
		}
		kind := reflect.TypeOf(options).Elem()
		not, _ := kind.FieldByName("Not")
		for one := range not.Type.Elem().Fields() {
			for other := range not.Type.Elem().Fields() {
				if one.Name >= other.Name {
					continue
				}
				full, inner := reflect.New(kind), reflect.New(not.Type.Elem())
				inner.Elem().FieldByIndex(one.Index).Set(sample(t, one.Type))
				inner.Elem().FieldByIndex(other.Index).Set(sample(t, other.Type))
				full.Elem().FieldByIndex(not.Index).Set(inner)
				first, _, _ := strings.Cut(one.Tag.Get("url"), ",")
				second, _, _ := strings.Cut(other.Tag.Get("url"), ",")
				excluded := exclusive[first+" "+second] || exclusive[second+" "+first]
				pairs++
				assert.Equal(t, excluded, checkOptions(full.Interface()) != nil, "%s: not[%s] and not[%s]", id, first, second)
			}
		}
	}
	assert.Greater(t, pairs, 100)
}
