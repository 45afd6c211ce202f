package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// zeros is a body of n bytes that costs no memory.
func zeros(n int64) io.ReadCloser { return io.NopCloser(io.LimitReader(zeroReader{}, n)) }

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// metered makes a client of the bubble whose server gives status, headers and a body of size bytes; a size of -1 is not announced.
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

// A bulk deletion that was accepted holds back the next of its repository for an hour: the call waits if its context and policy
// let it, else it says until when. Nothing is sent meanwhile.
func TestDeletionBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, sent := metered(t, func(*http.Request) (int, http.Header, int64) { return 202, http.Header{}, 0 })
		began := time.Now()
		remove := func(ctx context.Context, c *Client, repository int64, opts ...RequestOption) error {
			return c.Registry.DeleteTags(ctx, Path("group/app"), repository, &DeleteTagsOptions{NameRegexDelete: ".*"}, opts...)
		}
		require.NoError(t, remove(t.Context(), c, 3))
		require.NoError(t, remove(t.Context(), c, 4), "another repository")
		time.Sleep(10 * time.Minute)
		derived, err := c.With(WithUserAgent("derived/1"))
		require.NoError(t, err)
		for _, again := range []*Client{c, derived} {
			var limited *RateLimitError
			require.ErrorAs(t, remove(t.Context(), again, 3, Retry(RetryPolicy{})), &limited)
			assert.Equal(t, began.Add(time.Hour), limited.Until)
			assert.Equal(t, 10*time.Minute, time.Since(began), "at once")
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
		require.NoError(t, c.Registry.DeleteTag(t.Context(), Path("group/app"), 3, "v1"), "other calls have no part in it")
	})
}

// A deletion that failed is not counted.
func TestDeletionBudgetCountsSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		status := 400
		c, sent := metered(t, func(*http.Request) (int, http.Header, int64) { return status, nil, 0 })
		for _, status = range []int{400, 500, 403, 202} {
			_ = c.Registry.DeleteTags(t.Context(), ID(42), 3, &DeleteTagsOptions{NameRegexDelete: ".*"})
		}
		assert.Equal(t, 4, *sent)
		began := time.Now()
		require.NoError(t, c.Registry.DeleteTags(t.Context(), ID(42), 3, &DeleteTagsOptions{NameRegexDelete: ".*"}))
		assert.GreaterOrEqual(t, time.Since(began), time.Hour)
	})
}

// Archives are held back where the server has shown that it limits them, by its headers or by refusing one.
func TestArchiveBudget(t *testing.T) {
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
				header := http.Header{}
				c, sent := metered(t, func(*http.Request) (int, http.Header, int64) { return 200, header.Clone(), 10 })
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
				assert.Equal(t, 6, *sent)
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		status := 429
		c, sent := metered(t, func(*http.Request) (int, http.Header, int64) { return status, headers("Retry-After", "1"), 0 })
		_, err := c.Repositories.Archive(t.Context(), ID(1), nil)
		require.ErrorIs(t, err, ErrRateLimited)
		status = 200
		time.Sleep(2 * time.Second)
		began := time.Now()
		for range 11 {
			d, err := c.Repositories.Archive(t.Context(), ID(1), nil)
			fetch(t, d, err)
		}
		assert.GreaterOrEqual(t, time.Since(began), 2*time.Minute)
		assert.LessOrEqual(t, time.Since(began), 2*time.Minute+4*time.Second)
		assert.Equal(t, 12, *sent)
	})
}

// blobServer is a client of the bubble whose server has blobs of the size that their names say,
// "large" for one over 10 MB.
func blobServer(t *testing.T, announced bool) (c *Client, sent *int) {
	t.Helper()
	sent = new(int)
	return bubbleClient(t, WithRetry(RetryPolicy{MaxAttempts: 1}), through(func(req *http.Request) (*http.Response, error) {
		*sent++
		size := int64(largeBlob)
		if strings.Contains(req.URL.Path, "large") {
			size++
		}
		if strings.HasSuffix(req.URL.Path, "/raw") {
			answer := &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: -1, Body: zeros(size), Request: req}
			if announced {
				answer.ContentLength = size
			}
			return answer, nil
		}
		return &http.Response{StatusCode: 200, Header: headers("Content-Type", "application/json"), ContentLength: -1,
			Body: io.NopCloser(strings.NewReader(fmt.Sprintf(`{"size":%d}`, size))), Request: req}, nil
	})), sent
}

