package forgetest

import "net/http"

// callOf returns the call of a request that a handler of Handle received.
func callOf(r *http.Request, function string) *call {
	c, ok := r.Context().Value(callKey{}).(*call)
	if !ok {
		panic("forgetest: " + function + ": the request is not one of a route that Handle added")
	}
	return c
}

// UserFrom returns the user of the request that a handler of [Server.Handle] received, after sudo.
// It returns nil without a credential, which only [AllowAnonymous] accepts.
func UserFrom(r *http.Request) *User { return callOf(r, "UserFrom").user }

// ProjectFrom returns the project that the path of the request names: "/projects/:id/...". It
// returns nil for other paths.
func ProjectFrom(r *http.Request) *Project { return callOf(r, "ProjectFrom").project }

// GroupFrom returns the group that the path of the request names: "/groups/:id/...". It returns nil
// for other paths.
func GroupFrom(r *http.Request) *Group { return callOf(r, "GroupFrom").group }

// SetApplied sets whether the request counts for [Server.AssertAppliedCount]. Without it a request
// other than GET and HEAD counts if its response is 2xx. A handler calls it before it writes more
// than 1 MiB.
func SetApplied(r *http.Request, applied bool) { callOf(r, "SetApplied").applied = &applied }

// WriteJSON responds with a value as JSON. The value is encoded as by encoding/json, except that
// *Document and []*Document are encoded like those of the server. It panics if the value cannot be
// encoded.
func WriteJSON(w http.ResponseWriter, r *http.Request, status int, value any) {
	callOf(r, "WriteJSON").write(w, response{status: status, doc: value})
}

// WriteError responds with {"message": "..."}, the form of most errors of the API: WriteError(w, r,
// 404, "404 Job Not Found").
func WriteError(w http.ResponseWriter, r *http.Request, status int, message string) {
	callOf(r, "WriteError").write(w, failure(status, "%s", message))
}

// WritePage responds with the page of a list that the request selects with page and per_page, as
// the lists of the server do: at most 100 items, by default 20, with the headers X-Page,
// X-Per-Page, X-Prev-Page, X-Next-Page and Link, and X-Total and X-Total-Pages up to 10,000 items.
// Keyset pagination is 405. It does not sort or filter. Items that are a [*Document] are written as
// the server writes its own.
func WritePage[T any](w http.ResponseWriter, r *http.Request, items []T) {
	writePage(callOf(r, "WritePage"), w, items, nil)
}

// WriteKeysetPage is [WritePage] for a list that has keyset pagination, too: with
// pagination=keyset, the Link header has a cursor instead of a page number. key returns the
// position of an item, which is different for each. A cursor whose item no longer exists is 400.
func WriteKeysetPage[T any](w http.ResponseWriter, r *http.Request, items []T, key func(T) string) {
	c := callOf(r, "WriteKeysetPage")
	keys := make([]string, len(items)) // key must not run under the lock
	for i, item := range items {
		keys[i] = key(item)
	}
	writePage(c, w, items, func(i int) string { return keys[i] })
}

func writePage[T any](c *call, w http.ResponseWriter, items []T, key func(i int) string) {
	cut := func(from, to int) any { return append([]T{}, items[from:to]...) } // never null
	c.server.mu.Lock()
	a := c.page(listing{n: len(items), key: key, cut: cut})
	c.server.mu.Unlock()
	c.write(w, a)
}

// write encodes a response and writes it to a handler's writer. The value may be the caller's type,
// whose methods must not run under the lock.
func (c *call) write(w http.ResponseWriter, a response) {
	c.server.mu.Lock()
	e := c.server.encoder(c.r)
	c.server.mu.Unlock()
	if a.status < http.StatusMultipleChoices {
		e.changes = &c.server.changes
	}
	a.set("Content-Type", "application/json")
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(e.encode(a.doc))
}
