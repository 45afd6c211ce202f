package task

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv("TASK_PANICS") != "" {
		t := Go(failsInside)
		t.Wait(context.Background())
		_, _ = t.Result()
	}
	goleak.VerifyTestMain(m)
}

func failsInside() (int, error) { panic("the hook failed") }

func TestResult(t *testing.T) {
	returned := Go(func() (int, error) { return 7, os.ErrClosed })
	require.True(t, returned.Wait(t.Context()))
	for range 2 {
		value, err := returned.Result()
		assert.Equal(t, 7, value)
		assert.Equal(t, os.ErrClosed, err)
	}
	exited := Go(func() (int, error) {
		runtime.Goexit()
		return 7, nil
	})
	require.True(t, exited.Wait(t.Context()))
	_, err := exited.Result()
	assert.Equal(t, error(ErrGoexit), err)
}

// recover returns the original value in each goroutine that waits.
func TestPanic(t *testing.T) {
	problem := errors.New("problem")
	failed := Go(func() (int, error) { panic(problem) })
	require.True(t, failed.Wait(t.Context()))
	for range 2 {
		assert.PanicsWithValue(t, problem, func() { _, _ = failed.Result() })
	}
	empty := Go(func() (int, error) { panic(nil) })
	require.True(t, empty.Wait(t.Context()))
	assert.Panics(t, func() { _, _ = empty.Result() }, "panic(nil) is a panic")
}

// A panic that no one recovers shows where it happened.
func TestPanicShowsStack(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "TASK_PANICS=1")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "panic: the hook failed")
	assert.Contains(t, string(out), "task.failsInside")
}

// A wait ends when its context ends. A result that has already arrived is still returned.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		blocked := Go(func() (int, error) {
			<-release
			return 7, nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		require.False(t, blocked.Wait(ctx))
		assert.Equal(t, time.Second, time.Since(began))
		_, err := blocked.Result()
		assert.Equal(t, error(ErrRunning), err)
		close(release)
		synctest.Wait()
		for range 100 {
			require.True(t, blocked.Wait(ctx))
		}
	})
}
