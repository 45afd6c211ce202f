package forge

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

const maxPerPage = 100

// Collect reads a list to its end. What came before an error is returned with it.
func Collect[T any](items iter.Seq2[*T, error]) ([]*T, error) {
	if items == nil {
		return nil, &ValidationError{Option: "Collect", Reason: "the list is nil"}
	}
	var all []*T
	for item, err := range items {
		if err != nil {
			return all, err
		}
		all = append(all, item)
	}
	return all, nil
}

// pager reads the pages of one list.
type pager[T any] struct {
	request *request
	options *callOptions
	first   *call      // the encoded request, without pagination
	query   url.Values // of the first page
	// byOffset is the query of the first page by offset while a server may refuse the keyset
	// pagination that the library has chosen; nil: a refusal is an error.
	byOffset  url.Values
	key       string
	firstLink string                  // the query of the first page
	moved     atomic.Pointer[url.URL] // where redirects led; later pages go there at once
}

// page is one page, decoded completely.
type page[T any] struct {
	items    []*T
	position string // the query that gave it
	next     string // the query of the next page; "" at the end
	end      error  // why the list cannot go on after this page, though it should
	header   http.Header
	response Response
}

// runList ranges over a list once. What it returns is yielded as the last pair.
func runList[T any](ctx context.Context, r *request, opts []RequestOption, yield func(*T, error) bool) error {
	if err := r.ready(ctx); err != nil {
		return err
	}
	options, err := r.settings(kindList, opts)
	if err != nil {
		return err
	}
	first, err := r.call(options)
	if err != nil {
		return err
	}
	p := &pager[T]{request: r, options: options, first: first}
	if options.into != nil || options.startAt != "" {
		p.key = listKey(r, first.query)
	}
	p.query = p.firstQuery()
	start := p.query.Encode()
	p.firstLink = start
	if options.startAt != "" {
		if start, err = options.startAt.position(p.key); err != nil {
			return r.invalid(err)
		}
		start, p.byOffset = p.clean(start), nil
	}
	p.advance(start)
	if start == "" {
		return nil
	}
	return p.deliver(p.pages(ctx, start), yield)
}

// deliver hands the items of the pages over, and keeps the caller's cursor at the first page that is not consumed.
func (p *pager[T]) deliver(pages iter.Seq2[*page[T], error], yield func(*T, error) bool) error {
	for page, err := range pages {
		if err != nil {
			return err
		}
		if p.options.into != nil {
			*p.options.into = page.response
			p.advance(page.position)
		}
		for _, item := range page.items {
			if !yield(item, nil) {
				return nil
			}
		}
		if page.end != nil {
			return page.end
		}
		if p.advance(page.next); p.options.onePage {
			return nil
		}
	}
	return nil
}

func (p *pager[T]) advance(query string) {
	if p.options.into != nil {
		p.options.into.Cursor = newCursor(p.key, query)
	}
}

// pageForm is how a list differs from those of the API; the zero pageForm: not at all.
type pageForm struct {
	member string // the answer is an object, whose items are in this member
	size   string // the parameter for the number of items; empty: per_page
}

// wrapped reads a list whose answer is an object.
func (r *request) wrapped(member, size string) *request {
	r.pages = pageForm{member, size}
	return r
}

// rename gives the number of items under the list's own name.
func (f pageForm) rename(query url.Values) url.Values {
	if f.size != "" {
		query[f.size] = query["per_page"]
		delete(query, "per_page")
	}
	return query
}

// pages reads the pages one after the other, or some of them ahead.
func (p *pager[T]) pages(ctx context.Context, start string) iter.Seq2[*page[T], error] {
	return func(yield func(*page[T], error) bool) {
		var seen trail
		page, err := p.firstPage(ctx, start, &seen)
		if err == nil && p.options.ahead > 0 && !p.options.onePage {
			p.prefetch(ctx, page, yield)
			return
		}
		for yield(page, err) && err == nil && page.next != "" {
			page, err = p.fetch(ctx, page.next, &seen)
		}
	}
}

// fetch reads one page. seen is the trail of the links that were followed to it.
func (p *pager[T]) fetch(ctx context.Context, query string, seen *trail) (*page[T], error) {
	page, c, err := p.receive(ctx, query, seen)
	if err != nil {
		return nil, err
	}
	return p.decode(ctx, page, c)
}

