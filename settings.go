package forge

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// SettingsService reads and changes the instance-wide configuration. It needs an access token of
// an administrator, and a self-managed or dedicated instance. GitLab docs:
// https://docs.gitlab.com/api/settings/
//
// Names of settings are GitLab's, also where the documents have a neutral word. Calls fail if a
// response has the words of the vocabulary that the client does not speak, because a server ignores
// unknown names.
type SettingsService struct{ service }

// Get reads the settings. Servers cache settings, by default for 60 seconds, so it may return the
// values before a change. GitLab docs: https://docs.gitlab.com/api/settings/
func (s *SettingsService) Get(ctx context.Context, opts ...RequestOption) (*ApplicationSettings, error) {
	r := s.newGet("/application/settings").ofSettings()
	return do[ApplicationSettings](ctx, r, opts)
}

// Update changes the settings that o sets, and returns all settings. A server silently ignores
// parameters that it does not know or that its tier lacks; Apply reports them.
// GitLab docs: https://docs.gitlab.com/api/settings/
func (s *SettingsService) Update(ctx context.Context, o *UpdateSettingsOptions, opts ...RequestOption) (*ApplicationSettings, error) {
	r := s.newPut("/application/settings").json(o).ofSettings()
	return do[ApplicationSettings](ctx, r, opts)
}

func (o *UpdateSettingsOptions) extra() map[string]any { return o.Extra }
func (o *UpdateSettingsOptions) copiesDocument()       {}

func (o *UpdateSettingsOptions) check() error {
	members, err := membersOf(o)
	if err != nil {
		return err
	}
	given := settingValues(members)
	_, missing := given.companions(nil)
	if err := firstError(given.checkReplaced(false), missing); err != nil {
		return err
	}
	// Without the other, the server's value counts. Apply sends both: deployed servers keep the period
	// for later.
	if given["unconfirmed_users_delete_after_days"] != nil && isValue(given["delete_unconfirmed_users"], "false") {
		return &ValidationError{Param: "unconfirmed_users_delete_after_days", Reason: "it needs delete_unconfirmed_users, which is false"}
	}
	return nil
}

// Apply sends the changes of d, reads the settings and reports those that are not in force: a
// server silently ignores names that it does not know. It sends d.Changes, and the settings that
// the contract requires in the same update. If d is nil or has no Changes, it sends no update.
// Servers cache settings, by default for 60 seconds, so a change may be reported as not in force.
// Apply does not wait; Verify checks again. If the update succeeds and reading fails, the Method of
// the Error is GET. GitLab docs: https://docs.gitlab.com/api/settings/
func (s *SettingsService) Apply(ctx context.Context, d *SettingsDiff, opts ...RequestOption) (*SettingsReport, error) {
	update, err := s.update(d)
	if err == nil && len(update.changes) > 0 {
		_, err = do[ApplicationSettings](ctx, s.newPut("/application/settings").json(update).ofSettings(), opts)
	}
	if err != nil {
		return nil, err
	}
	return s.Verify(ctx, d, opts...)
}

// Verify reads the settings and reports which changes are not in force, as Apply does. It changes
// nothing.
func (s *SettingsService) Verify(ctx context.Context, d *SettingsDiff, opts ...RequestOption) (*SettingsReport, error) {
	update, err := s.update(d)
	if err != nil {
		return nil, err
	}
	settings, err := s.Get(ctx, opts...)
	if err != nil {
		return nil, err
	}
	return &SettingsReport{settings, update.notApplied(jsonread.Members(settings.read))}, nil
}

// settingsUpdate is the body of the update that Apply sends.
type settingsUpdate struct {
	sent, notSent []SettingDifference
	changes       settingValues // those of sent that are not companions
	missing       error         // of a companion that the document lacks
}

// update returns the update for d.
func (s *SettingsService) update(d *SettingsDiff) (*settingsUpdate, error) {
	u := &settingsUpdate{changes: settingValues{}}
	if d == nil {
		return u, nil
	}
	if err := firstError(d.err, u.add(d.Changes, s.owner().config.vocabulary)); err != nil {
		return nil, s.newPut("/application/settings").withRoute(err)
	}
	companions, missing := u.changes.companions(d.document)
	for name, value := range companions {
		u.sent = append(u.sent, SettingDifference{Name: name, Want: value, sendAs: name})
	}
	u.notSent, u.missing = d.NotSent, missing
	return u, nil
}

// add adds the changes, under their current names. It rejects those that cannot be sent.
func (u *settingsUpdate) add(changes []SettingDifference, v Vocabulary) error {
	for _, change := range changes {
		named := settingNamed(v.gitlab(settingWord, change.Name))
		s := named.current()
		switch value := s.form(change.Want, named); {
		case strings.TrimSpace(change.Name) == "":
			return &ValidationError{Option: "SettingsDiff.Changes", Reason: "a change has no Name"}
		case v.foreign(settingWord, change.Name) != "" && v == GitLab:
			return &ValidationError{Option: "SettingsDiff.Changes", Param: change.Name, Reason: v.foreign(settingWord, change.Name)}
		case !json.Valid(change.Want):
			return &ValidationError{Option: "SettingsDiff.Changes", Param: change.Name, Reason: "its Want is not JSON"}
		case u.changes[s.name] == nil:
			u.changes[s.name] = value
			u.sent = append(u.sent, SettingDifference{Name: s.name, Want: value, sendAs: cmp.Or(change.sendAs, named.name), isExtra: change.isExtra})
		case !jsonread.Equal(u.changes[s.name], value):
			return &ValidationError{Option: "SettingsDiff", Param: change.Name, Reason: "it and another name of " + s.name + " have different values: omit one of them"}
		}
	}
	return nil
}

func (u *settingsUpdate) check() error { return firstError(u.changes.checkReplaced(true), u.missing) }

// MarshalJSON encodes what is sent in the words of the client.
func (u *settingsUpdate) MarshalJSON() ([]byte, error) { return json.Marshal(u.body(false)) }

func (u *settingsUpdate) extra() map[string]any { return u.body(true) }
func (u *settingsUpdate) optionName(param string) string {
	return optionName(new(ApplicationSettings), param)
}

// body returns the values that are sent: those of the options' Extra, or all others.
func (u *settingsUpdate) body(isExtra bool) map[string]any {
	body := map[string]any{}
	for _, d := range u.sent {
		if d.isExtra == isExtra {
			body[d.sendAs] = settingNamed(d.sendAs).form(d.Want, settingNamed(d.Name))
		}
	}
	return body
}

// notApplied returns the settings that are not in force on a server that shows these values.
func (u *settingsUpdate) notApplied(shown settingValues) (list []SettingDifference) {
	for _, change := range slices.Concat(u.sent, u.notSent) {
		d := SettingDifference{Name: change.Name, Got: shown.of(settingNamed(change.Name)), Want: change.Want, Reason: change.Reason}
		if d.Reason = notInForce(d); d.Reason != "" {
			list = append(list, d)
		}
	}
	sortSettings(list)
	return list
}

// notInForce returns the reason why a setting does not have the wanted value; "" if it has.
func notInForce(d SettingDifference) SettingReason {
	s, isShown := settingNamed(d.Name), d.Got != nil
	switch {
	case !isShown && d.Want == nil, s.isSame(d.Got, d.Want):
		return ""
	case d.Reason != "":
		return d.Reason
	case !isShown && s.isSecret():
		return SettingSecret
	case !isShown && s.isOfTier:
		return SettingTier
	case !isShown:
		return SettingNotShown
	case s.field != "" && !s.isSettable:
		return SettingNotSettable
	}
	return SettingNotApplied
}
