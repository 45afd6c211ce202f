package throttle

import "sync"

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
