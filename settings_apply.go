package forge

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// SettingsReport is the result of Apply and Verify.
type SettingsReport struct {
	// Settings are the settings as read after the changes.
	Settings *ApplicationSettings
	// NotApplied lists the wanted settings that are not in force, or whose state is unknown, sorted by
	// name: the server ignored them or does not show them, or they were not sent. Reason states which.
	NotApplied []SettingDifference
}

// Format writes the names of the settings that are not in force. The values may be secrets.
func (r SettingsReport) Format(f fmt.State, _ rune) { writeNames(f, r) }

// LogValue returns the names of the settings that are not in force. The values may be secrets.
func (r SettingsReport) LogValue() slog.Value { return slog.StringValue(setFields(r)) }

// Apply sends the changes of d, reads the settings and reports those that are not in force: a
// server silently ignores names that it does not know. It sends d.Changes, and the settings that
// the contract requires in the same update. If d is nil or has no Changes, it sends no update.
// Servers cache settings, by default for 60 seconds, so a change may be reported as not in force.
// Apply does not wait; Verify checks again. If the update succeeds and reading fails, the Method of
// the Error is GET. Document 3 §4.1.
func (s *SettingsService) Apply(ctx context.Context, d *SettingsDiff, opts ...RequestOption) (*SettingsReport, error) {
	update, err := s.update(d)
	if err == nil && len(update.changes) > 0 {
		_, err = do[ApplicationSettings](ctx, s.newPut("/application/settings").json(update).withVocabulary(s.vocabulary()), opts)
	}
	if err != nil {
		return nil, err
	}
	return s.Verify(ctx, d, opts...)
}

// Verify reads the settings and reports which changes are not in force, as Apply does. It changes
// nothing. Document 3 §4.1.
func (s *SettingsService) Verify(ctx context.Context, d *SettingsDiff, opts ...RequestOption) (*SettingsReport, error) {
	update, err := s.update(d)
	if err != nil {
		return nil, err
	}
	settings, err := s.Get(ctx, opts...)
	if err != nil {
		return nil, err
	}
	report, shown := &SettingsReport{Settings: settings}, settings.baseline()
	for _, change := range slices.Concat(update.changes, update.required(), update.notSent) {
		change.Got = shownSetting(shown, change.Name)
		if isInForce(change) {
			continue
		}
		if change.Reason == "" {
			change.Reason = whyNotInForce(change)
		}
		report.NotApplied = append(report.NotApplied, change)
	}
	sortSettings(report.NotApplied)
	return report, nil
}

// settingsUpdate is the request body of the changes.
type settingsUpdate struct {
	changes, notSent []SettingDifference
	document         map[string]json.RawMessage
}

// update translates changes into the contract's words, and rejects two names of one setting with
// different values.
func (s *SettingsService) update(d *SettingsDiff) (*settingsUpdate, error) {
	u := &settingsUpdate{}
	if d == nil {
		return u, nil
	}
	err := d.err
	u.notSent, u.document = d.NotSent, d.document
	names := map[string]string{} // given names, by the contract's name
	for _, change := range d.Changes {
		err = firstError(err, checkChange(change))
		given := change.Name
		if _, named := settingField(given); !named { // a name in Extra may be the product's own
			if neutral, known := s.owner().config.vocabulary.neutral(settingWord, given); known {
				change.Name = neutral
			}
		}
		i := slices.IndexFunc(u.changes, func(other SettingDifference) bool { return other.Name == change.Name })
		switch {
		case i < 0:
			names[change.Name] = given
			u.changes = append(u.changes, change)
		case !equalJSON(u.changes[i].Want, change.Want):
			err = firstError(err, &ValidationError{Option: "SettingsDiff", Param: given, Reason: "it is another name of " + names[change.Name] + ", with another value: omit one of them"})
		}
	}
	if err != nil {
		err = s.newPut("/application/settings").withRoute(err)
	}
	return u, err
}

// checkChange rejects a change that a caller built and that cannot be sent.
func checkChange(change SettingDifference) error {
	switch {
	case strings.TrimSpace(change.Name) == "":
		return &ValidationError{Option: "SettingsDiff.Changes", Reason: "a change has no Name"}
	case !json.Valid(change.Want):
		return &ValidationError{Option: "SettingsDiff.Changes", Param: change.Name, Reason: "its Want is not JSON"}
	}
	return nil
}

func (u *settingsUpdate) check() error {
	return firstError(checkReplaced(u.byName()), checkCompanions(u.members()))
}

// byName returns the values of the changes.
func (u *settingsUpdate) byName() map[string]json.RawMessage {
	values := make(map[string]json.RawMessage, len(u.changes))
	for _, change := range u.changes {
		values[change.Name] = change.Want
	}
	return values
}

// members returns the settings that are sent: the changes and, from the document, the settings that
// they require.
func (u *settingsUpdate) members() map[string]json.RawMessage {
	members := u.byName()
	for _, companion := range u.required() {
		members[companion.Name] = companion.Want
	}
	return members
}

// required returns the settings that a change requires in the same update, with their values from
// the document.
func (u *settingsUpdate) required() (list []SettingDifference) {
	changes := u.byName()
	for _, rule := range companionSettings() {
		for _, need := range rule.needs {
			if value := shownSetting(u.document, need); isValue(changes[rule.setting], "true") && changes[need] == nil && value != nil && !isValue(value, "null") {
				list = append(list, SettingDifference{Name: need, Want: value})
			}
		}
	}
	return list
}

// MarshalJSON encodes the settings that are sent in the client's vocabulary.
func (u *settingsUpdate) MarshalJSON() ([]byte, error) {
	members := u.members()
	for _, change := range u.changes {
		switch {
		case change.byHand != "":
			delete(members, change.Name)
		case change.sendAs != "":
			delete(members, change.Name)
			members[change.sendAs] = aliasBackward(change.sendAs, change.Want)
		}
	}
	return json.Marshal(members)
}

// extra returns the settings that are sent under their name in the options' Extra.
func (u *settingsUpdate) extra() map[string]any {
	extra := map[string]any{}
	for _, change := range u.changes {
		if change.byHand != "" {
			extra[change.byHand] = change.Want
		}
	}
	return extra
}

// optionName returns the field of the settings document that an error is about.
func (u *settingsUpdate) optionName(param string) string {
	if field, known := settingField(param); known {
		return "ApplicationSettings." + field
	}
	return "ApplicationSettings"
}

// isInForce reports whether a setting has the wanted value.
func isInForce(change SettingDifference) bool {
	if change.Want == nil || change.Got == nil {
		return change.Want == nil && change.Got == nil
	}
	return sameSetting(change.Name, change.Got, change.Want)
}

// whyNotInForce returns the reason for a setting that was sent.
func whyNotInForce(change SettingDifference) SettingReason {
	_, named := settingField(change.Name)
	switch {
	case change.Got == nil && change.Secret():
		return SettingSecret
	case change.Got == nil && isTierSetting(change.Name):
		return SettingTier
	case change.Got == nil:
		return SettingNotShown
	case named && !isParameter(change.Name):
		return SettingNotSettable
	}
	return SettingNotApplied
}

func sortSettings(list []SettingDifference) {
	slices.SortFunc(list, func(a, b SettingDifference) int { return cmp.Compare(a.Name, b.Name) })
}
