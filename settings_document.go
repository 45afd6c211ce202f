package forge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// decodeOther keeps the object that new settings are decoded from, for Diff. The fields decode it.
// The text is never changed, so that copies can share it.
func (s *ApplicationSettings) decodeOther(r *jsonread.Reader) bool {
	if r.Kind() == "object" {
		text := r.View()
		s.read = bytes.Clone(text)
		s.base = s.read
		r.Back(text)
	}
	return false
}

// MarshalJSON writes the settings that were read, with the changes that a program made after that.
// A setting that was neither read nor set is omitted.
func (s ApplicationSettings) MarshalJSON() ([]byte, error) {
	_, now, err := s.values()
	if err != nil {
		return nil, err
	}
	return json.Marshal(now)
}

// values returns the settings that were read, and those of now, with what was merged and the edits
// of a program. It compares each field with its value in base, so that it also finds edits of
// slices and maps that copies share.
func (s *ApplicationSettings) values() (read, now settingValues, err error) {
	if s == nil {
		return nil, settingValues{}, nil
	}
	was := new(ApplicationSettings)
	read = jsonread.Members(s.read)
	if now = maps.Clone(read); !isSameText(s.read, s.base) {
		now = jsonread.Members(s.base)
	}
	if s.base != nil {
		err = decodeInto(s.base, was)
	}
	if err = firstError(err, checkExtra(s.Extra, was.Extra)); err != nil {
		return nil, nil, err
	}
	if name, err := writeEdits(now, reflect.ValueOf(s).Elem(), reflect.ValueOf(was).Elem(), false); err != nil {
		return nil, nil, &ValidationError{Option: "ApplicationSettings." + settingNamed(name).field, Param: name, Reason: "it cannot be encoded as JSON: " + err.Error()}
	}
	return read, now, nil
}

// isSameText reports whether two texts are in the same memory.
func isSameText(a, b []byte) bool { return len(a) > 0 && len(b) > 0 && &a[0] == &b[0] }

// checkExtra rejects what a program has put into Extra if it is not JSON, or has a field.
func checkExtra(extra, before settingValues) error {
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		switch value, field := extra[name], settingNamed(name).field; {
		case !json.Valid(value):
			return &ValidationError{Option: "ApplicationSettings", Param: name, Reason: "its value in the map Extra is not JSON"}
		case field != "" && !jsonread.Equal(before[name], value):
			return &ValidationError{Option: "ApplicationSettings", Param: name, Reason: "the map Extra holds it: set the field " + field}
		}
	}
	return nil
}

// Merge sets the settings in a JSON object, in GitLab's words, such as a file of wanted
// settings. Diff then returns those that differ from the settings that were read. Settings that the
// object omits, and the id and times, do not change. Zero, false and null are values like any
// other.
//
// Merge returns a [*ValidationError] and changes nothing if the object is not JSON, if a field
// cannot hold a value, or if neither this package nor the settings that were read have the name,
// which is probably misspelled. The error names the line.
func (s *ApplicationSettings) Merge(object []byte) error {
	_, now, err := s.values()
	if err != nil {
		return err
	}
	set, name, offset, reason := readMerged(object, now)
	if reason != "" {
		line := 1 + bytes.Count(object[:min(offset, len(object))], []byte("\n"))
		return &ValidationError{Option: "Merge", Param: name, Reason: fmt.Sprintf("line %d: %s", line, reason)}
	}
	next, base := *s, jsonread.Members(s.base)
	next.Extra = maps.Clone(s.Extra)
	for name := range set {
		delete(next.Extra, name) // a value that its field could not hold
	}
	if err := decodeInto(jsonread.Join(set), &next); err != nil {
		return err
	}
	maps.Copy(base, set)
	next.read, next.base = s.read, jsonread.Join(base)
	*s = next
	return nil
}

// readMerged returns the values of an object that differ from those of now, or the reason why one
// cannot be merged, with its name and place.
func readMerged(object []byte, now settingValues) (set settingValues, name string, offset int, reason string) {
	var r jsonread.Reader
	r.Reset(object)
	switch kind := r.Kind(); {
	case len(bytes.TrimSpace(object)) == 0:
		return nil, "", 0, "it is not JSON: the text is empty"
	case bytes.HasPrefix(object, []byte("\xef\xbb\xbf")):
		return nil, "", 0, "it is not JSON: the text begins with a byte order mark: remove these three bytes"
	case kind != "object" && kind != "":
		return nil, "", r.Offset(), "it must be a JSON object of settings, and it is a JSON " + kind
	}
	set = settingValues{}
	for open := r.Object(); open && r.Key(); {
		name = r.KeyText()
		r.Kind() // skips white space
		offset = r.Offset()
		value := bytes.Clone(r.View())
		if r.Err() != nil {
			break
		}
		if delete(set, name); isIdentity(name) || jsonread.Equal(now[name], value) {
			continue
		}
		if reason = refusedSetting(name, value, now[name] != nil); reason != "" {
			return nil, name, offset, reason
		}
		set[name] = value
	}
	var broken *jsonread.SyntaxError
	if errors.As(r.End(), &broken) {
		return nil, "", broken.Offset, "it is not JSON: " + broken.Reason
	}
	return set, "", 0, ""
}

// refusedSetting returns the reason why Merge cannot set a value; "" if it can.
func refusedSetting(name string, value json.RawMessage, isShown bool) string {
	s := settingNamed(name)
	switch misfit := s.misfit(value); {
	case !utf8.Valid(value):
		return "its value is not valid UTF-8"
	case s.field != "" || isShown:
		return misfit
	}
	if reason := GitLab.foreign(settingWord, name); reason != "" {
		return reason
	}
	return "neither the server's settings nor this package have it: check the spelling, or set it in the map Extra, which takes any name"
}
