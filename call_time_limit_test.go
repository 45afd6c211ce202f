package forge_test

import (
	"context"
	"io"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
	"github.com/forge-sdk/forge-go/internal/pipenet"
)

const (
	userRoute    = "GET /user"
	issuesRoute  = "GET /issues"
	archiveRoute = "GET /projects/:id/repository/archive[.:format]"
	bookRoute    = "POST /projects/:id/issues/:issue_iid/add_spent_time"
)

// inBubble runs a test with a server and its client in virtual time. The project group/app has 25
// issues and a file.
func inBubble(t *testing.T, test func(t *testing.T, srv *forgetest.Server, client *forge.Client), options ...forge.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := forgetest.New(t, forgetest.WithListener(pipenet.Listen()))
		app := srv.AddProject("group/app")
		app.AddIssues(25, nil)
		app.AddFiles(map[string]string{"random": randomText(1 << 20)}) // it cannot be compressed
		client := srv.Client(options...)
		defer client.CloseIdleConnections()
		test(t, srv, client)
	})
}

// randomText returns n drawn bytes, the same in each run.
func randomText(n int) string {
	text := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(text)
	return string(text)
}

// assertTimeout checks the error of the option Timeout.
func assertTimeout(t *testing.T, err error, text string) *forge.Error {
	t.Helper()
	require.ErrorIs(t, err, forge.ErrTimeout)
	require.NotErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, text)
	var failed *forge.Error
	require.ErrorAs(t, err, &failed)
	return failed
}

// TestTimeoutOfACall checks that Timeout ends a call with all its attempts.
func TestTimeoutOfACall(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *forgetest.Server, client *forge.Client) {
		srv.Fail(userRoute, forgetest.Delay(3*time.Second).Times(1))
		srv.Fail(userRoute, forgetest.Delay(time.Hour))
		began := time.Now()
		_, err := client.Users.GetCurrent(t.Context(), nil, forge.Timeout(4*time.Second))
		require.NoError(t, err, "the first fault takes 3 s")
		assert.Equal(t, 3*time.Second, time.Since(began))

		began = time.Now()
		_, err = client.Users.GetCurrent(t.Context(), nil, forge.Timeout(5*time.Second), forge.HeaderTimeout(2*time.Second))
		assert.Equal(t, 5*time.Second, time.Since(began))
		failed := assertTimeout(t, err, "the call took longer than 5s")
		assert.Equal(t, []any{0, 3, false}, []any{failed.Status, failed.Attempts, failed.MaybeApplied})

		_, err = client.Users.GetCurrent(t.Context(), nil, forge.HeaderTimeout(2*time.Second), forge.Retry(forge.RetryPolicy{MaxAttempts: 1}), forge.Timeout(time.Hour))
		assertTimeout(t, err, "no response within 2s")
	})
}

// TestTimeoutBeforeAWait checks that a call fails immediately if the next attempt is due too late.
func TestTimeoutBeforeAWait(t *testing.T) {
	patient := forge.WithRetry(forge.RetryPolicy{MinWait: 30 * time.Second})
	inBubble(t, func(t *testing.T, srv *forgetest.Server, client *forge.Client) {
		began := time.Now()
		srv.Fail(userRoute, forgetest.Status(503).Times(1))
		_, err := client.Users.GetCurrent(t.Context(), nil, forge.Timeout(5*time.Second))
		failed := assertTimeout(t, err, "503 Service Unavailable: the call would take longer than 5s")
		require.ErrorContains(t, err, "; the next attempt is due in ")
		require.ErrorIs(t, err, forge.ErrServer)
		assert.Equal(t, 1, failed.Attempts)

		srv.Fail(userRoute, forgetest.TooManyRequests(20*time.Second).Times(1))
		_, err = client.Users.GetCurrent(t.Context(), nil, forge.Timeout(5*time.Second))
		assertTimeout(t, err, "the call would take longer than 5s")
		require.ErrorContains(t, err, "; the server requests a wait of 20s")
		var limited *forge.RateLimitError
		require.ErrorAs(t, err, &limited)
		_, err = client.Users.GetCurrent(t.Context(), nil, forge.Timeout(5*time.Second))
		failed = assertTimeout(t, err, "the call would take longer than 5s")
		require.ErrorAs(t, err, &limited)
		assert.Zero(t, failed.Attempts, "the wait of the call before it")
		assert.Zero(t, time.Since(began))
		_, err = client.Users.GetCurrent(t.Context(), nil, forge.Timeout(time.Minute))
		require.NoError(t, err)
	}, patient)
}

// blockedLimiter never allows a call.
type blockedLimiter struct{}

