package forge

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The page for a row begins with a row before it, and has others behind it.
func TestWalkRead(t *testing.T) {
	for _, perPage := range []int{1, 20, 33, 100} {
		w := newWalk(0, perPage)
		for n := 3000; n >= 0; n-- {
			w.read(n)
			begin, end := (w.number-1)*w.size, w.number*w.size
			require.Less(t, n, end, "%d per page", perPage)
			require.True(t, begin < n || begin == 0, "row %d of pages of %d: from %d", n, perPage, begin)
			require.LessOrEqual(t, w.size, max(perPage, minTied))
		}
		assert.Equal(t, step{0, 1, max(perPage, minTied)}, w.step, "the first page")
	}
	for n, want := range map[int]step{0: {0, 1, 100}, 111: {0, 2, 100}, 161: {0, 3, 75}, 236: {0, 3, 100}, 237: {0, 3, 100}, 1000: {0, 11, 98}} {
		w := newWalk(0, 100)
		w.read(n)
		assert.Equal(t, want, w.step, "row %d", n)
	}
}

// Rows must have ids and times, not before the second of the bound, the oldest first.
func TestWalkOrder(t *testing.T) {
	at := func(times ...int64) (rows []row) {
		for i, at := range times {
			rows = append(rows, row{id: int64(i + 1), at: at})
		}
		return rows
	}
	for _, test := range []struct {
		after int64
		rows  []row
		want  string
	}{
		{1500, at(1000, 1000, 1001), ""}, {1500, nil, ""}, {0, at(5, 0, 0), ""}, {-1, at(-1000), ""},
		{1500, at(999), "only later ones"}, {1500, at(2000, 1999), "comes after"}, {1500, at(2000, 0), "no time"}, {2, at(0), "no time"},
		{0, []row{{at: 1}}, "no id"},
	} {
		got := newWalk(test.after, 20).order(test.rows)
		assert.Contains(t, got, test.want, "%v", test)
		assert.Equal(t, test.want == "", got == "", "%v", test)
	}
}

// An empty page is a gap only at the end: rows have left the pages before it.
func TestWalkEmptyPage(t *testing.T) {
	for _, more := range []bool{true, false} {
		w, rows := newWalk(1000, 20), make([]row, 20)
		for i := range rows {
			rows[i] = row{id: int64(i + 1), at: 1000}
		}
		_, end, err := w.next(rows, true)
		require.True(t, err == nil && !end && w.number > 1)
		before := w.number * w.size
		gap, end, err := w.next(nil, more)
		require.NoError(t, err)
		assert.False(t, end)
		assert.Equal(t, !more, gap)
		assert.Equal(t, more, w.number*w.size > before)
	}
}

// Without a row that was read, no row can be missing. The first page of a bound cannot have moved.
func TestWalkWithoutGap(t *testing.T) {
	w, rows := newWalk(1000, 20), []row{{id: 1, at: 1000}}
	for _, page := range [][]row{nil, rows} { // the second one is requested by number
		gap, end, err := w.next(page, true)
		assert.True(t, err == nil && !gap && !end, page)
	}
	w.number = 1
	_, end, err := w.next([]row{{id: 2, at: 1000}}, true)
	assert.True(t, err == nil && !end)
	assert.Zero(t, w.retreats)
}

// What lies before the time of a mark is forgotten: neither it nor the mark grows.
func TestProgressForgets(t *testing.T) {
	p := progress{limit: 10_000}
	for at := range int64(10) {
		p.read.put(version{at: at * 1000, id: at})
	}
	p.advance(4_500)
	assert.Len(t, p.read.sorted, 6)
	assert.Len(t, p.read.byID, 6)
	p.advance(20_000)
	assert.EqualValues(t, 10_000, p.at, "no further than the walk sees")
	assert.Empty(t, p.read.sorted)
}

// After a gap the walk goes back by half, so often and no more.
func TestWalkGoesBack(t *testing.T) {
	w := newWalk(1000, 20)
	w.seen[[2]int64{1, 1000}] = true
	for range maxRetreats {
		w.number, w.size = 5, 20
		gap, end, err := w.next([]row{{id: 2, at: 1000}}, true)
		require.True(t, err == nil && gap && !end)
		require.Equal(t, step{1000, 3, 18}, w.step, "the page that begins before row 40")
	}
	w.number, w.size = 5, 20
	_, end, err := w.next([]row{{id: 2, at: 1000}}, true)
	require.ErrorIs(t, err, ErrUnordered)
	assert.True(t, end)
}

