package forgetest_test

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// integrationOptions returns the options of the kinds in the order of the contract.
func integrationOptions() []forge.IntegrationOptions {
	return []forge.IntegrationOptions{
		&forge.TaskTrackerOptions{}, &forge.ProjectTrackerOptions{}, &forge.BuildServerOptions{}, &forge.IssueTrackerOptions{},
		&forge.PipelineServiceOptions{}, &forge.ChatClassicOptions{}, &forge.TwoURLTrackerAOptions{}, &forge.WikiWorkspaceOptions{},
		&forge.CustomIssueTrackerOptions{}, &forge.MonitoringOptions{}, &forge.TestGenerationOptions{}, &forge.TeamChatAOptions{},
		&forge.CIServiceOptions{}, &forge.EmailsOnPushOptions{}, &forge.EngineeringWorkflowOptions{}, &forge.TeamChatBOptions{},
		&forge.TeamChatCOptions{}, &forge.TeamChatDOptions{}, &forge.TwoURLTrackerBOptions{},
	}
}

// integrationKind is a kind of the contract.
type integrationKind struct {
	ID     string
	Params []struct{ Name string }
}

func integrationKinds(t *testing.T) (kinds []integrationKind) {
	t.Helper()
	text, err := os.ReadFile("../testdata/spec/endpoints.json")
	require.NoError(t, err)
	var endpoints []struct{ Kinds []integrationKind }
	require.NoError(t, json.Unmarshal(text, &endpoints))
	for _, e := range endpoints {
		kinds = append(kinds, e.Kinds...)
	}
	return kinds
}

// with returns options of the same type with a value in each of the named parameters.
func with(o forge.IntegrationOptions, inherit *bool, names []string) forge.IntegrationOptions {
	made := reflect.New(reflect.TypeOf(o).Elem())
	for field, value := range made.Elem().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "use_inherited_settings":
			value.Set(reflect.ValueOf(inherit))
		case !slices.Contains(names, name):
		case field.Type.Kind() == reflect.Pointer:
			value.Set(reflect.ValueOf(new(true)))
		case field.Type.Kind() == reflect.Int:
			value.SetInt(7)
		case field.Type == reflect.TypeFor[forge.NotifiedBranches]():
			value.SetString(string(forge.NotifiedBranchesProtected))
		default:
			value.SetString("value of " + name)
		}
	}
	return made.Interface().(forge.IntegrationOptions)
}

// Values that are read, decoded and set again do not change: properties, events, secrets that the
// program sets again, and the inheritance of settings.
func TestClientDecode(t *testing.T) {
	srv := forgetest.New(t, forgetest.WithGitLabVocabulary())
	srv.AddGroup("parent")
	child := srv.AddGroup("parent/child")
	client := srv.Client(forge.WithVocabulary(forge.GitLab))
	kinds := integrationKinds(t)
	for i, kind := range integrationOptions() {
		slug, known := forge.IntegrationKind(kinds[i].ID).Slug(forge.GitLab)
		require.True(t, known)
		var all []string
		for _, p := range kinds[i].Params {
			all = append(all, p.Name)
		}
		require.NoError(t, client.Integrations.Set(t.Context(), forge.Path("parent"), with(kind, nil, all)))
		for _, inherit := range []bool{false, true} {
			require.NoError(t, client.Integrations.Set(t.Context(), forge.ID(child.ID), with(kind, &inherit, all)))
			before, err := client.Integrations.Get(t.Context(), forge.ID(child.ID), forge.IntegrationSlug(slug))
			require.NoError(t, err)
			stored := child.Integration(slug)
			filled := with(kind, nil, nil)
			hidden, err := before.Decode(filled)
			require.NoError(t, err)
			secrets := with(kind, &inherit, hidden)
			for field, value := range reflect.ValueOf(secrets).Elem().Fields() {
				if !value.IsZero() {
					reflect.ValueOf(filled).Elem().FieldByName(field.Name).Set(value)
				}
			}
			require.NoError(t, client.Integrations.Set(t.Context(), forge.ID(child.ID), filled), "%T", kind)
			after, err := client.Integrations.Get(t.Context(), forge.ID(child.ID), forge.IntegrationSlug(slug))
			require.NoError(t, err)
			assert.Equal(t, inherit, after.Inherited, "%T", kind)
			after.UpdatedAt = before.UpdatedAt
			assert.Equal(t, before, after, "%T", kind)
			assert.Subset(t, child.Integration(slug), stored, "%T", kind)
		}
	}
}
