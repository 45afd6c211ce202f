package forge

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// listRow is an item of the lists in these tests; ids count from 1.
type listRow struct {
	ID int64 `json:"id"`
}

// pageServer serves one list like a real server: by page number, or by key if that is requested.
// Its links have an address that cannot be reached, like the links of a server behind a proxy.
type pageServer struct {
	*httptest.Server
	rows    int
	keyset  bool // accepts pagination=keyset
	totals  bool // sends x-total and x-total-pages
	noLinks bool // sends x-next-page only
	hook    func(w http.ResponseWriter, r *http.Request, page int) (answered bool)

	mu            sync.Mutex
	asked         []*url.URL
	running, most int
}

const foreignHost = "http://internal.invalid:8181/elsewhere"

func servePages(t testing.TB, s *pageServer) *pageServer {
	t.Helper()
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	endWith(t, s.CloseClientConnections)
	return s
}

// addresses copies the requested addresses: after a list with Ahead, a dropped request may still be
// arriving.
func (s *pageServer) addresses() []*url.URL {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func (s *pageServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL)
	s.running++
	s.most = max(s.most, s.running)
	rows := s.rows
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.running--
		s.mu.Unlock()
	}()
	query := r.URL.Query()
	per := queryInt(query, "per_page", 20)
	page := queryInt(query, "page", 1)
	byKey := s.keyset && query.Get("pagination") == "keyset"
	from := (page - 1) * per
	if byKey {
		from = queryInt(query, "id_after", 0)
		page = from/per + 1
	}
	if s.hook != nil && s.hook(w, r, page) {
		return
	}
	to := min(from+per, rows)
	switch {
	case byKey && to-from == per:
		query.Set("id_after", strconv.Itoa(to))
		writeLink(w, foreignHost, query)
	case !byKey && to < rows && s.noLinks:
		w.Header().Set("X-Next-Page", strconv.Itoa(page+1))
	case !byKey && to < rows:
		query.Set("page", strconv.Itoa(page+1))
		writeLink(w, foreignHost, query)
	}
	if s.totals {
		w.Header().Set("X-Total", strconv.Itoa(rows))
		w.Header().Set("X-Total-Pages", strconv.Itoa((rows+per-1)/per))
	}
	writeRows(w, from+1, to)
}

func writeLink(w http.ResponseWriter, address string, query url.Values) {
	w.Header().Add("Link", "<"+address+"?"+query.Encode()+`>; rel="next", <`+address+`?page=1>; rel="first"`)
}

func writeRows(w http.ResponseWriter, from, to int) {
	var items []string
	for i := from; i <= to; i++ {
		items = append(items, fmt.Sprintf(`{"id":%d}`, i))
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, "["+strings.Join(items, ",")+"]")
}

func queryInt(query url.Values, name string, standard int) int {
	if n, err := strconv.Atoi(query.Get(name)); err == nil {
		return n
	}
	return standard
}

// requests returns the values of one query parameter, one for each request.
func (s *pageServer) requests(param string) (values []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.asked {
		values = append(values, u.Query().Get(param))
	}
	return values
}

func (s *pageServer) count() int { return len(s.requests("")) }

// onceClient returns a client without retries, with its own connections.
func onceClient(t testing.TB, address string, options ...Option) *Client {
	t.Helper()
	own := []Option{WithToken("secret-token"), WithHTTPClient(&http.Client{Transport: &http.Transport{}}), WithRetry(RetryPolicy{MaxAttempts: 1})}
	client, err := NewClient(address, overriding(own, options...)...)
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	return client
}

var (
	offsetCall = Call{Method: http.MethodGet, Route: "/groups/:id/issues", Args: []Arg{Path("a/b")}}
	keysetCall = Call{Method: http.MethodGet, Route: "/audit_events"}
	tagsCall   = Call{Method: http.MethodGet, Route: "/projects/:id/registry/repositories/:repository_id/tags", Args: []Arg{ID(1), ID(2)}}
	treeCall   = Call{Method: http.MethodGet, Route: "/projects/:id/repository/tree", Args: []Arg{ID(1)}}
)

