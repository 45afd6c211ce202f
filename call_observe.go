package forge

import "context"

// hasObserver reports whether WithOnAttempt is called for the attempt.
func (c *call) hasObserver() bool {
	return c.core().config.onAttempt != nil && !c.attempt.start.IsZero()
}

// observe calls WithOnAttempt after an attempt. again reports whether another one follows.
func (c *call) observe(ctx context.Context, again bool) {
	if !c.hasObserver() {
		return
	}
	seen := Attempt{
		Method: c.route().Method, Route: c.route().Template, Path: c.redact(c.request.path), Number: c.retry.attempts, Status: c.response.status, RequestID: requestID(c.response.header),
		Start: c.attempt.start, Duration: c.attempt.duration, BytesSent: c.attempt.bytesSent, BytesReceived: c.attempt.bytesReceived,
	}
	if again {
		seen.WaitAfter = c.retry.wait
	}
	if !c.response.ok() {
		seen.Err = c.newError()
	}
	c.core().config.onAttempt(ctx, seen)
}
