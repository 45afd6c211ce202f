package forge

import (
	"encoding/json"
	"maps"
	"slices"
)

// SettingReason is the reason why a setting does not have the wanted value.
type SettingReason string

const (
	// SettingNotApplied is a setting that the server shows with another value. Servers keep settings
	// for 60 seconds by default, so a later Verify may find it in force.
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
	// SettingNotSettable is a setting that no update can set: the id and times, a value of another
	// type than the setting's, a name that was removed from Extra. It is also a setting that the
	// contract shows in responses only, and that the server ignored.
	SettingNotSettable SettingReason = "not settable"
	// SettingAbsent is a setting that the other document lacks. It is not sent, because it belongs to
	// another tier or release.
	SettingAbsent SettingReason = "absent"
)

// SettingDifference is a setting with different values on two sides. The values may be secrets:
// keys and tokens are settings too.
type SettingDifference struct {
	// Name is the setting, in the contract's words. Of two names of one setting, it is the one that is
	// not deprecated.
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

// GoString returns the result of String, for %#v.
func (d SettingDifference) GoString() string { return d.Name }

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
	// Changes are sent, sorted by name. An entry that is deleted from the list is not sent. The
	// companions of an enabled setting are not listed: Apply adds them from the document.
	Changes []SettingDifference
	// NotSent are the other differences, sorted by name, with the Reason why they are not sent. Apply
	// and Verify report them too.
	NotSent []SettingDifference
	// OnlyInGot are the sorted names of the settings that the wanted settings lack. They are not
	// changed.
	OnlyInGot []string

	document map[string]json.RawMessage // the wanted settings, for companions
	err      error
}

// Err returns why the changes cannot be expressed: a value that is not JSON, a value of another
// type in Extra, or a deprecated setting and its replacement with different values. Apply and
// Verify return it before they send anything.
func (d *SettingsDiff) Err() error {
	if d == nil {
		return nil
	}
	return d.err
}

// Diff returns the changes that a program made since the settings were read, in fields, slices,
// maps and Extra, and by Merge. If the settings were not read, it returns all nonzero values. For a
// value that cannot be sent, [SettingsDiff.Err] returns an error, and so does Apply. A plain field
// that the server did not show and that is set to its zero value looks unset and is not a change:
// use Merge for that.
//
// Copies of a value share slices and maps; a change in one appears in the changes of all.
func (s *ApplicationSettings) Diff() *SettingsDiff {
	now, err := s.members()
	d := &SettingsDiff{document: now, err: err}
	if err != nil {
		return d
	}
	read := s.baseline()
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
	for _, name := range slices.Sorted(maps.Keys(read)) {
		if now[name] == nil {
			d.notSent(SettingDifference{Name: name, Got: read[name]}, SettingNotSettable)
		}
	}
	d.sort()
	return d
}

// Diff returns the options as changes, for Apply and Verify.
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

// DiffSettings returns the changes that make the settings of got like those of want, which may be
// those of another instance, or a document that was changed after an earlier read. If both values
// come from the same read, it returns the changes of want. A setting that only one of them has is
// never sent, unless a program set it in want, or a change needs it as a companion. The id and
// times are not compared.
func DiffSettings(got, want *ApplicationSettings) (*SettingsDiff, error) {
	if want != nil && got != nil && want.read != nil && want.read == got.read {
		d := want.Diff()
		return d, d.err
	}
	there, err := got.members()
	if err != nil {
		return nil, err
	}
	wanted, err := want.members()
	if err != nil {
		return nil, err
	}
	edits := editsOf(want.baseline(), wanted)
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
		if old := read[name]; old == nil || !equalJSON(old, value) {
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
