package forge

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"sync"
	"time"

	"github.com/forge-sdk/forge-go/internal/linkheader"
	"github.com/forge-sdk/forge-go/internal/task"
)

// Pages are requested ahead in one of two ways. Pages by number have a window: each page is
// requested and decoded in its own goroutine. Pages by link have one reader: it requests them one
// after the other, and the caller's goroutine decodes them. In both, the end of the context ends
// the requests, and the caller gets the pages that are complete, and then the error.

const (
	maxAhead   = 64                     // pages
	leaveAfter = 100 * time.Millisecond // wait for goroutines whose context has ended
)

// prefetch yields first, and then the results of fetch(1), fetch(2) and so on, in this order. Each
// fetch runs in its own goroutine, before its result is needed. limit is called with each result i,
// and returns the number of fetches that may have been started in all. The sequence ends after an
// error, and after a result whose limit starts no further fetch.
//
// When the sequence ends or is left, prefetch cancels the context of the other fetches, and waits
// for them, but only briefly if they do not return. A panic of a fetch is raised in the caller's
// goroutine.
func prefetch[T any](
	ctx context.Context, first T, limit func(i int, result T) int, fetch func(ctx context.Context, i int) (T, error),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		w := window[T]{cancel: cancel, fetch: func(i int) (T, error) { return fetch(ctx, i) }}
		defer w.cancelAndWait()
		result := first
		for i := 0; ; i++ {
			n := limit(i, result)
			w.fill(n)
			if !yield(result, nil) || n <= i {
				break
			}
			var err error
			if result, err = w.next(ctx); err != nil {
				yield(result, err)
				break
			}
		}
		w.waitAndRaise()
	}
}

// window has the fetches of prefetch that were started and whose results were not yielded.
type window[T any] struct {
	cancel  context.CancelFunc // ends the context of the fetches
	fetch   func(i int) (T, error)
	started int
	tasks   []*task.Task[T] // oldest first
	running bool            // a fetch is still running, long after its context has ended
}

// fill starts fetches until n have been started in all.
func (w *window[T]) fill(n int) {
	for w.started < n {
		w.started++
		i := w.started
		w.tasks = append(w.tasks, task.Go(func() (T, error) { return w.fetch(i) }))
	}
}

// next removes the oldest fetch, waits for it and returns its result. It raises a panic of the
// fetch. The wait ends shortly after ctx, with the error of ctx, if the fetch does not return.
func (w *window[T]) next(ctx context.Context) (T, error) {
	oldest := w.tasks[0]
	w.tasks[0] = nil // the array must not keep the result
	w.tasks = w.tasks[1:]
	if !oldest.Wait(ctx) && !waitBriefly(oldest) {
		w.running = true
		var none T
		return none, runningError(ctx)
	}
	return oldest.Result()
}

// cancelAndWait ends the context of the fetches and waits for them. A fetch that does not return in
// time is inside the caller's code; it is left running.
func (w *window[T]) cancelAndWait() {
	w.cancel()
	w.running = w.running || !waitBriefly(w.tasks...)
}

// waitAndRaise calls cancelAndWait, and raises a panic of a fetch whose result was not yielded. It
// is not called while the caller panics, whose panic would be lost.
func (w *window[T]) waitAndRaise() {
	w.cancelAndWait()
	for _, t := range w.tasks {
		_, _ = t.Result()
	}
}

// waitBriefly waits leaveAfter for all tasks together, and reports whether all have ended.
func waitBriefly[T any](tasks ...*task.Task[T]) bool {
	ctx, cancel := context.WithTimeout(context.Background(), leaveAfter)
	defer cancel()
	for _, t := range tasks {
		if !t.Wait(ctx) {
			return false
		}
	}
	return true
}

// prefetchPages yields first and the pages after it, which are requested before the caller needs
// them. The list ends after an error and after a page without a next link, and nowhere else.
func (p *pager[T]) prefetchPages(ctx context.Context, first *page[T], yield func(*page[T], error) bool) {
	linked := first
	if first.isNumbered() {
		linked = nil
		for page, err := range p.prefetchByNumber(ctx, first) {
			if err == nil && page.next != "" && !page.isNumbered() { // the links no longer count pages
				linked = page
				break
			}
			if !yield(page, p.request.withError(err)) {
				return
			}
		}
	}
	if linked != nil {
		p.prefetchByLink(ctx, linked, yield)
	}
}

