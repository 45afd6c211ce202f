package forge

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

//go:generate go run ./internal/gendecode
//go:generate go run ./internal/gentable
//go:generate go run ./internal/genapi

// decodable is a response type: its decoder is in zz_decode.go, made from the struct, or written by hand below. A response type
// that comes in another form too has a method decodeOther, which its decoder asks first.
type decodable interface {
	// decodeFrom reads the next value and reports whether it was one of this type. null leaves all as it is.
	decodeFrom(r *jsonread.Reader) bool
}

// optional reads a value by f; null, and a value of another type, is nil.
func optional[T any](r *jsonread.Reader, f func(*T, *jsonread.Reader) bool) *T {
	if r.Null() {
		return nil
	}
	if v := new(T); f(v, r) {
		return v
	}
	return nil
}

// slice reads an array, each element by f; null, and a value of another type, is nil.
func slice[T any](r *jsonread.Reader, f func(*T, *jsonread.Reader) bool) []T {
	if !r.Array() {
		return nil
	}
	items, size := []T{}, sizeOf[T]()
	for r.More() {
		var zero T
		r.Take(size)
		items = append(items, zero)
		f(&items[len(items)-1], r)
	}
	return items
}

// sizeOf is the memory that a T takes, without what it points to.
func sizeOf[T any]() int { return int(reflect.TypeFor[T]().Size()) }

// unknown keeps a member that no field names.
func unknown(r *jsonread.Reader, extra map[string]json.RawMessage) map[string]json.RawMessage {
	key, value, ok := r.Unknown()
	if !ok {
		return extra
	}
	if extra == nil {
		extra = map[string]json.RawMessage{}
	}
	r.Take(2 * sizeOf[json.RawMessage]())
	extra[key] = value
	return extra
}

// other reads a value by encoding/json, for fields of types that are rare or open: maps, bytes, any.
func other[T any](v *T, r *jsonread.Reader) {
	kind := r.Kind()
	var fresh T
	switch ok, err := foreign(&fresh, r); {
	case err != nil:
		r.Note("", fmt.Sprintf("%T", fresh), kind)
		*v = *new(T)
	case ok:
		*v = fresh
	default:
		*v = *new(T)
	}
}

// foreign reads a value into what is no response type, by encoding/json. A member of the wrong type is noted, and the rest read.
// It reports whether the value was one of v's type, which null is not.
func foreign(v any, r *jsonread.Reader) (ok bool, err error) {
	if r.Null() {
		return false, nil
	}
	text := r.View()
	if err := r.Err(); err != nil {
		return false, err
	}
	var wrong *json.UnmarshalTypeError
	if err = json.Unmarshal(text, v); !errors.As(err, &wrong) {
		return err == nil, err
	}
	below := ""
	if wrong.Field != "" {
		below = "/" + strings.NewReplacer("~", "~0", "/", "~1", ".", "/").Replace(wrong.Field)
	}
	r.Note(below, wrong.Type.String(), wrong.Value)
	return below != "" || wrong.Type != reflect.TypeOf(v).Elem(), nil
}

// decodeFrom reads YYYY-MM-DD; null and "" are the zero Date.
func (d *Date) decodeFrom(r *jsonread.Reader) bool {
	year, month, day, ok := r.Date()
	*d = Date{year, time.Month(month), day}
	return ok
}

// decodeOther reads a bare name.
func (l *Label) decodeOther(r *jsonread.Reader) bool {
	return r.Kind() == "string" && jsonread.Text(&l.Name, r)
}

// decodeOther reads a bare name.
func (c *AuditEventChange) decodeOther(r *jsonread.Reader) bool {
	return r.Kind() == "string" && jsonread.Text(&c.Name, r)
}

// decodeValue reads a whole answer into out. Response types have decoders; callers' own types are read by encoding/json.
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
	return foreign(out, r)
}

// decodePage reads an array of items, each on its own, so that keeping one does not keep the page. An item that is null or of
// another type is nil.
func decodePage[T any](r *jsonread.Reader) (items []*T, err error) {
	if items, err = decodeItems[T](r); err != nil {
		return nil, err
	}
	return items, r.End()
}

// decodeMember reads a page that is a member of an object; "" for one that is not. A page without the member would look like the
// end of the list, and is an error.
func decodeMember[T any](r *jsonread.Reader, member string) (items []*T, err error) {
	if member == "" {
		return decodePage[T](r)
	}
	if !r.Object() { // another type is noted there
		return nil, r.End()
	}
	found := false
	for r.Key() {
		switch kind := r.Kind(); {
		case string(r.CurrentKey()) != member:
			r.Skip()
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
		switch ok, err := decodeItem(r, item); {
		case err != nil:
			return nil, fmt.Errorf("item %d: %w", len(items), err)
		case !ok:
			item = nil
		}
		items = append(items, item)
	}
	return items, r.Err()
}

// decodeInto reads a value that an answer held in raw form.
func decodeInto(data []byte, out any) error {
	var r jsonread.Reader
	r.Reset(data)
	return decodeValue(&r, out)
}
