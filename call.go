package forge

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/internal/conn"
	"github.com/forge-sdk/forge-go/internal/credential"
	"github.com/forge-sdk/forge-go/internal/throttle"
)

// Decisions about calls:
//
//   - An attempt is a chain of steps: throttle, credential, redirect, exchange, receive. A step
//     gets values, calls the next step, and returns a result. The loop around the chain is that of
//     go-retryablehttp; call_retry.go says which part it does.
//   - A failed call closes no connections. go-retryablehttp closes the idle connections of its
//     client when it gives up. Its RoundTripper is the loop, which has no method to do so.
//   - A status has one meaning, defined in contract.go. Rejected: to treat every 2xx as success,
//     which saved a 206 that was not requested as a complete file.
//   - MaybeApplied is set for idempotent writes, too: a PUT whose attempts were all lost may have
//     been applied.
//   - A redirect on the same origin without a query keeps the query of a GET: servers announce a
//     moved project by path only, and without its filters a list would return other items.
//   - A download that has left the origin never gets the credential again, even if a later
//     redirect leads back: another server chose that address.
//   - Downloads request the encoding identity, so that the size is known and the bytes are those
//     of the file.
//   - Sudo is a header, so that it is in no address, link or log. Document 2 §4.3 documents a
//     parameter for one call. Document 1 §5 documents sudo for all calls, but not how it is sent.
//     Deployed servers accept both.
//   - A separate goroutine that may run the caller's code is a task.Task. Its panic is raised again
//     in the goroutine of the call, and every wait for it ends with the context. In a plain call a
//     hook, a Limiter, a logger or a transport runs in the caller's goroutine. Rejected: a
//     goroutine for each hook, which every call would pay for.
//   - Calls and their headers are not reused: callers' RoundTrippers keep requests, and set
//     headers on them without a copy.

// call is what is sent: a request with its options, checked and encoded. Its attempts never change
// it.
type call struct {
	request *request
	options *callOptions
	url     url.URL
	query   url.Values // encoded in url; for a list, it is encoded per page with the pagination
	body    *payload
	buffers *bufferCache // of the list; nil: none

	keysetOptional bool // a 405 is not a failure, as the list continues by offset
}

func (c *call) core() *core                             { return c.request.core }
func (c *call) route() *route                           { return c.request.route }
func (c *call) redactor(token credential.Sent) redactor { return redactor{c.request.auth, token} }

// attempt is what the steps of one attempt are given.
type attempt struct {
	*call
	withoutExpect bool // the server refused the Expect header
	observer      attemptObserver
}

// attemptObserver is notified when a wait before an attempt begins (until is its end, and why its
// reason), and when the attempt itself begins. The length of a wait of pacing is known at its end.
type attemptObserver interface {
	begins()
	waits(until time.Time, why string, wait time.Duration)
	paces(until time.Time)
	paced(wait time.Duration)
}

// delivery is the part of a result about sending: what was sent, and where.
type delivery struct {
	start         time.Time       // of the attempt; zero: nothing was about to be sent
	sent          bool            // the last request got a connection, so bytes may have arrived
	bodyOpened    bool            // the body was read, or may have been
	expects       bool            // the last request has the Expect header
	refusedStream bool            // an HTTP/2 server refused the request: too many streams, or the connection is being closed
	token         credential.Sent // of the attempt, sent or not
	target        *url.URL        // of the last redirect; nil: there was none
	offOrigin     bool            // a redirect led to another origin: the status and headers are not those of the API
	movedTo       *url.URL        // of the last redirect on the client's own origin
	bytesSent     int64
	bytesReceived int64
}

// result is what an attempt has led to. The step that ends the attempt makes it.
type result struct {
	delivery
	ticket     *throttle.Ticket // of the pacer; nil: the attempt was not paced
	pacingWait time.Duration    // before the attempt
	outcome    outcome          // 0 without a response
	status     int
	header     http.Header
	resp       *http.Response // nil after an error; its body is read, or is that of the stream
	stream     *stream        // the body of a download; the caller must close it
	buffer     *decodeBuffer  // of JSON
	message    string         // the server's error message
	fields     map[string][]string
	partial    bool // the body of an error response was truncated
	retryAfter time.Duration
	retryAt    time.Time
	err        error // an error below HTTP, or in the response
	permanent  bool  // another attempt cannot fix err
}

// ok reports whether the attempt succeeded. A 304 that is documented or was requested is a success.
func (r *result) ok() bool {
	return r.err == nil && (r.outcome == succeeded || r.outcome == unchanged)
}

