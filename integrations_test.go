package forge

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// kindRows name the options of each kind, in the order of the contract, and the parameters of deployed servers beyond it.
var kindRows = []struct {
	kind    IntegrationKind
	options func() IntegrationOptions
	beyond  []string
}{
	{IntegrationTaskTracker, func() IntegrationOptions { return &TaskTrackerOptions{} }, nil},
	{IntegrationProjectTracker, func() IntegrationOptions { return &ProjectTrackerOptions{} }, nil},
	{IntegrationBuildServer, func() IntegrationOptions { return &BuildServerOptions{} }, nil},
	{IntegrationIssueTracker, func() IntegrationOptions { return &IssueTrackerOptions{} }, []string{"push_events"}},
	{IntegrationPipelineService, func() IntegrationOptions { return &PipelineServiceOptions{} }, nil},
	{IntegrationChatClassic, func() IntegrationOptions { return &ChatClassicOptions{} }, nil},
	{IntegrationTwoURLTrackerA, func() IntegrationOptions { return &TwoURLTrackerAOptions{} }, []string{"push_events"}},
	{IntegrationWikiWorkspace, func() IntegrationOptions { return &WikiWorkspaceOptions{} }, nil},
	{IntegrationCustomIssueTracker, func() IntegrationOptions { return &CustomIssueTrackerOptions{} }, []string{"push_events"}},
	{IntegrationMonitoring, func() IntegrationOptions { return &MonitoringOptions{} }, []string{"<mon>_ci_visibility"}},
	{IntegrationTestGeneration, func() IntegrationOptions { return &TestGenerationOptions{} }, nil},
	{IntegrationTeamChatA, func() IntegrationOptions { return &TeamChatAOptions{} }, []string{"alert_channel", "incident_channel", "vulnerability_channel"}},
	{IntegrationCIService, func() IntegrationOptions { return &CIServiceOptions{} }, nil},
	{IntegrationEmailsOnPush, func() IntegrationOptions { return &EmailsOnPushOptions{} }, nil},
	{IntegrationEngineeringWorkflow, func() IntegrationOptions { return &EngineeringWorkflowOptions{} }, []string{"push_events"}},
	{IntegrationTeamChatB, func() IntegrationOptions { return &TeamChatBOptions{} }, nil},
	{IntegrationTeamChatC, func() IntegrationOptions { return &TeamChatCOptions{} }, nil},
	{IntegrationTeamChatD, func() IntegrationOptions { return &TeamChatDOptions{} }, nil},
	{IntegrationTwoURLTrackerB, func() IntegrationOptions { return &TwoURLTrackerBOptions{} }, []string{"push_events"}},
}

type catalogueKind struct {
	ID     string
	Slug   string
	Params []catalogueParam
}

func catalogueKinds(t *testing.T) []catalogueKind {
	t.Helper()
	var endpoints []struct{ Kinds []catalogueKind }
	require.NoError(t, json.Unmarshal(readFixture(t, "spec/endpoints.json"), &endpoints))
	for _, e := range endpoints {
		if len(e.Kinds) > 0 {
			return e.Kinds
		}
	}
	return nil
}

