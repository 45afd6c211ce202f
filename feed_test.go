package forge

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/racetest"
)

// naive follows a list as programs do without Since: it requests what changed after a time, and
// takes the next time from what it has read.
type naive struct {
	from    time.Time
	next    func(last, date time.Time) time.Time // nil: the time of the last item
	byValue bool                                 // requests pages by the time of the last item, not by number
}

func (n *naive) follow(t *testing.T, client *Client, c *feedCopy) {
	t.Helper()
	var page Response
	options := &ListIssuesOptions{Scope: ScopeAll, OrderBy: IssueOrderByUpdatedAt, Sort: SortAsc, UpdatedAfter: n.from}
	opts, last := []RequestOption{PerPage(10), Into(&page)}, n.from
	if n.byValue {
		opts = append(opts, OnePage())
	}
	for {
		before := last
		for issue, err := range client.Issues.List(t.Context(), options, opts...) {
			require.NoError(t, err)
			c.rows[issue.ID], last = int(issue.IID), issue.UpdatedAt
		}
		if options.UpdatedAfter = last; !n.byValue || last.Equal(before) {
			break
		}
	}
	date, err := http.ParseTime(page.Header.Get("Date"))
	require.NoError(t, err)
	if n.from = last; n.next != nil {
		n.from = n.next(last, date)
	}
}

// TestFeedLosesNothing has the ways in which programs that follow a list lose rows. Each is a story
// of a server, in which a naive program loses rows, and a feed does not.
func TestFeedLosesNothing(t *testing.T) {
	for name, way := range map[string]struct {
		naive naive
		story func(s *feedServer, follow func())
	}{
		"late commit": {naive{}, func(s *feedServer, follow func()) {
			follow()
			s.edit(s.rows[3], 0, minute, nil) // commits after the next one
			s.now += sec
			s.edit(s.rows[4], 0, 0, nil)
			s.now += sec
			follow()
			s.now += 2 * minute
			follow()
		}},
		"seconds against sub-seconds": {naive{next: func(last, _ time.Time) time.Time { return last.Add(time.Second) }}, func(s *feedServer, follow func()) {
			s.shown = sec
			s.now += sec - s.now%sec
			s.edit(s.rows[3], 200*ms, 0, nil)
			follow()
			s.edit(s.rows[4], 700*ms, 0, nil)
			s.now += minute
			follow()
		}},
		"one time twice": {naive{next: func(last, _ time.Time) time.Time { return last.Add(time.Millisecond) }}, func(s *feedServer, follow func()) {
			s.edit(s.rows[3], 0, 0, nil)
			follow()
			s.edit(s.rows[3], ms/4, 0, nil) // in the same shown millisecond
			s.now += minute
			follow()
		}},
		"ties": {naive{byValue: true}, func(s *feedServer, follow func()) {
			for _, r := range s.rows {
				s.edit(r, 0, 0, nil)
			}
			s.now += minute
			follow()
		}},
		"ties that leave": {naive{}, func(s *feedServer, follow func()) {
			follow()
			for _, r := range s.rows {
				s.edit(r, 0, 0, nil)
			}
			s.now += 10 * minute
			s.changeAt(2, func() {
				for _, r := range s.rows[:12] {
					s.edit(r, 0, 0, nil)
				}
			})
			follow()
			s.now += minute
			follow()
		}},
		"shifting pages": {naive{}, func(s *feedServer, follow func()) {
			s.changeAt(3, func() {
				for _, r := range s.rows[:5] {
					s.edit(r, 0, 0, nil)
				}
			})
			follow()
			s.now += minute
			follow()
		}},
		"rows without the key": {naive{from: time.Unix(0, 0)}, func(s *feedServer, follow func()) {
			for _, r := range s.rows[10:20] {
				r.states[0].updated = 0
			}
			follow()
		}},
		"stale replica": {naive{next: func(_, date time.Time) time.Time { return date }}, func(s *feedServer, follow func()) {
			follow()
			s.now += minute
			s.edit(s.rows[3], 0, 0, nil)
			s.now, s.lag = s.now+2*sec, minute
			follow()
			s.now, s.lag = s.now+2*minute, 0
			follow()
		}},
		"two clocks": {naive{}, func(s *feedServer, follow func()) {
			s.edit(s.rows[3], 20*sec, 0, nil)
			follow()
			s.now += 2 * sec
			s.edit(s.rows[4], -20*sec, 0, nil)
			s.now += 2 * minute
			follow()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFeedServer(45)
			client, c := s.client(t), newFeedCopy()
			way.story(s, func() { require.NoError(t, c.follow(t, client, &ListIssuesOptions{Scope: ScopeAll}, 0, PerPage(10))) })
			assert.Empty(t, c.missing(s, nil), "the feed has lost rows")

			s = newFeedServer(45)
			client, c = s.client(t), newFeedCopy()
			way.story(s, func() { way.naive.follow(t, client, c) })
			assert.NotEmpty(t, c.missing(s, nil), "the naive program has lost none: the story shows nothing")
		})
	}
}

