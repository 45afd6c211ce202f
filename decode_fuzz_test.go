package forge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// The fuzz targets compare the generated decoders with encoding/json, one target for each shape of
// response type. See differ.

func FuzzDecodeIssue(f *testing.F) { fuzzDecode[Issue](f, "issues/*subscribe.json") }
func FuzzDecodeMergeRequest(f *testing.F) {
	fuzzDecode[MergeRequest](f, "issues/related_merge_requests.json")
}

// A raw field.
func FuzzDecodeTodo(f *testing.F) { fuzzDecode[Todo](f, "issues/create_todo.json") }

// Objects in slices.
func FuzzDecodeComparison(f *testing.F) { fuzzDecode[Comparison](f, "repositories/comp*.json") }

// Maps, which encoding/json decodes.
func FuzzDecodeMergeBase(f *testing.F) {
	fuzzDecode[Commit](f, "repositories/merge_base.json")
}

// Pointers and dates.
func FuzzDecodeNamespace(f *testing.F) { fuzzDecode[Namespace](f, "namespaces/*.json") }

// Nullables. encoding/json decodes the fields without the methods of ApplicationSettings.
func FuzzDecodeSettings(f *testing.F) { fuzzDecode[settingFields](f, "settings/*.json") }

type settingFields ApplicationSettings

func (s *settingFields) decodeFrom(r *jsonread.Reader) bool {
	return (*ApplicationSettings)(s).decodeFrom(r)
}

// Pages of large and of small items.
func FuzzDecodePage(f *testing.F) { fuzzDecode[page100[Issue]](f, "issues/list.json") }
func FuzzDecodeTree(f *testing.F) { fuzzDecode[page100[TreeEntry]](f, "repositories/tree*.json") }

// page100 is a page in the form that list decodes.
type page100[T any] []*T

func (p *page100[T]) decodeFrom(r *jsonread.Reader) bool {
	items, err := decodePage[T](r)
	*p = items
	return err == nil
}

// awkward texts are seeds of every target.
var awkward = []string{
	`{"id":9007199254740993}`, `{"id":9223372036854775807}`, `{"id":9223372036854775808}`, `{"id":-9223372036854775808}`, `{"id":-9223372036854775809}`,
	`{"id":1e3}`, `{"id":1.0}`, `{"id":-0}`, `{"id":"42"}`, `{"id":"4x"}`, `{"id":""}`, `{"id":01}`, `{"id":+1}`, `{"id":.5}`, `{"id":1.}`, `{"id":NaN}`, `{"id":1e999999999}`,
	`{"x":01}`, `{"x":+1}`, `{"x":.5}`, `{"x":1.}`, `{"x":NaN}`, `{"x":1e999999999}`, `{"x":[1,]}`, `{"x":{"y":}}`, `{"x":"\u12"}`, `{"x":tru}`, `{"x":Infinity}`, `{"x":'y'}`,
	`{"title":"\ud800"}`, `{"title":"\ud83d\ude00"}`, `{"title":"\ude00\ud83d"}`, `{"title":"\ud800\u0041"}`, "{\"title\":\"\xff\xfe\"}", "{\"\xff\":\"\xc3\"}", `{"\ud800":1}`,
	"{\"title\":\"a\x00b\"}", "{\"title\":\"a\nb\"}", "{\"title\":\"a\x7fb\"}", "{\"x\":\"a\x1fb\"}", `{"ti\u0074le":"escaped key"}`, `{"":1}`, `{"a/b~c":1}`,
	`{"title":"a","title":"b"}`, `{"Title":"a"}`, `{"TITLE":"a","title":"b"}`, `{"labels":["a"],"labels":[]}`, `{"author":{"id":1},"author":{"name":"b"}}`,
	`{"labels":["a",{"name":"b","color":"c"},null,5,["d"]]}`, `{"labels":{}}`, `{"author":[]}`, `{"author":"x"}`, `{"closed_by":5}`, `{"weight":"x"}`, `{"weight":0}`,
	`{"created_at":"2026-03-01T09:30:00Z"}`, `{"created_at":"2026-03-01T09:30:00.123456789+05:30"}`, `{"created_at":"2026-03-01T09:30:00-00:00"}`, `{"created_at":"2026-03-01t09:30:00z"}`,
	`{"created_at":"2026-12-31T23:59:60Z"}`, `{"created_at":"2026-13-01T00:00:00Z"}`, `{"created_at":"2026-03-01T00:00:00+24:00"}`, `{"created_at":""}`, `{"created_at":"2026-03-01"}`, `{"created_at":1}`,
	`{"created_at":"2026-03-01T09:30:00.1234567890123456789012345678901234567890123456789012345+01:00"}`, `{"created_at":"9999-12-31T23:59:59-23:59"}`, `{"created_at":"0000-01-01T00:00:00+23:59"}`,
	`{"due_date":"2026-02-28"}`, `{"due_date":"2026-02-29"}`, `{"due_date":"2024-02-29"}`, `{"due_date":""}`, `{"due_date":"2026-2-3"}`, `{"due_date":"0000-01-01"}`, `{"due_date":5}`,
	`{"content":"aGk="}`, `{"content":"!"}`, `{"trailers":{"a":"b"},"extended_trailers":{"a":["b",1]}}`, `{"trailers":{"a":1,"b":"c"}}`, `{"target":null}`, `{"target":{"a":[1, 2]}}`,
	"\xef\xbb\xbf{}", `{} `, `{}x`, `{}{}`, ` {}`, "\v{}", "{}\v", `null`, `[]`, `[null]`, `[{}]`, `[5]`, `5`, `"x"`, `true`, ``, ` `, `{`, `{"`, `{"a`, `{"a":`, `[{"id":1},{"id":"x","author":{"id":[]}}]`,
}

