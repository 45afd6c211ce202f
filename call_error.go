package forge

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/forge-sdk/forge-go/internal/conn"
)

// conclude returns the error of a call whose last attempt was made; nil if it succeeded. If the
// context has interrupted the call, that becomes its cause.
func (s *callState) conclude(ctx context.Context) error {
	if s.ok() {
		if s.outcome == unchanged {
			return s.newError() // nothing to change: returned as an error, not counted as a failure
		}
		return nil
	}
	// Otherwise the server's response is the whole reason, even if ctx has ended since.
	interrupted := s.err != nil || s.partial || s.pending || s.retryable(s.route().Class)
	if cause := context.Cause(ctx); errors.Is(cause, ErrTimeout) {
		if interrupted && !errors.Is(s.err, cause) {
			s.result = s.failed(cause)
		}
		s.stopCause = nil
	} else if err := ctx.Err(); err != nil && interrupted {
		s.noRetryReason = cmp.Or(s.noRetryReason, endedByCaller(err))
		if !errors.Is(s.err, err) {
			s.stopCause = err
		}
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
	rejected := newRejection(s)
	if s.stopCause != nil {
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