func collectIDs(ctx context.Context, client *Client, call Call, opts ...RequestOption) ([]int64, error) {
	items, err := Collect(ListAs[listRow](ctx, client, call, opts...))
	return idsOf(items), err
}

func idsOf(items []*listRow) (ids []int64) {
	for _, item := range items {
		ids = append(ids, item.ID)
	}
	return ids
}

func upTo(n int) (ids []int64) {
	for i := 1; i <= n; i++ {
		ids = append(ids, int64(i))
	}
	return ids
}

// Each route is read with its best pagination, and every link to a next page is followed.
func TestListModes(t *testing.T) {
	with := func(call Call, query string) Call {
		call.Query, _ = url.ParseQuery(query)
		return call
	}
	tests := []struct {
		name   string
		server pageServer
		call   Call
		opts   []RequestOption
		first  string // the first query
		pages  int
	}{
		{"offset by link", pageServer{rows: 5}, offsetCall, []RequestOption{PerPage(2)}, "per_page=2", 3},
		{"offset by x-next-page", pageServer{rows: 5, noLinks: true}, offsetCall, []RequestOption{PerPage(2)}, "per_page=2", 3},
		{"offset, last page full", pageServer{rows: 4}, offsetCall, []RequestOption{PerPage(2)}, "per_page=2", 2},
		{"100 a page unless set", pageServer{rows: 250}, offsetCall, nil, "per_page=100", 3},
		{"caller's per_page", pageServer{rows: 5}, with(offsetCall, "per_page=3"), nil, "per_page=3", 2},
		{"PerPage before the caller's query", pageServer{rows: 5}, with(offsetCall, "per_page=3"), []RequestOption{PerPage(5)}, "per_page=5", 1},
		{"caller's page", pageServer{rows: 5}, with(keysetCall, "page=1"), []RequestOption{PerPage(2)}, "page=1&per_page=2", 3},
		{"keyset, order and sort filled in", pageServer{rows: 5, keyset: true}, keysetCall, []RequestOption{PerPage(2)}, "order_by=id&pagination=keyset&per_page=2&sort=desc", 3},
		{"keyset, empty last page", pageServer{rows: 4, keyset: true}, keysetCall, []RequestOption{PerPage(2)}, "order_by=id&pagination=keyset&per_page=2&sort=desc", 3},
		{"keyset asked, offset given", pageServer{rows: 5}, keysetCall, []RequestOption{PerPage(2)}, "order_by=id&pagination=keyset&per_page=2&sort=desc", 3},
		{"keyset with the caller's sort", pageServer{rows: 5, keyset: true}, with(tagsCall, "sort=desc"), []RequestOption{PerPage(2)}, "order_by=name&pagination=keyset&per_page=2&sort=desc", 3},
		{"tree without an order", pageServer{rows: 5, keyset: true}, treeCall, []RequestOption{PerPage(2)}, "pagination=keyset&per_page=2", 3},
		{"order outside the table", pageServer{rows: 5, keyset: true}, with(tagsCall, "order_by=created_at"), []RequestOption{PerPage(2)}, "order_by=created_at&per_page=2", 3},
		{"sort outside the table", pageServer{rows: 5, keyset: true}, with(keysetCall, "sort=asc"), []RequestOption{PerPage(2)}, "per_page=2&sort=asc", 3},
		{"caller's pagination", pageServer{rows: 5, keyset: true}, with(keysetCall, "pagination=offset"), []RequestOption{PerPage(2)}, "pagination=offset&per_page=2", 3},
		{"empty list", pageServer{}, offsetCall, nil, "per_page=100", 1},
	}
	for i := range tests {
		test := &tests[i]
		t.Run(test.name, func(t *testing.T) {
			srv := servePages(t, &test.server)
			before := test.call.Query.Encode()
			ids, err := collectIDs(t.Context(), onceClient(t, srv.URL), test.call, test.opts...)
			require.NoError(t, err)
			assert.Equal(t, upTo(srv.rows), ids)
			assert.Equal(t, test.first, srv.asked[0].RawQuery)
			assert.Equal(t, test.pages, srv.count())
			assert.Equal(t, before, test.call.Query.Encode(), "the caller's query has changed")
			for _, u := range srv.asked {
				assert.Equal(t, srv.asked[0].EscapedPath(), u.EscapedPath())
			}
		})
	}
}

