package toxiproxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
	"github.com/forge-sdk/forge-go/integration/internal/toxitest"
)

// row is a toxic, and its effect on the first attempt of a call.
type row struct {
	name    string
	toxic   toxitest.Toxic
	passes  bool // the attempt succeeds
	arrives bool // a small request reaches the server
	cuts    bool // the response begins, so that a download is truncated while it is read
}

func rows() []row {
	down, up := "downstream", "upstream"
	return []row{
		{"latency", toxitest.Toxic{Type: "latency", Stream: down, Attributes: map[string]int{"latency": 20, "jitter": 15}}, true, true, false},
		{"bandwidth down", toxitest.Toxic{Type: "bandwidth", Stream: down, Attributes: map[string]int{"rate": 4000}}, true, true, false},
		{"bandwidth up", toxitest.Toxic{Type: "bandwidth", Stream: up, Attributes: map[string]int{"rate": 4000}}, true, true, false},
		{"slicer down", toxitest.Toxic{Type: "slicer", Stream: down, Attributes: map[string]int{"average_size": 700, "size_variation": 600}}, true, true, false},
		{"slicer up", toxitest.Toxic{Type: "slicer", Stream: up, Attributes: map[string]int{"average_size": 700, "size_variation": 600}}, true, true, false},
		{"reset of the answer", toxitest.Toxic{Type: "reset_peer", Stream: down}, false, true, false},
		{"reset of the request", toxitest.Toxic{Type: "reset_peer", Stream: up}, false, false, false},
		{"cut in the status line", toxitest.Toxic{Type: "limit_data", Stream: down, Attributes: map[string]int{"bytes": 9}}, false, true, false},
		{"cut in the headers", toxitest.Toxic{Type: "limit_data", Stream: down, Attributes: map[string]int{"bytes": 60}}, false, true, false},
		{"cut in the request", toxitest.Toxic{Type: "limit_data", Stream: up, Attributes: map[string]int{"bytes": 60}}, false, false, false},
		{"silence, then the end", toxitest.Toxic{Type: "timeout", Stream: down, Attributes: map[string]int{"timeout": 30}}, false, true, false},
		{"silent answer", toxitest.Toxic{Type: "timeout", Stream: down}, false, true, false},
		{"silent request", toxitest.Toxic{Type: "timeout", Stream: up}, false, false, false},
	}
}

// If a toxic affects one attempt, a safe or idempotent call succeeds, with one effect. A
// non-idempotent call fails, and its error correctly reports whether it may have been applied.
func TestToxics(t *testing.T) {
	for _, r := range rows() {
		t.Run(r.name, func(t *testing.T) {
			t.Run("read", func(t *testing.T) { r.read(newSetup(t, true, r.toxic)) })
			t.Run("list", func(t *testing.T) { r.list(newSetup(t, true, r.toxic)) })
			t.Run("idempotent", func(t *testing.T) { r.idempotent(newSetup(t, true, r.toxic)) })
			t.Run("once", func(t *testing.T) { r.once(newSetup(t, true, r.toxic)) })
			t.Run("download", func(t *testing.T) { r.download(newSetup(t, true, r.toxic)) })
			t.Run("upload", func(t *testing.T) { r.upload(newSetup(t, true, r.toxic)) })
		})
	}
}

// wait returns the time limit of the row's calls for a response: milliseconds if none will arrive.
func (r row) wait() forge.RequestOption {
	if r.toxic.Type == "timeout" && r.toxic.Attributes == nil {
		return forge.HeaderTimeout(300 * time.Millisecond)
	}
	return nil
}

func (r row) attempts(s *setup, got int) {
	if r.passes {
		assert.Equal(s, 1, got)
	} else {
		assert.Greater(s, got, 1)
	}
}

func (r row) read(s *setup) {
	var answer forge.Response
	stats, err := s.client.Issues.GetTimeStats(s.Context(), s.ref(), 3, forge.Into(&answer), r.wait())
	require.NoError(s, err)
	assert.Zero(s, stats.TotalTimeSpent)
	r.attempts(s, answer.Attempts)
}

func (r row) list(s *setup) {
	for _, ahead := range []int{0, 3} {
		all, err := forge.Collect(s.client.Issues.List(s.Context(), &forge.ListIssuesOptions{Scope: forge.ScopeAll, Sort: "asc"},
			forge.PerPage(60), forge.Ahead(ahead), r.wait()))
		require.NoError(s, err)
		require.Len(s, all, issues)
		for i, issue := range all {
			require.EqualValues(s, i+1, issue.IID, "in order")
		}
	}
}

