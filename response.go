package forge

import (
	"net/http"
	"strconv"
	"time"
)

// Response is what came with an answer; Into fills it.
type Response struct {
	// Status is the HTTP status.
	Status int
	// Header holds the answer's headers, without cookies.
	Header http.Header
	// RequestID is the server's X-Request-Id.
	RequestID string
	// Attempts is how often the request was sent.
	Attempts int
	// RateLimit is the state of the server's rate limit, where it tells.
	RateLimit RateLimit
	// Cursor is where a list goes on: the first page that was not wholly consumed. It is Done only after the loop has ended.
	Cursor Cursor
	// Mismatches lists members whose JSON type was not the documented one; their fields are zero.
	Mismatches []Mismatch
}

// RateLimit is what a server tells of its limit. The zero RateLimit: it tells nothing.
type RateLimit struct {
	// Limit is the number of calls in a period.
	Limit int
	// Remaining is how many of them are left.
	Remaining int
	// Reset is when the next period begins.
	Reset time.Time
}

// Mismatch is a member of an answer whose JSON type was not the documented one.
type Mismatch struct {
	// Pointer is the member's place as a JSON pointer (RFC 6901).
	Pointer string
	// Want is the type that the field has.
	Want string
	// Got is the type that came.
	Got string
}

// Total returns the number of items of the whole list. Servers leave it out above 10,000, and with keyset pagination
// (Document 1 §8); known is false then.
func (r *Response) Total() (n int, known bool) { return r.count("X-Total") }

// TotalPages returns the number of pages of the whole list; known is false where the server leaves it out.
func (r *Response) TotalPages() (n int, known bool) { return r.count("X-Total-Pages") }

func (r *Response) count(header string) (int, bool) {
	n, err := strconv.Atoi(r.Header.Get(header))
	return n, err == nil && n >= 0
}

// newResponse takes over what the caller may see.
func newResponse(answer *http.Response, attempts int) Response {
	header := answer.Header.Clone()
	header.Del("Set-Cookie")
	return Response{
		Status:    answer.StatusCode,
		Header:    header,
		RequestID: requestID(header),
		Attempts:  attempts,
		RateLimit: readRateLimit(header),
	}
}

// contentType is what Get gives, without a look at how its name is spelled.
func contentType(h http.Header) string {
	if values := h["Content-Type"]; len(values) > 0 {
		return values[0]
	}
	return ""
}

func requestID(h http.Header) string { return cleanText(h.Get("X-Request-Id"), 128) }

func readRateLimit(h http.Header) (r RateLimit) {
	r.Limit, _ = strconv.Atoi(h.Get("Ratelimit-Limit"))
	r.Remaining, _ = strconv.Atoi(h.Get("Ratelimit-Remaining"))
	r.Reset, _ = readReset(h, time.Now())
	return r
}
