package forge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
)

// SettingReason is the reason why a setting does not have the wanted value.
type SettingReason string

const (
	// SettingNotApplied is a setting that the server shows with another value. Servers cache settings,
	// by default for 60 seconds, so a later Verify may find it in force.
	SettingNotApplied SettingReason = "not applied"
	// SettingNotShown is a setting that the server does not show: it ignored the name, or hides the
	// value. Whether it is in force is unknown.
	SettingNotShown SettingReason = "not shown"
	// SettingTier is a setting of Premium and Ultimate that the server does not show: it ignored the
	// setting.
	SettingTier SettingReason = "of another tier"
	// SettingSecret is a key, token, secret or password that the server does not show. Whether it is
	// in force is unknown.
	SettingSecret SettingReason = "secret"
	// SettingDeprecated is a deprecated setting that was not sent because its replacement was.
	SettingDeprecated SettingReason = "deprecated"
	// SettingNotSettable is a setting that no update can set: the id and the times, a setting with a
	// value of the wrong type, or a name that was removed from Extra. It is also a setting that the
	// contract documents in responses only and that the server ignored.
	SettingNotSettable SettingReason = "not settable"
	// SettingAbsent is a setting that the other document lacks. It is not sent, because it belongs to
	// another tier or release.
	SettingAbsent SettingReason = "absent"
)

// SettingDifference is a setting whose current and wanted values differ. The values may be secrets:
// keys and tokens are settings too.
type SettingDifference struct {
	// Name is the name of the setting, in the contract's words. If the setting has two names, it is
	// the one that is not deprecated.
	Name string
	// Got is the current value; nil if the server does not show the setting.
	Got json.RawMessage
	// Want is the wanted value; nil for a name that was removed.
	Want json.RawMessage
	// Reason states why the setting does not have the wanted value: one of the SettingReason
	// constants, such as SettingNotApplied; empty for a change that is still to be sent.
	Reason SettingReason

	byHand string // name in the options' Extra, which is sent unchanged
	sendAs string // deprecated name, if the server shows only that
}

// Secret reports whether the setting is a key, a token, a secret or a password, by its name.
func (d SettingDifference) Secret() bool { return isSecretSetting(d.Name) }

// String returns the name without the values, which may be secrets.
func (d SettingDifference) String() string { return d.Name }

// Format writes the name, for all verbs.
func (d SettingDifference) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, d.Name) }

// LogValue returns the name.
func (d SettingDifference) LogValue() slog.Value { return slog.StringValue(d.Name) }

// MarshalJSON writes an object with name, got, want and reason. Secrets are written as "(secret)".
func (d SettingDifference) MarshalJSON() ([]byte, error) {
	got, want := d.Got, d.Want
	if d.Secret() {
		got, want = maskSetting(got), maskSetting(want)
	}
	return json.Marshal(struct {
		Name   string          `json:"name"`
		Got    json.RawMessage `json:"got,omitempty"`
		Want   json.RawMessage `json:"want,omitempty"`
		Reason SettingReason   `json:"reason,omitempty"`
	}{d.Name, got, want, d.Reason})
}

func maskSetting(value json.RawMessage) json.RawMessage {
	if parsed, ok := parseJSON(value); value == nil || ok && isEmpty(parsed) {
		return value
	}
	return json.RawMessage(`"(secret)"`)
}

// SettingsDiff is a list of changes that produce the wanted settings. Apply sends it.
type SettingsDiff struct {
	// Changes are the changes that Apply sends, sorted by name. A caller can delete entries. Settings
	// that the contract requires together with an enabled setting are not listed; Apply adds them.
	Changes []SettingDifference
	// NotSent are the other differences, sorted by name, with the Reason why they are not sent. Apply
	// and Verify report them too.
	NotSent []SettingDifference
	// OnlyInGot are the names of the current settings that the wanted settings lack, sorted. They do
	// not change.
	OnlyInGot []string

	document map[string]json.RawMessage // the wanted settings, for companions
	err      error
}

