package forge

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// classRoutes are a method and a path of each class.
var classRoutes = map[RetryClass]Call{
	RetryClassSafe:          {Method: http.MethodGet, Route: safeRoute, Args: []Arg{ID(1), ID(2)}},
	RetryClassIdempotent:    {Method: http.MethodPost, Route: idempotentRoute, Args: []Arg{ID(1), ID(2)}},
	RetryClassNonIdempotent: {Method: http.MethodPost, Route: onceRoute, Args: []Arg{ID(1), ID(2)}},
}

// readers are the ways in which a caller reads the response of a call.
var readers = map[string]func(context.Context, *Client, RetryClass, string) error{
	"Do": func(ctx context.Context, c *Client, k RetryClass, _ string) error {
		return c.Do(ctx, classRoutes[k], new(any))
	},
	"method": func(ctx context.Context, c *Client, k RetryClass, _ string) (err error) {
		switch k {
		case RetryClassSafe:
			_, err = c.Issues.GetTimeStats(ctx, ID(1), 2)
		case RetryClassIdempotent:
			_, err = c.Issues.Subscribe(ctx, ID(1), 2)
		case RetryClassNonIdempotent:
			_, err = c.Issues.AddSpentTime(ctx, ID(1), 2, &AddSpentTimeOptions{Duration: WorkDuration(time.Hour)})
		}
		return err
	},
	"Open and Read": func(ctx context.Context, c *Client, k RetryClass, _ string) error {
		d, err := c.Open(ctx, classRoutes[k])
		if err != nil {
			return err
		}
		defer d.Close()
		_, err = io.ReadAll(d)
		return err
	},
	"Open and SaveTo": func(ctx context.Context, c *Client, k RetryClass, dir string) error {
		d, err := c.Open(ctx, classRoutes[k])
		if err != nil {
			return err
		}
		return d.SaveTo(filepath.Join(dir, "file"))
	},
	"HTTPClient":                      readRaw("api/v4/projects/1/issues/2/"),
	"HTTPClient, no documented route": readRaw("x/"),
}

// readRaw requests and reads an address through HTTPClient.
func readRaw(path string) func(context.Context, *Client, RetryClass, string) error {
	return func(ctx context.Context, c *Client, k RetryClass, _ string) error {
		address := strings.TrimSuffix(c.core.baseURL(), "api/v4") + path
		address += map[RetryClass]string{RetryClassSafe: "time_stats", RetryClassIdempotent: "subscribe", RetryClassNonIdempotent: "add_spent_time"}[k]
		method := classRoutes[k].Method
		if k == RetryClassIdempotent && path == "x/" {
			method = http.MethodPut
		}
		req, err := http.NewRequestWithContext(ctx, method, address, http.NoBody)
		if err != nil {
			return err
		}
		resp, err := c.HTTPClient().Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		_, err = io.ReadAll(resp.Body)
		return err
	}
}

// A response that ends within its body is an error with its status. The error of a write has
// MaybeApplied, unless the status says that the server refused it.
func TestResponseEndsInBody(t *testing.T) {
	head := func(status int, headers string) string {
		return fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Type: application/json\r\n%s\r\n", status, headers)
	}
	packed := squeezed(`{"id":1}`)
	ways := map[string]func(status int) act{
		"closed": func(status int) act { return closing(head(status, "Content-Length: 99\r\n") + `{"id":1}`) },
		"reset":  func(status int) act { return reset(head(status, "Content-Length: 99\r\n") + `{"id":1}`) },
		"silent": func(status int) act { return silent(head(status, "Content-Length: 99\r\n") + `{"id":1}`) },
		"bad chunk": func(status int) act {
			return silent(head(status, "Transfer-Encoding: chunked\r\n") + "8\r\n{\"id\":1}\r\nxyz\r\n")
		},
		"no chunk": func(status int) act {
			return closing(head(status, "Transfer-Encoding: chunked\r\n") + "8\r\n{\"id\":1}\r\n")
		},
		"cut gzip": func(status int) act { return say(status, packed[:len(packed)-9], jsonType, "Content-Encoding: gzip") },
		"wrong gzip": func(status int) act {
			return say(status, packed[:len(packed)-8]+"12345678", jsonType, "Content-Encoding: gzip")
		},
	}
	for way, end := range ways {
		for k := range classRoutes {
			for name, read := range readers {
				for _, status := range []int{200, 201, 400, 404, 409, 500} {
					if status == 201 && k == RetryClassSafe || status >= 400 && !strings.HasPrefix(name, "HTTPClient") {
						continue // an error response is not read to its end
					}
					var err error
					if way == "silent" { // in virtual time
						synctest.Test(t, func(t *testing.T) {
							err = read(t.Context(), pipedWire(t, always(end(status))).client(t), k, t.TempDir())
						})
					} else {
						err = read(t.Context(), wireClient(t, newWire(t, always(end(status))).url), k, t.TempDir())
					}
					place := fmt.Sprint(way, ", ", k, ", ", name, ", ", status)
					var e *Error
					if assert.ErrorAs(t, err, &e, place) {
						assert.Equal(t, status, e.Status, place)
						assert.Equal(t, k != RetryClassSafe && (status < 300 || status == 500), e.MaybeApplied, "%s: %v", place, err)
					}
				}
			}
		}
	}
}

// A compressed response that is cut, or has another value, at any byte is an error, or has the
// exact value: parts of a gzip header do not matter.
func TestDamagedCompression(t *testing.T) {
	const text = `[{"id":1,"title":"one"},{"id":2,"title":"two"}]`
	packed := squeezed(text)
	damaged := map[string]string{}
	for i := range len(packed) {
		damaged[fmt.Sprint("cut at ", i)] = packed[:i]
		for _, bits := range []byte{0x01, 0x80, 0xff} {
			other := []byte(packed)
			other[i] ^= bits
			damaged[fmt.Sprint("byte ", i, " ^ ", bits)] = string(other)
		}
	}
	var body string
	w := newWire(t, func(seen) act { return say(200, body, jsonType, "Content-Encoding: gzip") })
	c := wireClient(t, w.url, WithRetry(RetryPolicy{MaxAttempts: 1}))
	type item struct {
		ID    int
		Title string
	}
	want := []*item{{1, "one"}, {2, "two"}}
	failed := 0
	for name := range damaged {
		body = damaged[name]
		var value []*item
		if err := c.Do(t.Context(), classRoutes[RetryClassIdempotent], &value); err == nil {
			assert.Equal(t, want, value, name)
		} else {
			assert.True(t, asError(t, err).MaybeApplied, name)
			failed++
		}
		if items, err := Collect(ListAs[item](t.Context(), c, Call{Route: "/issues"})); err == nil {
			assert.Equal(t, want, items, name)
		}
		resp, err := c.HTTPClient().Get(w.url)
		require.NoError(t, err)
		content, err := io.ReadAll(resp.Body)
		if err == nil && body != "" {
			assert.True(t, string(content) == text, name) //nolint:testifylint // byte for byte, not as JSON
		}
		require.NoError(t, resp.Body.Close())
	}
	assert.Greater(t, failed, len(damaged)*3/4)
}
