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
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
	"github.com/forge-sdk/forge-go/internal/contracttest/catalogue"
)

// TestIntegrationKinds compares the options of each kind with the catalogue: names, types, and
// required parameters.
func TestIntegrationKinds(t *testing.T) {
	kinds := catalogue.Kinds(t)
	require.Len(t, kinds, len(cases.Kinds))
	for i, kind := range kinds {
		row := cases.Kinds[i]
		require.Equal(t, kind.ID, string(row.Kind))
		if slug, _ := row.Kind.Slug(""); assert.Equal(t, kind.Slug, slug) && slug != "" {
			assert.Equal(t, row.Kind, forge.IntegrationSlug(slug).Kind(""))
		}
		fields := catalogue.JSONFields(reflect.TypeOf(row.Options()).Elem())
		var needed []string
		for _, param := range kind.Params {
			field := fields[param.Name]
			delete(fields, param.Name)
			if assert.NotNil(t, field, "%s: no field for %s", kind.ID, param.Name) {
				assert.True(t, fitsParam(param.Type, field), "%s: %s is %s", kind.ID, param.Name, field)
				assert.Equal(t, param.Type == "boolean", field == reflect.TypeFor[*bool](), "%s: %s must be a *bool, so that false is sent", kind.ID, param.Name)
				assertEnum(t, kind.ID+" "+param.Name, param.Enum, field)
			}
			if param.Required {
				needed = append(needed, param.Name)
			}
		}
		assert.Equal(t, row.Beyond, slices.Sorted(maps.Keys(fields)), "%s: beyond the contract", kind.ID)
		for _, missing := range needed {
			options := row.Options()
			cases.SetFields(t, reflect.ValueOf(options).Elem(), slices.DeleteFunc(slices.Clone(needed), func(name string) bool { return name == missing })...)
			err := silentClient(t, forge.WithVocabulary(forge.GitLab)).Integrations.Set(t.Context(), forge.ID(7), options)
			assertRefused(t, err, reflect.TypeOf(options).Elem().Name()+"."+catalogue.GoName(reflect.TypeOf(options), missing), missing)
			cases.SetFields(t, reflect.ValueOf(options).Elem(), missing)
			require.NoError(t, cases.Check(t, options))
		}
		options := row.Options()
		for _, inherit := range []bool{true, false} { // the contract has no exception
			reflect.ValueOf(options).Elem().FieldByName("UseInheritedSettings").Set(reflect.ValueOf(&inherit))
			require.Error(t, cases.Check(t, options), kind.ID)
		}
	}
}

// Each kind is set, read and disabled with the vocabulary of GitLab and with a made-up one. Without
// a vocabulary this works only for the kinds that the contract names.
func TestIntegrationVocabulary(t *testing.T) {
	for _, row := range cases.Kinds {
		for _, v := range []forge.Vocabulary{forge.GitLab, madeUpKind(t, row.Kind, row.Options())} {
			slug, known := row.Kind.Slug(v)
			require.True(t, known)
			assert.Equal(t, row.Kind, forge.IntegrationSlug(slug).Kind(v))
			options, body := row.Options(), map[string]any{}
			properties := map[string]json.RawMessage{}
			for name, field := range catalogue.JSONFields(reflect.TypeOf(options).Elem()) {
				cases.SetFields(t, reflect.ValueOf(options).Elem(), name)
				word, mapped := v.WireName(string(row.Kind), name)
				assert.Equal(t, strings.HasPrefix(name, "<"), mapped, name)
				body[cmp.Or(word, name)] = cases.Sample(t, field).Interface()
				if mapped {
					text, err := json.Marshal(body[word])
					require.NoError(t, err)
					properties[word] = text
				}
			}
			reflect.ValueOf(options).Elem().FieldByName("Extra").Set(reflect.ValueOf(map[string]any{"by_hand": "<ci>_url"}))
			body["by_hand"] = "<ci>_url"
			answer, err := json.Marshal(map[string]any{"slug": slug, "properties": properties})
			require.NoError(t, err)
			sent, err := json.Marshal(body)
			require.NoError(t, err)
			var requests []string
			c := memoryClient(t, func(r *http.Request) (*http.Response, error) {
				requests = append(requests, r.Method+" "+r.URL.EscapedPath())
				if r.Method == http.MethodPut {
					text, err := io.ReadAll(r.Body)
					require.NoError(t, err)
					assert.JSONEq(t, string(sent), string(text))
				}
				return jsonResponse(http.StatusOK, string(answer)), nil
			}, forge.WithVocabulary(v))
			require.NoError(t, c.Integrations.Set(t.Context(), forge.Path("group/team"), options))
			for _, name := range []forge.IntegrationName{row.Kind, forge.IntegrationSlug(slug)} {
				integration, err := c.Integrations.Get(t.Context(), forge.Path("group/team"), name)
				require.NoError(t, err)
				assert.Len(t, integration.Properties, len(properties))
				for name := range integration.Properties {
					assert.True(t, strings.HasPrefix(name, "<"), name)
				}
				filled := row.Options()
				_, err = integration.Decode(filled)
				require.NoError(t, err)
				for name := range integration.Properties {
					field := catalogue.GoName(reflect.TypeOf(filled), name)
					assert.Equal(t, reflect.ValueOf(options).Elem().FieldByName(field).Interface(), reflect.ValueOf(filled).Elem().FieldByName(field).Interface())
				}
			}
			require.NoError(t, c.Integrations.Disable(t.Context(), forge.Path("group/team"), row.Kind))
			path := " /api/v4/groups/group%2Fteam/integrations/" + slug
			assert.Equal(t, []string{"PUT" + path, "GET" + path, "GET" + path, "DELETE" + path}, requests)
		}
		if _, named := row.Kind.Slug(""); named {
			continue
		}
		for _, c := range []*forge.Client{silentClient(t), silentClient(t, forge.WithVocabulary("setting a = b"))} {
			options := row.Options()
			cases.SetFields(t, reflect.ValueOf(options).Elem(), "use_inherited_settings")
			_, err := c.Integrations.Get(t.Context(), forge.ID(7), row.Kind)
			for _, err := range []error{err, c.Integrations.Set(t.Context(), forge.ID(7), options), c.Integrations.Set(t.Context(), forge.ID(7), options, forge.SkipValidation()), c.Integrations.Disable(t.Context(), forge.ID(7), row.Kind)} {
				assertRefused(t, err, "argument", "slug")
				assert.ErrorContains(t, err, "use WithVocabulary(forge.GitLab), or set it yourself, as IntegrationSlug or CustomIntegration")
			}
		}
		_, known := row.Kind.Slug("")
		assert.False(t, known)
	}
}

