package forge

import (
	"encoding/json"
	"time"
)

// UserState is the state of a user. It determines whether the user can sign in. Servers may return
// other values.
type UserState string

const (
	// UserStateActive is a user who can sign in.
	UserStateActive UserState = "active"
	// UserStateBlocked is a user who was blocked.
	UserStateBlocked UserState = "blocked"
)

// UserSummary is a user as embedded in other resources.
type UserSummary struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// Username is the name used in mentions and addresses.
	Username string `json:"username"`
	// Name is the display name.
	Name string `json:"name"`
	// State is the state of the user: UserStateActive or UserStateBlocked; a server may return other
	// values.
	State UserState `json:"state"`
	// AvatarURL is the address of the picture; empty if there is none.
	AvatarURL string `json:"avatar_url"`
	// AvatarPath is the path of the picture on the server. Not part of the contract.
	AvatarPath string `json:"avatar_path"`
	// WebURL is the address of the profile page.
	WebURL string `json:"web_url"`
	// Locked reports whether the account is locked after too many failed sign-ins; in merge request
	// dependencies only, nil elsewhere.
	Locked *bool `json:"locked"`
	// PublicEmail is the e-mail address that everyone may see; empty if there is none. Not part of the
	// contract.
	PublicEmail string `json:"public_email"`
	// Bot reports whether the account belongs to a bot; in the authors of merge requests only, nil
	// elsewhere. Not part of the contract.
	Bot *bool `json:"bot"`
	// CustomAttributes are the keys and values that administrators store for the user; only with
	// Query("with_custom_attributes", "true"). Administrators. Not part of the contract.
	CustomAttributes []CustomAttribute `json:"custom_attributes"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// UserProfile is the user of a CI job.
type UserProfile struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// Username is the name used in mentions and addresses.
	Username string `json:"username"`
	// Name is the display name.
	Name string `json:"name"`
	// State is the state of the user: UserStateActive or UserStateBlocked; a server may return other
	// values.
	State UserState `json:"state"`
	// AvatarURL is the address of the picture; empty if there is none.
	AvatarURL string `json:"avatar_url"`
	// WebURL is the address of the profile page.
	WebURL string `json:"web_url"`
	// CreatedAt is when the account was created.
	CreatedAt time.Time `json:"created_at"`
	// Bio is the user's self-description.
	Bio string `json:"bio"`
	// Location is where the user lives.
	Location string `json:"location"`
	// PublicEmail is the e-mail address that everyone may see.
	PublicEmail string `json:"public_email"`
	// LinkedIn is the user's account on LinkedIn.
	LinkedIn string `json:"linkedin"`
	// Twitter is the user's account on Twitter.
	Twitter string `json:"twitter"`
	// WebsiteURL is the address of the user's own site.
	WebsiteURL string `json:"website_url"`
	// Organization is the organization that the user works for.
	Organization string `json:"organization"`
	// JobTitle is the user's job title.
	JobTitle string `json:"job_title"`
	// Pronouns are the pronouns to use.
	Pronouns string `json:"pronouns"`
	// Bot reports whether the account belongs to a bot.
	Bot bool `json:"bot"`
	// WorkInformation is JobTitle and Organization in one line.
	WorkInformation string `json:"work_information"`
	// Followers counts the users who follow the user.
	Followers int `json:"followers"`
	// Following counts the users whom the user follows.
	Following int `json:"following"`
	// LocalTime is the time of day where the user lives, for display.
	LocalTime string `json:"local_time"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// User is a user. Lists return the fields from ID to WebURL. Get returns the fields from ID to