// A page without a new row is no error until there are more of them than pages that overlap.
func TestWalkWithoutProgress(t *testing.T) {
	w, rows, pages := newWalk(1000, minTied), make([]row, minTied), 0
	for i := range rows {
		rows[i] = row{id: int64(i + 1), at: 1000}
	}
	var err error
	for ; err == nil; pages++ {
		_, _, err = w.next(rows, true)
	}
	require.ErrorIs(t, err, ErrRepeatedPage)
	assert.Equal(t, 1+maxRetreats+1+1, pages)
}

// Versions are ordered by time, then by id and content.
func TestVersionOrder(t *testing.T) {
	ordered := []version{{1, 9, 9}, {2, 1, 9}, {2, 2, 1}, {2, 2, 2}, {3, 0, 0}}
	for i, a := range ordered {
		for j, b := range ordered {
			assert.Equal(t, cmp.Compare(i, j), a.compare(b), "%v, %v", a, b)
		}
	}
}

// A row is consumed in its content only. Another version of it is forgotten before it is delivered,
// wherever it is known.
func TestProgressOfRows(t *testing.T) {
	r := row{id: 1, at: 2000, changed: 7000, sum: 5}
	old := progress{copying: true, from: 8000}
	old.consume(row{id: 3, at: 1000, changed: 7999})
	old.consume(r)
	old.consume(row{id: 2, at: 2000, changed: 8000})
	assert.Equal(t, []version{{8000, 2, 0}}, old.read.sorted, "those that the next walk reads again")
	assert.Equal(t, []version{{2000, 1, 5}, {2000, 2, 0}}, old.ties.sorted, "those of the last time")
	assert.EqualValues(t, 2000, old.at)
	assert.True(t, old.has(r))
	changed := r
	changed.sum++
	assert.False(t, old.has(changed))
	assert.True(t, old.deliver(changed), "among the ties")
	assert.False(t, old.deliver(changed))

	next := progress{limit: 9000}
	next.consume(r)
	assert.Equal(t, []version{{7000, 1, 5}}, next.read.sorted)
	assert.Empty(t, next.ties.sorted)
	assert.True(t, next.has(r))
	assert.True(t, next.deliver(changed), "among the changes")
	assert.False(t, next.has(r))

	assert.EqualValues(t, 2000, next.at)
	next.begin(9500)
	old.finish()
	assert.Equal(t, []int64{0, 9500, 0, 8000}, []int64{next.from, next.limit, old.from, old.limit}, "from belongs to the first walk")

	second := progress{from: 8500}
	assert.True(t, second.recent(8000), "servers may show whole seconds")
	assert.False(t, second.recent(7999))
}

// The mark that a caller stores with a row has no other version of the row. After the page it is
// at the end of the page.
func TestMarkOfDelivery(t *testing.T) {
	old, into := row{id: 1, at: 2000, changed: 7000, sum: 5}, Response{}
	f := &feed{options: &callOptions{into: &into, since: new(Mark)}, progress: &progress{}, list: "list"}
	f.progress.begin(9000)
	f.progress.consume(old)
	changed := old
	changed.sum++
	read := func() *progress {
		p, err := into.Mark.progress("list")
		require.NoError(t, err)
		return p
	}
	p := &feedPage[int]{page: &page[int]{items: []*int{new(1)}}, rows: []row{changed}, limit: 9000, through: 6500}
	more, err := yieldChanges(f, p, func(*int, error) bool {
		assert.Empty(t, read().read.sorted)
		return true
	})
	require.NoError(t, err)
	assert.True(t, more && read().has(changed) && !read().has(old))
	assert.EqualValues(t, 6500, read().at)
}

// A mark has the latest versions that fit. One with nothing behind its checksum is damaged.
func TestMarkBounds(t *testing.T) {
	var all versions
	all.put(version{at: 1000, id: 1})
	all.put(version{at: 2000, id: 2})
	one, left := all.encode(1)
	require.Equal(t, 1, left)
	size := len(one) - 1 // without the count
	for room, want := range map[int]int{0: 2, 1: 1, size: 1, size + 1: 0} {
		_, left = all.encode(room)
		assert.Equal(t, want, left, "%d bytes", room)
	}
	tied := progress{copying: true}
	for id := range int64(2000) {
		tied.consume(row{id: id, at: 1000, changed: -1})
	}
	again, err := tied.mark("").progress("")
	require.NoError(t, err)
	assert.Equal(t, []int{0, 2000 - tied.mark("").Forgotten()}, []int{len(again.read.sorted), len(again.ties.sorted)})
	assert.Less(t, len(again.ties.sorted), 2000)
	for data, want := range map[string]string{"": "the mark is damaged", "\x00": "the mark is damaged", "\x00\x00\x00\x00\x00\x00": "", "\x00\x00\x00\x00\x02\x00\x00\x01": "the mark is damaged"} {
		mark := Mark(markVersion + ".list." + base64.RawURLEncoding.EncodeToString([]byte(cursorChecksum("list"+data)+data)))
		_, err := mark.progress("list")
		assert.Equal(t, want, reasonOf(err), "%q", data)
	}
}

