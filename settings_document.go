package forge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

const usualSetting = 48 // bytes of a setting, with its name

// settingsObject is a settings object, in the contract's words. It is immutable, so copies of a
// value share it. A response is stored as text: most programs that read settings never compare
// them, and splitting the text takes as long as decoding it.
type settingsObject struct {
	text  []byte // the object, if split is nil
	split map[string]json.RawMessage
}

// byName returns the values by name.
func (o *settingsObject) byName() map[string]json.RawMessage {
	if o.split != nil {
		return o.split
	}
	return readMembers(o.text)
}

// decodeOther stores the object that the settings are decoded from. The fields decode it.
func (s *ApplicationSettings) decodeOther(r *jsonread.Reader) bool {
	if r.Kind() == "object" && !s.fieldsOnly {
		text := r.View()
		s.read, s.merged = &settingsObject{text: bytes.Clone(text)}, nil
		r.Back(text)
	}
	return false
}

// readMembers copies the values of an object. Of two values of one name,
// the last one counts. For a value that is not an object, the map is empty.
func readMembers(text []byte) map[string]json.RawMessage {
	var r jsonread.Reader
	r.Reset(text)
	members := make(map[string]json.RawMessage, min(len(text)/usualSetting, 512)) // a text may be one long value
	for open := r.Object(); open && r.Key(); {
		name := r.KeyText()
		var value json.RawMessage
		jsonread.Verbatim(&value, &r)
		members[name] = value
	}
	return members
}

// UnmarshalJSON replaces the whole value with a settings object in the contract's words. Diff then
// compares with it.
func (s *ApplicationSettings) UnmarshalJSON(data []byte) error {
	var r jsonread.Reader
	r.Reset(data)
	var settings ApplicationSettings
	kind := r.Kind()
	if err := decodeValue(&r, &settings); err != nil {
		return err
	}
	if kind == "null" {
		return nil
	}
	if settings.read == nil {
		return fmt.Errorf("forge: ApplicationSettings cannot be a JSON %s", kind)
	}
	*s = settings
	return nil
}

// MarshalJSON writes the settings that were read, with the changes that a program made after that.
// A setting that was neither read nor set is omitted.
func (s ApplicationSettings) MarshalJSON() ([]byte, error) {
	_, now, err := s.members()
	if err != nil {
		return nil, err
	}
	return json.Marshal(now)
}

// baseline returns the settings that the server showed; nil for settings that were not read.
func (s *ApplicationSettings) baseline() map[string]json.RawMessage {
	if s == nil || s.read == nil {
		return nil
	}
	return s.read.byName()
}

// members returns the settings that were read and the current ones, by name. It compares each field
// with the decoded baseline, so that it also finds edits of slices and maps that copies share.
func (s *ApplicationSettings) members() (read, now map[string]json.RawMessage, err error) {
	read = s.baseline()
	if now = maps.Clone(read); now == nil {
		now = map[string]json.RawMessage{}
	}
	if s == nil {
		return read, now, nil
	}
	if s.merged != nil {
		maps.Copy(now, s.merged.byName())
	}
	was, err := s.fieldsBefore(now)
	if err != nil {
		return nil, nil, err
	}
	if err := s.editedExtra(was, now); err != nil {
		return nil, nil, err
	}
	return read, now, s.editedFields(was, now)
}

// fieldsBefore decodes the settings as they were read and merged, before any edit of a field.
func (s *ApplicationSettings) fieldsBefore(members map[string]json.RawMessage) (*ApplicationSettings, error) {
	if s.read == nil || s.merged != nil {
		return settingsFrom(members)
	}
	was := &ApplicationSettings{fieldsOnly: true}
	var r jsonread.Reader
	r.Reset(s.read.text)
	_, err := decodeItem(&r, was)
	return was, errors.Join(err, r.Err())
}

