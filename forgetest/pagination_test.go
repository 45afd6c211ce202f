package forgetest

import (
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"encoding/json"
	"slices"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/racetest"
)

// The models of internal/contractmodel prove the numbers of a list's pages. This test has the links, and a page after the last.
func TestOffsetPagination(t *testing.T) {
	s := New(t)
	s.AddProject("group/app").AddIssues(45, nil)
	c := newCaller(t, s)
	for _, tc := range []struct {
		query, perPage, rels string
		n                    int
	}{
		{"", "20", "next=2 first=1 last=3", 20}, {"?page=2", "20", "prev=1 next=3 first=1 last=3", 20}, {"?page=3", "20", "prev=2 first=1 last=3", 5},
		{"?page=9", "20", "prev=8 first=1 last=3", 0}, {"?per_page=500", "100", "first=1 last=1", 45}, {"?state=closed", "20", "first=1 last=1", 0},
	} {
		r := c.get("/issues" + tc.query)
		var rels []string
		for _, rel := range []string{"prev", "next", "first", "last"} {
			if target := r.rel(rel); target != "" {
				u, err := url.Parse(target)
				require.NoError(t, err)
				query := u.Query()
				rels = append(rels, rel+"="+query.Get("page"))
				query.Del("page")
				want, _ := url.ParseQuery(strings.TrimPrefix(tc.query, "?"))
				want.Del("page")
				want.Set("per_page", tc.perPage)
				assert.Equal(t, want, query, "%s: %s", tc.query, rel)
				assert.Equal(t, s.URL+"/api/v4/issues", "http://"+u.Host+u.Path, "%s: %s", tc.query, rel)
			}
		}
		assert.Equal(t, tc.rels, strings.Join(rels, " "))
		assert.Len(t, strings.Split(r.Header.Get("Link"), ", "), len(rels))
		assert.Len(t, r.array(t), tc.n)
		assert.Equal(t, tc.perPage, r.Header.Get("X-Per-Page"))
	}
	assert.Equal(t, []string{"9", "8"}, []string{c.get("/issues?page=9").Header.Get("X-Page"), c.get("/issues?page=9").Header.Get("X-Prev-Page")})
	for _, bad := range []string{"page=0", "page=x", "per_page=0", "per_page=-1", "pagination=keyset"} {
		assert.GreaterOrEqual(t, c.get("/issues?"+bad).Status, 400, bad)
	}
	assert.Equal(t, 405, c.get("/issues?pagination=keyset&order_by=created_at&sort=asc").Status)
}

func TestLinksRepeatParametersAndPath(t *testing.T) {
	s := New(t)
	s.AddProject("group/sub/app").AddIssues(3, func(_ int, d *Document) { d.Set("labels", []string{"a b", "c"}) })
	c := newCaller(t, s)
	next := c.get("/groups/group%2Fsub/issues?per_page=1&labels=a+b,c&iids[]=1&iids[]=2").next()
	u, err := url.Parse(next)
	require.NoError(t, err)
	assert.Equal(t, s.URL, "http://"+u.Host)
	assert.Equal(t, "/api/v4/groups/group%2Fsub/issues", u.EscapedPath())
	want := url.Values{"id": {"group/sub"}, "page": {"2"}, "per_page": {"1"}, "labels": {"a b,c"}, "iids[]": {"1", "2"}}
	assert.Equal(t, want, u.Query())

	s.SetLinkOrigin("https://internal:8443/")
	assert.True(t, strings.HasPrefix(c.get("/issues?per_page=1").next(), "https://internal:8443/api/v4/issues?"))
	assert.Equal(t, "https://internal:8443/group/sub/app/-/issues/3", c.get("/issues?per_page=1").array(t)[0]["web_url"])
}

func TestGeneratedIssues(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	p.AddGeneratedIssues(1_000_000)
	c := newCaller(t, s)
	r := c.get("/groups/group/issues?per_page=100&page=10000")
	runtime.GC()
	runtime.ReadMemStats(&after)
	assert.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(8<<20))

	assert.EqualValues(t, 1, r.array(t)[99]["iid"])
	assert.Empty(t, r.Header.Get("X-Next-Page"))
	first := c.get("/issues?scope=all&per_page=100")
	assert.EqualValues(t, 1_000_000, first.array(t)[0]["iid"])
	assert.NotEmpty(t, first.next())
	assert.Equal(t, "2", first.Header.Get("X-Next-Page"))

	filtered := c.get("/issues?scope=all&state=opened&sort=asc&per_page=100&page=150").column(t, "iid")
	assert.Equal(t, []any{22351.0, 22499.0}, []any{filtered[0], filtered[99]}, "two of three issues are open")

	assert.Equal(t, 201, c.post("/projects/1/issues/777777/subscribe").Status)
	assert.Equal(t, 304, c.post("/projects/1/issues/777777/subscribe").Status)
	assert.Equal(t, 200, c.send("POST", "/projects/1/issues/777777/time_estimate", "duration=1h").Status)
	page := c.get(fmt.Sprintf("/groups/group/issues?per_page=1&page=%d", 1_000_000-777_777+1)).array(t)
	assert.EqualValues(t, 777777, page[0]["iid"])
	assert.EqualValues(t, 3600, page[0]["time_stats"].(map[string]any)["time_estimate"])
}