func fuzzDecode[T any](f *testing.F, fixtures string) {
	for _, seed := range awkward {
		f.Add([]byte(seed))
	}
	files, err := filepath.Glob("testdata/" + fixtures)
	if err != nil || len(files) == 0 {
		f.Fatal("no fixtures: ", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, data); err != nil {
			f.Fatal(name, err)
		}
		f.Add(compact.Bytes())
		var items []json.RawMessage
		_ = json.Unmarshal(compact.Bytes(), &items) // not all texts are lists
		for _, item := range items {
			f.Add([]byte(item))
		}
	}
	names := namesOf[T]()
	f.Fuzz(func(t *testing.T, data []byte) {
		if difference := differ[T](data, names); difference != "" {
			t.Fatalf("%s\nin %q", difference, data)
		}
	})
}

// differ decodes a text with both decoders and describes the first difference. Both must accept the
// same texts. If encoding/json returns no error, both must return the same value, and keys without
// a field must be in Extra. If there are mismatches, encoding/json must return the same value for
// the text with null in their places. Objects with a key that occurs twice or in another case are
// excluded, because the rules differ intentionally.
func differ[T any](data []byte, names map[string]string) string {
	var ours, theirs T
	buffer := bytes.Clone(data)
	r := jsonread.Reader{Foreign: unmarshalForeign}
	r.Reset(buffer)
	err := decodeValue(&r, &ours)
	clear(buffer)
	forgetBaseline(&ours)
	if valid := json.Valid(data); valid != (err == nil) {
		return fmt.Sprintf("error %v, but json.Valid says %v", err, valid)
	}
	if err != nil {
		return ""
	}
	var difference string
	if err := plainUnmarshal(data, &theirs); err != nil {
		if len(r.Mismatches()) > 0 && r.Mismatches()[0].Pointer == "" {
			return ""
		}
		var patched T // the first one has parts of what did not fit
		if theirs = patched; plainUnmarshal(patch(data, r.Mismatches()), &theirs) != nil {
			return "" // ids and times of which the decoder accepts more forms
		}
	} else if difference = unfounded(r.Mismatches()); difference != "" {
		return difference
	}
	if difference = same(reflect.ValueOf(ours), reflect.ValueOf(theirs), data); difference != "" && ambiguous(data, names) {
		return ""
	}
	return difference
}

// unfounded describes a mismatch that encoding/json should have reported, too. encoding/json does
// not report rounded numbers and truncated times.
func unfounded(mismatches []jsonread.Mismatch) string {
	for _, m := range mismatches {
		if m.Want != "timestamp" && m.Want != "number" {
			return fmt.Sprintf("mismatch %v, which encoding/json does not find", m)
		}
	}
	return ""
}

// patch replaces values that do not fit with null.
func patch(data []byte, mismatches []jsonread.Mismatch) []byte {
	var out []byte
	r := jsonread.Reader{Foreign: unmarshalForeign}
	r.Reset(data)
	done := 0
	var walk func()
	walk = func() {
		at := r.Pointer()
		kind, start := r.Kind(), r.Offset()
		if slices.ContainsFunc(mismatches, func(m jsonread.Mismatch) bool { return m.Pointer == at }) {
			r.Skip()
			out = append(append(out, data[done:start]...), "null"...)
			done = r.Offset()
			return
		}
		switch kind {
		case "object":
			for r.Object(); r.Key(); {
				walk()
			}
		case "array":
			for r.Array(); r.More(); {
				walk()
			}
		default:
			r.Skip()
		}
	}
	walk()
	return append(out, data[done:]...)
}

// ambiguous reports whether an object has two keys that differ only in case, or a key that differs
// from the key of a field only in case.
func ambiguous(data []byte, fields map[string]string) bool {
	decoder := json.NewDecoder(bytes.NewReader(data))
	type frame struct {
		keys map[string]bool // nil in an array
		key  bool            // a key comes next
	}
	var stack []*frame
	for {
		token, err := decoder.Token()
		if err != nil {
			return err != io.EOF
		}
		var top *frame
		if len(stack) > 0 {
			top = stack[len(stack)-1]
		}
		if key, isText := token.(string); isText && top != nil && top.keys != nil && top.key {
			folded := fold(key)
			if name, known := fields[folded]; top.keys[folded] || known && name != key {
				return true
			}
			top.keys[folded], top.key = true, false
			continue
		}
		if top != nil {
			top.key = true
		}
		switch token {
		case json.Delim('{'):
			stack = append(stack, &frame{keys: map[string]bool{}, key: true})
		case json.Delim('['):
			stack = append(stack, &frame{})
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:len(stack)-1]
		}
	}
}

