package forge

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/forge-sdk/forge-go/internal/linkheader"
)

// offsetLists records the lists for which a server refuses keyset pagination. All clients derived
// from one share it.
type offsetLists struct{ known sync.Map }

// listOrigin identifies a route of a server, without its path arguments.
type listOrigin struct{ scheme, host, template string }

func originOf(r *request) listOrigin {
	base := r.core.config.bases[r.route.base]
	return listOrigin{base.Scheme, base.Host, r.route.Template}
}

func (l *offsetLists) has(r *request) bool {
	_, known := l.known.Load(originOf(r))
	return known
}

func (l *offsetLists) add(r *request)    { l.known.Store(originOf(r), true) }
func (l *offsetLists) remove(r *request) { l.known.Delete(originOf(r)) }

// firstQuery returns the caller's filters with the pagination: keyset where the route has it and
// the server has not refused it before, otherwise offset.
func (p *pager[T]) firstQuery() url.Values {
	query := p.first.query
	if query == nil {
		query = url.Values{}
	}
	if p.options.perPage > 0 || !query.Has("per_page") {
		query.Set("per_page", strconv.Itoa(cmp.Or(p.options.perPage, maxPerPage)))
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
	return p.first.query.Has("sort") && !listContains(strings.ReplaceAll(p.request.route.parameters(), " ", ","), "sort")
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
	first, err := p.fetch(ctx, start, seen)
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
	if first, err = p.fetch(ctx, start, seen); err == nil {
		known.add(p.request)
	}
	return first, err
}
