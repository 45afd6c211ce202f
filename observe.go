package forge

import (
	"sync/atomic"
	"time"
)

// Attempt is what WithOnAttempt reports of one attempt of a call. It holds no credential.
type Attempt struct {
	// Method is the HTTP method.
	Method string
	// Route is the endpoint as the contract spells it, placeholders included: it has few
	// values, as names of metrics must.
	Route string
	// Path is the object, as in Error. It has many values: use Route for the names of metrics.
	Path string
	// Number counts the attempts of the call, from 1.
	Number int
	// Status is the HTTP status; 0 when no answer came.
	Status int
	// Err is what the call returns if this attempt is its last: nil for a success and for a
	// documented 304.
	Err error
	// RequestID is the server's X-Request-Id.
	RequestID string
	// Start is when the attempt began: after the waits for the server and for a Limiter.
	Start time.Time
	// Duration is the time from Start until the answer was read; of a download, until its
	// first byte came.
	Duration time.Duration
	// Wait is the time until the next attempt; 0 when there is none, or when it goes out at
	// once with a renewed token.
	Wait time.Duration
	// Sent is the number of bytes of the body that were sent, those of attempts at redirected
	// addresses included.
	Sent int64
	// Received is the number of bytes of the answer's body, after decompression. Those of a
	// download are read later: Stats counts them.
	Received int64
}

// Stats counts what a client has done since it was made; see Client.Stats.
type Stats struct {
	// Calls is the number of calls, pages of lists and exchanges for registry tokens included.
	// What was refused before anything was sent is none.
	Calls int64
	// Failures is the number of calls that failed. A documented 304 does not count, nor does a 405
	// after which a list continues by offset.
	Failures int64
	// Attempts is the number of requests that were sent; hops of a redirect are one.
	Attempts int64
	// Retries is the number of attempts after the first of their call.
	Retries int64
	// Throttled is the number of waits that the server has asked for, or that kept to a limit
	// it is known to have.
	Throttled int64
	// ThrottledTime is how long these waits are together; one that begins counts whole.
	ThrottledTime time.Duration
	// Sent is the number of bytes of request bodies.
	Sent int64
	// Received is the number of bytes of answers' bodies, downloads included, after decompression.
	Received int64
}

// counters are what Stats reads.
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
