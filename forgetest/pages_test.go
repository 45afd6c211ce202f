package forgetest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every list is paginated (Document 1 §4 and §8.1), and has no Links header.
func TestEveryListHasPages(t *testing.T) {
	s := contractServer(t)
	c := newCaller(t, s)
	c.send("PUT", "/groups/group/integrations/emails-on-push", "recipients=a@example.com")
	lists := everyList(t)
	assert.Len(t, lists, 29)
	for _, l := range lists {
		count := func(query string, page, perPage string) int {
			r := c.get(l.ask(query))
			require.Equal(t, 200, r.Status, l.route)
			assert.Equal(t, page, r.Header.Get("X-Page"), l.route)
			assert.Equal(t, perPage, r.Header.Get("X-Per-Page"), l.route)
			assert.NotContains(t, r.Header, "Links", l.route)
			assert.Contains(t, r.rel("first"), "page=1&per_page="+perPage, l.route)
			var items []json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(r.Body), &items), l.route)
			return len(items)
		}
		all := count("", "1", "20")
		require.Positive(t, all, l.route)
		assert.Equal(t, 1, count("per_page=1", "1", "1"), l.route)
		assert.Equal(t, min(1, all-1), count("per_page=1&page=2", "2", "1"), l.route)
		assert.Zero(t, count("per_page=100&page=2", "2", "100"), l.route)
	}
}

// Lists up to 10,000 records have totals, longer ones do not (Document 1 §8).
func TestTotalsUpToTenThousand(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	p.AddGeneratedIssues(10_000)
	c := newCaller(t, s)
	r := c.get("/issues?scope=all&per_page=100")
	assert.Equal(t, []string{"10000", "100"}, []string{r.Header.Get("X-Total"), r.Header.Get("X-Total-Pages")})
	assert.Contains(t, r.rel("last"), "page=100&")
	p.AddIssue(nil)
	r = c.get("/issues?scope=all&per_page=100")
	assert.NotContains(t, r.Header, "X-Total")
	assert.NotContains(t, r.Header, "X-Total-Pages")
	assert.Empty(t, r.rel("last"))
	assert.Contains(t, r.rel("first"), "page=1&per_page=100&")
	assert.Equal(t, "1", c.get("/issues?scope=all&iids[]=10001").Header.Get("X-Total")) // the total counts the issues that the call finds
}

// A page by position has 20 records by default, and 100 at most.
func TestKeysetPageSizes(t *testing.T) {
	s := New(t)
	s.AddUsers(150, "user")
	s.AddGroup("group").AddGeneratedAuditEvents(150)
	files := map[string]string{}
	for i := range 150 {
		files[fmt.Sprintf("%03d.txt", i)] = "x"
	}
	s.AddProject("group/app").AddFiles(files)
	c := newCaller(t, s)
	for path, name := range map[string]string{
		"/users?order_by=id&sort=asc": "id", "/groups/group/audit_events?order_by=id&sort=desc": "id", "/projects/1/repository/tree?": "path",
	} {
		for query, want := range map[string]int{"": 20, "&per_page=7": 7, "&per_page=100": 100, "&per_page=101": 100, "&per_page=1000": 100} {
			r := c.get(path + "&pagination=keyset" + query)
			assert.Len(t, r.array(t), want, path+query)
			assert.NotContains(t, r.Header, "Links")
			assert.Equal(t, 1, strings.Count(r.Header.Get("Link"), "rel="), "only the next page")
			second := c.get(r.next()).column(t, name)
			assert.NotContains(t, r.column(t, name), second[0], path+query)
		}
	}
	assert.Len(t, c.get("/projects/1/repository/tree").array(t), 20)
	anonymous, pages := c.as("").walk("/projects/1/repository/tree?pagination=keyset&per_page=60", "path")
	assert.Len(t, anonymous, 150)
	assert.Equal(t, 3, pages)
}

// A + in a timestamp must be written as %2B: an unescaped + is a space (Document 1 §2.1 rule 4).
func TestPlusInTimestamps(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	p.AddIssue(func(d *Document) {
		d.Set("created_at", "2026-03-04T10:00:00Z").Set("updated_at", "2026-03-04T10:00:00Z")
	})
	c := newCaller(t, s)
	for query, found := range map[string]int{
		"created_after=2026-03-04T11:59:59%2B02:00": 1, "created_after=2026-03-04T12:00:01%2B02:00": 0,
		"updated_before=2026-03-04T12:00:01%2B02:00": 1, "updated_before=2026-03-04T11:59:59%2B02:00": 0,
		"created_after=2026-03-04T06:59:59-03:00": 1, "created_after=2026-03-04T07:00:01-03:00": 0,
	} {
		assert.Len(t, c.get("/issues?scope=all&"+query).array(t), found, query)
	}
	for _, name := range []string{"created_after", "updated_before"} {
		assert.Equal(t, 400, c.get("/issues?"+name+"=2026-03-04T11:59:59+02:00").Status, name)
	}
}

// A query that is too long can be sent as a body (Document 1 §2.1 rule 7).
func TestLongQueriesAsBodies(t *testing.T) {
	s := New(t)
	s.AddProject("group/app").AddIssues(3, nil)
	c := newCaller(t, s)
	filters := url.Values{"scope": {"all"}, "iids[]": {"2"}, "search": {strings.Repeat("x", 9000)}, "in": {"title"}}
	assert.Equal(t, 414, c.get("/issues?"+filters.Encode()).Status)
	r := c.send("GET", "/issues", filters.Encode())
	assert.Equal(t, 200, r.Status)
	assert.Empty(t, r.array(t))
	filters.Del("search")
	filters["iids[]"] = strings.Split(strings.Repeat("2,3,", 3000)+"2", ",")
	assert.Equal(t, 414, c.get("/issues?"+filters.Encode()).Status)
	assert.Equal(t, []any{3.0, 2.0}, c.send("GET", "/issues", filters.Encode()).column(t, "iid"))
	long := url.Values{"duration": {"1h"}, "summary": {strings.Repeat("x", 9000)}}.Encode()
	assert.Equal(t, 414, c.post("/projects/1/issues/1/add_spent_time?"+long).Status)
	assert.Equal(t, 201, c.send("POST", "/projects/1/issues/1/add_spent_time", long).Status)
}
