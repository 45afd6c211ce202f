package forge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Of 200 groups the error names the one: every kind of call, of failure and of record has the path
// of the object, without host, query and credential.
func TestErrorsNameTheObject(t *testing.T) {
	const path = "/groups/acme%2Fplatform/issues"
	group := func(ctx context.Context, c *Client, opts ...RequestOption) error {
		_, err := Collect(c.Issues.ListForGroup(ctx, Path("acme/platform"), nil, opts...))
		return err
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		act    act
		cancel bool
		opts   []RequestOption
	}{
		"status":        {act: say(404, `{"message":"404 Group Not Found"}`, jsonType)},
		"rate limit":    {act: say(429, "", "Retry-After: 999")},
		"lost":          {act: reset("")},
		"broken JSON":   {act: sayJSON("[{")},
		"truncated":     {act: closing("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n[")},
		"wrong status":  {act: say(206, "[]", jsonType)},
		"repeated page": {act: say(200, "[]", jsonType, `Link: <`+path+`?page=1&per_page=100>; rel="next"`)},
		"canceled":      {act: sayJSON("[]"), cancel: true},
		"refused":       {act: sayJSON("[]"), opts: []RequestOption{PerPage(-1)}},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			var attempts []Attempt
			w := newWire(t, always(test.act))
			c := wireClient(t, w.url, WithRetry(RetryPolicy{MaxAttempts: 2, MinWait: time.Millisecond}),
				WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
				WithOnAttempt(func(_ context.Context, a Attempt) { attempts = append(attempts, a) }))
			ctx := t.Context()
			if test.cancel {
				ctx = canceled
			}
			err := group(ctx, c, test.opts...)
			require.Error(t, err)
			assert.Contains(t, err.Error(), "GET /groups/:id/issues ("+path+")")
			assert.NotContains(t, err.Error(), "per_page=100")
			var failed *Error
			var refused *ValidationError
			switch {
			case errors.As(err, &failed):
				assert.Equal(t, path, failed.Path)
				assert.NotEmpty(t, failed.causeText()+failed.Message+failed.hint, "a reason")
			case errors.As(err, &refused):
				assert.Equal(t, path, refused.Path)
				return
			}
			for _, a := range attempts {
				assert.Equal(t, path, a.Path)
			}
			if name != "canceled" {
				assert.Contains(t, log.String(), "path="+path)
			}
		})
	}
}

// What is read after the call names the object too, and what waits for it.
func TestLaterErrorsNameTheObject(t *testing.T) {
	torn := newWire(t, always(closing("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")))
	d, err := openArchive(t.Context(), wireClient(t, torn.url))
	require.NoError(t, err)
	_, err = io.ReadAll(d)
	assert.Equal(t, "/projects/1/repository/archive", asError(t, err).Path)
	d, err = openArchive(t.Context(), wireClient(t, torn.url))
	require.NoError(t, err)
	require.ErrorContains(t, d.SaveTo(filepath.Join(t.TempDir(), "a")), "(/projects/1/repository/archive)")

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	waiting := newWire(t, always(sayJSON(`{"id":7,"status":"delete_scheduled"}`)))
	err = wireClient(t, waiting.url).Registry.WaitDeleted(ctx, Path("a/b"), 7)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Contains(t, err.Error(), "a%2Fb")

	lost := newWire(t, always(say(403, "", jsonType)))
	registry := wireClient(t, "https://forge.example.com", WithRegistry(lost.url, lost.url), WithRegistryCredentials("user", "password"))
	err = registry.RegistryNative.DeleteManifest(t.Context(), "group/app", "v1", &DeleteManifestOptions{ManifestType: "x"})
	assert.Contains(t, err.Error(), "/v2/group/app/manifests/v1")
	assert.Contains(t, err.Error(), "/jwt/auth")
}

// A caller who cancels has not met a failure of the server: no warning, and the text says who ended
// the call, whatever it was waiting for.
func TestCancellationIsNoWarning(t *testing.T) {
	for name, options := range map[string][]Option{
		"response": nil,
		"limiter":  {WithLimiter(waitFunc(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }))},
		"backoff":  {WithRetry(RetryPolicy{MinWait: time.Hour, MaxWait: time.Hour})},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			answer := silent("")
			if name == "backoff" {
				answer = say(503, "")
			}
			c := wireClient(t, newWire(t, always(answer)).url, append(options, WithLogger(slog.New(slog.NewTextHandler(&log, nil))))...)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(20*time.Millisecond, cancel)
			err := c.Do(ctx, callOf(safe), nil)
			require.ErrorIs(t, err, context.Canceled)
			require.NotErrorIs(t, err, ErrRateLimited)
			assert.Contains(t, err.Error(), "the caller canceled the context")
			assert.NotContains(t, log.String(), "level=WARN")

			late, cancelLate := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancelLate()
			err = c.Do(late, callOf(safe), nil)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Contains(t, log.String(), "level=WARN", "a deadline may be the server's fault")
		})
	}
}

