package forge

import (
	"context"
	"errors"
	"sync"
)

// lifetime is the context of one attempt: the call's, until the watchdog ends it or the attempt is over. It becomes a context of
// the standard library's when somebody wants to hear of the end, which for many answers nobody does.
type lifetime struct {
	context.Context //nolint:containedctx // it is one
	watch           *watchdog

	mu     sync.Mutex
	waited context.Context //nolint:containedctx // what those have who wait for the end; nil: nobody
	tell   context.CancelCauseFunc
	cause  error // why it has ended; nil: it goes on
}

// end ends the attempt, for the first cause that is given; nil: it is over.
func (l *lifetime) end(cause error) {
	if cause == nil {
		cause = context.Canceled
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause != nil {
		return
	}
	if l.cause = cause; l.tell != nil {
		l.tell(cause)
	}
}

// Done makes the context that can be waited for.
func (l *lifetime) Done() <-chan struct{} {
	l.mu.Lock()
	first := l.waited == nil
	if first {
		l.waited, l.tell = context.WithCancelCause(l.Context)
		if l.cause != nil {
			l.tell(l.cause)
		}
	}
	l.mu.Unlock()
	if first {
		l.watch.listen()
	}
	return l.waited.Done()
}

// Err tells that it has ended, or the call.
func (l *lifetime) Err() error {
	l.watch.look()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.waited != nil:
		return l.waited.Err()
	case l.cause != nil:
		return context.Canceled
	}
	return l.Context.Err()
}

// Value lets contexts of the standard library below this one find the one that is told of the end.
func (l *lifetime) Value(key any) any {
	l.mu.Lock()
	parent := l.Context
	if l.waited != nil {
		parent = l.waited
	}
	l.mu.Unlock()
	return parent.Value(key)
}

// timeout gives the watchdog's error in place of the "context canceled" that it caused.
func (l *lifetime) timeout(err error) error {
	l.watch.look()
	l.mu.Lock()
	defer l.mu.Unlock()
	if errors.Is(l.cause, ErrTimeout) {
		return l.cause
	}
	return err
}