// settingsFrom decodes a settings object.
func settingsFrom(members map[string]json.RawMessage) (*ApplicationSettings, error) {
	text := append(make([]byte, 0, len(members)*usualSetting), '{')
	for name, value := range members {
		var err error
		if text, err = appendKey(text, name); err != nil {
			return nil, err
		}
		text = append(append(text, value...), ',') // unchanged: json.Marshal would compact it
	}
	s := &ApplicationSettings{fieldsOnly: true}
	return s, decodeInto(append(bytes.TrimSuffix(text, []byte{','}), '}'), s)
}

// editedFields writes the fields that a program has changed.
func (s *ApplicationSettings) editedFields(was *ApplicationSettings, now map[string]json.RawMessage) error {
	value, before := reflect.ValueOf(s).Elem(), reflect.ValueOf(was).Elem()
	for _, name := range settingNames() {
		f, _ := settingStructField(name)
		if sameField(value.FieldByIndex(f.Index), before.FieldByIndex(f.Index)) {
			continue
		}
		text, err := encodeEdited(value.FieldByIndex(f.Index), before.FieldByIndex(f.Index), now[name])
		if err != nil {
			return &ValidationError{Option: "ApplicationSettings." + f.Name, Param: name, Reason: "it cannot be encoded as JSON: " + err.Error()}
		}
		now[name] = text
	}
	return nil
}

