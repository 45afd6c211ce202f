package forge

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/forge-sdk/forge-go/internal/credential"
	"github.com/forge-sdk/forge-go/internal/jsonread"
	"github.com/forge-sdk/forge-go/internal/safetext"
)

// undecodable says where an answer is not what it should be.
func (c *call) undecodable(err error, size int) error {
	var syntax *jsonread.SyntaxError
	var strict *jsonread.StrictError
	var large *jsonread.LimitError
	switch {
	case errors.As(err, &large):
		c.last.err = &failure{sentinel: ErrTooLarge, text: "the answer has too many items: " + large.Error()}
		c.retry.setMaybeApplied()
		return c.error()
	case errors.As(err, &syntax):
		return c.unusable(fmt.Sprintf("the answer is not valid JSON: %s of %d", syntax, size), nil)
	case errors.As(err, &strict):
		return c.unusable("strict decoding: "+safetext.Clean(strict.Error(), 512), nil)
	}
	return c.unusable("the answer cannot be decoded: "+err.Error(), err)
}

func (c *call) unusable(text string, cause error) error {
	c.last.err = &failure{ErrAnswer, text, cause}
	c.retry.setMaybeApplied()
	return c.error()
}

// failed makes the error of a call that did not end well.
func (c *call) failed(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, ErrTimeout) {
		c.last.err, c.last.cause = cause, nil
	} else if err := ctx.Err(); err != nil && (c.last.err != nil || c.last.partial || c.last.retryable(c.route().class)) {
		c.retry.explain(endedByCaller(err))
		if !errors.Is(c.last.err, err) {
			c.last.cause = err
		}
	}
	err := c.error()
	if c.limited() {
		return &RateLimitError{Until: c.last.until, Err: err}
	}
	return err
}

// endedByCaller explains the end of the caller's context.
func endedByCaller(err error) string {
	if errors.Is(err, context.Canceled) {
		return "the caller canceled the context"
	}
	return "the deadline of the caller's context has passed"
}

// limited reports whether the call failed because the server holds it back. Of its bulk deletions it says so with a 400.
func (c *call) limited() bool {
	a := &c.last
	switch a.status {
	case http.StatusTooManyRequests:
		return true
	case http.StatusBadRequest:
		return c.deletedRecently()
	}
	return errors.Is(a.err, ErrRateLimited) && !a.until.IsZero()
}

// deletedRecently reports whether the server refused a second bulk deletion within an hour.
func (c *call) deletedRecently() bool {
	return c.route().quota.refuses(c.last.status, c.last.message)
}

// error makes the *Error of the last attempt.
func (c *call) error() *Error {
	a, r := &c.last, c.route()
	e := &Error{
		Method: r.method, Route: r.template, Path: c.scrub(c.request.path), Status: a.status, Message: a.message, Fields: a.fields,
		RequestID: requestID(a.header), Attempts: c.retry.attempts,
		MaybeApplied: c.retry.maybeApplied && r.class != safe,
		sentinel:     sentinelFor(a.status), cause: c.scrubbed(a.err),
	}
	if a.err != nil && a.status < 400 {
		e.sentinel = nil
	}
	if a.cause != nil {
		e.cause = errors.Join(e.cause, a.cause)
	}
	e.hint = hintFor(r, a.status, c.auth.Kind() == credential.JobToken)
	if e.hint == "" {
		e.hint = strings.Trim(c.hintBase()+"; "+hintDecoded(c.request.path, a.status, a.message), "; ")
	}
	e.hint = cmp.Or(e.hint, hintTLS(a.err))
	if c.deletedRecently() {
		e.hint = "a repository takes one bulk deletion an hour: wait, or delete single tags with DeleteTag"
	}
	e.hint = cmp.Or(c.retry.noRetryReason, e.hint)
	return e
}

