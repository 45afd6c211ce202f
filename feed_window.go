package forge

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"slices"
	"time"
)

const (
	longestWindow = int64(30 * 24 * time.Hour / time.Millisecond) // that GitLab documents for events of the instance
	maxBuffered   = 5000                                          // items of a window, unless it is a second
	firstEvent    = 1314835200_000                                // 2011-09-01, a month before GitLab's first release
)

// windows decides which range of time is requested next. Times are whole seconds, in milliseconds;
// both ends belong to a window.
type windows struct {
	from    int64 // all rows before it are read; 0: none
	longest int64 // 0: no limit
	length  int64 // of the next window; 0: no limit
}

// next returns the window; 0 is an open end.
func (w *windows) next() (after, before int64) {
	if w.length == 0 {
		return w.from, 0
	}
	return w.from, cmp.Or(w.from, firstEvent) + w.length
}

// shorten makes the next window an eighth as long, if it is longer than a second. Halves would take
// more requests: each try reads as much as may be buffered.
func (w *windows) shorten(now int64) bool {
	length := w.length
	if length == 0 {
		length = now - cmp.Or(w.from, firstEvent)
	}
	if length <= 1000 {
		return false
	}
	w.length = max(secondOf(length/8), 1000)
	return true
}

// done is given the number of rows of the window that was read. It returns true after the last one.
func (w *windows) done(rows int, now int64) bool {
	_, before := w.next()
	if before == 0 || before >= now {
		return true
	}
	if w.from = before; rows < maxBuffered/4 {
		w.length *= 2
	}
	if w.longest > 0 {
		w.length = min(w.length, w.longest)
	}
	return false
}

// windowPages reads a list that comes newest first only, in windows of time, the oldest first. A
// window is read completely and yielded as one page, oldest row first.
func windowPages[T any](ctx context.Context, f *feed, p *pager[T]) iter.Seq2[*feedPage[T], error] {
	w := &windows{from: secondOf(f.progress.at)}
	if f.request.route.feed == feedRecordsOfMonth {
		w.longest, w.length = longestWindow, longestWindow
	}
	return func(yield func(*feedPage[T], error) bool) {
		for last := false; !last; {
			page, err := readWindow(ctx, f, p, w)
			if err != nil {
				yield(nil, err)
				return
			}
			if page == nil { // it has too many rows, and is shortened
				continue
			}
			_, page.through = w.next()
			last = w.done(len(page.rows), f.now())
			if !yield(page, nil) {
				return
			}
		}
	}
}

// now returns the Date of the first response.
func (f *feed) now() int64 {
	return f.limit + cmp.Or(f.options.overlap, defaultOverlap).Milliseconds()
}

// readWindow returns the rows of the next window; nil if they are too many, and w is
// shortened.
func readWindow[T any](ctx context.Context, f *feed, all *pager[T], w *windows) (*feedPage[T], error) {
	after, before := w.next()
	first, options := *all.first, *f.options
	first.query, first.options = f.between(after, before), &options
	if options.into != nil {
		options.into = new(Response)
	}
	p := &pager[T]{request: f.request, options: &options, first: &first}
	p.query = p.firstQuery()
	start := p.query.Encode()
	p.firstLink = start
	window := &feedPage[T]{page: new(page[T])}
	for next, err := range p.pages(ctx, start) {
		if err == nil {
			err = next.linkError
		}
		if err != nil {
			return nil, err
		}
		rows, err := rowsOf(f, next)
		if err != nil {
			return nil, err
		}
		window.items, window.rows = append(window.items, next.items...), append(window.rows, rows...)
		window.response, window.limit = next.response, f.limit
		if len(window.rows) > maxBuffered && w.shorten(f.now()) {
			return nil, nil
		}
	}
	return window, window.sort(after, before)
}

// between returns the caller's filters with the bounds of a window.
func (f *feed) between(after, before int64) url.Values {
	query := url.Values{}
	maps.Copy(query, f.filters)
	for name, at := range map[string]int64{"created_after": after, "created_before": before} {
		if at != 0 {
			query.Set(name, time.UnixMilli(at).UTC().Format(time.RFC3339))
		}
	}
	return query
}

// sort sorts the rows of a window by time. A row of another time is an error: the server ignores
// the bounds.
func (p *feedPage[T]) sort(after, before int64) error {
	places := make([]int, len(p.rows))
	for i, r := range p.rows {
		if places[i] = i; r.id == 0 || r.at == 0 || r.at < after || before != 0 && secondOf(r.at) > before {
			return &sentinelError{sentinel: ErrUnordered, text: fmt.Sprintf("item %d has the time %s, and those from %s to %s were requested", r.id, timeText(r.at), timeText(after), timeText(before))}
		}
	}
	slices.SortFunc(places, func(a, b int) int {
		return cmp.Or(cmp.Compare(p.rows[a].at, p.rows[b].at), cmp.Compare(p.rows[a].id, p.rows[b].id))
	})
	rows, items := make([]row, len(places)), make([]*T, len(places))
	for i, place := range places {
		rows[i], items[i] = p.rows[place], p.items[place]
	}
	p.rows, p.items = rows, items
	return nil
}