// mayHaveApplied reports whether a write that was sent may have taken effect, although the attempt
// failed.
func (r *result) mayHaveApplied() bool {
	switch {
	case r.outcome == unexpected:
		return true
	case r.err != nil:
		return r.status < 300 || r.status == http.StatusSeeOther
	}
	return r.status == http.StatusRequestTimeout || r.status >= 500
}

// failed returns the result with an error.
func (r *result) failed(err error) *result {
	failed := *r
	failed.err, failed.retryAfter = err, max(r.retryAfter, proxyWait(err))
	return &failed
}

// proxyWait returns the wait requested by a proxy that did not connect to the server; 0 for other
// errors.
func proxyWait(err error) time.Duration {
	var refused *conn.ProxyError
	if errors.As(err, &refused) {
		return throttle.RetryAfter(refused.Status, refused.Header, time.Now())
	}
	return 0
}

// discard closes the body of a result that the caller does not get. The rest of a short body is
// read, so that the connection stays usable.
func (r *result) discard() {
	if r.stream != nil {
		_, _ = io.CopyN(io.Discard, r.stream, drainBytes)
		_ = r.stream.Close()
	}
}

// callState is what is known about a call: the result of its last attempt, and what happened
// before.
type callState struct {
	*call
	*result
	context       *routeContext // of the attempts, with the limit of Timeout; after them, without it
	started       time.Time
	attempts      int           // sent so far
	duration      time.Duration // of the last attempt
	maybeApplied  bool          // an attempt may have taken effect: afterAttempt sets it, newError reads it
	noRetryReason string        // why there is no further attempt; "": the result is the reason
	stopCause     error         // the end of the context, if that is why there is no further attempt
	pending       bool          // another attempt was decided, and not made yet
}

// send runs the attempts. Its error, an *Error or a *RateLimitError, is returned to the caller. The
// state is never nil. If its result has a stream, which HTTPClient gets with an error, too, the
// caller of send must close it.
func (c *call) send(ctx context.Context) (*callState, error) {
	l := &loop{callState: callState{call: c, result: new(result), started: time.Now()}}
	if ctx == nil {
		return &l.callState, c.request.withRoute(errNilContext)
	}
	if plan := c.options.plan; plan != nil {
		return &l.callState, plan(c)
	}
	limited, endTimeout := ctx, func() {}
	if limit := c.options.limits.call; limit != 0 {
		limited, endTimeout = withTimeout(ctx, c.options.kind.subject(), limit)
	}
	l.own = routeContext{limited, c.route()}
	l.context = &l.own
	returned := false
	defer func() {
		if returned && l.stream != nil {
			l.stream.onEnd(endTimeout)
			return
		}
		if l.stream != nil { // the caller's code panicked
			_ = l.stream.Close()
		}
		endTimeout()
	}()
	c.core().observers().callBegins()
	l.run()
	err := l.conclude()
	l.finish(err)
	if returned = true; c.options.limits.call != 0 { // the requests keep the other one
		l.context = &routeContext{ctx, c.route()}
	}
	return &l.callState, err
}

// finish counts and records the end of the call. ErrNotModified is not a failure: there was nothing
// to change. It is called again when a response cannot be decoded.
func (s *callState) finish(err error) {
	refused := s.keysetOptional && s.status == http.StatusMethodNotAllowed
	s.core().observers().callEnds(s, err, err != nil && s.outcome != unchanged && !refused)
}

// conclude returns the error of a call whose last attempt was made; nil if it succeeded. If the
// context has interrupted the call, that becomes its cause.
func (s *callState) conclude() error {
	if s.ok() {
		if s.outcome == unchanged {
			return s.newError() // nothing to change: returned as an error, not counted as a failure
		}
		return nil
	}
	// Otherwise the server's response is the whole reason, even if ctx has ended since.
	interrupted := s.err != nil || s.partial || s.pending || s.retryable(s.route().Class)
	if cause := context.Cause(s.context); errors.Is(cause, ErrTimeout) {
		if interrupted && !errors.Is(s.err, cause) {
			s.result = s.failed(cause)
		}
	} else if err := s.context.Err(); err != nil && interrupted {
		s.noRetryReason = cmp.Or(s.noRetryReason, endedByCaller(err))
		s.stopCause = err
	}
	err := s.newError()
	if isRateLimited(s) {
		return &RateLimitError{Until: s.retryAt, Err: err}
	}
	return err
}

// endedByCaller returns the text for a context that the caller canceled or whose deadline has
// passed.
func endedByCaller(err error) string {
	if errors.Is(err, context.Canceled) {
		return "the caller canceled the context"
	}
	return "the deadline of the caller's context has passed"
}

