package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/forge-sdk/forge-go/internal/catalogue"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// statuses returns a transport whose responses have the status and headers that a function returns,
// for a bubble of synctest.
func statuses(answer func(*http.Request) (int, http.Header)) Option {
	return through(func(req *http.Request) (*http.Response, error) {
		status, header := answer(req)
		if header == nil {
			header = http.Header{}
		}
		header.Set("Content-Type", "application/json")
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader("{}")), Request: req}, nil
	})
}

func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func bubbleClient(t *testing.T, options ...Option) *Client {
	t.Helper()
	c, err := NewClient("https://forge.example.com", overriding([]Option{WithToken(secret)}, options...)...)
	require.NoError(t, err)
	return c
}

// After a 429 with a wait, new calls of the same credential wait too, and those of another
// credential do not.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := true
		c := bubbleClient(t, statuses(func(*http.Request) (int, http.Header) {
			if limited {
				limited = false
				return 429, headers("Retry-After", "20")
			}
			return 200, nil
		}))
		derived, err := c.With(WithUserAgent("derived/1"))
		require.NoError(t, err)
		other, err := c.With(WithToken("another"))
		require.NoError(t, err)

		began := time.Now()
		var held sync.WaitGroup
		require.ErrorIs(t, c.Do(t.Context(), callOf(RetryClassNonIdempotent), nil, Retry(RetryPolicy{MaxAttempts: 1})), ErrRateLimited)
		for _, waiting := range []*Client{c, derived} {
			held.Go(func() {
				assert.NoError(t, waiting.Do(t.Context(), callOf(RetryClassNonIdempotent), nil))
				assert.GreaterOrEqual(t, time.Since(began), 20*time.Second)
				assert.LessOrEqual(t, time.Since(began), 21*time.Second)
			})
		}
		require.NoError(t, other.Do(t.Context(), callOf(RetryClassNonIdempotent), nil))
		assert.Zero(t, time.Since(began))
		held.Wait()

		limited, began = true, time.Now()
		require.ErrorIs(t, c.Do(t.Context(), callOf(RetryClassNonIdempotent), nil, Retry(RetryPolicy{MaxAttempts: 1})), ErrRateLimited)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		err = c.Do(ctx, callOf(RetryClassNonIdempotent), nil)
		require.ErrorIs(t, err, context.Canceled)
		assert.NotContains(t, err.Error(), "; context canceled", "the end of the wait has one cause")
		assert.Equal(t, time.Second, time.Since(began))
		require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))

		limited, began = true, time.Now()
		r := service{c.core}.newPost("/projects/:project_id/secure_files", ID(1)).upload(nil, "file", FileReader(strings.NewReader("x"), 1))
		require.ErrorIs(t, exec(t.Context(), r, nil), ErrRateLimited)
		require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
		assert.GreaterOrEqual(t, time.Since(began), 20*time.Second, "the wait of a call that is not retried delays the others, too")

		busy := bubbleClient(t, WithRetry(RetryPolicy{MaxAttempts: 1}), statuses(func(*http.Request) (int, http.Header) { return 503, headers("Retry-After", "20") }))
		began = time.Now()
		for range 2 {
			require.ErrorIs(t, busy.Do(t.Context(), callOf(RetryClassSafe), nil), ErrServer)
		}
		assert.Zero(t, time.Since(began), "the wait of a 503 delays its own call only")
	})
}

// An absurdly long wait fails calls immediately and does not block the client forever.
func TestGateAbsurdWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := true
		c := bubbleClient(t, statuses(func(*http.Request) (int, http.Header) {
			if limited {
				limited = false
				return 429, headers("Retry-After", "999999999999")
			}
			return 200, nil
		}))
		for range 2 {
			require.ErrorIs(t, c.Do(t.Context(), callOf(RetryClassSafe), nil), ErrRateLimited)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 1000*time.Hour)
		defer cancel()
		err := c.Do(ctx, callOf(RetryClassSafe), nil)
		require.ErrorIs(t, err, ErrRateLimited)
		require.NotErrorIs(t, err, context.DeadlineExceeded, "the deadline is later")
		time.Sleep(time.Hour)
		require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
	})
}

// limiter counts the requests that wait for it.
type limiter struct {
	n   int
	err error
}

func (l *limiter) Wait(context.Context) error {
	l.n++
	return l.err
}

