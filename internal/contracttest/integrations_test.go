package contracttest_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/catalogue"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
)

// TestIntegrationKinds compares the kinds with the catalogue: their slugs, and that required
// parameters are required with inherited settings, too. TestCatalogueParameters and
// TestCatalogueChecks compare the parameters.
func TestIntegrationKinds(t *testing.T) {
	required := map[forge.IntegrationKind][]string{}
	for _, kind := range catalogue.Integrations() {
		for _, param := range kind.Params {
			if param.Required {
				required[forge.IntegrationKind(kind.Slug)] = append(required[forge.IntegrationKind(kind.Slug)], param.Name)
			}
		}
	}
	require.Len(t, catalogue.Integrations(), len(cases.Kinds))
	kinds := catalogue.Kinds()
	for i, row := range cases.Kinds {
		options := row.Options()
		fields := reflect.ValueOf(options).Elem()
		if i < len(kinds) {
			require.Equal(t, catalogue.IntegrationWords()[kinds[i].ID]["slug"], string(row.Kind))
			beyond := catalogue.JSONFields(fields.Type())
			for _, param := range kinds[i].Params {
				delete(beyond, param.Name)
			}
			assert.ElementsMatch(t, row.Beyond, slices.Collect(maps.Keys(beyond)), "%s: beyond the contract", row.Kind)
		}
		cases.SetFields(t, fields, "use_inherited_settings") // the contract has no exception
		for _, param := range required[row.Kind] {
			var invalid *forge.ValidationError
			require.ErrorAs(t, cases.Check(t, options), &invalid, "%s: %s is required", row.Kind, param)
			assert.Equal(t, param, invalid.Param, row.Kind)
			cases.SetFields(t, fields, param)
		}
		require.NoError(t, cases.Check(t, options), row.Kind)
	}
}

// hiddenParams are the parameters that servers do not show.
var hiddenParams = regexp.MustCompile(`^(token|password|api_key|webhook)$|_(secret|license_key|private_key|channel)$`)

// Each kind is set, read and disabled in GitLab's words. Every parameter is sent, and read back or
// named as hidden. In the documents' words this works only for the kinds that they name.
func TestEachIntegration(t *testing.T) {
	summary := catalogue.JSONFields(reflect.TypeFor[forge.IntegrationSummary]())
	for i, row := range cases.Kinds {
		options, body, properties := row.Options(), map[string]any{}, map[string]any{}
		answer, hidden := map[string]any{"slug": string(row.Kind), "inherited": true, "properties": properties}, []string(nil)
		for name, field := range catalogue.JSONFields(reflect.TypeOf(options).Elem()) {
			cases.SetFields(t, reflect.ValueOf(options).Elem(), name)
			body[name] = cases.Sample(t, field).Interface()
			switch {
			case hiddenParams.MatchString(name):
				hidden = append(hidden, name)
			case summary[name] != nil:
				answer[name] = body[name]
			case name != "use_inherited_settings": // it is inherited
				properties[name] = body[name]
			}
		}
		reflect.ValueOf(options).Elem().FieldByName("Extra").Set(reflect.ValueOf(map[string]any{"by_hand": "x"}))
		body["by_hand"] = "x"
		sent, err := json.Marshal(body)
		require.NoError(t, err)
		text, err := json.Marshal(answer)
		require.NoError(t, err)
		var requests []string
		c := memoryClient(t, func(r *http.Request) (*http.Response, error) {
			requests = append(requests, r.Method+" "+r.URL.EscapedPath())
			if r.Method == http.MethodPut {
				have, err := io.ReadAll(r.Body)
				require.NoError(t, err)
				assert.JSONEq(t, string(sent), string(have))
			}
			return jsonResponse(http.StatusOK, string(text)), nil
		})
		group := forge.Path("group/team")
		require.NoError(t, c.Integrations.Set(t.Context(), group, options))
		integration, err := c.Integrations.Get(t.Context(), group, row.Kind)
		require.NoError(t, err)
		filled := row.Options()
		unread, err := integration.Decode(filled)
		require.NoError(t, err)
		assert.ElementsMatch(t, hidden, unread, row.Kind)
		for name := range catalogue.JSONFields(reflect.TypeOf(options).Elem()) {
			field := catalogue.GoName(reflect.TypeOf(filled), name)
			had, has := reflect.ValueOf(options).Elem().FieldByName(field), reflect.ValueOf(filled).Elem().FieldByName(field)
			assert.Equal(t, !slices.Contains(hidden, name), reflect.DeepEqual(had.Interface(), has.Interface()), "%s: %s", row.Kind, name)
		}
		require.NoError(t, c.Integrations.Disable(t.Context(), group, row.Kind))
		path := " /api/v4/groups/group%2Fteam/integrations/" + string(row.Kind)
		assert.Equal(t, []string{"PUT" + path, "GET" + path, "DELETE" + path}, requests)

		neutral, err := c.With(forge.WithVocabulary(forge.Neutral))
		require.NoError(t, err)
		_, err = neutral.Integrations.Get(t.Context(), group, row.Kind)
		named := i < len(catalogue.Kinds()) && catalogue.Kinds()[i].Slug != ""
		for _, err := range []error{err, neutral.Integrations.Set(t.Context(), group, options), neutral.Integrations.Disable(t.Context(), group, row.Kind)} {
			if invalid := (*forge.ValidationError)(nil); !named && assert.ErrorAs(t, err, &invalid) {
				assert.Equal(t, "slug", invalid.Param)
				assert.Contains(t, invalid.Reason, "WithVocabulary(forge.Neutral)")
			}
			assert.Equal(t, named, err == nil, "%s: %v", row.Kind, err)
		}
	}
}
