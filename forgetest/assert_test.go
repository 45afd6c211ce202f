package forgetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// recorder is a testing.TB that records failures instead of failing this test.
type recorder struct {
	testing.TB
	errors []string
	ended  bool
}

func (r *recorder) Helper() {}
func (r *recorder) Error(args ...any) {
	r.errors = append(r.errors, strings.TrimSpace(fmt.Sprintln(args...)))
}
func (r *recorder) FailNow() { r.ended = true }

func TestAssertions(t *testing.T) {
	s := New(t)
	s.AddProject("group/app").AddIssue(nil)
	c := newCaller(t, s)
	const subscribe, list = "POST /projects/:id/issues/:issue_iid/subscribe", "GET /issues"
	s.AssertNoRequest(t)
	c.post("/projects/1/issues/1/subscribe")
	c.send("POST", "/projects/1/issues/1/subscribe?private_token=secret", "a=b")
	c.get("/nothing?x=1")

	s.AssertRequestCount(t, subscribe, 2)
	s.AssertRequestCount(t, "*", 3)
	s.AssertAppliedCount(t, subscribe, 1)
	s.AssertNoRequest(t, list, "PUT /runners/:runner_id")
	s.AssertRequests(t, subscribe, subscribe, "")
	assert.Equal(t, 304, s.LastRequest(t, subscribe).Status)
	assert.Equal(t, "a=b", string(s.LastRequest(t, subscribe).Body))
	assert.Contains(t, string(s.Requests()[0].ResponseBody), `{"id":1`)

	first := s.Requests()[0]
	assert.Equal(t, []string{"/api/v4/projects/1/issues/1/subscribe", s.Token}, []string{first.Path, first.Header.Get("PRIVATE-TOKEN")})
	assert.Equal(t, "1", s.Requests()[2].Query.Get("x"))

	r := &recorder{TB: t}
	assert.False(t, s.AssertRequestCount(r, subscribe, 1))
	assert.False(t, s.AssertAppliedCount(r, subscribe, 2))
	assert.False(t, s.AssertNoRequest(r))
	assert.False(t, s.AssertRequests(r, list))
	s.LastRequest(r, list)
	assert.True(t, r.ended)
	assert.Len(t, r.errors, 5)
	assert.Contains(t, r.errors[0], "forgetest: "+subscribe+": 2 requests, want 1\nPOST /api/v4/projects/1/issues/1/subscribe -> 201\n    response: {\"id\":1")
	assert.Contains(t, r.errors[0], "POST /api/v4/projects/1/issues/1/subscribe?private_token=%2A%2A%2A -> 304\n    request:  a=b\nGET /api/v4/nothing?x=1 -> 404 (matches no route)")
	assert.Contains(t, r.errors[1], ": changed something 1 time, want 2")
	assert.Panics(t, func() { s.AssertRequestCount(t, "GET /issue", 0) }) // a misspelled route would always have 0
}

// noRouteBody is the body of the response to a request that matches no route.
func noRouteBody(method, path string, near ...string) string {
	return fmt.Sprintf(`{"error":%q}`, fmt.Sprintf("forgetest has no such route: %s /api/v4%s (near: %q, %q, %q; Server.Handle adds routes)", method, path, near[0], near[1], near[2]))
}
