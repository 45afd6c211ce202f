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

// limit is a forge.Limiter that all processes with the same Redis and the same key share. The
// client calls it before every attempt, retries included.
type limit struct {
	limiter *redis_rate.Limiter
	key     string
	rate    redis_rate.Limit
	waits   atomic.Int64
}

// newLimit allows perSecond requests a second, and bursts of a tenth of that, at least 1: servers
// count bursts, too.
func newLimit(store *redis.Client, key string, perSecond int) *limit {
	return &limit{
		limiter: redis_rate.NewLimiter(store), key: key,
		rate: redis_rate.Limit{Rate: perSecond, Burst: max(1, perSecond/10), Period: time.Second},
	}
}

// Wait returns when a request may be sent. Without Redis it returns an error, and nothing is sent:
// workers must not continue without the shared limit.
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
		select { // jitter, so that waiters do not try again at the same time
		case <-time.After(result.RetryAfter + rand.N(result.RetryAfter+time.Millisecond)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
