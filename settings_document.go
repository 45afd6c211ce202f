package forge

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// SettingDifference is a setting that two sides see differently. The values may be secrets: keys and tokens are settings, too.
type SettingDifference struct {
	// Name is the setting, in the contract's words.
	Name string
	// Have is the value that is there; nil when the setting is not shown at all.
	Have json.RawMessage
	// Want is the value that should be there.
	Want json.RawMessage
}

// String gives the name alone, since the values may be secrets.
func (d SettingDifference) String() string { return d.Name }

// GoString is String, for %#v.
func (d SettingDifference) GoString() string { return d.Name }

// SettingsDiff is how one settings document becomes like another.
type SettingsDiff struct {
	// Update is the smallest update that does it, with the companions that enabling a setting needs. Settings that the package has no
	// name for are in its Extra.
	Update *UpdateSettingsOptions
	// Unsettable lists what differs and is no documented parameter of the update, or has a value in after that the field
	// of [ApplicationSettings] cannot take, sorted by name. Many servers take these all the same: put the values into
	// Update.Extra, under the server's own names, and Apply tells.
	Unsettable []SettingDifference
}

// DiffSettings compares two settings documents: as read before and changed after, or those of two instances. Id and times do not
// count, nor do members of Extra that only before has. A value in Extra that its field could not take counts until a program
// sets the field. It fails when one of them has a value that is not JSON, or one in Extra that its field could take.
func DiffSettings(before, after *ApplicationSettings) (*SettingsDiff, error) {
	have, _, err := documentOf(before)
	if err != nil {
		return nil, err
	}
	want, misfits, err := documentOf(after)
	if err != nil {
		return nil, err
	}
	changes := map[string]json.RawMessage{}
	for name, value := range want {
		if !sameSetting(have[name], value) && name != "id" && name != "created_at" && name != "updated_at" {
			changes[name] = value
		}
	}
	for _, rule := range replacedSettings() {
		if changes[rule.by] != nil {
			delete(changes, rule.old)
		}
	}
	for _, rule := range companionSettings() {
		for _, need := range rule.needs {
			if string(changes[rule.setting]) == "true" && want[need] != nil {
				changes[need] = want[need]
			}
		}
	}
	diff := &SettingsDiff{Update: &UpdateSettingsOptions{}}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		change := SettingDifference{Name: name, Have: have[name], Want: changes[name]}
		if misfits[name] == nil {
			diff.add(change)
			continue
		}
		diff.Unsettable = append(diff.Unsettable, change)
	}
	return diff, nil
}

// add puts a change where it can be sent from.
func (d *SettingsDiff) add(change SettingDifference) {
	parameter, settable := fieldForKey(reflect.ValueOf(d.Update).Elem(), change.Name)
	_, documented := fieldForKey(reflect.ValueOf(ApplicationSettings{}), change.Name)
	switch {
	case settable && setJSON(parameter, change.Want):
	case !settable && documented:
		d.Unsettable = append(d.Unsettable, change)
	default:
		if d.Update.Extra == nil {
			d.Update.Extra = map[string]any{}
		}
		d.Update.Extra[change.Name] = change.Want
	}
}

// setJSON sets a parameter's field to a value of a settings document, and reports whether the field can hold it. Strings that may be
// null are read as "", lists and hashes that are empty as nil: what clears them is another value.
func setJSON(field reflect.Value, value json.RawMessage) bool {
	_, nullable := field.Addr().Interface().(*Nullable[string])
	switch text := string(value); {
	case nullable && text == `""`:
		value = json.RawMessage("null")
	case !nullable && text == "null" && field.Kind() == reflect.Slice:
		value = json.RawMessage("[]")
	case !nullable && text == "null" && field.Kind() == reflect.Map:
		value = json.RawMessage("{}")
	}
	err := json.Unmarshal(value, field.Addr().Interface())
	if err != nil {
		field.SetZero()
	}
	return err == nil && !field.IsZero()
}

// SettingsReport tells what became of an update.
type SettingsReport struct {
	// Settings are the settings as they read now.
	Settings *ApplicationSettings
	// NotTaken lists the settings that read otherwise than they were sent, sorted by name. Have is nil when the server does not show the
	// setting: it does not know the name or has not the tier, or keeps the value secret.
	NotTaken []SettingDifference
}

// Apply updates the settings, reads them back and reports what did not take: a server ignores names that it does not know, without
// an error. Servers keep settings for 60 seconds by default, so that a change may show late; Apply does not wait, and Verify looks
// again. An update of nothing is not sent. An error of the reading names GET: the update has been made then. Document 3 §4.1.
func (s *SettingsService) Apply(ctx context.Context, o *UpdateSettingsOptions, opts ...RequestOption) (*SettingsReport, error) {
	if members, err := membersOf(orZero(o)); err != nil || len(members) > 0 {
		if _, err := s.Update(ctx, o, opts...); err != nil {
			return nil, err
		}
	}
	return s.Verify(ctx, o, opts...)
}

