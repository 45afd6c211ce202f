package forge

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// responses returns a transport with the responses of each path in order; the last one is used for
// all further requests. "404" means that status.
func responses(asked *[]string, byPath map[string][]string) Option {
	return through(func(req *http.Request) (*http.Response, error) {
		path := strings.TrimPrefix(req.URL.Path, "/api/v4")
		*asked = append(*asked, path)
		script := byPath[path]
		if len(script) > 1 {
			byPath[path] = script[1:]
		}
		status, body := 200, script[0]
		if body == "404" {
			status = 404
		}
		return &http.Response{StatusCode: status, Header: headers("Content-Type", "application/json"), Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
	})
}

const (
	waitGet  = "/registry/repositories/7"
	waitList = "/projects/1/registry/repositories"
)

// WaitDeleted ends when the repository no longer exists, when its deletion has failed, when a
// request fails, or when the context ends.
func TestWaitDeleted(t *testing.T) {
	const scheduled, ongoing, failed = `{"id":7,"status":"delete_scheduled"}`, `{"id":7,"status":"delete_ongoing"}`, `{"id":7,"status":"delete_failed"}`
	for _, test := range []struct {
		name      string
		get, list []string
		looks     int // number of requests; 0: as many as the context allows
		is        error
		says      string
	}{
		{"gone at once", []string{"404"}, []string{"[]"}, 2, nil, ""},
		{"gone later", []string{`{"id":7,"status":null}`, scheduled, ongoing, "404"}, []string{`[{"id":8}]`}, 5, nil, ""},
		{"hidden for a moment", []string{"404", ongoing, "404"}, []string{"[" + ongoing + "]", "[]"}, 5, nil, ""},
		{"failed", []string{scheduled, failed}, nil, 2, ErrDeleteFailed, "could not delete"},
		{"failed and hidden", []string{"404"}, []string{"[" + failed + "]"}, 2, ErrDeleteFailed, "could not delete"},
		{"project hidden", []string{"404"}, []string{"404"}, 2, ErrNotFound, "404"},
		{"too long", []string{ongoing}, nil, 0, context.DeadlineExceeded, "the repository is delete_ongoing after 5m0s"},
		{"nobody deletes", []string{`{"id":7}`}, nil, 0, context.DeadlineExceeded, "the repository is not being deleted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []string
				c := bubbleClient(t, responses(&asked, map[string][]string{waitGet: test.get, waitList: test.list}))
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				err := c.Registry.WaitDeleted(ctx, ID(1), 7)
				if test.looks > 0 {
					assert.Len(t, asked, test.looks)
				}
				if test.is == nil {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, test.is)
				require.ErrorContains(t, err, test.says)
				asError(t, err)
			})
		})
	}
}

// The pauses grow from 1 s to 10 s, with jitter; there is no pause before the first poll or after
// the last.
func TestPollPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		r := bubbleClient(t).customRequest(callOf(RetryClassSafe))
		began := time.Now()
		require.NoError(t, r.poll(t.Context(), func() (bool, string, error) {
			at = append(at, time.Now())
			return len(at) == 9, "", nil
		}))
		assert.Equal(t, began, at[0])
		assert.Equal(t, time.Now(), at[8])
		want, varied := time.Second, false
		for i := 1; i < len(at); i++ {
			pause := at[i].Sub(at[i-1])
			assert.GreaterOrEqual(t, pause, want/2)
			assert.LessOrEqual(t, pause, min(want*3/2, 10*time.Second))
			varied = varied || pause != want
			want = min(2*want, 10*time.Second)
		}
		assert.True(t, varied, "there is no jitter")
	})
}

// Waiting ends immediately when the context is canceled, and invalid arguments end it before
// anything is sent.
func TestWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		c := bubbleClient(t, responses(&asked, map[string][]string{waitGet: {`{"id":7}`}}))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		began := time.Now()
		require.ErrorIs(t, c.Registry.WaitDeleted(ctx, ID(1), 7), context.Canceled)
		assert.Equal(t, 100*time.Millisecond, time.Since(began))
		assert.Len(t, asked, 1)

		var v *ValidationError
		require.ErrorAs(t, c.Registry.WaitDeleted(t.Context(), nil, 7), &v)
		require.ErrorAs(t, c.Registry.WaitDeleted(t.Context(), ID(1), 0), &v)
		_, err := c.MergeRequests.WaitMergeStatus(t.Context(), nil, 0)
		assertRefused(t, err, "argument", "id")
		_, err = c.MergeRequests.WaitMergeStatus(t.Context(), ID(1), 0)
		assertRefused(t, err, "argument", "merge_request_iid")
		assert.Len(t, asked, 1)
	})
}

// WaitMergeStatus requests a recheck and polls until there is a result.
func TestWaitMergeStatus(t *testing.T) {
	mr := func(status string) string { return `[{"iid":7,"detailed_merge_status":"` + status + `"}]` }
	for _, test := range []struct {
		name  string
		list  []string
		looks int
		want  DetailedMergeStatus
		is    error
		says  string
	}{
		{"known", []string{mr("mergeable")}, 1, "mergeable", nil, ""},
		{"worked out", []string{mr("preparing"), mr("unchecked"), mr("checking"), mr("conflict")}, 4, "conflict", nil, ""},
		{"none", []string{"[]"}, 1, "", ErrNotFound, "no merge request 7"},
		{"another", []string{`[{"iid":8}]`}, 1, "", ErrNotFound, "no merge request 7"},
		{"no project", []string{"404"}, 1, "", ErrNotFound, "404"},
		{"never", []string{mr("checking")}, 0, "", context.DeadlineExceeded, "the merge status is checking after 1m0s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []string
				c := bubbleClient(t, responses(&asked, map[string][]string{"/projects/1/merge_requests": test.list}))
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				got, err := c.MergeRequests.WaitMergeStatus(ctx, ID(1), 7)
				if test.looks > 0 {
					assert.Len(t, asked, test.looks)
				}
				if test.is != nil {
					require.ErrorIs(t, err, test.is)
					require.ErrorContains(t, err, test.says)
					assert.Nil(t, got)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, test.want, got.DetailedMergeStatus)
			})
		})
	}
	w := newWire(t, always(sayJSON(mr("mergeable"))))
	var page Response
	_, err := wireClient(t, w.url).MergeRequests.WaitMergeStatus(t.Context(), ID(1), 7, Into(&page), Sudo(3))
	require.NoError(t, err)
	assert.Equal(t, 200, page.Status)
	assert.Equal(t, "/api/v4/projects/1/merge_requests?iids%5B%5D=7&per_page=100&scope=all&with_merge_status_recheck=true", w.seen()[0].uri)
	assert.Equal(t, "3", w.seen()[0].header.Get("Sudo"))
}
