package jsonread

import (
	"bytes"
	"encoding/json"
)

// Unknown stores the value of the current key, which has no field, in extra.
func (r *Reader) Unknown(extra *map[string]json.RawMessage) {
	top := &r.path[len(r.path)-1]
	if top.state&kept != 0 {
		top.state |= foreign
	}
	key, kind := r.KeyText(), r.Kind()
	value := r.raws.copy(r.View(), len(r.data)-r.pos)
	if r.Watch != nil && r.err == nil {
		r.Watch(r.Place(), "", kind)
	}
	if r.err == nil && r.Strict {
		r.err = &StrictError{Pointer: r.Pointer(), Reason: "no field has this name"}
	}
	if r.err == nil {
		r.keep(extra, key, value)
	}
}

// keep stores a value in extra.
func (r *Reader) keep(extra *map[string]json.RawMessage, key string, value []byte) {
	if *extra == nil {
		*extra = map[string]json.RawMessage{}
	}
	r.Take(entrySize)
	(*extra)[key] = value
}

// rawCopier copies short values into blocks, as textCopier does with strings. A value has no
// capacity beyond its end, so that appending to it does not change its neighbor.
type rawCopier struct{ block []byte }

func (c *rawCopier) copy(raw []byte, rest int) []byte {
	n := len(raw)
	if n == 0 || n > longestBlock {
		return bytes.Clone(raw)
	}
	if len(c.block) < n {
		c.block = make([]byte, min(blockSize, n+rest))
	}
	value := c.block[:n:n]
	c.block = c.block[n:]
	copy(value, raw)
	return value
}
