package simulation

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/bufpool"
)

type block [100_000]byte

func (b *block) memory() []byte { return b[:] }

// Misuse of a buffer is reported, and correct use is not.
func TestBuffersAreWatched(t *testing.T) {
	var pool bufpool.Pool[block]
	put := func(b *block) { pool.Put(b, (*block).memory) }
	for name, c := range map[string]struct {
		do   func()
		want string
	}{
		"right":          {func() { put(pool.Get()) }, ""},
		"dropped":        {func() { pool.Drop(pool.Get()) }, ""},
		"twice":          {func() { b := pool.Get(); put(b); put(b) }, "returned twice"},
		"written after":  {func() { b := pool.Get(); put(b); b[77_000] = 1 }, "after it was returned"},
		"written, taken": {func() { b := pool.Get(); put(b); b[5] = 1; put(pool.Get()) }, "after it was returned"},
		"kept":           {func() { pool.Get() }, "still in use"},
		"drop after put": {func() { b := pool.Get(); put(b); pool.Drop(b) }, "dropped after it was returned"},
	} {
		t.Run(name, func(t *testing.T) {
			defer WatchBuffers()()
			violations := Run(t, WorldPlan{}, func(*World) { c.do() })
			if c.want == "" {
				assert.Empty(t, violations)
				return
			}
			require.Len(t, violations, 1)
			assert.Equal(t, "buffer", violations[0].Name)
			assert.Contains(t, violations[0].Text, c.want)
			assert.Contains(t, violations[0].Text, "TestBuffersAreWatched")
			assert.Empty(t, Run(t, WorldPlan{}, func(*World) {}), "it is reported once")
		})
	}
}

// A buffer with two owners is detected early: Get returns the buffer that was returned last.
func TestBuffersReturnTheLatest(t *testing.T) {
	defer WatchBuffers()()
	var pool bufpool.Pool[block]
	first := pool.Get()
	pool.Put(first, (*block).memory)
	assert.Same(t, first, pool.Get())
	assert.NotSame(t, first, pool.Get())
}

// The client returns its buffers after every kind of failure.
func TestClientReturnsBuffers(t *testing.T) {
	defer WatchBuffers()()
	for _, kind := range []FaultKind{Respond, Reset, Garble, Stall, Repeat} {
		for name, do := range operations {
			for _, at := range []Point{AtBefore, AtAfter, AtData} {
				plan := smallPlan(HTTP1)
				plan.Faults = []Fault{{Call: "c", Attempt: 1, At: at, Kind: kind, Byte: 20, Status: 503}}
				run(t, plan, func(w *World) {
					_, err := do(w)
					t.Log(name, err)
				})
			}
		}
	}
	b := watched.Load()
	assert.NotZero(t, b.total)
}
