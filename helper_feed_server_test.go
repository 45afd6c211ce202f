package forge

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"
)

// feedT is a *testing.T or a *rapid.T.
type feedT interface {
	require.TestingT
	Helper()
	Context() context.Context
}

// feedServer is a changing list of issues, as a transport: it stores microseconds and shows
// milliseconds, and a change may become visible later than its time. Its time is a number of
// microseconds that only the test moves.
type feedServer struct {
	now       int64
	rows      []*feedRow
	lastID    int64
	shown     int64 // precision of times in responses, in microseconds
	lag       int64 // of the replica that serves the next request
	dateAhead int64 // of the clock that sets Date
	requests  int
	unsorted  bool
	noDate    bool
	before    func(query url.Values) *http.Response // of each request
}

type feedRow struct {
	id, created int64
	states      []feedState // in the order in which they become visible
}

// feedState is the content of a row since a time. Its number grows with each change of the row.
type feedState struct {
	updated, visible int64 // updated 0: null
	number           int
	open, deleted    bool
}

const (
	ms        = int64(1000) // of a feedServer
	sec       = 1000 * ms
	minute    = 60 * sec
	feedEpoch = int64(1_790_000_000) * 1_000_000
)

func newFeedServer(rows int) *feedServer {
	s := &feedServer{now: feedEpoch, shown: ms}
	for range rows {
		s.now += sec + 7
		s.add(0, 0)
	}
	s.now += 60 * minute
	return s
}

// add creates a row. ahead is the error of the clock that stamps it, and late the time after which
// it becomes visible.
func (s *feedServer) add(ahead, late int64) *feedRow {
	s.lastID++
	at := s.now + ahead
	r := &feedRow{id: s.lastID, created: at, states: []feedState{{updated: at, visible: s.now + late, open: true}}}
	s.rows = append(s.rows, r)
	return r
}

// edit changes a row.
func (s *feedServer) edit(r *feedRow, ahead, late int64, change func(*feedState)) {
	last := r.states[len(r.states)-1]
	next := last
	next.number++
	next.updated, next.visible = s.now+ahead, max(s.now+late, last.visible) // one transaction after the other
	if change != nil {
		change(&next)
	}
	for len(r.states) > 1 && r.states[1].visible < s.now-60*minute {
		r.states = r.states[1:]
	}
	r.states = append(r.states, next)
}

// at returns what a replica shows of a row.
func (r *feedRow) at(view int64) (state feedState, ok bool) {
	for _, st := range slices.Backward(r.states) {
		if st.visible <= view {
			return st, !st.deleted
		}
	}
	return feedState{}, false
}

// latest returns the last state, visible or not.
func (r *feedRow) latest() feedState { return r.states[len(r.states)-1] }

type feedMatch struct {
	row   *feedRow
	state feedState
	key   int64
}

func (s *feedServer) list(query url.Values) []feedMatch {
	bound := func(name string) int64 {
		at, err := time.Parse(time.RFC3339, query.Get(name))
		if err != nil {
			return -1 << 62
		}
		return at.UnixMicro()
	}
	updated, created := bound("updated_after"), bound("created_after")
	var all []feedMatch
	for _, r := range s.rows {
		state, ok := r.at(s.now - s.lag)
		if !ok || query.Get("state") == "opened" && !state.open || query.Has("updated_after") && (state.updated == 0 || state.updated < updated) || r.created < created {
			continue
		}
		key := r.created
		if query.Get("order_by") == "updated_at" {
			if key = state.updated; key == 0 {
				key = 1 << 62 // last
			}
		}
		all = append(all, feedMatch{r, state, key})
	}
	slices.SortFunc(all, func(a, b feedMatch) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.row.id, b.row.id)) })
	if query.Get("sort") != "asc" || s.unsorted {
		slices.Reverse(all)
	}
	return all
}

