package othercode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// client-go works over forge: reads, pages, a write, an upload and a download.
func TestClientGoWorks(t *testing.T) {
	srv := forgetest.New(t)
	project := srv.AddProject("group/app")
	for range 5 {
		project.AddIssue(nil)
	}
	client := srv.Client()
	git, err := ClientGo(client)
	require.NoError(t, err)
	issues, err := gitlab.ScanAndCollect(func(page gitlab.PaginationOptionFunc) ([]*gitlab.Issue, *gitlab.Response, error) {
		return git.Issues.ListIssues(&gitlab.ListIssuesOptions{Scope: gitlab.Ptr("all"), ListOptions: gitlab.ListOptions{PerPage: 2}}, page)
	})
	require.NoError(t, err)
	assert.Len(t, issues, 5)
	file, _, err := git.SecureFiles.CreateSecureFile("group/app", strings.NewReader("content"), &gitlab.CreateSecureFileOptions{Name: gitlab.Ptr("a.p12")})
	require.NoError(t, err)
	body, _, err := git.SecureFiles.DownloadSecureFile("group/app", file.ID)
	require.NoError(t, err)
	content, err := io.ReadAll(body)
	require.NoError(t, err)
	assert.Equal(t, "content", string(content))
	_, _, err = git.Users.GetUser(12345, nil)
	require.ErrorIs(t, err, gitlab.ErrNotFound)
	for _, r := range srv.Requests() {
		assert.NotEqual(t, http.StatusUnauthorized, r.Status)
	}
	assert.EqualValues(t, len(srv.Requests()), client.Stats().Attempts)
}

// A 304 is a response.
func TestNotModified(t *testing.T) {
	w := newWorld(t)
	w.host(home, func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == `"v1"` {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
		rw.Header().Set("Etag", `"v1"`)
		issue(rw, http.StatusOK)
	})
	client := w.client(home)
	git, err := ClientGo(client)
	require.NoError(t, err)
	_, first, err := git.Issues.GetIssue(1, 5)
	require.NoError(t, err)
	_, second, _ := git.Issues.GetIssue(1, 5, gitlab.WithHeader("If-None-Match", first.Header.Get("Etag")))
	require.NotNil(t, second)
	assert.Equal(t, http.StatusNotModified, second.StatusCode)
	assert.Len(t, w.at(home), 2)
	assert.Zero(t, client.Stats().Failures)
}

// A 429 is retried after its Retry-After. The last one is an error of client-go.
func TestTooManyRequests(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			var always atomic.Bool
			w := newWorld(t)
			w.host(home, func(rw http.ResponseWriter, _ *http.Request) {
				w.mu.Lock()
				n := len(w.got[home])
				w.mu.Unlock()
				if n > 1 && !always.Load() {
					issue(rw, http.StatusOK)
					return
				}
				rw.Header().Set("Retry-After", map[bool]string{true: "0", false: "1"}[always.Load()])
				rw.WriteHeader(http.StatusTooManyRequests)
			})
			client := w.client(home)
			require.NoError(t, kind.send(t.Context(), over(client), "t"))
			got := w.at(home)
			require.Len(t, got, 2)
			assert.GreaterOrEqual(t, got[1].at.Sub(got[0].at), time.Second)
			always.Store(true)
			err := kind.send(t.Context(), over(client), "t")
			if strings.HasPrefix(kind.name, "client-go") {
				var refused *gitlab.ErrorResponse
				require.ErrorAs(t, err, &refused)
				assert.Equal(t, http.StatusTooManyRequests, refused.StatusCode)
			}
			require.ErrorContains(t, err, "429")
			assert.Len(t, w.at(home), 4)
			assert.EqualValues(t, 6, client.Stats().Attempts)
		})
	}
}

