package forge

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A lifetime ends as a context of the standard library's does, whether somebody waits for it before, after or not at all.
func TestLifetime(t *testing.T) {
	type key struct{}
	mine := errors.New("mine")
	for name, test := range map[string]struct {
		end        func(l *lifetime, caller context.CancelCauseFunc)
		err, cause error
		timeout    bool
	}{
		"it goes on":              {func(*lifetime, context.CancelCauseFunc) {}, nil, nil, false},
		"the attempt is over":     {func(l *lifetime, _ context.CancelCauseFunc) { l.end(nil) }, context.Canceled, context.Canceled, false},
		"the server is silent":    {func(l *lifetime, _ context.CancelCauseFunc) { l.end(ErrTimeout) }, context.Canceled, ErrTimeout, true},
		"the first cause stays":   {func(l *lifetime, _ context.CancelCauseFunc) { l.end(ErrTimeout); l.end(nil) }, context.Canceled, ErrTimeout, true},
		"over, and silent later":  {func(l *lifetime, _ context.CancelCauseFunc) { l.end(nil); l.end(ErrTimeout) }, context.Canceled, context.Canceled, false},
		"the caller leaves":       {func(_ *lifetime, leave context.CancelCauseFunc) { leave(mine) }, context.Canceled, mine, false},
		"the caller leaves first": {func(l *lifetime, leave context.CancelCauseFunc) { leave(mine); l.end(nil) }, context.Canceled, mine, false},
	} {
		for when, wait := range map[string]func(ctx context.Context){
			"asked before": func(ctx context.Context) { ctx.Done() },
			"asked after":  func(context.Context) {},
		} {
			t.Run(name+", "+when, func(t *testing.T) {
				caller, leave := context.WithCancelCause(context.WithValue(t.Context(), key{}, "value"))
				defer leave(nil)
				l := &lifetime{Context: caller, watch: new(watchdog)}
				wait(l)
				test.end(l, leave)
				assert.Equal(t, "value", l.Value(key{}))
				assert.Equal(t, test.err, l.Err())
				assert.Equal(t, test.timeout, errors.Is(l.timeout(mine), ErrTimeout))
				select {
				case <-l.Done():
					assert.Error(t, test.err, "it has ended")
				default:
					assert.NoError(t, test.err, "it has not ended")
				}
				assert.Equal(t, test.err, l.Err())
				assert.Equal(t, test.cause, context.Cause(l))
				l.end(nil)
			})
		}
	}
}

// Contexts that are made of it, as net/http and tracers do, end with it and take no goroutine to hear of that.
func TestLifetimeOfChildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lifetime{Context: t.Context(), watch: new(watchdog)}
		type key struct{}
		child, cancel := context.WithCancelCause(context.WithValue(l, key{}, 1))
		defer cancel(nil)
		other, leave := context.WithTimeout(l, time.Hour)
		told := make(chan error, 1)
		defer context.AfterFunc(child, func() { told <- context.Cause(child) })()
		leave()
		require.NoError(t, child.Err())
		require.Error(t, other.Err())
		l.end(ErrTimeout)
		// Without a goroutine in between the children have ended already.
		require.ErrorIs(t, child.Err(), context.Canceled)
		require.ErrorIs(t, context.Cause(child), ErrTimeout)
		require.ErrorIs(t, <-told, ErrTimeout)
	})
}
