package forge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/task"
	"github.com/forge-sdk/forge-go/internal/throttle"
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
// few requests. With a page count it is n from the start.
func TestAheadWindow(t *testing.T) {
	for _, test := range []struct {
		totals bool
		n      int
		want   []int // pages requested when the caller is at page 1, 2, 3 ...
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
				require.Eventually(t, func() bool { return srv.count() >= want }, time.Minute, time.Millisecond, "page %d", item.ID)
				time.Sleep(5 * time.Millisecond)
				require.Equal(t, want, srv.count(), "page %d", item.ID)
			}
		})
	}
	// No page beyond the count is requested.
	srv := servePages(t, &pageServer{rows: 3, totals: true})
	ids, err := collectIDs(t.Context(), onceClient(t, srv.URL), offsetCall, PerPage(1), Ahead(100))
	require.NoError(t, err)
	assert.Equal(t, upTo(3), ids)
	assert.Equal(t, 3, srv.count())
}

// upToAhead returns the limit of prefetch for n results ahead of the caller, and last results in
// total.
func upToAhead(n, last int) func(int, int) (int, int) {
	return func(i, _ int) (yielded, waiting int) { return min(i+n, last), min(i+n+1, last) }
}

// Results are in the order of their numbers, for any duration of the fetches, and each number is
// fetched once. No more fetches run than the limit allows, and no fetch runs after the end.
func TestPrefetch(t *testing.T) {
	for _, n := range []int{0, 1, 3, 4, 100} {
		synctest.Test(t, func(t *testing.T) { // it fails if a goroutine is left
			var started, running, most atomic.Int32
			fetch := func(ctx context.Context, i int) (int, error) {
				started.Add(1)
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				return i, throttle.Sleep(ctx, time.Duration(1+i*7%5)*time.Second)
			}
			want := 0
			for got, err := range prefetch(t.Context(), 0, upToAhead(n, 20), fetch) {
				require.NoError(t, err)
				require.Equal(t, want, got)
				synctest.Wait()
				assert.EqualValues(t, min(got+n, 20), started.Load(), "when the caller has result %d", got)
				want++
			}
			assert.Equal(t, 21, want)
			assert.EqualValues(t, 20, started.Load())
			assert.EqualValues(t, min(n+1, 20), most.Load())
		})
	}
}

// The limit sees each result before the caller does, and ends the sequence. Results beyond its end
// are dropped, with their errors.
func TestPrefetchEnd(t *testing.T) {
	for end := range 8 {
		synctest.Test(t, func(t *testing.T) {
			var seen []int
			limit := func(i, result int) (yielded, waiting int) {
				assert.Equal(t, 10*i, result)
				assert.Len(t, seen, i)
				if i == end {
					return 0, 0
				}
				return i + 4, i + 4
			}
			fetch := func(_ context.Context, i int) (int, error) {
				if i > end {
					return 0, fmt.Errorf("there is no result %d", i)
				}
				return 10 * i, nil
			}
			for got, err := range prefetch(t.Context(), 0, limit, fetch) {
				require.NoError(t, err)
				seen = append(seen, got)
			}
			assert.Len(t, seen, end+1)
		})
	}
}

// An error is the last pair, at the place of its page, even if later results have already arrived.
func TestPrefetchError(t *testing.T) {
	for failing := 1; failing <= 6; failing++ {
		synctest.Test(t, func(t *testing.T) {
			problem := errors.New("problem")
			var canceled atomic.Int32
			fetch := func(ctx context.Context, i int) (int, error) {
				if i == failing {
					return i, problem
				}
				if i > failing+1 {
					<-ctx.Done()
					canceled.Add(1)
					return 0, ctx.Err()
				}
				return i, nil
			}
			var seen []int
			var last error
			for got, err := range prefetch(t.Context(), 0, upToAhead(3, math.MaxInt), fetch) {
				require.NoError(t, last)
				seen, last = append(seen, got), err
			}
			assert.Equal(t, problem, last)
			assert.Len(t, seen, failing+1)
			assert.EqualValues(t, 2, canceled.Load(), "the fetches after the error have ended")
		})
	}
}

