package forge

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"iter"
	"maps"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/forge-sdk/forge-go/internal/linkheader"
)

const (
	defaultOverlap = 5 * time.Minute
	minTied        = 20 // items of a page within one time, so that it can overlap the one before
	maxRetreats    = 20 // within one time, before the list is said to move too fast
)

// step is a page that a walk requests: its lower bound, its number and its size.
type step struct {
	after        int64 // 0: none
	number, size int
}

// walk decides which page is requested next. All rows before the step's bound are read.
type walk struct {
	step
	perPage  int
	seen     map[[2]int64]bool // ids and times that were read with this bound
	retreats int
	idle     int // pages in a row with this bound that had no new row
}

func newWalk(after int64, perPage int) *walk {
	return &walk{step: step{after, 1, perPage}, perPage: perPage, seen: map[[2]int64]bool{}}
}

// next is given the rows of the requested page, and whether the server has more behind them. It
// sets the next step; end is true if there is none. If gap is true, rows before those of the page
// may be missing, and it must not be used. An error means that rows would be lost.
//
// The last row's time is the next bound. If it is the bound already, all rows of the page have one
// time, and the next page is requested by number, so that it begins with rows that were read: if it
// does not, rows have left the pages before it, and those behind them have moved there. The walk
// then goes back.
func (w *walk) next(rows []row, more bool) (gap, end bool, err error) {
	if problem := w.order(rows); problem != "" {
		return false, true, &sentinelError{sentinel: ErrUnordered, text: "the list is not in the order that was requested: " + problem}
	}
	offset := (w.number - 1) * w.size
	gap = len(rows) > 0 && !w.seen[rows[0].place()] || len(rows) == 0 && !more
	if gap && offset > 0 && len(w.seen) > 0 {
		if w.retreats++; w.retreats > maxRetreats {
			return false, true, &sentinelError{sentinel: ErrUnordered, text: "the items of " + timeText(w.after) + " move faster than they can be read: read the list again later"}
		}
		w.read(offset / 2)
		return true, false, nil
	}
	w.idle++
	for _, r := range rows {
		if !w.seen[r.place()] {
			w.seen[r.place()], w.idle = true, 0
		}
	}
	switch {
	case !more:
		return false, true, nil
	case len(rows) > 0 && rows[len(rows)-1].at > w.after:
		*w = *newWalk(rows[len(rows)-1].at, w.perPage)
	case w.idle > maxRetreats+len(w.seen)/minTied:
		return false, true, &sentinelError{sentinel: ErrRepeatedPage, text: "the server returns the same items for different pages"}
	default:
		w.read(offset + w.size)
	}
	return false, false, nil
}

// order returns how the page differs from what was requested; "" if it does not. The bound may have
// been rounded to the second.
func (w *walk) order(rows []row) string {
	first := secondOf(w.after)
	last := first
	for _, r := range rows {
		switch {
		case r.id == 0 || r.at == 0 && w.after != 0:
			return "an item has no id, or no time by which the list was to be sorted"
		case r.at == 0: // without a bound the rows without a time are last
		case r.at < first:
			return fmt.Sprintf("item %d has the time %s, and only later ones than %s were requested", r.id, timeText(r.at), timeText(w.after))
		case r.at < last:
			return fmt.Sprintf("item %d has the time %s and comes after one of %s, but the oldest were requested first", r.id, timeText(r.at), timeText(last))
		default:
			last = r.at
		}
	}
	return ""
}

// read sets the next step within the bound: a page that begins a little before row n, and has as
// many rows behind it as possible.
func (w *walk) read(n int) {
	largest := max(w.perPage, minTied)
	w.number, w.size = 1, largest
	best := 0
	for size := largest; size > largest/2; size-- {
		number := max(n-largest/10-1, 0)/size + 1
		if gain := number*size - n; gain > best {
			best, w.number, w.size = gain, number, size
		}
	}
}

func timeText(at int64) string { return time.UnixMilli(at).UTC().Format(timeLayout) }