// A limiter counts retries, and one that refuses ends the call before it is sent.
func TestLimiter(t *testing.T) {
	w := newWire(t, always(say(502, "")))
	l := &limiter{}
	c := wireClient(t, w.url, WithLimiter(l))
	require.Error(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
	assert.Equal(t, 4, l.n)
	l.err = errors.New("not today")
	err := c.Do(t.Context(), callOf(RetryClassNonIdempotent), nil)
	require.ErrorIs(t, err, ErrRateLimited)
	require.ErrorIs(t, err, l.err)
	assert.Equal(t, 5, l.n)
	assert.Zero(t, asError(t, err).Attempts)
	assert.False(t, finds[*RateLimitError](err), "the server limits nothing")
	assert.Len(t, w.seen(), 4, fmt.Sprint(err))
}

// zeros is a body of n bytes that costs no memory.
func zeros(n int64) io.ReadCloser { return io.NopCloser(io.LimitReader(neverEnding(0), n)) }

// metered returns a client for the bubble whose server sends status, headers and a body of size
// bytes. A size of -1 is sent without Content-Length.
func metered(t *testing.T, answer func(req *http.Request) (status int, h http.Header, size int64)) (c *Client, sent *int) {
	t.Helper()
	sent = new(int)
	return bubbleClient(t, WithRetry(RetryPolicy{MaxAttempts: 1, MaxRetryAfter: 2 * time.Hour}), through(func(req *http.Request) (*http.Response, error) {
		*sent++
		status, h, size := answer(req)
		if h == nil {
			h = http.Header{}
		}
		return &http.Response{StatusCode: status, Header: h, ContentLength: size, Body: zeros(max(size, 0)), Request: req}, nil
	})), sent
}

// fetch reads a download to its end.
func fetch(t *testing.T, d *Download, err error) {
	t.Helper()
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, d)
	require.NoError(t, err)
	require.NoError(t, d.Close())
}

// An accepted bulk deletion delays the next one of its repository for an hour. The call waits if
// its context and policy allow it; otherwise its error states until when. Nothing is sent during
// the wait.
func TestDeletionQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		status := 202
		c, sent := metered(t, func(*http.Request) (int, http.Header, int64) { return status, http.Header{}, 0 })
		began := time.Now()
		remove := func(ctx context.Context, c *Client, repository int64, opts ...RequestOption) error {
			return c.Registry.DeleteTags(ctx, Path("group/app"), repository, &DeleteTagsOptions{NameRegexDelete: ".*"}, opts...)
		}
		for _, status = range []int{400, 500, 403} { // a deletion that failed is not counted
			require.Error(t, remove(t.Context(), c, 3))
		}
		status, *sent = 202, 0
		require.NoError(t, remove(t.Context(), c, 3))
		require.NoError(t, remove(t.Context(), c, 4), "another repository")
		time.Sleep(10 * time.Minute)
		derived, err := c.With(WithUserAgent("derived/1"))
		require.NoError(t, err)
		for _, again := range []*Client{c, derived} {
			var limited *RateLimitError
			require.ErrorAs(t, remove(t.Context(), again, 3, Retry(RetryPolicy{})), &limited)
			assert.Equal(t, began.Add(time.Hour), limited.Until)
			assert.Equal(t, 10*time.Minute, time.Since(began), "the call must fail immediately")
			require.ErrorIs(t, limited, ErrRateLimited)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
		err = remove(ctx, c, 3)
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, ErrRateLimited)
		assert.Equal(t, 2, *sent)

		require.NoError(t, remove(t.Context(), c, 3), "the policy allows the wait")
		assert.GreaterOrEqual(t, time.Since(began), time.Hour)
		assert.LessOrEqual(t, time.Since(began), time.Hour+2*time.Second)
		assert.Equal(t, 3, *sent)
		require.NoError(t, c.Registry.DeleteTag(t.Context(), Path("group/app"), 3, "v1"), "other calls are not delayed")
		began = time.Now()
		require.NoError(t, remove(t.Context(), c, 3, SkipValidation()), "sent in any case")
		assert.Zero(t, time.Since(began))
	})
}

// Only a 400 of a bulk deletion that names the hour means that its quota is used up.
func TestRefusedByQuota(t *testing.T) {
	const message = "You can run this at most once an hour for a given container repository"
	assert.True(t, deletionQuota.refuses(400, message))
	for _, status := range []int{0, 202, 401, 403, 404, 422, 429, 500} {
		assert.False(t, deletionQuota.refuses(status, message), status)
	}
	assert.False(t, deletionQuota.refuses(400, "keep_n is invalid"))
	for _, q := range []quota{noQuota, archiveQuota, blobQuota} {
		assert.False(t, q.refuses(400, message), q)
	}
}

// Archives are delayed only if the server has shown that it limits them with its headers.
func TestArchiveQuota(t *testing.T) {
	for name, row := range map[string]struct {
		header http.Header
		limits bool
	}{
		"nothing shown":  {nil, false},
		"another limit":  {headers("RateLimit-Limit", "2000", "RateLimit-Remaining", "1990"), false},
		"its own limit":  {headers("RateLimit-Limit", "5"), true},
		"none remaining": {headers("RateLimit-Remaining", "0", "RateLimit-Reset", "60"), true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				header, status := http.Header{}, 429
				c, sent := metered(t, func(*http.Request) (int, http.Header, int64) { return status, header.Clone(), 10 })
				_, err := c.Repositories.Archive(t.Context(), ID(1), nil)
				require.ErrorIs(t, err, ErrRateLimited, "it names no wait, and proves nothing about this limit")
				status = 200
				archive := func(project int64) {
					t.Helper()
					d, err := c.Repositories.Archive(t.Context(), ID(project), nil)
					fetch(t, d, err)
				}
				began := time.Now()
				for i := range int64(5) {
					if i == 4 && row.header != nil {
						header = row.header
					}
					archive(i + 1)
				}
				assert.Zero(t, time.Since(began))
				header = http.Header{}
				archive(6)
				if row.limits {
					assert.GreaterOrEqual(t, time.Since(began), time.Minute)
					assert.LessOrEqual(t, time.Since(began), 2*time.Minute)
				} else {
					assert.Zero(t, time.Since(began))
				}
				assert.Equal(t, 7, *sent)
			})
		})
	}
}

