package credential

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Concurrent callers share one request. The next caller makes another.
func TestSingleflight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Singleflight[int]
		calls := 0
		fetch := func(context.Context) (int, error) {
			calls++
			time.Sleep(time.Second)
			return calls, nil
		}
		for round := 1; round <= 2; round++ {
			var callers sync.WaitGroup
			for range 5 {
				callers.Go(func() {
					got, err := s.Do(t.Context(), fetch)
					assert.NoError(t, err)
					assert.Equal(t, round, got)
				})
			}
			callers.Wait()
		}
		assert.Equal(t, 2, calls)
	})
}

// A caller whose context ends leaves immediately. The request continues for the others.
func TestSingleflightLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Singleflight[int]
		began := time.Now()
		brief, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		fetch := func(ctx context.Context) (int, error) {
			time.Sleep(time.Minute)
			return 1, ctx.Err()
		}
		_, err := s.Do(brief, fetch)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(began))
		got, err := s.Do(t.Context(), fetch)
		require.NoError(t, err)
		assert.Equal(t, 1, got)
		assert.Equal(t, time.Minute, time.Since(began), "another request was begun")
		_, err = s.Do(brief, fetch)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// A panic of fetch reaches each caller.
func TestSingleflightPanics(t *testing.T) {
	var s Singleflight[int]
	for range 2 {
		assert.PanicsWithValue(t, "boom", func() {
			_, _ = s.Do(t.Context(), func(context.Context) (int, error) { panic("boom") })
		})
	}
}
