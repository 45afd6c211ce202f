package forge

import (
	"context"
	"io"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a download holds is free as soon as it is closed: the watchdog's timer kept it for another minute, which a soak run showed
// as memory that grows with the rate of downloads.
func TestClosedDownloadIsFree(t *testing.T) {
	w := newWire(t, func(seen) act { return say(200, "content") })
	client := wireClient(t, w.url)
	var freed atomic.Bool
	func() {
		type key struct{}
		value := new([1 << 10]byte)
		runtime.AddCleanup(value, func(int) { freed.Store(true) }, 0)
		download, err := client.Repositories.Archive(context.WithValue(t.Context(), key{}, value), ID(1), nil)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, download)
		require.NoError(t, err)
		require.NoError(t, download.Close())
	}()
	client.CloseIdleConnections()
	assert.Eventually(t, func() bool {
		runtime.GC()
		return freed.Load()
	}, 20*time.Second, 10*time.Millisecond)
}
