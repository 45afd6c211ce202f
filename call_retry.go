package forge

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/forge-sdk/forge-go/internal/conn"
	"github.com/forge-sdk/forge-go/internal/throttle"
	"github.com/hashicorp/go-retryablehttp"
)

// retryState is the part of a call that its attempts share. Only this file assigns its fields;
// other files call the methods.
type retryState struct {
	started       time.Time
	attempts      int           // begun so far
	wait          time.Duration // before the next attempt
	noRetryReason string        // why there is no further attempt; "": the status or error is the reason
	maybeApplied  bool          // an attempt may have taken effect
	bodyOpened    bool
	expectRefused bool  // the server refused the Expect header
	tokenRenewed  bool  // after a 401, once per call
	stopCause     error // the end of the context, if that is why there is no further attempt
}

// start records that the call begins.
func (s *retryState) start() { s.started = time.Now() }

// stop sets the error that ends the retries.
func (s *retryState) stop(cause error) { s.stopCause = cause }

// countAttempt counts an attempt that begins, and reports whether it is a retry.
func (s *retryState) countAttempt() (retry bool) {
	s.attempts++
	return s.attempts > 1
}

// bodyWasOpened records that the body was read or may have been: a body that cannot be opened twice
// ends the retries.
func (s *retryState) bodyWasOpened() { s.bodyOpened = true }

// setMaybeApplied records that the call may have taken effect although it fails.
func (s *retryState) setMaybeApplied() { s.maybeApplied = true }

// explain sets the reason why there is no further attempt, unless a reason is set already.
func (s *retryState) explain(reason string) { s.noRetryReason = cmp.Or(s.noRetryReason, reason) }

// retryLoop waits after a failed first attempt, and makes the other attempts. Most calls need only
// one attempt, and no loop, which costs an http.Client, a second request and a policy. So call.send
// makes the first attempt itself.
func (c *call) retryLoop(ctx context.Context) error {
	if err := throttle.Sleep(ctx, c.retry.wait); err != nil {
		return err
	}
	outer := (&http.Request{Method: c.route().Method, URL: &c.url, Header: http.Header{}, Body: http.NoBody}).WithContext(ctx)
	client := retryablehttp.Client{
		HTTPClient: &http.Client{
			Transport:     c,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		RetryMax:   1 << 20, // checkRetry counts
		CheckRetry: c.checkRetry,
		Backoff:    func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return c.retry.wait },
		ErrorHandler: func(resp *http.Response, err error, _ int) (*http.Response, error) {
			return resp, err
		},
	}
	_, err := client.Do(&retryablehttp.Request{Request: outer}) //nolint:bodyclose // receive has read and closed it, or keeps it for the Download
	return err
}

// RoundTrip is one attempt, for the loop.
func (c *call) RoundTrip(req *http.Request) (*http.Response, error) {
	c.runAttempt(req.Context())
	if c.response.err != nil {
		return nil, c.response.err
	}
	resp := c.response.resp
	return &http.Response{StatusCode: resp.StatusCode, Header: resp.Header, Body: http.NoBody, Request: req}, nil
}

// checkRetry is called after each attempt: by call.send after the first one, and then by
// go-retryablehttp. It evaluates the record of the attempt, because the arguments do not show what
// was sent.
func (c *call) checkRetry(ctx context.Context, _ *http.Response, _ error) (bool, error) {
	if c.hasObserver() {
		c.attempt.measure()
	}
	again := false
	if c.response.ok() {
		c.gate().Retries.Refund(c.retry.attempts > 1)
		c.countQuota()
	} else {
		again = c.scheduleRetry(ctx)
	}
	if again { // before the wait: an open body would keep the connection from other calls
		c.response.discard()
	}
	c.observe(ctx, again)
	return again, nil
}

// scheduleRetry carries out the decision about a failed attempt, and reports whether there is
// another attempt. RetryPolicy.decide in retry.go makes the decision, for example whether a PUT is
// sent again after a 503, and has no effects. All effects are here: a wait that the server requests
// delays other calls, and a retry is taken from the retry budget, counted and logged.
func (c *call) scheduleRetry(ctx context.Context) (again bool) {
	state := &c.retry
	state.maybeApplied = state.maybeApplied || c.attempt.sent.Load() && c.response.ambiguous()
	if c.response.retryAfter > 0 && c.response.status == http.StatusTooManyRequests && !c.attempt.offOrigin {
		c.gate().Hold(keyFor(c.request), c.response.retryAt)
	}
	next := c.shouldRetry(ctx)
	state.wait, state.noRetryReason, state.stopCause = next.wait, next.reason, next.cause
	switch next.step {
	case giveUp:
		return false
	case renewToken:
		return c.renewToken(ctx)
	case dropExpect:
		state.expectRefused = true
		return true
	case resend:
	}
	if !c.refusedStream() && !c.gate().Retries.Spend() {
		state.noRetryReason = "not retried: most calls fail, and the client's retry budget is used up"
		return false
	}
	if next.serverAsked {
		c.core().stats.addWait(next.wait)
	}
	c.core().config.log.beforeRetry(ctx, c, next.wait)
	return true
}

// shouldRetry returns the next step after a failed attempt. It has no effects.
func (c *call) shouldRetry(ctx context.Context) decision {
	status := c.response.status
	switch {
	case c.cannotResend(ctx):
		return decision{}
	case status == http.StatusUnauthorized && (c.attempt.offOrigin || c.retry.tokenRenewed):
		return decision{}
	case status == http.StatusUnauthorized:
		return decision{step: renewToken}
	case c.mayDropExpect():
		return decision{step: dropExpect}
	}
	return c.options.retry.decide(ctx, c.retry.attempts, c.route().Class, c.attempt.sent.Load(), c.response)
}

// cannotResend reports whether nothing can be sent again: the context has ended, or the body cannot
// be opened again.
func (c *call) cannotResend(ctx context.Context) bool {
	return ctx.Err() != nil || c.retry.bodyOpened && c.body.once
}

// mayDropExpect reports whether the server rejected the Expect header with a 417, so that the body
// is sent without it (RFC 9110 §10.1.1).
func (c *call) mayDropExpect() bool {
	return c.response.status == http.StatusExpectationFailed && c.attempt.expects
}

// renewToken requests a token other than the rejected one, once per call, and reports whether it
// got one.
func (c *call) renewToken(ctx context.Context) bool {
	c.retry.tokenRenewed = true
	fresh, err := c.request.auth.Renew(ctx, c.attempt.sentToken)
	if err != nil {
		c.response.fail(credentialError(err))
	}
	return fresh && err == nil
}

// refusedStream reports whether an HTTP/2 server refused the request, because the connection has
// too many streams or is being closed. Such a server works, so the retry takes nothing from the
// retry budget.
func (c *call) refusedStream() bool {
	return errors.Is(c.response.err, conn.ErrNotProcessed) && c.attempt.conn.IsHTTP2()
}