func (blockedLimiter) Wait(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

// TestTimeoutOfAWrite checks MaybeApplied.
func TestTimeoutOfAWrite(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *forgetest.Server, client *forge.Client) {
		book := func(client *forge.Client) error {
			_, err := client.Issues.AddSpentTime(t.Context(), forge.Path("group/app"), 1, &forge.AddSpentTimeOptions{Duration: forge.WorkDuration(time.Hour)}, forge.Timeout(5*time.Second))
			return err
		}
		srv.Fail(bookRoute, forgetest.HeaderDelay(time.Minute).Times(1))
		failed := assertTimeout(t, book(client), "the call took longer than 5s; the write may have been applied")
		assert.True(t, failed.MaybeApplied)
		srv.AssertAppliedCount(t, bookRoute, 1)

		throttled, err := client.With(forge.WithLimiter(blockedLimiter{}))
		require.NoError(t, err)
		failed = assertTimeout(t, book(throttled), "the wait for the Limiter ended: the call took longer than 5s")
		assert.False(t, failed.MaybeApplied)

		srv.Fail(bookRoute, forgetest.Status(404).Times(1))
		require.ErrorIs(t, book(client), forge.ErrNotFound)
	})
}

// TestTimeoutOfEachPage checks that Timeout limits the pages of a list, and neither the list nor the
// loop.
func TestTimeoutOfEachPage(t *testing.T) {
	for name, ahead := range map[string]int{"one after the other": 0, "ahead": 3} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, srv *forgetest.Server, client *forge.Client) {
				list := func() (n int, err error) {
					o := &forge.ListIssuesOptions{Scope: forge.ScopeAll, OrderBy: forge.IssueOrderByUpdatedAt} // by offset
					for _, err := range client.Issues.List(t.Context(), o, forge.PerPage(5), forge.Ahead(ahead), forge.Timeout(4*time.Second)) {
						if err != nil {
							return n, err
						}
						n++
						time.Sleep(time.Second)
					}
					return n, nil
				}
				srv.Fail(issuesRoute, forgetest.HeaderDelay(3*time.Second))
				n, err := list()
				require.NoError(t, err)
				assert.Equal(t, 25, n)

				srv.ClearFaults()
				srv.Fail(issuesRoute, forgetest.Status(502).After(3).Times(1))
				srv.Fail(issuesRoute, forgetest.HeaderDelay(time.Minute).After(3))
				n, err = list()
				failed := assertTimeout(t, err, "GET /issues: the page took longer than 4s")
				assert.False(t, failed.MaybeApplied)
				assert.Contains(t, []int{15, 5, 10}[:1+min(ahead, 2)], n, "with Ahead, the fourth request may be for an earlier page")
			})
		})
	}
}

// TestTimeoutOfADownload checks that Timeout includes the body of a stream, and that Close ends it.
func TestTimeoutOfADownload(t *testing.T) {
	var contexts []context.Context
	record := forge.WithOnAttempt(func(ctx context.Context, _ forge.Attempt) { contexts = append(contexts, ctx) })
	inBubble(t, func(t *testing.T, srv *forgetest.Server, client *forge.Client) {
		download := func(limit time.Duration) (int, error) {
			d, err := client.Repositories.Archive(t.Context(), forge.Path("group/app"), nil, forge.Timeout(limit))
			if err != nil {
				return 0, err
			}
			require.NoError(t, contexts[len(contexts)-1].Err())
			content, err := io.ReadAll(d)
			require.NoError(t, d.Close())
			require.Error(t, contexts[len(contexts)-1].Err(), "nothing is left of the call")
			return len(content), err
		}
		srv.Fail(archiveRoute, forgetest.SlowBody(time.Second))
		whole, err := download(time.Minute)
		require.NoError(t, err)
		part, err := download(5 * time.Second)
		assertTimeout(t, err, "the download took longer than 5s")
		assert.Less(t, part, whole)

		srv.ClearFaults()
		srv.Fail(archiveRoute, forgetest.HeaderDelay(time.Minute))
		_, err = download(5 * time.Second)
		assertTimeout(t, err, "the download took longer than 5s")
		require.Error(t, contexts[len(contexts)-1].Err())
		_, err = client.Users.GetCurrent(t.Context(), nil, forge.Timeout(time.Minute))
		require.NoError(t, err)
		require.Error(t, contexts[len(contexts)-1].Err())
	}, record)
}

// TestTimeoutAndDeadline checks that the earlier of both ends a call, and which error it has.
func TestTimeoutAndDeadline(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *forgetest.Server, client *forge.Client) {
		srv.Fail(userRoute, forgetest.Delay(time.Hour))
		get := func(deadline, limit time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			_, err := client.Users.GetCurrent(ctx, nil, forge.Timeout(limit))
			return err
		}
		assertTimeout(t, get(time.Minute, 5*time.Second), "the call took longer than 5s")
		err := get(5*time.Second, time.Minute)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, forge.ErrTimeout)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = client.Users.GetCurrent(ctx, nil, forge.Timeout(time.Minute))
		require.ErrorIs(t, err, context.Canceled)
	})
	client := forgetest.New(t).Client()
	for _, limit := range []time.Duration{0, -time.Second} {
		var invalid *forge.ValidationError
		_, err := client.Users.GetCurrent(t.Context(), nil, forge.Timeout(limit))
		require.ErrorAs(t, err, &invalid)
		assert.Equal(t, "Timeout", invalid.Option)
	}
}
