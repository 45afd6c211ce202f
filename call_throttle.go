package forge

import (
	"context"
	"errors"
	"time"

	"github.com/forge-sdk/forge-go/internal/throttle"
)

// gate returns the gate that all clients with the same credential share.
func (c *call) gate() *throttle.Gate { return c.core().gateFor(c.route().base) }

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

// enforced returns the quota that may delay the call. The option SkipValidation disables it.
func (c *call) enforced() throttle.Quota {
	if c.options.skipValidation {
		return throttle.Quota{}
	}
	return quotaFor(c.request)
}

// heldUntil returns the time from which the call may be sent, and the reason for the delay. Zero or
// a past time means now.
func (c *call) heldUntil() (until time.Time, why string) {
	return c.gate().HeldUntil(keyFor(c.request), c.enforced())
}

// passGate waits until the call may be sent. It returns an error if the policy or the context does
// not allow the wait, or if the context ends. until is then the end of the wait, and why is its
// reason.
func (c *call) passGate(ctx context.Context) (until time.Time, why string, err error) {
	until, why, err = c.gate().Wait(ctx, keyFor(c.request), c.enforced(), c.options.retry.MaxRetryAfter, c.core().stats.addWait)
	if err != nil || until.IsZero() {
		return until, why, err
	}
	if deadline, limited := ctx.Deadline(); limited && until.After(deadline) {
		early := pastDeadline(ctx)
		if errors.Is(early, ErrTimeout) && !errors.Is(early, errTokenTimeout) {
			why += ": " + early.Error()
		}
		return until, why, early
	}
	return until, why, ErrRateLimited
}

// countQuota records a successful call of a route with a quota. A blob is recorded once its size is
// known (countLargeBlob). The headers of another origin are ignored.
func (c *call) countQuota() {
	key, quota := keyFor(c.request), quotaFor(c.request)
	if !c.attempt.offOrigin && c.route().base != otherBase {
		c.gate().Observe(key, quota, c.response.header)
	}
	if c.route().quota != blobQuota {
		c.gate().Count(key, quota)
	}
}

// countLargeBlob records a blob over 10 MB; its size is known only after decoding.
func (c *call) countLargeBlob(out any) {
	if sized, ok := out.(interface{ countsToQuota() bool }); ok && sized.countsToQuota() {
		c.gate().Count(keyFor(c.request), quotaFor(c.request))
	}
}
