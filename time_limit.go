package forge

import (
	"context"
	"time"

	"github.com/forge-sdk/forge-go/internal/conn"
)

// timeLimitKey is the context key of the error of a wait that ends after the library's own limit.
type timeLimitKey struct{}

// withTimeout returns a context with the limit of the option Timeout, for what, such as "the page".
// An earlier deadline of ctx stays the limit.
func withTimeout(ctx context.Context, what string, limit time.Duration) (context.Context, context.CancelFunc) {
	deadline := time.Now().Add(limit)
	if earlier, limited := ctx.Deadline(); limited && earlier.Before(deadline) {
		return ctx, func() {}
	}
	passed := &conn.TimeoutError{Text: what + " took longer than " + limit.String(), Sentinel: ErrTimeout}
	early := &conn.TimeoutError{Text: what + " would take longer than " + limit.String(), Sentinel: ErrTimeout}
	ctx, cancel := context.WithDeadlineCause(ctx, deadline, passed)
	return context.WithValue(ctx, timeLimitKey{}, early), cancel
}

// pastDeadline returns the error of a wait that ends after the deadline of ctx. If the deadline is
// that of Timeout or of a request for a token, the error matches ErrTimeout; otherwise it is
// context.DeadlineExceeded.
func pastDeadline(ctx context.Context) error {
	if own, limited := ctx.Value(timeLimitKey{}).(error); limited {
		return own
	}
	return context.DeadlineExceeded
}
