package bufpool

import "testing"

type buffer struct{ data [64]byte }

func (b *buffer) memory() []byte { return b.data[:] }

// recorder is a Hook that keeps one value.
type recorder struct {
	calls string
	kept  any
	size  int
}

func (r *recorder) Get(any) any   { r.calls += "get "; v := r.kept; r.kept = nil; return v }
func (r *recorder) Made(_, _ any) { r.calls += "made " }
func (r *recorder) Put(_, v any, memory []byte) {
	r.calls += "put "
	r.kept, r.size = v, len(memory)
}
func (r *recorder) Drop(_, _ any) { r.calls += "drop " }

// A hook replaces the pools and receives every call.
func TestHook(t *testing.T) {
	r := &recorder{}
	Watch(r)
	var pool Pool[buffer]
	first := pool.Get()
	pool.Put(first, (*buffer).memory)
	second := pool.Get()
	pool.Drop(second)
	Watch(nil)
	third := pool.Get()
	pool.Put(third, (*buffer).memory)
	if want := "get made put get drop "; r.calls != want || r.size != 64 || first != second || second == third {
		t.Fatal(r.calls, r.size, first == second, second == third)
	}
}

// Without a hook a pool does not allocate.
func TestNoAllocations(t *testing.T) {
	var pool Pool[buffer]
	pool.Put(pool.Get(), (*buffer).memory)
	if n := testing.AllocsPerRun(100, func() { pool.Put(pool.Get(), (*buffer).memory) }); n >= 1 {
		t.Fatal(n)
	}
}
