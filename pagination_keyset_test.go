package forge

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// offsetOnly is a server that responds with 405 to keyset pagination, as one without a metadata
// database does for registry tags.
func offsetOnly(rows int) *pageServer {
	return &pageServer{rows: rows, hook: func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if r.URL.Query().Get("pagination") != "keyset" {
			return false
		}
		refuseMethod(w)
		return true
	}}
}

func refuseMethod(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusMethodNotAllowed)
	_, _ = w.Write([]byte(`{"message":"405 Method Not Allowed"}`))
}

// queries returns the queries since the last call of queries.
func (s *pageServer) queries() (queries []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.asked {
		queries = append(queries, u.RawQuery)
	}
	s.asked = nil
	return queries
}

var usersCall = Call{Method: http.MethodGet, Route: "/users"}

// If the server refuses keyset pagination that the library chose, the list is read by offset. The
// client requests keyset pagination only once.
func TestKeysetRefused(t *testing.T) {
	for _, test := range []struct {
		name          string
		call          Call
		keyset, first string // the queries of the first page
	}{
		{"tags", tagsCall, "order_by=name&pagination=keyset&per_page=2&sort=asc", "per_page=2"},
		{"users", usersCall, "order_by=id&pagination=keyset&per_page=2&sort=desc", "per_page=2"},
		{"audit events", keysetCall, "", "per_page=2"},
		{"tree", treeCall, "pagination=keyset&per_page=2", "per_page=2"},
		{"filters", callWith(treeCall, "path=docs", "recursive=true"), "pagination=keyset&path=docs&per_page=2&recursive=true", "path=docs&per_page=2&recursive=true"},
		{"the caller's order", callWith(usersCall, "order_by=name", "sort=asc"), "order_by=name&pagination=keyset&per_page=2&sort=asc", "order_by=name&per_page=2&sort=asc"},
		{"an order outside the contract", Call{Route: "/projects", Query: url.Values{"sort": {"asc"}}, Pagination: PaginationKeyset}, "pagination=keyset&per_page=2&sort=asc", "per_page=2&sort=asc"},
		{"half of an order", callWith(usersCall, "sort=asc"), "order_by=id&pagination=keyset&per_page=2&sort=asc", "per_page=2&sort=asc"},
	} {
		for _, ahead := range aheads {
			srv := servePages(t, offsetOnly(7))
			client := onceClient(t, srv.URL)
			before := test.call.Query.Encode()
			var page Response
			for n := range 3 {
				ids, err := collectIDs(t.Context(), client, test.call, PerPage(2), Ahead(ahead), Into(&page))
				require.NoError(t, err, test.name)
				require.Equal(t, upTo(7), ids)
				require.True(t, page.Cursor.Done())
				// Requests for pages beyond the end, which are dropped, may still be arriving.
				starts := slices.DeleteFunc(srv.queries(), func(query string) bool { return strings.Contains(query, "&page=") || strings.HasPrefix(query, "page=") })
				if n == 0 {
					require.Contains(t, starts[0], "pagination=keyset")
					if test.keyset != "" {
						require.Equal(t, test.keyset, starts[0])
					}
					starts = starts[1:]
				}
				require.Equal(t, []string{test.first}, starts, test.name)
			}
			derived, err := client.With(WithToken("another-token"))
			require.NoError(t, err)
			_, err = collectIDs(t.Context(), derived, test.call, PerPage(2))
			require.NoError(t, err)
			require.NotContains(t, strings.Join(srv.queries(), " "), "keyset", "a derived client knows it too")
			assert.Equal(t, before, test.call.Query.Encode(), "the caller's query has changed")
		}
	}
}

// callWith returns a call with additional parameters.
func callWith(call Call, params ...string) Call {
	query, err := url.ParseQuery(strings.Join(params, "&"))
	if err != nil {
		panic(err)
	}
	call.Query = query
	return call
}

