package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/forge-sdk/forge-go/internal/conn"
	"github.com/forge-sdk/forge-go/internal/jsonread"
	"github.com/forge-sdk/forge-go/internal/safetext"
)

// decodeError returns the error for a response that cannot be decoded.
func (c *call) decodeError(err error, size int) error {
	var syntax *jsonread.SyntaxError
	var strict *jsonread.StrictError
	var large *jsonread.LimitError
	var misfit *misfitError
	switch {
	case errors.As(err, &misfit):
		return c.badResponse("the response does not fit your type: "+misfit.Error(), err)
	case errors.As(err, &large):
		return c.failAfterSuccess(&sentinelError{sentinel: ErrResponseTooLarge, text: "the response has too many items: " + large.Error()})
	case errors.As(err, &syntax):
		return c.badResponse(fmt.Sprintf("the response is not valid JSON: %s of %d", syntax, size), nil)
	case errors.As(err, &strict):
		return c.badResponse("strict decoding: "+c.safeText(strict.Error(), 512), nil)
	}
	return c.badResponse("the response cannot be decoded: "+safetext.Clean(err.Error(), 512), err)
}

func (c *call) badResponse(text string, cause error) error {
	return c.failAfterSuccess(&sentinelError{ErrInvalidResponse, text, cause})
}

// failAfterSuccess returns the error for a successful response that cannot be used.
func (c *call) failAfterSuccess(err error) error {
	c.response.fail(err)
	c.retry.setMaybeApplied()
	return c.newError()
}

// finalError returns the error of a call that failed.
func (c *call) finalError(ctx context.Context) error {
	interrupted := c.response.err != nil || c.response.partial || c.response.retryable(c.route().Class, c.attempt.sent.Load())
	if cause := context.Cause(ctx); errors.Is(cause, ErrTimeout) {
		if interrupted && !errors.Is(c.response.err, cause) {
			c.response.fail(cause)
		}
		c.retry.stop(nil)
	} else if err := ctx.Err(); err != nil && interrupted {
		c.retry.explain(endedByCaller(err))
		if !errors.Is(c.response.err, err) {
			c.retry.stop(err)
		}
	}
	err := c.newError()
	if c.isRateLimited() {
		return &RateLimitError{Until: c.response.retryAt, Err: err}
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
func (c *call) isRateLimited() bool {
	switch c.response.status {
	case http.StatusTooManyRequests:
		return true
	case http.StatusBadRequest:
		return c.deletedRecently()
	}
	return errors.Is(c.response.err, ErrRateLimited) && !c.response.retryAt.IsZero()
}

// deletedRecently reports whether the server refused a bulk deletion because the last one was less
// than an hour ago.
func (c *call) deletedRecently() bool {
	return c.route().quota.refuses(c.response.status, c.response.message)
}

// newError returns the *Error of the last attempt.
func (c *call) newError() *Error {
	r := c.route()
	e := &Error{
		Method: r.Method, Route: r.Template, Path: c.redact(c.request.path), Status: c.response.status, Message: c.response.message, Fields: c.response.fields,
		RequestID: requestID(c.response.header), Attempts: c.retry.attempts,
		MaybeApplied: c.retry.maybeApplied && r.Class != ClassSafe, idempotent: r.Class == ClassIdempotent,
		cause: c.redactError(c.response.err),
	}
	rejected := c.rejection()
	if c.retry.stopCause != nil {
		e.cause = errors.Join(e.cause, c.retry.stopCause)
	}
	e.hint = cmp.Or(c.redact(rejected.hint()), hintTLS(c.response.err), hintUnreachable(c.response.err), c.hintProxy())
	if c.deletedRecently() {
		e.hint = "a repository accepts one bulk deletion an hour: wait, or delete single tags with DeleteTag"
	}
	e.hint = cmp.Or(c.retry.noRetryReason, e.hint)
	if c.attempt.offOrigin {
		e.hint = strings.TrimPrefix(e.hint+"; the server redirected to "+c.safeText(c.attempt.target.Scheme+"://"+c.attempt.target.Host, 256), "; ")
	}
	return e
}

// hintProxy names the proxy of a call that got no response. An address with a user is not shown: a
// part of the password may have been read as the host.
func (c *call) hintProxy() string {
	network, _ := c.core().transport.(*http.Transport)
	if c.response.status != 0 || !errors.Is(c.response.err, ErrTimeout) {
		return ""
	}
	switch proxy := conn.ProxyOf(network, &http.Request{URL: &c.url}); {
	case proxy == nil:
		return ""
	case proxy.User != nil:
		return "the request went through a proxy: check its address"
	default:
		return "the request went through the proxy " + c.safeText(proxy.Host, 256) + ": check its address"
	}
}

// rejection returns what a hint is derived from. Another origin's status is not about the API, and
// has no hint.
func (c *call) rejection() (r rejection) {
	r = rejection{route: c.route(), credential: c.request.auth.Kind(), misplaced: c.request.auth.Misplaced(), path: c.request.path, query: parseQuery(c.url.RawQuery), message: c.response.message, words: c.core().config.vocabulary, scopes: c.response.fields["scope"]}
	if c.attempt.offOrigin || c.response.status < 400 {
		return r
	}
	r.values, r.status, r.loopback = c.request.valuesOf, c.response.status, isLoopback(c.url.Hostname())
	r.foreign = r.message != "" && !isJSON(contentType(c.response.header))
	succeeded := c.core().stats.calls.Load()-c.core().stats.failures.Load() > 1 // a call other than this one
	if r.route.base == apiBase && !succeeded {
		r.base = c.core().baseURL()
	}
	return r
}

// redactError replaces an error whose text contains the credential: errors quote servers, and a
// server may send the credential back.
func (c *call) redactError(err error) error {
	if err == nil {
		return nil
	}
	text := safetext.Printable(err.Error())
	if clean := c.redact(text); clean != text {
		return &sentinelError{sentinel: ErrInvalidResponse, text: clean}
	}
	return err
}

// safeText is safetext.Clean for text that may contain the credential. The order matters: remove
// control bytes (which may join the parts of a token), redact, then truncate (which may leave a
// part).
func (c *call) safeText(text string, limit int) string {
	return safetext.Truncate(c.redact(safetext.Printable(text)), limit)
}

// redact removes the client's credential from text, and the token that this call sent: another call
// may have renewed it meanwhile.
func (c *call) redact(text string) string { return c.request.auth.Redact(text, c.attempt.sentToken) }

// redactResponse redacts the texts of a response in place.
func (c *call) redactResponse(resp *http.Response) {
	resp.Status = c.redact(resp.Status)
	c.redactHeader(resp.Header)
}

// redactHeader redacts the values of a header or trailer in place.
func (c *call) redactHeader(h http.Header) {
	for _, values := range h {
		for i, value := range values {
			text := safetext.Printable(value)
			if clean := c.redact(text); clean != text {
				values[i] = clean
			}
		}
	}
}