// A replica that lags shows an older version after a newer one was delivered. The feed delivers
// both, and then the newer one again.
func TestFeedOfStaleVersion(t *testing.T) {
	s := newFeedServer(45)
	client, c := s.client(t), newFeedCopy()
	for range 2 {
		s.edit(s.rows[3], 0, 0, nil)
		s.now += 30 * sec
	}
	require.NoError(t, c.follow(t, client, nil, 0))
	s.lag = 40 * sec
	require.NoError(t, c.follow(t, client, nil, 0))
	assert.Equal(t, []int64{4}, c.missing(s, nil), "the copy has what the replica shows")
	s.lag = 0
	require.NoError(t, c.follow(t, client, nil, 0))
	assert.Empty(t, c.missing(s, nil))
}

// A list that is not in the requested order, or ignores the bound, ends with an error, and the mark
// stays.
func TestFeedOfWrongOrder(t *testing.T) {
	s := newFeedServer(45)
	s.unsorted = true
	client, c := s.client(t), newFeedCopy()
	(&naive{byValue: true}).follow(t, client, c)
	assert.NotEmpty(t, c.missing(s, nil), "the naive program has lost none")

	c = newFeedCopy()
	err := c.follow(t, client, nil, 0, PerPage(10))
	require.ErrorIs(t, err, ErrUnordered)
	assert.ErrorContains(t, err, "the oldest were requested first")
	assert.Empty(t, c.rows)
	assert.Empty(t, c.mark)

	c.mark = MarkAt(time.UnixMicro(s.rows[44].created))
	s.shown = 10 * minute // shows times before the bound
	require.ErrorIs(t, c.follow(t, client, nil, 0), ErrUnordered)
}

// Changes that do not touch the time, and deletions, are not seen. A sweep finds them.
func TestFeedDoesNotSee(t *testing.T) {
	s := newFeedServer(45)
	client, c := s.client(t), newFeedCopy()
	require.NoError(t, c.follow(t, client, nil, 0))
	s.edit(s.rows[3], 0, 0, func(st *feedState) { st.updated = s.rows[3].states[0].updated }) // as a push to a source branch
	s.edit(s.rows[4], 0, 0, func(st *feedState) { st.deleted = true })
	s.now += minute
	require.NoError(t, c.follow(t, client, nil, 0))
	assert.Equal(t, []int64{4}, c.missing(s, nil))
	assert.Contains(t, c.rows, int64(5))

	all := map[int64]int{} // the sweep
	for issue, err := range client.Issues.List(t.Context(), &ListIssuesOptions{Scope: ScopeAll}) {
		require.NoError(t, err)
		all[issue.ID] = int(issue.IID)
	}
	c.rows = all
	assert.Empty(t, c.missing(s, nil))
	assert.NotContains(t, c.rows, int64(5))
}