// Only the query of a link is used: a malicious address must not receive a token, and a server
// behind a proxy may link to an address that clients cannot reach.
func TestListLinkAddress(t *testing.T) {
	var foreign atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { foreign.Add(1) }))
	defer other.Close()
	for _, address := range []string{
		other.URL + "/api/v4/groups/a%2Fb/issues", strings.Replace(other.URL, "http:", "https:", 1), "//" + strings.TrimPrefix(other.URL, "http://"),
		"https://user:password@forge.example.com/", "ftp://forge.example.com", "/another/path", "", "mailto:nobody", "http://[::1]:1",
	} {
		t.Run(address, func(t *testing.T) {
			srv := servePages(t, &pageServer{rows: 2, hook: func(w http.ResponseWriter, r *http.Request, page int) bool {
				if page == 1 {
					w.Header().Set("Link", "<"+address+`?page=2&per_page=1>; rel="next"`)
				}
				writeRows(w, page, page)
				return true
			}})
			ids, err := collectIDs(t.Context(), onceClient(t, srv.URL), offsetCall, PerPage(1))
			require.NoError(t, err)
			assert.Equal(t, upTo(2), ids)
			assert.Equal(t, "/api/v4/groups/a%2Fb/issues", srv.asked[1].EscapedPath())
		})
	}
	assert.Zero(t, foreign.Load(), "a link's host was contacted")
}

// The next page comes from the Link header; the separate Links header, which was removed, is
// ignored (Document 1 §8.1).
func TestListIgnoresLinksHeader(t *testing.T) {
	for _, withLink := range []bool{true, false} {
		srv := servePages(t, &pageServer{rows: 3, keyset: true, hook: func(w http.ResponseWriter, r *http.Request, page int) bool {
			w.Header().Set("Links", "<"+foreignHost+`?page=1&per_page=1>; rel="next"`)
			if withLink {
				return false
			}
			writeRows(w, page, page)
			return true
		}})
		for _, call := range []Call{offsetCall, keysetCall} {
			ids, err := collectIDs(t.Context(), onceClient(t, srv.URL), call, PerPage(1))
			require.NoError(t, err)
			assert.Len(t, ids, map[bool]int{true: 3, false: 1}[withLink])
		}
	}
}

// Parameters that a link must not add are removed.
func TestListLinkParams(t *testing.T) {
	const hostile = "private_token=x&PRIVATE_TOKEN=x&access_token=x&job_token=x&sudo=1&Sudo=2&id=evil"
	for _, test := range []struct {
		name  string
		query url.Values
		want  string
	}{
		{"the route's placeholder", nil, "page=2&per_page=1&state=opened"},
		{"unless the caller sent it", url.Values{"id": {"7"}}, "id=evil&page=2&per_page=1&state=opened"},
	} {
		t.Run(test.name, func(t *testing.T) {
			srv := servePages(t, &pageServer{hook: func(w http.ResponseWriter, _ *http.Request, page int) bool {
				if page == 1 {
					w.Header().Set("Link", "<https://forge.example.com/?page=2&per_page=1&state=opened&"+hostile+`>; rel="next"`)
				}
				writeRows(w, page, page)
				return true
			}})
			call := offsetCall
			call.Query = test.query
			for _, ahead := range []int{0, 2} {
				srv.asked = nil
				ids, err := collectIDs(t.Context(), onceClient(t, srv.URL), call, PerPage(1), Ahead(ahead))
				require.NoError(t, err)
				assert.Equal(t, upTo(2), ids)
				assert.Equal(t, test.want, srv.asked[1].RawQuery)
			}
		})
	}
}