// TestIntegrationKinds holds the options of each kind and the catalogue to each other: names, types, what is required.
func TestIntegrationKinds(t *testing.T) {
	kinds, constants := catalogueKinds(t), stringConstants(t)
	require.Len(t, kinds, len(kindRows))
	for i, kind := range kinds {
		row := kindRows[i]
		require.Equal(t, kind.ID, string(row.kind))
		assert.Equal(t, row.kind, row.options().integration())
		assert.True(t, row.kind.isKnown())
		if slug, _ := row.kind.named(); assert.Equal(t, kind.Slug, slug) && slug != "" {
			assert.Equal(t, row.kind, IntegrationSlug(slug).Kind(""))
		}
		fields := jsonFields(reflect.TypeOf(row.options()).Elem())
		var needed []string
		for _, param := range kind.Params {
			field := fields[param.Name]
			delete(fields, param.Name)
			if assert.NotNil(t, field, "%s: no field for %s", kind.ID, param.Name) {
				assert.True(t, fitsParam(param.Type, field), "%s: %s is %s", kind.ID, param.Name, field)
				assertEnum(t, kind.ID+" "+param.Name, param.Enum, field, constants)
			}
			if param.Required {
				needed = append(needed, param.Name)
			}
		}
		assert.Equal(t, row.beyond, slices.Sorted(maps.Keys(fields)), "%s: beyond the contract", kind.ID)
		for _, missing := range needed {
			options := row.options()
			setFields(t, reflect.ValueOf(options).Elem(), slices.DeleteFunc(slices.Clone(needed), func(name string) bool { return name == missing })...)
			err := speaking(t, GitLab).Integrations.Set(t.Context(), ID(7), options)
			assertRefused(t, err, optionsName(options)+"."+fieldOf(reflect.TypeOf(options), missing), missing)
			setFields(t, reflect.ValueOf(options).Elem(), missing)
			require.NoError(t, options.check())
		}
		options := row.options()
		for _, inherit := range []bool{true, false} { // the contract exempts nothing
			reflect.ValueOf(options).Elem().FieldByName("UseInheritedSettings").Set(reflect.ValueOf(&inherit))
			require.Error(t, options.check(), kind.ID)
		}
	}
}

