package forge

import (
	"context"
	"fmt"
	"time"

	"github.com/forge-sdk/forge-go/internal/throttle"
)

// pollPolicy returns the policy of the intervals between polls: 1 s at first, growing to 10 s.
func pollPolicy() RetryPolicy { return RetryPolicy{MinWait: time.Second, MaxWait: 10 * time.Second} }

// poll calls check at intervals until it is done or fails. If ctx ends first, the error contains
// the last state that check returned.
func (r *request) poll(ctx context.Context, check func() (done bool, state string, err error)) error {
	if r.err != nil {
		return r.withRoute(r.err)
	}
	started := time.Now()
	for polls := 1; ; polls++ {
		done, state, err := check()
		if done || err != nil {
			return err
		}
		if err := throttle.Sleep(ctx, pollPolicy().backoff(pollPolicy().MinWait, polls)); err != nil {
			return r.fail(err, fmt.Sprintf("%s after %s: %s", state, time.Since(started).Round(time.Second), err))
		}
	}
}
