package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
)

// limit is a forge.Limiter that all processes share which use the same Redis and the same key. The client asks it before every
// attempt, retries included.
type limit struct {
	limiter *redis_rate.Limiter
	key     string
	rate    redis_rate.Limit
	waits   atomic.Int64
}

// newLimit allows a number of requests a second. A tenth of a second's may come at once: a server counts bursts too.
func newLimit(store *redis.Client, key string, perSecond int) *limit {
	return &limit{
		limiter: redis_rate.NewLimiter(store), key: key,
		rate: redis_rate.Limit{Rate: perSecond, Burst: max(1, perSecond/10), Period: time.Second},
	}
}

// Wait returns when a request may be sent. Without Redis nothing is sent: a fleet that loses its limit must not run wild.
func (l *limit) Wait(ctx context.Context) error {
	for {
		result, err := l.limiter.Allow(ctx, l.key, l.rate)
		if err != nil {
			return fmt.Errorf("the shared limit cannot be asked: %w", err)
		}
		if result.Allowed > 0 {
			return nil
		}
		l.waits.Add(1)
		select { // spread, so that those who wait do not come back together
		case <-time.After(result.RetryAfter + rand.N(result.RetryAfter+time.Millisecond)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
