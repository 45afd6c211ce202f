package forge

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIntegrations(t *testing.T) {
	ctx := t.Context()
	set := func(o IntegrationOptions) func(c *Client) (any, error) {
		return func(c *Client) (any, error) { return nil, c.Integrations.Set(ctx, ID(7), o, SkipValidation()) }
	}
	disable := func(c *Client) (any, error) {
		return nil, c.Integrations.Disable(ctx, ID(7), IntegrationEWM)
	}
	const one = "/groups/7/integrations/"
	runCalls(t, []callRow{
		{"PUT " + one + "emails-on-push", "", `{"recipients":"a@example.com","new_flag":true}`, `200 {"slug":"emails-on-push"}`, set(&EmailsOnPushOptions{Recipients: "a@example.com", Extra: map[string]any{"new_flag": true}})},
		{"PUT " + one + "ewm", "", `{"use_inherited_settings":true}`, "201", set(&EWMOptions{UseInheritedSettings: new(true)})},
		{"PUT " + one + "jira", "", `{"push_events":false}`, "204", set(&CustomIntegration{Slug: "jira", Params: map[string]any{"push_events": false}})},
		{"PUT " + one + "custom-issue-tracker", "", `{"issues_url":"bad"}`, `400 {"message":{"issues_url":["is not valid"]}}`, set(&CustomIssueTrackerOptions{IssuesURL: "bad"})},
		{"DELETE " + one + "ewm", "", "", "204", disable},
		{"DELETE " + one + "ewm", "", "", `200 {"slug":"ewm"}`, disable},
		{"DELETE " + one + "ewm", "", "", `404 {"message":"404 Integration Not Found"}`, disable},
	})
}

func TestIntegrationsRefused(t *testing.T) {
	c := serve(t)
	_, err := c.Integrations.Get(t.Context(), ID(7), IntegrationKind("car"))
	assertRefused(t, err, "argument", "slug")
	require.ErrorContains(t, err, "there is no such kind: use IntegrationSlug")
	_, err = c.Integrations.Get(t.Context(), ID(7), nil)
	for _, err := range []error{err, c.Integrations.Set(t.Context(), ID(7), nil), c.Integrations.Disable(t.Context(), ID(7), nil)} {
		assertRefused(t, err, "argument", "slug")
		assert.ErrorContains(t, err, " /groups/:id/integrations/:slug: argument slug: it is nil: ")
	}
	for kind, named := range map[IntegrationKind]bool{IntegrationCustomIssueTracker: true, IntegrationEmailsOnPush: true, IntegrationEWM: true, IntegrationBamboo: false} {
		_, err = kind.useIntegrationKindOrSlug(Neutral)
		assert.Equal(t, named, err == nil, kind)
	}
	assertRefused(t, c.Integrations.Set(t.Context(), ID(7), (*EWMOptions)(nil)), "EWMOptions.NewIssueURL", "new_issue_url")
	twice := &CustomIntegration{Slug: "jira", UseInheritedSettings: new(true), Params: map[string]any{"use_inherited_settings": false}}
	assertRefused(t, c.Integrations.Set(t.Context(), ID(7), twice), "CustomIntegration", "")
}

// The values that a server shows are decoded into options: events, texts, and numbers and booleans
// that it stores as strings. Hidden parameters are reported.
func TestFill(t *testing.T) {
	c := speaking(t, GitLab, exchange{sent: "GET /groups/7/integrations/bamboo", answer: "integrations/get.json"})
	integration, err := c.Integrations.Get(t.Context(), ID(7), IntegrationBamboo)
	require.NoError(t, err)
	build := &BambooOptions{}
	hidden, err := integration.Decode(build)
	require.NoError(t, err)
	assert.Equal(t, []string{"password"}, hidden)
	build = &BambooOptions{Password: "kept"}
	hidden, err = integration.Decode(build)
	require.NoError(t, err)
	assert.Empty(t, hidden)
	assert.Equal(t, &BambooOptions{BambooURL: "https://builds.example.com", EnableSSLVerification: new(true), BuildKey: "APP-MAIN", Username: "ada",
		Password: "kept", UseInheritedSettings: new(true)}, build)

	integration = &Integration{IntegrationSummary: IntegrationSummary{PushEvents: true}, Properties: map[string]json.RawMessage{
		"thread": json.RawMessage(`"12"`), "notify_only_broken_pipelines": json.RawMessage(`"0"`), "room": json.RawMessage(`"12"`),
		"hostname": json.RawMessage(`null`), "other": json.RawMessage(`{}`), "gone": json.RawMessage(`null`), "ROOM": json.RawMessage("7"), "-": json.RawMessage("1"), "token": json.RawMessage(`null`),
	}}
	chat := &TelegramOptions{UseInheritedSettings: new(true), Extra: map[string]any{"mine": 1}}
	before := chat.Extra
	hidden, err = integration.Decode(chat)
	require.NoError(t, err)
	assert.Equal(t, []string{"token"}, hidden)
	assert.Equal(t, 12, chat.Thread)
	assert.Equal(t, "12", chat.Room)
	assert.Equal(t, new(false), chat.NotifyOnlyBrokenPipelines)
	assert.Equal(t, new(true), chat.PushEvents)
	assert.Equal(t, new(false), chat.NoteEvents)
	assert.Equal(t, new(false), chat.UseInheritedSettings, "what the server has counts")
	assert.Equal(t, map[string]any{"mine": 1, "other": json.RawMessage(`{}`), "ROOM": json.RawMessage("7"), "-": json.RawMessage("1")}, chat.Extra)
	assert.Equal(t, map[string]any{"mine": 1}, before)
	integration.Properties["token"] = json.RawMessage(`""`)
	hidden, err = integration.Decode(&TelegramOptions{})
	require.NoError(t, err)
	assert.Empty(t, hidden, "the server shows that there is none")
	chat.Extra["other"].(json.RawMessage)[0] = '['
	assert.Equal(t, "{}", string(integration.Properties["other"]), "what was read does not change with the options")
	integration.Properties["thread"] = json.RawMessage(`""`)
	_, err = integration.Decode(chat)
	require.NoError(t, err)
	assert.Zero(t, chat.Thread, "a number that is not set is an empty text")
	for _, wrong := range []string{`"many"`, `[]`, `{`} {
		integration.Properties["thread"] = json.RawMessage(wrong)
		_, err = integration.Decode(chat)
		assert.ErrorContains(t, err, "(thread): the server's value does not fit TelegramOptions")
	}
}

