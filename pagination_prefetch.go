package forge

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/forge-sdk/forge-go/internal/task"
)

const (
	maxAhead   = 64                     // pages
	leaveAfter = 100 * time.Millisecond // wait for goroutines whose context has ended
)

// window runs functions in goroutines and returns their results in the order of their start. It has
// no end: its user decides, from a result, that no further one is wanted.
type window[T any] struct {
	cancel context.CancelFunc
	tasks  []*task.Task[T] // started and not taken
	left   bool            // a function is still running, long after its context has ended
}

// newWindow returns a window, and the context for its functions, which stop ends.
func newWindow[T any](ctx context.Context) (context.Context, *window[T]) {
	ctx, cancel := context.WithCancel(ctx)
	return ctx, &window[T]{cancel: cancel}
}

// fill starts functions until n have not been taken. next returns each of them.
func (w *window[T]) fill(n int, next func() func() (T, error)) {
	for len(w.tasks) < n {
		w.tasks = append(w.tasks, task.Go(next()))
	}
}

// take removes the oldest function from the window.
func (w *window[T]) take() *task.Task[T] {
	oldest := w.tasks[0]
	w.tasks[0] = nil // the array must not hold its result
	w.tasks = w.tasks[1:]
	return oldest
}

// result waits for a function that was taken, and returns what it returned. A panic in it is raised
// here. The wait ends shortly after ctx, with the error of ctx, if the function does not return.
func (w *window[T]) result(ctx context.Context, t *task.Task[T]) (T, error) {
	if !t.Wait(ctx) && !waitBriefly(ctx, t) {
		w.left = true
		var none T
		return none, &failure{sentinel: ctx.Err(), text: ctx.Err().Error() + ": " + task.ErrRunning.Error(), cause: task.ErrRunning}
	}
	return t.Result()
}

// stop ends the context of the functions and waits for them. Those that do not return in time are
// inside the caller's code; they are left alone.
func (w *window[T]) stop() {
	w.cancel()
	if w.left || len(w.tasks) == 0 {
		return
	}
	w.left = !waitBriefly(context.Background(), w.tasks...)
}

// finish is stop for a caller that is not panicking: it raises a panic in a result that no one
// took.
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

// prefetch yields first and the pages after it, which are requested before the caller needs
// them. An error is the last pair. The list ends after a page without a next link, and nowhere
// else.
func (p *pager[T]) prefetch(ctx context.Context, first *page[T], yield func(*page[T], error) bool) {
	number := pageNumber(first.position)
	if first.next == withPage(first.position, number+1) {
		p.prefetchByNumber(ctx, first, number, yield)
		return
	}
	p.prefetchByLink(ctx, first, yield)
}

// prefetchByNumber requests several pages at a time: as many as the server says there are, or
// else in a window that grows, so that a short list costs few requests. Pages beyond the last
// one are dropped, with their errors.
func (p *pager[T]) prefetchByNumber(ctx context.Context, current *page[T], number int, yield func(*page[T], error) bool) {
	inner, pages := newWindow[*page[T]](ctx)
	defer pages.stop()
	first, requested := current.position, number
	next := func() func() (*page[T], error) {
		requested++
		query := withPage(first, requested)
		return func() (*page[T], error) { return p.fetch(inner, query, new(trail)) }
	}
	last, _ := strconv.Atoi(current.header.Get("X-Total-Pages"))
	size := 1
	if last > 0 {
		size = p.options.ahead
	}
	for ; current.next == withPage(first, number+1); number++ {
		if last <= number { // not counted, or the list has grown since
			last = math.MaxInt
		}
		pages.fill(min(size, last-number), next)
		if !yield(current, nil) {
			pages.finish()
			return
		}
		var err error
		if current, err = pages.result(inner, pages.take()); err != nil {
			yield(nil, p.request.named(err))
			pages.finish()
			return
		}
		size = min(2*size, p.options.ahead)
	}
	if current.next != "" { // the links no longer count pages
		pages.finish()
		p.prefetchByLink(ctx, current, yield)
		return
	}
	yield(current, nil)
	pages.finish()
}

// prefetchByLink requests each page as soon as the page before has named it, while that is decoded.
func (p *pager[T]) prefetchByLink(ctx context.Context, current *page[T], yield func(*page[T], error) bool) {
	ctx, pages := newWindow[*page[T]](ctx)
	defer pages.stop()
	next := p.follow(ctx, current.next)
	if current.next != "" {
		pages.fill(p.options.ahead, next)
	}
	for yield(current, nil) && current.next != "" {
		oldest := pages.take()
		pages.fill(p.options.ahead, next)
		var err error
		if current, err = pages.result(ctx, oldest); err != nil {
			yield(nil, p.request.named(err))
			break
		}
	}
	pages.finish()
}

// follow returns functions that fetch one page each. A function waits for the link that the one
// before it has found; behind the last page it waits for the end of ctx.
func (p *pager[T]) follow(ctx context.Context, link string) func() func() (*page[T], error) {
	seen, links := new(trail), make(chan string, 1)
	links <- link
	return func() func() (*page[T], error) {
		from, to := links, make(chan string, 1)
		links = to
		return func() (*page[T], error) {
			var query string
			select {
			case query = <-from:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			page, c, err := p.receive(ctx, query, seen)
			if err != nil {
				return nil, err
			}
			if page.next != "" {
				to <- page.next
			}
			return p.decode(ctx, page, c)
		}
	}
}

// pageNumber is the number of the page that a query asks for.
func pageNumber(query string) int {
	values := parseOwn(query)
	number, err := strconv.Atoi(values.Get("page"))
	if err != nil || number < 1 {
		return 1
	}
	return number
}
