package contracttest_test

import (
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
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

// exclusions are pairs of parameters, by their wire names, that exclude each other by the rows of
// an endpoint. Two keys of not do so if the rows of these names do.
func exclusions(e catalogue.Endpoint) map[[2]string]bool {
	pairs := map[[2]string]bool{}
	for _, param := range e.Query {
		for _, other := range param.ExclusiveWith {
			for _, form := range []string{"%s", "not[%s]"} {
				one, two := fmt.Sprintf(form, param.Name), fmt.Sprintf(form, other)
				pairs[[2]string{one, two}], pairs[[2]string{two, one}] = true, true
			}
		}
	}
	return pairs
}

// TestExcludedPairsAsDocumented tests each pair of filters of a list, and each pair of keys of not.
// The client and the server each refuse it exactly if the rows exclude each other.
func TestExcludedPairsAsDocumented(t *testing.T) {
	endpoints, pairs, client := catalogue.Endpoints(t), 0, forgetest.New(t).Client()
	free := []forge.RequestOption{forge.SkipValidation(), forge.OnePage()}
	for id, list := range map[string]func(options any) error{
		"issues.list": func(o any) error {
			return first(client.Issues.List(t.Context(), o.(*forge.ListIssuesOptions), free...))
		},
		"merge_requests.list": func(o any) error {
			return first(client.MergeRequests.List(t.Context(), o.(*forge.ListMergeRequestsOptions), free...))
		},
	} {
		excluded := exclusions(endpoints[id])
		kind := reflect.TypeOf(map[string]any{"issues.list": forge.ListIssuesOptions{}, "merge_requests.list": forge.ListMergeRequestsOptions{}}[id])
		names := slices.Sorted(maps.Keys(cases.WireFields(t, reflect.New(kind).Interface())))
		for i, one := range names {
			for _, other := range names[:i] {
				if strings.HasPrefix(one, "not[") != strings.HasPrefix(other, "not[") {
					continue
				}
				pairs++
				full := reflect.New(kind)
				setFilter(t, full, one)
				setFilter(t, full, other)
				want := excluded[[2]string{strings.TrimSuffix(one, "[]"), strings.TrimSuffix(other, "[]")}]
				text := fmt.Sprint(cases.Check(t, full.Interface()))
				assert.Equal(t, want, strings.Contains(text, "it cannot be combined with"), "%s, the client: %s and %s: %s", id, one, other, text)
				text = fmt.Sprint(list(full.Interface()))
				assert.Equal(t, want, strings.Contains(text, "are mutually exclusive"), "%s, the server: %s and %s: %s", id, one, other, text)
			}
		}
	}
	assert.Greater(t, pairs, 800)
}

// setFilter sets the field of a filter, which may be one of Not, to a sample value.
func setFilter(t *testing.T, options reflect.Value, wire string) {
	for name := range strings.SplitSeq(catalogue.GoName(options.Type(), wire), ".") {
		if options.IsNil() { // Not
			options.Set(reflect.New(options.Type().Elem()))
		}
		options = options.Elem().FieldByName(name)
	}
	options.Set(cases.Sample(t, options.Type()))
}

// first returns the error of the first page of a list.
func first[T any](list iter.Seq2[*T, error]) error {
	_, err := forge.Collect(list)
	return err
}

// TestFiltersInAForm lists issues with the filters in the body of a GET: forgetest reads it, and each
// page has the same filters.
func TestFiltersInAForm(t *testing.T) {
	server := forgetest.New(t)
	server.AddProject("group/app").AddIssues(7, func(i int, issue *forgetest.Document) { issue.Set("labels", []string{[]string{"a", "b"}[i%2]}) })
	call := forge.Call{Route: "/groups/:id/issues", Args: []forge.Arg{forge.Path("group")}, Form: url.Values{"labels": {"a"}}}
	issues, err := forge.Collect(forge.ListAs[forge.Issue](t.Context(), server.Client(), call, forge.PerPage(2)))
	require.NoError(t, err)
	assert.Len(t, issues, 4)
}