// prefetchByNumber requests several pages at a time, and ends at the first page that is not
// numbered. If the server does not count the pages, the number ahead grows from 1, so that a short
// list takes few requests. Pages beyond the last one are dropped, with their errors.
func (p *pager[T]) prefetchByNumber(ctx context.Context, first *page[T]) iter.Seq2[*page[T], error] {
	number := pageNumber(first.position)
	total, _ := strconv.Atoi(first.header.Get("X-Total-Pages"))
	limit := func(i int, page *page[T]) int {
		if !page.isNumbered() {
			return 0
		}
		size := p.options.ahead
		if total <= 0 {
			size = min(size, 1<<min(i, 10))
		}
		if left := total - number - i; left > 0 { // otherwise the list has grown since
			size = min(size, left)
		}
		return i + size
	}
	return prefetch(ctx, first, limit, func(ctx context.Context, i int) (*page[T], error) {
		return p.fetchAndDecode(ctx, withPage(first.position, number+i), new(linkheader.LoopDetector))
	})
}

// linkedPage is a page that was requested by its link and is not decoded yet.
type linkedPage[T any] struct {
	page  *page[T]
	state *callState
	err   error
}

// prefetchByLink yields first, which has a next link, and the pages after it. One goroutine
// requests each page as soon as the link to it is known, while the caller decodes and handles the
// pages before it.
func (p *pager[T]) prefetchByLink(ctx context.Context, first *page[T], yield func(*page[T], error) bool) {
	ctx, cancel := context.WithCancel(ctx)
	pages := make(chan linkedPage[T], p.options.ahead-1) // one more page waits to be sent
	loopEnded := make(chan struct{})
	reader := task.Go(func() (struct{}, error) {
		p.followLinks(ctx, first.next, pages, loopEnded)
		return struct{}{}, nil
	})
	var ended, running bool // the reader has ended, or is still running long after ctx
	end := sync.OnceFunc(func() {
		close(loopEnded)
		cancel()
		ended = !running && waitBriefly(reader)
	})
	defer end()
	current := first
	for yield(current, nil) && current.next != "" {
		got := nextLinked(ctx, pages, reader)
		if got.err == nil {
			current, got.err = p.decode(got.page, got.state)
		}
		if got.err != nil {
			running = errors.Is(got.err, task.ErrRunning)
			yield(nil, p.request.withError(got.err))
			break
		}
	}
	if end(); ended { // not while the caller panics, whose panic would be lost
		_, _ = reader.Result() // raises a panic
	}
}

// followLinks requests the pages from the one that query names, and passes them on. The end of ctx
// ends it with the error of a request.
func (p *pager[T]) followLinks(ctx context.Context, query string, pages chan<- linkedPage[T], loopEnded <-chan struct{}) {
	defer close(pages)
	seen := new(linkheader.LoopDetector)
	for query != "" {
		page, state, err := p.fetchPage(ctx, query, seen)
		if query = ""; err == nil {
			query = page.next
		}
		select {
		case pages <- linkedPage[T]{page, state, err}:
		case <-loopEnded:
			return
		}
	}
}

// nextLinked returns the next page of the reader, or the error that ended it. If the reader is
// inside the caller's code long after ctx, the error says so.
func nextLinked[T any](ctx context.Context, pages <-chan linkedPage[T], reader *task.Task[struct{}]) linkedPage[T] {
	var got linkedPage[T]
	var open bool
	select {
	case got, open = <-pages:
	case <-ctx.Done():
		late := time.NewTimer(leaveAfter)
		defer late.Stop()
		select {
		case got, open = <-pages:
		case <-late.C:
			return linkedPage[T]{err: runningError(ctx)}
		}
	}
	if !open { // a panic, which Result raises
		reader.Wait(context.Background())
		_, got.err = reader.Result()
	}
	return got
}

// runningError returns the error of a wait for a goroutine that does not end although ctx has.
func runningError(ctx context.Context) error {
	return &sentinelError{sentinel: ctx.Err(), text: ctx.Err().Error() + ": " + task.ErrRunning.Error(), cause: task.ErrRunning}
}

// isNumbered reports whether the next link of the page differs from its own address in the number
// of the page only, which is one more.
func (p *page[T]) isNumbered() bool {
	return p.next == withPage(p.position, pageNumber(p.position)+1)
}
