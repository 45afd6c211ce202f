package throttle

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// spendAll returns how many retries the budget still allows.
func spendAll(b *RetryBudget) (n int) {
	for b.Spend() {
		n++
	}
	return n
}

// The budget is 40 retries. A retry that succeeds refunds its cost, a first attempt that succeeds a
// tenth of a retry, and there are never more than 40.
func TestRetryBudget(t *testing.T) {
	for _, test := range []struct {
		name               string
		spent              int
		retries, successes int
		want               int
	}{
		{"a new one", 0, 0, 0, 40},
		{"a full one", 0, 10, 100, 40},
		{"some are spent", 15, 0, 0, 25},
		{"all are spent", 40, 0, 0, 0},
		{"a retry succeeded", 40, 1, 0, 1},
		{"nine first attempts succeeded", 40, 0, 9, 0},
		{"eleven first attempts succeeded", 40, 0, 11, 1},
		{"everything succeeded", 40, 100, 1000, 40},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := &NewGate().Retries
			for range test.spent {
				require.True(t, b.Spend())
			}
			for range test.retries {
				b.Refund(true)
			}
			for range test.successes {
				b.Refund(false)
			}
			assert.Equal(t, test.want, spendAll(b))
		})
	}
}

// Concurrent calls cannot spend more than the budget.
func TestRetryBudgetConcurrently(t *testing.T) {
	b := &NewGate().Retries
	var spent atomic.Int64
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() { spent.Add(int64(spendAll(b))) })
	}
	running.Wait()
	assert.EqualValues(t, 40, spent.Load())
}
