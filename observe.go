package forge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Attempt describes one attempt of a call, for WithOnAttempt. It contains no credential.
type Attempt struct {
	// Method is the HTTP method.
	Method string
	// Route is the path template of the endpoint: "/projects/:id/issues". It has few values, so
	// metrics can use it as a label.
	Route string
	// Path is the requested path, as in Error. It has many values: use Route for metrics.
	Path string
	// Number is the number of the attempt in its call, from 1.
	Number int
	// Status is the HTTP status; 0 if there was no response.
	Status int
	// Err is the error that the call returns if this attempt is its last. It is nil for a success and
	// for a documented 304.
	Err error
	// RequestID is the server's X-Request-Id.
	RequestID string
	// PacingWait is how long pacing has delayed the attempt, before Start.
	PacingWait time.Duration
	// Start is when the attempt began, after the waits for the server, for pacing and for a Limiter.
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
	// PacingWaits is the number of waits that kept the client below a rate limit of the server.
	PacingWaits int64
	// PacingWaitTime is the total time of these waits. A wait counts when it ends.
	PacingWaitTime time.Duration
	// BytesSent is the number of bytes of request bodies.
	BytesSent int64
	// BytesReceived is the number of bytes of response bodies, including downloads, after
	// decompression.
	BytesReceived int64
}

// String returns the counters with their names: "322 calls, 1 failed, 323 attempts, 1 retry, ...".
func (s Stats) String() string {
	return fmt.Sprintf("%s, %d failed, %s, %s, %s for rate limits (%v), %s of pacing (%v), %s sent, %s received",
		counted(s.Calls, "call"), s.Failures, counted(s.Attempts, "attempt"), counted(s.Retries, "retry"),
		counted(s.RateLimitWaits, "wait"), s.RateLimitWaitTime, counted(s.PacingWaits, "wait"), s.PacingWaitTime,
		counted(s.BytesSent, "byte"), counted(s.BytesReceived, "byte"))
}

// counted formats a number with its noun.
func counted(n int64, noun string) string {
	if stem, ok := strings.CutSuffix(noun, "y"); ok && n != 1 {
		noun = stem + "ie"
	}
	if n != 1 {
		noun += "s"
	}
	return strconv.FormatInt(n, 10) + " " + noun
}

// counters are the values that Stats reads.
type counters struct {
	calls, failures, attempts, retries atomic.Int64
	rateLimitWaits, rateLimitWaitTime  atomic.Int64
	pacingWaits, pacingWaitTime        atomic.Int64
	sent, received                     atomic.Int64
}

// addWait counts a wait that begins.
func (s *counters) addWait(wait time.Duration) {
	s.rateLimitWaits.Add(1)
	s.rateLimitWaitTime.Add(int64(wait))
}

// Received counts bytes of a response.
func (s *counters) Received(n int) { s.received.Add(int64(n)) }

// observers count, record and report what the calls of a client do: the counters of Stats, the
// logger, and the function of WithOnAttempt. The loop of a call notifies them.
type observers struct {
	stats     *counters
	log       callLog
	onAttempt func(context.Context, Attempt)
}

func (c *core) observers() observers {
	return observers{c.stats, callLog{c.config.log}, c.config.onAttempt}
}

// callBegins is called before the first attempt.
func (o observers) callBegins() { o.stats.calls.Add(1) }

// attemptBegins is called when an attempt is about to be sent, after the waits before it.
func (o observers) attemptBegins(retry bool) {
	if o.stats.attempts.Add(1); retry {
		o.stats.retries.Add(1)
	}
}

// attemptEnds is called after an attempt. again reports whether another one follows, after wait.
func (o observers) attemptEnds(s *callState, again bool, wait time.Duration) {
	o.log.attempt(s)
	if s.start.IsZero() { // nothing was about to be sent
		return
	}
	o.stats.sent.Add(s.bytesSent)
	if o.onAttempt == nil {
		return
	}
	seen := Attempt{
		Method: s.route().Method, Route: s.route().Template, Path: s.redactor(s.token).redact(s.request.path), Number: s.attempts, Status: s.status, RequestID: requestID(s.header),
		PacingWait: s.pacingWait, Start: s.start, Duration: s.duration, BytesSent: s.bytesSent, BytesReceived: s.bytesReceived,
	}
	if again {
		seen.WaitAfter = wait
	}
	if !s.ok() {
		seen.Err = s.newError()
	}
	o.onAttempt(s.context, seen)
}

// waits is called when a wait before an attempt begins: until is its end, and why its reason.
func (o observers) waits(s *callState, until time.Time, why string, wait time.Duration) {
	o.stats.addWait(wait)
	o.log.wait(s, until, why)
}

