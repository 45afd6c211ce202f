package forgetest

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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
