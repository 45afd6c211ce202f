package throttle

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A sleep lasts as long as it should, or until its context ends.
func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		require.NoError(t, Sleep(t.Context(), 3*time.Second))
		assert.Equal(t, 3*time.Second, time.Since(began))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began = time.Now()
		require.ErrorIs(t, Sleep(ctx, time.Hour), context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(began))
	})
}

// Jitter is a part of its argument, and 0 for 0.
func TestJitter(t *testing.T) {
	assert.Zero(t, Jitter(0))
	assert.Zero(t, Jitter(-1))
	var longest time.Duration
	for range 100 {
		d := Jitter(time.Second)
		require.GreaterOrEqual(t, d, time.Duration(0))
		require.Less(t, d, time.Second)
		longest = max(longest, d)
	}
	assert.Greater(t, longest, 100*time.Millisecond)
}
