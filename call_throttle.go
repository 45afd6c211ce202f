package forge

import (
	"context"
	"errors"
	"time"

	"github.com/forge-sdk/forge-go/internal/throttle"
)

// throttleStep delays an attempt as the caller's Limiter and the server's limits require.
type throttleStep struct{ next credentialStep }

func (s throttleStep) do(ctx context.Context, a attempt) *result {
	if err := ctx.Err(); err != nil { // nothing is sent, so the attempt does not count
		return &result{err: err, permanent: true}
	}
	if limiter := a.core().config.limiter; limiter != nil {
		if err := limiter.Wait(ctx); err != nil {
			return &result{err: limiterError(ctx, err), permanent: true}
		}
	}
	ticket, pacingWait, refused := pace(ctx, a)
	if refused != nil {
		return refused
	}
	a.observer.begins()
	returned := false
	defer func() {
		if !returned && ticket != nil { // the caller's code panicked
			gateOf(a.call).Pacer.Done(ticket, true, nil)
		}
	}()
	r := s.next.do(ctx, a)
	returned = true
	r.ticket, r.pacingWait = ticket, pacingWait
	return r
}

// pace waits until neither the gate nor the pacer delays the attempt. The server may request a wait
// while the attempt waits for the pacer. The ticket is nil if the client has WithoutPacing.
func pace(ctx context.Context, a attempt) (ticket *throttle.Ticket, total time.Duration, refused *result) {
	gate, route, longest := gateOf(a.call), pacedRoute(a.request), a.options.retry.MaxRetryAfter
	for {
		if refused = waitForGate(ctx, a, gate); refused != nil || a.core().config.withoutPacing {
			return nil, total, refused
		}
		ticket, until := gate.Pacer.Begin(ctx, route, longest)
		if ticket != nil {
			return ticket, total, nil
		}
		a.observer.paces(until)
		began := time.Now()
		ticket, err := gate.Pacer.Wait(ctx, route, longest)
		wait := time.Since(began)
		total += wait
		a.observer.paced(wait)
		if err != nil {
			return nil, total, &result{err: &sentinelError{ErrRateLimited, pacingReason, err}, permanent: true, retryAt: until}
		}
		if held, _ := gate.HeldUntil(keyFor(a.request), throttle.Quota{}); !held.After(time.Now()) {
			return ticket, total, nil
		}
		gate.Pacer.Done(ticket, false, nil)
	}
}

// pacingReason is the reason of a wait of pacing.
const pacingReason = "pacing keeps the client below the server's rate limit"

// waitForGate waits until the gate lets the attempt pass. It returns the result of an attempt that
// it does not let pass.
func waitForGate(ctx context.Context, a attempt, gate *throttle.Gate) *result {
	quota := quotaFor(a.request)
	if a.options.skipValidation {
		quota = throttle.Quota{}
	}
	until, why, err := gate.Wait(ctx, keyFor(a.request), quota, a.options.retry.MaxRetryAfter, a.observer.waits)
	if err == nil && !until.IsZero() {
		why, err = tooLongWait(ctx, until, why)
	}
	if err != nil {
		return &result{err: &sentinelError{ErrRateLimited, why, err}, permanent: true, retryAt: until}
	}
	return nil
}

// pacedRoute returns the route by which the pacer knows the throttle of a request.
func pacedRoute(r *request) throttle.Route {
	paced := throttle.Route{Origin: r.route.base.origin(), Method: r.route.Method, Template: r.route.Template}
	if r.route.base == otherBase {
		paced.Host = r.quotaKey
	}
	return paced
}

// updatePacer reports to the pacer that an attempt has ended. The headers of another origin are
// ignored.
func updatePacer(s *callState) {
	header := s.header
	if s.ticket == nil {
		return
	}
	if s.offOrigin {
		header = nil
	}
	gateOf(s.call).Pacer.Done(s.ticket, !s.start.IsZero(), header)
}

// tooLongWait returns why a wait did not begin, and the error: the policy or the deadline of the
// context does not allow it.
func tooLongWait(ctx context.Context, until time.Time, why string) (string, error) {
	if deadline, limited := ctx.Deadline(); !limited || !until.After(deadline) {
		return why, ErrRateLimited
	}
	early := pastDeadline(ctx)
	if errors.Is(early, ErrTimeout) && !errors.Is(early, errTokenTimeout) {
		why += ": " + early.Error()
	}
	return why, early
}

// limiterError returns the error of an attempt that waited for the Limiter: the context ended, or
// the Limiter refused the call.
func limiterError(ctx context.Context, err error) error {
	sentinel, text := error(ErrRateLimited), "the Limiter refused the call: "
	if ended := ctx.Err(); ended != nil {
		text, err = "the wait for the Limiter ended: ", ended
		if cause := context.Cause(ctx); errors.Is(cause, ErrTimeout) {
			err = cause
		}
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		sentinel = context.Canceled
	}
	return &sentinelError{sentinel, text + err.Error(), err}
}

// gateOf returns the gate that all clients with the same credential share.
func gateOf(c *call) *throttle.Gate { return c.core().gateFor(c.route().base) }

// keyFor returns the key of the waits that delay the request. It names the route only if the route
// has a quota.
func keyFor(r *request) throttle.Key {
	key := throttle.Key{Origin: r.route.base.origin()}
	if r.route.base == otherBase {
		key.Subject = r.quotaKey // its host
	}
	if r.route.quota != noQuota {
		key.Route, key.Subject = r.route.Template, r.quotaKey
	}
	return key
}

// quotaFor returns the quota of the request's route.
func quotaFor(r *request) throttle.Quota { return r.route.quota.limit(r.path) }

// countQuota records a successful call of a route with a quota. A blob is recorded once its size is
// known (countLargeBlob). The headers of another origin are ignored.
func countQuota(s *callState) {
	key, quota := keyFor(s.request), quotaFor(s.request)
	if !s.offOrigin && s.route().base != otherBase {
		gateOf(s.call).Observe(key, quota, s.header)
	}
	if s.route().quota != blobQuota {
		gateOf(s.call).Count(key, quota)
	}
}

// countLargeBlob records a blob over 10 MB; its size is known only after decoding.
func countLargeBlob(c *call, out any) {
	if sized, ok := out.(interface{ countsToQuota() bool }); ok && sized.countsToQuota() {
		gateOf(c).Count(keyFor(c.request), quotaFor(c.request))
	}
}
