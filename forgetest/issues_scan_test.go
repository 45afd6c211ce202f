package forgetest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A filtered list of a million generated issues is scanned and not stored.
func TestFilteredMillions(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	p.AddGeneratedIssues(1_000_000)
	s.AddProject("group/lib").AddIssues(3, nil)
	c := newCaller(t, s)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for _, query := range []string{"", "state=closed", "labels=batch-7", "search=999999", "sort=asc&state=opened", "weight=3&page=200"} {
		start := time.Now()
		r := c.get("/issues?scope=all&per_page=100&" + query)
		t.Log(query, time.Since(start))
		require.Equal(t, 200, r.Status)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	assert.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(8<<20))
	assert.Equal(t, "1", c.get("/issues?scope=all&search=999999").Header.Get("X-Total"))
	assert.NotContains(t, c.get("/issues?scope=all&state=closed").Header, "X-Total")
}

// The scan has the same issues as a complete list, for every order in which pages are requested.
func TestScanEqualsTheList(t *testing.T) {
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
