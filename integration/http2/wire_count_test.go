package http2

import (
	"context"
	"fmt"
	"go/build"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"

	forge "github.com/forge-sdk/forge-go"
)

// countedCall is a call of a class, with or without a body.
type countedCall struct {
	name  string
	class forge.RetryClass
	call  forge.Call
}

func countedCalls() []countedCall {
	subscribe := forge.Call{Method: http.MethodPost, Route: "/projects/:id/issues/:issue_iid/subscribe", Args: args}
	withBody := subscribe
	withBody.Body = map[string]any{"duration": "1h"}
	return []countedCall{
		{"GET", forge.RetryClassSafe, read},
		{"idempotent POST", forge.RetryClassIdempotent, subscribe},
		{"idempotent POST with a body", forge.RetryClassIdempotent, withBody},
		{"POST", forge.RetryClassNonIdempotent, forge.Call{Method: http.MethodPost, Route: "/things/:id/new", Args: args[:1]}},
		{"POST with a body", forge.RetryClassNonIdempotent, spend(1)},
	}
}

// countedFault is a fault of a request. refused means that the peer reports that it has not
// processed the request.
type countedFault struct {
	name    string
	act     func(*conn, seen)
	refused bool
}

// protocolErrorRefuses reports that net/http treats a PROTOCOL_ERROR as the refusal of a stream
// above the limit, as it does before Go 1.27 (golang/go#42777).
var protocolErrorRefuses = !slices.Contains(build.Default.ReleaseTags, "go1.27")

var countedFaults = []countedFault{
	{"REFUSED_STREAM", reset(http2.ErrCodeRefusedStream), true},
	{"PROTOCOL_ERROR", reset(http2.ErrCodeProtocol), protocolErrorRefuses},
	{"GOAWAY below the stream", func(c *conn, s seen) { _ = c.WriteGoAway(s.stream-min(s.stream, 2), http2.ErrCodeNo, nil) }, true},
	{"GOAWAY of all streams, then the end", func(c *conn, _ seen) {
		_ = c.WriteGoAway(0, http2.ErrCodeNo, nil)
		_ = c.Close()
	}, true},
	{"GOAWAY with the stream, then the end", func(c *conn, s seen) {
		_ = c.WriteGoAway(s.stream, http2.ErrCodeEnhanceYourCalm, []byte("too_many_pings"))
		_ = c.Close()
	}, false},
	{"INTERNAL_ERROR", reset(http2.ErrCodeInternal), false},
	{"CANCEL", reset(http2.ErrCodeCancel), false},
	{"NO_ERROR", reset(http2.ErrCodeNo), false},
	{"closed after the request", func(c *conn, _ seen) { _ = c.Close() }, false},
	{"garbage", func(c *conn, _ seen) { _, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }, false},
	{"refused after the headers", func(c *conn, s seen) {
		c.header(s.stream, "application/json", 100)
		_ = c.WriteRSTStream(s.stream, http2.ErrCodeRefusedStream)
	}, false},
	{"reset in the body", func(c *conn, s seen) {
		c.header(s.stream, "application/json", 100)
		_ = c.WriteData(s.stream, false, []byte(`{"id":`))
		_ = c.WriteRSTStream(s.stream, http2.ErrCodeInternal)
	}, false},
	{"body shorter than announced", func(c *conn, s seen) {
		c.header(s.stream, "application/json", 100)
		_ = c.WriteData(s.stream, true, []byte(`{"id":1}`))
	}, false},
}

// runaway is the number of requests of one call after which the peer responds normally.
const runaway = 30

// TestWireCount counts the requests of a call that a hostile peer receives, on a new and on a
// reused connection. net/http sends no request again by itself: the number of requests equals
// Error.Attempts, Response.Attempts and Client.Stats, and is at most 4. A request that was not
// processed is sent again for every class, with the same body; otherwise a call of class
// non-idempotent is sent once.
func TestWireCount(t *testing.T) {
	for _, fault := range countedFaults {
		for _, call := range countedCalls() {
			for _, times := range []int{1, 2, runaway} {
				for _, reused := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%s/%d times, reused %t", fault.name, call.name, times, reused), func(t *testing.T) {
						t.Parallel()
						checkWireCount(t, fault, call, times, reused)
					})
				}
			}
		}
	}
}

func checkWireCount(t *testing.T, fault countedFault, call countedCall, times int, reused bool) {
	t.Helper()
	skip := 0
	if reused {
		skip = 1
	}
	p := newPeer(t, func(c *conn, s seen) {
		if s.number <= skip || s.number > skip+times {
			c.say(s.stream, `{"id":1}`)
			return
		}
		fault.act(c, s)
	})
	c := p.client()
	if reused {
		require.NoError(t, c.Do(t.Context(), read, nil))
	}
	before := c.Stats()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // otherwise the call may run for minutes
	defer cancel()
	var out any
	var response forge.Response
	err := c.Do(ctx, call.call, &out, forge.Into(&response))
	stats, got := c.Stats(), p.got()[skip:]
	requests := len(got)

	want := min(times+1, 4)
	if call.class == forge.RetryClassNonIdempotent && !fault.refused {
		want = 1
	}
	require.NoError(t, ctx.Err(), "the call does not end: %d requests, %v", requests, err)
	require.Equal(t, want, requests, "requests")
	for _, s := range got {
		assert.Equal(t, got[0].path+string(got[0].body), s.path+string(s.body))
	}
	assert.EqualValues(t, requests, stats.Attempts-before.Attempts, "Stats.Attempts")
	assert.EqualValues(t, requests-1, stats.Retries-before.Retries, "Stats.Retries")
	if times < want {
		require.NoError(t, err)
		assert.Equal(t, requests, response.Attempts, "Response.Attempts")
		return
	}
	var failed *forge.Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, requests, failed.Attempts, "Error.Attempts")
	assert.Equal(t, call.class != forge.RetryClassSafe && !fault.refused, failed.MaybeApplied, "MaybeApplied: %v", err)
}
