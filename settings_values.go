package forge

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
	// VisibilityPrivate is visible to its members.
	VisibilityPrivate Visibility = "private"
	// VisibilityInternal is visible to all users who are not external.
	VisibilityInternal Visibility = "internal"
	// VisibilityPublic is visible to everyone.
	VisibilityPublic Visibility = "public"
)
