package forge

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

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

// interruption ends a context in the middle of a list.
type interruption struct {
	name  string
	is    error
	begin func(context.Context) (ctx context.Context, end func(), free func())
}

func interruptions() []interruption {
	return []interruption{
		{"cancel", context.Canceled, func(ctx context.Context) (context.Context, func(), func()) {
			ctx, cancel := context.WithCancel(ctx)
			return ctx, cancel, cancel
		}},
		{"deadline", context.DeadlineExceeded, func(ctx context.Context) (context.Context, func(), func()) {
			ctx, expire := expiring(ctx)
			return ctx, expire, expire
		}},
	}
}

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

// A list whose context ends before its last page has come ends with an error, in every form, at
// every page, and for every number of pages that are fetched ahead. The items before the error are
// the beginning of the list.
func TestListInterruptedByServer(t *testing.T) {
	const pages = 8
	for _, form := range listForms() {
		for _, stop := range interruptions() {
			t.Run(form.name+", "+stop.name, func(t *testing.T) {
				t.Parallel()
				for _, ahead := range aheads {
					for missing := 1; missing <= pages; missing++ {
						ctx, end, free := stop.begin(t.Context())
						srv := form.server(pages)
						srv.hook = func(_ http.ResponseWriter, r *http.Request, page int) bool {
							if page < missing {
								return false
							}
							end() // the page never arrives
							<-r.Context().Done()
							return true
						}
						servePages(t, srv)
						var page Response
						ids, err := readList(t, ctx, onceClient(t, srv.URL), form.call, nil, PerPage(1), Ahead(ahead), Into(&page))
						free()
						require.ErrorIs(t, err, stop.is, "page %d of %d does not come, ahead %d: %v", missing, pages, ahead, ids)
						require.Less(t, len(ids), missing)
						require.Equal(t, upTo(len(ids)), ids)
						require.False(t, page.Cursor.Done())
					}
				}
			})
		}
	}
}

// The same holds if the loop ends the context, as a program does when it gets a signal while it
// processes an item.
func TestListInterruptedByCaller(t *testing.T) {
	const pages = 12
	for _, form := range listForms() {
		t.Run(form.name, func(t *testing.T) {
			t.Parallel()
			for _, ahead := range aheads {
				for at := int64(1); at <= pages; at++ {
					ctx, cancel := context.WithCancel(t.Context())
					srv := servePages(t, form.server(pages))
					var page Response
					ids, err := readList(t, ctx, onceClient(t, srv.URL), form.call, func(id int64) {
						if id == at {
							cancel()
						}
					}, PerPage(1), Ahead(ahead), Into(&page))
					cancel()
					require.Equal(t, upTo(len(ids)), ids)
					if err == nil {
						require.Len(t, ids, pages, "cancelled at page %d, ahead %d: the list is shorter, and there is no error", at, ahead)
						require.True(t, page.Cursor.Done())
						continue
					}
					require.ErrorIs(t, err, context.Canceled)
					require.GreaterOrEqual(t, len(ids), int(at))
					require.False(t, page.Cursor.Done())
				}
			}
		})
	}
}