// A header that is not a valid link ends the list or is an error, after the items of its page.
func TestListBadLinks(t *testing.T) {
	for _, test := range []struct {
		link string
		fail bool
	}{
		{`garbage`, false}, {`<`, false}, {`<>`, false}, {`<?page=2>`, false}, {`<?page=2>; rel=last`, false}, {`;;;,,,<<<>>>"""`, false},
		{`<http://x:y:z/?page=2>; rel=next`, true}, {"<%zz?page=2>; rel=next", true}, {`<https://forge.example.com/next>; rel=next`, true},
		{`<>; rel=next`, true}, {`<#top>; rel=next`, true}, {`<?private_token=x>; rel=next`, true},
	} {
		t.Run(test.link, func(t *testing.T) {
			srv := servePages(t, &pageServer{hook: func(w http.ResponseWriter, _ *http.Request, page int) bool {
				w.Header().Set("Link", test.link)
				writeRows(w, 1, 2)
				return true
			}})
			for _, ahead := range []int{0, 2} {
				var page Response
				ids, err := collectIDs(t.Context(), onceClient(t, srv.URL), offsetCall, Ahead(ahead), Into(&page))
				assert.Equal(t, upTo(2), ids)
				if test.fail {
					require.ErrorIs(t, err, ErrInvalidResponse)
					assert.False(t, page.Cursor.Done(), "the list has not ended")
				} else {
					require.NoError(t, err)
				}
			}
		})
	}
	for number, fail := range map[string]bool{"0": false, "-1": false, "": false, "1": true, "x": true, "1e3": true, "99999999999999999999": true} {
		srv := servePages(t, &pageServer{hook: func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			w.Header().Set("X-Next-Page", number)
			writeRows(w, 1, 1)
			return true
		}})
		ids, err := collectIDs(t.Context(), onceClient(t, srv.URL), offsetCall)
		assert.Equal(t, fail && number != "1", errors.Is(err, ErrInvalidResponse), "%q: %v", number, err) // 1 leads back
		assert.Equal(t, fail, err != nil)
		assert.Equal(t, upTo(1), ids)
	}
}

// Of several X-Next-Page headers all that have a value count: the list neither ends early nor
// chooses between two pages.
func TestListNextPageTwice(t *testing.T) {
	for _, test := range []struct {
		values []string
		rows   int
		fail   bool
	}{
		{[]string{"2", "2"}, 2, false}, {[]string{"", "2"}, 2, false}, {[]string{"2", ""}, 2, false}, {[]string{"", ""}, 1, false},
		{[]string{"2", "3"}, 1, true}, {[]string{"2, 2"}, 1, true},
	} {
		srv := servePages(t, &pageServer{hook: func(w http.ResponseWriter, _ *http.Request, page int) bool {
			if page == 1 {
				w.Header()["X-Next-Page"] = test.values
			}
			writeRows(w, page, page)
			return true
		}})
		ids, err := collectIDs(t.Context(), onceClient(t, srv.URL), offsetCall)
		assert.Equal(t, test.fail, errors.Is(err, ErrInvalidResponse), "%q: %v", test.values, err)
		assert.Equal(t, upTo(test.rows), ids, "%q", test.values)
	}
}

func TestListInto(t *testing.T) {
	srv := servePages(t, &pageServer{rows: 5, totals: true})
	for _, ahead := range []int{0, 2} {
		var page Response
		for item, err := range ListAs[listRow](t.Context(), onceClient(t, srv.URL), offsetCall, PerPage(2), Ahead(ahead), Into(&page)) {
			require.NoError(t, err)
			total, known := page.Total()
			assert.True(t, known)
			assert.Equal(t, 5, total)
			assert.Equal(t, http.StatusOK, page.Status)
			assert.Equal(t, 1, page.Attempts)
			assert.NotEmpty(t, page.Cursor)
			assert.False(t, page.Cursor.Done())
			query, err := page.Cursor.query(listID(onceClient(t, srv.URL).customRequest(offsetCall), url.Values{}))
			require.NoError(t, err)
			assert.Equal(t, (int(item.ID)+1)/2, pageNumber(query), "the cursor names the page of item %d", item.ID)
		}
		assert.True(t, page.Cursor.Done())
	}
	for _, header := range []string{"", "x", "-1", "1.5"} {
		r := Response{Header: http.Header{"X-Total": {header}}}
		_, known := r.Total()
		assert.False(t, known, header)
	}
	total, known := (&Response{Header: http.Header{"X-Total": {"0"}}}).Total()
	assert.True(t, known && total == 0, "an empty list")
	var left Response // as of a list with more than 10,000 items
	_, known = left.Total()
	assert.False(t, known)
}

