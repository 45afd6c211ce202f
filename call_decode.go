package forge

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/forge-sdk/forge-go/internal/jsonread"
	"github.com/forge-sdk/forge-go/internal/safetext"
	"github.com/forge-sdk/forge-go/internal/throttle"
)

// decode decodes the response into out, and frees its buffer.
func (s *callState) decode(out any) ([]Mismatch, error) {
	mismatches, err := s.decodeWith(func(r *jsonread.Reader) error { return decodeValue(r, out) })
	if err != nil {
		return mismatches, err
	}
	countLargeBlob(s.call, out)
	return mismatches, nil
}

// decodeWith runs a decoder over the response, and frees its buffer. Its error is an *Error.
func (s *callState) decodeWith(decode func(*jsonread.Reader) error) (mismatches []Mismatch, err error) {
	defer s.buffers.put(s.buffer)
	data := s.buffer.Bytes()
	if reason := refuseBody(s, data); reason != "" {
		return nil, s.badResponse(reason, nil)
	}
	if s.request.settings {
		if data, err = s.core().config.vocabulary.translateSettings(data); err != nil {
			return nil, s.badResponse(err.Error(), nil)
		}
	}
	r := &s.buffer.reader
	defer r.Reset(nil)
	r.Strict, r.Limit = s.core().config.strict, decodedFactor*min(max(s.options.limits.json, defaultLimits.json), 1<<40)
	if r.Foreign = nil; s.request.custom {
		r.Foreign = unmarshalForeign
	}
	redact := s.redactor(s.token)
	if r.Watch = nil; s.core().config.drift != nil { // the method value is an allocation
		r.Watch = s.core().config.drift.watch(s.request.route, redact.safeText)
	}
	r.Reset(data)
	err = decode(r)
	for _, m := range r.Mismatches() {
		if m.Pointer == "" && err == nil {
			return mismatches, s.badResponse("the response is a JSON "+m.Got+otherType(s.call, m), nil)
		}
		m.Pointer = redact.redact(m.Pointer) // keys of maps are data
		mismatches = append(mismatches, Mismatch(m))
	}
	if err != nil {
		return mismatches, decodeError(s, err, len(data))
	}
	return mismatches, nil
}

// refuseBody returns why a body has no value that can be decoded; "" if it has one.
func refuseBody(s *callState, data []byte) string {
	value := bytes.TrimSpace(data)
	switch {
	case len(value) == 0 && s.request.custom:
		return "the call succeeded and there is no body to decode: pass nil for out"
	case len(value) == 0:
		return "the response has no body"
	case len(data)-len(value) > maxWhitespace:
		return "the response has more than 4 KiB of white space around its value"
	case string(value) == "null":
		return "the response is null"
	}
	return ""
}

// otherType ends the error for a response of another type: Do and ListAs have the caller's type.
func otherType(c *call, m jsonread.Mismatch) string {
	switch {
	case !c.request.custom:
		return ", which is not what this endpoint returns"
	case c.options.kind == kindList:
		return ", and ListAs reads arrays: use Do"
	case m.Got == "array":
		return ", and out is of type " + m.Want + ": use ListAs, or a slice"
	case m.Got == "object":
		return ", and out is of type " + m.Want + ": pass a pointer to a struct or a map"
	}
	return ", and out is of type " + m.Want
}

// decodeError returns the error for a response that cannot be decoded.
func decodeError(s *callState, err error, size int) error {
	var syntax *jsonread.SyntaxError
	var strict *jsonread.StrictError
	var large *jsonread.LimitError
	var misfit *misfitError
	switch {
	case errors.As(err, &misfit):
		return s.badResponse("the response does not fit your type: "+misfit.Error(), err)
	case errors.As(err, &large):
		return s.failAfterSuccess(&sentinelError{sentinel: ErrResponseTooLarge, text: "the response has too many items: " + large.Error()})
	case errors.As(err, &syntax):
		return s.badResponse(fmt.Sprintf("the response is not valid JSON: %s of %d", syntax, size), nil)
	case errors.As(err, &strict):
		return s.badResponse("strict decoding: "+s.redactor(s.token).safeText(strict.Error(), 512), nil)
	}
	return s.badResponse("the response cannot be decoded: "+safetext.Clean(err.Error(), 512), err)
}

func (s *callState) badResponse(text string, cause error) error {
	return s.failAfterSuccess(&sentinelError{ErrInvalidResponse, text, cause})
}

// failAfterSuccess returns the error for a successful response that cannot be used.
func (s *callState) failAfterSuccess(err error) error {
	failed := *s
	failed.result, failed.maybeApplied = s.failed(err), true
	return failed.newError()
}

