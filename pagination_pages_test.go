package forge

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// listForm is one of the ways in which servers split a list into pages.
type listForm struct {
	name   string
	call   Call
	server func(rows int) *pageServer
}

func listForms() []listForm {
	return []listForm{
		{"number", offsetCall, func(rows int) *pageServer { return &pageServer{rows: rows} }},
		{"number with totals", offsetCall, func(rows int) *pageServer { return &pageServer{rows: rows, totals: true} }},
		{"x-next-page", offsetCall, func(rows int) *pageServer { return &pageServer{rows: rows, noLinks: true} }},
		{"keyset", keysetCall, func(rows int) *pageServer { return &pageServer{rows: rows, keyset: true} }},
		{"tags", tagsCall, func(rows int) *pageServer { return &pageServer{rows: rows, keyset: true} }},
		{"tree", treeCall, func(rows int) *pageServer { return &pageServer{rows: rows, keyset: true} }},
	}
}

var aheads = []int{0, 1, 2, 8, 64}

// readList ranges over a list, checks the form of its end, and returns the items before it.
func readList(t *testing.T, ctx context.Context, client *Client, call Call, each func(id int64), opts ...RequestOption) ([]int64, error) { //nolint:revive // t first, as everywhere
	t.Helper()
	var ids []int64
	var last error
	for row, err := range ListAs[listRow](ctx, client, call, opts...) {
		require.NoError(t, last, "the list continued after the error")
		if last = err; err != nil {
			assert.Nil(t, row)
			asError(t, err)
			continue
		}
		ids = append(ids, row.ID)
		if each != nil {
			each(row.ID)
		}
	}
	return ids, last
}

// A project that moves before a page is redirected only once without Ahead: later pages are
// requested directly at its new path.
func TestListMovedProject(t *testing.T) {
	const from, to = "/api/v4/groups/a%2Fb/issues", "/api/v4/groups/new%2Fhome/issues"
	for moves := 1; moves <= 5; moves++ {
		for _, ahead := range []int{0, 1, 4} {
			srv := servePages(t, &pageServer{rows: 9, hook: func(w http.ResponseWriter, r *http.Request, page int) bool {
				if page < moves || r.URL.EscapedPath() == to {
					return false
				}
				w.Header().Set("Location", to+"?"+r.URL.RawQuery)
				w.WriteHeader(http.StatusMovedPermanently)
				return true
			}})
			ids, err := collectIDs(t.Context(), onceClient(t, srv.URL), offsetCall, PerPage(2), Ahead(ahead))
			require.NoError(t, err)
			assert.Equal(t, upTo(9), ids, "ahead %d, moved before page %d", ahead, moves)
			for i, u := range srv.addresses() {
				if ahead == 0 || moves == 1 {
					assert.Equal(t, i < moves, u.EscapedPath() == from, "request %d went to %s", i, u)
				}
			}
		}
	}
}

// A second range starts at the beginning. A loop that is left early leaves no goroutine (TestMain
// checks this).
func TestListRangeAgainAndBreak(t *testing.T) {
	srv := servePages(t, &pageServer{rows: 6})
	var page Response
	items := ListAs[listRow](t.Context(), onceClient(t, srv.URL), offsetCall, PerPage(2), Into(&page))
	for range 3 {
		all, err := Collect(items)
		require.NoError(t, err)
		assert.Equal(t, upTo(6), idsOf(all))
		assert.True(t, page.Cursor.Done())
	}
	srv.asked = nil
	for item, err := range items {
		require.NoError(t, err)
		if item.ID == 3 {
			break
		}
	}
	assert.Equal(t, 2, srv.count(), "a page that was not needed was requested")
	assert.False(t, page.Cursor.Done())
}

// Links by cursor that lead round in a circle end the list with an error, with prefetched pages too.
func TestListCircle(t *testing.T) {
	srv := servePages(t, &pageServer{hook: func(w http.ResponseWriter, r *http.Request, _ int) bool {
		next := map[string]string{"": "a", "a": "b", "b": "c", "c": "a"}[r.URL.Query().Get("cursor")]
		w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?cursor=%s>; rel="next"`, r.Host, r.URL.EscapedPath(), next))
		writeRows(w, 1, 1)
		return true
	}})
	for _, ahead := range []int{0, 2} {
		var last error
		n := 0
		for _, err := range ListAs[listRow](t.Context(), onceClient(t, srv.URL), offsetCall, Ahead(ahead)) {
			if last, n = err, n+1; n > 100 {
				break
			}
		}
		require.ErrorIs(t, last, ErrRepeatedPage, "ahead: %d", ahead)
	}
}