// A page is read completely before its first item is yielded, so its connection is free while the
// caller works.
// OnePage reads the page of a number. Into has the response to a page that failed, and the cursor
// of that page.
func TestListOnePage(t *testing.T) {
	fails := true
	srv := servePages(t, &pageServer{rows: 12, totals: true, hook: func(w http.ResponseWriter, _ *http.Request, page int) bool {
		if page != 4 || !fails {
			return false
		}
		w.Header().Set("X-Request-Id", "of-page-4")
		w.WriteHeader(http.StatusNotFound)
		return true
	}})
	client := onceClient(t, srv.URL)
	var r Response
	ids, err := collectIDs(t.Context(), client, offsetCall, PerPage(3), OnePage(), Query("page", "3"), Into(&r))
	require.NoError(t, err)
	assert.Equal(t, []int64{7, 8, 9}, ids)
	total, known := r.Total()
	assert.True(t, known)
	assert.Equal(t, 12, total)
	ids, err = collectIDs(t.Context(), client, callWith(offsetCall, "per_page=5"), PerPage(1), OnePage())
	require.NoError(t, err)
	assert.Equal(t, []int64{1}, ids, "PerPage replaces the one of the query")
	for _, ahead := range []int{0, 4} {
		ids, err = collectIDs(t.Context(), client, offsetCall, PerPage(3), Ahead(ahead), Into(&r))
		require.ErrorIs(t, err, ErrNotFound)
		assert.Len(t, ids, 9)
		assert.Equal(t, http.StatusNotFound, r.Status)
		assert.Equal(t, "of-page-4", r.RequestID)
		fails = false
		ids, err = collectIDs(t.Context(), client, offsetCall, PerPage(3), StartAt(r.Cursor))
		require.NoError(t, err)
		assert.Equal(t, []int64{10, 11, 12}, ids)
		fails = true
	}
}

func TestListUsesOneConnection(t *testing.T) {
	srv := &pageServer{rows: 20}
	srv.Server = httptest.NewUnstartedServer(srv)
	defer srv.Close()
	var connections atomic.Int32
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	srv.Start()
	client := onceClient(t, srv.URL)
	for _, err := range ListAs[listRow](t.Context(), client, offsetCall, PerPage(10)) {
		require.NoError(t, err)
		require.NoError(t, client.Do(t.Context(), offsetCall, nil))
	}
	assert.EqualValues(t, 1, connections.Load())
}

// A list chooses its position itself: only the number of the page may be set, and one other than 1
// with OnePage only.
func TestCheckPosition(t *testing.T) {
	client := silentServer(t)
	for _, row := range []struct {
		name, value    string
		list, withPage bool // it is allowed
	}{
		{"page", "1", true, true}, {"page", "01", false, true}, {"page", "2", false, true}, {"page", "0", false, false}, {"page", "-1", false, false}, {"page", "x", false, false},
		{"page", "99999999999999999999", false, false}, {"cursor", "1", false, false}, {"page_token", "1", false, false}, {"page_tokenx", "1", true, true},
	} {
		for _, route := range []string{"/projects/1/merge_requests", "/projects/1/repository/tree", "/x"} { // they document page, page_token and neither
			own := row.name == "page_token" && strings.HasSuffix(route, "/tree")
			for _, onePage := range []bool{false, true} {
				r, o := client.customRequest(Call{Route: route}), &callOptions{onePage: onePage, query: url.Values{row.name: {row.value}}}
				err := r.checkPosition(o)
				assert.Equal(t, own || row.list && !onePage || row.withPage && onePage, err == nil, "%v %s %t", row, route, onePage)
				if err != nil {
					refused(t, err, "Query", row.name)
				}
				o.query, r.query = nil, o.query
				if again := r.checkPosition(o); err != nil {
					refused(t, again, "Call.Query", row.name)
				}
			}
		}
	}
}

