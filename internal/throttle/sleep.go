package throttle

import (
	"context"
	"math/rand/v2"
	"time"
)

// Sleep waits for d or for the end of ctx, whose error it returns.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Jitter returns a random part of d.
func Jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return rand.N(d)
}
