package forge

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Stats counts each byte of a response body that the server has written, whatever the call makes of
// it: pages that were prefetched and not consumed, errors, retries, redirects, unused values.
func TestBytesReceived(t *testing.T) {
	get := func(c *Client, path string) error {
		resp, err := c.HTTPClient().Get(c.core.baseURL() + path)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}
	text := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	list := func(call Call, rows int, opts ...RequestOption) func(*testing.T, *Client) {
		return func(t *testing.T, c *Client) {
			for row, err := range ListAs[listRow](t.Context(), c, call, append(opts, PerPage(2))...) {
				require.NoError(t, err)
				if synctest.Wait(); int(row.ID) == rows {
					break // the pages that were requested until now have arrived
				}
			}
		}
	}
	offset, keyset := &pageServer{rows: 20, totals: true}, &pageServer{rows: 20, keyset: true}
	page, lock := strings.Repeat("<p>", 20_000), `{"message":"Resource lock"}`+strings.Repeat(" ", 70_000)
	do := func(k RetryClass, out any) func(*testing.T, *Client) {
		return func(t *testing.T, c *Client) { _ = c.Do(t.Context(), callOf(k), out) }
	}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		run     func(*testing.T, *Client)
	}{
		"whole list":                  {offset.ServeHTTP, list(offsetCall, 20)},
		"list that is left":           {offset.ServeHTTP, list(offsetCall, 5)},
		"pages ahead":                 {offset.ServeHTTP, list(offsetCall, 20, Ahead(3))},
		"pages ahead, not consumed":   {offset.ServeHTTP, list(offsetCall, 1, Ahead(3))},
		"pages by link":               {keyset.ServeHTTP, list(keysetCall, 20, Ahead(3))},
		"pages by link, not consumed": {keyset.ServeHTTP, list(keysetCall, 1, Ahead(3))},
		"one page":                    {offset.ServeHTTP, list(offsetCall, 2, OnePage())},
		"value":                       {text(200, `{"id":1}`), do(RetryClassSafe, new(any))},
		"unused value":                {text(201, `{"id":1}`), do(RetryClassNonIdempotent, nil)},
		"unused value, no JSON":       {text(200, page), do(RetryClassNonIdempotent, nil)},
		"error":                       {text(404, page), do(RetryClassSafe, new(any))},
		"error of a retried call":     {text(503, page), do(RetryClassIdempotent, new(any))},
		"lock":                        {text(409, lock), do(RetryClassNonIdempotent, new(any))},
		"unexpected status":           {text(203, page), do(RetryClassSafe, new(any))},
		"no JSON":                     {text(200, page), do(RetryClassSafe, new(any))},
		"download": {text(200, page), func(t *testing.T, c *Client) {
			d, err := openArchive(t.Context(), c)
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, d)
			require.NoError(t, err)
		}},
		"HTTPClient":          {text(200, page), func(t *testing.T, c *Client) { require.NoError(t, get(c, "/x")) }},
		"HTTPClient, retried": {text(503, page), func(t *testing.T, c *Client) { require.NoError(t, get(c, "/x")) }},
		"HTTPClient, lock":    {text(409, lock), func(t *testing.T, c *Client) { require.NoError(t, get(c, "/x")) }},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if !strings.HasSuffix(r.URL.Path, "/moved") {
				w.Header().Set("Location", "/api/v4/moved")
				w.WriteHeader(http.StatusTemporaryRedirect)
			}
			_, _ = io.WriteString(w, `{"id":1}`)
		}, do(RetryClassIdempotent, new(any))},
		"redirect to another origin": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "https://other.example.com/")
			w.WriteHeader(http.StatusFound)
			_, _ = io.WriteString(w, page)
		}, do(RetryClassSafe, new(any))},
	} {
		synctest.Test(t, func(t *testing.T) {
			var written atomic.Int64
			s := newBubbleServer(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				test.handler(&countingWriter{w, &written}, r)
			})
			c := s.client(t)
			test.run(t, c)
			synctest.Wait()
			assert.Positive(t, written.Load(), name)
			assert.Equal(t, written.Load(), c.Stats().BytesReceived, name)
			s.close(c)
		})
	}
}

// An error at any page of a list is one failure in Stats and one warning in the log, in every mode.
// Pages that are requested ahead and then canceled may be failures too, without a warning.
func TestListFailuresAreCounted(t *testing.T) {
	text := func(status int, body string) func(http.ResponseWriter, string) {
		return func(w http.ResponseWriter, _ string) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	faults := map[string]func(w http.ResponseWriter, query string){
		"405": func(w http.ResponseWriter, _ string) { refuseMethod(w) }, "404": text(404, "{}"), "500": text(500, "{}"), "429": text(429, "{}"),
		"no JSON": text(200, "["), "null": text(200, "[null]"), "object": text(200, "{}"), "page": text(200, "<html>"), "unexpected": text(203, "[]"),
		"lost": func(http.ResponseWriter, string) { panic(http.ErrAbortHandler) },
		"truncated": func(w http.ResponseWriter, query string) {
			w.Header().Set("Content-Length", "9")
			text(200, "[")(w, query)
		},
		"bad link": func(w http.ResponseWriter, query string) {
			w.Header().Set("Link", "<>; rel=next")
			text(200, "[]")(w, query)
		},
		"loop": func(w http.ResponseWriter, query string) {
			w.Header().Set("Link", "</?"+query+">; rel=next")
			text(200, "[]")(w, query)
		},
	}
	for name, fail := range faults {
		for _, call := range []Call{offsetCall, keysetCall, usersCall} {
			for _, ahead := range []int{0, 1, 4} {
				for bad := 2; bad <= 4; bad++ {
					srv := &pageServer{rows: 10, totals: true, keyset: true}
					srv.hook = func(w http.ResponseWriter, r *http.Request, page int) bool {
						if page == bad {
							w.Header().Set("Content-Type", "application/json")
							fail(w, r.URL.RawQuery)
						}
						return page == bad
					}
					synctest.Test(t, func(t *testing.T) {
						var log records
						s := newBubbleServer(srv.ServeHTTP)
						s.server.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
						c := s.client(t, log.option(slog.LevelWarn))
						ids, err := collectIDs(t.Context(), c, call, PerPage(2), Ahead(ahead))
						synctest.Wait()
						place := fmt.Sprint(name, " at page ", bad, " of ", call.Route, ", ahead ", ahead)
						assert.Error(t, err, place)
						assert.Equal(t, upTo(2*bad-2), ids, place)
						lines, _ := log.lines(t)
						assert.Equal(t, []string{"WARN forge: call failed"}, lines, place)
						stats := c.Stats()
						if ahead == 0 || !slices.Equal(call.Args, offsetCall.Args) { // no page is requested after the one that fails
							assert.EqualValues(t, 1, stats.Failures, place)
							assert.EqualValues(t, bad, stats.Calls, place)
						}
						assert.Positive(t, stats.Failures, place)
						s.close(c)
					})
				}
			}
		}
	}
}