// IsFollowed. The other fields are returned to administrators, and to users who read themselves
// with GetCurrent. If the server does not show a field, a pointer or a list is nil, and a text or
// time is zero.
type User struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// Username is the name used in mentions and addresses.
	Username string `json:"username"`
	// Name is the display name.
	Name string `json:"name"`
	// State is the state of the user: UserStateActive or UserStateBlocked; a server may return other
	// values.
	State UserState `json:"state"`
	// Locked reports whether the account is locked after too many failed sign-ins.
	Locked bool `json:"locked"`
	// AvatarURL is the address of the picture; empty if there is none.
	AvatarURL string `json:"avatar_url"`
	// AvatarPath is the path of the picture on the server. Not part of the contract.
	AvatarPath string `json:"avatar_path"`
	// WebURL is the address of the profile page.
	WebURL string `json:"web_url"`
	// CreatedAt is when the account was created.
	CreatedAt time.Time `json:"created_at"`
	// Bio is the user's self-description.
	Bio string `json:"bio"`
	// Bot reports whether the account belongs to a bot.
	Bot *bool `json:"bot"`
	// Location is where the user lives.
	Location string `json:"location"`
	// PublicEmail is the e-mail address that everyone can see; empty if there is none.
	PublicEmail string `json:"public_email"`
	// LinkedIn is the user's account on LinkedIn.
	LinkedIn string `json:"linkedin"`
	// Twitter is the user's account on Twitter.
	Twitter string `json:"twitter"`
	// Discord is the user's account on Discord.
	Discord string `json:"discord"`
	// GitHub is the user's account on GitHub.
	GitHub string `json:"github"`
	// Skype is the user's account on Skype; on servers before 18.0. Not part of the contract.
	Skype string `json:"skype"`
	// WebsiteURL is the address of the user's own site.
	WebsiteURL string `json:"website_url"`
	// Organization is the organization that the user works for.
	Organization string `json:"organization"`
	// JobTitle is the user's job title.
	JobTitle string `json:"job_title"`
	// Pronouns are the pronouns to use.
	Pronouns string `json:"pronouns"`
	// WorkInformation is JobTitle and Organization in one line.
	WorkInformation string `json:"work_information"`
	// Followers counts the users who follow the user.
	Followers *int `json:"followers"`
	// Following counts the users whom the user follows.
	Following *int `json:"following"`
	// LocalTime is the time of day where the user lives, for display.
	LocalTime string `json:"local_time"`
	// IsFollowed reports whether the caller follows the user.
	IsFollowed *bool `json:"is_followed"`
	// Email is the primary e-mail address.
	Email string `json:"email"`
	// IsAdmin reports whether the user administers the instance.
	IsAdmin *bool `json:"is_admin"`
	// LastSignInAt is the time of the sign-in before CurrentSignInAt; zero if there was none.
	LastSignInAt time.Time `json:"last_sign_in_at"`
	// ConfirmedAt is when Email was confirmed; zero if it was not.
	ConfirmedAt time.Time `json:"confirmed_at"`
	// ThemeID is the id of the colour theme of the pages.
	ThemeID int64 `json:"theme_id"`
	// LastActivityOn is the day of the user's last activity.
	LastActivityOn Date `json:"last_activity_on"`
	// ColorSchemeID is the id of the colour scheme of source code.
	ColorSchemeID int64 `json:"color_scheme_id"`
	// ProjectsLimit is the number of personal projects that the user may have.
	ProjectsLimit *int `json:"projects_limit"`
	// CurrentSignInAt is when the user last signed in; zero when never.
	CurrentSignInAt time.Time `json:"current_sign_in_at"`
	// Note is a note of the administrators about the user.
	Note string `json:"note"`
	// Identities are the accounts of other services that the user signs in with.
	Identities []UserIdentity `json:"identities"`
	// CanCreateGroup reports whether the user may create top-level groups.
	CanCreateGroup *bool `json:"can_create_group"`
	// CanCreateProject reports whether the user may create projects.
	CanCreateProject *bool `json:"can_create_project"`
	// TwoFactorEnabled reports whether the user signs in with a second factor.
	TwoFactorEnabled *bool `json:"two_factor_enabled"`
	// External reports whether the user sees only what membership grants access to.
	External *bool `json:"external"`
	// PrivateProfile reports whether the user's activity is hidden from other users.
	PrivateProfile *bool `json:"private_profile"`
	// CommitEmail is the e-mail address of commits made on the server.
	CommitEmail string `json:"commit_email"`
	// CurrentSignInIP is the address that the user last signed in from.
	CurrentSignInIP string `json:"current_sign_in_ip"`
	// LastSignInIP is the address of the sign-in before that.
	LastSignInIP string `json:"last_sign_in_ip"`
	// Plan is the subscription plan. Enterprise edition.
	Plan string `json:"plan"`
	// Trial reports whether the subscription is on trial. Enterprise edition.
	Trial *bool `json:"trial"`
	// SignInCount counts the sign-ins.
	SignInCount *int `json:"sign_in_count"`
	// NamespaceID is the id of the personal namespace.
	NamespaceID int64 `json:"namespace_id"`
	// CreatedBy is the user who created the account; nil if the user created it. Since 15.6.
	CreatedBy *UserSummary `json:"created_by"`
	// EmailResetOfferedAt is when the server offered the user to change Email; zero if it never did.
	// Since 16.7.
	EmailResetOfferedAt time.Time `json:"email_reset_offered_at"`
	// SCIMIdentities are the accounts that the identity providers of groups manage. Since 16.1.
	SCIMIdentities []SCIMIdentity `json:"scim_identities"`
	// Auditors is raw JSON: the contract lists it without a type, and deployed servers do not send it;
	// see IsAuditor. Since 16.2.
	Auditors json.RawMessage `json:"auditors"`
	// SharedRunnersMinutesLimit is the monthly limit of compute minutes; 0 for no limit, nil for the
	// server's own limit. Premium and Ultimate.
	SharedRunnersMinutesLimit *int `json:"shared_runners_minutes_limit"`
	// ExtraSharedRunnersMinutesLimit is the number of compute minutes bought in addition; nil when
	// there are none. Premium and Ultimate.
	ExtraSharedRunnersMinutesLimit *int `json:"extra_shared_runners_minutes_limit"`
	// IsAuditor reports whether the user has read access to the whole instance. Premium and Ultimate.
	IsAuditor *bool `json:"is_auditor"`
	// UsingLicenseSeat reports whether the user takes up a seat. Premium and Ultimate.
	UsingLicenseSeat *bool `json:"using_license_seat"`
	// ProvisionedByGroupID is the group that created the account; 0 when none did. Premium and
	// Ultimate.
	ProvisionedByGroupID int64 `json:"provisioned_by_group_id"`
	// BioHTML is the user's self-description as HTML; Users.Get only. Not part of the contract.
	BioHTML string `json:"bio_html"`
	// PreferredLanguage is the language of the pages, such as en; for the user and administrators. Not
	// part of the contract.
	PreferredLanguage string `json:"preferred_language"`
	// CanCreateOrganization reports whether the user may create organizations; nil where the server
	// does not send it, as in 19.5. Not part of the contract.
	CanCreateOrganization *bool `json:"can_create_organization"`
	// ProvisionedByProjectID is the project that created the account; 0 when none did. Administrators.
	// Not part of the contract.
	ProvisionedByProjectID int64 `json:"provisioned_by_project_id"`
	// EnterpriseGroupID is the group that the account belongs to as an enterprise user; 0 if there is
	// none. Administrators; Premium and Ultimate. Not part of the contract.
	EnterpriseGroupID int64 `json:"enterprise_group_id"`
	// EnterpriseGroupAssociatedAt is since when the account belongs to that group. Administrators;
	// Premium and Ultimate. Not part of the contract.
	EnterpriseGroupAssociatedAt time.Time `json:"enterprise_group_associated_at"`
	// CustomAttributes are the keys and values that administrators store for the user; only with
	// WithCustomAttributes. The contract does not show their form. Not part of the contract.
	CustomAttributes []CustomAttribute `json:"custom_attributes"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// UserIdentity is an account of another service that a user signs in with.
type UserIdentity struct {
	// Provider is the name of the service.
	Provider string `json:"provider"`
	// ExternUID is the user's id at that service.
	ExternUID string `json:"extern_uid"`
	// SAMLProviderID is the group's SAML provider; group SAML identities only.
	SAMLProviderID int64 `json:"saml_provider_id"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// SCIMIdentity is an account that the identity provider of a group manages.
type SCIMIdentity struct {
	// ExternUID is the user's id at the identity provider.
	ExternUID string `json:"extern_uid"`
	// GroupID is the id of the group.
	GroupID int64 `json:"group_id"`
	// Active reports whether the account may be used.
	Active bool `json:"active"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// CustomAttribute is a key and value that administrators store for a user. Not part of the
// contract.
type CustomAttribute struct {
	// Key is the name; ListUsersOptions.CustomAttributes selects by it.
	Key string `json:"key"`
	// Value is the value.
	Value string `json:"value"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// Email is an e-mail address of a user.
type Email struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// Email is the address.
	Email string `json:"email"`
	// ConfirmedAt is when the user confirmed the address; zero before.
	ConfirmedAt time.Time `json:"confirmed_at"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}