// scrubbed replaces an error whose text holds the credential, as one does that quotes a server which sent it back.
func (c *call) scrubbed(err error) error {
	if err == nil {
		return nil
	}
	text := safetext.Printable(err.Error())
	if clean := c.scrub(text); clean != text {
		return &failure{sentinel: ErrAnswer, text: clean}
	}
	return err
}

// clean is safetext.Clean for what a server may have put the credential into. It is taken out of what will be shown, and before that is cut:
// cleaning can join the parts of a token, and cutting leaves a part.
func (c *call) clean(text string, limit int) string {
	return safetext.Truncate(c.scrub(safetext.Printable(text)), limit)
}

// scrub takes the client's secret out of text from outside, and the token that this call sent, which another call may have
// renewed meanwhile.
func (c *call) scrub(text string) string { return c.auth.Redact(text, c.sent) }

// scrubHeader does so where a server sends it back, in place.
func (c *call) scrubHeader(h http.Header) {
	for _, values := range h {
		for i, value := range values {
			text := safetext.Printable(value)
			if clean := c.scrub(text); clean != text {
				values[i] = clean
			}
		}
	}
}

// hintBase doubts the base URL when nothing has gone well there yet, and a 404 is not one that the API would give.
func (c *call) hintBase() string {
	a, stats := &c.last, c.core().stats
	foreign := a.message == "" || !isJSON(contentType(a.header))
	answered := stats.calls.Load()-stats.failures.Load() > 1 // another one than this
	if a.status != http.StatusNotFound || !foreign || answered || a.away || c.route().base != apiBase {
		return ""
	}
	return "is the base URL right? The API was looked for at " + c.core().baseURL()
}

// hintTLS says what to do about a certificate or a connection that TLS refuses.
func hintTLS(err error) string {
	var unknown x509.UnknownAuthorityError
	var roots x509.SystemRootsError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &unknown), errors.As(err, &roots):
		return "if the server's certificate comes from a private authority, give that to WithRootCAs (NewClientFromEnv takes " + jobAuthorities + " in a CI job)"
	case strings.Contains(err.Error(), "remote error: tls: certificate required"), strings.Contains(err.Error(), "remote error: tls: bad certificate"):
		return "the server asks for a certificate of the client: set TLSClientConfig.Certificates in the transport of WithHTTPClient"
	}
	return ""
}

// hintFor says what a refused route needs, so that the reader need not look it up.
func hintFor(r *route, status int, jobToken bool) string {
	switch {
	case status == http.StatusUnauthorized && jobToken && !r.jobToken && r.section != "":
		return "this endpoint takes no CI job token: it needs an access token (" + r.section + ")"
	case status == http.StatusUnauthorized:
		return "check the credential: it is missing, wrong, expired or revoked"
	case status == http.StatusRequestURITooLong:
		return "the query is too long for this server: use fewer or shorter filters"
	case status != http.StatusForbidden && status != http.StatusNotFound:
		return ""
	}
	var needs []string
	if r.tier != "" {
		needs = append(needs, r.tier)
	}
	if r.offering != "" {
		needs = append(needs, "a "+r.offering+" instance")
	}
	if r.release != "" {
		needs = append(needs, "release "+r.release+" or later")
	}
	if jobToken && !r.jobToken {
		needs = append(needs, "an access token instead of a CI job token")
	}
	if len(needs) == 0 {
		return ""
	}
	return "this endpoint needs " + strings.Join(needs, ", ") + " (" + r.section + ")"
}

// hintDecoded names a cause of a 404 that says no more: a proxy that has decoded the slashes of a path sends another address on.
func hintDecoded(path string, status int, message string) string {
	unspecific := message == "" || message == "404 Not Found" || strings.HasPrefix(message, "an HTML page")
	if status != http.StatusNotFound || !unspecific || !strings.Contains(path, "%2F") {
		return ""
	}
	return "if it exists, a proxy on the way decodes the %2F of the address (in nginx, a proxy_pass that names a path does): forge.ID needs none"
}
