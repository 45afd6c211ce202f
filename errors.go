package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/internal/safetext"
)

// sentinel is a constant error, so that no package variable can be changed.
type sentinel string

// Error returns the sentinel's text.
func (s sentinel) Error() string { return string(s) }

// Sentinels for errors.Is. Every failed call returns an *Error or a *ValidationError, or a
// *RateLimitError, which wraps an *Error. An *Error matches the sentinel of its status or of the
// failure, and the underlying error (context.DeadlineExceeded, io.ErrUnexpectedEOF and so on).
const (
	// ErrNotModified: status 304. Of a write: nothing to change, because the user is already
	// subscribed or the to-do item exists; Error.MaybeApplied reports whether an earlier attempt of
	// the same call may have made the change itself. Of a conditional request, with
	// Header("If-None-Match", etag): the object is as it was. It is not counted as a failure.
	ErrNotModified = sentinel("nothing to change")
	// ErrBadRequest: status 400; Error.Fields names the rejected fields if the server does.
	ErrBadRequest = sentinel("bad request")
	// ErrUnauthorized: status 401, the credential is missing, wrong or expired.
	ErrUnauthorized = sentinel("unauthorized")
	// ErrForbidden: status 403, the credential lacks the role or scope.
	ErrForbidden = sentinel("forbidden")
	// ErrNotFound: status 404; servers also return it for a private project that the user cannot see.
	ErrNotFound = sentinel("not found")
	// ErrConflict: status 409, for example a dependency that exists already.
	ErrConflict = sentinel("conflict")
	// ErrURITooLong: status 414, the query is longer than the server accepts.
	ErrURITooLong = sentinel("request address too long")
	// ErrUnprocessable: status 422.
	ErrUnprocessable = sentinel("unprocessable")
	// ErrRateLimited: status 429, a call that was not sent because of a rate limit or the Limiter, or
	// a second bulk deletion of tags within an hour; see RateLimitError.
	ErrRateLimited = sentinel("rate limited")
	// ErrServer: any 5xx status.
	ErrServer = sentinel("server error")
	// ErrTimeout: the server sent nothing for longer than HeaderTimeout, a body made no progress for
	// 60 s, or the call took longer than Timeout. A context's deadline does not match it.
	ErrTimeout = sentinel("server too slow")
	// ErrRedirect: a redirect that the client does not follow, such as one to another host.
	ErrRedirect = sentinel("redirect refused")
	// ErrInvalidResponse: a complete response that is not what the endpoint documents, such as an HTML
	// page or invalid JSON. A truncated response is io.ErrUnexpectedEOF instead; one that is too large
	// is ErrResponseTooLarge.
	ErrInvalidResponse = sentinel("unusable response")
	// ErrResponseTooLarge: a response over the limit of MaxBytes.
	ErrResponseTooLarge = sentinel("response too large")
	// ErrChecksum: a download whose content does not match its checksum.
	ErrChecksum = sentinel("checksum differs")
	// ErrDryRun: returned by every call with the request option DryRun, once its request is planned.
	ErrDryRun = sentinel("dry run: nothing was sent")
	// ErrDeleteFailed: the awaited deletion failed; see RegistryService.WaitDeleted.
	ErrDeleteFailed = sentinel("deletion failed")
	// ErrRepeatedPage: a list whose next link leads back to a page that was already read.
	ErrRepeatedPage = sentinel("page repeats")
	// ErrUnordered: a list with Since whose items are not in the order that was requested, or of
	// another time, so that changes would be lost.
	ErrUnordered = sentinel("list out of order")
	// ErrNoCredential: the credential could not be obtained or refreshed.
	ErrNoCredential = sentinel("no usable credential")
)

// Error is the error of a failed call. It contains neither the request nor a credential.
type Error struct {
	// Method is the HTTP method of the call.
	Method string
	// Route is the path template of the endpoint: "/projects/:id/issues".
	Route string
	// Path is the requested path, escaped, without the query: "/groups/acme%2Fplatform/issues". It is
	// relative to the base URL of the API or of the registry.
	Path string
	// Status is the HTTP status of the last response; 0 if there was none.
	Status int
	// Message is the server's error message, without control bytes, at most 8 KiB.
	Message string
	// Fields holds the server's messages by field name, if it sent any.
	Fields map[string][]string
	// RequestID is the server's X-Request-Id, up to 128 bytes. Its operators can find the request
	// with it.
	RequestID string
	// Attempts is the number of times the request was sent.
	Attempts int
	// MaybeApplied reports that a write may have taken effect although it failed: check before
	// retrying it. A RoundTripper of the caller that fails does not show whether it sent the write, so
	// that MaybeApplied is set then, too, unless its error is a *net.OpError of "dial".
	MaybeApplied bool

	hint  string
	cause error // of a failure without a usable response

	idempotent bool        // the route is: sending the call again is safe
	header     http.Header // of the last response to a list that has Into
}

