package forge

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// loop makes the attempts of one call. It is one value of go-retryablehttp's Client a call:
// CheckRetry evaluates a result and carries the decision out, Backoff is the wait that was decided,
// and the RoundTripper is the chain of steps.
//
// go-retryablehttp makes the attempts, waits between them, and ends a wait with the context. Three
// parts are not its own, because it cannot do them: the body is opened by the exchange, since the
// library buffers a reader and opens the body of a function one extra time to measure it; the
// decision evaluates the result, since after a network error the library knows no request; and the
// first line that it logs would name the address, so it gets no logger. It has no
// CloseIdleConnections to call.
type loop struct {
	callState
	context       routeContext  // of the attempts
	wait          time.Duration // before the next attempt
	bodyOpened    bool          // a body that cannot be opened twice ends the retries
	expectRefused bool          // the server refused the Expect header
	tokenRenewed  bool          // after a 401, once per call
	client        retryablehttp.Client
	http          http.Client // its transport is the loop
	counted       int         // attempts that count for RetryPolicy: all but those after the two above
	spent         bool        // a retry was taken from the retry budget
}

// run makes attempts until one is the last. Its result is then that of the loop.
func (l *loop) run(ctx context.Context) {
	l.http.Transport = l
	l.client = retryablehttp.Client{
		HTTPClient:   &l.http,
		RetryMax:     1 << 20, // RetryPolicy counts
		CheckRetry:   l.checkRetry,
		Backoff:      func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return l.wait },
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	outer := (&http.Request{Method: l.route().Method, URL: &l.url, Header: http.Header{}}).WithContext(ctx) // never sent
	_, _ = l.client.Do(&retryablehttp.Request{Request: outer})                                              //nolint:bodyclose // checkRetry has seen the result; only a wait that ctx ended has another error
}

// RoundTrip makes one attempt. The result is the error, or comes with the response.
func (l *loop) RoundTrip(req *http.Request) (*http.Response, error) {
	r := throttleStep{}.do(req.Context(), attempt{call: l.call, withoutExpect: l.expectRefused, observer: l})
	if r.err != nil {
		return nil, (*attemptError)(r)
	}
	return &http.Response{StatusCode: r.status, Header: r.header, Body: (*resultBody)(r), Request: req}, nil
}

// begins counts an attempt that is about to be sent.
func (l *loop) begins() {
	l.attempts++
	l.counted++
	l.core().observers().attemptBegins(l.attempts > 1)
}

// waits passes a wait before an attempt to the observers.
func (l *loop) waits(ctx context.Context, until time.Time, why string, wait time.Duration) {
	l.core().observers().waits(ctx, &l.callState, until, why, wait)
}

// attemptError passes the result of an attempt without a response to checkRetry.
type attemptError result

func (f *attemptError) Error() string { return f.err.Error() }

// resultBody passes the result of an attempt with a response to checkRetry. As a body it is empty.
type resultBody result

func (*resultBody) Read([]byte) (int, error) { return 0, io.EOF }
func (*resultBody) Close() error             { return nil }

// resultOf returns the result that RoundTrip has passed on.
func resultOf(resp *http.Response, err error) *result {
	var failed *attemptError
	if errors.As(err, &failed) {
		return (*result)(failed)
	}
	return (*result)(resp.Body.(*resultBody)) //nolint:forcetypeassert // RoundTrip sets it
}

// checkRetry is called after each attempt. It reports whether there is another one.
func (l *loop) checkRetry(ctx context.Context, resp *http.Response, err error) (bool, error) {
	r := resultOf(resp, err)
	if l.result, l.pending = r, false; !r.start.IsZero() {
		l.duration = time.Since(r.start)
	}
	l.bodyOpened = l.bodyOpened || r.bodyOpened
	l.maybeApplied = l.maybeApplied || r.sent && !r.ok() && r.ambiguous()
	next := l.next(ctx)
	// From here on there are effects: on the gate that calls share, the token, and the observers.
	updateGate(&l.callState, l.spent)
	again := l.carryOut(ctx, next)
	l.pending = again
	if again {
		r.discard() // before the wait: an open body would keep the connection from other calls
	}
	l.core().observers().attemptEnds(ctx, &l.callState, again, l.wait)
	if again && next.step == resend {
		l.core().observers().retries(ctx, &l.callState, next)
	}
	return again, nil
}

// next returns the step that follows the last attempt. It has no effects.
func (l *loop) next(ctx context.Context) decision {
	switch {
	case l.ok(), ctx.Err() != nil, l.bodyOpened && l.call.body.once:
		return decision{}
	case l.status == http.StatusUnauthorized && (l.offOrigin || l.tokenRenewed):
		return decision{}
	case l.status == http.StatusUnauthorized:
		return decision{step: renewToken}
	case l.status == http.StatusExpectationFailed && l.expects && !l.expectRefused: // RFC 9110 §10.1.1
		return decision{step: dropExpect}
	}
	return l.options.retry.decide(ctx, l.counted, l.route().Class, l.result)
}

// carryOut carries a decision out, and reports whether there is another attempt.
func (l *loop) carryOut(ctx context.Context, next decision) (again bool) {
	l.wait, l.noRetryReason, l.stopCause = next.wait, next.reason, next.cause
	switch next.step {
	case renewToken:
		l.tokenRenewed = true
		l.counted--
		fresh, err := l.request.auth.Renew(ctx, l.token)
		if err != nil {
			l.result = l.failed(credentialError(err))
		}
		return fresh && err == nil
	case dropExpect:
		l.expectRefused = true
		l.counted--
		return true
	case resend:
		// An HTTP/2 server that refused the stream works, so the retry takes nothing from the
		// budget.
		if l.refusedStream {
			return true
		}
		if gateOf(l.call).Retries.Spend() {
			l.spent = true
			return true
		}
		l.noRetryReason = "not retried: most calls fail, and the client's retry budget is used up"
	case giveUp:
	}
	return false
}

// updateGate passes on what the result says about the server's limits: a wait that it requests
// delays other calls, and a success counts for the quotas and the retry budget.
func updateGate(s *callState, retried bool) {
	switch {
	case s.ok():
		gateOf(s.call).Retries.Refund(retried)
		countQuota(s)
	case s.status == http.StatusTooManyRequests && s.retryAfter > 0 && !s.offOrigin:
		gateOf(s.call).Hold(keyFor(s.request), s.retryAt)
	}
}
