package forge

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// guard is what the clients of one credential share to spare the server: a retry budget, the waits it has asked for, and what was
// spent of the budgets that single routes have.
type guard struct {
	mu     sync.Mutex
	tokens float64
	held   map[holdKey]time.Time
	uses   map[holdKey][]use
	hosted bool // the server has shown that archives are limited

	counting atomic.Bool   // there are uses
	ahead    time.Duration // of the server's clock, by the latest response; uses are in its time
}

// holdKey names what a wait holds back: all routes of an origin, or a single route with a budget of its own.
type holdKey struct {
	base     base
	template string
	subject  string // what the budget is counted for
}

// use is a call that a budget counts.
type use struct {
	at   time.Time
	path string
}

const (
	budgetSize    = 40  // retries that a client may spend while nothing succeeds
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

func keyOf(r *request) holdKey {
	key := holdKey{base: r.route.base}
	if r.route.budget != noBudget {
		key.template, key.subject = r.route.template, r.subject
	}
	return key
}

// hold keeps calls back until the given time, for an hour at most: what a server sends must not shut a client down.
func (g *guard) hold(r *request, until time.Time) {
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
	g.hosted = g.hosted || r.route.budget == archiveBudget
}

// count notes a call that the budget of its route counts.
func (g *guard) count(r *request) {
	calls, window := r.route.budget.rate()
	if calls == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.uses == nil {
		g.uses = map[holdKey][]use{}
		g.counting.Store(true)
	}
	now := time.Now().Add(g.ahead)
	for key, uses := range g.uses {
		if key.template == r.route.template && now.Sub(uses[len(uses)-1].at) >= window {
			delete(g.uses, key)
		}
	}
	uses := g.uses[keyOf(r)]
	uses = append(uses, use{now, r.path})
	g.uses[keyOf(r)] = uses[max(0, len(uses)-calls):]
}

// clockTolerance is what a Date header may differ from this machine's clock without meaning
// anything: it has whole seconds, and the response took a while.
const clockTolerance = 2 * time.Second

// readClock notes the server's clock, which is the one that counts: it may be set, or wrong.
func (g *guard) readClock(r *request, h http.Header) {
	if r.route.base != apiBase || !g.counting.Load() && r.route.budget == noBudget {
		return
	}
	server, err := http.ParseTime(h.Get("Date"))
	if err != nil || h.Get("Age") != "" { // a cache's Date is that of the first response
		return
	}
	ahead := time.Until(server)
	if ahead.Abs() < clockTolerance {
		ahead = 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ahead = ahead
}

// read takes what a good answer says of a budget: its limit, which proves that there is one, and that it is used up.
func (g *guard) read(r *request, h http.Header) {
	calls, _ := r.route.budget.rate()
	if r.route.budget == archiveBudget && h.Get("Ratelimit-Limit") == strconv.Itoa(calls) {
		g.mu.Lock()
		g.hosted = true
		g.mu.Unlock()
	}
	if calls > 0 && h.Get("Ratelimit-Remaining") == "0" {
		if wait := readRetryAfter(http.StatusTooManyRequests, h, time.Now()); wait > 0 {
			g.hold(r, time.Now().Add(wait))
		}
	}
}

// heldUntil returns when the request may be sent, and what holds it back; the past or zero: now.
// What the client has counted itself holds nothing back where the caller does not want it checked.
func (g *guard) heldUntil(r *request, unchecked bool) (until time.Time, why string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	until, why = g.held[holdKey{base: r.route.base}], "the server has asked to wait"
	if own := g.held[keyOf(r)]; own.After(until) {
		until = own
	}
	if full := g.fullUntil(r); !unchecked && full.After(until) {
		calls, window := r.route.budget.rate()
		until, why = full, fmt.Sprintf("the endpoint takes %d in %s, and this client has used that up", calls, window)
		if r.route.budget == blobBudget {
			why += "; DownloadBlob has no such limit"
		}
	}
	return until, why
}

// fullUntil is when the budget of the request's route has room again. It tells what is sure only: of blobs those are held back that
// were found to be large, and archives where the server has shown that it limits them.
func (g *guard) fullUntil(r *request) time.Time {
	calls, window := r.route.budget.rate()
	uses := g.uses[keyOf(r)]
	switch {
	case calls == 0 || len(uses) < calls:
		return time.Time{}
	case r.route.budget == archiveBudget && !g.hosted:
		return time.Time{}
	case r.route.budget == blobBudget && !slices.ContainsFunc(uses, func(u use) bool { return u.path == r.path }):
		return time.Time{}
	}
	return uses[0].at.Add(window - g.ahead)
}

// pass waits until the request may be sent, or says until when it may not because the wait is longer than the policy or the
// context allows.
func (g *guard) pass(ctx context.Context, r *request, o *callOptions) (until time.Time, why string, err error) {
	for {
		if until, why = g.heldUntil(r, o.unchecked); until.IsZero() {
			return time.Time{}, "", nil
		}
		wait := time.Until(until)
		if wait <= 0 {
			return time.Time{}, "", nil
		}
		deadline, limited := ctx.Deadline()
		switch {
		case limited && until.After(deadline):
			return until, why, pastDeadline(ctx)
		case wait > o.retry.MaxRetryAfter:
			return until, why, ErrRateLimited
		}
		wait += jitter(min(wait/10, time.Second))
		r.client.stats.throttle(wait)
		if err := sleep(ctx, wait); err != nil {
			return until, why, err
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
