package forge

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/internal/conn"
	"github.com/forge-sdk/forge-go/internal/throttle"
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
	own           routeContext  // what context points to
	wait          time.Duration // before the next attempt
	anyBodyOpened bool          // by any attempt; a body that cannot be opened twice ends the retries
	expectRefused bool          // the server refused the Expect header
	tokenRenewed  bool          // after a 401, once per call
	client        retryablehttp.Client
	http          http.Client // its transport is the loop
	counted       int         // attempts that count for RetryPolicy: all but those after the two above
	spent         bool        // a retry was taken from the retry budget
}

// run makes attempts until one is the last. Its result is then that of the loop. The order is: Do,
// RoundTrip, afterAttempt, a sleep for Backoff, and RoundTrip again. A context that ends in the
// sleep skips afterAttempt, which is why pending exists. RoundTrip returns no redirect, which the
// http.Client would follow: redirectStep has followed or refused it.
func (l *loop) run() {
	l.http.Transport = l
	l.client = retryablehttp.Client{
		HTTPClient: &l.http,
		RetryMax:   1 << 20, // RetryPolicy counts
		CheckRetry: func(_ context.Context, resp *http.Response, err error) (bool, error) {
			return l.afterAttempt(resultOf(resp, err)), nil
		},
		Backoff:      func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return l.wait },
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	outer := (&http.Request{Method: l.route().Method, URL: &l.url, Header: http.Header{}}).WithContext(l.context) // never sent
	_, _ = l.client.Do(&retryablehttp.Request{Request: outer})                                                    //nolint:bodyclose // afterAttempt has seen the result; only a wait that ctx ended has another error
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
func (l *loop) waits(until time.Time, why string, wait time.Duration) {
	l.core().observers().waits(&l.callState, until, why, wait)
}

// paces and paced pass a wait of pacing to the observers.
func (l *loop) paces(until time.Time)    { l.core().observers().paces(&l.callState, until) }
func (l *loop) paced(wait time.Duration) { l.core().observers().paced(wait) }

// attemptError passes the result of an attempt without a response to afterAttempt.
type attemptError result

func (f *attemptError) Error() string { return f.err.Error() }

// resultBody passes the result of an attempt with a response to afterAttempt. As a body it is
// empty.
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

// afterAttempt decides what follows an attempt, carries the decision out, and reports whether there
// is another attempt. It is the loop's CheckRetry.
func (l *loop) afterAttempt(r *result) bool {
	if l.result = r; !r.start.IsZero() {
		l.duration = time.Since(r.start)
	}
	l.anyBodyOpened = l.anyBodyOpened || r.bodyOpened
	l.maybeApplied = l.maybeApplied || r.sent && !r.ok() && r.mayHaveApplied()
	next := l.decide()
	// From here on there are effects: on the gate that calls share, the token, and the observers.
	updateGate(&l.callState, l.spent)
	if l.pending = l.carryOut(next); l.pending {
		r.discard() // before the wait: an open body would keep the connection from other calls
	}
	again := l.pending && l.context.Err() == nil // without a wait, another attempt could begin after the end
	l.core().observers().attemptEnds(&l.callState, again, l.wait)
	if again && next.step == resend {
		l.core().observers().retryWaits(&l.callState, next)
	}
	return again
}

// decide returns the step that follows the last attempt. It has no effects.
func (l *loop) decide() decision {
	switch {
	case l.ok(), l.context.Err() != nil, l.anyBodyOpened && l.call.body.once:
		return decision{}
	case l.status == http.StatusUnauthorized && (l.offOrigin || l.tokenRenewed):
		return decision{}
	case l.status == http.StatusUnauthorized:
		return decision{step: renewToken}
	case l.status == http.StatusExpectationFailed && l.expects && !l.expectRefused: // RFC 9110 §10.1.1
		return decision{step: dropExpect}
	}
	return l.options.retry.decide(l.context, l.counted, l.route().Class, l.result)
}

// carryOut carries a decision out, and reports whether there is another attempt.
func (l *loop) carryOut(next decision) (again bool) {
	l.wait, l.noRetryReason, l.stopCause = next.wait, next.reason, next.cause
	switch next.step {
	case renewToken:
		l.tokenRenewed = true
		l.counted--
		fresh, err := l.request.auth.Renew(l.context, l.token)
		if err != nil {
			l.result = l.failed(credentialError(err))
		}
		return fresh
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

// updateGate passes on what the result says about the server's limits: what is left of them paces
// other calls, a wait that it requests delays them, and a success counts for the quotas and the
// retry budget.
func updateGate(s *callState, retried bool) {
	updatePacer(s)
	switch {
	case s.ok():
		gateOf(s.call).Retries.Refund(retried)
		countQuota(s)
	case s.status == http.StatusTooManyRequests && s.retryAfter > 0 && !s.offOrigin:
		gateOf(s.call).Hold(keyFor(s.request), s.retryAt)
	}
}

// RetryPolicy sets how many times a call is retried, and after which waits. The policy does not
// determine whether a call may be retried: the endpoint does. A zero field means its default.
type RetryPolicy struct {
	// MaxAttempts is the maximum number of times a call is sent; default 4. 1 disables retries. Two
	// further requests do not count. Each is sent at most once per call, without a wait: one with a
	// renewed token after a 401, and one without the Expect header after a 417.
	MaxAttempts int
	// MinWait is the wait before the second attempt, before jitter, after a status such as 503, a
	// timeout or a refused connection. The wait doubles with each attempt. After a lost connection it
	// is a tenth of MinWait, and after a 429 that requests no wait it is twice MinWait. Default 0.5 s.
	MinWait time.Duration
	// MaxWait is the longest wait between attempts that the server did not request, at least MinWait;
	// default 30 s.
	MaxWait time.Duration
	// MaxRetryAfter is the longest wait that a server may request. If it requests a longer one, the
	// call fails immediately. Default 60 s.
	MaxRetryAfter time.Duration
}

func (p RetryPolicy) check(option string) error {
	if p.MaxAttempts < 0 || p.MinWait < 0 || p.MaxWait < 0 || p.MaxRetryAfter < 0 {
		return &ValidationError{Option: option, Reason: "a field is negative: use 0 for its default"}
	}
	if full := p.withDefaults(); full.MinWait > full.MaxWait {
		return &ValidationError{Option: option, Reason: "MinWait is longer than MaxWait, whose default is 30 s"}
	}
	return nil
}

func (p RetryPolicy) withDefaults() RetryPolicy {
	p.MaxAttempts = cmp.Or(p.MaxAttempts, 4)
	p.MinWait = cmp.Or(p.MinWait, 500*time.Millisecond)
	p.MaxWait = cmp.Or(p.MaxWait, 30*time.Second)
	p.MaxRetryAfter = cmp.Or(p.MaxRetryAfter, time.Minute)
	return p
}

// nextStep is the action of a call after a failed attempt.
type nextStep uint8

const (
	// giveUp: the attempt was the last one.
	giveUp nextStep = iota
	// resend: the request is sent again after a wait, if the retry budget allows it.
	resend
	// renewToken: the request is sent again immediately if there is another token than the rejected
	// one.
	renewToken
	// dropExpect: the request is sent again immediately, without the Expect header.
	dropExpect
)

// decision is the next step and its reason.
type decision struct {
	step        nextStep
	wait        time.Duration // before the request is sent again
	serverAsked bool          // the server requested the wait
	reason      string        // for the error, if the step is giveUp; "": the failure itself is the reason
	cause       error         // the end of the context, if that is the reason
}

// decide returns the decision about a failed attempt of a call of class k; attempts is the number
// of attempts so far that count. An example is whether a PUT is sent again after a 503. It has no
// effects: loop.carryOut carries the decision out.
func (p RetryPolicy) decide(ctx context.Context, attempts int, k RetryClass, r *result) decision {
	if !r.retryable(k) || attempts >= p.MaxAttempts {
		return decision{}
	}
	wait, asked := r.retryAfter, r.retryAfter > 0
	if asked {
		wait += throttle.Jitter(min(wait/10, time.Second))
	} else {
		wait = p.backoff(p.base(r), attempts)
	}
	deadline, limited := ctx.Deadline()
	switch {
	case limited && time.Until(deadline) < wait:
		return pastDeadlineDecision(ctx, wait, r.retryAfter)
	case asked && r.retryAfter > p.MaxRetryAfter:
		return decision{reason: fmt.Sprintf("the server requests a wait of %s; this client waits at most %s (RetryPolicy.MaxRetryAfter)",
			roundUp(r.retryAfter), p.MaxRetryAfter)}
	}
	return decision{step: resend, wait: wait, serverAsked: asked}
}

// pastDeadlineDecision gives up because the context ends before the wait does.
func pastDeadlineDecision(ctx context.Context, wait, retryAfter time.Duration) decision {
	d := decision{cause: pastDeadline(ctx)}
	switch {
	case errors.Is(d.cause, errTokenTimeout):
		d.reason = "the client waits for a token for " + tokenTimeout.String() + " at most, and the next attempt is due in " + roundUp(wait).String()
	case errors.Is(d.cause, ErrTimeout) && retryAfter > 0:
		d.reason = "the server requests a wait of " + roundUp(retryAfter).String()
	case errors.Is(d.cause, ErrTimeout):
		d.reason = "the next attempt is due in " + roundUp(wait).String()
	case retryAfter > 0:
		d.reason = fmt.Sprintf("the server requests a wait of %s, which ends after the context's deadline", roundUp(retryAfter))
	default:
		d.reason = "the context ends before the next attempt, which is due in " + roundUp(wait).String()
	}
	return d
}

// retryable reports whether a call of class k may be sent again after the failed attempt. It
// implements the table in docs/errors-and-retries.md, "Which requests are retried".
func (r *result) retryable(k RetryClass) bool {
	switch {
	case r.permanent || isPermanent(r.err):
		return false
	case r.err != nil:
		return !r.sent || k != RetryClassNonIdempotent
	}
	return k.retriesStatus(r.status) || isLock(r.status, r.message)
}

// isPermanent reports whether a transport error would be the same in another attempt.
func isPermanent(err error) bool {
	if err == nil {
		return false
	}
	if has[*tls.CertificateVerificationError](err) || has[tls.AlertError](err) || has[tls.RecordHeaderError](err) ||
		has[x509.UnknownAuthorityError](err) || has[x509.HostnameError](err) || has[x509.CertificateInvalidError](err) {
		return true
	}
	if lookup, is := errors.AsType[*net.DNSError](err); is {
		return lookup.IsNotFound
	}
	if refused, is := errors.AsType[*conn.ProxyError](err); is {
		return refused.Permanent()
	}
	// crypto/tls reports an alert of the server as an OpError whose cause has no exported type.
	op, is := errors.AsType[*net.OpError](err)
	return is && op.Op == "remote error"
}

// has reports whether err is or wraps an error of type E.
func has[E error](err error) bool {
	_, is := errors.AsType[E](err)
	return is
}

// backoff returns the wait after the given number of attempts. It grows exponentially from base and
// is spread over half to one and a half of that, so that clients that failed together do not retry
// together.
func (p RetryPolicy) backoff(base time.Duration, attempts int) time.Duration {
	wait := p.MaxWait
	if shift := attempts - 1; base<<shift>>shift == base {
		wait = min(base<<shift, p.MaxWait)
	}
	return min(wait/2+throttle.Jitter(wait), p.MaxWait)
}

// base returns the base of the backoff after the attempt. After a lost connection, a new one
// usually works immediately; a server that is overloaded or starting needs longer.
func (p RetryPolicy) base(r *result) time.Duration {
	switch {
	case r.status == http.StatusTooManyRequests:
		return 2 * p.MinWait
	case lostConnection(r.err):
		return p.MinWait / 10
	}
	return p.MinWait
}

func roundUp(d time.Duration) time.Duration {
	return max(d.Round(time.Millisecond), time.Millisecond)
}

// lostConnection reports whether an attempt had a connection, and lost it.
func lostConnection(err error) bool {
	var refused *conn.ProxyError
	return err != nil && !conn.IsDial(err) && !errors.As(err, &refused) &&
		!errors.Is(err, ErrTimeout) && !errors.Is(err, ErrNoCredential)
}

// retriesStatus reports whether calls of the class are sent again after the status. The server did
// not act before a 425 or a 429; before the others it may have.
func (c RetryClass) retriesStatus(status int) bool {
	switch status {
	case http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return c != RetryClassNonIdempotent
	}
	return c != RetryClassNonIdempotent && conn.ProxyStatusText(status) != ""
}

// isLock reports whether the server did not act because another request holds a lock. Deployed
// servers report a lock with a 409; other conflicts persist.
func isLock(status int, message string) bool {
	return status == http.StatusConflict && strings.Contains(message, "Resource lock")
}
