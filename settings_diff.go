package forge

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// Diff returns the changes that a program made after the settings were read: in fields, slices,
// maps and Extra, and with Merge. If the settings were not read, it returns all nonzero values. If
// a value cannot be sent, [SettingsDiff.Err] and Apply return an error. If the server did not show
// the setting of a field without a pointer, setting this field to its zero value is not a change:
// use Merge for that.
//
// Copies of an ApplicationSettings share slices and maps; a change in one copy is a change in all.
func (s *ApplicationSettings) Diff() *SettingsDiff {
	read, now, edits, err := s.edits()
	d := &SettingsDiff{document: now, err: err}
	if err != nil {
		return d
	}
	d.compare(read, edits, edits, func(_ *setting, a, b json.RawMessage) bool { return jsonread.Equal(a, b) })
	for name, got := range read {
		if now[name] == nil {
			d.NotSent = append(d.NotSent, SettingDifference{Name: name, Got: got, Reason: SettingNotSettable})
		}
	}
	return d.sorted()
}

// Diff returns the settings in o as changes, for Apply and Verify.
func (o *UpdateSettingsOptions) Diff() *SettingsDiff {
	d := &SettingsDiff{}
	if o == nil {
		return d
	}
	given, err := membersOf(o)
	if err = firstError(err, settingValues(given).checkReplaced(false)); err != nil {
		d.err = nameOption(o, err)
		return d
	}
	for name, value := range given {
		named := settingNamed(name)
		s := named.current()
		change := SettingDifference{Name: s.name, Want: s.form(value, named)}
		if _, change.isExtra = o.Extra[name]; change.isExtra || name != s.name {
			change.sendAs = name
		}
		d.Changes = append(d.Changes, change)
	}
	return d.sorted()
}

// DiffSettings returns the changes that turn the settings of got into those of want. want may be
// read from another instance, or be a document that was changed after an earlier read. If both come
// from the same read, it returns the changes that a program made to want. A setting that only one
// of them has is not sent, unless a program set it in want, or the contract requires it together
// with a change. The id and the times are not compared.
func DiffSettings(got, want *ApplicationSettings) (*SettingsDiff, error) {
	if got != nil && want != nil && isSameText(got.read, want.read) {
		d := want.Diff()
		return d, d.err
	}
	_, there, err := got.values()
	if err != nil {
		return nil, err
	}
	_, wanted, edits, err := want.edits()
	if err != nil {
		return nil, err
	}
	d := &SettingsDiff{document: maps.Clone(wanted)}
	maps.Copy(d.document, there)
	wanted.join()
	maps.Copy(wanted, edits) // also an edit of an old name
	d.compare(there, wanted, edits, func(s *setting, a, b json.RawMessage) bool { return isIdentity(s.name) || s.isSame(a, b) })
	changes := settingValues{}
	for _, change := range d.Changes {
		changes[change.Name] = change.Want
	}
	companions, _ := changes.companions(d.document)
	d.NotSent = slices.DeleteFunc(d.NotSent, func(absent SettingDifference) bool { return companions[absent.Name] != nil })
	for name := range there {
		if wanted.of(settingNamed(name)) == nil && !isIdentity(name) {
			d.OnlyInGot = append(d.OnlyInGot, name)
		}
	}
	return d.sorted(), nil
}

// edits returns the values of the settings, and those that a program has changed.
func (s *ApplicationSettings) edits() (read, now, edits settingValues, err error) {
	if read, now, err = s.values(); err != nil {
		return nil, nil, nil, err
	}
	edits = settingValues{}
	for name, value := range now {
		if !jsonread.Equal(read[name], value) {
			edits[name] = value
		}
	}
	if err = edits.checkReplaced(true); err != nil {
		return nil, nil, nil, nameOption(s, err)
	}
	edits.join()
	return read, now, edits, nil
}

// compare adds the wanted settings that differ from those of the server.
func (d *SettingsDiff) compare(got, want, edits settingValues, isSame func(s *setting, a, b json.RawMessage) bool) {
	changes, differences := settingValues{}, []SettingDifference(nil)
	for name, value := range want {
		s := settingNamed(name)
		change := SettingDifference{Name: name, Got: got.of(s), Want: value}
		if isSame(s, change.Got, value) {
			continue
		}
		if change.Got != nil && got[name] == nil { // the server shows the old name only
			change.sendAs = s.other
		}
		switch {
		case change.Got == nil && edits[name] == nil:
			change.Reason = SettingAbsent
		case isIdentity(name), s.misfit(value) != "":
			change.Reason = SettingNotSettable
		default:
			changes[name] = value
		}
		differences = append(differences, change)
	}
	for _, change := range differences {
		if slices.ContainsFunc(settingNamed(change.Name).replacedBy, func(by string) bool { return changes[by] != nil }) {
			change.Reason = cmp.Or(change.Reason, SettingDeprecated)
		}
		if change.Reason == "" {
			d.Changes = append(d.Changes, change)
		} else {
			d.NotSent = append(d.NotSent, change)
		}
	}
}

func (d *SettingsDiff) sorted() *SettingsDiff {
	sortSettings(d.Changes)
	sortSettings(d.NotSent)
	slices.Sort(d.OnlyInGot)
	return d
}

func sortSettings(list []SettingDifference) {
	slices.SortFunc(list, func(a, b SettingDifference) int { return cmp.Compare(a.Name, b.Name) })
}
