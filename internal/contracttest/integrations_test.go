package contracttest_test

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
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
	kinds := catalogue.Kinds()
	require.Len(t, kinds, len(cases.Kinds))
	for i, kind := range kinds {
		row := cases.Kinds[i]
		require.Equal(t, kind.ID, string(row.Kind))
		slug, named := row.Kind.Slug("")
		assert.Equal(t, kind.Slug, slug)
		assert.Equal(t, named, slug != "" && forge.IntegrationSlug(slug).Kind("") == row.Kind)
		fields := catalogue.JSONFields(reflect.TypeOf(row.Options()).Elem())
		for _, param := range kind.Params {
			delete(fields, param.Name)
		}
		assert.ElementsMatch(t, row.Beyond, slices.Collect(maps.Keys(fields)), "%s: beyond the contract", kind.ID)
		options := row.Options()
		cases.SetFields(t, reflect.ValueOf(options).Elem(), "use_inherited_settings")
		require.Error(t, cases.Check(t, options), kind.ID) // the contract has no exception
	}
}

// hiddenParams are the parameters that servers do not show.
var hiddenParams = regexp.MustCompile(`^(token|password|api_key|webhook)$|_(secret|license_key|channel)$`)

// Each kind is set, read and disabled with the vocabulary of GitLab and with a made-up one. Every
// parameter is sent, and read back or named as hidden. Without a vocabulary this works only for the
// kinds that the contract names.
func TestIntegrationVocabulary(t *testing.T) {
	summary := catalogue.JSONFields(reflect.TypeFor[forge.IntegrationSummary]())
	for _, row := range cases.Kinds {
		for _, v := range []forge.Vocabulary{forge.GitLab, madeUpKind(row.Kind, row.Options())} {
			slug, known := row.Kind.Slug(v)
			require.True(t, known)
			options, body, properties := row.Options(), map[string]any{}, map[string]any{}
			answer, hidden := map[string]any{"slug": slug, "inherited": true, "properties": properties}, []string(nil)
			for name, field := range catalogue.JSONFields(reflect.TypeOf(options).Elem()) {
				cases.SetFields(t, reflect.ValueOf(options).Elem(), name)
				word, mapped := v.WireName(string(row.Kind), name)
				assert.Equal(t, strings.HasPrefix(name, "<"), mapped, name)
				wire := cmp.Or(word, name)
				body[wire] = cases.Sample(t, field).Interface()
				switch {
				case hiddenParams.MatchString(name):
					hidden = append(hidden, name)
				case summary[name] != nil:
					answer[wire] = body[wire]
				case name != "use_inherited_settings": // it is inherited
					properties[wire] = body[wire]
				}
			}
			reflect.ValueOf(options).Elem().FieldByName("Extra").Set(reflect.ValueOf(map[string]any{"by_hand": "<ci>_url"}))
			body["by_hand"] = "<ci>_url"
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
			}, forge.WithVocabulary(v))
			group := forge.Path("group/team")
			require.NoError(t, c.Integrations.Set(t.Context(), group, options))
			for _, name := range []forge.IntegrationName{row.Kind, forge.IntegrationSlug(slug)} {
				integration, err := c.Integrations.Get(t.Context(), group, name)
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
			}
			require.NoError(t, c.Integrations.Disable(t.Context(), group, row.Kind))
			path := " /api/v4/groups/group%2Fteam/integrations/" + slug
			assert.Equal(t, []string{"PUT" + path, "GET" + path, "GET" + path, "DELETE" + path}, requests)
		}
		if _, named := row.Kind.Slug(""); !named {
			c, options := silentClient(t), row.Options()
			_, err := c.Integrations.Get(t.Context(), forge.ID(7), row.Kind)
			for _, err := range []error{err, c.Integrations.Set(t.Context(), forge.ID(7), options, forge.SkipValidation()), c.Integrations.Disable(t.Context(), forge.ID(7), row.Kind)} {
				var invalid *forge.ValidationError
				require.ErrorAs(t, err, &invalid)
				assert.Equal(t, "slug", invalid.Param)
				assert.Contains(t, invalid.Reason, "WithVocabulary(forge.GitLab)")
			}
		}
	}
}

// madeUpKind returns a vocabulary with made-up words for all names of a kind that the contract
// omits.
func madeUpKind(kind forge.IntegrationKind, options forge.IntegrationOptions) forge.Vocabulary {
	v := "slug " + string(kind) + " = made-up\n"
	for name := range catalogue.JSONFields(reflect.TypeOf(options).Elem()) {
		if _, word, unnamed := strings.Cut(name, ">"); unnamed {
			v += string(kind) + " " + name + " = made_up_" + word + "\n"
		}
	}
	return forge.Vocabulary(v)
}
