package http2

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"

	forge "github.com/forge-sdk/forge-go"
)

var (
	args = []forge.Arg{forge.ID(1), forge.ID(2)}
	read = forge.Call{Method: http.MethodGet, Route: "/projects/:id/issues/:issue_iid/time_stats", Args: args}
)

// spend returns a call that must not be sent twice.
func spend(number int) forge.Call {
	return forge.Call{Method: http.MethodPost, Route: "/projects/:id/issues/:issue_iid/add_spent_time", Args: args,
		Body: map[string]any{"duration": "1h", "summary": number}}
}

func reset(code http2.ErrCode) func(*conn, seen) {
	return func(c *conn, s seen) { _ = c.WriteRSTStream(s.stream, code) }
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
	require.NoError(t, client.Do(t.Context(), read, nil))
	var running sync.WaitGroup
	for i := range many {
		running.Go(func() { assert.NoError(t, client.Do(t.Context(), spend(i), nil)) })
	}
	running.Wait()
	delete(effects, "")
	require.Len(t, effects, many)
	for body, n := range effects {
		assert.Equal(t, 1, n, body)
	}
	assert.Greater(t, len(p.got()), many+1, "some were sent twice")
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
	err := client.Do(ctx, spend(1), nil)
	require.ErrorIs(t, err, context.Canceled)
	var failed *forge.Error
	require.ErrorAs(t, err, &failed)
	assert.True(t, failed.MaybeApplied)
	require.NoError(t, client.Do(t.Context(), read, nil))
	assert.Equal(t, 1, p.got()[1].conn)
}
