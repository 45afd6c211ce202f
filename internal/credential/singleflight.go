package credential

import (
	"context"
	"sync"

	"github.com/forge-sdk/forge-go/internal/task"
)

// Singleflight merges concurrent requests for a token into one. The request continues when the
// context of the caller that began it ends: an interrupted refresh could lose a rotated refresh
// token.
type Singleflight[T any] struct {
	mu      sync.Mutex
	running *task.Task[T]
}

// Do returns the token, or the error of ctx if ctx ends first. The context of fetch does not end. A
// panic of fetch is raised in each caller.
func (s *Singleflight[T]) Do(ctx context.Context, fetch func(context.Context) (T, error)) (token T, err error) {
	if err := ctx.Err(); err != nil {
		return token, err
	}
	running := s.join(ctx, fetch)
	if !running.Wait(ctx) {
		return token, ctx.Err()
	}
	return running.Result()
}

// join returns the request that is in progress, or starts one.
func (s *Singleflight[T]) join(ctx context.Context, fetch func(context.Context) (T, error)) *task.Task[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		s.running = task.Go(func() (T, error) {
			defer s.leave()
			return fetch(context.WithoutCancel(ctx))
		})
	}
	return s.running
}

func (s *Singleflight[T]) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = nil
}