func (s *feedServer) RoundTrip(r *http.Request) (*http.Response, error) {
	s.requests++
	query := r.URL.Query()
	if s.before != nil {
		if resp := s.before(query); resp != nil {
			resp.Request = r
			return resp, nil
		}
	}
	all := s.list(query)
	size, _ := strconv.Atoi(cmp.Or(query.Get("per_page"), "20"))
	page, _ := strconv.Atoi(cmp.Or(query.Get("page"), "1"))
	from := min(len(all), (page-1)*size)
	to := min(len(all), from+size)
	h := http.Header{"Content-Type": {"application/json"}, "Date": {time.UnixMicro(s.now + s.dateAhead).UTC().Format(http.TimeFormat)}}
	if s.noDate {
		delete(h, "Date")
	}
	if to < len(all) {
		query.Set("page", strconv.Itoa(page+1))
		h.Set("Link", fmt.Sprintf(`<https://other.example%s?%s>; rel="next"`, r.URL.Path, query.Encode()))
	}
	var body bytes.Buffer
	body.WriteByte('[')
	for i, m := range all[from:to] {
		if i > 0 {
			body.WriteByte(',')
		}
		fmt.Fprintf(&body, `{"id":%d,"iid":%d,"created_at":%s,"updated_at":%s}`, m.row.id, m.state.number, s.show(m.row.created), s.show(m.state.updated))
	}
	body.WriteByte(']')
	return &http.Response{StatusCode: http.StatusOK, Header: h, Body: io.NopCloser(&body), ContentLength: int64(body.Len()), Request: r, ProtoMajor: 1, ProtoMinor: 1}, nil
}

func (s *feedServer) show(at int64) string {
	if at == 0 {
		return "null"
	}
	form := timeLayout
	if s.shown == sec {
		form = time.RFC3339
	}
	return strconv.Quote(time.UnixMicro(at - at%s.shown).UTC().Format(form))
}

func (s *feedServer) client(t feedT) *Client {
	t.Helper()
	client, err := NewClient("https://forge.example", WithToken("a-token"), WithHTTPClient(&http.Client{Transport: s}),
		WithRetry(RetryPolicy{MinWait: time.Microsecond, MaxWait: time.Microsecond}))
	require.NoError(t, err)
	return client
}

// faultAt returns a function for before that fails the n-th request from now.
func faultAt(n int) func(url.Values) *http.Response {
	return func(url.Values) *http.Response {
		if n--; n != 0 {
			return nil
		}
		return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(nil)), ProtoMajor: 1, ProtoMinor: 1}
	}
}

// changeAt makes a change before the n-th request from now.
func (s *feedServer) changeAt(n int, change func()) {
	s.before = func(url.Values) *http.Response {
		if n--; n == 0 {
			change()
		}
		return nil
	}
}

// feedCopy is a consumer: the number of each row's content, and the mark of what it has stored.
type feedCopy struct {
	rows       map[int64]int
	mark       Mark
	delivered  int
	duplicates int // deliveries of what the copy had stored
}

// follow reads the feed once. crash ends it after so many items, before the last is stored; 0:
// never.
func (c *feedCopy) follow(t feedT, client *Client, options *ListIssuesOptions, crash int, opts ...RequestOption) error {
	t.Helper()
	var page Response
	items := 0
	for issue, err := range client.Issues.List(t.Context(), options, append(opts, Since(c.mark), Into(&page))...) {
		if err != nil {
			return err
		}
		c.mark = page.Mark // what was stored until now
		if items++; items == crash {
			return nil
		}
		c.delivered++
		if number, known := c.rows[issue.ID]; known && number == int(issue.IID) {
			c.duplicates++
		}
		c.rows[issue.ID] = int(issue.IID)
	}
	c.mark = page.Mark
	return nil
}

func newFeedCopy() *feedCopy { return &feedCopy{rows: map[int64]int{}} }

// missing returns the rows of the server that the copy does not have in their latest content.
func (c *feedCopy) missing(s *feedServer, filter func(feedState) bool) (ids []int64) {
	for _, r := range s.rows {
		state := r.latest()
		if number, known := c.rows[r.id]; !state.deleted && (filter == nil || filter(state)) && (!known || number != state.number) {
			ids = append(ids, r.id)
		}
	}
	return ids
}
