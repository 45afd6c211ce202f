package forge

import (
	"sync/atomic"
	"time"
)

// Attempt describes one attempt of a call, for WithOnAttempt. It contains no credential.
type Attempt struct {
	// Method is the HTTP method.
	Method string
	// Route is the endpoint as the contract spells it, placeholders included. It has few values, as
	// names of metrics must.
	Route string
	// Path is the object, as in Error. It has many values: use Route for the names of metrics.
	Path string
	// Number counts the attempts of the call, from 1.
	Number int
	// Status is the HTTP status; 0 if there was no response.
	Status int
	// Err is the error that the call returns if this attempt is its last. It is nil for a success and
	// for a documented 304.
	Err error
	// RequestID is the server's X-Request-Id.
	RequestID string
	// Start is when the attempt began, after the waits for the server and for a Limiter.
	Start time.Time
	// Duration is the time from Start until the response was read, or until the first byte of a
	// download arrived.
	Duration time.Duration
	// WaitAfter is the time until the next attempt; 0 if there is none, or if it is sent immediately
	// with a renewed token.
	WaitAfter time.Duration
	// BytesSent is the number of bytes of the body that were sent, including those sent to redirected
	// addresses.
	BytesSent int64
	// BytesReceived is the number of bytes of the response body, after decompression. Those of a
	// download are read later, and Stats counts them.
	BytesReceived int64
}

// Stats counts what a client has done since NewClient made it; see Client.Stats.
type Stats struct {
	// Calls is the number of calls, including pages of lists and exchanges for registry tokens. A call
	// that was rejected before anything was sent does not count.
	Calls int64
	// Failures is the number of calls that failed. A documented 304 does not count, nor does a 405
	// after which a list continues by offset.
	Failures int64
	// Attempts is the number of requests that were sent. The hops of a redirect count as one.
	Attempts int64
	// Retries is the number of attempts after the first of their call.
	Retries int64
	// RateLimitWaits is the number of waits that the server requested, or that a known limit of the
	// server required.
	RateLimitWaits int64
	// RateLimitWaitTime is the total time of these waits. A wait counts in full when it begins.
	RateLimitWaitTime time.Duration
	// BytesSent is the number of bytes of request bodies.
	BytesSent int64
	// BytesReceived is the number of bytes of response bodies, including downloads, after
	// decompression.
	BytesReceived int64
}

// counters are the values that Stats reads.
type counters struct {
	calls, failures, attempts, retries atomic.Int64
	throttled, throttledTime           atomic.Int64
	sent, received                     atomic.Int64
}

// addWait counts a wait that begins.
func (s *counters) addWait(wait time.Duration) {
	s.throttled.Add(1)
	s.throttledTime.Add(int64(wait))
}
