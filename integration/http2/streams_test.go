package http2

import (
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
)

// server starts a server of net/http over TLS.
func server(t *testing.T, streams int, handler http.HandlerFunc) (c *forge.Client, connections *atomic.Int32) {
	t.Helper()
	connections = new(atomic.Int32)
	s := httptest.NewUnstartedServer(handler)
	s.EnableHTTP2 = true
	s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: streams}
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return client(t, s.URL, roots), connections
}

func answer(w http.ResponseWriter, format string, args ...any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, format, args...)
}

// Calls share one connection, up to the server's limit of concurrent streams.
func TestConcurrentStreams(t *testing.T) {
	const many = 150
	all := make(chan struct{})
	var inside atomic.Int32
	client, connections := server(t, 250, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, 2, r.ProtoMajor)
		if r.Method == http.MethodPost && inside.Add(1) == many {
			close(all)
		}
		if r.Method == http.MethodPost {
			<-all
		}
		answer(w, `{"id":1}`)
	})
	require.NoError(t, client.Do(t.Context(), calls()["safe"], nil))
	var running sync.WaitGroup
	for range many {
		running.Go(func() { assert.NoError(t, client.Do(t.Context(), calls()["once"], nil)) })
	}
	running.Wait()
	assert.EqualValues(t, many, inside.Load())
	assert.EqualValues(t, 1, connections.Load())
}

// Calls above the server's limit of streams use further connections, or are refused and sent again.
// Each success has one effect. (A server that is too slow to accept such a connection resets it.)
func TestStreamLimit(t *testing.T) {
	const many, limit = 60, 10
	var effects, maybe atomic.Int32
	client, connections := server(t, limit, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			effects.Add(1)
			time.Sleep(time.Millisecond)
		}
		answer(w, `{"id":1}`)
	})
	require.NoError(t, client.Do(t.Context(), calls()["safe"], nil))
	var running sync.WaitGroup
	for range many {
		running.Go(func() {
			var failed *forge.Error
			if err := client.Do(t.Context(), calls()["once"], nil); errors.As(err, &failed) {
				maybe.Add(1)
				assert.True(t, failed.MaybeApplied, "%v", err)
			}
		})
	}
	running.Wait()
	assert.Less(t, maybe.Load(), int32(many-limit), "most calls succeed")
	assert.GreaterOrEqual(t, effects.Load(), many-maybe.Load())
	assert.LessOrEqual(t, effects.Load(), int32(many))
	assert.Greater(t, connections.Load(), int32(1))
}

const large = 64 << 20

// content returns a reader of a large file that is not in memory.
func content() io.Reader { return io.LimitReader(rand.NewChaCha8([32]byte{1}), large) }

func sum(t *testing.T, r io.Reader) [32]byte {
	hash := sha256.New()
	n, err := io.Copy(hash, r)
	require.NoError(t, err)
	require.EqualValues(t, large, n)
	return [32]byte(hash.Sum(nil))
}

// A large file is uploaded and downloaded completely through the flow control of HTTP/2, in
// constant memory.
func TestLargeBodies(t *testing.T) {
	want := sum(t, content())
	received := make(chan [32]byte, 1)
	client, _ := server(t, 0, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Length", fmt.Sprint(large))
			_, _ = io.Copy(w, content())
			return
		}
		received <- file(t, r)
		answer(w, `{"id":1}`)
	})
	highest := peak()
	upload := forge.File{Name: "large.bin", Size: large, Open: func() (io.ReadCloser, error) { return io.NopCloser(content()), nil }}
	_, err := client.SecureFiles.Upload(t.Context(), forge.ID(1), &forge.UploadSecureFileOptions{Name: "large.bin", File: upload},
		forge.SkipValidation(), forge.Progress(highest.sample))
	require.NoError(t, err)
	assert.Equal(t, want, <-received)

	download, err := client.Repositories.Archive(t.Context(), forge.ID(1), nil, forge.Progress(highest.sample))
	require.NoError(t, err)
	assert.EqualValues(t, large, download.Size)
	assert.Equal(t, want, sum(t, download))
	require.NoError(t, download.Close())
	t.Logf("%d KiB of heap at most, client and server together", highest.bytes>>10)
	assert.Less(t, highest.bytes, uint64(16<<20))
}

// file returns the checksum of the file in a multipart body.
func file(t *testing.T, r *http.Request) [32]byte {
	parts, err := r.MultipartReader()
	if !assert.NoError(t, err) {
		return [32]byte{}
	}
	for {
		var part *multipart.Part
		if part, err = parts.NextPart(); !assert.NoError(t, err) {
			return [32]byte{}
		}
		if part.FormName() == "file" {
			return sum(t, part)
		}
	}
}

// highWater is the peak growth of the heap.
type highWater struct{ base, bytes uint64 }

func peak() *highWater {
	runtime.GC()
	return &highWater{base: heap()}
}

func heap() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// sample looks at every MiB.
func (h *highWater) sample(done, _ int64) {
	if done%(1<<20) < 32<<10 {
		if now := heap(); now > h.base {
			h.bytes = max(h.bytes, now-h.base)
		}
	}
}
