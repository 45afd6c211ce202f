package forgetest_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// fullOptions returns options of a kind in which every parameter of the contract has a value, a
// different one in each turn.
func fullOptions(t *testing.T, kind integrationKind, o forge.IntegrationOptions, turn int) forge.IntegrationOptions {
	t.Helper()
	branches := []forge.NotifiedBranches{forge.NotifiedBranchesAll, forge.NotifiedBranchesDefault, forge.NotifiedBranchesProtected, forge.NotifiedBranchesDefaultAndProtected}
	made := reflect.New(reflect.TypeOf(o).Elem())
	flags := 0 // each flag has a different sequence of values in the four turns
	for _, param := range kind.Params {
		field := optionField(made.Elem(), param.Name)
		require.True(t, field.IsValid(), "%s: no field for %s", kind.ID, param.Name)
		switch field.Interface().(type) {
		case *bool:
			flags++
			field.Set(reflect.ValueOf(new(flags>>turn&1 == 1)))
		case int:
			field.SetInt(int64(12 + turn))
		case forge.NotifiedBranches:
			field.Set(reflect.ValueOf(branches[turn%4]))
		case string:
			field.SetString(strings.Repeat("x", turn) + param.Name)
		default:
			require.Fail(t, "no value", "%s.%s: %s", kind.ID, param.Name, field.Type())
		}
	}
	return made.Interface().(forge.IntegrationOptions)
}

// optionField returns the field of a parameter.
func optionField(options reflect.Value, param string) reflect.Value {
	for field, value := range options.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name == param {
			return value
		}
	}
	return reflect.Value{}
}

// Every parameter of every kind that the client sets is stored by the server and decoded into typed
// options, except for secrets, which Decode reports. The group is identified by its id and by its
// path.
func TestClientReadsBackIntegrations(t *testing.T) {
	srv := forgetest.New(t, forgetest.WithGitLabVocabulary())
	group := srv.AddGroup("top").Path
	id := srv.AddGroup(group + "/sub").ID
	client := srv.Client(forge.WithVocabulary(forge.GitLab))
	kinds := integrationKinds(t)
	for i, o := range integrationOptions() {
		kind := forge.IntegrationKind(kinds[i].ID)
		for turn := range 4 {
			refs := []forge.Ref{forge.ID(id), forge.Path("top/sub")}
			if turn%2 == 1 {
				slices.Reverse(refs)
			}
			full := fullOptions(t, kinds[i], o, turn)
			require.NoError(t, client.Integrations.Set(t.Context(), refs[0], full), "%T", o)
			read, err := client.Integrations.Get(t.Context(), refs[1], kind)
			require.NoError(t, err, "%T", o)
			again := reflect.New(reflect.TypeOf(o).Elem())
			hidden, err := read.Decode(again.Interface().(forge.IntegrationOptions))
			require.NoError(t, err, "%T", o)
			for _, param := range kinds[i].Params {
				want, has := optionField(reflect.ValueOf(full).Elem(), param.Name), optionField(again.Elem(), param.Name)
				if slices.Contains(hidden, param.Name) {
					assert.True(t, has.IsZero(), "%s.%s is hidden and shown", kind, param.Name)
					continue
				}
				assert.Equal(t, want.Interface(), has.Interface(), "%s.%s", kind, param.Name)
			}
			assertSummary(t, client, refs[0], full, read)
			require.NoError(t, client.Integrations.Disable(t.Context(), refs[1], kind))
		}
	}
}

// assertSummary compares the flags of the only integration in the list with the flags that were
// set.
func assertSummary(t *testing.T, client *forge.Client, group forge.Ref, set forge.IntegrationOptions, read *forge.Integration) {
	t.Helper()
	list, err := forge.Collect(client.Integrations.List(t.Context(), group))
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, read.Slug, list[0].Slug)
	for field, value := range reflect.ValueOf(*list[0]).Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		flag := optionField(reflect.ValueOf(set).Elem(), name)
		if flag.IsValid() && !flag.IsZero() && strings.HasSuffix(name, "_events") {
			assert.Equal(t, *flag.Interface().(*bool), value.Interface(), "%T: %s", set, name)
		}
	}
}