// paces is called when a wait of pacing begins: until is its expected end.
func (o observers) paces(s *callState, until time.Time) { o.log.wait(s, until, pacingReason) }

// paced is called when a wait of pacing has ended.
func (o observers) paced(wait time.Duration) {
	o.stats.pacingWaits.Add(1)
	o.stats.pacingWaitTime.Add(int64(wait))
}

// retryWaits is called before the wait of a retry. A renewed token and a refused Expect header are
// not retries.
func (o observers) retryWaits(s *callState, next decision) {
	if next.serverAsked {
		o.stats.addWait(next.wait)
	}
	o.log.retry(s, next.wait)
}

// callEnds is called at the end of a call, and again when its response cannot be decoded.
func (o observers) callEnds(s *callState, err error, failed bool) {
	if failed {
		o.stats.failures.Add(1)
	}
	o.log.done(s, err, failed)
}

// callLog writes to the logger of WithLogger.
type callLog struct{ *slog.Logger } // nil: there is none

// enabled reports whether there is a logger that records the level.
func (l callLog) enabled(s *callState, level slog.Level) bool {
	return l.Logger != nil && l.Enabled(s.context, level)
}

func (l callLog) attempt(s *callState) {
	if l.enabled(s, slog.LevelDebug) {
		l.LogAttrs(s.context, slog.LevelDebug, "forge: attempt", withCause(s, append(logAttrs(s), slog.String("address", s.redactor(s.token).redact(redactURL(&s.url)))))...)
	}
}

func (l callLog) retry(s *callState, wait time.Duration) {
	if l.enabled(s, slog.LevelInfo) {
		l.LogAttrs(s.context, slog.LevelInfo, "forge: retry", withCause(s, append(logAttrs(s), slog.Duration("wait", wait)))...)
	}
}

func (l callLog) wait(s *callState, until time.Time, why string) {
	if l.enabled(s, slog.LevelInfo) {
		l.LogAttrs(s.context, slog.LevelInfo, "forge: wait", append(logAttrs(s), slog.Time("until", until), slog.String("reason", why))...)
	}
}

// done records a failure as a warning. A call that the caller canceled and ErrNotModified are not
// failures. It is called again when a response cannot be decoded.
func (l callLog) done(s *callState, err error, failed bool) {
	level, message := slog.LevelDebug, "forge: call"
	switch {
	case failed && errors.Is(err, context.Canceled) && s.context.Err() != nil:
		message = "forge: call canceled"
	case failed:
		level, message = slog.LevelWarn, "forge: call failed"
	}
	if !l.enabled(s, level) {
		return
	}
	attrs := append(logAttrs(s), slog.Duration("duration", time.Since(s.started)))
	if err != nil {
		attrs = append(attrs, slog.String("error", logText(s, err)))
	}
	l.LogAttrs(s.context, level, message, attrs...)
}

func logAttrs(s *callState) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("method", s.route().Method), slog.String("route", s.route().Template),
		slog.String("path", s.redactor(s.token).redact(s.request.path)),
		slog.String("service", s.route().Service), slog.String("class", string(s.route().Class)),
		slog.Int("attempt", s.attempts), slog.Int("status", s.status),
	}
	if id := requestID(s.header); id != "" {
		attrs = append(attrs, slog.String("request_id", id))
	}
	return attrs
}

// withCause adds the error of the attempt, if there is one.
func withCause(s *callState, attrs []slog.Attr) []slog.Attr {
	if s.err == nil {
		return attrs
	}
	return append(attrs, slog.String("error", logText(s, s.err)))
}

func logText(s *callState, err error) string {
	return s.redactor(s.token).safeText(err.Error(), maxErrorText)
}

// redactURL returns an address in which only loggable query parameters have their values.
func redactURL(u *url.URL) string {
	var b strings.Builder
	b.WriteString(u.Scheme + "://" + u.Host + u.EscapedPath())
	separator := "?"
	for pair := range strings.FieldsFuncSeq(u.RawQuery, isSeparator) {
		name, value, _ := strings.Cut(pair, "=")
		if !isLoggable(name) {
			value = "..."
		}
		b.WriteString(separator + name + "=" + value)
		separator = "&"
	}
	return b.String()
}

// isLoggable reports whether values of a query parameter may be logged: they help, and cannot hold
// a secret or a person's data.
func isLoggable(param string) bool {
	switch param {
	case "page", "per_page", "pagination", "order_by", "sort", "scope", "state", "recursive", "view", "in", "issue_type",
		"with_labels_details", "non_archived", "straight", "unidiff", "tags", "tags_count", "size", "type", "status", "paused":
		return true
	}
	return false
}
