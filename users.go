package forge

import (
	"context"
	"iter"
	"time"
)

// UsersService reads users.
// GitLab docs: https://docs.gitlab.com/api/users/
type UsersService struct{ service }

// UserOrderBy is the sort key of the list of users.
type UserOrderBy string

const (
	// UserOrderByID sorts by id; the default.
	UserOrderByID UserOrderBy = "id"
	// UserOrderByName sorts by display name.
	UserOrderByName UserOrderBy = "name"
	// UserOrderByUsername sorts by username.
	UserOrderByUsername UserOrderBy = "username"
	// UserOrderByCreatedAt sorts by the time of creation.
	UserOrderByCreatedAt UserOrderBy = "created_at"
	// UserOrderByUpdatedAt sorts by the time of the last change.
	UserOrderByUpdatedAt UserOrderBy = "updated_at"
)

// TwoFactorFilter selects users by their second factor.
type TwoFactorFilter string

const (
	// TwoFactorFilterEnabled selects users with a second factor.
	TwoFactorFilterEnabled TwoFactorFilter = "enabled"
	// TwoFactorFilterDisabled selects users without one.
	TwoFactorFilterDisabled TwoFactorFilter = "disabled"
)

// ListUsersOptions filters and sorts the list of users. The fields from ExternUID to the end are
// for administrators, on self-managed and dedicated instances. A boolean without a pointer is sent
// when it is true, the only value that the contract documents for it. Times are sent in UTC, in
// milliseconds.
type ListUsersOptions struct {
	// Username selects the user with the name; the case of letters is ignored.
	Username string `url:"username,omitempty"`
	// Search selects by a part of the name or the username, or by the complete public e-mail address.
	// For administrators of self-managed and dedicated instances it also selects by private addresses.
	Search string `url:"search,omitempty"`
	// PublicEmail selects the user with this public address. Not part of the contract.
	PublicEmail string `url:"public_email,omitempty"`
	// Active selects active users; ExcludeActive selects the others.
	Active bool `url:"active,omitempty"`
	// External selects external users; ExcludeExternal selects the others.
	External bool `url:"external,omitempty"`
	// Blocked selects blocked users.
	Blocked bool `url:"blocked,omitempty"`
	// Humans selects users who are neither bots nor internal.
	Humans *bool `url:"humans,omitempty"`
	// CreatedAfter selects users created after this time.
	CreatedAfter time.Time `url:"created_after,omitempty"`
	// CreatedBefore selects users created before this time.
	CreatedBefore time.Time `url:"created_before,omitempty"`
	// ExcludeActive excludes active users.
	ExcludeActive *bool `url:"exclude_active,omitempty"`
	// ExcludeExternal excludes external users.
	ExcludeExternal *bool `url:"exclude_external,omitempty"`
	// ExcludeHumans excludes users who are neither bots nor internal.
	ExcludeHumans *bool `url:"exclude_humans,omitempty"`
	// ExcludeInternal excludes the alert and support bots, but not the bots of projects and groups.
	ExcludeInternal *bool `url:"exclude_internal,omitempty"`
	// WithoutProjectBots excludes the bots of projects.
	WithoutProjectBots *bool `url:"without_project_bots,omitempty"`
	// SAMLProviderID selects by the SAML provider, on servers before 18.2. It is refused, because
	// later ones ignore it; SkipValidation sends it.
	//
	// Deprecated: removed in 18.2; a group's SAML users have a separate list, which the contract does
	// not document.
	SAMLProviderID int64 `url:"saml_provider_id,omitempty"`
	// ExternUID selects by the user's id at Provider. Administrators; set both or neither.
	ExternUID string `url:"extern_uid,omitempty"`
	// Provider is the service that ExternUID belongs to; scim is for Premium and Ultimate.
	// Administrators; set both or neither.
	Provider string `url:"provider,omitempty"`
	// OrderBy is the sort key: UserOrderByID, UserOrderByName, UserOrderByUsername,
	// UserOrderByCreatedAt or UserOrderByUpdatedAt; empty for UserOrderByID. The list sends it and
	// Sort automatically: keyset pagination needs both. Administrators.
	OrderBy UserOrderBy `url:"order_by,omitempty"`
	// Sort is the direction: SortAsc or SortDesc; empty for SortDesc. Administrators.
	Sort Sort `url:"sort,omitempty"`
	// TwoFactor selects users with a second factor (TwoFactorFilterEnabled) or without one
	// (TwoFactorFilterDisabled). Administrators.
	TwoFactor TwoFactorFilter `url:"two_factor,omitempty"`
	// WithoutProjects selects users without projects. Administrators.
	WithoutProjects *bool `url:"without_projects,omitempty"`
	// Admins selects administrators. Administrators.
	Admins *bool `url:"admins,omitempty"`
	// Auditors selects auditors. Administrators; Premium and Ultimate.
	Auditors *bool `url:"auditors,omitempty"`
	// SkipLDAP excludes users of LDAP. Administrators; Premium and Ultimate.
	SkipLDAP *bool `url:"skip_ldap,omitempty"`
	// CustomAttributes selects users who have all of the keys with these values: Hash{"team": "core"}.
	// Administrators.
	CustomAttributes Hash `url:"custom_attributes,omitempty"`
	// WithCustomAttributes requests User.CustomAttributes. Administrators.
	WithCustomAttributes bool `url:"with_custom_attributes,omitempty"`
}

func (o *ListUsersOptions) check() error {
	return firstError(
		needs("extern_uid", o.ExternUID != "", "provider", o.Provider != ""),
		needs("provider", o.Provider != "", "extern_uid", o.ExternUID != ""),
	)
}

