package forge

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/contracttest/callresult"
)

// serverInterruptions returns the interruptions that a server causes in one response, and that are
// errors.
func serverInterruptions(without ...string) []*listInterruption {
	return slices.DeleteFunc(slices.Clone(listInterruptions), func(c *listInterruption) bool {
		return c.disturb == nil || c.late || slices.Contains(without, c.name)
	})
}

// completeCollect checks that Collect returns the error together with the items before it.
func completeCollect(t *testing.T) {
	noLeaks(t)
	for _, cause := range serverInterruptions() {
		for _, ahead := range []int{0, 4} {
			k := &trial{form: pagingForms[2], cause: cause, at: 3, pages: numberedPages(idItem, pageSizes(5, 3)...), ahead: ahead}
			w, _ := serveList(t, &pagedList{form: k.form, pages: k.pages, disturb: k.disturb})
			ctx := k.context(t)
			issues, err := Collect(wireClient(t, w.url).Issues.List(ctx, nil, PerPage(3), Ahead(ahead)))
			k.cancel()
			w.close()
			what := fmt.Sprintf("%s, Ahead(%d)", cause.name, ahead)
			if !assert.Error(t, err, what) {
				continue
			}
			assert.True(t, cause.is(err), "%s: %v", what, err)
			got := make([]int64, len(issues))
			for i, issue := range issues {
				got[i] = issue.ID
			}
			if k.exact() || ahead == 0 {
				assert.Equal(t, upTo(6), got, what)
			} else {
				assert.Equal(t, upTo(len(got)), append([]int64(nil), got...), what)
			}
		}
	}
}

// context returns the context of a call of the trial, which the cause may end.
func (k *trial) context(t *testing.T) (ctx context.Context) {
	t.Helper()
	if ctx, k.cancel = context.WithCancel(t.Context()); k.cause.expires {
		ctx, k.cancel = expiring(t.Context())
	}
	t.Cleanup(k.cancel)
	return ctx
}

// scriptedServer responds to each request by its path and query, and disturbs one of them.
func scriptedServer(t *testing.T, k *trial, disturbed string, responses map[string]pageResponse) *wire {
	t.Helper()
	return newWire(t, func(s seen) act {
		u, _ := url.ParseRequestURI(s.uri)
		name := strings.TrimPrefix(u.Path, "/api/v4")
		if page := u.Query().Get("page"); page != "" && page != "1" {
			name += " " + page
		}
		r, known := responses[name]
		if !known {
			return say(404, `{"message":"404 Not Found"}`, jsonType)
		}
		if r.header = append(r.header, jsonType); name == disturbed && k.cause.disturb != nil {
			return k.cause.disturb(k, r)
		}
		return r.send()
	})
}

func okResponse(body string, header ...string) pageResponse {
	return pageResponse{page: 1, status: 200, header: header, body: body}
}