// The mark moves when the loop takes the next item. It is small, and what it has no room for is
// counted, and delivered again.
func TestMark(t *testing.T) {
	racetest.SkipSequential(t)
	s := newFeedServer(3000)
	client, c := s.client(t), newFeedCopy()
	require.NoError(t, c.follow(t, client, nil, 0))
	assert.Less(t, len(c.mark), 100)
	assert.Zero(t, c.mark.Forgotten())
	require.NoError(t, c.follow(t, client, nil, 0))
	assert.Equal(t, 3000, c.delivered, "nothing has changed")

	for _, r := range s.rows {
		s.edit(r, 0, 0, nil)
		s.now += 20 * ms
	}
	require.NoError(t, c.follow(t, client, nil, 0, Ahead(1)))
	assert.Equal(t, 6000, c.delivered)
	assert.LessOrEqual(t, len(c.mark), maxMark)
	assert.Greater(t, 3000-c.mark.Forgotten(), 1200, "versions in a mark")
	forgotten := c.mark.Forgotten()
	require.NoError(t, c.follow(t, client, nil, 0))
	assert.Equal(t, forgotten, c.duplicates)

	s.now += 10 * minute
	require.NoError(t, c.follow(t, client, nil, 0))
	var page Response
	var seen []int64
	mark := c.mark
	s.edit(s.rows[0], 0, 0, nil)
	s.edit(s.rows[1], ms, 0, nil)
	for issue, err := range client.Issues.List(t.Context(), nil, Since(mark), Into(&page)) {
		require.NoError(t, err)
		if seen = append(seen, issue.ID); len(seen) == 2 {
			mark = page.Mark
			break
		}
	}
	assert.Equal(t, mark, page.Mark, "the mark does not include the item at which the loop ends")
	again, err := Collect(client.Issues.List(t.Context(), nil, Since(mark), Into(&page)))
	require.NoError(t, err)
	require.Equal(t, 1, len(again)) //nolint:testifylint // a list would be long
	assert.Equal(t, s.rows[1].id, again[0].ID)
	assert.Empty(t, page.Cursor)
	assert.Equal(t, http.StatusOK, page.Status)
}

// MarkAt begins at a time. The mark never passes the server's clock minus the overlap, also if no
// item has changed.
func TestMarkFollowsTheServersClock(t *testing.T) {
	s := newFeedServer(45)
	client, c := s.client(t), newFeedCopy()
	c.mark = MarkAt(time.UnixMicro(s.rows[40].created))
	require.NoError(t, c.follow(t, client, nil, 0, Overlap(time.Minute)))
	assert.Len(t, c.rows, 5)
	p, err := c.mark.progress(strings.Split(string(c.mark), ".")[1])
	require.NoError(t, err)
	assert.Equal(t, (s.now-s.now%sec-minute)/ms, p.at)

	s.noDate = true
	before := c.mark
	err = c.follow(t, client, nil, 0)
	require.ErrorIs(t, err, ErrInvalidResponse)
	assert.ErrorContains(t, err, "no Date")
	assert.Equal(t, before, c.mark)
	assert.Equal(t, Mark(""), MarkAt(time.Time{}))
}

// Project issues and group merge requests have no method. ListAs reads them by the same rules, also
// as the server sent them.
func TestSinceWithListAs(t *testing.T) {
	s := newFeedServer(45)
	client := s.client(t)
	for _, route := range []string{"/projects/:id/issues", "/groups/:id/merge_requests"} {
		call := Call{Route: route, Args: []Arg{Path("acme/app")}}
		var page Response
		texts, err := Collect(ListAs[json.RawMessage](t.Context(), client, call, Since(""), Into(&page), PerPage(10)))
		require.NoError(t, err)
		require.Len(t, texts, 45)
		s.edit(s.rows[3], 0, 0, nil)
		issues, err := Collect(ListAs[Issue](t.Context(), client, call, Since(page.Mark)))
		require.NoError(t, err)
		require.Len(t, issues, 1)
		assert.Equal(t, s.rows[3].id, issues[0].ID)
	}
}

