package conn

import (
	"context"
	"errors"
	"io"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var errTest = errors.New("the sentinel of the test")

// count is a Counter.
type count struct{ bytes int }

func (c *count) Received(n int) { c.bytes += n }

func newContext(parent context.Context, header, stall time.Duration) *Context {
	return &Context{Context: parent, Limits: &Limits{header, stall, errTest}, Counter: new(count), Clock: time.Now()}
}

// timedOut reports whether the server's silence has ended the attempt.
func timedOut(c *Context) bool { return errors.Is(c.TimeoutCause(nil), errTest) }

// The timer is not reset on every read: it continues when it fires too early. There is no timer
// before the first call of Done. Callers of Done and of Err notice the end at the same time.
func TestContextTimeout(t *testing.T) {
	for name, test := range map[string]struct {
		run  func(c *Context)
		ends time.Duration // time after the run; 0: never; -1: during the run
	}{
		"silence":                  {func(c *Context) { c.awaitBytes() }, 60 * time.Second},
		"bytes come, then silence": {func(c *Context) { readEvery(c, 40*time.Second) }, 60 * time.Second},
		"the caller pauses":        {func(c *Context) { readEvery(c, 40*time.Second); c.Pause() }, 0},
		"silence after a pause":    {func(c *Context) { c.awaitBytes(); c.Pause(); time.Sleep(time.Hour); c.awaitBytes() }, 60 * time.Second},
		"a shorter wait":           {func(c *Context) { c.awaitBytes(); c.AwaitResponse() }, 10 * time.Second},
		"a wait that has expired":  {func(c *Context) { c.awaitBytes(); time.Sleep(time.Minute); c.Pause() }, -1},
		"an expired wait goes on":  {func(c *Context) { c.awaitBytes(); time.Sleep(time.Minute); c.awaitBytes() }, -1},
	} {
		for when, wait := range map[string]struct{ before, after func(ctx context.Context) }{
			"Done from the beginning": {func(ctx context.Context) { ctx.Done() }, awaitEnd},
			"Done later":              {func(context.Context) {}, awaitEnd},
			"Err":                     {func(context.Context) {}, pollEnd},
		} {
			t.Run(name+", "+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := newContext(t.Context(), 10*time.Second, time.Minute)
					wait.before(c)
					test.run(c)
					assert.Equal(t, c.child != nil, c.timer != nil)
					if test.ends < 0 {
						require.ErrorIs(t, c.Err(), context.Canceled)
						require.True(t, timedOut(c))
						return
					}
					require.NoError(t, c.Err())
					start := time.Now()
					if wait.after(c); test.ends == 0 {
						require.NoError(t, c.Err())
					} else {
						require.ErrorIs(t, c.Err(), context.Canceled)
						require.True(t, timedOut(c))
						assert.Equal(t, test.ends, time.Since(start))
					}
					c.Cancel(nil)
				})
			})
		}
	}
}

// awaitEnd waits for the end of the context, for an hour at most.
func awaitEnd(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Hour):
	}
}

// pollEnd calls Err every second.
func pollEnd(ctx context.Context) {
	for start := time.Now(); ctx.Err() == nil && time.Since(start) < time.Hour; {
		time.Sleep(time.Second)
	}
}

func readEvery(c *Context, d time.Duration) {
	for range 10 {
		c.awaitBytes()
		time.Sleep(d)
	}
	c.awaitBytes()
}

// After the end of the attempt there is no wait, and no timer keeps the attempt in memory.
func TestContextTimeoutAfterEnd(t *testing.T) {
	for name, wait := range map[string]func(c *Context){
		"the wait of before": func(*Context) {},
		"another wait":       (*Context).AwaitResponse,
	} {
		for _, done := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := newContext(t.Context(), time.Second, time.Minute)
					if done {
						c.Done()
					}
					c.awaitBytes()
					c.Cancel(nil)
					assert.False(t, c.timer != nil && c.timer.Stop(), "the timer runs")
					wait(c)
					assert.False(t, c.timer != nil && c.timer.Stop(), "the timer runs again")
					time.Sleep(time.Hour)
					require.ErrorIs(t, c.Err(), context.Canceled)
					require.False(t, timedOut(c))
				})
			})
		}
	}
}

// The longest possible limit does not end an attempt.
func TestContextWithoutLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newContext(t.Context(), math.MaxInt64, math.MaxInt64)
		c.Done()
		for _, wait := range []func(){c.AwaitResponse, c.awaitBytes, c.Pause, c.awaitBytes} {
			time.Sleep(time.Hour)
			wait()
			require.NoError(t, c.Err())
		}
		c.Cancel(nil)
	})
}

// The next attempt has its full time limit, with any time left of the previous one.
func TestContextOfTheNextAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := newContext(t.Context(), 0, time.Minute)
		first.Done()
		first.awaitBytes()
		time.Sleep(50 * time.Second)
		first.Cancel(nil)
		second := newContext(t.Context(), 0, time.Minute)
		second.awaitBytes()
		start := time.Now()
		<-second.Done()
		assert.Equal(t, time.Minute, time.Since(start))
		assert.False(t, timedOut(first), "the first attempt was ended")
	})
}

