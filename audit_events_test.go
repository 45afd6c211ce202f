package forge

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const auditPages = "order_by=id&pagination=keyset&per_page=100&sort=desc"

func TestAuditEvents(t *testing.T) {
	runScenarios(t, []scenario{
		{
			name: "instance",
			exchanges: []exchange{
				{sent: "GET /audit_events", query: "created_after=2026-03-04T07%3A30%3A00Z&created_before=2026-03-04T07%3A30%3A00Z&entity_id=1&entity_type=Service%3A%3AAudit%3A%3AInstanceScope&" + auditPages,
					answer: "audit_events/audit_events.json", header: map[string]string{"Link": `<https://internal/api/v4/audit_events?cursor=abc&` + auditPages + `>; rel="next"`}},
				{sent: "GET /audit_events", query: "cursor=abc&" + auditPages, answer: "[]"},
				{sent: "GET /audit_events/4", answer: "audit_events/audit_event.json"},
				{sent: "GET /audit_events/5", status: 403, answer: `{"message":"403 Forbidden"}`},
			},
			run: func(t *testing.T, c *Client) {
				options := &ListAuditEventsOptions{CreatedAfter: moment(), CreatedBefore: moment().UTC(), EntityType: AuditEntityInstance, EntityID: 1}
				before := *options
				events, err := Collect(c.AuditEvents.List(t.Context(), options))
				require.NoError(t, err)
				assertWhole(t, "audit_events/audit_events.json", events)
				assert.Equal(t, before, *options, "the caller's options do not change")
				assert.True(t, events[0].IsInstance())
				assert.False(t, events[1].IsInstance())
				assert.Equal(t, "email address", events[1].Details.Change.String())
				event, err := c.AuditEvents.Get(t.Context(), 4)
				require.NoError(t, err)
				assertWhole(t, "audit_events/audit_event.json", event)
				_, err = c.AuditEvents.Get(t.Context(), 5)
				require.ErrorIs(t, err, ErrForbidden)
				assert.ErrorContains(t, err, "Premium or Ultimate, a self-managed or dedicated instance")
			},
		},
		{
			name: "group",
			exchanges: []exchange{
				{sent: "GET /groups/60/audit_events", query: "created_after=2026-03-04T07%3A30%3A00Z&" + auditPages, answer: "audit_events/group.json"},
				{sent: "GET /groups/60/audit_events/2", answer: "audit_events/group_event.json"},
			},
			run: func(t *testing.T, c *Client) {
				events, err := Collect(c.AuditEvents.ListForGroup(t.Context(), ID(60), &ListAuditEventsOptions{CreatedAfter: moment()}))
				require.NoError(t, err)
				assertWhole(t, "audit_events/group.json", events)
				event, err := c.AuditEvents.GetForGroup(t.Context(), ID(60), 2)
				require.NoError(t, err)
				assertWhole(t, "audit_events/group_event.json", event)
			},
		},
		{
			name: "project",
			exchanges: []exchange{
				{sent: "GET /projects/group%2Fapp/audit_events", query: auditPages, answer: "audit_events/project.json"},
				{sent: "GET /projects/group%2Fapp/audit_events/5", answer: "audit_events/project_event.json"},
				{sent: "GET /projects/group%2Fapp/audit_events/6", status: 404, answer: `{"message":"404 Audit Event Not Found"}`},
			},
			run: func(t *testing.T, c *Client) {
				app := Path("group/app")
				events, err := Collect(c.AuditEvents.ListForProject(t.Context(), app, nil))
				require.NoError(t, err)
				assertWhole(t, "audit_events/project.json", events)
				assert.Equal(t, "true", events[0].Details.To, "a boolean as text")
				event, err := c.AuditEvents.GetForProject(t.Context(), app, 5)
				require.NoError(t, err)
				assertWhole(t, "audit_events/project_event.json", event)
				_, err = c.AuditEvents.GetForProject(t.Context(), app, 6)
				require.ErrorIs(t, err, ErrNotFound)
			},
		},
		{
			name: "a server's own word for the instance",
			exchanges: []exchange{
				{sent: "GET /audit_events", query: "entity_type=Own%3A%3AAudit%3A%3AInstanceScope&" + auditPages, answer: `[{"entity_type":"Own::Audit::InstanceScope"},{"entity_type":"User"}]`},
				{sent: "GET /audit_events/4", answer: `{"entity_type":"Own::Audit::InstanceScope"}`},
				{sent: "GET /audit_events/4", answer: `{"entity_type":"Own::Audit::InstanceScope"}`},
				{sent: "GET /audit_events", query: "entity_type=Gitlab%3A%3AAudit%3A%3AInstanceScope&" + auditPages, answer: `[{"entity_type":"Gitlab::Audit::InstanceScope"}]`},
				{sent: "GET /groups/60/audit_events", query: auditPages, answer: `[{"entity_type":"Own::Audit::InstanceScope"}]`},
				{sent: "GET /groups/60/audit_events/2", answer: `{"entity_type":"Own::Audit::InstanceScope"}`},
				{sent: "GET /projects/42/audit_events", query: auditPages, answer: `[{"entity_type":"Own::Audit::InstanceScope"}]`},
				{sent: "GET /projects/42/audit_events/5", answer: `{"entity_type":"Own::Audit::InstanceScope"}`},
			},
			run: func(t *testing.T, c *Client) {
				own, err := c.With(WithVocabulary("entity Service::Audit::InstanceScope = Own::Audit::InstanceScope"))
				require.NoError(t, err)
				instance := &ListAuditEventsOptions{EntityType: AuditEntityInstance}
				events, err := Collect(own.AuditEvents.List(t.Context(), instance))
				require.NoError(t, err)
				assert.Equal(t, AuditEntityInstance, events[0].EntityType)
				assert.Equal(t, AuditEntityUser, events[1].EntityType)
				event, err := own.AuditEvents.Get(t.Context(), 4)
				require.NoError(t, err)
				assert.Equal(t, AuditEntityInstance, event.EntityType)
				event, err = c.AuditEvents.Get(t.Context(), 4)
				require.NoError(t, err)
				assert.EqualValues(t, "Own::Audit::InstanceScope", event.EntityType)
				assert.True(t, event.IsInstance(), "without a vocabulary, too")
				gitlab, err := c.With(WithVocabulary(GitLab))
				require.NoError(t, err)
				events, err = Collect(gitlab.AuditEvents.List(t.Context(), instance))
				require.NoError(t, err)
				assert.Equal(t, AuditEntityInstance, events[0].EntityType)
				ofGroup, err := Collect(own.AuditEvents.ListForGroup(t.Context(), ID(60), nil))
				require.NoError(t, err)
				oneOfGroup, err := own.AuditEvents.GetForGroup(t.Context(), ID(60), 2)
				require.NoError(t, err)
				ofProject, err := Collect(own.AuditEvents.ListForProject(t.Context(), ID(42), nil))
				require.NoError(t, err)
				oneOfProject, err := own.AuditEvents.GetForProject(t.Context(), ID(42), 5)
				require.NoError(t, err)
				for _, event := range []*AuditEvent{ofGroup[0], oneOfGroup, ofProject[0], oneOfProject} {
					assert.Equal(t, AuditEntityInstance, event.EntityType, "with each method")
				}
			},
		},
	})
	_, err := Collect(serve(t).AuditEvents.List(t.Context(), &ListAuditEventsOptions{EntityID: 7}))
	assertRefused(t, err, "ListAuditEventsOptions.EntityID", "entity_id")
}