// A final status stays what the call ended with, also where the context ends after it came.
func TestFinalStatusBeforeTheEnd(t *testing.T) {
	for status, canceled := range map[int]bool{404: false, 400: false, 503: true} {
		var log bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		c := wireClient(t, newWire(t, always(say(status, ""))).url, WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
			WithOnAttempt(func(context.Context, Attempt) { cancel() }))
		err := c.Do(ctx, callOf(safe), nil)
		assert.Equal(t, status, asError(t, err).Status)
		assert.Equal(t, canceled, errors.Is(err, context.Canceled), "%v", err)
		assert.Equal(t, !canceled, bytes.Contains(log.Bytes(), []byte("level=WARN")), log.String())
		cancel()
	}
}

type waitFunc func(context.Context) error

func (f waitFunc) Wait(ctx context.Context) error { return f(ctx) }

// Into holds nothing of the call before: a call without a response leaves it empty.
func TestIntoIsReset(t *testing.T) {
	w := newWire(t, script(say(200, "[]", jsonType, "X-Request-Id: first"), reset("")))
	for _, run := range runners {
		c := wireClient(t, w.url, WithRetry(RetryPolicy{MaxAttempts: 1}))
		r := Response{Status: 200, RequestID: "before", Attempts: 9, Mismatches: []Mismatch{{}}}
		require.Error(t, run.run(t.Context(), wireClient(t, refusedAddress(t), WithRetry(RetryPolicy{MaxAttempts: 1})), Into(&r)), run.name)
		r.Cursor = ""
		assert.Equal(t, Response{}, r, run.name)
		r = Response{Status: 200, RequestID: "before"}
		require.Error(t, run.run(t.Context(), c, Sudo(-1), Into(&r)), "refused before it is sent")
		assert.Equal(t, Response{}, r, run.name)
	}
}

// The hour between bulk deletions is one of the server's clock, and a caller who knows better may
// send the call all the same.
func TestDeletionBudgetByTheServersClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ahead time.Duration
		c, sent := metered(t, func(*http.Request) (int, http.Header, int64) {
			return 200, http.Header{"Date": {time.Now().Add(ahead).UTC().Format(http.TimeFormat)}, "Content-Type": {"application/json"}}, 0
		})
		remove := func(opts ...RequestOption) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return c.Registry.DeleteTags(ctx, ID(1), 7, &DeleteTagsOptions{NameRegexDelete: ".*"}, opts...)
		}
		ahead = -5 * time.Hour // a server whose clock is wrong all the time
		require.NoError(t, remove())
		require.ErrorIs(t, remove(), ErrRateLimited)
		require.Equal(t, 1, *sent)
		require.NoError(t, remove(Unchecked()), "the caller lifts it")
		require.Equal(t, 2, *sent)
		require.ErrorIs(t, remove(), ErrRateLimited)

		ahead += 2 * time.Hour // its clock was set
		require.NoError(t, c.Do(t.Context(), callOf(safe), nil))
		require.NoError(t, remove())
		require.ErrorIs(t, remove(), ErrRateLimited)
		time.Sleep(time.Hour)
		require.NoError(t, remove())
	})
}

// A response of a cache has the Date of the first one, and does not move the server's clock.
func TestDeletionBudgetIgnoresCaches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := metered(t, func(r *http.Request) (int, http.Header, int64) {
			header := http.Header{"Date": {time.Now().UTC().Format(http.TimeFormat)}, "Content-Type": {"application/json"}}
			if r.Method == http.MethodGet {
				header["Date"], header["Age"] = []string{time.Now().Add(-2 * time.Hour).UTC().Format(http.TimeFormat)}, []string{"7200"}
			}
			return 200, header, 0
		})
		remove := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return c.Registry.DeleteTags(ctx, ID(1), 7, &DeleteTagsOptions{NameRegexDelete: ".*"})
		}
		require.NoError(t, remove())
		require.NoError(t, c.Do(t.Context(), callOf(safe), nil))
		time.Sleep(time.Hour)
		require.NoError(t, remove())
	})
}

// The backoff begins with what went wrong.
func TestBackoffBase(t *testing.T) {
	policy := RetryPolicy{}.withDefaults()
	lost := &attempt{err: io.ErrUnexpectedEOF}
	for want, attempts := range map[time.Duration][]*attempt{
		50 * time.Millisecond:  {lost, {err: errNotProcessed}},
		500 * time.Millisecond: {{status: 503}, {status: 408}, {status: 425}, {status: 522}, {status: 409}, {err: &failure{sentinel: ErrTimeout}}, {err: &tunnelError{status: 502}}, {err: &net.OpError{Op: "dial"}}, {err: &credentialError{}}},
		time.Second:            {{status: 429}},
	} {
		for _, a := range attempts {
			assert.Equal(t, want, policy.base(a), "%d %v", a.status, a.err)
		}
	}
	assert.Equal(t, 100*time.Microsecond, RetryPolicy{MinWait: time.Millisecond}.base(lost))
}
