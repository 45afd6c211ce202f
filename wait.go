package forge

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// patience is how often a waiter looks: a second after its first look, then ever more seldom.
func patience() RetryPolicy { return RetryPolicy{MinWait: time.Second, MaxWait: 10 * time.Second} }

// poll looks until there is nothing to wait for any more. look tells what it saw, for the error of a wait that the context ends.
func (r *request) poll(ctx context.Context, look func() (done bool, saw string, err error)) error {
	if err := firstError(r.ready(ctx), r.err); err != nil {
		return r.invalid(err)
	}
	started := time.Now()
	for looks := 1; ; looks++ {
		done, saw, err := look()
		if done || err != nil {
			return err
		}
		if err := sleep(ctx, patience().backoff(patience().MinWait, looks)); err != nil {
			return r.fail(err, fmt.Sprintf("%s after %s: %s", saw, time.Since(started).Round(time.Second), err))
		}
	}
}

// named returns the *Error of the request for an error that does not come from a call.
func (r *request) named(err error) error {
	var failed *Error
	if errors.As(err, &failed) {
		return err
	}
	return r.fail(err, err.Error())
}

// fail is the error of a wait that ends without what was waited for.
func (r *request) fail(sentinel error, text string) error {
	return &Error{Method: r.route.method, Route: r.route.template, Path: r.client.Redact(r.path), cause: &failure{sentinel: sentinel, text: text}}
}