// A change is a name, or an object for some events.
func TestAuditEventChange(t *testing.T) {
	for text, want := range map[string]AuditEventChange{
		`"name"`:      {Name: "name"},
		`{"a":[1,2]}`: {Extra: map[string]json.RawMessage{"a": json.RawMessage(`[1,2]`)}},
		`null`:        {},
	} {
		var details AuditEventDetails
		require.NoError(t, decodeInto([]byte(`{"change":`+text+`,"to":"x"}`), &details))
		assert.Equal(t, want, details.Change)
		assert.Equal(t, "x", details.To)
		var own AuditEventChange
		require.NoError(t, json.Unmarshal([]byte(text), &own))
		assert.Equal(t, want, own)
		if text != "null" {
			written, err := json.Marshal(own)
			require.NoError(t, err)
			assert.JSONEq(t, text, string(written))
		}
	}
}

// A target is an id, a name for some events, or any other JSON value.
func TestAuditEventTarget(t *testing.T) {
	for text, want := range map[string]AuditEventTarget{
		`60`:                {ID: 60},
		`-3`:                {ID: -3},
		`"flightjs/flight"`: {Name: "flightjs/flight"},
		`"60"`:              {ID: 60, Name: "60"},
		`"007"`:             {Name: "007"},
		`{"id":1}`:          {Extra: map[string]json.RawMessage{"id": json.RawMessage(`1`)}},
		`null`:              {},
	} {
		var event AuditEvent
		require.NoError(t, decodeInto([]byte(`{"target_id":`+text+`,"details":{"target_id":`+text+`,"to":"x"}}`), &event))
		assert.Equal(t, AuditEvent{TargetID: want, Details: AuditEventDetails{TargetID: want, To: "x"}}, event, text)
		var own AuditEventTarget
		require.NoError(t, json.Unmarshal([]byte(text), &own))
		assert.Equal(t, want, own)
		written, err := json.Marshal(own)
		require.NoError(t, err)
		assert.JSONEq(t, text, string(written))
	}
	for text, want := range map[string]string{`60`: "60", `"a/b"`: "a/b", `null`: "", `{}`: ""} {
		var own AuditEventTarget
		require.NoError(t, json.Unmarshal([]byte(text), &own))
		assert.Equal(t, want, own.String())
	}
	for _, text := range []string{`1.5`, `[1]`, `true`, `9223372036854775808`} {
		var event AuditEvent
		require.NoError(t, decodeInto([]byte(`{"target_id":`+text+`}`), &event))
		assert.Equal(t, AuditEvent{Extra: map[string]json.RawMessage{"target_id": json.RawMessage(text)}}, event, text)
		require.Error(t, json.Unmarshal([]byte(text), new(AuditEventTarget)))
	}
	for _, text := range []string{`"flightjs/flight"`, `60`} { // no mismatch
		client := decodeClient(t, `{"id":1,"target_id":`+text+`,"details":{"target_id":`+text+`}}`, WithStrictDecoding())
		_, err := client.AuditEvents.Get(t.Context(), 1)
		require.NoError(t, err)
	}
}