// madeUpKind returns a vocabulary with made-up words for all names of a kind that the contract
// omits.
func madeUpKind(t *testing.T, kind forge.IntegrationKind, options forge.IntegrationOptions) forge.Vocabulary {
	t.Helper()
	v := "slug " + string(kind) + " = made-up\n"
	for name := range catalogue.JSONFields(reflect.TypeOf(options).Elem()) {
		if strings.HasPrefix(name, "<") {
			v += string(kind) + " " + name + " = made_up_" + name[strings.Index(name, ">")+1:] + "\n"
		}
	}
	return forge.Vocabulary(v)
}

// secretParams are the parameters that servers do not show.
var secretParams = regexp.MustCompile(`^(token|password|api_key|webhook)$|_(secret|license_key|channel)$`)

// fieldFor returns the field for a parameter.
func fieldFor(options forge.IntegrationOptions, param string) reflect.Value {
	value := reflect.ValueOf(options).Elem()
	return value.FieldByName(catalogue.GoName(value.Type(), param))
}

// Every parameter of every kind is decoded into the options, or named as hidden, and no others are.
func TestFillEveryParameter(t *testing.T) {
	for i, kind := range catalogue.Kinds(t) {
		properties := map[string]json.RawMessage{}
		all := cases.Kinds[i].Options()
		for _, p := range kind.Params {
			cases.SetFields(t, reflect.ValueOf(all).Elem(), p.Name)
			text, err := json.Marshal(fieldFor(all, p.Name).Interface())
			require.NoError(t, err)
			if flag := catalogue.JSONFields(reflect.TypeFor[forge.IntegrationSummary]())[p.Name] != nil; !secretParams.MatchString(p.Name) && !flag {
				properties[p.Name] = text
			}
		}
		events, err := json.Marshal(all)
		require.NoError(t, err)
		var summary forge.IntegrationSummary
		require.NoError(t, json.Unmarshal(events, &summary))
		summary.Inherited = true
		filled := cases.Kinds[i].Options()
		hidden, err := (&forge.Integration{IntegrationSummary: summary, Properties: properties}).Decode(filled)
		require.NoError(t, err)
		named := map[string]bool{}
		for _, name := range hidden {
			named[name] = true
		}
		for _, p := range kind.Params {
			had, has := fieldFor(all, p.Name), fieldFor(filled, p.Name)
			switch {
			case named[p.Name]:
				assert.True(t, has.IsZero(), "%s: %s is hidden but has a value", kind.ID, p.Name)
				delete(named, p.Name)
			default:
				assert.Equal(t, had.Interface(), has.Interface(), "%s: %s is lost", kind.ID, p.Name)
			}
		}
		for name := range named {
			assert.Contains(t, []string{"alert_channel", "incident_channel", "vulnerability_channel"}, name)
		}
	}
}
