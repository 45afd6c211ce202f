package forgetest

import (
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOffsetPagination(t *testing.T) {
	s := New(t)
	s.AddProject("group/app").AddIssues(45, nil)
	c := newCaller(t, s)
	for _, tc := range []struct {
		query                                 string
		page, perPage, prev, next, total, all string
		rels                                  string
		n                                     int
	}{
		{"", "1", "20", "", "2", "45", "3", "next=2 first=1 last=3", 20},
		{"?page=2", "2", "20", "1", "3", "45", "3", "prev=1 next=3 first=1 last=3", 20},
		{"?page=3", "3", "20", "2", "", "45", "3", "prev=2 first=1 last=3", 5},
		{"?page=9", "9", "20", "8", "", "45", "3", "prev=8 first=1 last=3", 0},
		{"?per_page=500", "1", "100", "", "", "45", "1", "first=1 last=1", 45},
		{"?state=closed", "1", "20", "", "", "0", "1", "first=1 last=1", 0},
	} {
		r := c.get("/issues" + tc.query)
		header := func(name string) string {
			require.Contains(t, r.Header, name)
			return r.Header.Get(name)
		}
		assert.Equal(t, tc.page, header("X-Page"))
		assert.Equal(t, tc.perPage, header("X-Per-Page"))
		assert.Equal(t, tc.prev, header("X-Prev-Page"))
		assert.Equal(t, tc.next, header("X-Next-Page"))
		assert.Equal(t, tc.total, header("X-Total"))
		assert.Equal(t, tc.all, header("X-Total-Pages"))
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
		assert.Len(t, r.array(t), tc.n)
	}
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

func TestOffsetPagesMatchTheList(t *testing.T) {
	s := New(t, WithDemo())
	c := newCaller(t, s)
	for _, query := range []string{"", "&order_by=updated_at&sort=asc", "&order_by=weight", "&state=opened&order_by=due_date", "&labels=bug"} {
		walked, pages := c.walk("/issues?scope=all&per_page=7"+query, "id")
		assert.Greater(t, pages, 5)
		var whole []any
		for page := 1; page <= 4; page++ {
			whole = append(whole, c.get(fmt.Sprintf("/issues?scope=all&per_page=100&page=%d%s", page, query)).column(t, "id")...)
		}
		assert.Equal(t, whole, walked, query)
		seen := map[any]bool{}
		for _, id := range walked {
			assert.False(t, seen[id])
			seen[id] = true
		}
	}
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
	assert.NotContains(t, first.Header, "X-Total")
	assert.NotContains(t, first.Header, "X-Total-Pages")
	assert.Empty(t, first.rel("last"))
	assert.NotEmpty(t, first.next())

	assert.Equal(t, 201, c.post("/projects/1/issues/777777/subscribe").Status)
	assert.Equal(t, 304, c.post("/projects/1/issues/777777/subscribe").Status)
	assert.Equal(t, 200, c.send("POST", "/projects/1/issues/777777/time_estimate", "duration=1h").Status)
	page := c.get(fmt.Sprintf("/groups/group/issues?per_page=1&page=%d", 1_000_000-777_777+1)).array(t)
	assert.EqualValues(t, 777777, page[0]["iid"])
	assert.EqualValues(t, 3600, page[0]["time_stats"].(map[string]any)["time_estimate"])
}

func TestGeneratedIssuesFilter(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	p.AddIssue(func(d *Document) { d.Set("created_at", generatedTime(0)).Set("labels", []string{"special"}) })
	p.AddGeneratedIssues(300)
	c := newCaller(t, s)
	assert.Len(t, c.get("/issues?state=closed&per_page=100").array(t), 100)
	assert.Equal(t, []any{1.0}, c.get("/issues?labels=special").column(t, "iid"))
	assert.Equal(t, []any{1.0}, c.get("/issues?sort=asc&per_page=1").column(t, "iid"))
	walked, _ := c.walk("/issues?per_page=50", "iid")
	assert.Len(t, walked, 301)
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
	p.AddIssue(func(d *Document) { d.Set("created_at", noon().AddDate(-1, 0, 0)).Set("updated_at", noon()) })
	assert.Equal(t, []any{3.0, 2.0, 1.0, 4.0}, iids(""))
	assert.Equal(t, []any{4.0, 3.0, 2.0, 1.0}, iids("order_by=updated_at"))
	now = now.Add(time.Hour)
	assert.Equal(t, 200, c.send("POST", "/projects/1/issues/2/time_estimate", "duration=1h").Status)
	assert.Equal(t, []any{2.0, 4.0, 3.0, 1.0}, iids("order_by=updated_at"))
	assert.Equal(t, []any{4.0}, iids("order_by=updated_at&per_page=1&page=2"))
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
	assert.Equal(t, 400, c.get(path+"&pagination=keyset&page_token=nonsense").Status)
}