// Shortcuts and cached lists must not affect results: writes, and new records with an early date,
// change the list immediately.
func TestListsFollowChanges(t *testing.T) {
	s := New(t)
	now := noon()
	s.SetClock(func() time.Time { return now })
	p := s.AddProject("group/app")
	p.AddIssues(3, nil)
	c := newCaller(t, s)
	iids := func(query string) []any { return c.get("/issues?scope=all&"+query).column(t, "iid") }
	assert.Equal(t, []any{3.0, 2.0, 1.0}, iids(""))
	assert.Equal(t, []any{1.0, 2.0, 3.0}, iids("sort=asc"))
	p.AddIssue(func(d *Document) { d.Set("created_at", noon().AddDate(-1, 0, 0)).Set("updated_at", noon()) })
	assert.Equal(t, []any{3.0, 2.0, 1.0, 4.0}, iids(""))
	assert.Equal(t, []any{4.0, 3.0, 2.0, 1.0}, iids("order_by=updated_at"))
	now = now.Add(time.Hour)
	assert.Equal(t, 200, c.send("POST", "/projects/1/issues/2/time_estimate", "duration=1h").Status)
	assert.Equal(t, []any{2.0, 4.0, 3.0, 1.0}, iids("order_by=updated_at"))
	assert.Equal(t, []any{4.0}, iids("order_by=updated_at&per_page=1&page=2"))
	assert.Len(t, s.store.lists, 1, "of all pages")
	for i := range 3 * keptLists { // few lists are kept
		iids(fmt.Sprint("search=", i))
		iids(fmt.Sprint("order_by=title&search=", i))
		assert.LessOrEqual(t, max(len(s.store.scans), len(s.store.lists)), keptLists)
	}
	p.Archive()
	assert.Empty(t, iids(""))
	assert.Len(t, iids("non_archived=false"), 4)
}

func TestTreeKeysetWalk(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("dir%d/file%02d.txt", i%4, i)] = "same content"
	}
	p.AddFiles(files)
	c := newCaller(t, s)
	path := "/projects/group%2Fapp/repository/tree?recursive=true"
	whole := c.get(path+"&per_page=100").column(t, "path")
	require.Len(t, whole, 44)
	for _, perPage := range []int{1, 7, 11, 44, 100} {
		walked, pages := c.walk(fmt.Sprintf("%s&pagination=keyset&per_page=%d", path, perPage), "path")
		assert.Equal(t, whole, walked)
		if 44%perPage == 0 { // a full last page links to an empty one
			assert.Equal(t, 44/perPage+1, pages)
		}
	}
	walked, _ := c.walk(path+"&per_page=7", "path")
	assert.Equal(t, whole, walked)

	first := c.get(path + "&pagination=keyset&per_page=7")
	assert.NotContains(t, first.Header, "X-Total")
	assert.NotContains(t, first.Header, "X-Next-Page")
	assert.Contains(t, first.next(), "page_token=")
	assert.Contains(t, first.next(), "id=group%2Fapp")
	for _, bad := range []string{path + "&pagination=keyset&page_token=nonsense", strings.Replace(first.next(), "page_token=", "page_token=!", 1), first.next() + "!"} {
		assert.Equal(t, 400, c.get(bad).Status, bad)
	}
}