// feed is one reading of what has changed, apart from the type of its items.
type feed struct {
	request  *request
	options  *callOptions
	filters  url.Values // of the caller
	list     string
	progress *progress // of the items that the caller has consumed
	copying  bool      // the walk is the first one
	recent   int64     // rows that changed since then have a checksum of their content
	limit    int64     // the Date of the first response minus the overlap, as pages are fetched; 0 before
}

// changing is implemented by the items of lists with feeds.
type changing interface {
	change() (id int64, created, updated time.Time)
}

// newFeed checks the options and the mark. item is a nil pointer of the type of the items.
func newFeed(first *call, item any) (*feed, error) {
	r, o := first.request, first.options
	f := &feed{request: r, options: o, filters: first.query, list: listID(r, first.query), recent: math.MaxInt64}
	_, known := item.(changing)
	_, raw := item.(*json.RawMessage)
	switch {
	case r.route.feed == feedNone:
		return nil, &ValidationError{Option: "Since", Reason: "the list cannot report changes, as its endpoint has no filter for the time of a change: read all of it, and compare"}
	case !known && !raw:
		return nil, &ValidationError{Option: "Since", Reason: "the items need an id and a time: use ListAs with the package's own type, or with json.RawMessage"}
	case o.startAt != "":
		return nil, &ValidationError{Option: "Since", Reason: "it cannot be combined with StartAt: a mark is the place to continue at"}
	case o.onePage:
		return nil, &ValidationError{Option: "Since", Reason: "it cannot be combined with OnePage: leave the loop where you want, the mark is the place to continue at"}
	}
	for _, name := range r.route.feed.params() {
		if first.query.Has(name) || r.formOfCall().Has(name) {
			return nil, &ValidationError{Option: "Since", Param: name, Reason: "it cannot be combined with " + name + ", which Since sets: use MarkAt for a start"}
		}
	}
	var err error
	if f.progress, err = o.since.progress(f.list); err != nil {
		return nil, err
	}
	if r.route.feed == feedChanges {
		f.progress.copying = f.progress.copying || *o.since == ""
		if f.copying, f.recent = f.progress.copying, 0; f.copying {
			f.recent = f.progress.from
		}
	}
	return f, nil
}

// runFeed ranges once over what has changed since the mark.
func runFeed[T any](ctx context.Context, first *call, yield func(*T, error) bool) error {
	f, err := newFeed(first, (*T)(nil))
	if err != nil {
		return first.request.withRoute(err)
	}
	f.report(Response{})
	p := &pager[T]{request: f.request, options: f.options, first: first}
	pages := feedPages(ctx, f, p)
	if f.request.route.feed != feedChanges {
		pages = windowPages(ctx, f, p)
	}
	for page, err := range pages {
		if err != nil {
			p.setResponse(err)
			f.mark()
			return f.request.withError(err)
		}
		if more, err := yieldChanges(f, page, yield); !more || err != nil {
			return err
		}
	}
	f.progress.finish()
	f.mark()
	return nil
}

// feedPage is a page with what the feed knows of its items.
type feedPage[T any] struct {
	*page[T]
	rows    []row
	limit   int64 // of the walk
	through int64 // rows before this time are on this page or on earlier ones; 0: not known
	last    bool
}

// yieldChanges yields the items of the page that were not consumed in this form, and moves the mark
// behind each when the caller takes the next one. more is false if the caller leaves the loop.
func yieldChanges[T any](f *feed, page *feedPage[T], yield func(*T, error) bool) (more bool, err error) {
	f.progress.begin(page.limit)
	f.report(page.response)
	for i, item := range page.items {
		if !f.progress.has(page.rows[i]) {
			if f.progress.deliver(page.rows[i]) {
				f.mark()
			}
			if !yield(item, nil) {
				return false, nil
			}
		}
		f.progress.consume(page.rows[i])
		f.mark()
	}
	f.progress.advance(page.through)
	f.mark()
	return true, page.linkError
}

// report stores the response and the mark for the caller.
func (f *feed) report(response Response) {
	if f.options.into != nil {
		*f.options.into = response
		f.mark()
	}
}

