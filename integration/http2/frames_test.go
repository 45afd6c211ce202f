package http2

import (
	"context"
	"go/build"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"

	forge "github.com/forge-sdk/forge-go"
)

// protocolErrorRefuses reports that net/http treats a PROTOCOL_ERROR as the refusal of a stream
// above the limit, as it does before Go 1.27 (golang/go#42777).
var protocolErrorRefuses = !slices.Contains(build.Default.ReleaseTags, "go1.27")

// calls has one of each retry class, with and without a body.
func calls() map[string]forge.Call {
	args := []forge.Arg{forge.ID(1), forge.ID(2)}
	return map[string]forge.Call{
		"safe":       {Method: http.MethodGet, Route: "/projects/:id/issues/:issue_iid/time_stats", Args: args},
		"idempotent": {Method: http.MethodPost, Route: "/projects/:id/issues/:issue_iid/subscribe", Args: args},
		"once":       {Method: http.MethodPost, Route: "/projects/:id/issues/:issue_iid/add_spent_time", Args: args, Body: map[string]any{"duration": "1h"}},
		"once, bare": {Method: http.MethodPost, Route: "/projects/:id/something/new", Args: args[:1]},
	}
}

// The fault of the row affects the first request of each call. If HTTP/2 reports that the server
// has not processed the request, every call succeeds and is processed once. Otherwise a call of
// class non-idempotent is not sent again.
func TestFrames(t *testing.T) {
	for _, row := range []struct {
		name      string
		act       func(*conn, seen)
		processed bool // the server may have processed the request
	}{
		{"GOAWAY below the stream", func(c *conn, s seen) { _ = c.WriteGoAway(s.stream-2, http2.ErrCodeNo, nil) }, false},
		{"REFUSED_STREAM", reset(http2.ErrCodeRefusedStream), false},
		{"reset before the headers", reset(http2.ErrCodeInternal), true},
		{"cancelled before the headers", reset(http2.ErrCodeCancel), true},
		{"PROTOCOL_ERROR before the headers", reset(http2.ErrCodeProtocol), !protocolErrorRefuses},
		{"reset without an error", reset(http2.ErrCodeNo), true},
		{"reset after the headers", func(c *conn, s seen) {
			c.header(s.stream, "application/json", 100)
			_ = c.WriteRSTStream(s.stream, http2.ErrCodeInternal)
		}, true},
		{"refused after the headers", func(c *conn, s seen) {
			c.header(s.stream, "application/json", 100)
			_ = c.WriteRSTStream(s.stream, http2.ErrCodeRefusedStream)
		}, true},
		{"reset in the body", func(c *conn, s seen) {
			c.header(s.stream, "application/json", 100)
			_ = c.WriteData(s.stream, false, []byte(`{"id":`))
			_ = c.WriteRSTStream(s.stream, http2.ErrCodeInternal)
		}, true},
		{"body shorter than announced", func(c *conn, s seen) {
			c.header(s.stream, "application/json", 100)
			_ = c.WriteData(s.stream, true, []byte(`{"id":1}`))
		}, true},
		{"GOAWAY above the stream, then the end", func(c *conn, s seen) {
			_ = c.WriteGoAway(s.stream, http2.ErrCodeEnhanceYourCalm, []byte("too_many_pings"))
			_ = c.Close()
		}, true},
		{"closed", func(c *conn, _ seen) { _ = c.Close() }, true},
		{"garbage", func(c *conn, _ seen) { _, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }, true},
	} {
		for class, call := range calls() {
			t.Run(row.name+"/"+class, func(t *testing.T) {
				checkFrames(t, row.act, row.processed, class, call)
			})
		}
	}
}

func checkFrames(t *testing.T, act func(*conn, seen), processed bool, class string, call forge.Call) {
	p := newPeer(t, func(c *conn, s seen) {
		if s.number == 2 {
			act(c, s)
			return
		}
		c.say(s.stream, `{"id":1}`)
	})
	client := p.client()
	require.NoError(t, client.Do(t.Context(), calls()["safe"], nil), "a connection that was used before")
	var out any
	err := client.Do(t.Context(), call, &out)
	requests := p.got()
	if processed && (class == "once" || class == "once, bare") {
		var failed *forge.Error
		require.ErrorAs(t, err, &failed)
		assert.True(t, failed.MaybeApplied, "%v", err)
		assert.Equal(t, 1, failed.Attempts)
		assert.Len(t, requests, 2, "neither the client nor net/http sends it again")
		return
	}
	require.NoError(t, err)
	require.Len(t, requests, 3)
	assert.Equal(t, requests[1].body, requests[2].body, "the retry sends the same request")
	assert.Equal(t, requests[1].path, requests[2].path)
}