// When the caller leaves, the context of the fetches ends. The list waits for the fetches, but only
// briefly for those that do not return.
func TestPrefetchBreak(t *testing.T) {
	for _, blocked := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var running atomic.Int32
			release := make(chan struct{})
			fetch := func(ctx context.Context, i int) (int, error) {
				running.Add(1)
				defer running.Add(-1)
				if i < 3 {
					return i, nil
				}
				<-ctx.Done()
				if blocked {
					<-release
				}
				return i, throttle.Sleep(context.WithoutCancel(ctx), leaveAfter/2)
			}
			var left time.Time
			for got, err := range prefetch(t.Context(), 0, upToAhead(4, math.MaxInt), fetch) {
				require.NoError(t, err)
				if synctest.Wait(); got == 2 {
					left = time.Now()
					break
				}
			}
			if blocked {
				assert.Equal(t, leaveAfter, time.Since(left), "the sum of all waits")
				assert.EqualValues(t, 4, running.Load())
			} else {
				assert.Equal(t, leaveAfter/2, time.Since(left))
				assert.Zero(t, running.Load())
			}
			close(release)
			time.Sleep(leaveAfter)
			assert.Zero(t, running.Load())
		})
	}
}

// A panic of a fetch is raised with its value when its result would be yielded, or when the caller
// leaves. If the caller panics, its own panic is raised instead. A fetch that ends its goroutine is
// an error.
func TestPrefetchPanic(t *testing.T) {
	problem := errors.New("a bug of a fetch")
	read := func(ctx context.Context, leaveAt int, leave, end func()) (seen []int, failed error) {
		fetch := func(_ context.Context, i int) (int, error) {
			if i == 3 {
				end()
			}
			return i, nil
		}
		for got, err := range prefetch(ctx, 0, upToAhead(4, math.MaxInt), fetch) {
			if err != nil {
				return seen, err
			}
			if synctest.Wait(); got == leaveAt {
				leave()
				break
			}
			seen = append(seen, got)
		}
		return seen, nil
	}
	fail, nothing := func() { panic(problem) }, func() {}
	synctest.Test(t, func(t *testing.T) {
		for leaveAt := range 5 {
			assert.PanicsWithValue(t, problem, func() { _, _ = read(t.Context(), leaveAt, nothing, fail) }, "left at %d", leaveAt)
		}
		assert.PanicsWithValue(t, "a bug of the caller", func() { _, _ = read(t.Context(), 1, func() { panic("a bug of the caller") }, fail) })
		seen, err := read(t.Context(), 9, nothing, runtime.Goexit)
		assert.Equal(t, error(task.ErrGoexit), err)
		assert.Equal(t, []int{0, 1, 2}, seen)
	})
}

// When the context ends, a result that has arrived is yielded, and the wait for further results is
// short.
func TestPrefetchEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		caller, cancel := context.WithCancel(t.Context())
		defer cancel()
		release := make(chan struct{})
		fetch := func(ctx context.Context, i int) (int, error) {
			switch i {
			case 1:
			case 2:
				<-ctx.Done()
			default:
				<-release
			}
			return i, nil
		}
		began := time.Now()
		want := 0
		for got, err := range prefetch(caller, 0, upToAhead(4, 4), fetch) {
			if want == 0 {
				synctest.Wait()
				cancel()
			}
			if want < 3 {
				require.NoError(t, err)
				assert.Equal(t, want, got)
				assert.Equal(t, began, time.Now())
			} else {
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorContains(t, err, "a function of the caller has not returned")
			}
			want++
		}
		assert.Equal(t, 4, want)
		assert.Equal(t, leaveAfter, time.Since(began), "the sum of all waits")
		close(release)
	})
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
