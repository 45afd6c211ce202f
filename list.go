package forge

import (
	"context"
	"iter"
)

// list reads all pages, in order, as the caller ranges; with Since it reads what has changed.
func list[T any](ctx context.Context, r *request, opts []RequestOption) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		if err := runList(ctx, r, opts, yield); err != nil {
			yield(nil, err)
		}
	}
}

// runList ranges over a list once.
func runList[T any](ctx context.Context, r *request, opts []RequestOption, yield func(*T, error) bool) error {
	first, err := r.prepare(kindList, opts)
	if err != nil {
		return err
	}
	if err := r.checkPosition(first.options); err != nil {
		return r.withRoute(err)
	}
	switch o := first.options; {
	case o.since != nil:
		return runFeed(ctx, first, yield)
	case o.overlap != 0:
		return r.withRoute(&ValidationError{Option: "Overlap", Reason: "it applies to Since only"})
	}
	return runPages(ctx, first, yield)
}
