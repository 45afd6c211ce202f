package forge

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/forge-sdk/forge-go/internal/credential"
	"github.com/forge-sdk/forge-go/internal/jsonread"
	"github.com/forge-sdk/forge-go/internal/safetext"
)

// decodeError returns the error for a response that cannot be decoded.
func (c *call) decodeError(err error, size int) error {
	var syntax *jsonread.SyntaxError
	var strict *jsonread.StrictError
	var large *jsonread.LimitError
	switch {
	case errors.As(err, &large):
		return c.failAfterSuccess(&sentinelError{sentinel: ErrResponseTooLarge, text: "the response has too many items: " + large.Error()})
	case errors.As(err, &syntax):
		return c.badResponse(fmt.Sprintf("the response is not valid JSON: %s of %d", syntax, size), nil)
	case errors.As(err, &strict):
		return c.badResponse("strict decoding: "+safetext.Clean(strict.Error(), 512), nil)
	}
	return c.badResponse("the response cannot be decoded: "+err.Error(), err)
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
		sentinel: sentinelFor(c.response.status), cause: c.redactError(c.response.err),
	}
	if c.response.err != nil && c.response.status < 400 {
		e.sentinel = nil
	}
	if c.retry.stopCause != nil {
		e.cause = errors.Join(e.cause, c.retry.stopCause)
	}
	e.hint = hintFor(r, c.response.status, c.request.auth.Kind() == credential.JobToken)
	if e.hint == "" {
		e.hint = strings.Trim(c.hintBase()+"; "+hintDecoded(c.request.path, c.response.status, c.response.message), "; ")
	}
	e.hint = cmp.Or(e.hint, hintTLS(c.response.err), hintUnreachable(c.response.err))
	if c.deletedRecently() {
		e.hint = "a repository accepts one bulk deletion an hour: wait, or delete single tags with DeleteTag"
	}
	e.hint = cmp.Or(c.retry.noRetryReason, e.hint)
	return e
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

// redactHeader redacts the values of a response header in place.
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

// hintBase returns a hint that the base URL may be wrong, for a 404 that does not look like one of
// the API, if no call has succeeded yet.
func (c *call) hintBase() string {
	stats := c.core().stats
	foreign := c.response.message == "" || !isJSON(contentType(c.response.header))
	answered := stats.calls.Load()-stats.failures.Load() > 1 // a call other than this one
	if c.response.status != http.StatusNotFound || !foreign || answered || c.attempt.offOrigin || c.route().base != apiBase {
		return ""
	}
	return "check the base URL: the API was requested at " + c.core().baseURL()
}

// hintTLS returns a hint for a rejected certificate or TLS connection.
func hintTLS(err error) string {
	var unknown x509.UnknownAuthorityError
	var roots x509.SystemRootsError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &unknown), errors.As(err, &roots):
		return "if a private authority signed the server's certificate, pass the authority to WithRootCAs (NewClientFromEnv uses " + jobAuthorities + " in a CI job)"
	case strings.Contains(err.Error(), "first record does not look like a TLS handshake"):
		return "the port serves plain http or another protocol: check the address"
	case strings.Contains(err.Error(), "remote error: tls: certificate required"), strings.Contains(err.Error(), "remote error: tls: bad certificate"):
		return "the server requests a client certificate: set TLSClientConfig.Certificates in the transport of WithHTTPClient"
	}
	return ""
}

// hintUnreachable returns a hint for an address at which no server responds.
func hintUnreachable(err error) string {
	var lookup *net.DNSError
	switch {
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return "check the host name in the address"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing accepts connections there: check the address and its port, and whether the server runs"
	}
	return ""
}

// hintFor returns a hint with the requirements of the route.
func hintFor(r *route, status int, jobToken bool) string {
	switch {
	case status == http.StatusUnauthorized && jobToken && !r.JobToken && r.Section != "":
		return "this endpoint does not accept a CI job token: use an access token (" + r.Section + ")"
	case status == http.StatusUnauthorized:
		return "check the credential: it is missing, wrong, expired or revoked"
	case status == http.StatusRequestURITooLong:
		return "the query is too long for this server: use fewer or shorter filters"
	case status != http.StatusForbidden && status != http.StatusNotFound:
		return ""
	}
	var needs []string
	if r.Tier != "" {
		needs = append(needs, r.Tier)
	}
	if r.Offering != "" {
		needs = append(needs, "a "+r.Offering+" instance")
	}
	if r.Release != "" {
		needs = append(needs, "release "+r.Release+" or later")
	}
	if jobToken && !r.JobToken {
		needs = append(needs, "an access token instead of a CI job token")
	}
	if len(needs) == 0 {
		return ""
	}
	return "this endpoint needs " + strings.Join(needs, ", ") + " (" + r.Section + ")"
}

// hintDecoded returns a possible cause of a 404 without a message: a proxy that decodes the slashes
// of a path requests another address.
func hintDecoded(path string, status int, message string) string {
	unspecific := message == "" || message == "404 Not Found" || strings.HasPrefix(message, "an HTML page")
	if status != http.StatusNotFound || !unspecific || !strings.Contains(path, "%2F") {
		return ""
	}
	return "if the object exists, a proxy may have decoded the %2F of the address (nginx does so if proxy_pass has a path): use forge.ID, which needs no %2F"
}