// The scan has the same issues as a complete list, for every order in which pages are requested.
func TestScanEqualsTheList(t *testing.T) {
	racetest.SkipSequential(t)
	s := New(t)
	a, b := s.AddProject("group/a"), s.AddProject("group/b")
	a.AddGeneratedIssues(1300)
	b.AddGeneratedIssues(900)
	b.AddIssues(30, func(i int, d *Document) { d.Set("confidential", i%2 == 0) })
	c := newCaller(t, s)
	for _, query := range []string{"", "&sort=asc", "&state=closed", "&labels=batch-3&sort=asc", "&state=closed&not[labels]=batch-3"} {
		walked, _ := c.walk("/issues?scope=all&per_page=100"+query, "id")
		seen := map[any]bool{}
		for _, id := range walked {
			assert.False(t, seen[id])
			seen[id] = true
		}
		assert.LessOrEqual(t, len(s.store.scans), 2, "one for all pages of this query, and of the last")
		s.AddUser("forget" + fmt.Sprint(len(query)))
		for _, page := range []int{22, 11, 3, 1} {
			want := walked[min(len(walked), (page-1)*100):min(len(walked), page*100)]
			got := c.get(fmt.Sprintf("/issues?scope=all&per_page=100&page=%d%s", page, query)).column(t, "id")
			assert.Equal(t, append([]any{}, want...), got, "%s page %d", query, page)
		}
	}
	for query, descending := range map[string]bool{"": true, "&sort=asc": false} {
		created, _ := c.walk("/issues?scope=all&per_page=100"+query, "created_at")
		assert.True(t, slices.IsSortedFunc(created, func(a, b any) int {
			if descending {
				a, b = b, a
			}
			return strings.Compare(a.(string), b.(string))
		}), query)
	}
	all, _ := c.walk("/issues?scope=all&per_page=100", "id")
	assert.Len(t, all, 2230)
	guest, _ := c.as(s.AddUser("guest").Token).walk("/issues?scope=all&per_page=100", "id")
	assert.Len(t, guest, 2215)
	assert.Empty(t, c.get("/issues?scope=all&page=9223372036854775807").array(t))
}

// Every list is paginated (Document 1 §4 and §8.1), and has no Links header.
func TestEveryListHasPages(t *testing.T) {
	s := contractServer(t, WithRelease("18.2"))
	c := newCaller(t, s)
	c.send("PUT", "/groups/group/integrations/emails-on-push", "recipients=a@example.com")
	lists := everyList(t)
	assert.GreaterOrEqual(t, len(lists), 29)
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
	c := newCaller(t, s)
	for path, name := range map[string]string{"/users?order_by=id&sort=asc": "id", "/groups/group/audit_events?order_by=id&sort=desc": "id"} {
		for query, want := range map[string]int{"": 20, "&per_page=7": 7, "&per_page=101": 100} {
			r := c.get(path + "&pagination=keyset" + query)
			assert.Len(t, r.array(t), want, path+query)
			assert.NotContains(t, r.Header, "Links")
			assert.Equal(t, 1, strings.Count(r.Header.Get("Link"), "rel="), "only the next page")
			second := c.get(r.next()).column(t, name)
			assert.NotContains(t, r.column(t, name), second[0], path+query)
		}
	}
}

// A + in a timestamp must be written as %2B: an unescaped + is a space (Document 1 §2.1 rule 4).
func TestPlusInTimestamps(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	p.AddIssue(func(d *Document) {
		d.Set("created_at", "2026-03-04T10:00:00Z").Set("updated_at", "2026-03-04T10:00:00Z")
	})
	c := newCaller(t, s)
	assert.Empty(t, c.get("/issues?scope=all&created_after=2026-03-04T12:00:01%2B02:00").array(t))
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
	for body, want := range map[string][]any{ // a hash is an object in JSON
		`{"scope":"all","iids":["2",1]}`: {2.0, 1.0}, `{"scope":"all","not":{"iids":[2]}}`: {3.0, 1.0},
	} {
		assert.Equal(t, want, c.sendJSON("GET", "/issues", body).column(t, "iid"), body)
	}
	for body, name := range map[string]string{`{"not":{"author_id":true}}`: "not[author_id]", `{"not":1}`: "not"} {
		assert.Equal(t, `{"error":"`+name+` is invalid"}`, c.sendJSON("GET", "/issues", body).Body)
	}
	filters.Del("search")
	filters["iids[]"] = strings.Split(strings.Repeat("2,3,", 3000)+"2", ",")
	assert.Equal(t, 414, c.get("/issues?"+filters.Encode()).Status)
	assert.Equal(t, []any{3.0, 2.0}, c.send("GET", "/issues", filters.Encode()).column(t, "iid"))
	long := url.Values{"duration": {"1h"}, "summary": {strings.Repeat("x", 9000)}}.Encode()
	assert.Equal(t, 414, c.post("/projects/1/issues/1/add_spent_time?"+long).Status)
	assert.Equal(t, 201, c.send("POST", "/projects/1/issues/1/add_spent_time", long).Status)
}