// A first walk that continues still compares the content of all rows that changed since its begin.
func TestFeedContinuesFirstWalk(t *testing.T) {
	r := silentServer(t).customRequest(Call{Route: "/issues"})
	for mark, want := range map[Mark]int64{(&progress{copying: true, from: 7000}).mark(""): 7000, (&progress{from: 7000}).mark(""): 0, "": 0} {
		f, err := newFeed(&call{request: r, options: &callOptions{since: &mark}}, (*Issue)(nil))
		require.NoError(t, err)
		assert.Equal(t, want, f.recent)
	}
}

// A window is shortened to an eighth, but not below a second, and grows while it has few rows.
func TestWindows(t *testing.T) {
	for _, row := range []struct {
		w    windows
		now  int64
		want int64 // 0: it is not shortened
	}{
		{windows{}, firstEvent + 16_000, 2000}, {windows{from: 10_000}, 26_000, 2000}, {windows{from: 10_000, length: 16_000}, 1 << 60, 2000}, {windows{length: 15_999}, 0, 1000},
		{windows{length: 1001}, 0, 1000}, {windows{length: 1000}, 0, 0}, {windows{from: 10_000}, 11_000, 0}, {windows{from: 10_000}, 11_001, 1000},
	} {
		w := row.w
		assert.Equal(t, row.want > 0, w.shorten(row.now), "%v", row)
		if row.want > 0 {
			assert.Equal(t, row.want, w.length, "%v", row)
		}
	}
	for want, w := range map[[2]int64]windows{{0, 0}: {}, {7, 0}: {from: 7}, {0, firstEvent + 9}: {length: 9}, {7, 16}: {from: 7, length: 9}} {
		after, before := w.next()
		assert.Equal(t, want, [2]int64{after, before})
	}
	for _, row := range []struct {
		w    windows
		rows int
		want windows // the zero windows: it was the last
	}{
		{windows{from: 1}, 0, windows{}}, {windows{from: 1000, length: 9000}, 0, windows{}}, {windows{from: 999, length: 9000}, 0, windows{from: 9999, length: 18_000}},
		{windows{from: 999, length: 9000, longest: 10_000}, 0, windows{from: 9999, length: 10_000, longest: 10_000}},
		{windows{from: 1, length: 1000}, maxBuffered/4 - 1, windows{from: 1001, length: 2000}}, {windows{from: 1, length: 1000}, maxBuffered / 4, windows{from: 1001, length: 1000}},
	} {
		w := row.w
		last := w.done(row.rows, 10_000)
		assert.Equal(t, row.want == windows{}, last, "%v", row)
		if !last {
			assert.Equal(t, row.want, w, "%v", row)
		}
	}
	f := &feed{limit: 1000, options: new(callOptions), filters: url.Values{"a": {"b"}}}
	assert.EqualValues(t, 301_000, f.now())
	f.options.overlap = 2 * time.Second
	assert.EqualValues(t, 3000, f.now())
	assert.Equal(t, url.Values{"a": {"b"}, "created_after": {"1970-01-01T00:00:01Z"}, "created_before": {"1970-01-01T00:00:09Z"}}, f.between(1000, 9000))
	assert.Equal(t, url.Values{"a": {"b"}}, f.between(0, 0))
}

