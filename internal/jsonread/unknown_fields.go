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
	key, kind := r.texts.copy(r.key, len(r.data)-r.pos), r.Kind()
	value := bytes.Clone(r.View())
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
