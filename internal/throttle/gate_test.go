package throttle

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	plain    = Key{Origin: "API"}
	deletion = Key{"API", "/tags", "3"}
	hourly   = Quota{Calls: 1, Window: time.Hour, Proven: true}
	archive  = Key{Origin: "API", Route: "/archive"}
	doubted  = Quota{Calls: 2, Window: time.Minute}
	blob     = Key{"API", "/blob", "group/app"}
)

// large returns a quota that counts only some of the objects.
func large(path string) Quota {
	return Quota{Calls: 2, Window: time.Minute, Proven: true, Path: path, Instead: "the raw form"}
}

// delay returns how long the gate would delay a request now.
func delay(g *Gate, key Key, quota Quota) time.Duration {
	until, _ := g.HeldUntil(key, quota)
	return max(0, time.Until(until))
}

// A wait for an origin delays all its requests, a wait for a route those with its key, and none of
// them lasts longer than an hour. The latest end counts.
func TestGateHold(t *testing.T) {
	other := Key{Origin: "registry"}
	for _, test := range []struct {
		name  string
		holds map[Key]time.Duration
		want  map[Key]time.Duration
	}{
		{"nothing", nil, map[Key]time.Duration{plain: 0, archive: 0}},
		{"the origin", map[Key]time.Duration{plain: time.Minute}, map[Key]time.Duration{plain: time.Minute, archive: time.Minute, other: 0}},
		{"a route", map[Key]time.Duration{archive: time.Minute}, map[Key]time.Duration{plain: 0, archive: time.Minute, deletion: 0}},
		{"a subject", map[Key]time.Duration{deletion: time.Minute}, map[Key]time.Duration{deletion: time.Minute, {"API", "/tags", "4"}: 0}},
		{"both", map[Key]time.Duration{plain: time.Second, archive: time.Minute}, map[Key]time.Duration{plain: time.Second, archive: time.Minute}},
		{"both, the origin for longer", map[Key]time.Duration{plain: time.Hour, archive: time.Minute}, map[Key]time.Duration{archive: time.Hour}},
		{"too long", map[Key]time.Duration{plain: 1e6 * time.Hour}, map[Key]time.Duration{plain: time.Hour}},
		{"the past", map[Key]time.Duration{plain: -time.Hour}, map[Key]time.Duration{plain: 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewGate()
				for key, wait := range test.holds {
					g.Hold(key, time.Now().Add(wait))
					g.Hold(key, time.Now().Add(wait/2)) // a shorter wait changes nothing
				}
				for key, want := range test.want {
					until, why := g.HeldUntil(key, Quota{})
					assert.Equal(t, want, max(0, time.Until(until)), "%v", key)
					assert.Equal(t, "the server has asked to wait", why)
				}
			})
		})
	}
}

// A quota that is used up delays requests with the same key until its window ends, but only
// requests that the server would certainly refuse.
func TestGateQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate()
		g.Count(deletion, hourly)
		assert.Equal(t, time.Hour, delay(g, deletion, hourly))
		assert.Zero(t, delay(g, Key{"API", "/tags", "4"}, hourly), "another subject")
		assert.Zero(t, delay(g, deletion, Quota{}), "only announced waits count")
		_, why := g.HeldUntil(deletion, hourly)
		assert.Equal(t, "the endpoint takes 1 in 1h0m0s, and this client has used that up", why)
		time.Sleep(time.Hour)
		assert.Zero(t, delay(g, deletion, hourly))

		g.Count(deletion, hourly)
		time.Sleep(2 * time.Minute)
		g.Count(blob, large("a"))
		assert.Equal(t, 58*time.Minute, delay(g, deletion, hourly), "a shorter window of another route ends")
		time.Sleep(10 * time.Second)
		g.Count(blob, large("b"))
		assert.Equal(t, 50*time.Second, delay(g, blob, large("a")), "the first one leaves the window")
		assert.Equal(t, 50*time.Second, delay(g, blob, large("b")))
		assert.Zero(t, delay(g, blob, large("c")), "not known to count")
		_, why = g.HeldUntil(blob, large("a"))
		assert.Equal(t, "the endpoint takes 2 in 1m0s, and this client has used that up; the raw form has no such limit", why)
		time.Sleep(50 * time.Second)
		assert.Zero(t, delay(g, blob, large("a")))
		g.Count(plain, Quota{})
		assert.Zero(t, delay(g, plain, Quota{}))
	})
}

// A quota that not every server enforces delays requests only after a response has shown it.
func TestGateProof(t *testing.T) {
	for _, test := range []struct {
		name  string
		show  func(g *Gate)
		shown bool
	}{
		{"nothing", func(*Gate) {}, false},
		{"another limit", func(g *Gate) { g.Observe(archive, doubted, header("Ratelimit-Limit", "2000")) }, false},
		{"its limit", func(g *Gate) { g.Observe(archive, doubted, header("Ratelimit-Limit", "2")) }, true},
		{"the limit of another route", func(g *Gate) { g.Observe(Key{Origin: "API", Route: "/other"}, doubted, header("Ratelimit-Limit", "2")) }, false},
		{"none is left, without an end", func(g *Gate) { g.Observe(archive, doubted, header("Ratelimit-Remaining", "0")) }, false},
		{"a wait", func(g *Gate) { g.Hold(archive, time.Now()) }, true},
		{"a wait of the origin", func(g *Gate) { g.Hold(plain, time.Now()) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewGate()
				g.Count(archive, doubted)
				g.Count(archive, doubted)
				test.show(g)
				assert.Equal(t, map[bool]time.Duration{true: time.Minute, false: 0}[test.shown], delay(g, archive, doubted))
			})
		})
	}
}

