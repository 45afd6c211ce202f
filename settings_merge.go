package forge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"unicode/utf8"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// Merge sets the settings in a JSON object, in the contract's words, such as a file of wanted
// settings. Diff then returns those that differ from the settings that were read. Settings that the
// object omits, and the id and times, do not change. Zero, false and null are values like any
// other.
//
// Merge returns a [*ValidationError] and changes nothing if the object is not JSON, if a field
// cannot hold a value, or if neither this package nor the settings that were read have the name,
// which is probably misspelled. The error names the line.
func (s *ApplicationSettings) Merge(object []byte) error {
	next := *s
	next.Extra = maps.Clone(s.Extra)
	merged := map[string]json.RawMessage{}
	if s.merged != nil {
		merged = maps.Clone(s.merged.byName())
	}
	_, now, err := s.members()
	if err != nil {
		return err
	}
	m := merge{settings: &next, now: now, merged: merged}
	if err := m.object(object); err != nil {
		return err
	}
	next.merged = &settingsObject{split: m.merged}
	*s = next
	return nil
}

// merge is the state of one call of Merge.
type merge struct {
	settings    *ApplicationSettings
	now, merged map[string]json.RawMessage
}

func (m merge) object(object []byte) error {
	var r jsonread.Reader
	r.Reset(object)
	switch {
	case len(bytes.TrimSpace(object)) == 0:
		return refusedMerge("", object, 0, "it is not JSON: the text is empty")
	case bytes.HasPrefix(object, []byte("\xef\xbb\xbf")):
		return refusedMerge("", object, 0, "it is not JSON: the text begins with a byte order mark: remove these three bytes")
	}
	if kind := r.Kind(); kind != "object" && kind != "" {
		return refusedMerge("", object, r.Offset(), "it must be a JSON object of settings, and it is a JSON "+kind)
	}
	for open := r.Object(); open && r.Key(); {
		name := string(r.CurrentKey())
		r.Kind()
		offset := r.Offset()
		value := bytes.Clone(r.View())
		if r.Err() != nil {
			break
		}
		if reason := m.set(name, value); reason != "" {
			return refusedMerge(name, object, offset, reason)
		}
	}
	var broken *jsonread.SyntaxError
	if err := r.End(); errors.As(err, &broken) {
		return refusedMerge("", object, broken.Offset, "it is not JSON: "+broken.Reason)
	} else if err != nil {
		return refusedMerge("", object, r.Offset(), err.Error())
	}
	return nil
}

// set sets one setting, or returns the reason why it cannot.
func (m merge) set(name string, value json.RawMessage) (reason string) {
	_, shown := m.now[name]
	_, named := settingField(name)
	misfit := misfitOf(name, value)
	switch {
	case !utf8.Valid(value):
		return "its value is not valid UTF-8"
	case isIdentity(name), shown && equalJSON(m.now[name], value):
		return ""
	case named && misfit != nil:
		return fmt.Sprintf("its type is %s, and the value is a JSON %s", misfit.Want, misfit.Got)
	case !named && !shown:
		return unknownSetting(name)
	case named:
		one, err := settingsFrom(map[string]json.RawMessage{name: value})
		if err != nil {
			return err.Error()
		}
		to, _ := fieldForKey(reflect.ValueOf(m.settings).Elem(), name)
		from, _ := fieldForKey(reflect.ValueOf(one).Elem(), name)
		to.Set(from)
		delete(m.settings.Extra, name)
	default:
		m.settings.Extra[name] = value
	}
	m.merged[name] = value
	return ""
}

func unknownSetting(name string) string {
	if neutral, known := GitLab.NeutralName(settingWord, name); known && neutral != name {
		return "the contract calls it " + neutral
	}
	return "neither the server's settings nor this package have it: check the spelling, or set it in the map Extra, which takes any name"
}

// refusedMerge returns an error that names the line of the setting.
func refusedMerge(name string, object []byte, offset int, reason string) error {
	line := 1 + bytes.Count(object[:min(offset, len(object))], []byte("\n"))
	return &ValidationError{Option: "Merge", Param: name, Reason: fmt.Sprintf("line %d: %s", line, reason)}
}
