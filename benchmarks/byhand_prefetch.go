package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
)

// issuesAhead reads the list by page numbers, with n requests in transit: the prefetch that code
// without a client library has. The items are in the order of the list.
func (c *byHand) issuesAhead(n int) work {
	return func(ctx context.Context, d *digest) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		first := c.page(ctx, 1)
		if err := first.pass(d); err != nil {
			return err
		}
		queue := make(chan chan fetched, n-1) // one more page is that for which the loop below waits
		go func() {
			defer close(queue)
			for number := 2; number <= first.last; number++ {
				page := make(chan fetched, 1)
				select {
				case queue <- page:
				case <-ctx.Done():
					return
				}
				go func() { page <- c.page(ctx, number) }()
			}
		}()
		for page := range queue {
			if err := (<-page).pass(d); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
}

// fetched is a page that a goroutine has read.
type fetched struct {
	items []*handIssue
	last  int // the number of the last page
	err   error
}

func (p fetched) pass(d *digest) error {
	for _, i := range p.items {
		d.item(i)
	}
	return p.err
}

func (c *byHand) page(ctx context.Context, number int) (p fetched) {
	address := fmt.Sprint(c.base, "/api/v4/issues?scope=all&per_page=", perPage, "&page=", number)
	p.err = c.send(ctx, http.MethodGet, address, http.NoBody, "", func(answer *http.Response) error {
		p.last, _ = strconv.Atoi(answer.Header.Get("X-Total-Pages"))
		return c.unmarshal(answer.Body, &p.items)
	})
	return p
}
