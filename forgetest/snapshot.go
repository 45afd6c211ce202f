package forgetest

import (
	"reflect"
	"regexp"
	"time"
	"unsafe"
)

// snapshot finishes the background work, which cannot be copied, and copies
// everything that calls change.
func (s *Server) snapshot() *store {
	s.FinishBackgroundJobs()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store.invalidate()
	return copyStore(&s.store, s, s)
}

// restore replaces the data by those of a snapshot, which can be restored again. Records that a
// test got from the server before are no longer its records.
func (s *Server) restore(from *store) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store, s.background = *copyStore(from, s, s), nil
}

// copyStore copies the records of a server for another one, or for itself. It copies by reflection,
// so that a new field is copied, too.
func copyStore(from *store, owner, other *Server) *store {
	to := new(store)
	copier := copier{unsafe.Pointer(owner): reflect.ValueOf(other)}
	copier.copy(reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem())
	return to
}

// copier has the copy of each object that was copied.
type copier map[unsafe.Pointer]reflect.Value

// isShared reports whether a copy has the same value or object, since it never changes.
func isShared(t reflect.Type) bool {
	if kind := t.Kind(); kind <= reflect.Complex128 || kind == reflect.String {
		return true
	}
	switch t {
	case reflect.TypeFor[*shape](), reflect.TypeFor[*blob](), reflect.TypeFor[*tree](),
		reflect.TypeFor[*Commit](), reflect.TypeFor[*regexp.Regexp](), reflect.TypeFor[*availability](), reflect.TypeFor[time.Time]():
		return true
	}
	return false
}

func (c copier) copy(to, from reflect.Value) {
	switch {
	case isShared(from.Type()):
		to.Set(from)
		return
	case from.Kind() == reflect.Struct:
		for i := range from.NumField() {
			c.copy(exposed(to, i), exposed(from, i))
		}
		return
	}
	switch from.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice:
		if from.IsNil() {
			return
		}
	}
	switch from.Kind() {
	case reflect.Pointer:
		known, copied := c[from.UnsafePointer()]
		if !copied || known.Type() != from.Type() {
			known = reflect.New(from.Type().Elem())
			c[from.UnsafePointer()] = known
			c.copy(known.Elem(), from.Elem())
		}
		to.Set(known)
	case reflect.Interface:
		to.Set(c.value(from.Elem()))
	case reflect.Map:
		to.Set(reflect.MakeMapWithSize(from.Type(), from.Len()))
		for entry := from.MapRange(); entry.Next(); {
			to.SetMapIndex(c.value(entry.Key()), c.value(entry.Value()))
		}
	case reflect.Slice:
		to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		if isShared(from.Type().Elem()) {
			reflect.Copy(to, from)
			return
		}
		for i := range from.Len() {
			c.copy(to.Index(i), from.Index(i))
		}
	default:
		to.Set(from)
	}
}

// value returns a copy of a value that has no address.
func (c copier) value(from reflect.Value) reflect.Value {
	if isShared(from.Type()) {
		return from
	}
	source, copied := reflect.New(from.Type()).Elem(), reflect.New(from.Type()).Elem()
	source.Set(from)
	c.copy(copied, source)
	return copied
}

// exposed returns a field that can be read and set although it is not exported.
func exposed(of reflect.Value, i int) reflect.Value {
	f := of.Field(i)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem() //nolint:gosec // of a value with an address
}