// Blobs over 10 MB that are read as JSON are counted for each project, and only those that are
// known to be so large are held back. The refusal names the way out, which takes it.
func TestBlobBudget(t *testing.T) {
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
		require.NoError(t, read(t.Context(), 1, "large6"), "not known to be large")
		require.NoError(t, read(t.Context(), 2, "large1"), "another project")
		assert.Zero(t, time.Since(began))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err := read(ctx, 1, "large3")
		var limited *RateLimitError
		require.ErrorAs(t, err, &limited)
		require.ErrorContains(t, err, "5 in 1m0s")
		require.ErrorContains(t, err, "DownloadBlob")
		d, err := c.Repositories.DownloadBlob(t.Context(), ID(1), "large3")
		fetch(t, d, err)
		assert.Zero(t, time.Since(began), "the way out is open")
		require.NoError(t, read(t.Context(), 1, "large3"))
		assert.GreaterOrEqual(t, time.Since(began), time.Minute)
		assert.Equal(t, 15, *sent)
	})
}

// The raw form has no budget: it is neither counted nor held back, and takes nothing of the other
// form's budget.
func TestRawBlobBudget(t *testing.T) {
	for _, announced := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c, sent := blobServer(t, announced)
			began := time.Now()
			for range 12 {
				d, err := c.Repositories.DownloadBlob(t.Context(), ID(1), "large")
				fetch(t, d, err)
			}
			for range 5 {
				_, err := c.Repositories.GetBlob(t.Context(), ID(1), "large")
				require.NoError(t, err)
			}
			assert.Zero(t, time.Since(began))
			assert.Equal(t, 17, *sent)
		})
	}
}

// The table's budgets are the contract's: the calls, the time, whom they are counted for, and the
// offering. No other route has one.
func TestBudgetsOfTheContract(t *testing.T) {
	type documented struct {
		calls   int
		window  time.Duration
		subject string // of the arguments "project", "second"
		hosted  bool   // so that a client must not count on it before the server has shown it
	}
	rates := map[string]documented{"5/min": {calls: 5, window: time.Minute}, "once per hour per repository": {calls: 1, window: time.Hour, subject: "second"}}
	var endpoints []catalogueRoute
	require.NoError(t, json.Unmarshal(readFixture(t, "spec/endpoints.json"), &endpoints))
	checked := 0
	for _, e := range endpoints {
		r, found := findRoute(e.Method, e.Path)
		if e.Status != "documented" || !assert.True(t, found) {
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
				want.subject = "project" // of whom the contract says nothing
			}
		}
		calls, window := r.budget.rate()
		assert.Equal(t, want, documented{calls, window, r.budget.subject([]any{"project", "second"}), r.budget == archiveBudget}, "%s %s", e.Method, e.Path)
	}
	assert.Equal(t, len(routes), checked)
}

// What is remembered of budgets does not grow.
func TestBudgetMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := metered(t, func(req *http.Request) (int, http.Header, int64) {
			if req.Method == http.MethodDelete {
				return 202, nil, 0
			}
			return 200, nil, 0
		})
		for i := range int64(1000) {
			require.NoError(t, c.Registry.DeleteTags(t.Context(), ID(1), i+1, &DeleteTagsOptions{NameRegexDelete: ".*"}))
			time.Sleep(time.Minute)
		}
		assert.LessOrEqual(t, len(c.guard.uses), 61)
		d, err := c.Repositories.Archive(t.Context(), ID(1), nil)
		fetch(t, d, err)
	})
}