// sameField is reflect.DeepEqual for two fields of one type, without an allocation for basic types.
func sameField(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.String:
		return a.Equal(b)
	case reflect.Pointer:
		if !a.IsNil() && !b.IsNil() {
			return sameField(a.Elem(), b.Elem())
		}
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// editedExtra writes the keys of Extra that a program has changed, and deletes those that it has
// removed.
func (s *ApplicationSettings) editedExtra(was *ApplicationSettings, now map[string]json.RawMessage) error {
	for name := range was.Extra {
		if _, kept := s.Extra[name]; !kept {
			delete(now, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Extra)) {
		value := s.Extra[name]
		if old, known := was.Extra[name]; known && equalJSON(old, value) {
			continue
		}
		if err := checkExtraSetting(name, value); err != nil {
			return err
		}
		now[name] = value
	}
	return nil
}

// checkExtraSetting rejects a value that a program has put into Extra and that no server could
// read, or that has a field.
func checkExtraSetting(name string, value json.RawMessage) error {
	reason := ""
	field, named := settingField(name)
	switch misfit := misfitOf(name, value); {
	case !json.Valid(value):
		reason = "its value in the map Extra is not JSON"
	case named && misfit == nil:
		reason = "the map Extra holds it, although its field can: set the field " + field
	case named:
		reason = fmt.Sprintf("its value in the map Extra is a JSON %s, but its type is %s: set the field %s", misfit.Got, misfit.Want, field)
	}
	if reason == "" {
		return nil
	}
	return &ValidationError{Option: "ApplicationSettings", Param: name, Reason: reason}
}

// settingIndex holds the fields of the settings, in their order and by name. It is built once, and
// not as the value of a variable, which every program would link.
var settingIndex struct {
	once   sync.Once
	names  []string
	byName map[string]reflect.StructField
}

func buildSettingIndex() {
	settingIndex.byName = map[string]reflect.StructField{}
	for f := range reflect.TypeFor[ApplicationSettings]().Fields() {
		if name := jsonName(f); name != "" {
			settingIndex.names = append(settingIndex.names, name)
			settingIndex.byName[name] = f
		}
	}
}

// settingNames returns the names of the settings that have a field.
func settingNames() []string {
	settingIndex.once.Do(buildSettingIndex)
	return settingIndex.names
}

func settingStructField(name string) (field reflect.StructField, known bool) {
	settingIndex.once.Do(buildSettingIndex)
	field, known = settingIndex.byName[name]
	return field, known
}

// settingField returns the name of the field of a setting.
func settingField(name string) (field string, known bool) {
	f, known := settingStructField(name)
	return f.Name, known
}

// misfitOf returns the reason why a setting's field cannot hold a value; nil if it can, or if the
// setting has no field. A number in a string is accepted in responses, but never sent.
func misfitOf(name string, value json.RawMessage) *jsonread.Mismatch {
	if f, named := settingStructField(name); named && strings.HasPrefix(string(value), `"`) {
		if kind, isNumber := numberKind(f.Type); isNumber {
			return &jsonread.Mismatch{Want: kind, Got: "string"}
		}
	}
	text, err := json.Marshal(map[string]json.RawMessage{name: value})
	if _, named := settingField(name); !named || err != nil {
		return nil
	}
	var r jsonread.Reader
	r.Reset(text)
	if err := decodeValue(&r, new(ApplicationSettings)); err != nil || len(r.Mismatches()) == 0 {
		return nil
	}
	return &r.Mismatches()[0]
}

// numberKind names the JSON type of integers and numbers.
func numberKind(t reflect.Type) (kind string, isNumber bool) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[Nullable[int]]() {
		return "integer", true
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		return "integer", true
	case reflect.Float64:
		return "number", true
	}
	return "", false
}

// encodeEdited encodes a value that a program may have changed. In objects, parts that the program
// did not change stay as read.
func encodeEdited(now, was reflect.Value, read json.RawMessage) (json.RawMessage, error) {
	switch t := now.Type(); {
	case t == reflect.TypeFor[json.RawMessage]():
	case t == reflect.TypeFor[time.Time]():
		return json.Marshal(writable(now.Interface().(time.Time)))
	case now.Kind() == reflect.Slice && now.IsNil():
		return json.RawMessage("[]"), nil
	case now.Kind() == reflect.Map && now.IsNil():
		return json.RawMessage("{}"), nil
	case isResponseStruct(t):
		return encodeEditedObject(now, was, read)
	case now.Kind() == reflect.Slice && isResponseStruct(t.Elem()):
		return encodeEditedSlice(now, was, read)
	}
	return json.Marshal(now.Interface())
}

func isResponseStruct(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	extra, has := t.FieldByName("Extra")
	return has && extra.Type == reflect.TypeFor[map[string]json.RawMessage]()
}

// encodeEditedObject encodes an object inside the settings: its keys as read, with the changed
// values. If the object was not read, it writes all but nil slices, maps and pointers, which were
// not set.
func encodeEditedObject(now, was reflect.Value, read json.RawMessage) (json.RawMessage, error) {
	members := readMembers(read)
	extra, shown := now.FieldByName("Extra").Interface().(map[string]json.RawMessage), was.FieldByName("Extra").Interface().(map[string]json.RawMessage)
	for name := range shown {
		if _, kept := extra[name]; !kept {
			delete(members, name)
		}
	}
	maps.Copy(members, extra)
	for f := range now.Type().Fields() { // after Extra, which holds the former value of a field that could not take it
		field, before := now.FieldByIndex(f.Index), was.FieldByIndex(f.Index)
		name := jsonName(f)
		untouched := reflect.DeepEqual(field.Interface(), before.Interface())
		if name == "" || untouched && (read != nil || isNilValue(field)) {
			continue
		}
		text, err := encodeEdited(field, before, members[name])
		if err != nil {
			return nil, err
		}
		members[name] = text
	}
	return json.Marshal(members)
}

func isNilValue(v reflect.Value) bool {
	return (v.Kind() == reflect.Slice || v.Kind() == reflect.Map || v.Kind() == reflect.Pointer) && v.IsNil()
}

// encodeEditedSlice encodes a list of objects, each compared with the object at the same index.
func encodeEditedSlice(now, was reflect.Value, read json.RawMessage) (json.RawMessage, error) {
	var items []json.RawMessage
	if json.Unmarshal(read, &items) != nil || len(items) != was.Len() {
		items = nil // elements of another type were omitted, so indexes do not correspond
	}
	out := make([]json.RawMessage, now.Len())
	for i := range out {
		before, item := reflect.Zero(now.Type().Elem()), json.RawMessage(nil)
		if i < len(items) {
			before, item = was.Index(i), items[i]
		}
		var err error
		if out[i], err = encodeEditedObject(now.Index(i), before, item); err != nil {
			return nil, err
		}
	}
	return json.Marshal(out)
}
