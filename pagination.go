package forge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/forge-sdk/forge-go/internal/jsonread"
	"github.com/forge-sdk/forge-go/internal/linkheader"
)

// Decisions about lists:
//
//   - Of a next link the client uses only the query, on its own base URL: servers behind proxies
//     advertise hosts that a client cannot reach. The query is used completely, without
//     credentials, sudo and the placeholders of the route. Rejected: using the position parameters
//     only, which differ from server to server.
//   - LoopDetector finds loops in constant memory, and a link to the page itself immediately. The
//     items of the last page are yielded before the error. Rejected: a set of all pages read.
//   - A "next" link that cannot be parsed, or that has no address or no query, is an error, and so
//     is an X-Next-Page that is not a number: the list would end early and lose rows. A link has at
//     most 64 KiB: a longer one would make a cursor that cannot be stored.
//   - A cursor has the complete query of its page, so that it does not depend on how later
//     versions build one, and a hash of route, path arguments and filters, so that another list
//     rejects it.
//   - After an early end of the loop a list waits 100 ms for its goroutines. It does not wait
//     longer for a goroutine that is blocked in a function of the caller.

const maxPerPage = 100

// Collect reads a list to its end and returns its items. If the list ends with an error, it returns
// the items before the error, and the error.
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
	byOffset     url.Values
	listID       string                  // for cursors; empty if no option needs it
	firstLink    string                  // the query of the first page
	redirectedTo atomic.Pointer[url.URL] // target of the last redirect, whose path later pages use
	buffers      bufferCache
}

// page is a page whose items are decoded.
type page[T any] struct {
	items     []*T
	itemError error  // the last item does not fit the caller's type
	position  string // the query that was sent for it
	next      string // the query of the next page; "" at the end
	linkError error  // why the next page cannot be requested, although there is one
	header    http.Header
	response  Response
}

// runPages ranges over the pages of a list once. list yields its error as the last pair.
func runPages[T any](ctx context.Context, first *call, yield func(*T, error) bool) (err error) {
	r, options := first.request, first.options
	p := &pager[T]{request: r, options: options, first: first}
	if options.into != nil || options.startAt != "" {
		p.listID = listID(r, first.query)
	}
	p.query = p.firstQuery()
	start := p.query.Encode()
	p.firstLink = start
	if options.startAt != "" {
		if start, err = options.startAt.query(p.listID); err != nil {
			return r.withRoute(err)
		}
		if p.byOffset = nil; start != "" {
			start = cmp.Or(p.ownFilters(p.trustedQuery(start)), p.firstLink)
		}
	}
	p.setCursor(start)
	if start == "" {
		return nil
	}
	return p.yieldPages(p.pages(ctx, start), yield)
}

// checkPosition rejects a position in the list that the caller chose as a parameter: the items
// before it would be missing. The first page has all of them after it, and OnePage says that the
// others are not wanted.
func (r *request) checkPosition(o *callOptions) error {
	for _, from := range []struct {
		option string
		query  url.Values
	}{{"Call.Query", r.query}, {"Query", o.query}} {
		for _, name := range []string{"page", "cursor", "page_token"} {
			later := slices.ContainsFunc(from.query[name], func(value string) bool {
				number, err := strconv.Atoi(value)
				return name != "page" || value != "1" && (!o.onePage || err != nil || number < 1)
			})
			if own := name != "page" && r.route.documented()[name]; later && !own && !o.skipValidation {
				return &ValidationError{Option: from.option, Param: name, Reason: "a list requests its pages itself: add OnePage to read one page by its number, or use PerPage and StartAt"}
			}
		}
	}
	return nil
}

// yieldPages yields the items of the pages, and keeps the caller's cursor at the first page that is
// not consumed.
func (p *pager[T]) yieldPages(pages iter.Seq2[*page[T], error], yield func(*T, error) bool) error {
	for page, err := range pages {
		if err != nil {
			p.setResponse(err)
			return err
		}
		if p.options.into != nil {
			*p.options.into = page.response
			p.setCursor(page.position)
		}
		for i, item := range page.items {
			if page.itemError != nil && i == len(page.items)-1 {
				yield(item, page.itemError)
				return nil
			}
			if !yield(item, nil) {
				return nil
			}
		}
		if page.linkError != nil {
			return page.linkError
		}
		if p.setCursor(page.next); p.options.onePage {
			return nil
		}
	}
	return nil
}

