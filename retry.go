package forge

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryPolicy says how patiently calls are repeated. What may be repeated at all is not a policy: it follows from the
// endpoint. Zero fields have the defaults.
type RetryPolicy struct {
	// MaxAttempts is how often a call is sent at most; default 4, and 1 never retries. Two requests
	// are added to it, each once for a call and at once: one with a renewed token after a 401, and one
	// without the Expect header after the 417 to a large body.
	MaxAttempts int
	// MinWait is the wait before the second attempt, before jitter, after a status such as 503, a
	// timeout or a refused connection; it doubles with each attempt. After a lost connection the
	// wait is a tenth of it, after a 429 that names no time twice as long. Default 0.5 s.
	MinWait time.Duration
	// MaxWait is the longest wait between attempts that the server did not ask for; default 30 s.
	MaxWait time.Duration
	// MaxRetryAfter is the longest wait that a server may ask for; a call that would wait longer fails at once.
	// Default 60 s.
	MaxRetryAfter time.Duration
}

func (p RetryPolicy) check(option string) error {
	if p.MaxAttempts < 0 || p.MinWait < 0 || p.MaxWait < 0 || p.MaxRetryAfter < 0 {
		return &ValidationError{Option: option, Reason: "a field is negative"}
	}
	return nil
}

func (p RetryPolicy) withDefaults() RetryPolicy {
	p.MaxAttempts = orDefault(p.MaxAttempts, 4)
	p.MinWait = orDefault(p.MinWait, 500*time.Millisecond)
	p.MaxWait = orDefault(p.MaxWait, 30*time.Second)
	p.MaxRetryAfter = orDefault(p.MaxRetryAfter, time.Minute)
	return p
}

// backoff returns the wait after the given number of attempts. It grows exponentially from base and
// is spread over half to one and a half of that, so that clients that failed together do not come
// back together.
func (p RetryPolicy) backoff(base time.Duration, attempts int) time.Duration {
	wait := p.MaxWait
	if shift := attempts - 1; shift < 32 && base<<shift>>shift == base {
		wait = min(base<<shift, p.MaxWait)
	}
	return min(wait/2+jitter(wait), p.MaxWait)
}

// base returns what the backoff after the attempt begins with. A lost connection is often one of
// many, and another works at once; a server that is overloaded or starting needs longer.
func (p RetryPolicy) base(a *attempt) time.Duration {
	switch {
	case a.status == http.StatusTooManyRequests:
		return 2 * p.MinWait
	case a.lostConnection():
		return max(p.MinWait/10, 1)
	}
	return p.MinWait
}

// lostConnection reports whether the attempt had a connection, and lost it.
func (a *attempt) lostConnection() bool {
	var refused *tunnelError
	return a.err != nil && !isDial(a.err) && !errors.As(a.err, &refused) &&
		!errors.Is(a.err, ErrTimeout) && !errors.Is(a.err, ErrCredential)
}

// jitter is a random part of d.
func jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return rand.N(d)
}

// checkRetry is the policy that go-retryablehttp asks after each attempt. It looks at the attempt's own record: the
// arguments do not tell what was sent.
func (c *call) checkRetry(ctx context.Context, _ *http.Response, _ error) (bool, error) {
	if c.observed() {
		c.last.duration = time.Since(c.last.start)
	}
	again := c.goesOn(ctx)
	c.observe(ctx, again)
	return again, nil
}

// goesOn decides whether there will be another attempt, and when.
func (c *call) goesOn(ctx context.Context) bool {
	a := &c.last
	c.note = ""
	if a.ok() {
		c.guard().succeeded(c.attempts > 1)
		c.budget()
		return false
	}
	if a.ambiguous() {
		c.ambiguous = true
	}
	wait, asked := a.retryAfter, a.retryAfter > 0
	if asked && a.status == http.StatusTooManyRequests && !a.away {
		c.guard().hold(c.request, a.until)
	}
	if c.over(ctx) {
		return false
	}
	if a.status == http.StatusUnauthorized {
		return !a.away && c.renew(ctx)
	}
	if c.mayDropExpect() {
		c.noExpect, c.wait = true, 0
		return true
	}
	if !c.mayRepeat(a) {
		return false
	}
	if !asked {
		wait = c.options.retry.backoff(c.options.retry.base(a), c.attempts)
	} else {
		wait += jitter(min(wait/10, time.Second))
	}
	c.wait = wait
	return c.worthWaiting(ctx, wait, asked)
}

// budget notes what a good answer took of the budget of its route. Blobs are noted once their size is known.
func (c *call) budget() {
	if !c.last.away {
		c.guard().readClock(c.request, c.last.header)
	}
	if b := c.route().budget; b == deletionBudget || b == archiveBudget {
		c.guard().count(c.request)
	}
	if !c.last.away {
		c.guard().read(c.request, c.last.header)
	}
}

// weigh notes a blob that came as JSON and turns out to be large.
func (c *call) weigh(out any) {
	if blob, ok := out.(*Blob); ok && blob.Size > largeBlob {
		c.guard().count(c.request)
	}
}