// A write whose response is lost is sent once if it is a POST, and its error has MaybeApplied.
func TestLostWrites(t *testing.T) {
	for _, kind := range kinds {
		w := newWorld(t)
		w.host(home, func(rw http.ResponseWriter, _ *http.Request) { reset(rw, "") })
		err := kind.send(t.Context(), over(w.client(home)), "t")
		var failed *forge.Error
		require.ErrorAs(t, err, &failed, kind.name)
		assert.Equal(t, kind.method != "GET", failed.MaybeApplied, kind.name)
		assert.Len(t, w.at(home), map[bool]int{true: 1, false: 4}[kind.method == "POST"], kind.name)
	}
}

// An archive is a stream: the memory does not depend on its size.
func TestArchiveStreams(t *testing.T) {
	const size, allowed = 256 << 20, 16 << 20
	w, block := newWorld(t), bytes.Repeat([]byte("archive "), 8<<10)
	w.host(home, func(rw http.ResponseWriter, _ *http.Request) {
		for range size / len(block) {
			_, _ = rw.Write(block)
		}
	})
	client := w.client(home)
	git, err := ClientGo(client)
	require.NoError(t, err)
	for name, download := range map[string]func(io.Writer) error{
		"client-go": func(out io.Writer) error {
			_, err := git.Repositories.StreamArchive("group/app", out, nil)
			return err
		},
		"net/http": func(out io.Writer) error {
			resp, err := client.HTTPClient().Get(client.BaseURL() + "/projects/1/repository/archive")
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			_, err = io.Copy(out, resp.Body)
			return err
		},
	} {
		runtime.GC()
		out := &meter{}
		start := out.heap()
		require.NoError(t, download(out), name)
		assert.EqualValues(t, size, out.bytes, name)
		assert.Less(t, int64(out.peak)-int64(start), int64(allowed), name)
		t.Logf("%s: %d MiB, the heap grew by %d KiB at most", name, size>>20, (int64(out.peak)-int64(start))>>10)
	}
}

// meter counts bytes, and measures the heap after each 4 MiB.
type meter struct {
	bytes, next int64
	peak        uint64
}

func (m *meter) Write(p []byte) (int, error) {
	if m.bytes += int64(len(p)); m.bytes >= m.next {
		m.next += 4 << 20
		m.peak = max(m.peak, m.heap())
	}
	return len(p), nil
}

func (m *meter) heap() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// No error, response or log of the other code contains the token.
func TestSecrets(t *testing.T) {
	faults := map[string]http.HandlerFunc{
		"ok":        func(rw http.ResponseWriter, _ *http.Request) { issue(rw, http.StatusOK) },
		"forbidden": func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusForbidden) },
		"missing":   http.NotFound,
		"reset":     func(rw http.ResponseWriter, _ *http.Request) { reset(rw, "") },
		"garbage":   func(rw http.ResponseWriter, _ *http.Request) { reset(rw, "garbage "+token) },
		"redirect":  http.RedirectHandler("https://b.example.com/?x="+token, http.StatusFound).ServeHTTP,
		"loop":      http.RedirectHandler("/?private_token="+token, http.StatusTemporaryRedirect).ServeHTTP,
	}
	for name, fault := range faults {
		w := newWorld(t)
		w.host(home, func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("X-Echo", r.Header.Get("Private-Token"))
			fault(rw, r)
		})
		var out bytes.Buffer
		client := w.client(home)
		s := over(client)
		s.options = append(s.options, gitlab.WithCustomLogger(log.New(&out, "", 0)))
		git, err := s.clientGo()
		require.NoError(t, err)
		value, resp, err := git.Issues.UpdateIssue(1, 5, &gitlab.UpdateIssueOptions{Title: gitlab.Ptr("t")})
		fmt.Fprintf(&out, "%+v %#v %+v %v", value, resp, err, errors.Unwrap(err))
		if resp != nil {
			fmt.Fprintf(&out, "%+v %+v %+v", resp.Response, resp.Request, resp.Body)
		}
		for _, kind := range kinds {
			fmt.Fprintln(&out, kind.send(t.Context(), s, "t"))
		}
		require.NotEmpty(t, w.at(home), name)
		assert.NotContains(t, out.String(), token, name)
		assert.Contains(t, out.String(), "a.example.com", name)
	}
}
