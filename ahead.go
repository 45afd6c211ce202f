package forge

import (
	"context"
	"iter"
	"strconv"
	"sync"
)

// fetched is a page that was read ahead, or why it was not.
type fetched[T any] struct {
	page *page[T]
	err  error
}

// pagesAhead reads up to n pages before they are asked for, and delivers them in order. However the caller leaves, no
// goroutine and no request stays behind.
func (p *pager[T]) pagesAhead(ctx context.Context, start string) iter.Seq2[*page[T], error] {
	return func(yield func(*page[T], error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()

		first, err := p.fetch(ctx, start, new(trail))
		if err != nil {
			yield(nil, err)
			return
		}
		if number := pageNumber(start); first.next != "" && first.next == withPage(start, number+1) {
			p.numbered(ctx, &running, first, number, yield)
			return
		}
		p.linked(ctx, &running, first, yield)
	}
}

// linked follows the links: each request goes out as soon as the page before it has told its address, while that is decoded.
func (p *pager[T]) linked(ctx context.Context, running *sync.WaitGroup, first *page[T], yield func(*page[T], error) bool) {
	pages := make(chan chan fetched[T], p.options.ahead-1)
	running.Go(func() {
		defer close(pages)
		var seen trail
		for query := first.next; query != ""; {
			result := make(chan fetched[T], 1)
			page, c, err := p.receive(ctx, query, &seen)
			if err != nil {
				result <- fetched[T]{nil, err}
			} else {
				running.Go(func() { result <- p.decoded(ctx, page, c) })
			}
			select {
			case pages <- result:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
			query = page.next
		}
	})
	if !yield(first, nil) {
		return
	}
	for result := range pages {
		f := <-result
		if !yield(f.page, f.err) || f.err != nil {
			return
		}
	}
}

// numbered asks for pages by number, several at a time: as many as the server says there are, or else in a window that
// grows, so that a short list costs few requests. The first page without a next link ends the list, and what was
// asked for beyond it is dropped, errors included.
func (p *pager[T]) numbered(ctx context.Context, running *sync.WaitGroup, first *page[T], number int, yield func(*page[T], error) bool) {
	last, _ := strconv.Atoi(first.header.Get("X-Total-Pages"))
	window, ahead := 1, p.options.ahead
	if last > 0 {
		window = ahead
	}
	var queue []chan fetched[T]
	due := number + 1 // the number of the page at the head of the queue
	fill := func() {
		for len(queue) < window && (last <= 0 || due+len(queue) <= last) {
			result, query := make(chan fetched[T], 1), withPage(first.position, due+len(queue))
			queue = append(queue, result)
			running.Go(func() {
				page, err := p.fetch(ctx, query, new(trail))
				result <- fetched[T]{page, err}
			})
		}
	}
	for page := first; ; {
		if page.next != "" && page.next != withPage(first.position, due) {
			// The links no longer count pages: follow them.
			p.linked(ctx, running, page, yield)
			return
		}
		if page.next != "" && last > 0 && due > last {
			last = 0 // the list has grown since it was counted
		}
		if page.next != "" {
			fill()
		}
		if !yield(page, nil) || page.next == "" {
			return
		}
		f := <-queue[0]
		if f.err != nil {
			yield(nil, f.err)
			return
		}
		queue, page = queue[1:], f.page
		due, window = due+1, min(2*window, ahead)
	}
}

// decoded is decode with both results in one.
func (p *pager[T]) decoded(ctx context.Context, page *page[T], c *call) fetched[T] {
	page, err := p.decode(ctx, page, c)
	return fetched[T]{page, err}
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
