package forge

import (
	"context"
	"iter"
	"strconv"
	"time"

	"github.com/forge-sdk/forge-go/internal/linkheader"
	"github.com/forge-sdk/forge-go/internal/task"
)

const (
	maxAhead   = 64                     // pages
	leaveAfter = 100 * time.Millisecond // wait for goroutines whose context has ended
)

// prefetch yields first, and then the results of fetch(1), fetch(2) and so on, in this order. Each
// fetch runs in its own goroutine, before its result is needed. limit is called with each result i.
// It returns two numbers of fetches that may have been started in all: when the result is yielded,
// and when the caller then waits for the next one. The sequence ends after an error, and after a
// result whose second limit starts no further fetch.
//
// When the sequence ends or is left, prefetch cancels the context of the other fetches, and waits
// for them, but only briefly if they do not return. A panic of a fetch is raised in the caller's
// goroutine.
func prefetch[T any](
	ctx context.Context, first T, limit func(i int, result T) (yielded, waiting int), fetch func(ctx context.Context, i int) (T, error),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		w := window[T]{cancel: cancel, fetch: func(i int) (T, error) { return fetch(ctx, i) }}
		defer w.stop()
		result := first
		for i := 0; ; i++ {
			yielded, waiting := limit(i, result)
			w.fill(yielded)
			if !yield(result, nil) || waiting <= i {
				break
			}
			w.fill(waiting)
			var err error
			if result, err = w.next(ctx); err != nil {
				yield(result, err)
				break
			}
		}
		w.finish()
	}
}

// window has the fetches of prefetch that were started and whose results were not yielded.
type window[T any] struct {
	cancel  context.CancelFunc // ends the context of the fetches
	fetch   func(i int) (T, error)
	started int
	tasks   []*task.Task[T] // oldest first
	left    bool            // a fetch is still running, long after its context has ended
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
	if !oldest.Wait(ctx) && !waitBriefly(ctx, oldest) {
		w.left = true
		var none T
		return none, &sentinelError{sentinel: ctx.Err(), text: ctx.Err().Error() + ": " + task.ErrRunning.Error(), cause: task.ErrRunning}
	}
	return oldest.Result()
}

// stop ends the context of the fetches and waits for them. A fetch that does not return in time is
// inside the caller's code; it is left running.
func (w *window[T]) stop() {
	w.cancel()
	if w.left || len(w.tasks) == 0 {
		return
	}
	w.left = !waitBriefly(context.Background(), w.tasks...)
}

// finish calls stop, and raises a panic of a fetch whose result was not yielded. It is not called
// while the caller panics, whose panic would be lost.
func (w *window[T]) finish() {
	w.stop()
	for _, t := range w.tasks {
		_, _ = t.Result()
	}
	w.tasks = nil
}

// waitBriefly waits leaveAfter for all tasks together, and reports whether all have ended.
func waitBriefly[T any](ctx context.Context, tasks ...*task.Task[T]) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveAfter)
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
	if linked == nil {
		return
	}
	for page, err := range p.prefetchByLink(ctx, linked) {
		if !yield(page, p.request.withError(err)) {
			return
		}
	}
}

// prefetchByNumber requests several pages at a time, and ends at the first page that is not
// numbered. If the server does not count the pages, the number ahead grows from 1, so that a short
// list takes few requests. Pages beyond the last one are dropped, with their errors.
func (p *pager[T]) prefetchByNumber(ctx context.Context, first *page[T]) iter.Seq2[*page[T], error] {
	number := pageNumber(first.position)
	total, _ := strconv.Atoi(first.header.Get("X-Total-Pages"))
	limit := func(i int, page *page[T]) (yielded, waiting int) {
		if !page.isNumbered() {
			return 0, 0
		}
		size := p.options.ahead
		if total <= 0 {
			size = min(size, 1<<min(i, 10))
		}
		if left := total - number - i; left > 0 { // otherwise the list has grown since
			size = min(size, left)
		}
		return i + size, i + size
	}
	return prefetch(ctx, first, limit, func(ctx context.Context, i int) (*page[T], error) {
		return p.fetch(ctx, withPage(first.position, number+i), new(linkheader.LoopDetector))
	})
}

// prefetchByLink requests each page as soon as the link to it is known, while the page before it is
// decoded. first has a next link.
func (p *pager[T]) prefetchByLink(ctx context.Context, first *page[T]) iter.Seq2[*page[T], error] {
	limit := func(i int, page *page[T]) (yielded, waiting int) {
		if page.next == "" {
			return 0, 0
		}
		return i + p.options.ahead, i + p.options.ahead + 1
	}
	// links[i%len(links)] passes the link to page i from one fetch to the next. At most ahead+1
	// fetches run at a time, so each channel has one link at most.
	links := make([]chan string, p.options.ahead+2)
	for i := range links {
		links[i] = make(chan string, 1)
	}
	links[1] <- first.next
	seen := new(linkheader.LoopDetector)
	return prefetch(ctx, first, limit, func(ctx context.Context, i int) (*page[T], error) {
		var query string
		select {
		case query = <-links[i%len(links)]:
		case <-ctx.Done(): // also behind the last page
			return nil, ctx.Err()
		}
		page, c, err := p.fetchPage(ctx, query, seen)
		if err != nil {
			return nil, err
		}
		if page.next != "" {
			links[(i+1)%len(links)] <- page.next
		}
		return p.decode(ctx, page, c)
	})
}

// isNumbered reports whether the next link of the page differs from its own address in the number
// of the page only, which is one more.
func (p *page[T]) isNumbered() bool {
	return p.next == withPage(p.position, pageNumber(p.position)+1)
}

// pageNumber returns the number of the page that a query requests.
func pageNumber(query string) int {
	values := parseQuery(query)
	number, err := strconv.Atoi(values.Get("page"))
	if err != nil || number < 1 {
		return 1
	}
	return number
}