// A list whose last page has arrived delivers all items and ends without an error, even if the
// context ends.
func TestListCompleteBeforeTheEnd(t *testing.T) {
	const rows, pages = 11, 6
	for _, form := range listForms() {
		for _, ahead := range []int{8, 64} {
			t.Run(fmt.Sprintf("%s, ahead %d", form.name, ahead), func(t *testing.T) {
				var came atomic.Int32
				var asked [pages + 1]atomic.Bool
				hook := WithOnAttempt(func(context.Context, Attempt) { came.Add(1) })
				srv := form.server(rows)
				srv.hook = func(_ http.ResponseWriter, _ *http.Request, page int) bool {
					if page <= pages {
						asked[page].Store(true)
					}
					return false
				}
				servePages(t, srv)
				complete := func() bool {
					n := 0
					for i := range asked {
						if asked[i].Load() {
							n++
						}
					}
					return n == pages && int(came.Load()) == srv.count()
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				ids, err := readList(t, ctx, onceClient(t, srv.URL, hook), form.call, func(id int64) {
					if id == 7 { // on page 4, when the window extends beyond the end
						require.Eventually(t, complete, time.Minute, time.Millisecond)
						cancel()
					}
				}, PerPage(2), Ahead(ahead))
				require.NoError(t, err)
				assert.Equal(t, upTo(rows), ids)
			})
		}
	}
	// The last page has arrived, and the context ends while the loop processes its items.
	for _, ahead := range aheads {
		ctx, cancel := context.WithCancel(t.Context())
		srv := servePages(t, &pageServer{rows: 5})
		ids, err := readList(t, ctx, onceClient(t, srv.URL), offsetCall, func(id int64) {
			if id == 5 {
				cancel()
			}
		}, PerPage(2), Ahead(ahead))
		require.NoError(t, err)
		assert.Equal(t, upTo(5), ids)
	}
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

// A list yields its error once, at the end and without an item. Collect returns the items before
// it.
func TestListErrorInTheMiddle(t *testing.T) {
	for _, ahead := range []int{0, 1, 2, 8} {
		srv := servePages(t, &pageServer{rows: 100, hook: func(w http.ResponseWriter, _ *http.Request, page int) bool {
			if page != 3 {
				return false
			}
			w.WriteHeader(http.StatusForbidden)
			return true
		}})
		items := ListAs[listRow](t.Context(), onceClient(t, srv.URL), offsetCall, PerPage(2), Ahead(ahead))
		var failures int
		for item, err := range items {
			assert.Zero(t, failures, "the list continued after the error")
			if err != nil {
				failures++
				assert.Nil(t, item)
				require.ErrorIs(t, err, ErrForbidden)
			}
		}
		assert.Equal(t, 1, failures)
		all, err := Collect(items)
		require.ErrorIs(t, err, ErrForbidden)
		assert.Equal(t, upTo(4), idsOf(all))
	}
}

// A response that is not a page is an error that names the route.
func TestListBadPages(t *testing.T) {
	for _, body := range []string{``, ` `, `null`, `{}`, `5`, `"x"`, `[null]`, `[{"id":1},null]`, `[{"id":1}`, `[{"id":1}]]`, `[1]`, `[[]]`} {
		t.Run(body, func(t *testing.T) {
			srv := servePages(t, &pageServer{hook: func(w http.ResponseWriter, _ *http.Request, _ int) bool {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, body)
				return true
			}})
			ids, err := collectIDs(t.Context(), onceClient(t, srv.URL), offsetCall)
			assert.Empty(t, ids)
			require.ErrorIs(t, err, ErrInvalidResponse)
			assert.ErrorContains(t, err, "GET /groups/:id/issues")
		})
	}
}

// A type with UnmarshalJSON must not lose the rows after it without an error: encoding/json stops
// where such a type fails.
func TestListMismatches(t *testing.T) {
	type row struct {
		Labels []Label       `json:"labels"`
		Due    Date          `json:"due_date"`
		Spent  WorkDuration  `json:"spent"`
		Weight Nullable[int] `json:"weight"`
		ID     int64         `json:"id"`
	}
	var body atomic.Value
	srv := servePages(t, &pageServer{hook: func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, body.Load())
		return true
	}})
	client := onceClient(t, srv.URL)
	for _, member := range []string{`"labels":[5]`, `"labels":[{"name":5}]`, `"due_date":5`, `"due_date":{}`, `"due_date":"x"`, `"spent":5`, `"spent":[]`, `"weight":"x"`} {
		body.Store(`[{` + member + `,"id":1},{"id":2},{"id":3}]`)
		rows, err := Collect(ListAs[row](t.Context(), client, offsetCall))
		assert.True(t, err != nil || len(rows) == 3 && rows[0].ID == 1, "%s: the rest was lost without an error", member)
		var all []row
		err = client.Do(t.Context(), offsetCall, &all)
		assert.True(t, err != nil || len(all) == 3 && all[0].ID == 1, "%s: the rest was lost without an error", member)
	}
}

// A list ends when the caller's context ends, also in the middle of a page.
func TestListCancel(t *testing.T) {
	for _, ahead := range []int{0, 1, 4} {
		ctx, cancel := context.WithCancel(t.Context())
		second := make(chan struct{}) // closed when the loop has the item of page 2
		srv := servePages(t, &pageServer{rows: 100, hook: func(_ http.ResponseWriter, r *http.Request, page int) bool {
			if page < 3 {
				return false
			}
			<-second
			cancel()
			<-r.Context().Done()
			return true
		}})
		ids, err := readList(t, ctx, onceClient(t, srv.URL), offsetCall, func(id int64) {
			if id == 2 {
				close(second)
			}
		}, PerPage(1), Ahead(ahead))
		cancel()
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, upTo(2), ids)
		var failed *Error
		require.ErrorAs(t, err, &failed)
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
