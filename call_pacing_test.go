package forge

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whatever the headers say, pacing delays a call neither beyond the window that they state nor
// beyond MaxRetryAfter, and does not make it fail.
func TestPacingOddHeaders(t *testing.T) {
	at := func(d time.Duration) string { return strconv.FormatInt(time.Now().Add(d).Unix(), 10) }
	for _, test := range []struct {
		name             string
		remaining, reset func() string
		want             time.Duration
	}{
		{"used up", constant("0"), func() string { return at(20 * time.Second) }, 20 * time.Second},
		{"used up, in seconds", constant("0"), constant("20"), 20 * time.Second},
		{"negative", constant("-3"), func() string { return at(20 * time.Second) }, 20 * time.Second},
		{"enough", constant("50"), func() string { return at(20 * time.Second) }, 0},
		{"the past", constant("0"), func() string { return at(-time.Minute) }, 0},
		{"now", constant("0"), constant("0"), 0},
		{"the longest wait", constant("0"), func() string { return at(time.Minute) }, time.Minute},
		{"an hour away", constant("0"), func() string { return at(time.Hour) }, 0},
		{"a century away", constant("0"), constant("1099511627775"), 0},
		{"two values", constant("0, 5"), constant("20"), 0},
		{"no end", constant("0"), constant(""), 0},
		{"an absurd number", constant("99999999999999999999"), constant("20"), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := bubbleClient(t, statuses(func(*http.Request) (int, http.Header) {
					return 200, headers("RateLimit-Remaining", test.remaining(), "RateLimit-Reset", test.reset())
				}))
				require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
				began := time.Now()
				require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
				assert.Equal(t, test.want, time.Since(began))
				assert.Equal(t, test.want, c.Stats().PacingWaitTime)

				// Many callers wait no longer, nor does one whose context ends earlier.
				var waiting sync.WaitGroup
				began = time.Now()
				for range 20 {
					waiting.Go(func() {
						assert.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
						assert.LessOrEqual(t, time.Since(began), time.Minute)
					})
				}
				waiting.Wait()
				short, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				assert.NoError(t, c.Do(short, callOf(RetryClassSafe), nil))
			})
		})
	}
}

func constant(text string) func() string { return func() string { return text } }

// A wait of pacing is in the log and in the Attempt. A wait that the server requests meanwhile is
// longer, and the end of the context ends the wait.
func TestPacingIsVisible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var hook attempts
		c := bubbleClient(t, hook.option(), WithLogger(slog.New(slog.NewTextHandler(&log, nil))), statuses(func(*http.Request) (int, http.Header) {
			return 200, headers("RateLimit-Remaining", "0", "RateLimit-Reset", "20")
		}))
		require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, cancel)
		require.ErrorIs(t, c.Do(ctx, callOf(RetryClassSafe), nil), context.Canceled)
		time.AfterFunc(5*time.Second, func() {
			c.core.apiGate.Hold(keyFor(c.customRequest(callOf(RetryClassSafe))), time.Now().Add(40*time.Second))
		})
		began := time.Now()
		require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
		assert.GreaterOrEqual(t, time.Since(began), 45*time.Second)
		assert.EqualValues(t, 2, c.Stats().PacingWaits)
		assert.EqualValues(t, 1, c.Stats().RateLimitWaits)
		assert.Equal(t, 15*time.Second, hook.all()[1].PacingWait)
		assert.Contains(t, log.String(), `reason="pacing keeps the client below the server's rate limit"`)
	})
}

// A request that the server holds back after the wait of pacing does not count: of two that wait, one
// is sent to see whether the next window has begun.
func TestPacingBeforeAHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := bubbleClient(t, statuses(func(*http.Request) (int, http.Header) {
			time.Sleep(500 * time.Millisecond)
			return 200, headers("RateLimit-Remaining", "0", "RateLimit-Reset", "20")
		}))
		require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
		began := time.Now()
		time.AfterFunc(5*time.Second, func() {
			c.core.apiGate.Hold(keyFor(c.customRequest(callOf(RetryClassSafe))), began.Add(20200*time.Millisecond))
		})
		var waiting sync.WaitGroup
		for range 2 {
			waiting.Go(func() { assert.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil)) })
		}
		waiting.Wait()
		assert.GreaterOrEqual(t, time.Since(began), 40*time.Second)
	})
}

// The headers of a server to which a download was redirected do not pace the client.
func TestPacingIgnoresOtherServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := bubbleClient(t, statuses(func(req *http.Request) (int, http.Header) {
			if req.URL.Host == "other.example.com" {
				return 200, headers("RateLimit-Limit", "5", "RateLimit-Remaining", "0", "RateLimit-Reset", "20")
			}
			return 307, headers("Location", "https://other.example.com/file")
		}))
		began := time.Now()
		for range 7 { // nor do they say that the server limits archives
			file, err := openArchive(t.Context(), c)
			require.NoError(t, err)
			require.NoError(t, file.Close())
		}
		assert.Zero(t, time.Since(began))
	})
}

// Each other server has its own limits.
func TestPacingOfOtherServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := bubbleClient(t, statuses(func(*http.Request) (int, http.Header) {
			return 200, headers("RateLimit-Remaining", "0", "RateLimit-Reset", "20")
		}))
		began := time.Now()
		for _, host := range []string{"a", "b", "a"} {
			assert.Zero(t, time.Since(began))
			_, _, err := send(t.Context(), c.HTTPClient(), http.MethodGet, "https://"+host+".example.com/x", "")
			require.NoError(t, err)
		}
		assert.Equal(t, 20*time.Second, time.Since(began))
	})
}

// A request that ended in a panic counts as sent. WithoutPacing leaves the limits to the server.
func TestPacingAfterAPanic(t *testing.T) {
	for want, options := range map[time.Duration][]Option{20 * time.Second: nil, 0: {WithoutPacing()}} {
		synctest.Test(t, func(t *testing.T) {
			requests := 0
			c := bubbleClient(t, append(options, statuses(func(*http.Request) (int, http.Header) {
				if requests++; requests%2 == 0 {
					panic("enough")
				}
				return 200, headers("RateLimit-Remaining", "1", "RateLimit-Reset", "20")
			}))...)
			began := time.Now()
			require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
			assert.PanicsWithValue(t, "enough", func() { _ = c.Do(t.Context(), callOf(RetryClassSafe), nil) })
			assert.Zero(t, time.Since(began))
			require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
			assert.Equal(t, want, time.Since(began))
			assert.PanicsWithValue(t, "enough", func() { _ = c.Do(t.Context(), callOf(RetryClassSafe), nil) })
			assert.Equal(t, want, time.Since(began), "the one before has ended")
		})
	}
}
