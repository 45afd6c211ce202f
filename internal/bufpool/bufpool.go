// Package bufpool keeps buffers for later use. A test can watch the pools to find misuse: a buffer
// that is used after it was returned, or that is returned twice, belongs to two calls, and no call
// detects this.
package bufpool

import (
	"sync"
	"sync/atomic"
)

// Pool keeps values of one type. The zero Pool is ready to use.
type Pool[T any] struct{ pool sync.Pool }

// Hook replaces the pools while it is set.
type Hook interface {
	// Get returns a value that was returned to the pool, or nil.
	Get(pool any) any
	// Made records a new value, after Get has returned nil.
	Made(pool, value any)
	// Put takes a value that is returned to the pool. memory is the memory of the value.
	Put(pool, value any, memory []byte)
	// Drop records a value that is not returned to the pool.
	Drop(pool, value any)
}

var hook atomic.Pointer[Hook]

// Watch sets the hook; nil removes it. It is for tests. No call may be in progress.
func Watch(h Hook) {
	if h == nil {
		hook.Store(nil)
		return
	}
	hook.Store(&h)
}

// Get returns a value of the pool, or a new one. Its content is undefined.
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

// Put returns a value to the pool. The caller must not use it again. memory returns the memory of
// the value, for a hook.
func (p *Pool[T]) Put(v *T, memory func(*T) []byte) {
	if h := hook.Load(); h != nil {
		(*h).Put(p, v, memory(v))
		return
	}
	p.pool.Put(v)
}

// Drop does not return a value to the pool: the garbage collector frees it.
func (p *Pool[T]) Drop(v *T) {
	if h := hook.Load(); h != nil {
		(*h).Drop(p, v)
	}
}
