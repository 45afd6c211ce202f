package forge

import (
	"context"
	"sync"
	"time"
)

// guard is what the clients of one credential share to spare the server: a retry budget and the waits it has
// asked for.
type guard struct {
	mu     sync.Mutex
	tokens float64
	held   map[holdKey]time.Time
}

// holdKey names what a wait holds back: all routes of an origin, or a single route with a budget of its own.
type holdKey struct {
	base     base
	template string
}

const (
	budgetSize    = 100 // retries that a client may spend while nothing succeeds
	budgetRefund  = 1   // a retry that helped gives back what it cost
	budgetTrickle = 0.1 // a first attempt that succeeds gives back a little
)

func newGuard() *guard { return &guard{tokens: budgetSize} }

// spend takes one retry out of the budget.
func (g *guard) spend() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.tokens < 1 {
		return false
	}
	g.tokens--
	return true
}

// succeeded refills the budget.
func (g *guard) succeeded(retried bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	refund := budgetTrickle
	if retried {
		refund = budgetRefund
	}
	g.tokens = min(budgetSize, g.tokens+refund)
}

func keyOf(r *route) holdKey {
	if r.ownBudget {
		return holdKey{r.base, r.template}
	}
	return holdKey{base: r.base}
}

// hold keeps calls back until the given time, for an hour at most: what a server sends must not shut a client down.
func (g *guard) hold(r *route, until time.Time) {
	if latest := time.Now().Add(time.Hour); until.After(latest) {
		until = latest
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held == nil {
		g.held = map[holdKey]time.Time{}
	}
	if until.After(g.held[keyOf(r)]) {
		g.held[keyOf(r)] = until
	}
}

// heldUntil is when the route may be called again; the past or zero: now.
func (g *guard) heldUntil(r *route) time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	until := g.held[holdKey{base: r.base}]
	if own := g.held[keyOf(r)]; own.After(until) {
		until = own
	}
	return until
}

// pass waits until the route may be called, or says until when it may not because the wait is longer than the
// policy or the context allows.
func (g *guard) pass(ctx context.Context, r *route, longest time.Duration) (until time.Time, err error) {
	for {
		until = g.heldUntil(r)
		wait := time.Until(until)
		if wait <= 0 {
			return time.Time{}, nil
		}
		deadline, limited := ctx.Deadline()
		switch {
		case limited && until.After(deadline):
			return until, context.DeadlineExceeded
		case wait > longest:
			return until, ErrRateLimited
		}
		if err := sleep(ctx, wait+jitter(min(wait/10, time.Second))); err != nil {
			return until, err
		}
	}
}

// sleep waits for d or for the end of the context.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
