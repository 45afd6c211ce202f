package forge

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const auditPages = "order_by=id&pagination=keyset&per_page=100&sort=desc"

func TestAuditEvents(t *testing.T) {
	ctx := t.Context()
	instance := &ListAuditEventsOptions{CreatedAfter: moment(), EntityType: AuditEntityTypeInstance, EntityID: 1}
	runCalls(t, []callRow{
		{"GET /audit_events", "created_after=2026-03-04T07%3A30%3A00Z&entity_id=1&entity_type=Gitlab%3A%3AAudit%3A%3AInstanceScope&" + auditPages, "", "audit_events/list_instance.json", func(c *Client) (any, error) {
			return Collect(c.AuditEvents.List(ctx, instance))
		}},
	})
	assert.Equal(t, ListAuditEventsOptions{CreatedAfter: moment(), EntityType: AuditEntityTypeInstance, EntityID: 1}, *instance, "the caller's options do not change")
	_, err := Collect(serve(t).AuditEvents.List(ctx, &ListAuditEventsOptions{EntityID: 7}))
	assertRefused(t, err, "ListAuditEventsOptions.EntityID", "entity_id")
	for range 20 { // of two filters that a project's list does not have, the first is named
		_, err = Collect(serve(t).AuditEvents.ListForProject(ctx, ID(42), instance))
		assertRefused(t, err, "ListAuditEventsOptions.EntityID", "entity_id")
	}

	// The documents' word for the instance is translated, by each method.
	const own = `{"entity_type":"Service::Audit::InstanceScope"}`
	c := serve(t,
		exchange{sent: "GET /audit_events", query: "entity_type=Service%3A%3AAudit%3A%3AInstanceScope&" + auditPages, answer: "[" + own + `,{"entity_type":"User"}]`}, exchange{sent: "GET /audit_events/4", answer: own},
		exchange{sent: "GET /groups/60/audit_events", query: auditPages, answer: "[" + own + "]"}, exchange{sent: "GET /groups/60/audit_events/2", answer: own},
		exchange{sent: "GET /projects/42/audit_events", query: auditPages, answer: "[" + own + "]"}, exchange{sent: "GET /projects/42/audit_events/5", answer: own}, exchange{sent: "GET /audit_events/4", answer: own})
	spoken, err := c.With(WithVocabulary(Neutral))
	require.NoError(t, err)
	var events []*AuditEvent
	for _, call := range []func() ([]*AuditEvent, error){
		func() ([]*AuditEvent, error) {
			return Collect(spoken.AuditEvents.List(ctx, &ListAuditEventsOptions{EntityType: AuditEntityTypeInstance}))
		},
		func() ([]*AuditEvent, error) { e, err := spoken.AuditEvents.Get(ctx, 4); return []*AuditEvent{e}, err },
		func() ([]*AuditEvent, error) { return Collect(spoken.AuditEvents.ListForGroup(ctx, ID(60), nil)) },
		func() ([]*AuditEvent, error) {
			e, err := spoken.AuditEvents.GetForGroup(ctx, ID(60), 2)
			return []*AuditEvent{e}, err
		},
		func() ([]*AuditEvent, error) { return Collect(spoken.AuditEvents.ListForProject(ctx, ID(42), nil)) },
		func() ([]*AuditEvent, error) {
			e, err := spoken.AuditEvents.GetForProject(ctx, ID(42), 5)
			return []*AuditEvent{e}, err
		},
	} {
		events, err = call()
		require.NoError(t, err)
		assert.Equal(t, AuditEntityTypeInstance, events[0].EntityType)
		assert.True(t, len(events) == 1 || events[1].EntityType != AuditEntityTypeInstance)
	}
	for _, err := range serve(t, exchange{sent: "GET /audit_events", query: auditPages, answer: `[{},{}]`}).AuditEvents.List(ctx, nil) {
		require.NoError(t, err)
		break // with an event left
	}
	event, err := c.AuditEvents.Get(ctx, 4)
	require.NoError(t, err)
	assert.EqualValues(t, "Service::Audit::InstanceScope", event.EntityType)
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
	own, isOther := AuditEventChange{Name: "name", Extra: map[string]json.RawMessage{"a": nil}}.otherForm()
	assert.Equal(t, []any{"name", true}, []any{own, isOther}, "a name that a program has set")
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
	assert.Equal(t, "x", AuditEventTarget{ID: 60, Name: "x"}.String(), "a name that a program has set")
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
