package throttle

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

// Gate delays requests: until the end of a wait that the server announced, and while the quota of a
// route is used up. It is shared by all clients with the same credential. NewGate makes one.
type Gate struct {
	// Retries is the retry budget of the same clients.
	Retries RetryBudget
	// Pacer delays requests before the server would refuse them.
	Pacer Pacer

	mu      sync.Mutex
	holds   map[Key]time.Time // the end of each announced wait
	history map[Key][]usage   // the last requests that a quota counts, oldest first
	proven  map[string]bool   // routes whose quota a response has shown

	counting atomic.Bool   // history is not empty
	ahead    time.Duration // how far the server's clock is ahead, by the latest response; history has its times
}

// NewGate returns a gate that delays nothing yet, with a full retry budget.
func NewGate() *Gate { return &Gate{Retries: RetryBudget{left: retryBudgetSize}} }

// Key identifies requests that are delayed together: those of a route that has a quota, or all
// others of the same origin, whose Route is "".
type Key struct {
	Origin  string // the server
	Route   string
	Subject string // what the quota is counted for, such as a project
}

// Quota is the documented rate limit of a route; the zero value means that there is no limit.
type Quota struct {
	Calls  int
	Window time.Duration
	// Proven is set if every server enforces the quota. Otherwise it delays requests only once a
	// response has shown it: with its limit in a header, or with a wait for the route.
	Proven bool
	// Path is the object of the request. If it is set, the quota delays only requests for objects that
	// were counted before, since the server may not count other objects.
	Path string
	// Instead names an alternative without this quota, for the reason of the delay.
	Instead string
}

// usage is a request that a quota counts.
type usage struct {
	at   time.Time
	path string
}

// longestHold limits announced waits: an absurd header must not shut a client down.
const longestHold = time.Hour

// Hold delays requests with the key until the given time, but for an hour at most. A key without a
// Route delays all requests to its Origin.
func (g *Gate) Hold(key Key, until time.Time) {
	if latest := time.Now().Add(longestHold); until.After(latest) {
		until = latest
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holds == nil {
		g.holds = map[Key]time.Time{}
	}
	if until.After(g.holds[key]) {
		g.holds[key] = until
	}
	g.prove(key.Route)
}

// prove records that the server enforces the quota of the route. The caller holds the lock.
func (g *Gate) prove(route string) {
	if g.proven == nil {
		g.proven = map[string]bool{}
	}
	g.proven[route] = true
}

// Count records a request that the quota counts.
func (g *Gate) Count(key Key, quota Quota) {
	if quota.Calls == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.history == nil {
		g.history = map[Key][]usage{}
		g.counting.Store(true)
	}
	now := time.Now().Add(g.ahead)
	for other, used := range g.history {
		if other.Route == key.Route && now.Sub(used[len(used)-1].at) >= quota.Window {
			delete(g.history, other)
		}
	}
	used := g.history[key]
	used = append(used, usage{now, quota.Path})
	g.history[key] = used[max(0, len(used)-quota.Calls):]
}

// Observe reads the headers of a 2xx response: the server's clock, and what its RateLimit-* headers
// say of the quota. The limit proves that the quota exists; if none is left, further requests with
// the key are delayed until the reset.
func (g *Gate) Observe(key Key, quota Quota, h http.Header) {
	if quota.Calls == 0 && !g.counting.Load() {
		return
	}
	g.observeClock(h)
	if quota.Calls == 0 {
		return
	}
	if h.Get("Ratelimit-Limit") == strconv.Itoa(quota.Calls) {
		g.mu.Lock()
		g.prove(key.Route)
		g.mu.Unlock()
	}
	if h.Get("Ratelimit-Remaining") == "0" {
		now := time.Now()
		if wait := RetryAfter(http.StatusTooManyRequests, h, now); wait > 0 {
			g.Hold(key, now.Add(wait))
		}
	}
}

// clockTolerance is the difference between a Date header and this machine's clock that is ignored:
// the header has whole seconds, and the response was in transit.
const clockTolerance = 2 * time.Second

// observeClock records the server's clock, by which quotas are counted. The clock may be wrong or
// be changed.
func (g *Gate) observeClock(h http.Header) {
	server, err := http.ParseTime(h.Get("Date"))
	if err != nil || h.Get("Age") != "" { // the Date of a cached response is that of the first one
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

// HeldUntil returns when a request with the key may be sent, and why not earlier. Zero or a past
// time means now. With the zero quota only announced waits count.
func (g *Gate) HeldUntil(key Key, quota Quota) (until time.Time, why string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	until, why = g.holds[Key{Origin: key.Origin}], "the server has asked to wait"
	if own := g.holds[key]; own.After(until) {
		until = own
	}
	if reset := g.quotaResetsAt(key, quota); reset.After(until) {
		until, why = reset, fmt.Sprintf("the endpoint takes %d in %s, and this client has used that up", quota.Calls, quota.Window)
		if quota.Instead != "" {
			why += "; " + quota.Instead + " has no such limit"
		}
	}
	return until, why
}

// quotaResetsAt returns when the quota takes another request. It is zero unless the server would
// certainly refuse the request now. The caller holds the lock.
func (g *Gate) quotaResetsAt(key Key, quota Quota) time.Time {
	used := g.history[key]
	switch {
	case len(used) < quota.Calls:
		return time.Time{}
	case !quota.Proven && !g.proven[key.Route]:
		return time.Time{}
	case !slices.ContainsFunc(used, func(u usage) bool { return u.path == quota.Path }):
		return time.Time{}
	}
	return used[0].at.Add(quota.Window - g.ahead)
}

// Wait waits until a request with the key may be sent, and returns a zero time then. It does not
// begin a wait that is longer than longest or ends after the deadline of ctx: it then returns the
// time at which the wait would end, and its reason. If ctx ends during a wait, Wait returns the
// error of ctx too. waiting is called with the end, the reason and the length of each wait that
// begins.
func (g *Gate) Wait(ctx context.Context, key Key, quota Quota, longest time.Duration, waiting func(until time.Time, why string, wait time.Duration)) (until time.Time, why string, err error) {
	for {
		until, why = g.HeldUntil(key, quota)
		wait := time.Until(until)
		if wait <= 0 {
			return time.Time{}, "", nil
		}
		if deadline, limited := ctx.Deadline(); limited && until.After(deadline) || wait > longest {
			return until, why, nil
		}
		wait += Jitter(min(wait/10, time.Second))
		waiting(until, why, wait)
		if err := Sleep(ctx, wait); err != nil {
			return until, why, err
		}
	}
}

const (
	retryBudgetSize  = 40  // retries that may be spent while nothing succeeds
	refundPerRetry   = 1   // a retry that succeeds returns the one that it took
	refundPerSuccess = 0.1 // a first attempt that succeeds returns a tenth
)

// RetryBudget limits the retries of all calls together, so that a dead server gets few requests
// more than there are calls. The budget of a new Gate is full.
type RetryBudget struct {
	mu   sync.Mutex
	left float64 // retries
}

// Spend takes one retry from the budget, and reports whether there was one.
func (b *RetryBudget) Spend() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// Refund refills the budget after a call that succeeded. retried reports whether that took a retry.
func (b *RetryBudget) Refund(retried bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	refund := refundPerSuccess
	if retried {
		refund = refundPerRetry
	}
	b.left = min(retryBudgetSize, b.left+refund)
}
