package forgetest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
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
	Params []struct {
		Name     string
		Required bool
	}
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

// requiredParams returns the required parameters of the kinds, in the same order.
func requiredParams(t *testing.T) (all [][]string) {
	t.Helper()
	for _, kind := range integrationKinds(t) {
		var names []string
		for _, p := range kind.Params {
			if p.Required {
				names = append(names, p.Name)
			}
		}
		all = append(all, names)
	}
	return all
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

// The client and the server require the same parameters of an integration as the contract, also
// with inherited settings, since the contract has no exception for them. With SkipValidation any
// values are sent.
func TestClientIntegrationRules(t *testing.T) {
	srv := forgetest.New(t, forgetest.WithGitLabVocabulary())
	srv.AddGroup("group")
	client, group := srv.Client(forge.WithVocabulary(forge.GitLab)), forge.Path("group")
	needed := requiredParams(t)
	require.Len(t, needed, 19)
	for i, kind := range integrationOptions() {
		require.NotEmpty(t, needed[i])
		for _, inherit := range []*bool{nil, new(false), new(true)} {
			all := with(kind, inherit, needed[i])
			require.NoError(t, client.Integrations.Set(t.Context(), group, all), "%T", kind)
			require.NoError(t, client.Integrations.Set(t.Context(), group, all, forge.SkipValidation()), "%T", kind)
			partial := [][]string{nil} // parameters that are set
			for _, missing := range needed[i] {
				partial = append(partial, slices.DeleteFunc(slices.Clone(needed[i]), func(name string) bool { return name == missing }))
			}
			for _, names := range partial {
				assertBothRefuse(t, srv, fmt.Sprintf("%T with %v", kind, names), func(ctx context.Context, opts ...forge.RequestOption) error {
					return client.Integrations.Set(ctx, group, with(kind, inherit, names), opts...)
				})
			}
		}
	}
}

// Values that are read, decoded and set again do not change: properties, events, secrets that the
// program sets again, and the inheritance of settings.
func TestClientDecode(t *testing.T) {
	srv := forgetest.New(t, forgetest.WithGitLabVocabulary())
	srv.AddGroup("parent")
	child := srv.AddGroup("parent/child")
	client := srv.Client(forge.WithVocabulary(forge.GitLab))
	needed, kinds := requiredParams(t), integrationKinds(t)
	for i, kind := range integrationOptions() {
		slug, known := forge.IntegrationKind(kinds[i].ID).Slug(forge.GitLab)
		require.True(t, known)
		var all []string
		for _, p := range kinds[i].Params {
			all = append(all, p.Name)
		}
		require.NoError(t, client.Integrations.Set(t.Context(), forge.Path("parent"), with(kind, nil, needed[i])))
		for _, inherit := range []bool{false, true} {
			require.NoError(t, client.Integrations.Set(t.Context(), forge.ID(child.ID), with(kind, &inherit, all)))
			before, err := client.Integrations.Get(t.Context(), forge.ID(child.ID), forge.IntegrationSlug(slug))
			require.NoError(t, err)
			stored := child.Integration(slug)
			filled := with(kind, nil, nil)
			hidden, err := before.Decode(filled)
			require.NoError(t, err)
			if slices.ContainsFunc(hidden, func(name string) bool { return slices.Contains(needed[i], name) }) {
				require.Error(t, client.Integrations.Set(t.Context(), forge.ID(child.ID), filled), "a secret is not cleared silently")
			}
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

// assertBothRefuse checks that the client rejects a call before it sends anything, and that the
// server rejects the request that SkipValidation sends.
func assertBothRefuse(t *testing.T, srv *forgetest.Server, what string, call func(ctx context.Context, opts ...forge.RequestOption) error) {
	t.Helper()
	before := len(srv.Requests())
	var invalid *forge.ValidationError
	if assert.ErrorAs(t, call(t.Context()), &invalid, what) {
		assert.Len(t, srv.Requests(), before, what)
	}
	var refused *forge.Error
	if assert.ErrorAs(t, call(t.Context(), forge.SkipValidation()), &refused, "%s, unchecked", what) {
		assert.Contains(t, []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge}, refused.Status, what)
	}
}