// completeWaits checks that a wait that is interrupted at any request is an error.
func completeWaits(t *testing.T) {
	noLeaks(t)
	const more = "X-Next-Page: 2"
	gone := map[string]pageResponse{
		"/projects/1/registry/repositories":   okResponse(`[{"id":5},{"id":6}]`, more),
		"/projects/1/registry/repositories 2": okResponse(`[{"id":8},{"id":9}]`),
	}
	scheduled := map[string]pageResponse{"/registry/repositories/7": okResponse(`{"id":7,"status":"delete_scheduled"}`)}
	merged := map[string]pageResponse{
		"/projects/1/merge_requests":   okResponse(`[]`, more),
		"/projects/1/merge_requests 2": okResponse(`[{"iid":7,"detailed_merge_status":"mergeable"}]`),
	}
	checking := map[string]pageResponse{"/projects/1/merge_requests": okResponse(`[{"iid":7,"detailed_merge_status":"checking"}]`)}
	deleted := func(ctx context.Context, c *Client) error { return c.Registry.WaitDeleted(ctx, ID(1), 7) }
	status := func(ctx context.Context, c *Client) error {
		mr, err := c.MergeRequests.WaitMergeStatus(ctx, ID(1), 7)
		if err == nil && (mr == nil || mr.DetailedMergeStatus != "mergeable") {
			return fmt.Errorf("not what was waited for, and no error: %v", mr)
		}
		return err
	}
	pause := &listInterruption{name: "deadline in the pause", expires: true, is: isAnyOf(context.DeadlineExceeded), disturb: func(k *trial, r pageResponse) act {
		return func(conn net.Conn) bool {
			defer k.cancel()
			return r.send()(conn)
		}
	}}
	for _, test := range []struct {
		name      string
		responses map[string]pageResponse
		wait      func(context.Context, *Client) error
		at        []string
		causes    []*listInterruption
	}{
		{"WaitDeleted", gone, deleted, []string{"/projects/1/registry/repositories", "/projects/1/registry/repositories 2"}, serverInterruptions()},
		{"WaitDeleted, a look", scheduled, deleted, []string{"/registry/repositories/7"}, serverInterruptions("404", "206 with items", "206 without items", "202 without items")},
		{"WaitDeleted, a pause", scheduled, deleted, []string{"/registry/repositories/7"}, []*listInterruption{pause}},
		{"WaitMergeStatus", merged, status, []string{"/projects/1/merge_requests", "/projects/1/merge_requests 2"}, serverInterruptions()},
		{"WaitMergeStatus, a pause", checking, status, []string{"/projects/1/merge_requests"}, []*listInterruption{pause}},
	} {
		calm := &trial{cause: listInterruptions[0]}
		if !strings.Contains(test.name, ", a ") {
			w := scriptedServer(t, calm, "", test.responses)
			require.NoError(t, test.wait(t.Context(), wireClient(t, w.url)), "%s, undisturbed", test.name)
		}
		for _, cause := range test.causes {
			for _, at := range test.at {
				k := &trial{cause: cause}
				w := scriptedServer(t, k, at, test.responses)
				ctx := k.context(t)
				client := wireClient(t, w.url)
				out := callresult.Of(callresult.Patience, func() error { return test.wait(ctx, client) })
				what := fmt.Sprintf("%s, %s at %s", test.name, cause.name, at)
				if assert.Equal(t, callresult.Returned, out.Kind, "%s: it %s", what, out) && assert.Error(t, out.Err, "%s: it ends without an error", what) {
					assert.True(t, cause.is(out.Err), "%s: %v", what, out.Err)
				}
				w.close()
			}
		}
	}
}

// completePreview checks that a preview that is interrupted at any request is an error, never a
// shorter preview.
func completePreview(t *testing.T) {
	noLeaks(t)
	const tags = "/projects/1/registry/repositories/7/tags"
	responses := map[string]pageResponse{tags: okResponse(`[{"name":"v1"},{"name":"v2"},{"name":"v3"}]`, "X-Next-Page: 2"), tags + " 2": okResponse(`[{"name":"v4"},{"name":"v5"}]`)}
	places := []string{tags, tags + " 2"}
	for i := range 5 {
		place := fmt.Sprintf("%s/v%d", tags, i+1)
		responses[place] = okResponse(fmt.Sprintf(`{"name":"v%d","created_at":"2026-01-02T03:04:0%dZ"}`, i+1, i))
		places = append(places, place)
	}
	preview := func(k *trial, at string) (p *DeleteTagsPreview, out callresult.Outcome) {
		w := scriptedServer(t, k, at, responses)
		defer w.close()
		ctx, client := k.context(t), wireClient(t, w.url)
		out = callresult.Of(callresult.Patience, func() (err error) {
			p, err = client.Registry.PreviewDeleteTags(ctx, ID(1), 7, &DeleteTagsOptions{NameRegexDelete: ".*"})
			return err
		})
		return p, out
	}
	p, out := preview(&trial{cause: listInterruptions[0]}, "")
	require.NoError(t, out.Err)
	require.Len(t, p.Delete, 5)
	for _, cause := range serverInterruptions() {
		for i, at := range places {
			what := fmt.Sprintf("%s at %s", cause.name, at)
			if i >= 2 && slices.Contains([]string{"404", "206 without items", "202 without items"}, cause.name) {
				continue // a deleted tag is not an interruption, and an array is not a tag
			}
			k := &trial{cause: cause}
			p, out := preview(k, at)
			if !assert.Equal(t, callresult.Returned, out.Kind, "%s: it %s", what, out) {
				continue
			}
			if assert.Error(t, out.Err, "%s: %d tags and no error", what, len(previewed(p))) {
				assert.True(t, cause.is(out.Err), "%s: %v", what, out.Err)
				assert.Nil(t, p, what)
			}
		}
	}
}

func previewed(p *DeleteTagsPreview) []*RegistryTagDetail {
	if p == nil {
		return nil
	}
	return slices.Concat(p.Delete, p.Keep)
}