// What a link may set, and where it may lead.
func TestLinkRules(t *testing.T) {
	client := silentServer(t)
	p := &pager[listRow]{request: client.customRequest(Call{Route: "/groups/:id", Args: []Arg{ID(1)}}), firstLink: "first"}
	assert.Equal(t, "i=7&ids=7&page=2", p.trustedQuery("id=7&i=7&ids=7&page=2&sudo=1"))
	for _, row := range []struct {
		query, next string
		back        bool
	}{
		{"page=2", "page=1", true}, {"page=2", "page=2", true}, {"page=2", "page=3", false}, {"a=1", "a=1", true}, {"page=2", "first", true}, {"page=2", "a=1", false},
		{"page=2&cursor=a", "page=1&cursor=b", false}, {"page=2", "page=1&pagination=keyset", false}, {"page=2", "page=1&pagination=offset", true},
	} {
		assert.Equal(t, row.back, p.goesBack(row.query, row.next), "%v", row)
	}
	for _, size := range []int{maxPosition, maxPosition + 1} {
		long := "x=" + strings.Repeat("a", size-2)
		next, err := p.next(http.Header{"Link": {"<https://h/?" + long + `>; rel="next"`}}, "page=1")
		assert.Equal(t, size > maxPosition, err != nil)
		assert.Equal(t, err == nil, next == long)
	}
}

// The id of a list has its filters without the pagination, in the same words in each vocabulary.
func TestListID(t *testing.T) {
	of := func(v Vocabulary, query url.Values) string {
		client, err := NewClient("https://forge.example.com", WithVocabulary(v))
		require.NoError(t, err)
		return listID(client.customRequest(Call{Route: "/audit_events"}), query)
	}
	words := url.Values{"entity_type": {"Gitlab::Audit::InstanceScope"}}
	assert.Equal(t, of(GitLab, nil), of(GitLab, url.Values{"page": {"2"}, "per_page": {"7"}, "pagination": {"keyset"}}))
	assert.NotEqual(t, of(GitLab, nil), of(GitLab, words))
	assert.NotEqual(t, of(GitLab, url.Values{"entity_type": {"User"}}), of(GitLab, words))
	assert.Equal(t, of(GitLab, url.Values{"entity_type": {"User"}}), of(Neutral, url.Values{"entity_type": {"User"}}))
	// Cursors are stored, so another release of the library has the same id.
	assert.Equal(t, "BawzyzYq8NVw", of(GitLab, url.Values{"entity_id": {"7"}, "entity_type": {"Gitlab::Audit::InstanceScope", "User"}}))
	form := Call{Method: http.MethodPost, Route: "/x/:id", Args: []Arg{Path("a/b")}, Form: url.Values{"f": {"1"}}}
	assert.Equal(t, "RDV-V6XI6Zm0", listID(silentServer(t).customRequest(form), url.Values{"a": {"b"}}))
}

// A cursor keeps the place of its page, whatever the caller's own query says.
func TestOwnFilters(t *testing.T) {
	r := silentServer(t).customRequest(Call{Route: "/projects/1/repository/tree"}).itemsIn("x", "n")
	own, stored := url.Values{"path": {"mine"}}, url.Values{"path": {"stored"}, "ref": {"stored"}, "other": {"stored"}}
	want := url.Values{"path": {"mine"}, "other": {"stored"}}
	for _, name := range []string{"page", "per_page", "n", "pagination", "page_token", "cursor", "id_after", "last"} {
		own[name], stored[name], want[name] = []string{"mine"}, []string{"stored"}, []string{"stored"}
	}
	p := &pager[listRow]{request: r, first: &call{query: own}}
	assert.Equal(t, want.Encode(), p.ownFilters(stored.Encode()))
}