// A feed sends the caller's filters, and no bound before there is one. Without Ahead it requests no
// page before its turn.
func TestFeedRequests(t *testing.T) { synctest.Test(t, feedRequests) }

func feedRequests(t *testing.T) {
	s := newFeedServer(45)
	var sent []url.Values
	s.before = func(query url.Values) *http.Response {
		sent = append(sent, maps.Clone(query))
		return nil
	}
	client := s.client(t)
	var page Response
	given := MarkAt(time.UnixMicro(s.rows[0].created + 500*ms))
	for _, err := range client.Issues.List(t.Context(), nil, Since(given), Into(&page), PerPage(150)) {
		require.NoError(t, err)
		break
	}
	second := time.UnixMicro(s.rows[0].created).UTC().Format("2006-01-02T15:04:05.000Z")
	assert.Equal(t, []url.Values{{"order_by": {"updated_at"}, "sort": {"asc"}, "page": {"1"}, "per_page": {"100"}, "updated_after": {second}}}, sent)
	assert.NotEmpty(t, page.Mark, "there is a mark when the first item arrives")
	sent = nil
	for _, err := range client.Issues.List(t.Context(), &ListIssuesOptions{State: IssueStateOpened}, Since(""), PerPage(10)) {
		require.NoError(t, err)
		synctest.Wait()
		break
	}
	assert.Equal(t, []url.Values{{"state": {"opened"}, "order_by": {"created_at"}, "sort": {"asc"}, "page": {"1"}, "per_page": {"10"}}}, sent)

	sent = nil
	for _, err := range client.Issues.List(t.Context(), nil, Since(""), PerPage(10), Ahead(1)) {
		require.NoError(t, err)
		synctest.Wait()
		break
	}
	assert.Len(t, sent, 2, "one page is requested ahead")

	sent = nil
	begin := MarkAt(time.UnixMicro(s.now).AddDate(0, 0, -30).Add(2 * time.Minute)) // a window ends after the Date
	_, err := Collect(client.AuditEvents.List(t.Context(), &ListAuditEventsOptions{EntityType: AuditEntityTypeUser}, Since(begin), Overlap(time.Minute)))
	require.NoError(t, err)
	require.Len(t, sent, 1)
	assert.Equal(t, "User", sent[0].Get("entity_type"))
	for _, list := range []func() error{
		func() error { _, err := Collect(client.AuditEvents.List(t.Context(), nil, Since(begin))); return err },
		func() error { _, err := Collect(client.Issues.List(t.Context(), nil, Since(""))); return err },
		func() error { _, err := Collect(client.Issues.List(t.Context(), nil, Since(""), Ahead(1))); return err },
	} {
		s.before = faultAt(1)
		require.ErrorIs(t, list(), ErrNotFound)
		s.before = func(url.Values) *http.Response {
			return &http.Response{StatusCode: 200, Header: headers("Content-Type", "application/json", "Link", `<http://[>; rel="next"`, "Date", time.UnixMicro(s.now).UTC().Format(http.TimeFormat)), Body: io.NopCloser(strings.NewReader("[]"))}
		}
		require.ErrorIs(t, list(), ErrInvalidResponse)
	}
}

// Rows of one time of creation are not delivered again after a crash among them.
func TestFeedOfOneTime(t *testing.T) {
	s := newFeedServer(0)
	for range 5 {
		s.add(0, 0)
	}
	s.now += 10 * minute
	client, c := s.client(t), newFeedCopy()
	require.NoError(t, c.follow(t, client, nil, 4))
	require.NoError(t, c.follow(t, client, nil, 0))
	assert.Equal(t, 5, c.delivered)
}

