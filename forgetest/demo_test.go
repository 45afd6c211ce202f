package forgetest

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The demo data have a record of every kind that the example programs need.
func TestDemoOperations(t *testing.T) {
	s := New(t, WithDemo())
	c := newCaller(t, s)
	assert.Equal(t, []any{"acme/storefront/web", "acme/storefront/cron", "acme/platform/gateway"}, c.get("/groups/acme/registry/repositories").column(t, "path"))
	assert.Equal(t, []any{"online", "never_contacted", "stale", "offline", "online", "online"}, c.get("/runners/all").column(t, "status"))
	assert.Len(t, c.get("/audit_events?per_page=100&page=3").array(t), demoEvents-200)
	assert.Len(t, c.get("/groups/acme/audit_events?per_page=100").array(t), 54)
	assert.Len(t, s.AddGroup("acme").Placeholders(), 6)
	assert.Equal(t, 403, c.with("DELETE", "/projects/1/registry/repositories/1/tags/v1.0.0", "", "").Status)
}

// The demo data have a merge request with a diff and a version.
func TestDemoDiff(t *testing.T) {
	c := newCaller(t, New(t, WithDemo()))
	const project = "/projects/acme%2Fplatform%2Fgateway/merge_requests"
	with := slices.DeleteFunc(c.get(project+"?scope=all&per_page=100").array(t), func(mr map[string]any) bool { return mr["changes_count"] == nil })
	require.Len(t, with, 1)
	path := fmt.Sprintf("%s/%v", project, with[0]["iid"])
	changes := c.get(path + "/changes").object(t)["changes"].([]any)
	assert.Equal(t, fmt.Sprint(len(changes)), with[0]["changes_count"])
	assert.Contains(t, changes[0].(map[string]any)["diff"], "@@ ")
	assert.Len(t, c.get(path+"/versions").array(t), 1)
}

// The Date of responses follows the clock of the server.
func TestDateFollowsTheClock(t *testing.T) {
	s := New(t)
	c := newCaller(t, s)
	assert.Len(t, c.get("/user").Header["Date"], 1)
	at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	s.SetClock(func() time.Time { return at })
	s.Fail("GET /users", Status(503).Times(1))
	for _, path := range []string{"/user", "/users", "/nothing"} {
		date, err := http.ParseTime(c.get(path).Header.Get("Date"))
		assert.NoError(t, err)
		assert.Equal(t, at, date, path)
	}
}