// Format writes the names of the settings. The values may be secrets.
func (d SettingsDiff) Format(f fmt.State, _ rune) { writeNames(f, d) }

// LogValue returns the names of the settings. The values may be secrets.
func (d SettingsDiff) LogValue() slog.Value { return slog.StringValue(setFields(d)) }

// Err returns an error if the changes cannot be sent: a value is not JSON, a value in Extra has the
// wrong type, or a deprecated setting and its replacement have different values. Apply and Verify
// return the same error before they send anything.
func (d *SettingsDiff) Err() error {
	if d == nil {
		return nil
	}
	return d.err
}

// Diff returns the changes that a program made after the settings were read: in fields, slices,
// maps and Extra, and with Merge. If the settings were not read, it returns all nonzero values. If
// a value cannot be sent, [SettingsDiff.Err] and Apply return an error. If the server did not show
// the setting of a field without a pointer, setting this field to its zero value is not a change:
// use Merge for that.
//
// Copies of an ApplicationSettings share slices and maps; a change in one copy is a change in all.
func (s *ApplicationSettings) Diff() *SettingsDiff {
	read, now, err := s.members()
	d := &SettingsDiff{document: now, err: err}
	if err != nil {
		return d
	}
	edits := editsOf(read, now)
	if d.err = checkEdits(edits); d.err != nil {
		return d
	}
	moveAliases(edits)
	for _, name := range slices.Sorted(maps.Keys(edits)) {
		switch change := newDifference(name, read, edits); {
		case change.Got != nil && equalJSON(change.Got, change.Want): // an alias
		case isIdentity(name):
			d.notSent(change, SettingNotSettable)
		case replacedIn(edits, name):
			d.notSent(change, SettingDeprecated)
		default:
			d.Changes = append(d.Changes, change)
		}
	}
	for name, got := range read {
		if now[name] == nil {
			d.notSent(SettingDifference{Name: name, Got: got}, SettingNotSettable)
		}
	}
	d.sort()
	return d
}

// Diff returns the settings in o as changes, for Apply and Verify.
func (o *UpdateSettingsOptions) Diff() *SettingsDiff {
	d := &SettingsDiff{}
	if o == nil {
		return d
	}
	given, err := membersOf(o)
	if d.err = firstError(err, checkDeprecated(given)); d.err != nil {
		d.err = nameOption(o, d.err)
		return d
	}
	for name, value := range given {
		change := SettingDifference{Name: name, Want: value}
		for _, alias := range settingAliases() {
			if alias.name == name {
				change = SettingDifference{Name: alias.use, Want: alias.forward(value), sendAs: name}
			}
		}
		if _, byHand := o.Extra[name]; byHand {
			change.byHand = name
		}
		d.Changes = append(d.Changes, change)
	}
	d.sort()
	return d
}

// DiffSettings returns the changes that turn the settings of got into those of want. want may be
// read from another instance, or be a document that was changed after an earlier read. If both come
// from the same read, it returns the changes that a program made to want. A setting that only one
// of them has is not sent, unless a program set it in want, or the contract requires it together
// with a change. The id and the times are not compared.
func DiffSettings(got, want *ApplicationSettings) (*SettingsDiff, error) {
	if want != nil && got != nil && want.read != nil && want.read == got.read {
		d := want.Diff()
		return d, d.err
	}
	_, there, err := got.members()
	if err != nil {
		return nil, err
	}
	read, wanted, err := want.members()
	if err != nil {
		return nil, err
	}
	edits := editsOf(read, wanted)
	if err := checkEdits(edits); err != nil {
		return nil, err
	}
	d := &SettingsDiff{document: maps.Clone(wanted)}
	maps.Copy(d.document, there)
	preferEdits(wanted, edits)
	moveAliases(wanted)
	moveAliases(edits)
	d.compare(there, wanted, edits)
	return d, nil
}

