package contracttest_test

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
	"github.com/forge-sdk/forge-go/internal/contracttest/catalogue"
)

// TestFiltersAreDocumented tests all fields of options, including the fields of Not, with all
// methods that have these options. A field that neither the catalogue nor deployed servers have on
// the endpoint is refused with its names, and nothing is sent; with SkipValidation it is sent.
// TestConformance tests that all other fields are sent.
func TestFiltersAreDocumented(t *testing.T) {
	server := newContractServer(t)
	refusals, fields := 0, 0
	for _, c := range cases.All(t) {
		if c.Options == nil || c.Endpoint.Method != http.MethodGet {
			continue
		}
		all := cases.WireFields(t, reflect.New(c.Options).Interface())
		fields += len(all)
		for _, wire := range slices.Sorted(maps.Keys(all)) {
			key := cases.NameKey(wire)
			if !c.Foreign[key] {
				continue
			}
			refusals++
			client := server.begin(t, c.Endpoint)
			foreign := c.Foreign
			c.Foreign = nil
			left := c.Fill(t, 0, nil).Keys()
			delete(left, key)
			only := c.Fill(t, 0, left)
			c.Foreign = foreign
			in, _ := c.Arguments(t, client, only)
			var invalid *forge.ValidationError
			require.ErrorAs(t, cases.Consume(c.Method.Call(in)), &invalid, "%s: %s", c.Name, wire)
			assert.Equal(t, strings.TrimSuffix(wire, "[]"), strings.TrimSuffix(invalid.Param, "[]"), c.Name)
			assert.Equal(t, c.Options.Name()+"."+catalogue.GoName(c.Options, wire), invalid.Option, c.Name)
			assert.Contains(t, invalid.Reason, c.Endpoint.Path)
			assert.Empty(t, server.end(), "%s: %s", c.Name, wire)
			require.NoError(t, cases.Consume(c.Method.Call(append(in, reflect.ValueOf(forge.SkipValidation())))))
			assert.Equal(t, only.Sent[key].Texts, server.end()[0].query[wire], "%s: %s", c.Name, wire)
			client.CloseIdleConnections()
		}
	}
	// These are entity_type and entity_id of two lists, version_prefix, iids of all merge requests,
	// and the keys of not that only one list of issues has.
	assert.Equal(t, 2*2+1+1+4, refusals)
	t.Logf("%d of %d pairs of a field and a method are refused", refusals, fields)
}

// TestFilterTypesMatchTheContract compares the types of fields with the rows of the catalogue: a
// type allows exactly the words of the row, an id only if the row has integers, and a boolean with
// one valid value cannot have the other value.
func TestFilterTypesMatchTheContract(t *testing.T) {
	seen := 0
	for _, c := range cases.All(t) {
		if c.Options == nil || c.Endpoint.Method != http.MethodGet {
			continue
		}
		all := cases.WireFields(t, reflect.New(c.Options).Interface())
		for _, param := range c.Endpoint.Params() {
			field, known := all[param.Wire]
			if !known {
				continue
			}
			seen++
			if param.Wire == "not[milestone_id]" { // the row of not has only the key; the row of milestone_id has its words
				param.Special = []string{"None", "Any", "Upcoming", "Started"}
			}
			at := c.Name + " " + param.Wire
			for word, value := range map[string]any{"None": forge.None, "Any": forge.Any, "Upcoming": forge.Upcoming, "Started": forge.Started} {
				assert.Equal(t, slices.Contains(param.Special, word), cases.Fits(value, field), "%s: %s", at, word)
			}
			if cases.Fits(forge.ID(1), field) || cases.Fits(forge.Number(1), field) || field == reflect.TypeFor[*forge.Number]() {
				assert.Equal(t, "integer", param.Type, at)
			}
			if param.Type == "boolean" {
				assert.Equal(t, len(param.Allowed) == 1, field == reflect.TypeFor[bool](), at)
			}
		}
	}
	assert.Greater(t, seen, 150)
}

// TestNotExcludesAsDocumented tests each pair of keys of not: it is refused exactly if the rows of
// the two parameters exclude each other.
func TestNotExcludesAsDocumented(t *testing.T) {
	endpoints, pairs := catalogue.Endpoints(t), 0
	for id, options := range map[string]any{"issues.list": &forge.ListIssuesOptions{}, "merge_requests.list": &forge.ListMergeRequestsOptions{}} {
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
				inner.Elem().FieldByIndex(one.Index).Set(cases.Sample(t, one.Type))
				inner.Elem().FieldByIndex(other.Index).Set(cases.Sample(t, other.Type))
				full.Elem().FieldByIndex(not.Index).Set(inner)
				first, _, _ := strings.Cut(one.Tag.Get("url"), ",")
				second, _, _ := strings.Cut(other.Tag.Get("url"), ",")
				excluded := exclusive[first+" "+second] || exclusive[second+" "+first]
				pairs++
				text := fmt.Sprint(cases.Check(t, full.Interface()))
				assert.Equal(t, excluded, strings.Contains(text, "it cannot be combined with"), "%s: not[%s] and not[%s]: %s", id, first, second, text)
				if !excluded && text != "<nil>" {
					assert.Contains(t, text, "does not document this filter", "%s: not[%s] and not[%s]", id, first, second)
				}
			}
		}
	}
	assert.Greater(t, pairs, 100)
}
