package forge

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shake makes responses arrive in random order.
func shake(http.ResponseWriter, *http.Request, int) bool {
	time.Sleep(rand.N(2 * time.Millisecond))
	return false
}

// With any number of prefetched pages, the caller gets every row once and in order.
func TestAheadKeepsOrder(t *testing.T) {
	for _, test := range []struct {
		name   string
		call   Call
		server func(rows int) *pageServer
	}{
		{"offset", offsetCall, func(rows int) *pageServer { return &pageServer{rows: rows} }},
		{"offset with totals", offsetCall, func(rows int) *pageServer { return &pageServer{rows: rows, totals: true} }},
		{"offset by x-next-page", offsetCall, func(rows int) *pageServer { return &pageServer{rows: rows, noLinks: true} }},
		{"keyset", keysetCall, func(rows int) *pageServer { return &pageServer{rows: rows, keyset: true} }},
		{"keyset asked, offset given", keysetCall, func(rows int) *pageServer { return &pageServer{rows: rows} }},
		{"tree", treeCall, func(rows int) *pageServer { return &pageServer{rows: rows, keyset: true} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, rows := range []int{0, 1, 2, 3, 4, 33, 64} {
				for _, n := range []int{1, 2, 8, 100} {
					srv := test.server(rows)
					srv.hook = shake
					servePages(t, srv)
					ids, err := collectIDs(t.Context(), onceClient(t, srv.URL), test.call, PerPage(2), Ahead(n))
					require.NoError(t, err)
					require.Equal(t, upTo(rows), ids, "rows %d, ahead %d", rows, n)
					srv.Close()
				}
			}
		})
	}
}

// A list may grow or shrink while it is read. The links determine its end, not the count of the
// first page.
func TestAheadListChanges(t *testing.T) {
	for _, totals := range []bool{false, true} {
		for _, rows := range []int{4, 6, 8, 40} {
			srv := &pageServer{rows: 12, totals: totals}
			srv.hook = func(_ http.ResponseWriter, _ *http.Request, page int) bool {
				if page == 2 {
					srv.mu.Lock()
					srv.rows = rows
					srv.mu.Unlock()
				}
				return false
			}
			servePages(t, srv)
			// Ahead(1) requests page 3 after page 2 has arrived, so the result does not depend on timing.
			ids, err := collectIDs(t.Context(), onceClient(t, srv.URL), offsetCall, PerPage(2), Ahead(1))
			require.NoError(t, err)
			// The handler of page 2 has read its rows before the change.
			assert.Equal(t, upTo(max(4, rows)), ids, "totals %t", totals)
		}
	}
}

// A list whose links no longer have page numbers continues by its links, from the page to which
// they link.
func TestAheadChangesToLinks(t *testing.T) {
	for _, totals := range []bool{false, true} {
		for changes := 1; changes <= 6; changes++ {
			for _, n := range []int{1, 2, 8} {
				srv := &pageServer{rows: 12, totals: totals}
				srv.hook = func(w http.ResponseWriter, r *http.Request, page int) bool {
					query := r.URL.Query()
					if page != changes || query.Has("snapshot") {
						return false
					}
					query.Set("page", strconv.Itoa(page+1))
					query.Set("snapshot", "7")
					writeLink(w, foreignHost, query)
					writeRows(w, 2*page-1, 2*page)
					return true
				}
				servePages(t, srv)
				ids, err := collectIDs(t.Context(), onceClient(t, srv.URL), offsetCall, PerPage(2), Ahead(n))
				require.NoError(t, err)
				assert.Equal(t, upTo(12), ids, "totals %t, ahead %d, changes at page %d", totals, n, changes)
				assert.Contains(t, srv.requests("snapshot"), "7")
				srv.Close()
			}
		}
	}
}

// Pages that were requested beyond the end are dropped, with their errors.
func TestAheadErrorsBeyondTheEnd(t *testing.T) {
	for _, rows := range []int{1, 2, 3, 7} {
		for _, n := range []int{1, 2, 8, 100} {
			srv := &pageServer{rows: rows}
			srv.hook = func(w http.ResponseWriter, _ *http.Request, page int) bool {
				if page > rows {
					w.WriteHeader(http.StatusInternalServerError)
				}
				return page > rows
			}
			servePages(t, srv)
			ids, err := collectIDs(t.Context(), onceClient(t, srv.URL), offsetCall, PerPage(1), Ahead(n))
			require.NoError(t, err)
			assert.Equal(t, upTo(rows), ids)
			srv.Close()
		}
	}
}

// An error is delivered at the place of its page, even if later pages have arrived.
func TestAheadErrorOrder(t *testing.T) {
	for _, keys := range []bool{false, true} {
		for failing := 1; failing <= 7; failing++ {
			srv := &pageServer{rows: 20, keyset: keys, totals: !keys}
			srv.hook = func(w http.ResponseWriter, _ *http.Request, page int) bool {
				if page == failing {
					time.Sleep(3 * time.Millisecond)
					w.WriteHeader(http.StatusForbidden)
				}
				return page == failing
			}
			servePages(t, srv)
			ids, err := collectIDs(t.Context(), onceClient(t, srv.URL), keysetCall, PerPage(2), Ahead(8))
			require.ErrorIs(t, err, ErrForbidden)
			assert.Equal(t, upTo(2*(failing-1)), append([]int64(nil), ids...))
			srv.Close()
		}
	}
}

