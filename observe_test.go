package forge

import (
	"context"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// attempts collects the reports of WithOnAttempt.
type attempts struct {
	mu   sync.Mutex
	seen []Attempt
}

func (a *attempts) option() Option {
	return WithOnAttempt(func(_ context.Context, attempt Attempt) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.seen = append(a.seen, attempt)
	})
}

func (a *attempts) all() []Attempt {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen
}

// A client and all clients that are derived from it share one Stats, even with different
// credentials. Each client has its own hook.
func TestStatsAreShared(t *testing.T) {
	var hook attempts
	w := newWire(t, always(sayJSON("[{},{}]")))
	parent := wireClient(t, w.url)
	child, err := parent.With(WithToken("another-token"), hook.option())
	require.NoError(t, err)
	other := wireClient(t, w.url)
	var calls sync.WaitGroup
	for _, c := range []*Client{parent, child, child} {
		calls.Go(func() {
			for range 20 {
				_, err := Collect(ListAs[map[string]any](t.Context(), c, Call{Method: http.MethodGet, Route: "/issues"}, Ahead(2)))
				assert.NoError(t, err)
			}
		})
	}
	calls.Wait()
	assert.Equal(t, Stats{Calls: 60, Attempts: 60, BytesReceived: 60 * 7}, parent.Stats())
	assert.Equal(t, parent.Stats(), child.Stats())
	assert.Zero(t, other.Stats())
	assert.Len(t, hook.all(), 40)
}

// The bytes of a download are counted when they are read.
func TestStatsOfDownloads(t *testing.T) {
	var hook attempts
	c := wireClient(t, newWire(t, always(say(200, "0123456789", "Content-Type: a/b"))).url, hook.option())
	d, err := openArchive(t.Context(), c)
	require.NoError(t, err)
	defer d.Close()
	assert.Zero(t, c.Stats().BytesReceived)
	_, err = io.ReadFull(d, make([]byte, 4))
	require.NoError(t, err)
	assert.EqualValues(t, 4, c.Stats().BytesReceived)
	_, err = io.Copy(io.Discard, d)
	require.NoError(t, err)
	assert.EqualValues(t, 10, c.Stats().BytesReceived)
	assert.Zero(t, hook.all()[0].BytesReceived)
}

// Statistics print with their names, in the singular for one.
func TestStatsString(t *testing.T) {
	assert.Equal(t, "0 calls, 0 failed, 0 attempts, 0 retries, 0 waits for rate limits (0s), 0 bytes sent, 0 bytes received", Stats{}.String())
	stats := Stats{Calls: 1, Failures: 2, Attempts: 4, Retries: 1, RateLimitWaits: 1, RateLimitWaitTime: time.Minute, BytesSent: 1, BytesReceived: 20}
	assert.Equal(t, "1 call, 2 failed, 4 attempts, 1 retry, 1 wait for rate limits (1m0s), 1 byte sent, 20 bytes received", stats.String())
}