// Error returns a text with the call, the response, and what to do about it.
func (e *Error) Error() string {
	if e == nil {
		return nilError
	}
	return e.textOr("the call failed", "")
}

// nilError is the text of a nil pointer to an error type.
const nilError = "forge: no error"

// textOr returns the text of the error, and end. otherwise is the reason if the error has none.
func (e *Error) textOr(otherwise, end string) string {
	said := e.Message
	parts := []string{"forge", joinWords(e.Method, withObject(e.Route, e.Path))}
	if e.Status != 0 {
		code, text := strconv.Itoa(e.Status), statusText(e.Status)
		parts = append(parts, joinWords(code, text))
		if said = strings.TrimPrefix(said, code+" "); strings.EqualFold(said, text) {
			said = ""
		}
	}
	reason := joinParts(": ", said, e.causeText())
	if reason == "" && e.Status == 0 {
		reason = otherwise
	}
	var b strings.Builder
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " (%d attempts)", e.Attempts)
	}
	if e.RequestID != "" {
		fmt.Fprintf(&b, " (request id %s)", e.RequestID)
	}
	switch {
	case e.MaybeApplied && e.idempotent:
		b.WriteString("; the write may have been applied: sending it again is safe")
	case e.MaybeApplied:
		b.WriteString("; the write may have been applied: check before sending it again")
	}
	if e.hint != "" {
		b.WriteString("; " + e.hint)
	}
	return limitedText(joinParts(": ", parts...), reason, b.String()+end)
}

const maxErrorText = 8 << 10 // bytes

// limitedText returns the parts of an error's text in at most maxErrorText bytes. The reason, which
// is mostly the server's, is truncated first: what the call was and what to do are in the others.
func limitedText(call, reason, rest string) string {
	const dots = len("...")
	call, rest = safetext.Truncate(call, maxErrorText/2-dots), safetext.Truncate(rest, maxErrorText/4-dots)
	if reason != "" {
		call += ": "
	}
	return call + safetext.Truncate(reason, maxErrorText-len(call)-len(rest)-dots) + rest
}

// joinParts joins the texts that are not empty.
func joinParts(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), separator)
}

func joinWords(words ...string) string { return joinParts(" ", words...) }

// withObject returns the endpoint followed by its object. A route without placeholders needs no
// object.
func withObject(route, path string) string {
	switch {
	case strings.HasSuffix(route, path): // also without a path
		return route
	case route == "":
		return path
	}
	return route + " (" + path + ")"
}

func (e *Error) causeText() string {
	if e.cause == nil {
		return ""
	}
	return safetext.Printable(strings.ReplaceAll(e.cause.Error(), "\n", "; ")) // two causes have a line each
}

// Timeout reports whether the call took too long: a deadline passed, or the server was silent. With
// it, code that knows only net.Error or url.Error recognizes the error of HTTPClient.
func (e *Error) Timeout() bool {
	var cause interface{ Timeout() bool }
	return errors.Is(e, ErrTimeout) || errors.Is(e, context.DeadlineExceeded) || errors.As(e.cause, &cause) && cause.Timeout()
}