// compare lists the differences between the current and the wanted settings.
func (d *SettingsDiff) compare(there, wanted, edits map[string]json.RawMessage) {
	changed := map[string]json.RawMessage{}
	for name, value := range wanted {
		switch change := newDifference(name, there, wanted); {
		case isIdentity(name), change.Got != nil && sameSetting(name, change.Got, value):
		case change.Got == nil && edits[name] == nil:
			d.notSent(change, SettingAbsent)
		case misfitOf(name, value) != nil:
			d.notSent(change, SettingNotSettable)
		default:
			changed[name] = value
		}
	}
	for name := range changed {
		if change := newDifference(name, there, wanted); replacedIn(changed, name) {
			d.notSent(change, SettingDeprecated)
		} else {
			d.Changes = append(d.Changes, change)
		}
	}
	companions := (&settingsUpdate{changes: d.Changes, document: d.document}).required()
	d.NotSent = slices.DeleteFunc(d.NotSent, func(missing SettingDifference) bool {
		return slices.ContainsFunc(companions, func(c SettingDifference) bool { return c.Name == missing.Name })
	})
	for name := range there {
		if shownSetting(wanted, name) == nil && !isIdentity(name) {
			d.OnlyInGot = append(d.OnlyInGot, name)
		}
	}
	d.sort()
}

func (d *SettingsDiff) notSent(change SettingDifference, reason SettingReason) {
	change.Reason = reason
	d.NotSent = append(d.NotSent, change)
}

func (d *SettingsDiff) sort() {
	sortSettings(d.Changes)
	sortSettings(d.NotSent)
	slices.Sort(d.OnlyInGot)
}

// editsOf returns the values that differ from those that were read.
func editsOf(read, now map[string]json.RawMessage) map[string]json.RawMessage {
	edits := map[string]json.RawMessage{}
	for name, value := range now {
		if old := read[name]; old == nil || !bytes.Equal(old, value) && !equalJSON(old, value) {
			edits[name] = value
		}
	}
	return edits
}

// checkEdits rejects a deprecated setting and its replacement with different values, and a text
// that is not a boolean.
func checkEdits(edits map[string]json.RawMessage) error {
	err := checkReplaced(edits)
	for _, alias := range settingAliases() {
		if value := edits[alias.name]; alias.text && value != nil && !isValue(value, "null") && misfitOf(alias.use, alias.forward(value)) != nil {
			err = firstError(err, &ValidationError{Param: alias.name, Reason: `it must be "true" or "false"`})
		}
	}
	if err != nil {
		return nameOption(&settingsUpdate{}, err)
	}
	return nil
}

// preferEdits sets the wanted value of both names of a setting if a program has set one of them.
func preferEdits(wanted, edits map[string]json.RawMessage) {
	for _, alias := range settingAliases() {
		if edits[alias.name] != nil && edits[alias.use] == nil {
			wanted[alias.use] = alias.forward(edits[alias.name])
		}
	}
}

// moveAliases moves the values of deprecated names to the new names.
func moveAliases(settings map[string]json.RawMessage) {
	for _, alias := range settingAliases() {
		old, given := settings[alias.name]
		if !given {
			continue
		}
		delete(settings, alias.name)
		if settings[alias.use] == nil {
			settings[alias.use] = alias.forward(old)
		}
	}
}

// newDifference compares a setting, under any of its names.
func newDifference(name string, there, wanted map[string]json.RawMessage) SettingDifference {
	d := SettingDifference{Name: name, Got: shownSetting(there, name), Want: wanted[name]}
	for _, alias := range settingAliases() {
		if alias.use == name && there[alias.name] != nil && there[name] == nil {
			d.sendAs = alias.name
		}
	}
	return d
}

// replacedIn reports whether the changes have a setting that replaces a deprecated one.
func replacedIn(changes map[string]json.RawMessage, name string) bool {
	return slices.ContainsFunc(replacedSettings(), func(rule deprecatedSetting) bool { return rule.name == name && changes[rule.use] != nil })
}