// Verify reads the settings and reports which of the update's are not in force. It changes nothing. Document 3 §4.1.
func (s *SettingsService) Verify(ctx context.Context, o *UpdateSettingsOptions, opts ...RequestOption) (*SettingsReport, error) {
	r := s.get("/application/settings").in(s.words())
	r.foreign = foreign
	answer, err := do[map[string]json.RawMessage](ctx, r, opts)
	if err != nil {
		return nil, err
	}
	return s.report(*answer, o)
}

// report compares an answer with what was sent. A name that was given by hand may be the product's own.
func (s *SettingsService) report(have map[string]json.RawMessage, o *UpdateSettingsOptions) (*SettingsReport, error) {
	sent, err := membersOf(orZero(o))
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(have)
	if err != nil {
		return nil, err
	}
	report := &SettingsReport{Settings: &ApplicationSettings{}}
	if err := decodeInto(text, report.Settings); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		neutral := name
		if known, is := s.owner().config.neutral(settingWord, name); is {
			neutral = known
		}
		if value := have[neutral]; !sameSetting(value, sent[name]) {
			report.NotTaken = append(report.NotTaken, SettingDifference{Name: neutral, Have: value, Want: sent[name]})
		}
	}
	return report, nil
}

// membersOf writes a settings value as JSON members, with what is in its Extra and no field names.
func membersOf(settings any) (map[string]json.RawMessage, error) {
	data, err := json.Marshal(settings)
	if err == nil {
		data, err = withExtra(settings, data)
	}
	members := map[string]json.RawMessage{}
	if err == nil {
		err = json.Unmarshal(data, &members)
	}
	if err != nil {
		return nil, &ValidationError{Option: optionsName(settings), Reason: "it cannot be written as JSON: " + err.Error()}
	}
	return members, nil
}

// documentOf writes a settings document as JSON members. misfits are those of its values that a field could not take.
func documentOf(s *ApplicationSettings) (members, misfits map[string]json.RawMessage, err error) {
	if s == nil {
		s = &ApplicationSettings{}
	}
	if members, err = membersOf(s); err != nil {
		return nil, nil, err
	}
	if misfits, err = misfitsOf(s, s.Extra); err != nil {
		return nil, nil, err
	}
	maps.Copy(members, misfits)
	return members, misfits, nil
}

// extra gives the members that no field names, to be written again.
func (s *ApplicationSettings) extra() map[string]any {
	all := make(map[string]any, len(s.Extra))
	for name, value := range s.Extra {
		if _, documented := fieldForKey(reflect.ValueOf(*s), name); !documented {
			all[name] = value
		}
	}
	return all
}

// misfitsOf returns the values of a response's Extra that are under the name of a field, which could not take them and has
// not been set since.
func misfitsOf[T any](response *T, extra map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	misfits := map[string]json.RawMessage{}
	for name, value := range extra {
		field, named := fieldForKey(reflect.ValueOf(response).Elem(), name)
		if !named {
			continue
		}
		member, err := json.Marshal(map[string]json.RawMessage{name: value})
		if err != nil {
			return nil, &ValidationError{Option: optionsName(response), Param: name, Reason: "it cannot be written as JSON: " + err.Error()}
		}
		var again T
		if err := decodeInto(member, &again); err != nil {
			return nil, err
		}
		read, _ := fieldForKey(reflect.ValueOf(again), name)
		if reflect.ValueOf(again).FieldByName("Extra").Len() == 0 {
			return nil, &ValidationError{Option: optionsName(response), Param: name, Reason: "the map Extra holds it, and its field could: set the field"}
		}
		if reflect.DeepEqual(field.Interface(), read.Interface()) {
			misfits[name] = value
		}
	}
	return misfits, nil
}

// fieldForKey returns the field of a struct that a JSON key is for.
func fieldForKey(v reflect.Value, key string) (field reflect.Value, found bool) {
	for f := range v.Type().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == key && name != "-" {
			return v.FieldByIndex(f.Index), true
		}
	}
	return reflect.Value{}, false
}

// sameSetting compares two values of a setting. A server writes what is empty in several ways; nil, for a setting that is not there, is
// like nothing else.
func sameSetting(a, b json.RawMessage) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	var left, right any
	if json.Unmarshal(a, &left) != nil || json.Unmarshal(b, &right) != nil {
		return false
	}
	return isEmptySetting(left) && isEmptySetting(right) || reflect.DeepEqual(left, right)
}

func isEmptySetting(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}