// blobServer returns a client for the bubble whose server has blobs with the sizes in their names;
// "large" is over 10 MB.
func blobServer(t *testing.T, announced bool) (c *Client, sent *int) {
	t.Helper()
	sent = new(int)
	return bubbleClient(t, WithRetry(RetryPolicy{MaxAttempts: 1}), through(func(req *http.Request) (*http.Response, error) {
		*sent++
		size := int64(10 << 20)
		if strings.Contains(req.URL.Path, "large") {
			size++
		}
		if strings.HasSuffix(req.URL.Path, "/raw") {
			resp := &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: -1, Body: zeros(size), Request: req}
			if announced {
				resp.ContentLength = size
			}
			return resp, nil
		}
		return &http.Response{StatusCode: 200, Header: headers("Content-Type", "application/json"), ContentLength: -1,
			Body: io.NopCloser(strings.NewReader(fmt.Sprintf(`{"size":%d}`, size))), Request: req}, nil
	})), sent
}

// Blobs over 10 MB that are read as JSON are counted for each project, and only blobs that are
// known to be so large are delayed. The refusal names the raw form as the alternative, which works.
func TestBlobQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, sent := blobServer(t, true)
		read := func(ctx context.Context, project int64, sha string) error {
			t.Helper()
			_, err := c.Repositories.GetBlob(ctx, ID(project), sha)
			return err
		}
		began := time.Now()
		for i := range 5 {
			require.NoError(t, read(t.Context(), 1, fmt.Sprintf("large%d", i)))
			require.NoError(t, read(t.Context(), 1, "small"))
		}
		require.NoError(t, read(t.Context(), 1, "small"))
		require.NoError(t, read(t.Context(), 1, "large6"), "the blob is not known to be large")
		require.NoError(t, read(t.Context(), 2, "large1"), "another project")
		assert.Zero(t, time.Since(began))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err := read(ctx, 1, "large3")
		var limited *RateLimitError
		require.ErrorAs(t, err, &limited)
		require.ErrorContains(t, err, "5 in 1m0s")
		require.ErrorContains(t, err, "; DownloadBlob has no such limit")
		d, err := c.Repositories.DownloadBlob(t.Context(), ID(1), "large3")
		fetch(t, d, err)
		assert.Zero(t, time.Since(began), "the alternative has no quota")
		require.NoError(t, read(t.Context(), 1, "large3"))
		assert.GreaterOrEqual(t, time.Since(began), time.Minute)
		assert.Equal(t, 15, *sent)
	})
}

// Another server's clock does not change when a quota is free again.
func TestQuotaByTheServersOwnClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := bubbleClient(t, statuses(func(req *http.Request) (int, http.Header) {
			if req.URL.Host == "other.example.com" {
				return 200, headers("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
			}
			return 200, headers("RateLimit-Limit", "5")
		}))
		began := time.Now()
		for range 6 {
			d, err := openArchive(t.Context(), c)
			fetch(t, d, err)
			status, _, err := send(t.Context(), c.HTTPClient(), http.MethodGet, "https://other.example.com/x", "")
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, status)
		}
		assert.GreaterOrEqual(t, time.Since(began), time.Minute)
	})
}

// The quotas of the table are those of the contract: calls, window, what they are counted for, and
// the offering. No other route has one.
func TestQuotasOfTheContract(t *testing.T) {
	type documented struct {
		calls   int
		window  time.Duration
		subject string // for the arguments "project" and "second"
		hosted  bool   // so a client must not apply it before the server has shown it
	}
	rates := map[string]documented{"5/min": {calls: 5, window: time.Minute}, "once per hour per repository": {calls: 1, window: time.Hour, subject: "second"}}
	checked := 0
	for _, e := range catalogue.Endpoints() {
		r, found := findRoute(e.Method, e.Path)
		if !assert.True(t, found) {
			continue
		}
		checked++
		var want documented
		for _, rule := range e.Rules {
			if rule.Limit == "" {
				continue
			}
			want, found = rates[rule.Limit]
			require.True(t, found, "%s: the limit %q", e.Path, rule.Limit)
			want.hosted = slices.Equal(rule.Offerings, []string{"hosted"})
			if strings.Contains(rule.Text, "blobs") {
				want.subject = "project" // the contract does not specify it
			}
		}
		limit := r.quota.limit("")
		got := documented{limit.Calls, limit.Window, r.quota.key([]any{"project", "second"}), limit.Calls > 0 && !limit.Proven}
		assert.Equal(t, want, got, "%s %s", e.Method, e.Path)
	}
	assert.Equal(t, len(routes), checked)
}
