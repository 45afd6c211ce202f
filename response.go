package forge

import (
	"net/http"
	"strconv"
	"time"

	"github.com/forge-sdk/forge-go/internal/safetext"
	"github.com/forge-sdk/forge-go/internal/throttle"
)

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

// Total returns the number of items of the whole list. Servers omit it above 10,000, and with
// keyset pagination; then known is false.
func (r *Response) Total() (n int, known bool) {
	n, err := strconv.Atoi(r.Header.Get("X-Total"))
	return n, err == nil && n >= 0
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