// The size of a page is that of the call, then that of the client.
func TestFeedPageSize(t *testing.T) {
	s := newFeedServer(100)
	small, err := s.client(t).With(WithPerPage(20))
	require.NoError(t, err)
	for requests, opts := range map[int][]RequestOption{1: {PerPage(100)}, 6: nil} {
		s.requests = 0
		issues, err := Collect(small.Issues.ListForGroup(t.Context(), Path("acme"), nil, append(opts, Since(""))...))
		require.NoError(t, err)
		assert.Len(t, issues, 100)
		assert.Equal(t, requests, s.requests)
	}
}

// What does not fit is refused before anything is sent.
func TestSinceRefuses(t *testing.T) {
	s := newFeedServer(3)
	client := s.client(t)
	var page Response
	_, err := Collect(client.Issues.ListForGroup(t.Context(), Path("acme"), nil, Since(""), Into(&page)))
	require.NoError(t, err)
	mark := page.Mark
	s.requests = 0
	issues := func(o *ListIssuesOptions, opts ...RequestOption) error {
		_, err := Collect(client.Issues.ListForGroup(t.Context(), Path("acme"), o, opts...))
		return err
	}
	list := func(route string, opts ...RequestOption) error {
		_, err := Collect(ListAs[json.RawMessage](t.Context(), client, Call{Route: route}, opts...))
		return err
	}
	own := func() error {
		_, err := Collect(ListAs[struct{ ID int64 }](t.Context(), client, Call{Route: "/issues"}, Since("")))
		return err
	}
	end := strings.LastIndexByte(string(mark), '.') + 1
	data, err := base64.RawURLEncoding.DecodeString(string(mark[end:]))
	require.NoError(t, err)
	var damaged Mark
	for i := range data {
		other := bytes.Clone(data)
		other[i] ^= 1
		damaged = mark[:end] + Mark(base64.RawURLEncoding.EncodeToString(other))
		require.ErrorContains(t, issues(nil, Since(damaged)), "the mark is damaged", "byte %d", i)
	}
	for _, short := range []Mark{"", "AAAA", "!"} {
		require.ErrorContains(t, issues(nil, Since(mark[:end]+short)), "the mark is damaged")
	}
	for _, name := range []string{"order_by", "sort", "page", "pagination", "updated_before"} {
		require.ErrorContains(t, issues(nil, Since(""), Query(name, "1")), "it cannot be combined with "+name+", which Since sets")
	}
	for _, name := range []string{"created_after", "created_before"} {
		_, err := Collect(client.AuditEvents.List(t.Context(), nil, Since(""), Query(name, "1")))
		require.ErrorContains(t, err, "it cannot be combined with "+name+", which Since sets")
	}
	for want, err := range map[string]error{
		"belongs to another list":            issues(&ListIssuesOptions{State: IssueStateOpened}, Since(mark)),
		"it is not a mark":                   issues(nil, Since("yesterday")),
		"by another version":                 issues(nil, Since("2"+mark[1:])),
		"cannot be combined with updated_af": issues(&ListIssuesOptions{UpdatedAfter: time.Now()}, Since(mark)),
		"cannot be combined with order_by":   issues(&ListIssuesOptions{OrderBy: IssueOrderByWeight}, Since("")),
		"cannot be combined with StartAt":    issues(nil, Since(""), StartAt("1.x.done")),
		"cannot be combined with OnePage":    issues(nil, Since(""), OnePage()),
		"it applies to Since only":           issues(nil, Overlap(time.Minute)),
		"at least a second":                  issues(nil, Since(""), Overlap(5)),
		"cannot be combined with created_be": list("/audit_events", Since(""), Query("created_before", "2026-01-01T00:00:00Z")),
		"cannot report changes":              list("/runners", Since("")),
		"need an id and a time":              own(),
	} {
		var refused *ValidationError
		require.ErrorAs(t, err, &refused, want)
		assert.Contains(t, refused.Reason, want)
		assert.Regexp(t, "^GET /[a-z]", refused.Route, want)
	}
	assert.Zero(t, s.requests)
	assert.Zero(t, damaged.Forgotten())
}
