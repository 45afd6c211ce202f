package forge

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// Decisions about responses:
//
//   - A string of digits is decoded into an integer: servers write some ids that way.
//     encoding/json reports a type error.
//   - Keys match exactly. A key in another case is kept in Extra; encoding/json would assign it
//     to the field.
//   - null is the zero value of a bool, a text, a number and a time. A field is a pointer, and null
//     is nil, where null differs from zero: objects, nullable texts and numbers, the two flags of
//     merge requests that are "boolean or null" (Document 2 §2.6), and flags that only some views
//     show.
//   - A field that a release removed has no struct field: the value of an older server is in Extra.
//   - Elements of another type are omitted from a slice or map, which is then raw in Extra: callers
//     would mistake zero elements for data.
//   - Short strings share blocks of 512 bytes, and recent strings are reused, because a response
//     repeats authors, states and labels. This needs no unsafe code. Rejected: strings that are
//     parts of the response, which keep a complete page in memory for one title.
//   - The memory of decoded items is limited to 4 times MaxBytes, but at least 128 MiB: 31 MiB of
//     {} would need gigabytes of structs.

//go:generate go run ./internal/gensettings
//go:generate go run ./internal/gendecode
//go:generate go run ./internal/genvalues
//go:generate go run ./internal/gentable
//go:generate go run ./internal/genapi

// decodable is implemented by response types. Their decoders are generated from the structs
// (zz_decode.go) or written by hand below. A response type that also comes in another form has a
// method decodeOther, which its decoder calls first.
type decodable interface {
	// decodeFrom reads the next value and reports whether it was one of this type. null changes
	// nothing.
	decodeFrom(r *jsonread.Reader) bool
}

// pointer reads a value with f. It returns nil for null and for a value of another type.
func pointer[T any](r *jsonread.Reader, f func(*T, *jsonread.Reader) bool) *T {
	if r.Null() {
		return nil
	}
	if v := new(T); f(v, r) {
		return v
	}
	return nil
}

// nullable reads a value with f. For a value of another type it returns the zero Nullable, as if
// the field was omitted.
func nullable[T any](r *jsonread.Reader, f func(*T, *jsonread.Reader) bool) Nullable[T] {
	if r.Null() {
		return Null[T]()
	}
	var v T
	if !f(&v, r) {
		return Nullable[T]{}
	}
	return Value(v)
}

// sliceOf reads an array, each element with f. It returns nil for null and for a value of another
// type. Elements of another type are omitted.
func sliceOf[T any](r *jsonread.Reader, f func(*T, *jsonread.Reader) bool) []T {
	if !r.Array() {
		return nil
	}
	items, size := make([]T, 0, r.Strings()), sizeOf[T]()
	for r.More() {
		var zero T
		r.Take(size)
		items = append(items, zero)
		if last := len(items) - 1; !f(&items[last], r) && !r.WasNull() {
			items = items[:last]
		}
	}
	return items
}

// mapOf reads an object into a map, each value with f. It returns nil for null and for a value of
// another type. Values of another type are omitted.
func mapOf[T any](r *jsonread.Reader, f func(*T, *jsonread.Reader) bool) map[string]T {
	if !r.Map() {
		return nil
	}
	items, size := map[string]T{}, sizeOf[string]()+sizeOf[T]()
	for r.Key() {
		key := r.KeyText()
		var item T
		r.Take(size)
		if f(&item, r) || r.WasNull() {
			items[key] = item
		} else {
			delete(items, key) // drops an earlier value of the same key
		}
	}
	return items
}

// sliceDecoder returns sliceOf as a decoder, for the elements of a map or of another array.
func sliceDecoder[T any](f func(*T, *jsonread.Reader) bool) func(*[]T, *jsonread.Reader) bool {
	return func(v *[]T, r *jsonread.Reader) bool {
		*v = sliceOf(r, f)
		return *v != nil
	}
}

// texts reads an array of strings. A bare string is read as an array of one element.
func texts(v *[]string, r *jsonread.Reader) bool {
	if r.Kind() == "string" {
		*v = make([]string, 1)
		return jsonread.Text(&(*v)[0], r)
	}
	return sliceDecoder(jsonread.Text[string])(v, r)
}

// sizeOf returns the size of a T in bytes, without what it points to.
func sizeOf[T any]() int { return int(reflect.TypeFor[T]().Size()) }

// decodeFrom reads YYYY-MM-DD, or the day of a timestamp as it is written, without converting its
// time zone. null and "" are the zero Date.
func (d *Date) decodeFrom(r *jsonread.Reader) bool {
	year, month, day, ok := r.Date()
	*d = Date{year, time.Month(month), day}
	return ok
}

// decodeValue reads a whole response into out. Response types have decoders; callers' own types are
// read by encoding/json.
func decodeValue(r *jsonread.Reader, out any) error {
	if _, err := decodeItem(r, out); err != nil {
		return err
	}
	return r.End()
}

func decodeItem(r *jsonread.Reader, out any) (ok bool, err error) {
	if d, generated := out.(decodable); generated {
		return d.decodeFrom(r), nil
	}
	if r.Foreign == nil {
		return false, fmt.Errorf("%T has no decoder", out)
	}
	return r.Foreign(out, r)
}

// decodePage reads an array of items. Each item is allocated separately, so that keeping one does
// not keep the page. An item that is null or of another type is nil. With an error, the last item
// is the one that has it.
func decodePage[T any](r *jsonread.Reader) (items []*T, err error) {
	if items, err = decodeItems[T](r); err != nil {
		return items, err
	}
	return items, r.End()
}

// decodeMember reads a page that is in a field of an object, or that is the whole response if the
// field is "". An object without the field is an error, as it would look like the end of the list.
func decodeMember[T any](r *jsonread.Reader, member string) (items []*T, err error) {
	if member == "" {
		return decodePage[T](r)
	}
	if !r.Object() { // another type is recorded there
		return nil, r.End()
	}
	found, others := false, map[string]json.RawMessage(nil)
	for r.Key() {
		switch kind := r.Kind(); {
		case string(r.CurrentKey()) != member:
			r.Unknown(&others) // a list has no Extra; Drift and strict decoding have to know
			continue
		case kind == "array" || kind == "null":
			if items, err = decodeItems[T](r); err != nil {
				return nil, err
			}
		case kind != "":
			return nil, fmt.Errorf("%s is a JSON %s", member, kind)
		default:
			r.Skip() // no value at all
		}
		found = true
	}
	if err = r.End(); err == nil && !found {
		err = fmt.Errorf("it has no %s", member)
	}
	return items, err
}

func decodeItems[T any](r *jsonread.Reader) (items []*T, err error) {
	if !r.Array() {
		return nil, nil
	}
	for size := sizeOf[T](); r.More(); {
		r.Take(size)
		item := new(T)
		ok, err := decodeItem(r, item)
		if !ok && err == nil {
			item = nil
		}
		if items = append(items, item); err != nil {
			return items, err
		}
	}
	return items, r.Err()
}

// decodeInto decodes a value that a response holds in raw form.
func decodeInto(data []byte, out any) error {
	var r jsonread.Reader
	r.Reset(data)
	return decodeValue(&r, out)
}
