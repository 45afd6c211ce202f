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

// bodyOf returns a body that arrives in parts.
func bodyOf(text []byte, part int) *conn.Reader {
	return readerOf(&parts{text, part})
}

func readerOf(body io.Reader) *conn.Reader {
	attempt := &conn.Context{Context: context.Background(), Limits: &conn.Limits{Header: time.Hour, Stall: time.Hour}, Counter: countNothing{}, Clock: time.Now()}
	return attempt.Reader(body, 0)
}

type parts struct {
	rest []byte
	part int
}

func (p *parts) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.rest[:min(len(p.rest), p.part)])
	p.rest = p.rest[n:]
	return n, nil
}

// someBytes returns n bytes that differ from place to place.
func someBytes(n int) []byte {
	text := make([]byte, n)
	for i := range text {
		text[i] = byte(i * i >> 7)
	}
	return text
}

// A buffer reads exactly the body, up to the limit, whatever the length in the header says.
func TestReadBody(t *testing.T) {
	const limit = 3 * mib
	text := someBytes(2 * limit)
	for _, size := range []int{0, 1, 511, 512, 513, mib - 1, mib, mib + 1, 2*mib + 7, limit - 1, limit, limit + 1, 2 * limit} {
		want := text[:min(size, limit)]
		for _, length := range []int{-1, size, size - 1, size + 1, size / 2, 2 * size} {
			for _, part := range []int{30011, 1 << 40} {
				var w decodeBuffer
				n, err := w.readBody(bodyOf(text[:size], part), int64(length), limit)
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
	_, err := w.readBody(bodyOf(make([]byte, 50*mib), mib), 50*mib, limit)
	require.NoError(t, err)
	assert.Less(t, w.Cap(), 51*mib)
}

// An error of the body ends the reading.
func TestReadBodyError(t *testing.T) {
	lost := errors.New("lost")
	body := io.MultiReader(&parts{someBytes(2 * mib), 10_007}, readFunc(func([]byte) (int, error) { return 0, lost }))
	var w decodeBuffer
	n, err := w.readBody(readerOf(body), 3*mib, 1<<30)
	assert.ErrorIs(t, err, lost)
	assert.Equal(t, int64(2*mib), n)
	n, err = w.readBody(bodyOf(nil, 1), -1, 100)
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
	for range 10 {
		assert.NotSame(t, kept, newBuffer(), "it is not in the pool, too")
	}
	cache.close()
	assert.Nil(t, cache.kept.Load())
	cache.put(&decodeBuffer{Buffer: *bytes.NewBuffer(make([]byte, largestPooled+1))})
	assert.Nil(t, cache.kept.Load(), "a large buffer is not kept")
	large := &decodeBuffer{Buffer: *bytes.NewBuffer(make([]byte, largestPooled+1))}
	freeBuffer(large)
	for range 10 { // whatever else is in the pool
		assert.NotSame(t, large, newBuffer())
	}
}
