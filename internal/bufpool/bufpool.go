// Package bufpool keeps buffers for later use, and lets a test watch them: a buffer that is used
// after it was given back, or given back twice, belongs to two calls, and neither would notice.
package bufpool

import (
	"sync"
	"sync/atomic"
)

// Pool keeps values of one type. The zero Pool is ready.
type Pool[T any] struct{ pool sync.Pool }

// Hook takes the place of the pools while it is set.
type Hook interface {
	// Get returns a value that was given back to the pool, or nil.
	Get(pool any) any
	// Made notes a value that Get had none for.
	Made(pool, value any)
	// Put takes a value back. memory is what it holds.
	Put(pool, value any, memory []byte)
	// Drop notes a value that is left to the garbage collector.
	Drop(pool, value any)
}

var hook atomic.Pointer[Hook]

// Watch sets the hook; nil takes it away. It is for tests, and no call may be under way.
func Watch(h Hook) {
	if h == nil {
		hook.Store(nil)
		return
	}
	hook.Store(&h)
}

// Get returns a value of the pool, or a new one. Its content is not specified.
func (p *Pool[T]) Get() *T {
	if h := hook.Load(); h != nil {
		return p.watchedGet(*h)
	}
	if v, ok := p.pool.Get().(*T); ok {
		return v
	}
	return new(T)
}

func (p *Pool[T]) watchedGet(h Hook) *T {
	if v, ok := h.Get(p).(*T); ok {
		return v
	}
	v := new(T)
	h.Made(p, v)
	return v
}

// Put gives a value back. Nobody may use it from then on. memory returns what it holds, for a hook.
func (p *Pool[T]) Put(v *T, memory func(*T) []byte) {
	if h := hook.Load(); h != nil {
		(*h).Put(p, v, memory(v))
		return
	}
	p.pool.Put(v)
}

// Drop leaves a value to the garbage collector.
func (p *Pool[T]) Drop(v *T) {
	if h := hook.Load(); h != nil {
		(*h).Drop(p, v)
	}
}
