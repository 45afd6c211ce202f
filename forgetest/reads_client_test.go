package forgetest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// The client reads both forms of a target's id, strictly too.
func TestClientMeetsAuditEventTargets(t *testing.T) {
	srv := forgetest.New(t)
	app := srv.AddProject("group/app")
	app.AddAuditEvent(nil)
	user := srv.AddUser("ada")
	user.AddAuditEvent(nil)
	client := srv.Client(forge.WithStrictDecoding())
	events, err := forge.Collect(client.AuditEvents.List(t.Context(), nil))
	require.NoError(t, err)
	require.Len(t, events, 2)
	assert.Equal(t, forge.AuditEventTarget{ID: user.ID}, events[0].Details.TargetID)
	assert.Equal(t, forge.AuditEventTarget{Name: "group/app"}, events[1].Details.TargetID)
}
