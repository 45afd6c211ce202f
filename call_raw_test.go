package forge

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Requests are retried by the class of their route, or else of their method.
func TestHTTPClientRetries(t *testing.T) {
	for _, c := range []struct {
		method, path string
		attempts     int
	}{
		{"GET", "/api/v4/anything", 4},
		{"PUT", "/elsewhere", 4},
		{"POST", "/api/v4/anything", 1},
		{"POST", "/api/graphql", 1},
		{"POST", "/api/v4/projects/group%2Fapp/issues/5/subscribe", 4},
		{"POST", "/api/v4/projects/group%2Fapp/issues/5/add_spent_time", 1},
		{"DELETE", "/api/v4/projects/1/registry/repositories/2/tags", 1},
		{"DELETE", "/api/v4/projects/1/registry/repositories/2/tags/v1", 4},
	} {
		for name, fault := range map[string]act{"503": say(503, "{}"), "reset": reset("")} {
			t.Run(c.method+c.path+name, func(t *testing.T) {
				w := newWire(t, always(fault))
				status, _, err := send(t.Context(), wireClient(t, w.url).HTTPClient(), c.method, w.url+c.path, map[bool]string{true: "body"}[c.method != "GET"])
				if name == "503" {
					require.NoError(t, err)
					assert.Equal(t, 503, status)
				} else {
					failed := asError(t, err)
					assert.Equal(t, c.method != "GET", failed.MaybeApplied)
				}
				assert.Len(t, w.seen(), c.attempts)
				for _, s := range w.seen() {
					assert.Equal(t, w.seen()[0].body, s.body)
				}
			})
		}
	}
}

// The end of the context during a wait is an error, not the response before it.
func TestHTTPClientContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	w := newWire(t, func(seen) act {
		return func(conn net.Conn) bool {
			ok := say(503, "{}", "Retry-After: 30")(conn)
			time.AfterFunc(20*time.Millisecond, func() { cancel(errors.New("enough")) })
			return ok
		}
	})
	_, _, err := send(ctx, wireClient(t, w.url).HTTPClient(), "GET", w.url, "")
	require.ErrorIs(t, err, context.Canceled)
	assert.Len(t, w.seen(), 1)
}

// A 409 that reports a lock is retried, and another one is returned with its whole body.
func TestHTTPClientLocks(t *testing.T) {
	long := `{"message":"taken"}` + strings.Repeat(" ", 2*maxErrorBody)
	w := newWire(t, script(say(409, `{"message":"Resource lock"}`, jsonType), say(409, long, jsonType)))
	status, text, err := send(t.Context(), wireClient(t, w.url).HTTPClient(), "POST", w.url+"/api/v4/x", "body")
	require.NoError(t, err)
	assert.Equal(t, 409, status)
	assert.True(t, bytes.Equal([]byte(long), []byte(text)))
	assert.Len(t, w.seen(), 2)
}