// isRateLimited reports whether the call failed because it is rate limited. For bulk deletions the
// status is 400.
func isRateLimited(s *callState) bool {
	switch s.status {
	case http.StatusTooManyRequests:
		return true
	case http.StatusBadRequest:
		return deletedRecently(s)
	}
	return errors.Is(s.err, ErrRateLimited) && !s.retryAt.IsZero()
}

// deletedRecently reports whether the server refused a bulk deletion because the last one was less
// than an hour ago.
func deletedRecently(s *callState) bool {
	return s.route().quota.refuses(s.status, s.message)
}

// newError returns the *Error of the last attempt.
func (s *callState) newError() *Error {
	r, redact := s.route(), s.redactor(s.token)
	e := &Error{
		Method: r.Method, Route: r.Template, Path: redact.redact(s.request.path), Status: s.status, Message: s.message, Fields: s.fields,
		RequestID: requestID(s.header), Attempts: s.attempts,
		MaybeApplied: s.maybeApplied && r.Class != RetryClassSafe, idempotent: r.Class == RetryClassIdempotent,
		cause: redact.redactError(s.err),
	}
	if s.resp != nil && s.options.into != nil && s.options.kind == kindList {
		e.header = s.resp.Header
	}
	rejected := newRejection(s)
	if s.stopCause != nil && !errors.Is(e.cause, s.stopCause) {
		e.cause = errors.Join(e.cause, s.stopCause)
	}
	e.hint = cmp.Or(redact.redact(rejected.hint()), hintTLS(s.err), hintUnreachable(s.err), hintProxy(s))
	if deletedRecently(s) {
		e.hint = "a repository accepts one bulk deletion an hour: wait, or delete single tags with DeleteTag"
	}
	e.hint = cmp.Or(s.noRetryReason, e.hint)
	if s.offOrigin {
		e.hint = strings.TrimPrefix(e.hint+"; the server redirected to "+redact.safeText(s.target.Scheme+"://"+s.target.Host, 256), "; ")
	}
	return e
}

// hintProxy names the proxy of a call that got no response. An address with a user is not shown: a
// part of the password may have been read as the host.
func hintProxy(s *callState) string {
	network, _ := s.core().transport.(*http.Transport)
	if s.status != 0 || !errors.Is(s.err, ErrTimeout) {
		return ""
	}
	switch proxy := conn.ProxyOf(network, &http.Request{URL: &s.url}); {
	case proxy == nil:
		return ""
	case proxy.User != nil:
		return "the request went through a proxy: check its address"
	default:
		return "the request went through the proxy " + s.redactor(s.token).safeText(proxy.Host, 256) + ": check its address"
	}
}

// newRejection returns what a hint is derived from. Another origin's status is not about the API,
// and has no hint.
func newRejection(s *callState) (r rejection) {
	r = rejection{route: s.route(), credential: s.request.auth.Kind(), misplaced: s.request.auth.Misplaced(), path: s.request.path, query: parseQuery(s.url.RawQuery), message: s.message, vocabulary: s.core().config.vocabulary, scopes: s.fields["scope"]}
	if s.offOrigin || s.status < 400 {
		return r
	}
	r.values, r.status, r.loopback = s.request.valuesOf, s.status, isLoopback(s.url.Hostname())
	r.foreign = r.message != "" && !isJSON(contentType(s.header))
	succeeded := s.core().stats.calls.Load()-s.core().stats.failures.Load() > 1 // a call other than this one
	if r.route.base == apiBase && !succeeded {
		r.base = s.core().baseURL()
	}
	return r
}

// timeLimitKey is the context key of the error of a wait that ends after the library's own limit.
type timeLimitKey struct{}

// withTimeout returns a context with the limit of the option Timeout, for what, such as "the page".
// An earlier deadline of ctx stays the limit.
func withTimeout(ctx context.Context, what string, limit time.Duration) (context.Context, context.CancelFunc) {
	deadline := time.Now().Add(limit)
	if earlier, limited := ctx.Deadline(); limited && earlier.Before(deadline) {
		return ctx, func() {}
	}
	passed := &conn.TimeoutError{Text: what + " took longer than " + limit.String(), Sentinel: ErrTimeout}
	early := &conn.TimeoutError{Text: what + " would take longer than " + limit.String(), Sentinel: ErrTimeout}
	ctx, cancel := context.WithDeadlineCause(ctx, deadline, passed)
	return context.WithValue(ctx, timeLimitKey{}, early), cancel
}

// pastDeadline returns the error of a wait that ends after the deadline of ctx. If the deadline is
// that of Timeout or of a request for a token, the error matches ErrTimeout; otherwise it is
// context.DeadlineExceeded.
func pastDeadline(ctx context.Context) error {
	if own, limited := ctx.Value(timeLimitKey{}).(error); limited {
		return own
	}
	return context.DeadlineExceeded
}
