package forge

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// offsetLists remembers the lists for which a server refuses keyset pagination. It is shared by all
// clients that were derived from one.
type offsetLists struct{ known sync.Map }

// listOrigin names a list of a server, whatever its arguments.
type listOrigin struct{ scheme, host, template string }

func originOf(r *request) listOrigin {
	base := r.client.config.bases[r.route.base]
	return listOrigin{base.Scheme, base.Host, r.route.template}
}

func (l *offsetLists) has(r *request) bool {
	_, known := l.known.Load(originOf(r))
	return known
}

func (l *offsetLists) add(r *request)    { l.known.Store(originOf(r), true) }
func (l *offsetLists) remove(r *request) { l.known.Delete(originOf(r)) }

// firstQuery adds the pagination to the caller's filters: keyset where the route has it, unless the
// server has refused it before, else offset.
func (p *pager[T]) firstQuery() url.Values {
	query := p.first.query
	if query == nil {
		query = url.Values{}
	}
	if p.options.perPage > 0 || !query.Has("per_page") {
		query.Set("per_page", strconv.Itoa(orDefault(p.options.perPage, maxPerPage)))
	}
	query = p.request.pages.rename(query)
	byKeyset, possible := keysetQuery(p.request.route, query)
	switch {
	case !possible:
		return query
	case p.ordered():
		return byKeyset // a list by offset would be in another order
	case p.request.client.offsetLists.has(p.request):
		return query
	}
	p.byOffset = query
	return byKeyset
}

// ordered reports whether the options say a direction that the route documents for keyset pagination
// only.
func (p *pager[T]) ordered() bool {
	return p.first.query.Has("sort") && !listed(strings.ReplaceAll(p.request.route.parameters(), " ", ","), "sort")
}

// keysetQuery adds keyset pagination, with the ordering that the route's table demands, to a
// copy of the query. It is not possible with a page number, a pagination or an ordering outside
// the table that the caller has chosen.
func keysetQuery(r *route, query url.Values) (byKeyset url.Values, possible bool) {
	if r.paging != keyset || query.Has("page") || query.Has("pagination") {
		return nil, false
	}
	byKeyset = maps.Clone(query)
	byKeyset.Set("pagination", "keyset")
	if r.orders == "" {
		return byKeyset, true
	}
	order, sort := firstOf(query.Get("order_by"), r.orders), firstOf(query.Get("sort"), r.sorts)
	byKeyset.Set("order_by", order)
	byKeyset.Set("sort", sort)
	return byKeyset, listed(r.orders, order) && listed(r.sorts, sort)
}

func firstOf(own, list string) string {
	standard, _, _ := strings.Cut(list, ",")
	return orDefault(own, standard)
}

func listed(list, value string) bool {
	for item := range strings.SplitSeq(list, ",") {
		if item == value {
			return true
		}
	}
	return false
}

// firstPage requests the page that the list starts with. Where the server answers 405 to the
// keyset pagination that the library has chosen, it requests the first page by offset. The
// client remembers that if the page came, and forgets it when the server refuses a page by
// offset later.
func (p *pager[T]) firstPage(ctx context.Context, start string, seen *trail) (*page[T], error) {
	first, err := p.fetch(ctx, start, seen)
	byOffset := p.byOffset
	p.byOffset = nil
	var failed *Error
	if !errors.As(err, &failed) || failed.Status != http.StatusMethodNotAllowed {
		return first, err
	}
	known := p.request.client.offsetLists
	if byOffset == nil {
		if parseOwn(start).Get("pagination") != "keyset" {
			known.remove(p.request)
		}
		return nil, err
	}
	p.query = byOffset
	start = byOffset.Encode()
	p.firstLink = start
	p.advance(start)
	if first, err = p.fetch(ctx, start, seen); err == nil {
		known.add(p.request)
	}
	return first, err
}