// mark stores the mark for the caller. That of a walk that has not begun is the caller's own.
func (f *feed) mark() {
	switch {
	case f.options.into == nil:
	case f.progress.limit == 0:
		f.options.into.Mark = *f.options.since
	default:
		f.options.into.Mark = f.progress.mark(f.list)
	}
}

// feedPages requests the pages of a walk, one after the other. With Ahead one page is requested
// while the caller handles the one before.
func feedPages[T any](ctx context.Context, f *feed, p *pager[T]) iter.Seq2[*feedPage[T], error] {
	w := newWalk(secondOf(f.progress.at), min(cmp.Or(f.options.perPage, f.request.core.config.perPage, maxPerPage), maxPerPage))
	fetch := func(ctx context.Context, _ int) (*feedPage[T], error) {
		page, err := p.fetchAndDecode(ctx, f.query(w.step), new(linkheader.LoopDetector))
		if err != nil {
			return nil, err
		}
		next := &feedPage[T]{page: page}
		if next.rows, err = rowsOf(f, page); err != nil {
			return nil, err
		}
		gap, last, err := w.next(next.rows, page.next != "")
		if next.limit, next.last = f.limit, last; gap {
			page.items = nil
		}
		return next, err
	}
	return func(yield func(*feedPage[T], error) bool) {
		defer p.buffers.close()
		page, err := fetch(ctx, 0)
		if err == nil && f.options.ahead > 0 {
			prefetch(ctx, page, func(i int, page *feedPage[T]) int {
				if page.last {
					return i
				}
				return i + 1
			}, fetch)(yield)
			return
		}
		for yield(page, err) && err == nil && !page.last {
			page, err = fetch(ctx, 0)
		}
	}
}

// query returns the query of a page: the caller's filters, the order and the lower bound.
func (f *feed) query(s step) string {
	query, key := url.Values{}, "updated"
	maps.Copy(query, f.filters)
	if f.copying {
		key = "created"
	}
	query.Set("order_by", key+"_at")
	query.Set("sort", "asc")
	query.Set("page", strconv.Itoa(s.number))
	query.Set("per_page", strconv.Itoa(s.size))
	if s.after != 0 {
		query.Set(key+"_after", timeText(s.after))
	}
	return query.Encode()
}

// rowsOf returns what the feed has to know of the items. The first page of a walk sets its limit.
func rowsOf[T any](f *feed, page *page[T]) ([]row, error) {
	if f.limit == 0 {
		date, err := http.ParseTime(page.header.Get("Date"))
		if err != nil {
			return nil, &sentinelError{sentinel: ErrInvalidResponse, text: "the response has no Date, by which the mark is set: a proxy may have removed it"}
		}
		f.limit = date.Add(-cmp.Or(f.options.overlap, defaultOverlap)).UnixMilli()
		if f.copying && f.recent == 0 {
			f.recent = f.limit
		}
	}
	rows := make([]row, len(page.items))
	for i, item := range page.items {
		rows[i] = f.row(item)
	}
	return rows, nil
}

// row returns what the feed has to know of an item.
func (f *feed) row(item any) row {
	var raw struct {
		ID        int64     `json:"id"`
		CreatedAt time.Time `json:"created_at"`
		UpdatedAt time.Time `json:"updated_at"`
	}
	if own, ok := item.(changing); ok {
		raw.ID, raw.CreatedAt, raw.UpdatedAt = own.change()
	} else if text, ok := item.(*json.RawMessage); ok {
		_ = json.Unmarshal(*text, &raw) // what is missing is an error of the order
	}
	if f.request.route.feed != feedChanges {
		raw.UpdatedAt = raw.CreatedAt
	}
	r := row{id: raw.ID, at: millis(raw.UpdatedAt), changed: millis(raw.UpdatedAt)}
	if f.copying {
		r.at = millis(raw.CreatedAt)
	}
	if r.changed >= secondOf(f.recent) {
		content, _ := json.Marshal(item)
		r.sum = crc32.ChecksumIEEE(content)
	}
	return r
}

// millis returns the time of a row; 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