// A parameter holds a secret by its whole name, or by the end of its name.
func TestHoldsSecret(t *testing.T) {
	for _, name := range []string{"token", "password", "api_key", "webhook", "app_secret", "app_license_key", "app_private_key", "push_channel"} {
		assert.True(t, holdsSecret(name), name)
		assert.False(t, holdsSecret(name+"x"), name)
	}
}

func TestFillNil(t *testing.T) {
	for _, o := range []IntegrationOptions{nil, (*AsanaOptions)(nil)} {
		_, err := (&Integration{}).Decode(o)
		require.ErrorAs(t, err, new(*ValidationError))
	}
}

// An integration without its own type is decoded completely, too.
func TestFillCustom(t *testing.T) {
	integration, _, err := decodeText[Integration](`{"id":3,"slug":"jira","active":true,"inherited":true,"push_events":true,"properties":{"url":"u","port":7}}`)
	require.NoError(t, err)
	o := &CustomIntegration{Slug: "jira", Params: map[string]any{"password": "p", "url": "old"}}
	hidden, err := integration.Decode(o)
	require.NoError(t, err)
	assert.Nil(t, hidden)
	assert.Equal(t, new(true), o.UseInheritedSettings)
	body, err := json.Marshal(o.Params)
	require.NoError(t, err)
	var params map[string]any
	require.NoError(t, json.Unmarshal(body, &params))
	for _, name := range []string{"password", "url", "port", "push_events", "note_events"} {
		assert.Contains(t, params, name)
	}
	assert.Equal(t, "u", params["url"])
	for _, name := range []string{"id", "slug", "active", "inherited", "created_at", "use_inherited_settings"} {
		assert.NotContains(t, params, name)
	}
}

// Setting the decoded options does not switch off an event that the server writes in another form.
func TestFillMisfits(t *testing.T) {
	integration, mismatches, err := decodeText[Integration](`{"active":true,"push_events":1,"issues_events":"1","note_events":"true","tag_push_events":true,"properties":{"webhook":"w"}}`)
	require.NoError(t, err)
	assert.Equal(t, []string{"/push_events", "/issues_events", "/note_events"}, pointers(mismatches))
	o := &DiscordOptions{}
	_, err = integration.Decode(o)
	var invalid *ValidationError
	require.ErrorAs(t, err, &invalid)
	assert.Equal(t, "push_events", invalid.Param)

	integration.Properties["other"] = json.RawMessage("1")
	integration.Extra["push_events"] = json.RawMessage(`"0"`)
	_, err = integration.Decode(o)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"other": json.RawMessage("1")}, o.Extra)
	set := []*bool{o.PushEvents, o.IssuesEvents, o.NoteEvents, o.TagPushEvents}
	require.False(t, slices.Contains(set, nil))
	assert.Equal(t, []bool{false, true, true, true}, []bool{*set[0], *set[1], *set[2], *set[3]})

	integration.IssuesEvents, integration.PushEvents = true, true
	_, err = integration.Decode(o)
	require.NoError(t, err)
	assert.True(t, *o.PushEvents, "a field that a program sets counts")

	for _, value := range []string{"{", strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)} { // not JSON, and nested too deeply
		integration.Extra["push_events"] = json.RawMessage(value)
		_, err = integration.Decode(o)
		require.Error(t, err)
	}
}