// The rows of a window are sorted by time and id. They must lie in it, to the second, and have both.
func TestWindowSort(t *testing.T) {
	window := func(rows ...row) *feedPage[int64] {
		p := &feedPage[int64]{page: new(page[int64]), rows: rows}
		for _, r := range rows {
			p.items = append(p.items, new(r.id))
		}
		return p
	}
	p := window(row{id: 3, at: 9999}, row{id: 2, at: 1000}, row{id: 1, at: 1000}, row{id: 4, at: 2000})
	require.NoError(t, p.sort(1000, 9000))
	assert.Equal(t, []row{{id: 1, at: 1000}, {id: 2, at: 1000}, {id: 4, at: 2000}, {id: 3, at: 9999}}, p.rows)
	assert.Equal(t, []*int64{new(int64(1)), new(int64(2)), new(int64(4)), new(int64(3))}, p.items)
	require.NoError(t, window(row{id: 1, at: 1}).sort(0, 0))
	for _, bad := range []row{{id: 1, at: 999}, {id: 1, at: 10_000}, {at: 1000}} {
		require.ErrorIs(t, window(bad).sort(1000, 9000), ErrUnordered, "%v", bad)
	}
	require.ErrorIs(t, window(row{id: 1}).sort(0, 0), ErrUnordered)
	require.NoError(t, window(row{id: 1, at: 1 << 40}).sort(1000, 0), "an open end")
}

// A feed that fails reports the response to the page that failed, and the mark of what was read
// before it.
func TestFeedFails(t *testing.T) {
	s := newFeedServer(45)
	client := s.client(t)
	s.before = faultAt(2)
	var page Response
	seen := 0
	for _, err := range client.Issues.List(t.Context(), nil, Since(""), PerPage(20), Into(&page)) {
		if err != nil {
			require.ErrorIs(t, err, ErrNotFound)
			break
		}
		seen++
	}
	assert.Equal(t, http.StatusNotFound, page.Status)
	rest, err := Collect(client.Issues.List(t.Context(), nil, Since(page.Mark)))
	require.NoError(t, err)
	assert.Len(t, rest, 45-seen)
	assert.Equal(t, 20, seen)

	mark := page.Mark
	for range 2 { // the page is reported before its first item, with the mark before that item
		for issue, err := range client.Issues.List(t.Context(), nil, Since(mark), Into(&page)) {
			require.NoError(t, err)
			require.Equal(t, s.rows[20].id, issue.ID)
			break
		}
		require.Equal(t, http.StatusOK, page.Status)
		mark = page.Mark
	}
	for _, mark = range []Mark{"", MarkAt(time.Unix(7, 0))} {
		s.before = faultAt(1)
		_, err = Collect(client.Issues.List(t.Context(), nil, Since(mark), Into(&page)))
		require.ErrorIs(t, err, ErrNotFound)
		assert.Equal(t, mark, page.Mark, "nothing was read")
	}
	s.before, s.unsorted = nil, true
	_, err = Collect(client.Issues.List(t.Context(), nil, Since("")))
	assert.ErrorContains(t, err, "forge: GET /issues: ")
}

// A window is shortened if it has more rows than may be buffered.
func TestFeedOfFullWindow(t *testing.T) {
	const item = `{"id":1,"created_at":"2026-03-01T00:00:00Z"}`
	full := "[" + strings.Repeat(item+",", 99) + item + "]"
	for more, want := range map[string]bool{"[]": false, "[" + item + "]": true} {
		s, shorter, pages := newFeedServer(0), false, 0
		s.before = func(query url.Values) *http.Response {
			h := headers("Content-Type", "application/json", "Date", time.UnixMicro(s.now).UTC().Format(http.TimeFormat), "Link", fmt.Sprintf(`<?cursor=%d>; rel="next"`, pages))
			shorter, pages = shorter || query.Has("created_before"), pages+1
			if pages <= maxBuffered/100 {
				return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(strings.NewReader(full))}
			}
			h.Del("Link")
			return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(strings.NewReader(more))}
		}
		for _, err := range s.client(t).AuditEvents.ListForGroup(t.Context(), Path("acme"), nil, Since("")) {
			assert.Equal(t, want, err != nil, "the items are not of a shorter window")
			break
		}
		assert.Equal(t, want, shorter, more)
		assert.Greater(t, pages, maxBuffered/100)
	}
}

// A window begins at the whole second of a mark, as its query does: events of that second are valid.
func TestFeedWindowBegins(t *testing.T) {
	s := newFeedServer(0)
	r := s.add(200*ms, 0)
	s.now += minute
	events, err := Collect(s.client(t).AuditEvents.List(t.Context(), nil, Since(MarkAt(time.UnixMicro(r.created+300*ms)))))
	require.NoError(t, err)
	assert.Len(t, events, 1)
	text := json.RawMessage(`{"id":1,"created_at":"1970-01-01T00:00:07Z"}`)
	f := &feed{request: s.client(t).customRequest(Call{Route: "/audit_events"})}
	assert.Equal(t, row{id: 1, at: 7000, changed: 7000, sum: crc32.ChecksumIEEE(text)}, f.row(&text), "events have no time of a change")
}
