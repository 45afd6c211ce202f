package forge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/conn"
)

type countNothing struct{}

func (countNothing) Received(int) {}

// bodyOf returns a body of n bytes that arrive in parts.
func bodyOf(n, part int64) *conn.Reader {
	attempt := &conn.Context{Context: context.Background(), Limits: &conn.Limits{Header: time.Hour, Stall: time.Hour}, Counter: countNothing{}, Clock: time.Now()}
	return attempt.Reader(&parts{rest: n, part: part}, 0)
}

type parts struct{ rest, part int64 }

func (p *parts) Read(b []byte) (int, error) {
	if p.rest == 0 {
		return 0, io.EOF
	}
	n := min(p.rest, p.part, int64(len(b)))
	for i := range n {
		b[i] = byte(p.rest - i)
	}
	p.rest -= n
	return int(n), nil
}

// A buffer reads exactly the body, up to the limit, whatever the length in the header says.
func TestReadBody(t *testing.T) {
	const limit = 9 * mib
	for _, size := range []int64{0, 1, 511, 512, 513, mib - 1, mib, mib + 1, 3 * mib, 4*mib + 7, limit - 1, limit, limit + 1, 2 * limit} {
		want, _ := io.ReadAll(&parts{rest: size, part: size})
		want = want[:min(size, limit)]
		for _, length := range []int64{-1, size, size - 1, size + 1, size / 2, 2 * size} {
			for _, part := range []int64{3001, mib, 1 << 40} {
				var w decodeBuffer
				n, err := w.readBody(bodyOf(size, part), length, limit)
				require.NoError(t, err)
				require.Equal(t, int64(len(want)), n, "size %d, length %d", size, length)
				require.True(t, bytes.Equal(want, w.Bytes()), "size %d, length %d, part %d", size, length, part)
			}
		}
	}
}

// A document whose length is known has one buffer of its size. A server that announces more than it
// sends makes the client allocate 64 times as much as it has sent, and 1 MiB at first.
func TestBufferSize(t *testing.T) {
	const limit = 1 << 30
	for _, test := range []struct{ n, length, want int64 }{
		{0, 100, 101},
		{0, mib + 5, mib},
		{mib, 50 * mib, 50*mib + 1},
		{mib, 500 * mib, 64 * mib},
		{64 * mib, 500 * mib, 500*mib + 1},
		{0, limit, mib},
		{64 * mib, limit, limit},
		{0, -1, mib},
		{mib, -1, 4 * mib},
		{256 * mib, -1, limit},
		{200, 100, mib}, // more has come than was announced
	} {
		assert.Equal(t, test.want, bufferSize(test.n, test.length, limit), "%+v", test)
	}
	var w decodeBuffer
	_, err := w.readBody(bodyOf(50*mib, mib), 50*mib, limit)
	require.NoError(t, err)
	assert.Less(t, w.Cap(), 51*mib)
}

// An error of the body ends the reading.
func TestReadBodyError(t *testing.T) {
	lost := errors.New("lost")
	body := bodyOf(0, 1)
	reader := (&conn.Context{Context: context.Background(), Limits: &conn.Limits{Stall: time.Hour}, Counter: countNothing{}, Clock: time.Now()}).
		Reader(io.MultiReader(&parts{rest: 2 * mib, part: 1000}, readerFunc(func([]byte) (int, error) { return 0, lost })), 0)
	var w decodeBuffer
	n, err := w.readBody(reader, 3*mib, 1<<30)
	assert.ErrorIs(t, err, lost)
	assert.Equal(t, int64(2*mib), n)
	n, err = w.readBody(body, -1, 100)
	assert.NoError(t, err)
	assert.Zero(t, n)
}

// The cache of a list returns its buffer to one user at a time.
func TestBufferCache(t *testing.T) {
	var cache bufferCache
	var using sync.Map
	var done sync.WaitGroup
	for range 8 {
		done.Go(func() {
			for range 1000 {
				b := cache.get()
				_, taken := using.LoadOrStore(b, true)
				assert.False(t, taken, "two users have one buffer")
				runtime.Gosched()
				using.Delete(b)
				cache.put(b)
			}
		})
	}
	done.Wait()
	kept := cache.get()
	cache.put(kept)
	assert.Same(t, kept, cache.get(), "the next page has the same buffer")
	cache.put(kept)
	cache.close()
	assert.Nil(t, cache.kept.Load())
	cache.put(&decodeBuffer{Buffer: *bytes.NewBuffer(make([]byte, largestPooled+1))})
	assert.Nil(t, cache.kept.Load(), "a large buffer is not kept")
}