// A response that reports a used-up quota delays the next request until the reset.
func TestGateObserveRemaining(t *testing.T) {
	for _, test := range []struct {
		quota Quota
		h     http.Header
		want  time.Duration
	}{
		{doubted, header("Ratelimit-Remaining", "0", "Ratelimit-Reset", "30"), 30 * time.Second},
		{doubted, header("Ratelimit-Remaining", "1", "Ratelimit-Reset", "30"), 0},
		{doubted, header("Ratelimit-Remaining", "0"), 0},
		{Quota{}, header("Ratelimit-Remaining", "0", "Ratelimit-Reset", "30"), 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := NewGate()
			g.Count(deletion, hourly) // from now on the server's clock is read
			g.Observe(archive, test.quota, test.h)
			assert.Equal(t, test.want, delay(g, archive, test.quota), "%v", test.h)
		})
	}
}

// Quotas are counted by the server's clock, which the latest response shows. A cached response does
// not show it.
func TestGateClock(t *testing.T) {
	dated := func(ahead time.Duration, more ...string) http.Header {
		return header(append(more, "Date", time.Now().Add(ahead).UTC().Format(http.TimeFormat))...)
	}
	synctest.Test(t, func(t *testing.T) {
		g := NewGate()
		g.Observe(plain, Quota{}, dated(time.Hour)) // no request is counted yet
		g.Count(deletion, hourly)
		assert.Equal(t, time.Hour, delay(g, deletion, hourly))
		g.Observe(plain, Quota{}, dated(time.Second))
		assert.Equal(t, time.Hour, delay(g, deletion, hourly), "within the tolerance")
		g.Observe(plain, Quota{}, dated(50*time.Minute, "Age", "1"))
		assert.Equal(t, time.Hour, delay(g, deletion, hourly), "a cached response")
		g.Observe(plain, Quota{}, dated(2*time.Second))
		assert.Equal(t, time.Hour-2*time.Second, delay(g, deletion, hourly), "no longer within the tolerance")
		g.Observe(plain, Quota{}, dated(50*time.Minute))
		assert.Equal(t, 10*time.Minute, delay(g, deletion, hourly))
		time.Sleep(10 * time.Minute)
		assert.Zero(t, delay(g, deletion, hourly))
		g.Count(deletion, hourly) // counted at the server's time
		assert.Equal(t, time.Hour, delay(g, deletion, hourly))
	})
}

// A wait ends when the request may be sent. A wait that is too long is not begun, and a wait that
// the context ends returns the error of the context. Each wait that begins is reported.
func TestGateWait(t *testing.T) {
	for _, test := range []struct {
		name     string
		hold     time.Duration
		deadline time.Duration
		longest  time.Duration
		begun    bool
		until    time.Duration // 0: the request may be sent
	}{
		{"none", 0, time.Minute, time.Minute, false, 0},
		{"over", -time.Second, time.Minute, time.Minute, false, 0},
		{"at this moment", 0, time.Minute, time.Minute, false, 0},
		{"as long as allowed", 20 * time.Second, time.Minute, 20 * time.Second, true, 0},
		{"short enough", 20 * time.Second, time.Minute, time.Minute, true, 0},
		{"too long", 20 * time.Second, time.Minute, 19 * time.Second, false, 20 * time.Second},
		{"past the deadline", 20 * time.Second, 19 * time.Second, time.Minute, false, 20 * time.Second},
		{"to the deadline, and not with its jitter", 20 * time.Second, 20 * time.Second, time.Minute, true, 20 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, began := NewGate(), time.Now()
				if test.name != "none" {
					g.Hold(plain, began.Add(test.hold))
				}
				ctx, cancel := context.WithTimeout(t.Context(), test.deadline)
				defer cancel()
				var waits []time.Duration
				until, why, err := g.Wait(ctx, plain, Quota{}, test.longest, func(_ time.Time, _ string, d time.Duration) { waits = append(waits, d) })
				if test.begun {
					require.Len(t, waits, 1)
					assert.GreaterOrEqual(t, waits[0], test.hold)
					assert.LessOrEqual(t, waits[0], test.hold+time.Second)
				} else {
					assert.Empty(t, waits)
					assert.Equal(t, began, time.Now())
				}
				if test.until == 0 {
					require.NoError(t, err)
					assert.Zero(t, until)
					assert.GreaterOrEqual(t, time.Since(began), test.hold)
					return
				}
				assert.Equal(t, began.Add(test.until), until)
				assert.Equal(t, "the server has asked to wait", why)
				if test.begun {
					require.ErrorIs(t, err, context.DeadlineExceeded)
				} else {
					require.NoError(t, err)
				}
			})
		})
	}
}

// A wait that becomes longer while a request waits delays it further.
func TestGateWaitAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, began, waits := NewGate(), time.Now(), 0
		g.Hold(plain, began.Add(10*time.Second))
		until, _, err := g.Wait(t.Context(), plain, Quota{}, time.Minute, func(time.Time, string, time.Duration) {
			if waits++; waits == 1 {
				g.Hold(plain, began.Add(30*time.Second))
			}
		})
		require.NoError(t, err)
		assert.Zero(t, until)
		assert.Equal(t, 2, waits)
		assert.GreaterOrEqual(t, time.Since(began), 30*time.Second)
		assert.LessOrEqual(t, time.Since(began), 31*time.Second)
	})
}

// The record of quotas does not grow.
func TestGateMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate()
		for i := range 1000 {
			g.Count(Key{"API", "/tags", fmt.Sprint(i)}, hourly)
			g.Count(blob, large(fmt.Sprint(i)))
			time.Sleep(time.Minute)
		}
		assert.LessOrEqual(t, len(g.history), 62)
		assert.LessOrEqual(t, len(g.history[blob]), 2)
	})
}
