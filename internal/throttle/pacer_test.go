package throttle

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	listing = Route{Origin: "API", Method: "GET", Template: "/issues"}
	search  = Route{Origin: "API", Method: "GET", Template: "/search"}
)

// pass returns a ticket, which the route must have now.
func pass(t *testing.T, p *Pacer, route Route) *Ticket {
	t.Helper()
	ticket, until := p.Begin(t.Context(), route, time.Hour)
	require.NotNil(t, ticket, "until %v", until)
	return ticket
}

// refuse returns how long the route must wait, which must not have a ticket now.
func refuse(t *testing.T, p *Pacer, route Route) time.Duration {
	t.Helper()
	ticket, until := p.Begin(t.Context(), route, time.Hour)
	require.Nil(t, ticket)
	return time.Until(until)
}

// A wait that is too long, or ends after the deadline, does not begin. One that ctx ends leaves the
// queue.
func TestPacerWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pacer
		p.Done(pass(t, &p, listing), true, header("Ratelimit-Remaining", "0", "Ratelimit-Reset", "30"))
		for deadline, longest := range map[time.Duration]time.Duration{29 * time.Second: time.Hour, time.Hour: 29 * time.Second} {
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			ticket, until := p.Begin(ctx, listing, longest)
			require.NotNil(t, ticket)
			assert.Zero(t, until)
			p.Done(ticket, false, nil)
			cancel()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		ticket, until := p.Begin(ctx, listing, 30*time.Second)
		assert.Nil(t, ticket)
		assert.Equal(t, 30*time.Second, time.Until(until))
		cancel()
		_, err := p.Wait(ctx, listing, time.Minute)
		require.ErrorIs(t, err, context.Canceled)

		began := time.Now()
		ticket, err = p.Wait(t.Context(), listing, 10*time.Second)
		require.NoError(t, err)
		assert.Equal(t, 10*time.Second, time.Since(began), "the longest wait")
		p.Done(ticket, false, nil)
		ticket, err = p.Wait(t.Context(), listing, time.Minute)
		require.NoError(t, err)
		assert.Equal(t, 30*time.Second, time.Since(began), "the end of the window")
		p.Done(ticket, true, nil)
		assert.Empty(t, ticket.window.queue)
		assert.Empty(t, ticket.window.fresh)
	})
}

// What is left of a window after the end of a request: one that was not sent, or belongs to another
// throttle, is given back.
func TestPacerDone(t *testing.T) {
	left := func(more ...string) http.Header {
		return header(append(more, "Ratelimit-Remaining", "1", "Ratelimit-Reset", "30")...)
	}
	for name, test := range map[string]struct {
		sent  bool
		h     http.Header
		given bool
	}{
		"no response":           {true, nil, false},
		"not sent":              {false, nil, true},
		"a throttle of its own": {true, left("Ratelimit-Name", "search"), true},
		"without the headers":   {true, header(), false},
		"of the same throttle":  {true, header("Ratelimit-Name", "list", "Ratelimit-Remaining", "0", "Ratelimit-Reset", "30"), false},
		"refused by the server": {true, header("Ratelimit-Name", "list", "Ratelimit-Remaining", "0", "Ratelimit-Reset", "30", "Retry-After", "30"), false},
	} {
		synctest.Test(t, func(t *testing.T) {
			var p Pacer
			p.Done(pass(t, &p, listing), true, left("Ratelimit-Name", "list"))
			w := p.routes[listing]
			w.trial = time.Now().Add(time.Second)
			ticket := w.send(time.Now())
			ticket.route = search
			p.Done(ticket, test.sent, test.h)
			assert.Equal(t, ticket.done+1, w.done, name)
			assert.Equal(t, map[bool]int{true: 1, false: 2}[test.given], w.own, name)
			assert.Equal(t, map[bool]int{true: 1, false: 0}[test.given], w.left(), name)
			assert.Empty(t, w.fresh, name)
			assert.Equal(t, test.given, !w.trial.IsZero(), name)
			if test.given {
				p.Done(pass(t, &p, listing), true, nil)
			} else {
				assert.Equal(t, 30*time.Second, refuse(t, &p, listing), name)
			}
		})
	}
}

// The end of a window is by this machine's clock, whatever the server's says. A refusal alone says
// nothing of the next window.
func TestPacerWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		used := []string{"Ratelimit-Remaining", "0", "Ratelimit-Reset", "30"}
		var ahead, refused Pacer
		ahead.Done(pass(t, &ahead, listing), true, header(append(used, "Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))...))
		assert.Equal(t, 30*time.Second, refuse(t, &ahead, listing))
		refused.Done(pass(t, &refused, listing), true, header(append(used, "Retry-After", "30")...))
		refused.Done(pass(t, &refused, listing), true, nil)
	})
}