// setResponse stores the response to a page that failed. The cursor stays at that page.
func (p *pager[T]) setResponse(err error) {
	var failed *Error
	if into := p.options.into; into != nil && errors.As(err, &failed) && failed.header != nil {
		at := into.Cursor
		*into = newResponse(&http.Response{StatusCode: failed.Status, Header: failed.header}, failed.Attempts, nil)
		into.Cursor = at
	}
}

// setCursor stores the cursor of the page that query requests, or of the end if query is empty.
func (p *pager[T]) setCursor(query string) {
	if p.options.into != nil {
		p.options.into.Cursor = newCursor(p.listID, query)
	}
}

// pageShape describes lists that are wrapped in an object or use another page parameter (the
// registry's). It is zero for the lists of the API.
type pageShape struct {
	field string // the response is an object with the items in this field
	size  string // the parameter for the number of items; empty: per_page
}

// itemsIn requests a list whose response is an object, with the items in the field.
func (r *request) itemsIn(field, size string) *request {
	r.pages = pageShape{field, size}
	return r
}

// rename renames per_page to the list's own parameter.
func (s pageShape) rename(query url.Values) url.Values {
	if s.size != "" {
		query[s.size] = query["per_page"]
		delete(query, "per_page")
	}
	return query
}

// pages reads the pages one after the other, or requests some of them ahead.
func (p *pager[T]) pages(ctx context.Context, start string) iter.Seq2[*page[T], error] {
	return func(yield func(*page[T], error) bool) {
		defer p.buffers.close()
		var seen linkheader.LoopDetector
		page, err := p.firstPage(ctx, start, &seen)
		if err == nil && page.next != "" && p.options.ahead > 0 && !p.options.onePage {
			p.prefetchPages(ctx, page, yield)
			return
		}
		for yield(page, err) && err == nil && page.next != "" {
			page, err = p.fetchAndDecode(ctx, page.next, &seen)
		}
	}
}

// fetchAndDecode requests one page and decodes it. seen has the links that were followed to it.
func (p *pager[T]) fetchAndDecode(ctx context.Context, query string, seen *linkheader.LoopDetector) (*page[T], error) {
	page, s, err := p.fetchPage(ctx, query, seen)
	if err != nil {
		return nil, err
	}
	return p.decode(page, s)
}

// fetchPage is the first half of fetchAndDecode. The page that it returns has its link to the next
// page, and no items yet; decode reads them from the call.
func (p *pager[T]) fetchPage(ctx context.Context, query string, seen *linkheader.LoopDetector) (*page[T], *callState, error) {
	address := p.first.url
	if moved := p.redirectedTo.Load(); moved != nil {
		address.Path, address.RawPath = moved.Path, moved.RawPath
	}
	address.RawQuery = query
	c := &call{request: p.request, options: p.options, url: address, query: p.first.query, body: p.first.body, buffers: &p.buffers, keysetOptional: p.byOffset != nil}
	s, err := c.send(ctx)
	if err != nil {
		return nil, nil, err
	}
	if s.movedTo != nil {
		p.redirectedTo.Store(s.movedTo)
	}
	page := &page[T]{position: query, header: s.header}
	next, err := p.next(s.header, query)
	switch {
	case err != nil:
		page.linkError = s.badResponse(err.Error(), nil)
	case next != "" && (p.goesBack(query, next) || seen.Seen(next)):
		page.linkError = s.failAfterSuccess(&sentinelError{sentinel: ErrRepeatedPage, text: "the link to the next page leads back to a page that was already read"})
	default:
		page.next = next
	}
	return page, s, nil
}

// goesBack reports whether the link of a page leads to a page that was certainly read before. The
// LoopDetector finds other loops a few pages later.
func (p *pager[T]) goesBack(query, next string) bool {
	if next == query || next == p.firstLink {
		return true
	}
	values := parseQuery(next)
	return values.Has("page") && !isKeyset(values) && pageNumber(next) <= pageNumber(query)
}

// isKeyset reports whether a query names its page by an item instead of a number. Servers may keep
// a page number in such links; it has no meaning.
func isKeyset(query url.Values) bool {
	for _, name := range []string{"cursor", "id_after", "page_token"} {
		if query.Has(name) {
			return true
		}
	}
	return query.Get("pagination") == "keyset"
}