// A Context ends like one of the standard library, whether Done is called before the end, after it
// or never.
func TestContext(t *testing.T) {
	type key struct{}
	mine := errors.New("mine")
	silence := &TimeoutError{"silence", errTest}
	for name, test := range map[string]struct {
		end        func(c *Context, caller context.CancelCauseFunc)
		err, cause error
		timeout    bool
	}{
		"it continues":             {func(*Context, context.CancelCauseFunc) {}, nil, nil, false},
		"the attempt has ended":    {func(c *Context, _ context.CancelCauseFunc) { c.Cancel(nil) }, context.Canceled, context.Canceled, false},
		"the server is silent":     {func(c *Context, _ context.CancelCauseFunc) { c.Cancel(silence) }, context.Canceled, silence, true},
		"the first cause stays":    {func(c *Context, _ context.CancelCauseFunc) { c.Cancel(silence); c.Cancel(nil) }, context.Canceled, silence, true},
		"ended, and silent later":  {func(c *Context, _ context.CancelCauseFunc) { c.Cancel(nil); c.Cancel(silence) }, context.Canceled, context.Canceled, false},
		"the caller cancels":       {func(_ *Context, leave context.CancelCauseFunc) { leave(mine) }, context.Canceled, mine, false},
		"the caller cancels first": {func(c *Context, leave context.CancelCauseFunc) { leave(mine); c.Cancel(nil) }, context.Canceled, mine, false},
	} {
		for when, wait := range map[string]func(ctx context.Context){
			"Done before": func(ctx context.Context) { ctx.Done() },
			"Done after":  func(context.Context) {},
		} {
			t.Run(name+", "+when, func(t *testing.T) {
				caller, leave := context.WithCancelCause(context.WithValue(t.Context(), key{}, "value"))
				defer leave(nil)
				c := newContext(caller, time.Minute, time.Minute)
				wait(c)
				test.end(c, leave)
				assert.Equal(t, "value", c.Value(key{}))
				assert.Equal(t, test.err, c.Err())
				assert.Equal(t, test.timeout, errors.Is(c.TimeoutCause(mine), errTest))
				assert.Equal(t, !test.timeout, errors.Is(c.TimeoutCause(mine), mine))
				select {
				case <-c.Done():
					assert.Error(t, test.err, "it has ended")
				default:
					assert.NoError(t, test.err, "it has not ended")
				}
				assert.Equal(t, test.err, c.Err())
				assert.Equal(t, test.cause, context.Cause(c))
				c.Cancel(nil)
			})
		}
	}
}

// Contexts that net/http and tracers derive from it end with it, and need no goroutine.
func TestContextChildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newContext(t.Context(), time.Minute, time.Minute)
		type key struct{}
		child, cancel := context.WithCancelCause(context.WithValue(c, key{}, 1))
		defer cancel(nil)
		other, leave := context.WithTimeout(c, time.Hour)
		causes := make(chan error, 1)
		defer context.AfterFunc(child, func() { causes <- context.Cause(child) })()
		leave()
		require.NoError(t, child.Err())
		require.Error(t, other.Err())
		c.Cancel(errTest)
		// Without a goroutine in between, the children have already ended.
		require.ErrorIs(t, child.Err(), context.Canceled)
		require.ErrorIs(t, context.Cause(child), errTest)
		require.ErrorIs(t, <-causes, errTest)
	})
}

// A limit of time of the call, which the cause of its context names, is a timeout as well.
func TestTimeoutCauseOfTheCall(t *testing.T) {
	limit := &TimeoutError{"the call took longer than 5s", errTest}
	assert.True(t, limit.Timeout() && !limit.Temporary())
	for _, test := range []struct{ cause, want error }{{limit, limit}, {io.ErrUnexpectedEOF, io.EOF}, {nil, io.EOF}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		c := &Context{Context: ctx, Limits: &Limits{Header: time.Minute, Stall: time.Minute, Err: errTest}, Clock: time.Now()}
		require.ErrorIs(t, c.TimeoutCause(io.EOF), io.EOF, "the call runs")
		cancel(test.cause)
		require.ErrorIs(t, c.TimeoutCause(io.EOF), test.want)
	}
	c := &Context{Context: t.Context(), Limits: &Limits{}, Clock: time.Now()}
	require.Equal(t, io.EOF, c.TimeoutCause(io.EOF), "no error stands for a limit")
	synctest.Test(t, func(t *testing.T) {
		c := newContext(t.Context(), time.Hour, time.Minute)
		c.awaitBytes()
		time.Sleep(time.Minute)
		require.EqualError(t, c.TimeoutCause(io.EOF), "the connection stalled for 1m0s", "it notices the end itself")
	})
}