// Every other refusal is an error: if the caller chose keyset pagination, for a cursor or a later
// page, with another status, or if the server refuses offset pagination, too.
func TestKeysetRefusalsThatAreErrors(t *testing.T) {
	refuse := func(when func(query url.Values, n int) bool, status int) func() *pageServer {
		return func() *pageServer {
			srv, n := &pageServer{rows: 7, keyset: true}, 0
			srv.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
				srv.mu.Lock()
				defer srv.mu.Unlock()
				if n++; !when(r.URL.Query(), n) {
					return false
				}
				w.WriteHeader(status)
				return true
			}
			return servePages(t, srv)
		}
	}
	always := func(url.Values, int) bool { return true }
	keyset := func(query url.Values, _ int) bool { return query.Get("pagination") == "keyset" }
	for _, test := range []struct {
		name           string
		server         func() *pageServer
		call           Call
		opts           []RequestOption
		items, queries int
	}{
		{"the caller's pagination", refuse(keyset, 405), callWith(keysetCall, "pagination=keyset"), nil, 0, 1},
		{"the caller's option", refuse(keyset, 405), keysetCall, []RequestOption{Query("pagination", "keyset")}, 0, 1},
		{"an order outside the table", refuse(always, 405), callWith(usersCall, "order_by=state"), nil, 0, 1},
		{"a page of the caller's", refuse(always, 405), callWith(keysetCall, "page=2"), []RequestOption{SkipValidation()}, 0, 1},
		{"a route without keyset", refuse(always, 405), offsetCall, nil, 0, 1},
		{"the second page", refuse(func(_ url.Values, n int) bool { return n == 2 }, 405), keysetCall, nil, 2, 2},
		{"both forms", refuse(always, 405), keysetCall, nil, 0, 2},
		{"403", refuse(keyset, 403), keysetCall, nil, 0, 1},
		{"400", refuse(keyset, 400), keysetCall, nil, 0, 1},
	} {
		for _, ahead := range aheads {
			srv := test.server()
			client := onceClient(t, srv.URL)
			ids, err := collectIDs(t.Context(), client, test.call, append(test.opts, PerPage(2), Ahead(ahead))...)
			require.Error(t, err, test.name)
			assert.EqualValues(t, 1, client.Stats().Failures, test.name)
			assert.Contains(t, []int{405, 403, 400}, asError(t, err).Status)
			assert.Len(t, ids, test.items, test.name)
			assert.Len(t, srv.queries(), test.queries, test.name)
		}
	}
	// A cursor of keyset pagination, on a server that no longer accepts it.
	srv := servePages(t, &pageServer{rows: 7, keyset: true})
	client := onceClient(t, srv.URL)
	cursor := firstCursor(t, t.Context(), client, keysetCall)
	srv.hook = offsetOnly(7).hook
	for range 2 { // the second time, the client knows of the refusal
		_, err := collectIDs(t.Context(), client, keysetCall, PerPage(2), StartAt(cursor))
		require.Equal(t, 405, asError(t, err).Status)
		srv.queries()
		_, err = collectIDs(t.Context(), client, keysetCall, PerPage(2))
		require.NoError(t, err)
	}
	assert.Equal(t, "per_page=2", srv.queries()[0], "the refusal is remembered")
}

// A cursor of offset pagination continues by offset, also in another process, which does not know
// about the refusal.
func TestKeysetRefusedCursor(t *testing.T) {
	for _, call := range []Call{tagsCall, usersCall, keysetCall, callWith(treeCall, "path=docs"), callWith(usersCall, "order_by=name")} {
		for _, ahead := range []int{0, 2} {
			srv := servePages(t, offsetOnly(7))
			cursor := firstCursor(t, t.Context(), onceClient(t, srv.URL), call)
			srv.queries()
			var page Response
			ids, err := collectIDs(t.Context(), onceClient(t, srv.URL), call, PerPage(2), StartAt(cursor), Ahead(ahead), Into(&page))
			require.NoError(t, err)
			assert.Equal(t, upTo(7)[2:], ids)
			assert.True(t, page.Cursor.Done())
			assert.NotContains(t, strings.Join(srv.queries(), " "), "keyset")
		}
	}
	// Offset pagination fails, too: the cursor names its first page.
	srv := offsetOnly(7)
	refuses := srv.hook
	broken := true
	srv.hook = func(w http.ResponseWriter, r *http.Request, page int) bool {
		if refuses(w, r, page) {
			return true
		}
		if broken {
			w.WriteHeader(http.StatusForbidden)
		}
		return broken
	}
	servePages(t, srv)
	var page Response
	_, err := collectIDs(t.Context(), onceClient(t, srv.URL), tagsCall, Into(&page))
	require.ErrorIs(t, err, ErrForbidden)
	broken = false
	ids, err := collectIDs(t.Context(), onceClient(t, srv.URL), tagsCall, StartAt(page.Cursor))
	require.NoError(t, err)
	assert.Equal(t, upTo(7), ids)
}

