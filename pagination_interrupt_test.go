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

// listForm is one of the ways in which servers page a list.
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
			ctx, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
			return ctx, func() { <-ctx.Done() }, cancel
		}},
	}
}

// readList ranges over a list, checks the form of its end, and returns what came before it.
func readList(t *testing.T, ctx context.Context, client *Client, call Call, each func(id int64), opts ...RequestOption) ([]int64, error) { //nolint:revive // t first, as everywhere
	t.Helper()
	var ids []int64
	var last error
	for row, err := range ListAs[listRow](ctx, client, call, opts...) {
		require.NoError(t, last, "something came after the error")
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
// every page, and for every number of pages that are fetched ahead. What comes before the error
// is the beginning of the list.
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
							end() // the page never comes
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

// The same where the loop ends the context, as a program does that gets a signal while it works
// on an item.
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

// A list that has its last page ends without an error, whatever becomes of the context: all
// items are delivered.
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
					if id == 7 { // on page 4, where the window has grown beyond the end
						require.Eventually(t, complete, 5*time.Second, time.Millisecond)
						cancel()
					}
				}, PerPage(2), Ahead(ahead))
				require.NoError(t, err)
				assert.Equal(t, upTo(rows), ids)
			})
		}
	}
	// The last page is there, and the context ends while the loop works on its items.
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
