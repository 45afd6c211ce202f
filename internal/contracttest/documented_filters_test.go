package contracttest_test

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/catalogue"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
)

// TestFiltersAreDocumented tests all fields of options, including the fields of Not, with all
// methods that have these options. A field that neither the catalogue nor deployed servers have on
// the endpoint, or that current GitLab drops, is refused with its names, and nothing is sent; with
// SkipValidation it is sent. TestConformance tests that all other fields are sent, and in the
// vocabulary Neutral those that GitLab drops, too.
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
			dropped := catalogue.Dropped()[c.Endpoint.ID][wire] != ""
			if !c.Foreign[cases.NameKey(wire)] && !dropped {
				continue
			}
			refusals++
			client := server.begin(t, c.Endpoint)
			only := &cases.Filled{Value: reflect.New(c.Options).Elem()}
			cases.SetFields(t, only.Value, wire)
			asked := *c
			if dropped {
				asked.Vocabulary = forge.GitLab
			}
			in, _ := asked.Arguments(t, client, only)
			var invalid *forge.ValidationError
			require.ErrorAs(t, cases.Consume(c.Method.Call(in)), &invalid, "%s: %s", c.Name, wire)
			assert.Equal(t, strings.TrimSuffix(wire, "[]"), strings.TrimSuffix(invalid.Param, "[]"), c.Name)
			assert.Equal(t, c.Options.Name()+"."+catalogue.GoName(c.Options, wire), invalid.Option, c.Name)
			assert.Contains(t, invalid.Reason, c.Endpoint.Path)
			assert.Empty(t, server.end(), "%s: %s", c.Name, wire)
			require.NoError(t, cases.Consume(c.Method.Call(append(in, reflect.ValueOf(forge.SkipValidation())))))
			assert.True(t, server.end()[0].query.Has(wire), "%s: %s", c.Name, wire)
			client.CloseIdleConnections()
		}
	}
	// These are entity_type and entity_id of two lists, iids of all merge requests, non_archived of
	// those of a project, and three keys of not that only the list of a group had. That list drops
	// them now, as other lists drop approved and saml_provider_id.
	assert.Equal(t, 2*2+1+1+3+3+2+1, refusals)
	t.Logf("%d of %d pairs of a field and a method are refused", refusals, fields)
}
