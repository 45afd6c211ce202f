package forge

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// NamespacesService reads namespaces. A namespace holds the projects of one user or one group.
// GitLab docs: https://docs.gitlab.com/api/namespaces/
type NamespacesService struct{ service }

// ListNamespacesOptions filters a list of namespaces.
type ListNamespacesOptions struct {
	// Search selects namespaces whose name or path contains the text.
	Search string `url:"search,omitempty"`
	// OwnedOnly selects the namespaces that the user owns.
	OwnedOnly *bool `url:"owned_only,omitempty"`
	// TopLevelOnly excludes subgroups. Since 16.8.
	TopLevelOnly *bool `url:"top_level_only,omitempty"`
	// FullPathSearch compares Search with full paths.
	FullPathSearch *bool `url:"full_path_search,omitempty"`
	// RequestedHostedPlan is the plan that a customer requests. Not part of the contract.
	RequestedHostedPlan string `url:"requested_hosted_plan,omitempty"`
}

// List lists the namespaces that the user can see; an administrator sees all of them.
// GitLab docs: https://docs.gitlab.com/api/namespaces/
func (s *NamespacesService) List(ctx context.Context, o *ListNamespacesOptions, opts ...RequestOption) iter.Seq2[*Namespace, error] {
	r := s.newGet("/namespaces").params(o)
	return list[Namespace](ctx, r, opts)
}

// Get reads a namespace. GitLab docs: https://docs.gitlab.com/api/namespaces/
func (s *NamespacesService) Get(ctx context.Context, namespace Ref, opts ...RequestOption) (*Namespace, error) {
	r := s.newGet("/namespaces/:id", namespace)
	return do[Namespace](ctx, r, opts)
}

// NamespaceExistsOptions sets the group in which Exists checks a path.
type NamespaceExistsOptions struct {
	// ParentID is the id of the group whose subgroups are checked. If it is 0, only top-level
	// namespaces are checked.
	ParentID int64 `url:"parent_id,omitempty"`
}

// Exists reports whether a path is taken by a namespace, and returns similar paths that are free.
// The path is one segment: for group/sub it is "sub", with the id of group as ParentID.
// GitLab docs: https://docs.gitlab.com/api/namespaces/
func (s *NamespacesService) Exists(ctx context.Context, path string, o *NamespaceExistsOptions, opts ...RequestOption) (*NamespaceAvailability, error) {
	r := s.newGet("/namespaces/:namespace/exists", namespaceSegment(path)).params(o)
	return do[NamespaceAvailability](ctx, r, opts)
}

// NamespaceKind is the kind of a namespace: a user's or a group's.
type NamespaceKind string

const (
	// NamespaceKindUser is the personal namespace of a user.
	NamespaceKindUser NamespaceKind = "user"
	// NamespaceKindGroup is the namespace of a group or subgroup.
	NamespaceKindGroup NamespaceKind = "group"
)

// Namespace holds the projects of one user or one group.
type Namespace struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// Name is the display name.
	Name string `json:"name"`
	// Path is the last part of FullPath.
	Path string `json:"path"`
	// FullPath is the path from the top level, which Path accepts.
	FullPath string `json:"full_path"`
	// Kind is the kind of the namespace: NamespaceKindUser or NamespaceKindGroup.
	Kind NamespaceKind `json:"kind"`
	// ParentID is the id of the parent group; nil at the top level.
	ParentID *int64 `json:"parent_id"`
	// AvatarURL is the address of the picture; empty if there is none.
	AvatarURL string `json:"avatar_url"`
	// WebURL is the address of the page.
	WebURL string `json:"web_url"`
	// MembersCountWithDescendants counts the members, including those of subgroups; groups only, nil
	// otherwise.
	MembersCountWithDescendants *int `json:"members_count_with_descendants"`
	// BillableMembersCount counts the members that take up a seat; nil if the server does not show it.
	BillableMembersCount *int `json:"billable_members_count"`
	// Plan is the subscription plan; empty where the server does not send it.
	Plan string `json:"plan"`
	// EndDate is when the subscription ends.
	EndDate Date `json:"end_date"`
	// TrialEndsOn is when the trial ends.
	TrialEndsOn Date `json:"trial_ends_on"`
	// Trial reports whether the namespace is on trial.
	Trial bool `json:"trial"`
	// RootRepositorySize is the size of all repositories below the top-level namespace, in bytes.
	RootRepositorySize int64 `json:"root_repository_size"`
	// ProjectsCount counts the projects.
	ProjectsCount int `json:"projects_count"`
	// MaxSeatsUsed is the highest number of seats ever in use; Get only, and only for group owners or
	// on the hosted offering; nil otherwise.
	MaxSeatsUsed *int `json:"max_seats_used"`
	// SeatsInUse counts the seats in use; under the conditions of MaxSeatsUsed.
	SeatsInUse *int `json:"seats_in_use"`
	// MaxSeatsUsedChangedAt is when MaxSeatsUsed last grew; under the conditions of MaxSeatsUsed.
	MaxSeatsUsedChangedAt time.Time `json:"max_seats_used_changed_at"`
	// CIMinutesUsage holds the compute minutes used; nil if the server does not send them. Not part of
	// the contract.
	CIMinutesUsage *CIMinutesUsage `json:"ci_minutes_usage"`
	// SharedRunnersMinutesLimit is the monthly limit of compute minutes; 0 for no limit, nil for the
	// server's own limit. Not part of the contract.
	SharedRunnersMinutesLimit *int `json:"shared_runners_minutes_limit"`
	// ExtraSharedRunnersMinutesLimit is the number of compute minutes bought in addition. Not part of
	// the contract.
	ExtraSharedRunnersMinutesLimit *int `json:"extra_shared_runners_minutes_limit"`
	// AdditionalPurchasedStorageSize is the storage bought in addition, in MB. Not part of the
	// contract.
	AdditionalPurchasedStorageSize int64 `json:"additional_purchased_storage_size"`
	// AdditionalPurchasedStorageEndsOn is when the storage bought in addition expires. Not part of the
	// contract.
	AdditionalPurchasedStorageEndsOn Date `json:"additional_purchased_storage_ends_on"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// CIMinutesUsage holds the compute minutes that a namespace has used this month. Not part of the
// contract.
type CIMinutesUsage struct {
	// TotalMinutesUsed is the sum of the other two.
	TotalMinutesUsed int `json:"total_minutes_used"`
	// MonthlyMinutesUsed counts minutes of the monthly limit.
	MonthlyMinutesUsed int `json:"monthly_minutes_used"`
	// PurchasedMinutesUsed counts minutes bought in addition.
	PurchasedMinutesUsed int `json:"purchased_minutes_used"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// NamespaceAvailability reports whether a path is taken.
type NamespaceAvailability struct {
	// Exists reports whether the path is taken.
	Exists bool `json:"exists"`
	// Suggests lists similar paths that are free.
	Suggests []string `json:"suggests"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}