func reset(code http2.ErrCode) func(*conn, seen) {
	return func(c *conn, s seen) { _ = c.WriteRSTStream(s.stream, code) }
}

// A server that shuts down gracefully responds to the requests that it has accepted; later requests
// are sent on a new connection. No request is lost or executed twice.
func TestGracefulGoAway(t *testing.T) {
	p := newPeer(t, func(c *conn, s seen) {
		_ = c.WriteGoAway(s.stream, http2.ErrCodeNo, nil)
		c.say(s.stream, `{"id":1}`)
	})
	client := p.client()
	for range 10 {
		require.NoError(t, client.Do(t.Context(), calls()["once"], nil))
	}
	requests := p.got()
	require.Len(t, requests, 10)
	for i, s := range requests {
		assert.Equal(t, i+1, s.conn, "a connection of its own")
	}
}

// When a shutdown ends a connection with many streams, the accepted streams complete, and the
// others are sent again on the next connection. Each has one effect.
func TestGoAwayAmongMany(t *testing.T) {
	const many = 50
	var mu sync.Mutex
	var waiting []seen
	effects := map[string]int{}
	p := newPeer(t, func(c *conn, s seen) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case s.method == http.MethodGet || c.number > 1:
			effects[string(s.body)]++
			c.say(s.stream, `{"id":1}`)
		case len(waiting) < many-1:
			waiting = append(waiting, s)
		default:
			waiting = append(waiting, s)
			last := waiting[many/2]
			_ = c.WriteGoAway(last.stream, http2.ErrCodeNo, nil)
			for _, s := range waiting {
				if s.stream <= last.stream {
					effects[string(s.body)]++
					c.say(s.stream, `{"id":1}`)
				}
			}
		}
	})
	client := p.client()
	require.NoError(t, client.Do(t.Context(), calls()["safe"], nil))
	var running sync.WaitGroup
	for i := range many {
		running.Go(func() {
			call := calls()["once"]
			call.Body = map[string]any{"duration": "1h", "summary": i}
			assert.NoError(t, client.Do(t.Context(), call, nil))
		})
	}
	running.Wait()
	delete(effects, "")
	require.Len(t, effects, many)
	for body, n := range effects {
		assert.Equal(t, 1, n, body)
	}
	assert.Greater(t, len(p.got()), many+1, "some were sent twice")
}

// A download whose stream is interrupted in any way is an error of Read, after correct bytes.
func TestDownloadInterrupted(t *testing.T) {
	const beginning = "the beginning"
	for name, act := range map[string]func(*conn, seen){
		"reset":         reset(http2.ErrCodeInternal),
		"refused":       reset(http2.ErrCodeRefusedStream),
		"no error":      reset(http2.ErrCodeNo),
		"early end":     func(c *conn, s seen) { _ = c.WriteData(s.stream, true, nil) },
		"closed":        func(c *conn, _ seen) { _ = c.Close() },
		"GOAWAY, close": func(c *conn, s seen) { _ = c.WriteGoAway(s.stream, http2.ErrCodeNo, nil); _ = c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t, func(c *conn, s seen) {
				c.header(s.stream, "application/octet-stream", 1000)
				_ = c.WriteData(s.stream, false, []byte(beginning))
				act(c, s)
			})
			download, err := p.client().Repositories.Archive(t.Context(), forge.ID(1), nil)
			require.NoError(t, err)
			content, err := io.ReadAll(download)
			require.NoError(t, download.Close())
			var failed *forge.Error
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, "GET", failed.Method)
			assert.NotErrorIs(t, err, io.EOF)
			assert.True(t, len(content) <= len(beginning) && string(content) == beginning[:len(content)])
			assert.Len(t, p.got(), 1)
		})
	}
}

// A canceled call ends only its stream: the connection stays in use.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := newPeer(t, func(c *conn, s seen) {
		if s.number == 1 {
			cancel()
			return
		}
		c.say(s.stream, `{"id":1}`)
	})
	client := p.client()
	err := client.Do(ctx, calls()["once"], nil)
	require.ErrorIs(t, err, context.Canceled)
	var failed *forge.Error
	require.ErrorAs(t, err, &failed)
	assert.True(t, failed.MaybeApplied)
	require.NoError(t, client.Do(t.Context(), calls()["safe"], nil))
	assert.Equal(t, 1, p.got()[1].conn)
}