// Each kind is set, read and disabled under the names of GitLab and under made-up ones; without a vocabulary only those that the
// contract names.
func TestIntegrationWords(t *testing.T) {
	for _, row := range kindRows {
		for _, v := range []Vocabulary{GitLab, madeUpKind(t, row.kind, row.options())} {
			slug, known := row.kind.Slug(v)
			require.True(t, known)
			assert.Equal(t, row.kind, IntegrationSlug(slug).Kind(v))
			options, body := row.options(), map[string]any{}
			properties := map[string]json.RawMessage{}
			for name, field := range jsonFields(reflect.TypeOf(options).Elem()) {
				setFields(t, reflect.ValueOf(options).Elem(), name)
				word, mapped := v.Word(string(row.kind), name)
				assert.Equal(t, strings.HasPrefix(name, "<"), mapped, name)
				body[orDefault(word, name)] = sample(t, field).Interface()
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
			c := speaking(t, v,
				exchange{sent: "PUT /groups/group%2Fteam/integrations/" + slug, body: string(sent), answer: string(answer)},
				exchange{sent: "GET /groups/group%2Fteam/integrations/" + slug, answer: string(answer)},
				exchange{sent: "GET /groups/group%2Fteam/integrations/" + slug, answer: string(answer)},
				exchange{sent: "DELETE /groups/group%2Fteam/integrations/" + slug, status: 204})
			require.NoError(t, c.Integrations.Set(t.Context(), Path("group/team"), options))
			for _, name := range []IntegrationName{row.kind, IntegrationSlug(slug)} {
				integration, err := c.Integrations.Get(t.Context(), Path("group/team"), name)
				require.NoError(t, err)
				assert.Len(t, integration.Properties, len(properties))
				for name := range integration.Properties {
					assert.True(t, strings.HasPrefix(name, "<"), name)
				}
				filled := row.options()
				_, err = integration.Fill(filled)
				require.NoError(t, err)
				for name := range integration.Properties {
					field := fieldOf(reflect.TypeOf(filled), name)
					assert.Equal(t, reflect.ValueOf(options).Elem().FieldByName(field).Interface(), reflect.ValueOf(filled).Elem().FieldByName(field).Interface())
				}
			}
			require.NoError(t, c.Integrations.Disable(t.Context(), Path("group/team"), row.kind))
		}
		if _, named := row.kind.named(); named {
			continue
		}
		for _, c := range []*Client{serve(t), speaking(t, "setting a = b")} {
			options := row.options()
			setFields(t, reflect.ValueOf(options).Elem(), "use_inherited_settings")
			_, err := c.Integrations.Get(t.Context(), ID(7), row.kind)
			for _, err := range []error{err, c.Integrations.Set(t.Context(), ID(7), options), c.Integrations.Set(t.Context(), ID(7), options, Unchecked()), c.Integrations.Disable(t.Context(), ID(7), row.kind)} {
				assertRefused(t, err, "argument", "slug")
				assert.ErrorContains(t, err, "needs WithVocabulary(forge.GitLab), or give it by hand, as IntegrationSlug or CustomIntegration")
			}
		}
		_, known := row.kind.Slug("")
		assert.False(t, known)
	}
}

// madeUpKind has a word of its own for everything unnamed of a kind.
func madeUpKind(t *testing.T, kind IntegrationKind, options IntegrationOptions) Vocabulary {
	t.Helper()
	v := "slug " + string(kind) + " = made-up\n"
	for name := range jsonFields(reflect.TypeOf(options).Elem()) {
		if strings.HasPrefix(name, "<") {
			v += string(kind) + " " + name + " = made_up_" + name[strings.Index(name, ">")+1:] + "\n"
		}
	}
	return Vocabulary(v)
}

// A parameter without a name needs a vocabulary that knows it, even where the slug is known.
func TestUnnamedParameters(t *testing.T) {
	c := speaking(t, "slug build_server = mill\nslug monitoring = eye",
		exchange{sent: "PUT /groups/7/integrations/eye", body: `{"api_key":"k","eye_env":"prod"}`, status: 201, answer: `{}`},
		exchange{sent: "PUT /groups/7/integrations/mill", body: `{"use_inherited_settings":false,"mill_url":"u","build_key":"b"}`, answer: `{}`})
	err := c.Integrations.Set(t.Context(), ID(7), &BuildServerOptions{URL: "u", BuildKey: "b", Username: "n", Password: "p"})
	assertRefused(t, err, "BuildServerOptions.URL", "<ci>_url")
	assert.ErrorContains(t, err, "needs WithVocabulary(forge.GitLab), or give it by hand, in Extra")
	err = c.Integrations.Set(t.Context(), ID(7), &MonitoringOptions{APIKey: "k", Tags: "a:b"}, Unchecked())
	assertRefused(t, err, "MonitoringOptions.Tags", "<mon>_tags")
	require.NoError(t, c.Integrations.Set(t.Context(), ID(7), &MonitoringOptions{APIKey: "k", Extra: map[string]any{"eye_env": "prod"}}))
	require.NoError(t, c.Integrations.Set(t.Context(), ID(7), &CustomIntegration{Slug: "mill", UseInheritedSettings: new(false), Params: map[string]any{"mill_url": "u", "build_key": "b"}}))
}

func TestIntegrations(t *testing.T) {
	team := Path("group/team")
	runScenarios(t, []scenario{
		{
			name:      "list",
			exchanges: []exchange{{sent: "GET /groups/group%2Fteam/integrations", query: "per_page=100", answer: "integrations/integrations.json"}},
			run: func(t *testing.T, c *Client) {
				integrations, err := Collect(c.Integrations.List(t.Context(), team))
				require.NoError(t, err)
				assertWhole(t, "integrations/integrations.json", integrations)
				assert.Equal(t, IntegrationEmailsOnPush, IntegrationSlug(integrations[0].Slug).Kind(""))
				assert.Equal(t, IntegrationBuildServer, IntegrationSlug(integrations[1].Slug).Kind(GitLab))
				assert.Empty(t, IntegrationSlug(integrations[1].Slug).Kind(""))
				assert.True(t, integrations[0].CreatedAt.Truncate(time.Second).Equal(integrations[1].CreatedAt), "an offset")
			},
		},
		{
			name: "get by hand",
			exchanges: []exchange{
				{sent: "GET /groups/7/integrations/bamboo", answer: "integrations/integration.json"},
				{sent: "GET /groups/7/integrations/jira%2Fx", answer: `{"slug":"jira","properties":null,"new":1}`},
			},
			run: func(t *testing.T, c *Client) {
				integration, err := c.Integrations.Get(t.Context(), ID(7), IntegrationSlug("bamboo"))
				require.NoError(t, err)
				assertWhole(t, "integrations/integration.json", integration)
				assert.JSONEq(t, `"https://builds.example.com"`, string(integration.Properties["bamboo_url"]))
				integration, err = c.Integrations.Get(t.Context(), ID(7), IntegrationSlug("jira/x"))
				require.NoError(t, err)
				assert.JSONEq(t, `1`, string(integration.Extra["new"]))
			},
		},
		{
			name: "set and disable",
			exchanges: []exchange{
				{sent: "PUT /groups/7/integrations/emails-on-push", body: `{"recipients":"a@example.com b@example.com","disable_diffs":false,"branches_to_be_notified":"protected","new_flag":true}`, answer: "integrations/integration.json"},
				{sent: "PUT /groups/7/integrations/ewm", body: `{"use_inherited_settings":true}`, status: 201},
				{sent: "PUT /groups/7/integrations/jira", body: `{"url":"https://jira.example.com","push_events":false}`, status: 204},
				{sent: "PUT /groups/7/integrations/custom-issue-tracker", body: `{"new_issue_url":"n","issues_url":"bad","project_url":"p"}`, status: 400, answer: `{"message":{"issues_url":["is not valid"]}}`},
				{sent: "DELETE /groups/7/integrations/ewm", status: 204},
				{sent: "DELETE /groups/7/integrations/jira", answer: `{"slug":"jira"}`},
				{sent: "DELETE /groups/7/integrations/ewm", status: 404, answer: `{"message":"404 Integration Not Found"}`},
			},
			run: func(t *testing.T, c *Client) {
				require.NoError(t, c.Integrations.Set(t.Context(), ID(7), &EmailsOnPushOptions{
					Recipients: "a@example.com b@example.com", DisableDiffs: new(false), BranchesToBeNotified: NotifiedBranchesProtected, Extra: map[string]any{"new_flag": true},
				}))
				require.NoError(t, c.Integrations.Set(t.Context(), ID(7), &EngineeringWorkflowOptions{UseInheritedSettings: new(true)}, Unchecked()))
				require.NoError(t, c.Integrations.Set(t.Context(), ID(7), &CustomIntegration{Slug: "jira", Params: map[string]any{"url": "https://jira.example.com", "push_events": false}}))
				err := c.Integrations.Set(t.Context(), ID(7), &CustomIssueTrackerOptions{NewIssueURL: "n", IssuesURL: "bad", ProjectURL: "p"})
				var failed *Error
				require.ErrorAs(t, err, &failed)
				assert.Equal(t, []string{"is not valid"}, failed.Fields["issues_url"])
				require.NoError(t, c.Integrations.Disable(t.Context(), ID(7), IntegrationEngineeringWorkflow))
				require.NoError(t, c.Integrations.Disable(t.Context(), ID(7), IntegrationSlug("jira")))
				err = c.Integrations.Disable(t.Context(), ID(7), IntegrationEngineeringWorkflow)
				require.ErrorIs(t, err, ErrNotFound)
				assert.ErrorContains(t, err, "release 17.9 or later")
			},
		},
	})
}

func TestIntegrationsRefused(t *testing.T) {
	c := serve(t)
	for _, name := range []IntegrationName{nil, IntegrationKind("car"), IntegrationSlug(""), IntegrationSlug(".."), IntegrationSlug("a/../b")} {
		_, err := c.Integrations.Get(t.Context(), ID(7), name)
		assertRefused(t, err, "argument", "slug")
		assertRefused(t, c.Integrations.Disable(t.Context(), ID(7), name), "argument", "slug")
	}
	_, err := c.Integrations.Get(t.Context(), ID(7), IntegrationKind("car"))
	require.ErrorContains(t, err, "it is no kind of the contract: use IntegrationSlug")
	for _, options := range []IntegrationOptions{nil, (*CustomIntegration)(nil), &CustomIntegration{}} {
		assertRefused(t, c.Integrations.Set(t.Context(), ID(7), options), "argument", "slug")
	}
	assertRefused(t, c.Integrations.Set(t.Context(), ID(7), (*EngineeringWorkflowOptions)(nil)), "EngineeringWorkflowOptions.NewIssueURL", "new_issue_url")
	twice := &CustomIntegration{Slug: "jira", UseInheritedSettings: new(true), Params: map[string]any{"use_inherited_settings": false}}
	assertRefused(t, c.Integrations.Set(t.Context(), ID(7), twice), "CustomIntegration", "")
}