// completeKeysetRefused checks a server that refuses a keyset page. If the library chose keyset
// pagination, it requests the pages by number, and the list is complete. If the caller chose it, or
// for a later page or a page after a cursor, the refusal is an error.
func completeKeysetRefused(t *testing.T) {
	noLeaks(t)
	refuse := func(list *pagedList, from int) func(seen) act {
		return func(s seen) act {
			if u, _ := url.ParseRequestURI(s.uri); u.Query().Get("pagination") == "keyset" && list.form.page(u.Query()) >= from {
				return say(http.StatusMethodNotAllowed, `{"error":"405 Not Allowed"}`, jsonType)
			}
			return list.answer(s)
		}
	}
	keyset := pagingForms[5]
	sizes := pageSizes(4, 3)
	for _, m := range listMethods(t) {
		if !slices.Contains([]string{"Registry.ListTags", "AuditEvents.List", "AuditEvents.ListForGroup", "AuditEvents.ListForProject", "Users.List", "Repositories.ListTree"}, m.name) {
			continue
		}
		pages := numberedPages(m.write, sizes...)
		for _, ahead := range []int{0, 1, 8} {
			what := fmt.Sprintf("%s, Ahead(%d)", m.name, ahead)
			w := newWire(t, refuse(&pagedList{form: pagingForms[2], pages: pages}, 1))
			client := wireClient(t, w.url)
			for range 2 {
				d := &drainedList{}
				if assert.NoError(t, d.read(m.list(t.Context(), client, PerPage(3), Ahead(ahead)), func(int) {}), what) {
					assert.Equal(t, upTo(11), d.numbers, what)
				}
			}
			refused := 0
			for _, s := range w.seen() {
				u, _ := url.ParseRequestURI(s.uri)
				assert.Equal(t, "3", u.Query().Get("per_page"), what)
				if u.Query().Get("pagination") == "keyset" {
					refused++
				}
			}
			assert.Equal(t, 1, refused, "%s: the refusal costs one request, once", what)

			var page Response
			first, rest := &drainedList{}, &drainedList{}
			err := first.read(m.list(t.Context(), wireClient(t, w.url), PerPage(3), Ahead(ahead), OnePage(), Into(&page)), func(int) {})
			assert.NoError(t, err, what)
			err = rest.read(m.list(t.Context(), wireClient(t, w.url), PerPage(3), Ahead(ahead), StartAt(page.Cursor)), func(int) {})
			assert.NoError(t, err, "%s, behind the cursor of another client", what)
			assert.Equal(t, upTo(11), append(first.numbers, rest.numbers...), what)
			for name, opts := range map[string][]RequestOption{
				"chosen by the caller": {Query("pagination", "keyset")},
				"behind a cursor":      {StartAt(trialCursor(t, keyset, m.list, pages, 2))},
			} {
				w := newWire(t, refuse(&pagedList{form: keyset, pages: pages}, 1))
				d := &drainedList{}
				err = d.read(m.list(t.Context(), wireClient(t, w.url), append(opts, PerPage(3), Ahead(ahead))...), func(int) {})
				assert.Equal(t, http.StatusMethodNotAllowed, statusOf(err), "%s, %s: %v", what, name, err)
				assert.Empty(t, d.numbers)
			}
			w = newWire(t, refuse(&pagedList{form: keyset, pages: pages}, 3))
			d := &drainedList{}
			err = d.read(m.list(t.Context(), wireClient(t, w.url), PerPage(3), Ahead(ahead)), func(int) {})
			assert.Equal(t, http.StatusMethodNotAllowed, statusOf(err), "%s, later: %v", what, err)
			assert.Equal(t, upTo(6), d.numbers, what)
		}
	}
}

// statusOf returns the status of a failed call; 0 if it has none.
func statusOf(err error) int {
	var failed *Error
	if errors.As(err, &failed) {
		return failed.Status
	}
	return 0
}

// errHookPanic is the value that the hooks of these tests panic with.
var errHookPanic = errors.New("the hook's own panic")

// completeHooks reads a list of each form while the hook panics, or ends its goroutine, after the
// attempt at each page. It runs in child processes, because a panic in a goroutine of the library
// ends the process.
func completeHooks(t *testing.T) {
	panics := &listInterruption{name: "the hook panics", ends: []callresult.Kind{callresult.Panicked}, hook: func(*trial) { panic(errHookPanic) }}
	// With Ahead the hook may run in a goroutine of the library. If that goroutine ends, the list has
	// an error.
	exits := &listInterruption{name: "the hook ends its goroutine", ends: []callresult.Kind{callresult.Exited, callresult.Returned},
		hook: func(*trial) { runtime.Goexit() }, is: func(err error) bool { return err != nil }}
	var cases []childCase
	for _, form := range pagingForms {
		for _, cause := range []*listInterruption{panics, exits} {
			for _, k := range trialsOf(form, trialListOf(form), "", cause) {
				if k.from == 0 {
					cases = append(cases, childCase{k.String(), k.run})
				}
			}
		}
	}
	runInChild(t, cases)
}
