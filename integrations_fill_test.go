package forge

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the server shows becomes options again: events, texts, and numbers and booleans that it
// keeps as strings. What it hides is reported.
func TestFill(t *testing.T) {
	c := speaking(t, GitLab, exchange{sent: "GET /groups/7/integrations/bamboo", answer: "integrations/integration.json"})
	integration, err := c.Integrations.Get(t.Context(), ID(7), IntegrationBuildServer)
	require.NoError(t, err)
	build := &BuildServerOptions{}
	hidden, err := integration.Fill(build)
	require.NoError(t, err)
	assert.Equal(t, []string{"password"}, hidden)
	build = &BuildServerOptions{Password: "kept"}
	hidden, err = integration.Fill(build)
	require.NoError(t, err)
	assert.Empty(t, hidden)
	assert.Equal(t, &BuildServerOptions{URL: "https://builds.example.com", EnableSSLVerification: new(true), BuildKey: "APP-MAIN", Username: "ada",
		Password: "kept", UseInheritedSettings: new(true)}, build)

	integration = &Integration{IntegrationSummary: IntegrationSummary{PushEvents: true}, Properties: map[string]json.RawMessage{
		"thread": json.RawMessage(`"12"`), "notify_only_broken_pipelines": json.RawMessage(`"0"`), "room": json.RawMessage(`"12"`),
		"hostname": json.RawMessage(`null`), "other": json.RawMessage(`{}`), "gone": json.RawMessage(`null`),
	}}
	chat := &TeamChatBOptions{UseInheritedSettings: new(true), Extra: map[string]any{"mine": 1}}
	before := chat.Extra
	hidden, err = integration.Fill(chat)
	require.NoError(t, err)
	assert.Equal(t, []string{"token"}, hidden)
	assert.Equal(t, 12, chat.Thread)
	assert.Equal(t, "12", chat.Room)
	assert.Equal(t, new(false), chat.NotifyOnlyBrokenPipelines)
	assert.Equal(t, new(true), chat.PushEvents)
	assert.Equal(t, new(false), chat.NoteEvents)
	assert.Equal(t, new(false), chat.UseInheritedSettings, "what the server has counts")
	assert.Equal(t, map[string]any{"mine": 1, "other": json.RawMessage(`{}`)}, chat.Extra)
	assert.Equal(t, map[string]any{"mine": 1}, before)
	chat.Extra["other"].(json.RawMessage)[0] = '['
	assert.Equal(t, "{}", string(integration.Properties["other"]), "what was read does not change with the options")
	for _, wrong := range []string{`"many"`, `[]`, `{`} {
		integration.Properties["thread"] = json.RawMessage(wrong)
		_, err = integration.Fill(chat)
		assert.ErrorContains(t, err, "(thread): the server's value does not fit TeamChatBOptions")
	}
}

func TestFillNil(t *testing.T) {
	for _, o := range []IntegrationOptions{nil, (*TaskTrackerOptions)(nil)} {
		_, err := (&Integration{}).Fill(o)
		require.ErrorAs(t, err, new(*ValidationError))
	}
}

// An integration that no type describes is read whole, too.
func TestFillCustom(t *testing.T) {
	integration, _, err := decodeText[Integration](`{"id":3,"slug":"jira","active":true,"inherited":true,"push_events":true,"properties":{"url":"u","port":7}}`)
	require.NoError(t, err)
	o := &CustomIntegration{Slug: "jira", Params: map[string]any{"password": "p", "url": "old"}}
	hidden, err := integration.Fill(o)
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

// Every parameter of every kind is taken over, or is named as hidden, and nothing else is.
func TestFillEveryParameter(t *testing.T) {
	for i, kind := range catalogueKinds(t) {
		properties := map[string]json.RawMessage{}
		all := kindRows[i].options()
		for _, p := range kind.Params {
			setFields(t, reflect.ValueOf(all).Elem(), p.Name)
			field, _ := fieldForKey(reflect.ValueOf(all).Elem(), p.Name)
			text, err := json.Marshal(field.Interface())
			require.NoError(t, err)
			if _, flag := fieldForKey(reflect.ValueOf(IntegrationSummary{}), p.Name); !holdsSecret(p.Name) && !flag {
				properties[p.Name] = text
			}
		}
		events, err := json.Marshal(all)
		require.NoError(t, err)
		var summary IntegrationSummary
		require.NoError(t, json.Unmarshal(events, &summary))
		summary.Inherited = true
		filled := kindRows[i].options()
		hidden, err := (&Integration{IntegrationSummary: summary, Properties: properties}).Fill(filled)
		require.NoError(t, err)
		named := map[string]bool{}
		for _, name := range hidden {
			named[name] = true
		}
		want, got := reflect.ValueOf(all).Elem(), reflect.ValueOf(filled).Elem()
		for _, p := range kind.Params {
			had, _ := fieldForKey(want, p.Name)
			has, _ := fieldForKey(got, p.Name)
			switch {
			case named[p.Name]:
				assert.True(t, has.IsZero(), "%s: %s is hidden and set", kind.ID, p.Name)
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