// Unwrap returns the sentinel and the cause, for errors.Is and errors.As. The sentinel is that of
// Status, also in an Error that a program creates.
func (e *Error) Unwrap() []error {
	if e == nil {
		return nil
	}
	errs := make([]error, 0, 2)
	for _, err := range []error{e.sentinel(), e.cause} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// sentinel returns the sentinel of the status. A successful status with a cause has none: the
// response could not be used, and the cause has the sentinel.
func (e *Error) sentinel() error {
	if e.cause != nil && e.Status < 400 {
		return nil
	}
	return sentinelFor(e.Status)
}

// RateLimitError is the error of a rate-limited call: the server refused it, or the client did not
// send it because of an earlier response or a documented limit.
type RateLimitError struct {
	// Until is the time from which the server accepts calls again, from Retry-After or
	// RateLimit-Reset; zero if it is not known: try again later. For a second bulk deletion of
	// registry tags it is the latest possible time.
	Until time.Time
	// Err is the failed call. The library always sets it; errors.As finds it as an *Error.
	Err *Error
}

// Error returns the message of the call, and when to try again.
func (e *RateLimitError) Error() string {
	if e == nil {
		return nilError
	}
	call := e.Err
	if call == nil {
		call = &Error{Attempts: 1} // whether anything was sent is not known
	}
	var text string
	switch {
	case !e.Until.IsZero() && call.Status == http.StatusBadRequest: // the latest possible time
		text = "; it is possible again by " + e.Until.UTC().Format(time.RFC3339) + " at the latest"
	case !e.Until.IsZero():
		text = "; try again after " + e.Until.UTC().Format(time.RFC3339)
	default:
		text = "; the server did not say when: try again later, and less often"
	}
	if call.Attempts == 0 && call.Status == 0 {
		text += "; nothing was sent"
	}
	return call.textOr(ErrRateLimited.Error(), text)
}

// Unwrap returns the *Error; nil if there is none.
func (e *RateLimitError) Unwrap() error {
	if e == nil || e.Err == nil {
		return nil
	}
	return e.Err
}

// Is matches ErrRateLimited, for every status.
func (e *RateLimitError) Is(target error) bool { return target == ErrRateLimited }

// ValidationError is the error of a call or an option that was rejected before anything was sent.
type ValidationError struct {
	// Route is the method and the path template: "GET /projects/:id/issues"; empty if the error is not
	// about a call.
	Route string
	// Path is the requested path, as in Error; empty if the arguments are not valid.
	Path string
	// Option is the Go name of the option, argument or request option.
	Option string
	// Param is the wire name, if there is one.
	Param string
	// Reason states the problem and what to do.
	Reason string

	cause error
}

// Error returns a text with the option, the wire name and the reason.
func (e *ValidationError) Error() string {
	if e == nil {
		return nilError
	}
	call, reason := joinParts(": ", "forge", withObject(e.Route, e.Path), e.subject()), e.Reason
	if call == "forge" && reason == "" {
		reason = "the call is not valid"
	}
	return limitedText(call, reason, "; nothing was sent")
}

// Unwrap returns the cause, such as the *fs.PathError of a local file; nil if there is none.
func (e *ValidationError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.cause
}

// subject returns the rejected option or argument, with its wire name.
func (e *ValidationError) subject() string {
	switch {
	case e.Param == "" || e.Param == e.Option:
		return e.Option
	case e.Option == "":
		return e.Param
	case e.Option == "argument" && e.Param == "id" && strings.Contains(e.Route, "/:id"):
		return e.Option + " " + objectOfID(e.Route) + " (:id)"
	case e.Option == "argument":
		return e.Option + " " + e.Param
	}
	return e.Option + " (" + e.Param + ")"
}

// objectOfID returns what :id names in a route: "project" for "GET /projects/:id/issues".
func objectOfID(route string) string {
	before, _, _ := strings.Cut(route, "/:id")
	objects := before[strings.LastIndexByte(before, '/')+1:]
	if stem, ok := strings.CutSuffix(objects, "ies"); ok {
		return stem + "y"
	}
	return strings.TrimSuffix(strings.ReplaceAll(objects, "_", " "), "s")
}

// sentinelFor maps a status to its sentinel.
func sentinelFor(status int) error {
	switch status {
	case http.StatusNotModified:
		return ErrNotModified
	case http.StatusBadRequest:
		return ErrBadRequest
	case http.StatusUnauthorized:
		return ErrUnauthorized
	case http.StatusForbidden:
		return ErrForbidden
	case http.StatusNotFound:
		return ErrNotFound
	case http.StatusConflict:
		return ErrConflict
	case http.StatusRequestURITooLong:
		return ErrURITooLong
	case http.StatusUnprocessableEntity:
		return ErrUnprocessable
	case http.StatusTooManyRequests:
		return ErrRateLimited
	}
	if status >= 500 {
		return ErrServer
	}
	return nil
}

// sentinelError is an error of the library, with the sentinel that callers test for.
type sentinelError struct {
	sentinel error
	text     string
	cause    error
}

// Error returns the text.
func (f *sentinelError) Error() string { return f.text }

// Unwrap returns the sentinel and the cause.
func (f *sentinelError) Unwrap() []error {
	if f.cause == nil {
		return []error{f.sentinel}
	}
	return []error{f.sentinel, f.cause}
}
