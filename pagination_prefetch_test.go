package forge

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shake makes answers come in any order.
func shake(http.ResponseWriter, *http.Request, int) bool {
	time.Sleep(rand.N(2 * time.Millisecond))
	return false
}

// Whatever is fetched ahead, the caller sees every row once and in order.
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

// A list may grow or shrink while it is read: the links decide where it ends, not the count that the first page gave.
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
			// Ahead(1) asks for page 3 after page 2 has come, so that the outcome does not depend on timing.
			ids, err := collectIDs(t.Context(), onceClient(t, srv.URL), offsetCall, PerPage(2), Ahead(1))
			require.NoError(t, err)
			// The handler of page 2 took its rows before the change.
			assert.Equal(t, upTo(max(4, rows)), ids, "totals %t", totals)
		}
	}
}

// What was asked for beyond the end is dropped, errors included.
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
func TestAheadErrorAtItsPlace(t *testing.T) {
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

// Leaving early cancels what is under way and waits for it.
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
				require.Eventually(t, func() bool { return blocked.Load() > 0 }, time.Second, time.Millisecond)
				break
			}
		}
		assert.Eventually(t, func() bool { return blocked.Load() == 0 }, time.Second, time.Millisecond, "a request is still under way")
	}
}

// Ahead(n) holds at most n pages that the caller has not reached, and n requests at a time.
func TestAheadBound(t *testing.T) {
	for _, n := range []int{1, 2, 8} {
		for _, keys := range []bool{false, true} {
			srv := servePages(t, &pageServer{rows: 60, keyset: keys, totals: !keys, hook: shake})
			for item, err := range ListAs[listRow](t.Context(), onceClient(t, srv.URL), keysetCall, PerPage(1), Ahead(n)) {
				require.NoError(t, err)
				if item.ID%20 == 1 {
					time.Sleep(5 * time.Millisecond) // let it run ahead as far as it will
				}
				require.LessOrEqual(t, srv.count(), int(item.ID)+n+1, "keyset %t, ahead %d", keys, n)
			}
			assert.LessOrEqual(t, srv.most, n+1)
		}
	}
}

// Without a count the window grows 1, 2, 4 ... n, so that a short list costs few requests; with one it is n at once.
func TestAheadWindow(t *testing.T) {
	for _, test := range []struct {
		totals bool
		n      int
		want   []int // pages asked for when the caller is at page 1, 2, 3 ...
	}{
		{false, 1, []int{2, 3, 4, 5}},
		{false, 8, []int{2, 4, 7, 12, 13, 14}},
		{false, 3, []int{2, 4, 6, 7}},
		{true, 8, []int{9, 10, 11}},
	} {
		t.Run(fmt.Sprintf("totals %t, ahead %d", test.totals, test.n), func(t *testing.T) {
			srv := servePages(t, &pageServer{rows: 40, totals: test.totals})
			for item, err := range ListAs[listRow](t.Context(), onceClient(t, srv.URL), offsetCall, PerPage(1), Ahead(test.n)) {
				require.NoError(t, err)
				if int(item.ID) > len(test.want) {
					break
				}
				want := test.want[item.ID-1]
				require.Eventually(t, func() bool { return srv.count() >= want }, time.Second, time.Millisecond, "page %d", item.ID)
				time.Sleep(5 * time.Millisecond)
				require.Equal(t, want, srv.count(), "page %d", item.ID)
			}
		})
	}
	// The count ends the asking as well.
	srv := servePages(t, &pageServer{rows: 3, totals: true})
	ids, err := collectIDs(t.Context(), onceClient(t, srv.URL), offsetCall, PerPage(1), Ahead(100))
	require.NoError(t, err)
	assert.Equal(t, upTo(3), ids)
	assert.Equal(t, 3, srv.count())
}

// A window gives results in the order of the start, however long each takes, and starts no more
// than it is told to.
func TestWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, w := newWindow[int](t.Context())
		defer w.stop()
		var started, running, most atomic.Int32
		next := func() func() (int, error) {
			n := int(started.Add(1))
			return func() (int, error) {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				return n, sleep(ctx, time.Duration(1+n*7%5)*time.Second)
			}
		}
		for n := 1; n <= 20; n++ {
			w.fill(4, next)
			assert.EqualValues(t, n+3, started.Load())
			got, err := w.result(ctx, w.take())
			require.NoError(t, err)
			require.Equal(t, n, got)
		}
		assert.EqualValues(t, 4, most.Load())
		w.finish()
	})
}

// A result that is there when the context ends counts; the wait for another one is short.
func TestWindowEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		caller, cancel := context.WithCancel(t.Context())
		ctx, w := newWindow[int](caller)
		release := make(chan struct{})
		functions := []func() (int, error){
			func() (int, error) { return 1, nil },
			func() (int, error) { <-ctx.Done(); return 2, nil },
			func() (int, error) { <-release; return 3, nil },
			func() (int, error) { <-release; return 4, nil },
		}
		w.fill(4, func() (next func() (int, error)) {
			next, functions = functions[0], functions[1:]
			return next
		})
		synctest.Wait()
		cancel()
		began := time.Now()
		for n := 1; n <= 2; n++ {
			got, err := w.result(ctx, w.take())
			require.NoError(t, err)
			assert.Equal(t, n, got)
			assert.Equal(t, began, time.Now())
		}
		_, err := w.result(ctx, w.take())
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, "a function of the caller has not returned")
		w.stop()
		assert.Equal(t, leaveAfter, time.Since(began), "all waits together")
		close(release)
	})
}
