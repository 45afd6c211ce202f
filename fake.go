package forge

import (
	"cmp"
	"iter"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
)

// maxFakeTotal is the number of items above which servers omit totals (Document 1 §8).
const maxFakeTotal = 10_000

// FakeList returns items as a list method returns them, for a fake of the method in a test. It
// honours the request options of the method's caller: PerPage, OnePage and StartAt select the
// items, and Into gets the status 200, the totals and the cursor, as from a server with offset
// pagination. The total is the number of items; above 10,000 it is omitted, as by servers. For a
// list that fails, yield the items of FakeList and then the error.
//
// Options that do not apply to lists are a *ValidationError, as is a cursor of a list of another
// type T or with other Query options, and a nil item. With DryRun the list returns ErrDryRun, and
// the plan stays empty. With Since all items are yielded, and the mark stays as it is. Other
// options have no effect.
func FakeList[T any](items []*T, opts ...RequestOption) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		if err := runFakeList(items, opts, yield); err != nil {
			yield(nil, err)
		}
	}
}

// FakeResponse honours the request options of a call, for a fake of a method that is not a list:
// Into gets the response. A Status of 0 is 200, and Attempts of 0 are 1. A Status is not an error:
// return an *Error for a call that fails. The error is a *ValidationError for options that apply to
// lists only, and ErrDryRun with DryRun, whose plan stays empty.
func FakeResponse(response Response, opts ...RequestOption) error {
	options, err := fakeOptions(kindStream, opts) // a download takes what other calls take, and more
	if err != nil {
		return err
	}
	if options.into != nil {
		response.Status, response.Attempts = cmp.Or(response.Status, http.StatusOK), cmp.Or(response.Attempts, 1)
		*options.into = response
	}
	return nil
}

// fakeOptions applies the request options of a fake, without a request.
func fakeOptions(kind callKind, opts []RequestOption) (*callOptions, error) {
	o := &callOptions{kind: kind}
	for _, opt := range opts {
		if opt != nil {
			opt(o)
		}
	}
	switch {
	case o.err != nil:
		return nil, o.err
	case o.plan != nil:
		return nil, ErrDryRun
	}
	return o, nil
}

// runFakeList ranges over a fake list once. The pages and the cursors are those of pager.
func runFakeList[T any](items []*T, opts []RequestOption, yield func(*T, error) bool) error {
	options, err := fakeOptions(kindList, opts)
	if err != nil {
		return err
	}
	for i, item := range items {
		if item == nil {
			return &ValidationError{Option: "FakeList", Reason: "item " + strconv.Itoa(i) + " is nil"}
		}
	}
	query := url.Values{}
	for name, values := range options.query {
		query[name] = values
	}
	p := &pager[T]{options: options, listID: listID(&request{core: &core{}, route: &route{}, path: reflect.TypeFor[T]().String()}, query)}
	if options.perPage > 0 || !query.Has("per_page") {
		query.Set("per_page", strconv.Itoa(cmp.Or(options.perPage, maxPerPage)))
	}
	start := query.Encode()
	if options.startAt != "" {
		if start, err = options.startAt.query(p.listID); err != nil {
			return err
		}
	}
	if p.setCursor(start); start == "" {
		return nil
	}
	return p.yieldPages(fakePages(items, start, options.since), yield)
}

// fakePages returns the pages of a list by offset, from the page that the query names. A mark stays
// as it is.
func fakePages[T any](items []*T, query string, mark *Mark) iter.Seq2[*page[T], error] {
	return func(yield func(*page[T], error) bool) {
		for query != "" {
			page := fakePage(items, query)
			query = page.next
			if mark != nil {
				page.response.Mark = *mark
			}
			if !yield(page, nil) {
				return
			}
		}
	}
}

// fakePage returns a page with the headers that a server sends.
func fakePage[T any](items []*T, query string) *page[T] {
	number, size := pageNumber(query), maxPerPage
	if n, _ := strconv.Atoi(parseQuery(query).Get("per_page")); n > 0 {
		size = min(n, maxPerPage)
	}
	from := len(items)
	if number-1 <= len(items)/size { // otherwise the product could overflow
		from = min(from, (number-1)*size)
	}
	to := min(len(items), from+size)
	header := http.Header{"Content-Type": {"application/json"}, "X-Page": {strconv.Itoa(number)}, "X-Per-Page": {strconv.Itoa(size)}}
	if len(items) <= maxFakeTotal {
		header.Set("X-Total", strconv.Itoa(len(items)))
		header.Set("X-Total-Pages", strconv.Itoa(max(1, (len(items)+size-1)/size)))
	}
	page := &page[T]{items: items[from:to], position: query, header: header, response: Response{Status: http.StatusOK, Header: header, Attempts: 1}}
	if to < len(items) {
		header.Set("X-Next-Page", strconv.Itoa(number+1))
		page.next = withPage(query, number+1)
	}
	return page
}
