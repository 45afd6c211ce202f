package http2

import (
	"context"
	"fmt"
	"net/http"
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
	args := []forge.Arg{forge.ID(1), forge.ID(2)}
	body := map[string]any{"duration": "1h"}
	const issue = "/projects/:id/issues/:issue_iid/"
	return []countedCall{
		{"GET", forge.ClassSafe, forge.Call{Method: http.MethodGet, Route: issue + "time_stats", Args: args}},
		{"idempotent POST", forge.ClassIdempotent, forge.Call{Method: http.MethodPost, Route: issue + "subscribe", Args: args}},
		{"idempotent POST with a body", forge.ClassIdempotent, forge.Call{Method: http.MethodPost, Route: issue + "subscribe", Args: args, Body: body}},
		{"PUT with a body", forge.ClassIdempotent, forge.Call{Method: http.MethodPut, Route: "/things/:id", Args: args[:1], Body: body}},
		{"DELETE", forge.ClassIdempotent, forge.Call{Method: http.MethodDelete, Route: "/things/:id", Args: args[:1]}},
		{"POST", forge.ClassNonIdempotent, forge.Call{Method: http.MethodPost, Route: "/things/:id/new", Args: args[:1]}},
		{"POST with a body", forge.ClassNonIdempotent, forge.Call{Method: http.MethodPost, Route: issue + "add_spent_time", Args: args, Body: body}},
	}
}

// countedFault is a fault of a request. refused means that the peer reports that it has not
// processed the request.
type countedFault struct {
	name    string
	act     func(*conn, seen)
	refused bool
}

var countedFaults = []countedFault{
	{"REFUSED_STREAM", reset(http2.ErrCodeRefusedStream), true},
	{"PROTOCOL_ERROR", reset(http2.ErrCodeProtocol), protocolErrorRefuses},
	{"GOAWAY of all streams", func(c *conn, _ seen) { _ = c.WriteGoAway(0, http2.ErrCodeNo, nil) }, true},
	{"GOAWAY of all streams, then the end", func(c *conn, _ seen) {
		_ = c.WriteGoAway(0, http2.ErrCodeNo, nil)
		_ = c.Close()
	}, true},
	{"GOAWAY with the stream, then the end", func(c *conn, s seen) {
		_ = c.WriteGoAway(s.stream, http2.ErrCodeNo, nil)
		_ = c.Close()
	}, false},
	{"INTERNAL_ERROR", reset(http2.ErrCodeInternal), false},
	{"CANCEL", reset(http2.ErrCodeCancel), false},
	{"closed after the request", func(c *conn, _ seen) { _ = c.Close() }, false},
}

// runaway is the number of requests of one call after which the peer responds normally.
const runaway = 30

// TestWireCount counts the requests of a call that a hostile peer receives, on a new and on a
// reused connection. net/http sends no request again by itself: the number of requests equals
// Error.Attempts, Response.Attempts and Client.Stats, and is at most 4. A request that was not
// processed is sent again for every class; otherwise a call of class non-idempotent is sent once.
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
		require.NoError(t, c.Do(t.Context(), calls()["safe"], nil))
	}
	before := c.Stats()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // otherwise the call may run for minutes
	defer cancel()
	var response forge.Response
	err := c.Do(ctx, call.call, nil, forge.Into(&response))
	stats, requests := c.Stats(), len(p.got())-skip

	want := min(times+1, 4)
	if call.class == forge.ClassNonIdempotent && !fault.refused {
		want = 1
	}
	require.NoError(t, ctx.Err(), "the call does not end: %d requests, %v", requests, err)
	assert.Equal(t, want, requests, "requests")
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
	assert.Equal(t, call.class != forge.ClassSafe && !fault.refused, failed.MaybeApplied, "MaybeApplied: %v", err)
}
