package forge

import "context"

// observed reports whether somebody is told of the attempt.
func (c *call) observed() bool { return c.core().config.onAttempt != nil && !c.last.start.IsZero() }

// observe tells of an attempt that is over. again says that another one follows.
func (c *call) observe(ctx context.Context, again bool) {
	if !c.observed() {
		return
	}
	a := &c.last
	seen := Attempt{
		Method: c.route().method, Route: c.route().template, Path: c.scrub(c.request.path), Number: c.retry.attempts, Status: a.status, RequestID: requestID(a.header),
		Start: a.start, Duration: a.duration, Sent: a.uploaded, Received: a.received,
	}
	if again {
		seen.Wait = c.retry.wait
	}
	if !a.ok() {
		seen.Err = c.error()
	}
	c.core().config.onAttempt(ctx, seen)
}
