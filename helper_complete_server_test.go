package forge

import (
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// This file has the server of TestCompleteOrError: one list, with any form of pages, that can be
// disturbed at each page.

// pagingForm is a way in which servers split a list into pages.
type pagingForm struct {
	name   string
	totals bool // X-Total and X-Total-Pages are sent
	// page returns the number of the requested page, from 1.
	page func(query url.Values) int
	// lead returns the header lines that link to a page.
	lead func(query url.Values, page int) []string
}

// pagingForms are all forms. Links have an address that cannot be reached, like the links of a
// server behind a proxy.
var pagingForms = []*pagingForm{
	{name: "x-next-page", page: pageByNumber, lead: leadByHeader},
	{name: "x-next-page with totals", totals: true, page: pageByNumber, lead: leadByHeader},
	{name: "links with page=N", page: pageByNumber, lead: leadByNumber},
	{name: "links with page=N and totals", totals: true, page: pageByNumber, lead: leadByNumber},
	{name: "links with page=N and the server's own parameters", totals: true, page: pageByNumber, lead: leadByMore},
	{name: "keyset", page: pageByKey("cursor"), lead: leadByKey("cursor")},
	{name: "opaque links", page: pageByKey("t"), lead: leadByKey("t")},
}

func pageByNumber(query url.Values) int { return queryInt(query, "page", 1) }

func pageByKey(name string) func(url.Values) int {
	return func(query url.Values) int {
		text, _ := base64.RawURLEncoding.DecodeString(query.Get(name))
		if page, doThen, _ := strings.Cut(string(text), "!"); doThen == "opaque" {
			n, _ := strconv.Atoi(page)
			return n
		}
		return 1
	}
}

func leadByHeader(_ url.Values, page int) []string {
	return []string{"X-Next-Page: " + strconv.Itoa(page)}
}

func leadByLink(query url.Values) []string {
	return []string{"Link: <" + foreignHost + "?" + query.Encode() + `>; rel="next", <` + foreignHost + `?page=1>; rel="first"`}
}

func leadByNumber(query url.Values, page int) []string {
	query.Set("page", strconv.Itoa(page))
	return leadByLink(query)
}

func leadByMore(query url.Values, page int) []string {
	query.Set("page", strconv.Itoa(page))
	query.Set("with_labels_details", "false")
	query.Set("id", "1001")
	return leadByLink(query)
}

func leadByKey(name string) func(url.Values, int) []string {
	return func(query url.Values, page int) []string {
		if page == 1 {
			query.Del(name)
			return leadByLink(query)
		}
		query.Set(name, base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d!opaque", page)))
		return leadByLink(query)
	}
}

// pageResponse is a complete response before it is disturbed.
type pageResponse struct {
	page   int
	status int
	header []string
	body   string
}

func (r pageResponse) head() string {
	return fmt.Sprintf("HTTP/1.1 %d %s\r\n%s\r\n", r.status, http.StatusText(r.status), strings.Join(r.header, "\r\n"))
}

// text returns the response as it is sent, with its Content-Length.
func (r pageResponse) text() string {
	return r.head() + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(r.body)) + r.body
}

// torn returns the response without the second half of its body.
func (r pageResponse) torn() string {
	text := r.text()
	return text[:len(text)-len(r.body)/2]
}

func (r pageResponse) send() act {
	return func(conn net.Conn) bool {
		_, err := io.WriteString(conn, r.text())
		return err == nil
	}
}

func (r pageResponse) with(status int, body string) pageResponse {
	r.status, r.body = status, body
	return r
}

// pagedList is a list on a server.
type pagedList struct {
	form    *pagingForm
	pages   [][]string               // the items of each page, as JSON
	envelop func(string) string      // puts the array into an object; nil for none
	disturb func(r pageResponse) act // nil means undisturbed
	next    func(page, n int) int    // the page to which a page of n links; nil means the following one
}

// serveList starts a server of the list. change sets the list's disturbance while it runs.
func serveList(t *testing.T, list *pagedList) (w *wire, change func(func(r pageResponse) act)) {
	t.Helper()
	w = newWire(t, list.answer)
	return w, func(disturb func(r pageResponse) act) {
		w.mu.Lock()
		defer w.mu.Unlock()
		list.disturb, list.next = disturb, nil
	}
}

func (l *pagedList) answer(s seen) act {
	u, err := url.ParseRequestURI(s.uri)
	if err != nil {
		return say(400, "{}", jsonType)
	}
	if strings.HasPrefix(u.Path, "/auth/") { // the request for a registry token
		return sayJSON(`{"token":"registry-token"}`)
	}
	r := l.respond(u.Query())
	if l.disturb != nil {
		if do := l.disturb(r); do != nil {
			return do
		}
	}
	return r.send()
}

// respond returns the undisturbed response to a query.
func (l *pagedList) respond(query url.Values) pageResponse {
	page := l.form.page(query)
	r := pageResponse{page: page, status: 200, header: []string{jsonType, fmt.Sprintf("X-Request-Id: page-%d", page)}, body: "[]"}
	if l.form.totals {
		total := 0
		for _, items := range l.pages {
			total += len(items)
		}
		r.header = append(r.header, fmt.Sprintf("X-Total: %d", total), fmt.Sprintf("X-Total-Pages: %d", len(l.pages)))
	}
	next := page + 1
	if l.next != nil {
		next = l.next(page, len(l.pages))
	}
	if page >= 1 && page <= len(l.pages) {
		r.body = "[" + strings.Join(l.pages[page-1], ",") + "]"
		if next <= len(l.pages) {
			r.header = append(r.header, l.form.lead(query, next)...)
		}
	}
	if l.envelop != nil {
		r.body = l.envelop(r.body)
	}
	return r
}

// numberedPages returns the pages of a list whose items are numbered from 1, with sizes[i] items on
// page i.
func numberedPages(item func(n int) string, sizes ...int) (pages [][]string) {
	n := 0
	for _, size := range sizes {
		page := []string{}
		for range size {
			n++
			page = append(page, item(n))
		}
		pages = append(pages, page)
	}
	return pages
}

func idItem(n int) string { return fmt.Sprintf(`{"id":%d}`, n) }

// pageSizes returns the sizes of n pages of size items, of which the last one is shorter.
func pageSizes(n, size int) []int {
	return append(slices.Repeat([]int{size}, n-1), max(1, size-1))
}
