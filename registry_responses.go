package forge

import (
	"encoding/json"
	"time"
)

// RegistryStatus is the deletion status of a registry repository; empty when it is not being
// deleted.
type RegistryStatus string

const (
	// RegistryStatusDeleteScheduled is a repository that will be deleted.
	RegistryStatusDeleteScheduled RegistryStatus = "delete_scheduled"
	// RegistryStatusDeleteOngoing is a repository that is being deleted.
	RegistryStatusDeleteOngoing RegistryStatus = "delete_ongoing"
	// RegistryStatusDeleteFailed is a repository that could not be deleted. Not part of the contract.
	RegistryStatusDeleteFailed RegistryStatus = "delete_failed"
)

// RegistryProject is a project with the visibility of its registry. The project's other fields are
// in Extra.
type RegistryProject struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// Name is the display name.
	Name string `json:"name"`
	// Visibility selects the users who may see the registry: RegistryVisibilityEnabled,
	// RegistryVisibilityPrivate or RegistryVisibilityDisabled.
	Visibility RegistryVisibility `json:"container_registry_access_level"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// RegistryRepository holds the images of one name.
type RegistryRepository struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// Name is the last part of Path; empty for the repository at the project's own path.
	Name string `json:"name"`
	// Path is the path of the project, followed by Name.
	Path string `json:"path"`
	// ProjectID is the project's id.
	ProjectID int64 `json:"project_id"`
	// Location is the address of the registry, and Path: what docker pull takes.
	Location string `json:"location"`
	// CreatedAt is when the repository was created.
	CreatedAt time.Time `json:"created_at"`
	// CleanupPolicyStartedAt is when the clean-up policy last began; zero when it never did.
	CleanupPolicyStartedAt time.Time `json:"cleanup_policy_started_at"`
	// Status is the deletion status: RegistryStatusDeleteScheduled, RegistryStatusDeleteOngoing or
	// RegistryStatusDeleteFailed; empty when the repository is not being deleted.
	Status RegistryStatus `json:"status"`
	// TagsCount is the number of tags; nil unless it was requested.
	TagsCount *int `json:"tags_count"`
	// Tags are the tags, if they were requested.
	Tags []RegistryTag `json:"tags"`
	// Size is the size of all images together, in bytes; data that they share counts once. nil unless
	// it was requested, and for repositories created before 2021-11-05. Hosted offering only.
	Size *int64 `json:"size"`
	// DeleteAPIPath is the address that Delete calls. Not part of the contract.
	DeleteAPIPath string `json:"delete_api_path"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// RegistryTag is a tag of an image.
type RegistryTag struct {
	// Name is the tag's name.
	Name string `json:"name"`
	// Path is the repository's path, a colon, and Name.
	Path string `json:"path"`
	// Location is the address of the registry, and Path: what docker pull takes.
	Location string `json:"location"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// RegistryTagDetail is a tag with the details of its image.
type RegistryTagDetail struct {
	RegistryTag
	// Revision is the image's id, 64 hex digits.
	Revision string `json:"revision"`
	// ShortRevision is the beginning of Revision, 8 or 9 digits.
	ShortRevision string `json:"short_revision"`
	// Digest is the digest of the manifest: sha256:<hex>. Tags with the same digest are the same
	// image.
	Digest string `json:"digest"`
	// CreatedAt is when the manifest was created, not when it was pushed; zero for a broken image.
	CreatedAt time.Time `json:"created_at"`
	// TotalSize is the compressed size of the layers, in bytes.
	TotalSize int64 `json:"total_size"`
}