// decode is the second half of fetchAndDecode. It reads the items of the page, and
// reports a failure as the end of the call.
func (p *pager[T]) decode(page *page[T], s *callState) (*page[T], error) {
	mismatches, err := s.decodeWith(func(r *jsonread.Reader) (err error) {
		page.items, err = decodeMember[T](r, p.request.pages.field)
		return err
	})
	var misfit *misfitError
	ends := errors.As(err, &misfit)
	if i := slices.Index(page.items, nil); i >= 0 && (err == nil || ends) {
		err, ends = s.badResponse(fmt.Sprintf("item %d of the page is null or of another type", i), nil), false
	}
	switch {
	case ends:
		page.itemError, page.next = err, ""
		s.finish(err)
	case err != nil:
		s.finish(err)
		return nil, err
	case page.linkError != nil: // returned after the items of this page
		s.finish(page.linkError)
	}
	if p.options.into != nil {
		page.response = newResponse(s.resp, s.attempts, mismatches)
	}
	return page, nil
}

// next returns the query of the next page, or "" at the end of the list. Only the query of a link
// is used: its host and path are those that the server is configured with, which a proxy may hide
// and an attacker may choose.
func (p *pager[T]) next(h http.Header, query string) (string, error) {
	link, linked := linkheader.Next(h)
	number := strings.Trim(strings.Join(slices.Compact(slices.Clone(h["X-Next-Page"])), ", "), ", ")
	if !linked && number == "" {
		return "", nil
	}
	if address, err := url.Parse(link); err == nil {
		switch next := p.trustedQuery(address.RawQuery); {
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

// pageNumber returns the number of the page that a query requests.
func pageNumber(query string) int {
	number, _ := strconv.Atoi(parseQuery(query).Get("page"))
	return max(number, 1)
}

// withPage returns the query with another page number.
func withPage(query string, number int) string {
	values := parseQuery(query)
	values.Set("page", strconv.Itoa(number))
	return values.Encode()
}

// ownFilters returns the query of a cursor with the list's own filters: a cursor comes from a
// store, and who can write there must not choose other items. It keeps the position of the page and
// what the contract does not list, such as the position parameters of another server.
func (p *pager[T]) ownFilters(query string) string {
	values, own, filters := parseQuery(query), p.first.query, map[string]bool{}
	maps.Copy(filters, p.request.route.documented())
	for name := range own {
		filters[baseParam(name)] = true
	}
	for _, name := range []string{"page", "per_page", p.request.pages.size, "pagination", "page_token", "cursor", "id_after", "last"} {
		delete(filters, name)
	}
	for _, name := range []string{"order_by", "sort"} { // chosen by the library or the server
		if !own.Has(name) {
			delete(filters, name)
		}
	}
	maps.DeleteFunc(values, func(name string, _ []string) bool { return filters[baseParam(name)] })
	for name, texts := range own {
		if filters[baseParam(name)] {
			values[name] = texts
		}
	}
	return values.Encode()
}

// parseQuery parses a query that url.Values.Encode has returned, which cannot fail.
func parseQuery(query string) url.Values {
	values, _ := url.ParseQuery(query)
	return values
}

// trustedQuery returns the query of a link without the parameters that a link must not set:
// credentials, sudo, the placeholders of the route, which servers add to links, and what each
// request has in its form.
func (p *pager[T]) trustedQuery(query string) string {
	values, _ := url.ParseQuery(query) // malformed pairs are dropped, as a server would
	form := map[string]bool{}
	for name := range p.request.formOfCall() {
		form[baseParam(name)] = true
	}
	for name := range values {
		if isCredentialParam(name) || form[baseParam(name)] || !p.query.Has(name) && strings.Contains(p.request.route.Template+"/", ":"+name+"/") {
			delete(values, name)
		}
	}
	return values.Encode()
}

// formOfCall returns the form of a Call; nil if it has none.
func (r *request) formOfCall() url.Values {
	form, _ := r.body.(url.Values)
	return form
}

// listID identifies a list by its route, path arguments and filters, which have the same words in
// every vocabulary. The pagination is not part of it.
func listID(r *request, filters url.Values) string {
	own := url.Values{}
	for name, values := range filters {
		for _, value := range values {
			switch name {
			case "per_page", "page", "pagination":
			case entityWord:
				own.Add(name, r.core.config.vocabulary.gitlab(entityWord, value))
			default:
				own.Add(name, value)
			}
		}
	}
	maps.Copy(own, r.formOfCall())
	sum := sha256.Sum256([]byte(r.route.Method + " " + r.route.Template + "\n" + r.path + "\n" + own.Encode()))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// offsetLists records the lists for which a server refuses keyset pagination, by server and route.
// All clients derived from one share it.
type offsetLists struct{ known sync.Map }

func offsetKey(r *request) string {
	base := r.core.config.bases[r.route.base]
	return base.Scheme + "://" + base.Host + r.route.Template
}

func (l *offsetLists) has(r *request) bool {
	_, known := l.known.Load(offsetKey(r))
	return known
}

func (l *offsetLists) add(r *request)    { l.known.Store(offsetKey(r), true) }
func (l *offsetLists) remove(r *request) { l.known.Delete(offsetKey(r)) }

// firstQuery returns the caller's filters with the pagination: keyset where the route has it and
// the server has not refused it before, otherwise offset.
func (p *pager[T]) firstQuery() url.Values {
	query := p.first.query
	if query == nil {
		query = url.Values{}
	}
	if p.options.perPage > 0 || !query.Has("per_page") {
		query.Set("per_page", strconv.Itoa(cmp.Or(p.options.perPage, p.request.core.config.perPage, maxPerPage)))
	}
	query = p.request.pages.rename(query)
	byKeyset, possible := keysetQuery(p.request.route, query)
	switch {
	case !possible:
		return query
	case p.ordered():
		return byKeyset // a list by offset would be in another order
	case p.request.core.offsetLists.has(p.request):
		return query
	}
	p.byOffset = query
	return byKeyset
}

// ordered reports whether the options have a sort direction that the route documents for keyset
// pagination only.
func (p *pager[T]) ordered() bool {
	return p.request.route.Docs != "" && p.first.query.Has("sort") && !listContains(strings.ReplaceAll(p.request.route.parameters(), " ", ","), "sort")
}

// keysetQuery returns a copy of the query with keyset pagination and the ordering that the route
// requires. possible is false if the caller has set a page number, a pagination, or an ordering
// that the route does not list.
func keysetQuery(r *route, query url.Values) (byKeyset url.Values, possible bool) {
	if r.Pagination != PaginationKeyset || query.Has("page") || query.Has("pagination") {
		return nil, false
	}
	byKeyset = maps.Clone(query)
	byKeyset.Set("pagination", "keyset")
	if r.orders == "" {
		return byKeyset, true
	}
	order, sort := firstAllowed(query.Get("order_by"), r.orders), firstAllowed(query.Get("sort"), r.sorts)
	byKeyset.Set("order_by", order)
	byKeyset.Set("sort", sort)
	return byKeyset, listContains(r.orders, order) && listContains(r.sorts, sort)
}

// firstAllowed returns own, or the first value of the list if own is empty.
func firstAllowed(own, list string) string {
	standard, _, _ := strings.Cut(list, ",")
	return cmp.Or(own, standard)
}

func listContains(list, value string) bool {
	for item := range strings.SplitSeq(list, ",") {
		if item == value {
			return true
		}
	}
	return false
}

// firstPage requests the page that the list starts with. If the server responds with 405 to the
// keyset pagination that the library has chosen, it requests the first page by offset. If that
// request succeeds, the client remembers the refusal. It forgets the refusal when the server later
// refuses a page by offset.
func (p *pager[T]) firstPage(ctx context.Context, start string, seen *linkheader.LoopDetector) (*page[T], error) {
	first, err := p.fetchAndDecode(ctx, start, seen)
	byOffset := p.byOffset
	p.byOffset = nil
	var failed *Error
	if !errors.As(err, &failed) || failed.Status != http.StatusMethodNotAllowed {
		return first, err
	}
	known := p.request.core.offsetLists
	if byOffset == nil {
		if parseQuery(start).Get("pagination") != "keyset" {
			known.remove(p.request)
		}
		return nil, err
	}
	p.query = byOffset
	start = byOffset.Encode()
	p.firstLink = start
	p.setCursor(start)
	if first, err = p.fetchAndDecode(ctx, start, seen); err == nil {
		known.add(p.request)
	}
	return first, err
}