// List lists users, by keyset pagination, which is the only kind for 50,000 users and more.
// Query("page", "1") requests pages by number, which servers since 16.5 may reject.
// GitLab docs: https://docs.gitlab.com/api/users/
func (s *UsersService) List(ctx context.Context, o *ListUsersOptions, opts ...RequestOption) iter.Seq2[*User, error] {
	r := s.newGet("/users").params(o)
	return list[User](ctx, r, opts)
}

// GetUserOptions sets the details that Get reads.
type GetUserOptions struct {
	// WithCustomAttributes requests User.CustomAttributes. Administrators.
	WithCustomAttributes bool `url:"with_custom_attributes,omitempty"`
}

// Get reads a user by id. To find a user by name, use List with Username. The call needs a
// credential. GitLab docs: https://docs.gitlab.com/api/users/
func (s *UsersService) Get(ctx context.Context, user int64, o *GetUserOptions, opts ...RequestOption) (*User, error) {
	r := s.newGet("/users/:id", user).params(o)
	return do[User](ctx, r, opts)
}

// GetCurrentUserOptions sets the user that GetCurrent reads.
type GetCurrentUserOptions struct {
	// Sudo reads as the user with that id; administrators only. It is a query parameter, as documented
	// for this call. The request option Sudo does the same on every call, with a header, which does
	// not appear in addresses and logs.
	Sudo int64 `url:"sudo,omitempty"`
}

// GetCurrent reads the user to whom the client's credential belongs.
// GitLab docs: https://docs.gitlab.com/api/users/
func (s *UsersService) GetCurrent(ctx context.Context, o *GetCurrentUserOptions, opts ...RequestOption) (*User, error) {
	r := s.newGet("/user").params(o)
	return do[User](ctx, r, opts)
}

// EmailsService manages the e-mail addresses of users. The primary address cannot be deleted. Newer
// servers include it in lists, older ones do not.
// GitLab docs: https://docs.gitlab.com/api/user_email_addresses/
type EmailsService struct{ service }

// List lists the current user's addresses.
// GitLab docs: https://docs.gitlab.com/api/user_email_addresses/
func (s *EmailsService) List(ctx context.Context, opts ...RequestOption) iter.Seq2[*Email, error] {
	r := s.newGet("/user/emails")
	return list[Email](ctx, r, opts)
}

// ListForUser lists a user's addresses. Administrators; self-managed and dedicated.
// GitLab docs: https://docs.gitlab.com/api/user_email_addresses/
func (s *EmailsService) ListForUser(ctx context.Context, user int64, opts ...RequestOption) iter.Seq2[*Email, error] {
	r := s.newGet("/users/:id/emails", user)
	return list[Email](ctx, r, opts)
}

// Get reads an address of the current user.
// GitLab docs: https://docs.gitlab.com/api/user_email_addresses/
func (s *EmailsService) Get(ctx context.Context, email int64, opts ...RequestOption) (*Email, error) {
	r := s.newGet("/user/emails/:email_id", email)
	return do[Email](ctx, r, opts)
}

// CreateEmailOptions sets a new address of the current user.
type CreateEmailOptions struct {
	// Email is the address. Required.
	Email string `json:"email,omitempty"`
}

func (o *CreateEmailOptions) check() error { return required("email", o.Email != "") }

// Create adds an address to the current user, who confirms it by mail. It returns ErrBadRequest if
// the address is taken, with the reason in Error.Fields["email"].
// GitLab docs: https://docs.gitlab.com/api/user_email_addresses/
func (s *EmailsService) Create(ctx context.Context, o *CreateEmailOptions, opts ...RequestOption) (*Email, error) {
	r := s.newPost("/user/emails").json(o)
	return do[Email](ctx, r, opts)
}

// CreateEmailForUserOptions sets a new address of a user.
type CreateEmailForUserOptions struct {
	// Email is the address. Required.
	Email string `json:"email,omitempty"`
	// SkipConfirmation marks the address as confirmed; nil for the server's default, false.
	SkipConfirmation *bool `json:"skip_confirmation,omitempty"`
}

func (o *CreateEmailForUserOptions) check() error { return required("email", o.Email != "") }

// CreateForUser adds an address to a user. It returns ErrBadRequest if the address is taken.
// Administrators. GitLab docs: https://docs.gitlab.com/api/user_email_addresses/
func (s *EmailsService) CreateForUser(ctx context.Context, user int64, o *CreateEmailForUserOptions, opts ...RequestOption) (*Email, error) {
	r := s.newPost("/users/:id/emails", user).json(o)
	return do[Email](ctx, r, opts)
}

// Delete deletes an address of the current user. The server then sends mail to the primary address
// instead. Delete returns ErrNotFound if the address does not exist, and ErrBadRequest if it is the
// primary one. GitLab docs: https://docs.gitlab.com/api/user_email_addresses/
func (s *EmailsService) Delete(ctx context.Context, email int64, opts ...RequestOption) error {
	r := s.newDelete("/user/emails/:email_id", email)
	return exec(ctx, r, opts)
}

// DeleteForUser deletes an address of a user. It returns ErrBadRequest if it is the primary one.
// Administrators. GitLab docs: https://docs.gitlab.com/api/user_email_addresses/
func (s *EmailsService) DeleteForUser(ctx context.Context, user, email int64, opts ...RequestOption) error {
	r := s.newDelete("/users/:id/emails/:email_id", user, email)
	return exec(ctx, r, opts)
}