// fillInto fills the caller's Response. A list does it when the caller reaches the page.
func (s *callState) fillInto(mismatches []Mismatch) {
	if s.options.into != nil && s.resp != nil && s.options.kind != kindList {
		*s.options.into = newResponse(s.resp, s.attempts, mismatches)
	}
}

// download returns the Download of a successful call.
func (s *callState) download() *Download {
	redact := s.redactor(s.token)
	failed := *s // for the error of a body that ends early
	if s.status < 400 || s.mayHaveApplied() {
		failed.maybeApplied = true
	}
	return &Download{
		Name:        redact.redact(fileName(s.header)), // fileName may join the parts of a parameter
		Size:        s.resp.ContentLength,
		ContentType: redact.safeText(mediaType(contentType(s.header)), 256),
		source:      s.options.checksum.verified(s.request.checksum.verified(s.stream)),
		private:     s.route().secret,
		failure:     failed.newError(),
	}
}

// Response is the HTTP response of a call, without its body. Into stores it.
type Response struct {
	// Status is the HTTP status.
	Status int
	// Header holds the response headers, without cookies.
	Header http.Header
	// RequestID is the server's X-Request-Id.
	RequestID string
	// Attempts is the number of times the request was sent.
	Attempts int
	// RateLimit is the state of the server's rate limit, if the server reports it.
	RateLimit RateLimit
	// Cursor is the position at which StartAt resumes a list: the first page that was not consumed
	// completely. Cursor.Done reports true only after the loop has ended.
	Cursor Cursor
	// Mark is what to pass to Since next time: the items before it are consumed. It moves with each
	// item. Empty without Since.
	Mark Mark
	// Mismatches lists the values whose JSON type does not fit their struct field: at most 1,000, with
	// at most 64 KiB of pointers. The raw values are in Extra; see [Mismatch].
	Mismatches []Mismatch
}

// RateLimit is the rate limit that a server reports. It is zero if the server reports none.
type RateLimit struct {
	// Limit is the number of calls that are allowed in a period.
	Limit int
	// Remaining is the number of calls that are left in the period.
	Remaining int
	// Reset is when the next period begins.
	Reset time.Time
}

// Mismatch is a value in a response whose JSON type does not fit its struct field. The field is
// zero, and the object that has the field keeps the raw value in its Extra, under the field's own
// key. For an array or a map with such elements, Extra has the whole value, and the field has the
// other elements. A caller's type without Extra does not keep the value: the call returns an error.
// If a key occurs twice, the last value counts.
//
// These values are not mismatches: null, which is the zero value; an empty string for a time or a
// date; a number in a string; and timestamps that are not in the form of RFC 3339 but are
// 2026-03-01, or 2026-03-01 09:30:00 with +0530, +05, UTC or nothing as the offset.
//
// A value that fits only in part is a mismatch too, and is both in the field and in Extra: a
// timestamp for a Date, of which the field has the day; a number or a time with more digits than
// its Go type can hold; and "true" for a boolean.
type Mismatch struct {
	// Pointer is the value's place in the response as a JSON pointer (RFC 6901). "..." stands for a
	// key of more than 128 bytes, and for the end of a pointer of more than 512 bytes.
	Pointer string
	// Want is the type of the field: boolean, integer, number, string, timestamp, date, base64, array
	// or object; for a caller's own type it is the Go type.
	Want string
	// Got is the JSON type in the response: boolean, number, string, array or object.
	Got string
}

// Total returns the number of items of the whole list. Servers omit it above 10,000, and with
// keyset pagination; then known is false.
func (r *Response) Total() (n int, known bool) {
	n, err := strconv.Atoi(r.Header.Get("X-Total"))
	return n, err == nil && n >= 0
}

// newResponse returns the parts of resp that the caller receives.
func newResponse(resp *http.Response, attempts int, mismatches []Mismatch) Response {
	header := resp.Header.Clone()
	header.Del("Set-Cookie")
	return Response{
		Status:    resp.StatusCode,
		Header:    header,
		RequestID: requestID(header),
		Attempts:  attempts,
		RateLimit: readRateLimit(header),

		Mismatches: mismatches,
	}
}

func requestID(h http.Header) string { return safetext.Clean(h.Get("X-Request-Id"), 128) }

func readRateLimit(h http.Header) (r RateLimit) {
	r.Limit, _ = strconv.Atoi(h.Get("Ratelimit-Limit"))
	r.Remaining, _ = strconv.Atoi(h.Get("Ratelimit-Remaining"))
	r.Reset, _ = throttle.RateLimitReset(h, time.Now())
	return r
}