// Leaving early cancels the requests in progress and waits for them.
func TestAheadBreak(t *testing.T) {
	for _, keys := range []bool{false, true} {
		var blocked atomic.Int32
		srv := servePages(t, &pageServer{rows: 50, keyset: keys, totals: true, hook: func(_ http.ResponseWriter, r *http.Request, page int) bool {
			if page < 3 {
				return false
			}
			blocked.Add(1)
			<-r.Context().Done()
			blocked.Add(-1)
			return true
		}})
		for item, err := range ListAs[listRow](t.Context(), onceClient(t, srv.URL), keysetCall, PerPage(1), Ahead(4)) {
			require.NoError(t, err)
			if item.ID == 2 {
				require.Eventually(t, func() bool { return blocked.Load() > 0 }, time.Minute, time.Millisecond)
				break
			}
		}
		assert.Eventually(t, func() bool { return blocked.Load() == 0 }, time.Minute, time.Millisecond, "a request is still in progress")
	}
}

// Ahead(n) has at most n pages that the caller has not reached, and n concurrent requests.
func TestAheadBound(t *testing.T) {
	for _, n := range []int{1, 2, 8} {
		for _, keys := range []bool{false, true} {
			srv := servePages(t, &pageServer{rows: 60, keyset: keys, totals: !keys, hook: shake})
			for item, err := range ListAs[listRow](t.Context(), onceClient(t, srv.URL), keysetCall, PerPage(1), Ahead(n)) {
				require.NoError(t, err)
				if item.ID%20 == 1 {
					time.Sleep(5 * time.Millisecond) // let it prefetch as far as it can
				}
				require.LessOrEqual(t, srv.count(), int(item.ID)+n+1, "keyset %t, ahead %d", keys, n)
			}
			assert.LessOrEqual(t, srv.most, n+1)
		}
	}
}

// Without a page count the window grows from 1 to 2, 4 and so on to n, so that a short list needs
// few requests. With a page count it is n from the start, and no page beyond it is requested.
func TestAheadWindow(t *testing.T) {
	for _, test := range []struct {
		total   string // X-Total-Pages
		n, rows int
		want    []int // pages requested when the caller is at page 1, 2, 3 ...
		opts    []RequestOption
	}{
		{"", 1, 4, []int{2, 3, 4, 5}, nil},
		{"", 8, 6, []int{2, 4, 7, 12, 13, 14}, nil},
		{"", 3, 4, []int{2, 4, 6, 7}, nil},
		{"0", 3, 4, []int{2, 4, 6, 7}, nil},
		{"11", 8, 11, []int{9, 10, 11, 11, 11, 11, 11, 11, 11, 11, 11}, nil},
		{"2", 8, 2, []int{2, 2}, nil},
		{"1", 2, 4, []int{3, 4, 5, 6}, nil}, // the list has grown since
		{"11", 8, 11, []int{1}, []RequestOption{OnePage()}},
	} {
		synctest.Test(t, func(t *testing.T) {
			srv := &pageServer{rows: test.rows + 20}
			if test.total == strconv.Itoa(test.rows) {
				srv.rows = test.rows
			}
			client := bubbleClient(t, through(func(req *http.Request) (*http.Response, error) {
				w := httptest.NewRecorder()
				w.Header().Set("X-Total-Pages", test.total)
				srv.ServeHTTP(w, req)
				return w.Result(), nil
			}))
			var got []int
			for item, err := range ListAs[listRow](t.Context(), client, offsetCall, append(test.opts, PerPage(1), Ahead(test.n))...) {
				require.NoError(t, err)
				synctest.Wait()
				if got = append(got, srv.count()); int(item.ID) == test.rows {
					break
				}
			}
			assert.Equal(t, test.want, got, "%q pages, ahead %d", test.total, test.n)
		})
	}
}

// If pages are linked, the next one is requested while a page is being decoded.
func TestAheadDecodesBesideTheNextRequest(t *testing.T) {
	for _, n := range []int{1, 2, 8} {
		requested := make(chan struct{})
		srv := servePages(t, &pageServer{rows: 3, keyset: true, hook: func(_ http.ResponseWriter, _ *http.Request, page int) bool {
			if page == 3 {
				close(requested)
			}
			return false
		}})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		decodeGate = func(id int64) {
			if id == 2 {
				select {
				case <-requested:
				case <-ctx.Done():
				}
			}
		}
		rows, err := Collect(ListAs[gatedRow](ctx, onceClient(t, srv.URL), keysetCall, PerPage(1), Ahead(n)))
		require.NoError(t, err, "ahead %d", n)
		assert.Len(t, rows, 3)
	}
}

// decodeGate delays the decoding of a row.
var decodeGate func(id int64)

type gatedRow struct{ ID int64 }

func (r *gatedRow) UnmarshalJSON(text []byte) error {
	var row listRow
	err := json.Unmarshal(text, &row)
	r.ID = row.ID
	decodeGate(r.ID)
	return err
}
