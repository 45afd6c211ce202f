package forge

import (
	"context"
	"sync/atomic"
	"time"
)

// Attempt is what WithOnAttempt reports of one attempt of a call. It holds no credential.
type Attempt struct {
	// Method is the HTTP method.
	Method string
	// Route is the endpoint as the contract spells it, placeholders included: it has few values, as names of metrics must.
	Route string
	// Path is the object, as in Error. It has many values: use Route for the names of metrics.
	Path string
	// Number counts the attempts of the call, from 1.
	Number int
	// Status is the HTTP status; 0 when no answer came.
	Status int
	// Err is what the call returns if this attempt is its last: nil for a success and for a documented 304.
	Err error
	// RequestID is the server's X-Request-Id.
	RequestID string
	// Start is when the attempt began: after the waits for the server and for a Limiter.
	Start time.Time
	// Duration is the time from Start until the answer was read; of a download, until its first byte came.
	Duration time.Duration
	// Wait is the time until the next attempt; 0 when there is none, or when it goes out at once with a renewed token.
	Wait time.Duration
	// Sent is the number of bytes of the body that were sent, those of attempts at redirected addresses included.
	Sent int64
	// Received is the number of bytes of the answer's body, after decompression. Those of a download are read later: Stats
	// counts them.
	Received int64
}

// WithOnAttempt is called after each attempt of each call, before the wait for the next one: for metrics and traces. The pages of a
// list and the exchange for a registry token are calls, the refresh of an OAuth token is none; what was not sent, because a
// Limiter or an announced wait held it back, is no attempt. f runs in the goroutine of the call, which it must not hold up, and for
// several calls at a time. Its context is the call's, so that RouteFromContext tells all of the route.
func WithOnAttempt(f func(context.Context, Attempt)) Option {
	return func(c *config) error {
		c.onAttempt = f
		return c.give("WithOnAttempt")
	}
}

// Stats counts what a client has done since it was made; see Client.Stats.
type Stats struct {
	// Calls is the number of calls, pages of lists and exchanges for registry tokens included. What was refused before anything
	// was sent is none.
	Calls int64
	// Failures is the number of calls that failed. A documented 304 does not count, nor does a 405
	// after which a list continues by offset.
	Failures int64
	// Attempts is the number of requests that were sent; hops of a redirect are one.
	Attempts int64
	// Retries is the number of attempts after the first of their call.
	Retries int64
	// Throttled is the number of waits that the server has asked for, or that kept to a limit it is known to have.
	Throttled int64
	// ThrottledTime is how long these waits are together; one that begins counts whole.
	ThrottledTime time.Duration
	// Sent is the number of bytes of request bodies.
	Sent int64
	// Received is the number of bytes of answers' bodies, downloads included, after decompression.
	Received int64
}

// Stats returns the counters of the client, of the one that With derived it from, and of all others derived from that: one set
// for each NewClient, whatever the credentials. They are read one after the other while calls go on.
func (c *Client) Stats() Stats {
	if c.check() != nil {
		return Stats{}
	}
	s := c.stats
	return Stats{
		Calls: s.calls.Load(), Failures: s.failures.Load(), Attempts: s.attempts.Load(), Retries: s.retries.Load(),
		Throttled: s.throttled.Load(), ThrottledTime: time.Duration(s.waited.Load()),
		Sent: s.sent.Load(), Received: s.received.Load(),
	}
}

// counters are what Stats reads.
type counters struct {
	calls, failures, attempts, retries atomic.Int64
	throttled, waited                  atomic.Int64
	sent, received                     atomic.Int64
}

// throttle notes a wait that begins.
func (s *counters) throttle(wait time.Duration) {
	s.throttled.Add(1)
	s.waited.Add(int64(wait))
}

// begin notes that an attempt is going out.
func (c *call) begin() {
	c.attempts++
	c.last.start = c.started.Add(time.Since(c.started)) // which is cheaper than time.Now
	c.client().stats.attempts.Add(1)
	if c.attempts > 1 {
		c.client().stats.retries.Add(1)
	}
}

// receive counts bytes of an answer.
func (c *call) receive(n int) {
	if n > 0 {
		c.last.received += int64(n)
		c.client().stats.received.Add(int64(n))
	}
}

// detach ends the reading of the body that is being sent, if any, and counts what was. It returns
// why the body could not be read.
func (c *call) detach() error {
	if c.upload == nil {
		return nil
	}
	sent, failed := c.upload.detach()
	c.upload = nil
	c.last.uploaded += sent
	c.client().stats.sent.Add(sent)
	return failed
}

// observed reports whether somebody is told of the attempt.
func (c *call) observed() bool { return c.client().config.onAttempt != nil && !c.last.start.IsZero() }

// observe tells of an attempt that is over. again says that another one follows.
func (c *call) observe(ctx context.Context, again bool) {
	if !c.observed() {
		return
	}
	a := &c.last
	seen := Attempt{
		Method: c.route().method, Route: c.route().template, Path: c.scrub(c.request.path), Number: c.attempts, Status: a.status, RequestID: requestID(a.header),
		Start: a.start, Duration: a.duration, Sent: a.uploaded, Received: a.received,
	}
	if again {
		seen.Wait = c.wait
	}
	if !a.ok() {
		seen.Err = c.error()
	}
	c.client().config.onAttempt(ctx, seen)
}