func (r row) idempotent(s *setup) {
	_, err := s.client.Issues.Subscribe(s.Context(), s.ref(), 3, r.wait())
	if r.arrives && !r.passes {
		var failed *forge.Error
		require.ErrorAs(s, err, &failed)
		assert.True(s, forge.IsNotModified(err) && failed.MaybeApplied, "the first attempt did it: %v", err)
	} else {
		require.NoError(s, err)
	}
	s.server.AssertAppliedCount(s, subscribe, 1)

	stats, err := s.client.Issues.SetTimeEstimate(s.Context(), s.ref(), 3, &forge.SetTimeEstimateOptions{Duration: forge.WorkDuration(time.Hour)}, r.wait())
	require.NoError(s, err)
	assert.EqualValues(s, 3600, stats.TimeEstimate)
}

func (r row) once(s *setup) {
	_, err := s.client.Issues.AddSpentTime(s.Context(), s.ref(), 3, &forge.AddSpentTimeOptions{Duration: forge.WorkDuration(time.Hour)}, r.wait())
	effects := 0
	if r.arrives {
		effects = 1
	}
	s.server.AssertAppliedCount(s, spend, effects)
	if r.passes {
		require.NoError(s, err)
		return
	}
	var failed *forge.Error
	require.ErrorAs(s, err, &failed)
	assert.True(s, failed.MaybeApplied)
	assert.Equal(s, 1, failed.Attempts)
}

func (r row) download(s *setup) {
	var answer forge.Response
	download, err := s.client.SecureFiles.Download(s.Context(), s.ref(), s.file, forge.Into(&answer), r.wait())
	require.NoError(s, err)
	content, err := io.ReadAll(download)
	require.NoError(s, err)
	require.NoError(s, download.Close())
	assert.True(s, bytes.Equal(s.content, content))
	r.attempts(s, answer.Attempts)
}

func (r row) upload(s *setup) {
	_, err := s.client.SecureFiles.Upload(s.Context(), s.ref(), &forge.UploadSecureFileOptions{Name: "new.bin", File: forge.FileBytes(s.content)}, r.wait())
	stored := s.files("new.bin")
	if err == nil {
		require.True(s, r.passes)
		require.Len(s, stored, 1)
	} else {
		var failed *forge.Error
		require.ErrorAs(s, err, &failed)
		assert.True(s, failed.MaybeApplied && failed.Attempts == 1, "%v", err)
		assert.False(s, r.passes, "%v", err)
	}
	for _, content := range stored {
		assert.True(s, bytes.Equal(s.content, content))
	}
}

// A download that is truncated at any byte is an error of Read after correct bytes, and never a
// short success.
func TestDownloadTruncated(t *testing.T) {
	for _, bytes := range []int{600, 4 << 10, 64 << 10, 299 << 10} {
		s := newSetup(t, false, toxitest.Toxic{Type: "limit_data", Attributes: map[string]int{"bytes": bytes}})
		download, err := s.client.SecureFiles.Download(t.Context(), s.ref(), s.file)
		require.NoError(t, err)
		content, err := io.ReadAll(download)
		require.NoError(t, download.Close())
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		var failed *forge.Error
		require.ErrorAs(t, err, &failed)
		assert.Less(t, len(content), bytes)
		assert.Equal(t, s.content[:len(content)], content)
	}
}

// A slow download ends with its context.
func TestDownloadDeadline(t *testing.T) {
	s := newSetup(t, false, toxitest.Toxic{Type: "bandwidth", Attributes: map[string]int{"rate": 10}})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // of the 30 that the whole file takes
	defer cancel()
	download, err := s.client.SecureFiles.Download(ctx, s.ref(), s.file)
	require.NoError(t, err)
	content, err := io.ReadAll(download)
	require.NoError(t, download.Close())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Less(t, len(content), len(s.content))
}

// A retry sends the same body byte for byte: of an upload that was refused by a rate limit, and of
// an update whose connection was closed.
func TestSentAgain(t *testing.T) {
	slicer := toxitest.Toxic{Type: "slicer", Stream: "upstream", Attributes: map[string]int{"average_size": 3000, "size_variation": 2000}}
	s := newSetup(t, false, slicer)
	s.server.Fail(secureFiles, forgetest.Status(http.StatusTooManyRequests).Times(2))
	_, err := s.client.SecureFiles.Upload(t.Context(), s.ref(), &forge.UploadSecureFileOptions{Name: "new.bin", File: forge.FileBytes(s.content)})
	require.NoError(t, err)
	s.same(secureFiles, 3)
	s.server.AssertAppliedCount(t, secureFiles, 1)
	assert.Equal(t, [][]byte{s.content}, s.files("new.bin"))

	for _, toxic := range []toxitest.Toxic{
		{Type: "limit_data", Stream: "downstream", Attributes: map[string]int{"bytes": 200}},
		{Type: "reset_peer", Stream: "downstream"},
	} {
		s = newSetup(t, true, toxic)
		group, err := s.client.ResourceGroups.Update(t.Context(), s.ref(), "production", &forge.UpdateResourceGroupOptions{ProcessMode: forge.ProcessModeNewestFirst})
		require.NoError(t, err)
		assert.Equal(t, forge.ProcessModeNewestFirst, group.ProcessMode)
		s.same(update, 2)
	}
}