// The client remembers a refusal for the route, and only as long as the server does not change.
func TestKeysetRefusedIsForgotten(t *testing.T) {
	srv := offsetOnly(3)
	offset := srv.hook
	refuseOffset := false
	srv.hook = func(w http.ResponseWriter, r *http.Request, page int) bool {
		srv.mu.Lock()
		defer srv.mu.Unlock()
		switch {
		case strings.Contains(r.URL.Path, "audit_events"):
			return false
		case !refuseOffset:
			return offset(w, r, page)
		case r.URL.Query().Get("pagination") == "keyset":
			return false
		}
		refuseMethod(w)
		return true
	}
	servePages(t, srv)
	client := onceClient(t, srv.URL)
	_, err := collectIDs(t.Context(), client, usersCall)
	require.NoError(t, err)
	srv.queries()
	_, err = collectIDs(t.Context(), client, keysetCall)
	require.NoError(t, err)
	assert.Contains(t, srv.queries()[0], "keyset", "another route is asked by keyset")
	srv.mu.Lock()
	refuseOffset, srv.keyset = true, true // as lists of users on large instances do
	srv.mu.Unlock()
	_, err = collectIDs(t.Context(), client, usersCall)
	require.Equal(t, 405, asError(t, err).Status)
	ids, err := collectIDs(t.Context(), client, usersCall)
	require.NoError(t, err)
	assert.Equal(t, upTo(3), ids)
}

// The refused request counts as a call and an attempt, but not as a failure: there is no warning in
// the log.
func TestKeysetRefusedIsNotAFailure(t *testing.T) {
	var logged bytes.Buffer
	hook := &attempts{}
	srv := servePages(t, offsetOnly(3))
	client := onceClient(t, srv.URL, hook.option(), WithLogger(slog.New(slog.NewTextHandler(&logged, nil))))
	_, err := Collect(client.Registry.ListTags(t.Context(), ID(5), 2, nil))
	require.NoError(t, err)
	stats := client.Stats()
	assert.EqualValues(t, 2, stats.Calls)
	assert.EqualValues(t, 2, stats.Attempts)
	assert.EqualValues(t, 0, stats.Failures)
	require.Len(t, hook.all(), 2)
	assert.Equal(t, 405, hook.all()[0].Status)
	assert.Equal(t, 200, hook.all()[1].Status)
	assert.Empty(t, logged.String(), "nothing at info or above")

	// If the refusal is the error of the list, it counts as one failure.
	_, err = Collect(client.Registry.ListTags(t.Context(), ID(5), 2, nil, Query("pagination", "keyset")))
	require.Error(t, err)
	assert.EqualValues(t, 1, client.Stats().Failures)
	assert.Contains(t, logged.String(), "level=WARN")
}

// A requested direction is kept or the list fails: a list by offset would have another order.
func TestKeysetDirection(t *testing.T) {
	desc := &ListRegistryTagsOptions{Sort: SortDesc}
	srv := servePages(t, offsetOnly(3))
	client := onceClient(t, srv.URL)
	for range 2 {
		_, err := Collect(client.Registry.ListTags(t.Context(), ID(5), 2, desc))
		require.Equal(t, 405, asError(t, err).Status)
		_, err = Collect(client.Registry.ListTags(t.Context(), ID(5), 2, nil)) // the client remembers the refusal
		require.NoError(t, err)
	}
	client, last := recorder(t)
	_, _ = Collect(client.Registry.ListTags(t.Context(), ID(5), 2, desc))
	assert.Equal(t, url.Values{"order_by": {"name"}, "pagination": {"keyset"}, "per_page": {"100"}, "sort": {"desc"}}, last().query)
}