// receive is the first half of fetch: what it gives knows the next page, and not its own items yet.
func (p *pager[T]) receive(ctx context.Context, query string, seen *trail) (*page[T], *call, error) {
	address := p.first.url
	if moved := p.moved.Load(); moved != nil {
		address.Path, address.RawPath = moved.Path, moved.RawPath
	}
	address.RawQuery = query
	c := newCall(new(call), p.request, p.options, address, nil)
	c.keysetOptional = p.byOffset != nil
	if err := c.send(ctx); err != nil {
		c.release()
		return nil, nil, err
	}
	if c.moved != nil {
		p.moved.Store(c.moved)
	}
	page := &page[T]{position: query, header: c.last.header}
	next, err := p.next(c.last.header, query)
	switch {
	case err != nil:
		page.end = c.unusable(err.Error(), nil)
	case next != "" && (p.goesBack(query, next) || seen.returns(next)):
		c.last.err = &failure{sentinel: ErrRepeatedPage, text: "the link to the next page leads back to a page already read"}
		page.end = c.error()
	default:
		page.next = next
	}
	return page, c, nil
}

// goesBack reports whether the link of a page leads to one that was certainly read before. A loop
// somewhere else is found by its trail, a few pages later.
func (p *pager[T]) goesBack(query, next string) bool {
	if next == query || next == p.firstLink {
		return true
	}
	values := parseOwn(next)
	return values.Has("page") && !isKeyset(values) && pageNumber(next) <= pageNumber(query)
}

// isKeyset reports whether a query names a place in a list by an item instead of a number. Servers
// keep a number of the page in such links that means nothing.
func isKeyset(query url.Values) bool {
	for _, name := range []string{"cursor", "id_after", "page_token", "last"} {
		if query.Has(name) {
			return true
		}
	}
	return query.Get("pagination") == "keyset"
}

// decode is the second half.
func (p *pager[T]) decode(ctx context.Context, page *page[T], c *call) (*page[T], error) {
	defer c.release()
	err := c.decodeWith(func(r *jsonread.Reader) (err error) {
		page.items, err = decodeMember[T](r, p.request.pages.member)
		return err
	})
	if i := slices.Index(page.items, nil); err == nil && i >= 0 {
		err = c.unusable(fmt.Sprintf("item %d of the page is null or of another type", i), nil)
	}
	if err != nil {
		c.end(ctx, err)
		return nil, err
	}
	// What is wrong with the link to the next page is told after the items of this one.
	if page.end != nil {
		c.end(ctx, page.end)
	}
	if p.options.into != nil {
		page.response = c.response()
	}
	return page, nil
}

// next gives the query of the next page. Of a link only the query is used: its host and path are the server's idea
// of its own address, which a proxy may hide and an attacker may choose.
func (p *pager[T]) next(h http.Header, query string) (string, error) {
	link, linked := nextLink(h)
	number := strings.TrimSpace(h.Get("X-Next-Page"))
	if !linked && number == "" {
		return "", nil
	}
	if address, err := url.Parse(link); err == nil {
		switch next := p.clean(address.RawQuery); {
		case len(next) > maxPosition:
			return "", errors.New("the link to the next page is longer than 64 KiB")
		case next != "":
			return next, nil
		}
	}
	next, err := strconv.Atoi(number)
	switch {
	case err == nil && next > 0:
		return withPage(query, next), nil
	case linked:
		return "", errors.New("the link to the next page has no usable query")
	case err != nil:
		return "", errors.New("the header X-Next-Page is not a number")
	}
	return "", nil // 0 or less
}

func withPage(query string, number int) string {
	values := parseOwn(query)
	values.Set("page", strconv.Itoa(number))
	return values.Encode()
}

// parseOwn parses a query that Encode has made, which cannot fail.
func parseOwn(query string) url.Values {
	values, _ := url.ParseQuery(query)
	return values
}

// clean takes out of a link's query what must not come from there: credentials, sudo, and the route's own placeholders,
// which servers repeat in links.
func (p *pager[T]) clean(query string) string {
	values, _ := url.ParseQuery(query) // malformed pairs are dropped, as a server would
	for name := range values {
		if isCredentialParam(name) || !p.query.Has(name) && strings.Contains(p.request.route.template+"/", ":"+name+"/") {
			delete(values, name)
		}
	}
	return values.Encode()
}

// trail finds a loop in a sequence of queries in constant memory (Brent's algorithm): a million pages are remembered
// as one.
type trail struct {
	mark        string
	steps, span int
}

func (t *trail) returns(query string) bool {
	if query == t.mark {
		return true
	}
	if t.steps++; t.steps > t.span {
		t.mark, t.steps, t.span = query, 0, 2*t.span+1
	}
	return false
}
