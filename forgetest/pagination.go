package forgetest

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	defaultPerPage = 20
	maxPerPage     = 100
	maxTotal       = 10_000 // lists above this size have no totals (Document 1 §8)
)

// listing is a list of records that is returned in pages. key returns the position of a record for
// keyset pagination.
type listing struct {
	n int
	// position is the parameter of keyset pagination; empty for that of the endpoint.
	position string
	// uncounted lists have no totals.
	uncounted bool
	at        func(i int) *Document
	key       func(i int) string
	// after, if not nil, returns the index after a key without visiting all records. The record with
	// the key may no longer exist.
	after func(key string) (i int, valid bool)
	// cut, if not nil, returns a part of the list instead of at.
	cut func(from, to int) any
}

func listOf(docs []*Document) listing {
	return listing{n: len(docs), at: func(i int) *Document { return docs[i] }}
}

// page returns the requested page (Document 1 §8.1). per_page above 100 is 100. All headers are
// sent on the hosted offering, too, where some may be absent.
func (c *call) page(l listing) response {
	perPage, valid := c.number("per_page", defaultPerPage)
	if !valid {
		return rejected(http.StatusBadRequest, "per_page does not have a valid value")
	}
	perPage = min(perPage, maxPerPage)
	if c.text("pagination") == "keyset" {
		return c.keysetPage(l, perPage)
	}
	number, valid := c.number("page", 1)
	if !valid {
		return rejected(http.StatusBadRequest, "page does not have a valid value")
	}
	return c.offsetPage(l, number, perPage)
}

func (c *call) offsetPage(l listing, number, perPage int) response {
	from := l.n
	if number-1 <= l.n/perPage {
		from = min(l.n, (number-1)*perPage)
	}
	to := min(l.n, from+perPage)
	last := max(1, (l.n+perPage-1)/perPage)
	prev, next := "", ""
	if number > 1 {
		prev = strconv.Itoa(number - 1)
	}
	if to < l.n {
		next = strconv.Itoa(number + 1)
	}

	a := ok(l.slice(from, to))
	a.set("X-Page", strconv.Itoa(number))
	a.set("X-Per-Page", strconv.Itoa(perPage))
	a.set("X-Prev-Page", prev)
	a.set("X-Next-Page", next)
	links := []string{c.link("prev", "page", prev, perPage), c.link("next", "page", next, perPage), c.link("first", "page", "1", perPage)}
	if l.n <= maxTotal && !l.uncounted {
		a.set("X-Total", strconv.Itoa(l.n))
		a.set("X-Total-Pages", strconv.Itoa(last))
		links = append(links, c.link("last", "page", strconv.Itoa(last), perPage))
	}
	a.set("Link", strings.Join(slices.DeleteFunc(links, func(s string) bool { return s == "" }), ", "))
	return a
}

// keysetPage returns a page by position. A full page always has a link to the next page; the last
// page has none and may be empty.
func (c *call) keysetPage(l listing, perPage int) response {
	rule := c.route.endpoint.Pagination
	switch {
	case !rule.Keyset || l.key == nil:
		return rejected(http.StatusMethodNotAllowed, "Keyset pagination is not yet available for this type of request")
	case !rule.Only.available(c.server):
		return failure(http.StatusMethodNotAllowed, "405 Method Not Allowed")
	case rule.Order != nil && (!slices.Contains(rule.Order.OrderBy, c.text("order_by")) || c.has("sort") && !slices.Contains(rule.Order.Sort, c.text("sort"))):
		// Document 1 §8.1 requires sort too. Deployed servers have a default for it, on which
		// python-gitlab and client-go rely.
		return rejected(http.StatusBadRequest, "order_by and sort do not have a valid value for keyset pagination")
	}
	position := orElse(l.position, "cursor")
	if rule.Order == nil && c.route.handler == nil && !c.route.starter {
		position = "page_token"
	}
	from, found := 0, true
	if token := c.text(position); token != "" {
		from, found = l.behind(token)
	}
	if !found {
		return rejected(http.StatusBadRequest, position+" is invalid")
	}
	to := min(l.n, from+perPage)
	a := ok(l.slice(from, to))
	if to-from == perPage {
		token := base64.RawURLEncoding.EncodeToString([]byte(l.key(to - 1)))
		a.set("Link", c.link("next", position, token, perPage))
	}
	return a
}

// behind returns the index after the record that a page token names.
func (l listing) behind(token string) (int, bool) {
	key, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return 0, false
	}
	if l.after != nil {
		return l.after(string(key))
	}
	for i := range l.n {
		if l.key(i) == string(key) {
			return i + 1, true
		}
	}
	return 0, false
}

func (l listing) slice(from, to int) any {
	if l.cut != nil {
		return l.cut(from, to)
	}
	docs := make([]*Document, 0, to-from)
	for i := from; i < to; i++ {
		docs = append(docs, l.at(i))
	}
	return docs
}

// link returns one entry of the Link header: the URL of the request with all its parameters, path
// parameters included, and the given position. It returns "" for an empty position.
func (c *call) link(rel, position, value string, perPage int) string {
	if value == "" {
		return ""
	}
	query := url.Values{}
	for name, arg := range c.args {
		query.Set(name, arg)
	}
	for name, values := range c.r.URL.Query() {
		query[name] = values
	}
	query.Set(position, value)
	query.Set("per_page", strconv.Itoa(perPage))
	path := strings.TrimPrefix(c.r.URL.EscapedPath(), c.server.prefix)
	return fmt.Sprintf(`<%s%s?%s>; rel="%s"`, c.server.base(c.r), path, query.Encode(), rel)
}