// over reports whether nothing can be sent again: the caller has left, or the body is read.
func (c *call) over(ctx context.Context) bool {
	return ctx.Err() != nil || c.bodyUsed && c.body.once
}

// mayRepeat holds the rules of what may be sent again (design of the package: CONTRIBUTING.md, "Retries").
func (c *call) mayRepeat(a *attempt) bool {
	switch {
	case a.final || neverRepeat(a.err):
		return false
	case a.err != nil:
		return !a.sent.Load() || c.route().class != once
	}
	return c.route().class.retriesStatus(a.status) || isLock(a.status, a.message)
}

// neverRepeat tells the transport errors that a second attempt cannot mend.
func neverRepeat(err error) bool {
	var (
		certificate *tls.CertificateVerificationError
		alert       tls.AlertError
		notTLS      tls.RecordHeaderError
		authority   x509.UnknownAuthorityError
		hostname    x509.HostnameError
		invalid     x509.CertificateInvalidError
		lookup      *net.DNSError
		tunnel      *tunnelError
	)
	switch {
	case err == nil:
		return false
	case errors.As(err, &certificate), errors.As(err, &alert), errors.As(err, &notTLS),
		errors.As(err, &authority), errors.As(err, &hostname), errors.As(err, &invalid):
		return true
	case errors.As(err, &lookup):
		return lookup.IsNotFound
	case errors.As(err, &tunnel):
		return tunnel.lasting()
	}
	// crypto/tls reports an alert of the server as an OpError whose cause has no exported type.
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// renew asks, once for a call, for another token than the one that was refused.
func (c *call) renew(ctx context.Context) bool {
	if c.renewed || c.cred.renew == nil {
		return false
	}
	c.renewed, c.wait = true, 0
	fresh, err := c.cred.renew(ctx, c.used())
	if err != nil {
		c.last.err = err
	}
	return fresh && err == nil
}

// refusedStream reports whether a server refused the request as one stream too many of a connection,
// or because it closes that. It does not fail then, and the retry budget is for servers that do.
func (c *call) refusedStream() bool {
	return errors.Is(c.last.err, errNotProcessed) && c.last.conn != nil && c.isHTTP2(c.last.conn)
}

// worthWaiting decides whether there is an attempt, a budget and the time left for another try.
func (c *call) worthWaiting(ctx context.Context, wait time.Duration, asked bool) bool {
	deadline, limited := ctx.Deadline()
	switch {
	case c.attempts >= c.options.retry.MaxAttempts:
	case limited && time.Until(deadline) < wait:
		c.note = "the context ends before the next attempt, which is due in " + roundUp(wait).String()
		if asked {
			c.note = fmt.Sprintf("the server asks to wait %s, past the context's deadline", roundUp(c.last.retryAfter))
		}
		if c.last.cause = pastDeadline(ctx); !errors.Is(c.last.cause, context.DeadlineExceeded) {
			c.note = "a token is waited for " + refreshTimeout.String() + " at most, and the next attempt is due in " + roundUp(wait).String()
		}
	case asked && c.last.retryAfter > c.options.retry.MaxRetryAfter:
		c.note = fmt.Sprintf("the server asks to wait %s, longer than the %s that this client waits (RetryPolicy.MaxRetryAfter)",
			roundUp(c.last.retryAfter), c.options.retry.MaxRetryAfter)
	case !c.refusedStream() && !c.guard().spend():
		c.note = "not repeated: the client's retry budget is used up, as most calls fail"
	default:
		if asked {
			c.client().stats.throttle(wait)
		}
		c.client().config.log.retry(ctx, c, wait)
		return true
	}
	return false
}

func roundUp(d time.Duration) time.Duration {
	return max(d.Round(time.Millisecond), time.Millisecond)
}

// readRetryAfter reads how long the server asks to wait: Retry-After in seconds or as a date, else the reset time of its rate
// limit. Dates are compared with the answer's own Date, so that a wrong clock on either side does no harm.
func readRetryAfter(status int, h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, ok := readSeconds(text); ok {
		return seconds
	}
	if server, err := http.ParseTime(h.Get("Date")); err == nil {
		now = server
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(0, date.Sub(now))
	}
	if reset, ok := readReset(h, now); ok && status == http.StatusTooManyRequests {
		return max(0, reset.Sub(now))
	}
	return 0
}

// readSeconds reads a number of seconds; absurd ones become a very long time instead of overflowing.
func readSeconds(text string) (time.Duration, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	const longest = 10 * 365 * 24 * 3600
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds > longest {
		seconds = longest
	}
	return time.Duration(seconds) * time.Second, true
}

// readReset reads RateLimit-Reset, which is a Unix time on this platform and a number of seconds elsewhere.
func readReset(h http.Header, now time.Time) (time.Time, bool) {
	text := h.Get("Ratelimit-Reset")
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil || n < 0 || n > 1<<40:
		return time.Time{}, false
	case n > 1<<30:
		return time.Unix(n, 0), true
	}
	return now.Add(time.Duration(n) * time.Second), true
}
