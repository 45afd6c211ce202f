package forge

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// Format writes the names of the fields that are set. The values may be secrets.
func (s ApplicationSettings) Format(f fmt.State, _ rune) { writeNames(f, s) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (s ApplicationSettings) LogValue() slog.Value { return slog.StringValue(setFields(s)) }

// Format writes the names of the fields that are set. The values may be secrets.
func (o UpdateSettingsOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o UpdateSettingsOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

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
	// Name is GitLab's name of the setting. If the setting has two names, it is the one that is not
	// deprecated.
	Name string `json:"name"`
	// Got is the current value; nil if the server does not show the setting.
	Got json.RawMessage `json:"got,omitempty"`
	// Want is the wanted value; nil for a name that was removed.
	Want json.RawMessage `json:"want,omitempty"`
	// Reason states why the setting does not have the wanted value: one of the SettingReason
	// constants, such as SettingNotApplied; empty for a change that is still to be sent.
	Reason SettingReason `json:"reason,omitempty"`

	sendAs  string // name to send, if it is not Name
	isExtra bool   // sendAs is a key of the options' Extra, which no vocabulary renames
}

// Secret reports whether the setting is a key, a token, a secret or a password, by its name.
func (d SettingDifference) Secret() bool { return settingNamed(d.Name).isSecret() }

// String returns the name without the values, which may be secrets.
func (d SettingDifference) String() string { return d.Name }

// Format writes the name, for all verbs.
func (d SettingDifference) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, d.Name) }

// LogValue returns the name.
func (d SettingDifference) LogValue() slog.Value { return slog.StringValue(d.Name) }

// MarshalJSON writes an object with name, got, want and reason. Secrets are written as "(secret)".
func (d SettingDifference) MarshalJSON() ([]byte, error) {
	type plain SettingDifference
	if d.Secret() {
		d.Got, d.Want = masked(d.Got), masked(d.Want)
	}
	return json.Marshal(plain(d))
}

// masked returns what is shown of a secret: that there is one.
func masked(secret json.RawMessage) json.RawMessage {
	if value, isJSON := jsonread.Parse(secret); secret == nil || isJSON && isEmpty(value) {
		return secret
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

	document settingValues // the wanted settings, for companions
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

// BranchProtectionDefaults is the protection of new default branches.
type BranchProtectionDefaults struct {
	// AllowedToPush lists the roles that may push.
	AllowedToPush []BranchAccess `json:"allowed_to_push"`
	// AllowForcePush allows the same roles to force-push.
	AllowForcePush bool `json:"allow_force_push"`
	// AllowedToMerge lists the roles that may merge.
	AllowedToMerge []BranchAccess `json:"allowed_to_merge"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// BranchAccess is a role with a permission on a branch.
type BranchAccess struct {
	// AccessLevel is the role, as a number: 0 no one, 30 Developer, 40 Maintainer, 60 administrator.
	AccessLevel int `json:"access_level"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// JobLimiterMode is how background jobs that are too large are handled. A server may have more.
type JobLimiterMode string

const (
	// JobLimiterTrack only logs them.
	JobLimiterTrack JobLimiterMode = "track"
	// JobLimiterCompress compresses them, and rejects those that are still too large. The default.
	JobLimiterCompress JobLimiterMode = "compress"
)

// WhatsNewVariant is which users see the page "What's new". A server may have more.
type WhatsNewVariant string

const (
	// WhatsNewAllTiers shows the news of all tiers.
	WhatsNewAllTiers WhatsNewVariant = "all_tiers"
	// WhatsNewCurrentTier shows the news of the instance's own tier.
	WhatsNewCurrentTier WhatsNewVariant = "current_tier"
	// WhatsNewDisabled shows nothing.
	WhatsNewDisabled WhatsNewVariant = "disabled"
)

// RunnerRegistrar is a kind of owner whose members may register runners. A server may have more.
type RunnerRegistrar string

const (
	// RunnerRegistrarGroup allows members of groups.
	RunnerRegistrarGroup RunnerRegistrar = "group"
	// RunnerRegistrarProject allows members of projects.
	RunnerRegistrarProject RunnerRegistrar = "project"
)

// Visibility is who can see a project, a group or a snippet. The contract does not list the values;
// those below are of deployed servers.
type Visibility string

const (
	// VisibilityPrivate is visible to users who were added to it.
	VisibilityPrivate Visibility = "private"
	// VisibilityInternal is visible to all users who are not external.
	VisibilityInternal Visibility = "internal"
	// VisibilityPublic is visible to everyone.
	VisibilityPublic Visibility = "public"
)
