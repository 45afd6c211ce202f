package forge

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/forge-sdk/forge-go/internal/conn"
	"github.com/forge-sdk/forge-go/internal/throttle"
)

// RetryPolicy sets how many times a call is retried, and after which waits. The policy does not
// determine whether a call may be retried: the endpoint does. A zero field means its default.
type RetryPolicy struct {
	// MaxAttempts is the maximum number of times a call is sent; default 4. 1 disables retries. Two
	// further requests do not count. Each is sent at most once per call, without a wait: one with a
	// renewed token after a 401, and one without the Expect header after a 417.
	MaxAttempts int
	// MinWait is the wait before the second attempt, before jitter, after a status such as 503, a
	// timeout or a refused connection. The wait doubles with each attempt. After a lost connection it
	// is a tenth of MinWait, and after a 429 that requests no wait it is twice MinWait. Default 0.5 s.
	MinWait time.Duration
	// MaxWait is the longest wait between attempts that the server did not request, at least MinWait;
	// default 30 s.
	MaxWait time.Duration
	// MaxRetryAfter is the longest wait that a server may request. If it requests a longer one, the
	// call fails immediately. Default 60 s.
	MaxRetryAfter time.Duration
}

func (p RetryPolicy) check(option string) error {
	if p.MaxAttempts < 0 || p.MinWait < 0 || p.MaxWait < 0 || p.MaxRetryAfter < 0 {
		return &ValidationError{Option: option, Reason: "a field is negative: use 0 for its default"}
	}
	if full := p.withDefaults(); full.MinWait > full.MaxWait {
		return &ValidationError{Option: option, Reason: "MinWait is longer than MaxWait, whose default is 30 s"}
	}
	return nil
}

func (p RetryPolicy) withDefaults() RetryPolicy {
	p.MaxAttempts = cmp.Or(p.MaxAttempts, 4)
	p.MinWait = cmp.Or(p.MinWait, 500*time.Millisecond)
	p.MaxWait = cmp.Or(p.MaxWait, 30*time.Second)
	p.MaxRetryAfter = cmp.Or(p.MaxRetryAfter, time.Minute)
	return p
}

// nextStep is the action of a call after a failed attempt.
type nextStep uint8

const (
	// giveUp: the attempt was the last one.
	giveUp nextStep = iota
	// resend: the request is sent again after a wait, if the retry budget allows it.
	resend
	// renewToken: the request is sent again immediately if there is another token than the rejected
	// one.
	renewToken
	// dropExpect: the request is sent again immediately, without the Expect header.
	dropExpect
)

// decision is the next step and its reason.
type decision struct {
	step        nextStep
	wait        time.Duration // before the request is sent again
	serverAsked bool          // the server requested the wait
	reason      string        // for the error, if the step is giveUp; "": the failure itself is the reason
	cause       error         // the end of the context, if that is the reason
}

// decide returns the decision about a failed attempt of a call of class k; attempts is the number
// of attempts so far that count. An example is whether a PUT is sent again after a 503. It has no
// effects: loop.carryOut carries the decision out.
func (p RetryPolicy) decide(ctx context.Context, attempts int, k RetryClass, r *result) decision {
	if !r.retryable(k) || attempts >= p.MaxAttempts {
		return decision{}
	}
	wait, asked := r.retryAfter, r.retryAfter > 0
	if asked {
		wait += throttle.Jitter(min(wait/10, time.Second))
	} else {
		wait = p.backoff(p.base(r), attempts)
	}
	deadline, limited := ctx.Deadline()
	switch {
	case limited && time.Until(deadline) < wait:
		return pastDeadlineDecision(ctx, wait, r.retryAfter)
	case asked && r.retryAfter > p.MaxRetryAfter:
		return decision{reason: fmt.Sprintf("the server requests a wait of %s; this client waits at most %s (RetryPolicy.MaxRetryAfter)",
			roundUp(r.retryAfter), p.MaxRetryAfter)}
	}
	return decision{step: resend, wait: wait, serverAsked: asked}
}

// pastDeadlineDecision gives up because the context ends before the wait does.
func pastDeadlineDecision(ctx context.Context, wait, retryAfter time.Duration) decision {
	d := decision{cause: pastDeadline(ctx)}
	switch {
	case errors.Is(d.cause, errTokenTimeout):
		d.reason = "the client waits for a token for " + tokenTimeout.String() + " at most, and the next attempt is due in " + roundUp(wait).String()
	case errors.Is(d.cause, ErrTimeout) && retryAfter > 0:
		d.reason = "the server requests a wait of " + roundUp(retryAfter).String()
	case errors.Is(d.cause, ErrTimeout):
		d.reason = "the next attempt is due in " + roundUp(wait).String()
	case retryAfter > 0:
		d.reason = fmt.Sprintf("the server requests a wait of %s, which ends after the context's deadline", roundUp(retryAfter))
	default:
		d.reason = "the context ends before the next attempt, which is due in " + roundUp(wait).String()
	}
	return d
}

// retryable reports whether a call of class k may be sent again after the failed attempt. It
// implements the table in docs/errors-and-retries.md, "Which requests are retried".
func (r *result) retryable(k RetryClass) bool {
	switch {
	case r.permanent || isPermanent(r.err):
		return false
	case r.err != nil:
		return !r.sent || k != RetryClassNonIdempotent
	}
	return k.retriesStatus(r.status) || isLock(r.status, r.message)
}

// isPermanent reports whether a transport error would be the same in another attempt.
func isPermanent(err error) bool {
	if err == nil {
		return false
	}
	if has[*tls.CertificateVerificationError](err) || has[tls.AlertError](err) || has[tls.RecordHeaderError](err) ||
		has[x509.UnknownAuthorityError](err) || has[x509.HostnameError](err) || has[x509.CertificateInvalidError](err) {
		return true
	}
	if lookup, is := errors.AsType[*net.DNSError](err); is {
		return lookup.IsNotFound
	}
	if refused, is := errors.AsType[*conn.ProxyError](err); is {
		return refused.Permanent()
	}
	// crypto/tls reports an alert of the server as an OpError whose cause has no exported type.
	op, is := errors.AsType[*net.OpError](err)
	return is && op.Op == "remote error"
}

// has reports whether err is or wraps an error of type E.
func has[E error](err error) bool {
	_, is := errors.AsType[E](err)
	return is
}

// backoff returns the wait after the given number of attempts. It grows exponentially from base and
// is spread over half to one and a half of that, so that clients that failed together do not retry
// together.
func (p RetryPolicy) backoff(base time.Duration, attempts int) time.Duration {
	wait := p.MaxWait
	if shift := attempts - 1; shift < 32 && base<<shift>>shift == base {
		wait = min(base<<shift, p.MaxWait)
	}
	return min(wait/2+throttle.Jitter(wait), p.MaxWait)
}

// base returns the base of the backoff after the attempt. After a lost connection, a new one
// usually works immediately; a server that is overloaded or starting needs longer.
func (p RetryPolicy) base(r *result) time.Duration {
	switch {
	case r.status == http.StatusTooManyRequests:
		return 2 * p.MinWait
	case lostConnection(r.err):
		return p.MinWait / 10
	}
	return p.MinWait
}

func roundUp(d time.Duration) time.Duration {
	return max(d.Round(time.Millisecond), time.Millisecond)
}

// lostConnection reports whether an attempt had a connection, and lost it.
func lostConnection(err error) bool {
	var refused *conn.ProxyError
	return err != nil && !conn.IsDial(err) && !errors.As(err, &refused) &&
		!errors.Is(err, ErrTimeout) && !errors.Is(err, ErrNoCredential)
}