// fold returns the same text for keys that encoding/json treats as equal: the keys of fields are
// ASCII, and two other runes fold to ASCII letters.
func fold(key string) string {
	return strings.NewReplacer("\u017f", "s", "\u212a", "k").Replace(strings.ToLower(key))
}

// namesOf returns the json names of all fields of T and of nested types, by their folded form.
func namesOf[T any]() map[string]string {
	names := map[string]string{}
	fieldNames(reflect.TypeFor[T](), names, map[reflect.Type]bool{})
	return names
}

func fieldNames(t reflect.Type, names map[string]string, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		fieldNames(t.Elem(), names, seen)
	case reflect.Struct:
		for f := range t.Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
				names[fold(name)] = name
			}
			fieldNames(f.Type, names, seen)
		}
	}
}

// same describes where two values differ. text is the JSON from which both are decoded; Extra is
// compared with it.
func same(a, b reflect.Value, text []byte) string {
	switch {
	case a.Type() == reflect.TypeFor[time.Time]():
		x, y := a.Interface().(time.Time), b.Interface().(time.Time)
		_, offsetX := x.Zone()
		if _, offsetY := y.Zone(); !x.Equal(y) || offsetX != offsetY {
			return fmt.Sprintf("%v instead of %v", x, y)
		}
	case a.Type() == reflect.TypeFor[json.RawMessage]():
		if string(b.Bytes()) == "null" {
			b = reflect.Zero(b.Type()) // null is decoded as nil
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			return fmt.Sprintf("%s instead of %s", a.Bytes(), b.Bytes())
		}
	case a.Kind() == reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				return fmt.Sprintf("%v instead of %v", a, b)
			}
			return ""
		}
		return same(a.Elem(), b.Elem(), text)
	case a.Kind() == reflect.Slice && a.Type().Elem().Kind() != reflect.Uint8:
		return sameSlices(a, b, text)
	case strings.HasPrefix(a.Type().Name(), "Nullable["):
		if !reflect.DeepEqual(a.Interface(), b.Interface()) {
			return fmt.Sprintf("%v instead of %v", a, b)
		}
	case a.Kind() == reflect.Struct:
		return sameStructs(a, b, text)
	case !reflect.DeepEqual(a.Interface(), b.Interface()):
		return fmt.Sprintf("%#v instead of %#v", a, b)
	}
	return ""
}

func sameSlices(a, b reflect.Value, text []byte) string {
	if a.Len() != b.Len() || a.IsNil() != b.IsNil() && a.Type() == b.Type() && !isPage(a.Type()) {
		return fmt.Sprintf("%#v instead of %#v", a, b)
	}
	if a.Len() == 0 {
		return ""
	}
	var texts []json.RawMessage
	if err := json.Unmarshal(text, &texts); err != nil {
		return err.Error()
	}
	for i := range a.Len() {
		if difference := same(a.Index(i), b.Index(i), texts[i]); difference != "" {
			return fmt.Sprintf("/%d%s", i, difference)
		}
	}
	return ""
}

// isPage reports whether the type is a page, for which an empty array is decoded as nil.
func isPage(t reflect.Type) bool { return strings.HasPrefix(t.Name(), "page100") }

func sameStructs(a, b reflect.Value, text []byte) string {
	var texts map[string]json.RawMessage
	_ = json.Unmarshal(text, &texts) // a label or a date is not an object
	extra := a.FieldByName("Extra")
	for _, f := range reflect.VisibleFields(a.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "-" || !f.IsExported() {
			continue
		}
		if extra.IsValid() && extra.MapIndex(reflect.ValueOf(name)).IsValid() {
			continue // it did not fit: Extra, checked below, must have it unchanged
		}
		if difference := same(a.FieldByIndex(f.Index), b.FieldByIndex(f.Index), orNull(texts[name])); difference != "" {
			return "/" + f.Name + difference
		}
		delete(texts, name)
	}
	if !extra.IsValid() {
		return ""
	}
	if extra.Len() != len(texts) {
		return fmt.Sprintf("/Extra has %v, not %v", extra, texts)
	}
	for name, want := range texts {
		if got := extra.Interface().(map[string]json.RawMessage)[name]; !bytes.Equal(got, want) {
			return fmt.Sprintf("/Extra/%s is %q, not %q", name, got, want)
		}
	}
	return ""
}

func orNull(text json.RawMessage) []byte {
	if text == nil {
		return []byte("null")
	}
	return text
}