// same checks that a route has received n equal requests.
func (s *setup) same(route string, n int) {
	s.Helper()
	var bodies [][]byte
	for _, r := range s.server.Requests() {
		if r.Route == route {
			bodies = append(bodies, r.Body)
		}
	}
	require.Len(s, bodies, n)
	for _, body := range bodies {
		assert.True(s, len(body) > 0 && bytes.Equal(bodies[0], body))
	}
}

// If the server is silent, each attempt ends after the header timeout, and the error states this.
func TestSilence(t *testing.T) {
	const wait = 500 * time.Millisecond // enough to connect and to send on a busy machine
	for _, stream := range []string{"upstream", "downstream"} {
		s := newSetup(t, false, toxitest.Toxic{Type: "timeout", Stream: stream})
		_, err := s.client.Issues.GetTimeStats(t.Context(), s.ref(), 1, forge.HeaderTimeout(wait))
		require.ErrorIs(t, err, forge.ErrTimeout)
		assert.ErrorContains(t, err, "no response within 500ms (4 attempts)")
		_, err = s.client.Issues.AddSpentTime(t.Context(), s.ref(), 1, &forge.AddSpentTimeOptions{Duration: forge.WorkDuration(time.Hour)}, forge.HeaderTimeout(wait))
		require.ErrorIs(t, err, forge.ErrTimeout)
		assert.ErrorContains(t, err, "the write may have been applied")
		assert.EqualValues(t, 5, s.attempts.Load())
	}
}

// A proxy at whose address no process listens has received nothing: even a non-idempotent call is
// sent again, and has one effect.
func TestRefused(t *testing.T) {
	s := newSetup(t, true)
	s.proxy.Close()
	var answer forge.Response
	_, err := s.client.Issues.AddSpentTime(t.Context(), s.ref(), 1, &forge.AddSpentTimeOptions{Duration: forge.WorkDuration(time.Hour)}, forge.Into(&answer))
	require.NoError(t, err)
	assert.Equal(t, 2, answer.Attempts)
	s.server.AssertAppliedCount(t, spend, 1)
}

// With many callers, and faults on a third of the connections, each success has one effect, each
// failure that may have been applied at most one, and each other failure none.
func TestCreatesAreCounted(t *testing.T) {
	s := newSetup(t, false,
		toxitest.Toxic{Type: "reset_peer", Stream: "downstream", Toxicity: 0.1},
		toxitest.Toxic{Type: "reset_peer", Stream: "upstream", Toxicity: 0.1},
		toxitest.Toxic{Type: "limit_data", Stream: "downstream", Toxicity: 0.3, Attributes: map[string]int{"bytes": 1500}},
		toxitest.Toxic{Type: "slicer", Stream: "upstream", Toxicity: 0.3, Attributes: map[string]int{"average_size": 50, "size_variation": 20}})
	var sure, maybe, failures atomic.Int64
	var callers sync.WaitGroup
	for caller := range 8 {
		callers.Go(func() {
			for range 25 {
				_, err := s.client.Issues.AddSpentTime(t.Context(), s.ref(), int64(caller+1), &forge.AddSpentTimeOptions{Duration: forge.WorkDuration(time.Hour)})
				var failed *forge.Error
				switch {
				case err == nil:
					sure.Add(1)
				case !errors.As(err, &failed):
					t.Errorf("not an *Error: %v", err)
				case failed.MaybeApplied:
					maybe.Add(1)
				default:
					failures.Add(1)
				}
			}
		})
	}
	callers.Wait()
	s.proxy.Close() // ends requests that are still in progress
	var spent int64
	for caller := range 8 {
		stats, err := s.direct.Issues.GetTimeStats(t.Context(), s.ref(), int64(caller+1))
		require.NoError(t, err)
		spent += stats.TotalTimeSpent / 3600
	}
	t.Logf("%d applied, %d maybe, %d not; %d effects", sure.Load(), maybe.Load(), failures.Load(), spent)
	assert.Positive(t, maybe.Load(), "the proxy causes faults")
	assert.GreaterOrEqual(t, spent, sure.Load())
	assert.LessOrEqual(t, spent, sure.Load()+maybe.Load())
}
