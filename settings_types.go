package forge

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"time"
)

// ApplicationSettings is the instance-wide configuration (Document 3 §2.1). A setting that no field
// names is in Extra.
//
// "Update only" marks a setting that the contract shows among the parameters of the update
// (Document 3 §4.1.1 and §4.1.2), and not in responses. "Named by a condition only" marks a setting
// that another one depends on, and that the contract shows in neither. Most servers show both.
//
// A setting that a response may omit can hold that: a pointer (nil: omitted or null), a Nullable
// (zero: omitted), a slice or a map (nil: omitted or null). These are the settings marked so, those
// of a tier, and those introduced in a release that the contract names. All others are zero if
// omitted. Units and special values that the contract does not show are those of deployed servers.
type ApplicationSettings struct {
	// Identity.

	// ID is the id of the settings object.
	ID int64 `json:"id"`
	// CreatedAt is when the settings were first stored.
	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is when a setting last changed.
	UpdatedAt time.Time `json:"updated_at"`

	// Sign-up and sign-in.

	// SignupEnabled allows users to create their own accounts. Default: true.
	SignupEnabled bool `json:"signup_enabled"`
	// EmailRestrictionsEnabled checks the e-mail address against EmailRestrictions at sign-up. Update
	// only.
	EmailRestrictionsEnabled *bool `json:"email_restrictions_enabled"`
	// EmailRestrictions is the regular expression that e-mail addresses are checked against at
	// sign-up. Update only.
	EmailRestrictions *string `json:"email_restrictions"`
	// AfterSignUpText is shown after sign-up. Update only.
	AfterSignUpText *string `json:"after_sign_up_text"`
	// RequireAdminApprovalAfterUserSignup holds new accounts until an administrator approves them.
	RequireAdminApprovalAfterUserSignup bool `json:"require_admin_approval_after_user_signup"`
	// PasswordAuthenticationEnabledForWeb allows users to sign in to the web interface with a
	// password.
	PasswordAuthenticationEnabledForWeb bool `json:"password_authentication_enabled_for_web"`
	// SigninEnabled is "true" if users may sign in to the web interface with a password, otherwise
	// "false". Update only.
	//
	// Deprecated: use PasswordAuthenticationEnabledForWeb.
	SigninEnabled *string `json:"signin_enabled"`
	// SignInRestrictions restricts who may sign in and how. The contract does not show the keys.
	SignInRestrictions map[string]json.RawMessage `json:"sign_in_restrictions"`
	// NotifyOnUnknownSignIn notifies users of sign-ins from unknown IP addresses. Update only.
	NotifyOnUnknownSignIn *bool `json:"notify_on_unknown_sign_in"`
	// AfterSignOutPath is where users are redirected after sign-out. Null: the sign-in page.
	AfterSignOutPath Nullable[string] `json:"after_sign_out_path"`
	// HomePageURL is where visitors without a session are redirected. Null: the sign-in page.
	HomePageURL Nullable[string] `json:"home_page_url"`
	// SessionExpireDelay is how long a session is valid, in minutes.
	SessionExpireDelay int `json:"session_expire_delay"`
	// MaxLoginAttempts is the number of failed sign-ins that locks an account.
	MaxLoginAttempts int `json:"max_login_attempts"`
	// FailedLoginAttemptsUnlockPeriodInMinutes is how long a locked account stays locked, in minutes.
	FailedLoginAttemptsUnlockPeriodInMinutes int `json:"failed_login_attempts_unlock_period_in_minutes"`
	// AdminMode requires administrators to authenticate again for administrative tasks.
	AdminMode bool `json:"admin_mode"`
	// RequireTwoFactorAuthentication requires two-factor authentication of all users. Named by a
	// condition only.
	RequireTwoFactorAuthentication *bool `json:"require_two_factor_authentication"`
	// RequireAdminTwoFactorAuthentication requires two-factor authentication of administrators.
	// Update only.
	RequireAdminTwoFactorAuthentication *bool `json:"require_admin_two_factor_authentication"`
	// TwoFactorGracePeriod is how long users may postpone two-factor authentication, in hours. Update
	// only.
	TwoFactorGracePeriod *int `json:"two_factor_grace_period"`
	// UniqueIPsLimitEnabled limits the number of IP addresses that a user signs in from. Update only.
	UniqueIPsLimitEnabled *bool `json:"unique_ips_limit_enabled"`
	// UniqueIPsLimitPerUser is the maximum number of IP addresses per user. Update only.
	UniqueIPsLimitPerUser *int `json:"unique_ips_limit_per_user"`
	// UniqueIPsLimitTimeWindow is how long an IP address counts, in seconds. Update only.
	UniqueIPsLimitTimeWindow *int `json:"unique_ips_limit_time_window"`
	// TopLevelGroupCreationEnabled allows users to create top-level groups. Default: true.
	TopLevelGroupCreationEnabled bool `json:"top_level_group_creation_enabled"`
	// DisableInviteMembers prevents all users from inviting members to groups and projects.
	DisableInviteMembers bool `json:"disable_invite_members"`
	// UserOAuthApplications allows users to register OAuth applications. It does not affect
	// applications of groups.
	UserOAuthApplications bool `json:"user_oauth_applications"`
	// DomainAllowlist lists the e-mail domains allowed at sign-up. Empty: all.
	DomainAllowlist []string `json:"domain_allowlist"`
	// DomainDenylistEnabled enables DomainDenylist.
	DomainDenylistEnabled bool `json:"domain_denylist_enabled"`
	// DomainDenylist lists the e-mail domains that are refused at sign-up.
	DomainDenylist []string `json:"domain_denylist"`

	// Defaults.

	// DefaultProjectsLimit is the number of personal projects that a new user may have.
	DefaultProjectsLimit int `json:"default_projects_limit"`
	// DefaultBranchProtection is the protection level of new default branches.
	//
	// Deprecated: since 17.0; use DefaultBranchProtectionDefaults.
	DefaultBranchProtection int `json:"default_branch_protection"`
	// DefaultBranchProtectionDefaults is the protection of new default branches.
	DefaultBranchProtectionDefaults BranchProtectionDefaults `json:"default_branch_protection_defaults"`
	// DefaultPreferredLanguage is the language of users who have not chosen one.
	DefaultPreferredLanguage string `json:"default_preferred_language"`
	// DefaultSnippetVisibility is the visibility of new snippets: VisibilityPrivate,
	// VisibilityInternal or VisibilityPublic.
	DefaultSnippetVisibility Visibility `json:"default_snippet_visibility"`
	// DefaultProjectVisibility is the visibility of new projects: VisibilityPrivate,
	// VisibilityInternal or VisibilityPublic.
	DefaultProjectVisibility Visibility `json:"default_project_visibility"`
	// DefaultGroupVisibility is the visibility of new groups: VisibilityPrivate, VisibilityInternal or
	// VisibilityPublic.
	DefaultGroupVisibility Visibility `json:"default_group_visibility"`
	// DefaultCIConfigPath is the path of the CI configuration file in new projects. Null: the
	// server's default path.
	DefaultCIConfigPath Nullable[string] `json:"default_ci_config_path"`
	// RestrictedVisibilityLevels lists the visibilities that only administrators may choose: any of
	// VisibilityPrivate, VisibilityInternal and VisibilityPublic.
	RestrictedVisibilityLevels []Visibility `json:"restricted_visibility_levels"`
	// DeletionAdjournedPeriod is how long deleted projects and groups can be restored, in days.
	DeletionAdjournedPeriod int `json:"deletion_adjourned_period"`
	// GravatarEnabled loads pictures of users from the avatar service.
	GravatarEnabled bool `json:"gravatar_enabled"`
	// FirstDayOfWeek is the first day in calendars: 0 Sunday, 1 Monday, 6 Saturday.
	FirstDayOfWeek int `json:"first_day_of_week"`
	// CanCreateGroup allows new users to create groups.
	CanCreateGroup bool `json:"can_create_group"`
	// AllowProjectCreationForGuestAndBelow allows users with at most the Guest role to create groups
	// and personal projects. Default: true. Since 16.8. Update only.
	AllowProjectCreationForGuestAndBelow *bool `json:"allow_project_creation_for_guest_and_below"`
	// UserDefaultsToPrivateProfile makes the profiles of new users private. Default: false. Since
	// 15.8.
	UserDefaultsToPrivateProfile *bool `json:"user_defaults_to_private_profile"`
	// UserDefaultExternal makes new users external. Update only.
	UserDefaultExternal *bool `json:"user_default_external"`
	// UserDefaultInternalRegex is a regular expression. New users whose e-mail address matches are
	// internal, despite UserDefaultExternal. Update only.
	UserDefaultInternalRegex *string `json:"user_default_internal_regex"`

	// Size limits.

	// MaxAttachmentSize is the maximum size of an attachment, in MB.
	MaxAttachmentSize int `json:"max_attachment_size"`
	// MaxDecompressedArchiveSize is the maximum decompressed size of an imported archive, in MB. 0:
	// no limit.
	MaxDecompressedArchiveSize int `json:"max_decompressed_archive_size"`
	// MaxExportSize is the maximum size of an export, in MB. 0: no limit.
	MaxExportSize int `json:"max_export_size"`
	// MaxImportSize is the maximum size of an import, in MB. 0: no limit.
	MaxImportSize int `json:"max_import_size"`
	// MaxImportRemoteFileSize is the maximum size of a file imported from object storage, in MB. 0:
	// no limit.
	MaxImportRemoteFileSize int `json:"max_import_remote_file_size"`
	// SnippetSizeLimit is the maximum size of a snippet, in bytes. Default: 52428800.
	SnippetSizeLimit int `json:"snippet_size_limit"`
	// WikiPageMaxContentBytes is the maximum size of a wiki page, in bytes. Minimum: 1024. Default:
	// 5242880.
	WikiPageMaxContentBytes int `json:"wiki_page_max_content_bytes"`
	// AsciiDocMaxIncludes is the maximum number of include directives in an AsciiDoc document.
	// Default: 32. Maximum: 64. Update only.
	AsciiDocMaxIncludes *int `json:"asciidoc_max_includes"`
	// BulkImportMaxDownloadFileSize is the maximum size of a file downloaded by direct transfer, in
	// MB.
	BulkImportMaxDownloadFileSize int `json:"bulk_import_max_download_file_size"`

	// Registry and packages.

	// ContainerExpirationPoliciesEnableHistoricEntries runs cleanup policies in projects that are
	// older than the policies.
	ContainerExpirationPoliciesEnableHistoricEntries bool `json:"container_expiration_policies_enable_historic_entries"`
	// ContainerRegistryCleanupTagsServiceMaxListSize is the maximum number of tags that one run of a
	// cleanup policy deletes.
	ContainerRegistryCleanupTagsServiceMaxListSize int `json:"container_registry_cleanup_tags_service_max_list_size"`
	// ContainerRegistryDeleteTagsServiceTimeout is the time limit for one batch of tag deletions of a
	// cleanup policy, in seconds.
	ContainerRegistryDeleteTagsServiceTimeout int `json:"container_registry_delete_tags_service_timeout"`
	// ContainerRegistryExpirationPoliciesCaching caches the creation times of tags for cleanup
	// policies.
	ContainerRegistryExpirationPoliciesCaching bool `json:"container_registry_expiration_policies_caching"`
	// ContainerRegistryExpirationPoliciesWorkerCapacity is the number of workers for cleanup
	// policies.
	ContainerRegistryExpirationPoliciesWorkerCapacity int `json:"container_registry_expiration_policies_worker_capacity"`
	// ContainerRegistryTokenExpireDelay is how long a registry token is valid, in minutes.
	ContainerRegistryTokenExpireDelay int `json:"container_registry_token_expire_delay"`
	// PackageRegistryCleanupPoliciesWorkerCapacity is the number of workers for cleanup policies of
	// packages.
	PackageRegistryCleanupPoliciesWorkerCapacity int `json:"package_registry_cleanup_policies_worker_capacity"`
	// PackageRegistryAllowAnyoneToPullOption allows projects to make their packages public.
	PackageRegistryAllowAnyoneToPullOption bool `json:"package_registry_allow_anyone_to_pull_option"`
	// MavenPackageRequestsForwarding forwards requests for missing Maven packages to the public
	// repository.
	MavenPackageRequestsForwarding bool `json:"maven_package_requests_forwarding"`
	// NPMPackageRequestsForwarding forwards requests for missing npm packages to the public registry.
	NPMPackageRequestsForwarding bool `json:"npm_package_requests_forwarding"`
	// PyPIPackageRequestsForwarding forwards requests for missing PyPI packages to the public index.
	PyPIPackageRequestsForwarding bool `json:"pypi_package_requests_forwarding"`
	// NuGetSkipMetadataURLValidation skips the validation of URLs in the metadata of NuGet packages.
	// Since 17.0. Update only.
	NuGetSkipMetadataURLValidation *bool `json:"nuget_skip_metadata_url_validation"`
	// HelmMaxPackagesCount is the maximum number of Helm packages listed per channel. Minimum: 1.
	// Default: 1000. Update only.
	HelmMaxPackagesCount *int `json:"helm_max_packages_count"`

	// Processing.

	// DecompressArchiveFileTimeout is the time limit for decompressing an archive, in seconds. 0: no
	// limit.
	DecompressArchiveFileTimeout int `json:"decompress_archive_file_timeout"`
	// TerminalMaxSessionTime is how long a session of the web terminal may last, in seconds. 0: no
	// limit.
	TerminalMaxSessionTime int `json:"terminal_max_session_time"`
	// PollingIntervalMultiplier multiplies the intervals at which web pages poll. 0: polling is off.
	PollingIntervalMultiplier float64 `json:"polling_interval_multiplier"`
	// RepositoryStoragesWeighted is the weight of each repository storage, by name: how likely it
	// receives a new repository.
	RepositoryStoragesWeighted map[string]int `json:"repository_storages_weighted"`
	// KeepLatestArtifact prevents the artifacts of the latest successful pipelines from expiring.
	KeepLatestArtifact bool `json:"keep_latest_artifact"`
	// JobQueueJobLimiterMode is how background jobs that are too large are handled: JobLimiterTrack or
	// JobLimiterCompress. Default: JobLimiterCompress. Update only.
	JobQueueJobLimiterMode *JobLimiterMode `json:"jobqueue_job_limiter_mode"`
	// JobQueueJobLimiterCompressionThresholdBytes is the size from which background jobs are
	// compressed, in bytes. Default: 100000. Update only.
	JobQueueJobLimiterCompressionThresholdBytes *int `json:"jobqueue_job_limiter_compression_threshold_bytes"`
	// JobQueueJobLimiterLimitBytes is the size from which background jobs are rejected, in bytes.
	// Default: 0, no job is rejected. Update only.
	JobQueueJobLimiterLimitBytes *int `json:"jobqueue_job_limiter_limit_bytes"`
	// TimeTrackingLimitToHours shows tracked time in hours, without days and weeks. Default: false.
	// Update only.
	TimeTrackingLimitToHours *bool `json:"time_tracking_limit_to_hours"`

	// CI and runners.

	// ArchiveBuildsInHumanReadable is the age after which jobs are archived and cannot be retried,
	// such as "15 days". Minimum: 1 day. Empty: never. Update only.
	ArchiveBuildsInHumanReadable *string `json:"archive_builds_in_human_readable"`
	// SharedRunnersEnabled enables instance runners for new projects. Update only.
	SharedRunnersEnabled *bool `json:"shared_runners_enabled"`
	// SharedRunnersText is shown with the instance runners. Update only.
	SharedRunnersText *string `json:"shared_runners_text"`
	// AllowRunnerRegistrationToken allows runners to be registered with a registration token.
	// Default: true. Update only.
	AllowRunnerRegistrationToken *bool `json:"allow_runner_registration_token"`
	// ValidRunnerRegistrars lists whose members may register runners: RunnerRegistrarGroup,
	// RunnerRegistrarProject or both. Empty: only administrators. Update only.
	ValidRunnerRegistrars []RunnerRegistrar `json:"valid_runner_registrars"`
	// RunnerTokenExpirationInterval is how long tokens of newly registered instance runners are
	// valid, in seconds. Minimum: 7200. Null: tokens do not expire. Update only.
	RunnerTokenExpirationInterval Nullable[int] `json:"runner_token_expiration_interval"`
	// GroupRunnerTokenExpirationInterval is how long tokens of newly registered group runners are
	// valid, in seconds. Minimum: 7200. Null: tokens do not expire. Update only.
	GroupRunnerTokenExpirationInterval Nullable[int] `json:"group_runner_token_expiration_interval"`
	// ProjectRunnerTokenExpirationInterval is how long tokens of newly registered project runners are
	// valid, in seconds. Minimum: 7200. Null: tokens do not expire. Update only.
	ProjectRunnerTokenExpirationInterval Nullable[int] `json:"project_runner_token_expiration_interval"`
	// UpdateRunnerVersionsEnabled loads the list of runner releases from the vendor. Update only.
	UpdateRunnerVersionsEnabled *bool `json:"update_runner_versions_enabled"`
	// EnableArtifactExternalRedirectWarningPage shows a warning before pages in artifacts redirect to
	// another site. Update only.
	EnableArtifactExternalRedirectWarningPage *bool `json:"enable_artifact_external_redirect_warning_page"`
	// SuggestPipelineEnabled suggests a pipeline to projects without one. Update only.
	SuggestPipelineEnabled *bool `json:"suggest_pipeline_enabled"`
	// ReceptiveClusterAgentsEnabled enables cluster agents that wait for connections from the server.
	// Since 17.4. Update only.
	ReceptiveClusterAgentsEnabled *bool `json:"receptive_cluster_agents_enabled"`

	// Dormant projects and housekeeping.

	// DeleteInactiveProjects deletes dormant projects. Default: false. Update only.
	DeleteInactiveProjects *bool `json:"delete_inactive_projects"`
	// InactiveProjectsDeleteAfterMonths is how long a dormant project is kept, in months. Default: 2.
	// Update only.
	InactiveProjectsDeleteAfterMonths *int `json:"inactive_projects_delete_after_months"`
	// InactiveProjectsMinSizeMB is the size from which dormant projects are deleted, in MB. Default:
	// 0. Update only.
	InactiveProjectsMinSizeMB *int `json:"inactive_projects_min_size_mb"`
	// InactiveProjectsSendWarningEmailAfterMonths is the time after which Maintainers of a dormant
	// project are warned of its deletion, in months. Update only.
	InactiveProjectsSendWarningEmailAfterMonths *int `json:"inactive_projects_send_warning_email_after_months"`
	// HousekeepingOptimizeRepositoryPeriod is the number of pushes after which a repository is
	// optimized. Update only.
	HousekeepingOptimizeRepositoryPeriod *int `json:"housekeeping_optimize_repository_period"`
	// HousekeepingFullRepackPeriod is the number of pushes after which a repository is fully
	// repacked. Update only.
	//
	// Deprecated: since 15.8; use HousekeepingOptimizeRepositoryPeriod.
	HousekeepingFullRepackPeriod *int `json:"housekeeping_full_repack_period"`
	// HousekeepingGCPeriod is the number of pushes after which garbage is collected. Update only.
	//
	// Deprecated: since 15.8; use HousekeepingOptimizeRepositoryPeriod.
	HousekeepingGCPeriod *int `json:"housekeeping_gc_period"`
	// HousekeepingIncrementalRepackPeriod is the number of pushes after which a repository is partly
	// repacked. Update only.
	//
	// Deprecated: since 15.8; use HousekeepingOptimizeRepositoryPeriod.
	HousekeepingIncrementalRepackPeriod *int `json:"housekeeping_incremental_repack_period"`

	// Key restrictions.

	// RSAKeyRestriction is the minimum size of RSA keys, in bits. 0: any size; -1: forbidden.
	RSAKeyRestriction int `json:"rsa_key_restriction"`
	// DSAKeyRestriction is the minimum size of DSA keys, in bits. 0: any size; -1: forbidden.
	DSAKeyRestriction int `json:"dsa_key_restriction"`
	// ECDSAKeyRestriction is the minimum size of ECDSA keys, in bits. 0: any size; -1: forbidden.
	ECDSAKeyRestriction int `json:"ecdsa_key_restriction"`
	// Ed25519KeyRestriction is the minimum size of Ed25519 keys, in bits. 0: any size; -1: forbidden.
	Ed25519KeyRestriction int `json:"ed25519_key_restriction"`
	// ECDSASKKeyRestriction is the minimum size of ECDSA keys on hardware tokens, in bits. 0: any
	// size; -1: forbidden.
	ECDSASKKeyRestriction int `json:"ecdsa_sk_key_restriction"`
	// Ed25519SKKeyRestriction is the minimum size of Ed25519 keys on hardware tokens, in bits. 0: any
	// size; -1: forbidden.
	Ed25519SKKeyRestriction int `json:"ed25519_sk_key_restriction"`

	// Terms and profile.

	// EnforceTerms requires users to accept Terms.
	EnforceTerms bool `json:"enforce_terms"`
	// Terms are the terms of service, in Markdown.
	Terms string `json:"terms"`
	// UserShowAddSSHKeyMessage reminds users without an SSH key to add one.
	UserShowAddSSHKeyMessage bool `json:"user_show_add_ssh_key_message"`
	// UserDeactivationEmailsEnabled sends users an e-mail when their account is deactivated. Update
	// only.
	UserDeactivationEmailsEnabled *bool `json:"user_deactivation_emails_enabled"`
	// AllowAccountDeletion allows users to delete their own accounts. Premium and Ultimate.
	AllowAccountDeletion *bool `json:"allow_account_deletion"`
	// UpdatingNameDisabledForUsers prevents users from changing their names.
	UpdatingNameDisabledForUsers bool `json:"updating_name_disabled_for_users"`
	// LocalMarkdownVersion is a number. Increasing it renders all cached Markdown again.
	LocalMarkdownVersion int `json:"local_markdown_version"`
	// PerformanceBarAllowedGroupID is the group whose members may use the performance bar. 0: none.
	PerformanceBarAllowedGroupID int64 `json:"performance_bar_allowed_group_id"`

	// Notifications and usage data.

	// AbuseNotificationEmail is the address that receives abuse reports. Update only.
	AbuseNotificationEmail *string `json:"abuse_notification_email"`
	// AdminNotificationEmail is AbuseNotificationEmail under its old name. Update only.
	//
	// Deprecated: use AbuseNotificationEmail.
	AdminNotificationEmail *string `json:"admin_notification_email"`
	// WhatsNewVariant is which users see the page "What's new": WhatsNewAllTiers, WhatsNewCurrentTier
	// or WhatsNewDisabled. Update only.
	WhatsNewVariant *WhatsNewVariant `json:"whats_new_variant"`
	// UsagePingEnabled reports license usage to the vendor weekly. Update only.
	UsagePingEnabled *bool `json:"usage_ping_enabled"`
	// IncludeOptionalMetricsInServicePing adds optional metrics to the usage report. Since 16.10.
	// Update only.
	IncludeOptionalMetricsInServicePing *bool `json:"include_optional_metrics_in_service_ping"`
	// VersionCheckEnabled checks with the vendor for newer versions. Update only.
	VersionCheckEnabled *bool `json:"version_check_enabled"`

	// Spam protection.

	// AntispamEnabled enables the spam service. Update only.
	AntispamEnabled *bool `json:"antispam_enabled"`
	// AntispamAPIKey is the API key of the spam service. A secret. Update only.
	AntispamAPIKey *string `json:"antispam_api_key"`
	// SpamCheckEndpointEnabled enables an external spam check. Default: false. Update only.
	SpamCheckEndpointEnabled *bool `json:"spam_check_endpoint_enabled"`
	// SpamCheckEndpointURL is the URL of the external spam check. Its scheme is grpc or tls; tls
	// encrypts. Update only.
	SpamCheckEndpointURL *string `json:"spam_check_endpoint_url"`
	// SpamCheckAPIKey is the API key of the external spam check. A secret. Update only.
	SpamCheckAPIKey *string `json:"spam_check_api_key"`

	// Requests.

	// AllowLocalRequestsFromWebHooksAndServices allows webhooks and integrations to call the local
	// network.
	AllowLocalRequestsFromWebHooksAndServices bool `json:"allow_local_requests_from_web_hooks_and_services"`
	// AllowLocalRequestsFromHooksAndServices is AllowLocalRequestsFromWebHooksAndServices under its
	// old name.
	//
	// Deprecated: use AllowLocalRequestsFromWebHooksAndServices.
	AllowLocalRequestsFromHooksAndServices bool `json:"allow_local_requests_from_hooks_and_services"`
	// AllowLocalRequestsFromSystemHooks allows system hooks to call the local network.
	AllowLocalRequestsFromSystemHooks bool `json:"allow_local_requests_from_system_hooks"`
	// OutboundLocalRequestsWhitelist lists hosts and addresses in the local network that hooks may
	// always call.
	OutboundLocalRequestsWhitelist []string `json:"outbound_local_requests_whitelist"`

	// Asset proxy.

	// AssetProxyEnabled loads external images through a proxy. A change requires a restart of the
	// server.
	AssetProxyEnabled bool `json:"asset_proxy_enabled"`
	// AssetProxyURL is the URL of the asset proxy.
	AssetProxyURL string `json:"asset_proxy_url"`
	// AssetProxyAllowlist lists the domains whose images are loaded without the proxy.
	AssetProxyAllowlist []string `json:"asset_proxy_allowlist"`
	// AssetProxyWhitelist is AssetProxyAllowlist under its old name.
	AssetProxyWhitelist []string `json:"asset_proxy_whitelist"`

	// Rate limits.

	// IssuesCreateLimit is how many issues a user may create per minute. 0: no limit.
	IssuesCreateLimit int `json:"issues_create_limit"`
	// RawBlobRequestLimit is how many raw blobs may be read per minute, project and path. 0: no
	// limit.
	RawBlobRequestLimit int `json:"raw_blob_request_limit"`
	// ProjectJobsAPIRateLimit is how often a user may list jobs of a project per minute. 0: no limit.
	ProjectJobsAPIRateLimit int `json:"project_jobs_api_rate_limit"`
	// ProjectsAPIRateLimitUnauthenticated is how often an IP address may list projects anonymously,
	// per 10 minutes. 0: no limit.
	ProjectsAPIRateLimitUnauthenticated int `json:"projects_api_rate_limit_unauthenticated"`
	// UsersAPILimitFollowers is how often a user may list followers per minute. 0: no limit.
	UsersAPILimitFollowers int `json:"users_api_limit_followers"`
	// UsersAPILimitFollowing is how often a user may list followed users per minute. 0: no limit.
	UsersAPILimitFollowing int `json:"users_api_limit_following"`
	// UsersAPILimitStatus is how often a user may read statuses of users per minute. 0: no limit.
	UsersAPILimitStatus int `json:"users_api_limit_status"`
	// UsersAPILimitSSHKeys is how often a user may list SSH keys per minute. 0: no limit.
	UsersAPILimitSSHKeys int `json:"users_api_limit_ssh_keys"`
	// UsersAPILimitSSHKey is how often a user may read an SSH key per minute. 0: no limit.
	UsersAPILimitSSHKey int `json:"users_api_limit_ssh_key"`
	// UsersAPILimitGPGKeys is how often a user may list GPG keys per minute. 0: no limit.
	UsersAPILimitGPGKeys int `json:"users_api_limit_gpg_keys"`
	// UsersAPILimitGPGKey is how often a user may read a GPG key per minute. 0: no limit.
	UsersAPILimitGPGKey int `json:"users_api_limit_gpg_key"`
	// DownstreamPipelineTriggerLimitPerProjectUserSHA is how many downstream pipelines may be
	// triggered per minute, project, user and commit. 0: no limit.
	DownstreamPipelineTriggerLimitPerProjectUserSHA int `json:"downstream_pipeline_trigger_limit_per_project_user_sha"`
	// RateLimitingResponseText is the text of responses to throttled requests. Null: the server's
	// default text.
	RateLimitingResponseText Nullable[string] `json:"rate_limiting_response_text"`

	// Rate-limit families: each has a switch, a period and a number of requests.

	// ThrottleAuthenticatedAPIEnabled limits API requests per user. Update only.
	ThrottleAuthenticatedAPIEnabled *bool `json:"throttle_authenticated_api_enabled"`
	// ThrottleAuthenticatedAPIPeriodInSeconds is the period of that limit, in seconds. Update only.
	ThrottleAuthenticatedAPIPeriodInSeconds *int `json:"throttle_authenticated_api_period_in_seconds"`
	// ThrottleAuthenticatedAPIRequestsPerPeriod is the number of requests per period. Update only.
	ThrottleAuthenticatedAPIRequestsPerPeriod *int `json:"throttle_authenticated_api_requests_per_period"`
	// ThrottleAuthenticatedWebEnabled limits web requests per user. Update only.
	ThrottleAuthenticatedWebEnabled *bool `json:"throttle_authenticated_web_enabled"`
	// ThrottleAuthenticatedWebPeriodInSeconds is the period of that limit, in seconds. Update only.
	ThrottleAuthenticatedWebPeriodInSeconds *int `json:"throttle_authenticated_web_period_in_seconds"`
	// ThrottleAuthenticatedWebRequestsPerPeriod is the number of requests per period. Update only.
	ThrottleAuthenticatedWebRequestsPerPeriod *int `json:"throttle_authenticated_web_requests_per_period"`
	// ThrottleAuthenticatedPackagesAPIEnabled limits requests to the package registry per user.
	// Update only.
	ThrottleAuthenticatedPackagesAPIEnabled *bool `json:"throttle_authenticated_packages_api_enabled"`
	// ThrottleAuthenticatedPackagesAPIPeriodInSeconds is the period of that limit, in seconds. Update
	// only.
	ThrottleAuthenticatedPackagesAPIPeriodInSeconds *int `json:"throttle_authenticated_packages_api_period_in_seconds"`
	// ThrottleAuthenticatedPackagesAPIRequestsPerPeriod is the number of requests per period. Update
	// only.
	ThrottleAuthenticatedPackagesAPIRequestsPerPeriod *int `json:"throttle_authenticated_packages_api_requests_per_period"`
	// ThrottleAuthenticatedGitHTTPEnabled limits Git requests over HTTP per user. Default: false.
	// Since 18.1, behind a feature flag and not ready for production. Update only.
	ThrottleAuthenticatedGitHTTPEnabled *bool `json:"throttle_authenticated_git_http_enabled"`
	// ThrottleAuthenticatedGitHTTPPeriodInSeconds is the period of that limit, in seconds. It
	// applies only if ThrottleAuthenticatedGitHTTPEnabled is true. Default: 3600. Since 18.1,
	// behind a feature flag and not ready for production. Update only.
	ThrottleAuthenticatedGitHTTPPeriodInSeconds *int `json:"throttle_authenticated_git_http_period_in_seconds"`
	// ThrottleAuthenticatedGitHTTPRequestsPerPeriod is the number of requests per period. It
	// applies only if ThrottleAuthenticatedGitHTTPEnabled is true. Default: 3600. Since 18.1,
	// behind a feature flag and not ready for production. Update only.
	ThrottleAuthenticatedGitHTTPRequestsPerPeriod *int `json:"throttle_authenticated_git_http_requests_per_period"`
	// ThrottleUnauthenticatedAPIEnabled limits anonymous API requests per IP address. Update only.
	ThrottleUnauthenticatedAPIEnabled *bool `json:"throttle_unauthenticated_api_enabled"`
	// ThrottleUnauthenticatedAPIPeriodInSeconds is the period of that limit, in seconds. Update only.
	ThrottleUnauthenticatedAPIPeriodInSeconds *int `json:"throttle_unauthenticated_api_period_in_seconds"`
	// ThrottleUnauthenticatedAPIRequestsPerPeriod is the number of requests per period. Update only.
	ThrottleUnauthenticatedAPIRequestsPerPeriod *int `json:"throttle_unauthenticated_api_requests_per_period"`
	// ThrottleUnauthenticatedWebEnabled limits anonymous web requests per IP address. Update only.
	ThrottleUnauthenticatedWebEnabled *bool `json:"throttle_unauthenticated_web_enabled"`
	// ThrottleUnauthenticatedWebPeriodInSeconds is the period of that limit, in seconds. Update only.
	ThrottleUnauthenticatedWebPeriodInSeconds *int `json:"throttle_unauthenticated_web_period_in_seconds"`
	// ThrottleUnauthenticatedWebRequestsPerPeriod is the number of requests per period. Update only.
	ThrottleUnauthenticatedWebRequestsPerPeriod *int `json:"throttle_unauthenticated_web_requests_per_period"`
	// ThrottleUnauthenticatedPackagesAPIEnabled limits anonymous requests to the package registry.
	// Update only.
	ThrottleUnauthenticatedPackagesAPIEnabled *bool `json:"throttle_unauthenticated_packages_api_enabled"`
	// ThrottleUnauthenticatedPackagesAPIPeriodInSeconds is the period of that limit, in seconds.
	// Update only.
	ThrottleUnauthenticatedPackagesAPIPeriodInSeconds *int `json:"throttle_unauthenticated_packages_api_period_in_seconds"`
	// ThrottleUnauthenticatedPackagesAPIRequestsPerPeriod is the number of requests per period.
	// Update only.
	ThrottleUnauthenticatedPackagesAPIRequestsPerPeriod *int `json:"throttle_unauthenticated_packages_api_requests_per_period"`
	// ThrottleUnauthenticatedGitHTTPEnabled limits anonymous Git requests over HTTP. Default: false.
	// Since 17.0. Update only.
	ThrottleUnauthenticatedGitHTTPEnabled *bool `json:"throttle_unauthenticated_git_http_enabled"`
	// ThrottleUnauthenticatedGitHTTPPeriodInSeconds is the period of that limit, in seconds. It
	// applies only if ThrottleUnauthenticatedGitHTTPEnabled is true. Default: 3600. Since 17.0.
	// Update only.
	ThrottleUnauthenticatedGitHTTPPeriodInSeconds *int `json:"throttle_unauthenticated_git_http_period_in_seconds"`
	// ThrottleUnauthenticatedGitHTTPRequestsPerPeriod is the number of requests per period. It
	// applies only if ThrottleUnauthenticatedGitHTTPEnabled is true. Default: 3600. Since 17.0.
	// Update only.
	ThrottleUnauthenticatedGitHTTPRequestsPerPeriod *int `json:"throttle_unauthenticated_git_http_requests_per_period"`
	// ThrottleUnauthenticatedEnabled limits anonymous requests per IP address. Update only.
	//
	// Deprecated: since 14.3; use ThrottleUnauthenticatedWebEnabled or
	// ThrottleUnauthenticatedAPIEnabled.
	ThrottleUnauthenticatedEnabled *bool `json:"throttle_unauthenticated_enabled"`
	// ThrottleUnauthenticatedPeriodInSeconds is the period of that limit, in seconds. Update only.
	//
	// Deprecated: since 14.3; use ThrottleUnauthenticatedWebPeriodInSeconds or
	// ThrottleUnauthenticatedAPIPeriodInSeconds.
	ThrottleUnauthenticatedPeriodInSeconds *int `json:"throttle_unauthenticated_period_in_seconds"`
	// ThrottleUnauthenticatedRequestsPerPeriod is the number of requests per period. Update only.
	//
	// Deprecated: since 14.3; use ThrottleUnauthenticatedWebRequestsPerPeriod or
	// ThrottleUnauthenticatedAPIRequestsPerPeriod.
	ThrottleUnauthenticatedRequestsPerPeriod *int `json:"throttle_unauthenticated_requests_per_period"`

	// Tokens.

	// RequirePersonalAccessTokenExpiry requires access tokens to have an expiry date.
	RequirePersonalAccessTokenExpiry bool `json:"require_personal_access_token_expiry"`
	// ServiceAccessTokensExpirationEnforced requires tokens of service accounts to have an expiry
	// date. Update only.
	ServiceAccessTokensExpirationEnforced *bool `json:"service_access_tokens_expiration_enforced"`
	// PersonalAccessTokenPrefix is the prefix of all personal access tokens.
	PersonalAccessTokenPrefix string `json:"personal_access_token_prefix"`

	// External validation.

	// ExternalPipelineValidationServiceURL is the URL of the service that validates pipelines. Null:
	// pipelines are not validated.
	ExternalPipelineValidationServiceURL Nullable[string] `json:"external_pipeline_validation_service_url"`
	// ExternalPipelineValidationServiceToken is the token sent to the validation service. Null: none.
	// A secret.
	ExternalPipelineValidationServiceToken Nullable[string] `json:"external_pipeline_validation_service_token"`
	// ExternalPipelineValidationServiceTimeout is the time limit of the validation service, in
	// seconds. Null: the server's default.
	ExternalPipelineValidationServiceTimeout Nullable[int] `json:"external_pipeline_validation_service_timeout"`
	// ExternalAuthorizationServiceEnabled lets an external service decide who may access a project.
	ExternalAuthorizationServiceEnabled bool `json:"external_authorization_service_enabled"`
	// ExternalAuthorizationServiceURL is the URL of the authorization service.
	ExternalAuthorizationServiceURL string `json:"external_authorization_service_url"`
	// ExternalAuthorizationServiceDefaultLabel is the label of projects without one.
	ExternalAuthorizationServiceDefaultLabel string `json:"external_authorization_service_default_label"`
	// ExternalAuthorizationServiceTimeout is the time limit of the authorization service, in seconds.
	ExternalAuthorizationServiceTimeout float64 `json:"external_authorization_service_timeout"`

	// Imports.

	// BulkImportConcurrentPipelineBatchLimit is the number of concurrent batch exports of direct
	// transfers.
	BulkImportConcurrentPipelineBatchLimit int `json:"bulk_import_concurrent_pipeline_batch_limit"`
	// ConcurrentRelationBatchExportLimit is the number of concurrent batches of an export. Since
	// 17.6.
	ConcurrentRelationBatchExportLimit *int `json:"concurrent_relation_batch_export_limit"`
	// RelationExportBatchSize is the number of records per batch of an export.
	RelationExportBatchSize int `json:"relation_export_batch_size"`
	// ConcurrentGitHubImportJobsLimit is the number of concurrent jobs of an import from GitHub.
	ConcurrentGitHubImportJobsLimit int `json:"concurrent_github_import_jobs_limit"`
	// ConcurrentBitbucketImportJobsLimit is the number of concurrent jobs of an import from Bitbucket
	// Cloud.
	ConcurrentBitbucketImportJobsLimit int `json:"concurrent_bitbucket_import_jobs_limit"`
	// ConcurrentBitbucketServerImportJobsLimit is the number of concurrent jobs of an import from
	// Bitbucket Server.
	ConcurrentBitbucketServerImportJobsLimit int `json:"concurrent_bitbucket_server_import_jobs_limit"`
	// SilentAdminExportsEnabled disables notifications of exports by administrators. Default: false.
	// Since 17.0.
	SilentAdminExportsEnabled *bool `json:"silent_admin_exports_enabled"`

	// Integrations.

	// ChatAppEnabled enables the team-chat app. Update only.
	ChatAppEnabled *bool `json:"chatapp_enabled"`
	// ChatAppID is the client id of the team-chat app. Update only.
	ChatAppID *string `json:"chatapp_id"`
	// ChatAppSecret is the client secret of the team-chat app, for OAuth. A secret. Update only.
	ChatAppSecret *string `json:"chatapp_secret"`
	// ChatAppSigningSecret is the signing secret of the team-chat app, for API requests. A secret.
	// Update only.
	ChatAppSigningSecret *string `json:"chatapp_signing_secret"`
	// ChatAppVerificationToken is the verification token of the team-chat app, for slash commands. A
	// secret. Update only.
	//
	// Deprecated: ChatAppEnabled still requires it.
	ChatAppVerificationToken *string `json:"chatapp_verification_token"`
	// TrackerEnabled enables the analytics tracker. Update only.
	TrackerEnabled *bool `json:"tracker_enabled"`
	// TrackerAppID is the application id at the analytics tracker. Update only.
	TrackerAppID *string `json:"tracker_app_id"`
	// TrackerCollectorHostname is the host name of the tracker's collector. Update only.
	TrackerCollectorHostname *string `json:"tracker_collector_hostname"`
	// TrackerDatabaseCollectorHostname is the host name of the tracker's database collector. Update
	// only.
	TrackerDatabaseCollectorHostname *string `json:"tracker_database_collector_hostname"`
	// TrackerCookieDomain is the domain of the tracker's cookies. Update only.
	TrackerCookieDomain *string `json:"tracker_cookie_domain"`
	// CodeIntelEnabled enables the code-intelligence tool. Default: false. Update only.
	CodeIntelEnabled *bool `json:"codeintel_enabled"`
	// CodeIntelPublicOnly limits the code-intelligence tool to public projects. Default: true. Update
	// only.
	CodeIntelPublicOnly *bool `json:"codeintel_public_only"`
	// CodeIntelURL is the URL of the code-intelligence tool. Update only.
	CodeIntelURL *string `json:"codeintel_url"`
	// EditorExtensionMarketplace configures the extension marketplace of the Web IDE and workspaces.
	// The contract does not show the keys. Update only.
	EditorExtensionMarketplace map[string]json.RawMessage `json:"editor_extension_marketplace"`

	// Other.

	// SilentModeEnabled stops all outbound traffic of the instance: e-mails, webhooks and mirroring.
	// Default: false.
	SilentModeEnabled bool `json:"silent_mode_enabled"`
	// SecurityTXTContent is the public security contact information. Null: none. Since 16.7.
	SecurityTXTContent Nullable[string] `json:"security_txt_content"`
	// FLoCEnabled allows browsers to take part in Federated Learning of Cohorts.
	FLoCEnabled bool `json:"floc_enabled"`
	// EnforcePIPLCompliance handles accounts as Chinese data protection law (PIPL) requires.
	EnforcePIPLCompliance bool `json:"enforce_pipl_compliance"`
	// GloballyAllowedIPs are the IP addresses and ranges that are always allowed, separated by
	// commas.
	GloballyAllowedIPs string `json:"globally_allowed_ips"`

	// The contract describes these without a name: reading them needs WithVocabulary, or GitLab's
	// names.

	// DiagramAEnabled enables the first diagram renderer (PlantUML).
	DiagramAEnabled bool `json:"plantuml_enabled"`
	// DiagramAURL is the URL of the first diagram renderer. Null: none.
	DiagramAURL Nullable[string] `json:"plantuml_url"`
	// DiagramBEnabled enables the second diagram renderer (diagrams.net).
	DiagramBEnabled bool `json:"diagramsnet_enabled"`
	// DiagramBURL is the URL of the second diagram renderer. Null: none.
	DiagramBURL Nullable[string] `json:"diagramsnet_url"`
	// DiagramCEnabled enables the third diagram renderer (Kroki).
	DiagramCEnabled bool `json:"kroki_enabled"`
	// DiagramCURL is the URL of the third diagram renderer. Null: none.
	DiagramCURL Nullable[string] `json:"kroki_url"`
	// IssueTrackerConnectApplicationKey is the id of the OAuth application of issue-tracker connect.
	IssueTrackerConnectApplicationKey string `json:"jira_connect_application_key"`
	// IssueTrackerConnectPublicKeyStorageEnabled stores public keys for issue-tracker connect.
	IssueTrackerConnectPublicKeyStorageEnabled bool `json:"jira_connect_public_key_storage_enabled"`
	// IssueTrackerConnectProxyURL is the URL of the instance that proxies issue-tracker connect.
	IssueTrackerConnectProxyURL string `json:"jira_connect_proxy_url"`
	// IssueTrackerConnectAdditionalAudienceURL is an additional audience of the tokens of
	// issue-tracker connect.
	IssueTrackerConnectAdditionalAudienceURL string `json:"jira_connect_additional_audience_url"`

	// Premium and Ultimate.

	// AllowAllIntegrations allows all integrations. If false, only AllowedIntegrations are allowed.
	// Premium and Ultimate.
	AllowAllIntegrations *bool `json:"allow_all_integrations"`
	// AllowedIntegrations lists the integrations that are allowed if AllowAllIntegrations is false.
	// Premium and Ultimate.
	AllowedIntegrations []string `json:"allowed_integrations"`
	// AllowGroupOwnersToManageLDAP allows owners of groups to manage LDAP. Premium and Ultimate.
	// Update only.
	AllowGroupOwnersToManageLDAP *bool `json:"allow_group_owners_to_manage_ldap"`
	// SharedRunnersMinutes is the quota of compute minutes per group and month. Premium and Ultimate.
	// Update only.
	SharedRunnersMinutes *int `json:"shared_runners_minutes"`
	// GroupOwnersCanManageDefaultBranchProtection allows owners of groups to change the protection of
	// default branches. Premium and Ultimate.
	GroupOwnersCanManageDefaultBranchProtection *bool `json:"group_owners_can_manage_default_branch_protection"`
	// FileTemplateProjectID is the project that file templates are read from. Premium and Ultimate.
	FileTemplateProjectID *int64 `json:"file_template_project_id"`
	// ReplicaNodeAllowedIPs are the IP addresses and ranges of replicas, separated by commas. Premium
	// and Ultimate.
	ReplicaNodeAllowedIPs *string `json:"replica_node_allowed_ips"`
	// ReplicaStatusTimeout is the time limit for the status of a replica, in seconds. Premium and
	// Ultimate.
	ReplicaStatusTimeout *int `json:"replica_status_timeout"`
	// DefaultProjectDeletionProtection allows only administrators to delete projects. Premium and
	// Ultimate.
	DefaultProjectDeletionProtection *bool `json:"default_project_deletion_protection"`
	// DisablePersonalAccessTokens disables personal access tokens. Premium and Ultimate.
	DisablePersonalAccessTokens *bool `json:"disable_personal_access_tokens"`
	// SecurityPolicyGlobalGroupApproversEnabled searches all groups for approvers of security
	// policies. Premium and Ultimate.
	SecurityPolicyGlobalGroupApproversEnabled *bool `json:"security_policy_global_group_approvers_enabled"`
	// SecurityApprovalPoliciesLimit is the maximum number of approval policies per security policy
	// project. Premium and Ultimate.
	SecurityApprovalPoliciesLimit *int `json:"security_approval_policies_limit"`
	// ScanExecutionPoliciesActionLimit is the maximum number of actions per scan execution policy. 0:
	// no limit. Premium and Ultimate.
	ScanExecutionPoliciesActionLimit *int `json:"scan_execution_policies_action_limit"`
	// ScanExecutionPoliciesScheduleLimit is the maximum number of rules of type schedule per scan
	// execution policy. Default: 0. Maximum: 20. Premium and Ultimate by §2.1; §4.1.1 names no tier.
	ScanExecutionPoliciesScheduleLimit *int `json:"scan_execution_policies_schedule_limit"`
	// DeleteUnconfirmedUsers deletes accounts whose e-mail address is not confirmed, after
	// UnconfirmedUsersDeleteAfterDays. Premium and Ultimate.
	DeleteUnconfirmedUsers *bool `json:"delete_unconfirmed_users"`
	// UnconfirmedUsersDeleteAfterDays is how long an unconfirmed account is kept, in days.
	// Minimum: 1. Default: 7. Self-managed Premium and Ultimate. Since 16.1. It has effect only if
	// DeleteUnconfirmedUsers is true.
	UnconfirmedUsersDeleteAfterDays *int `json:"unconfirmed_users_delete_after_days"`
	// AssistantFeaturesEnabled enables the AI assistant. Self-managed Premium and Ultimate. Since
	// 16.10.
	AssistantFeaturesEnabled *bool `json:"assistant_features_enabled"`
	// LockAssistantFeaturesEnabled prevents groups and projects from changing
	// AssistantFeaturesEnabled. Self-managed Premium and Ultimate. Since 16.10.
	LockAssistantFeaturesEnabled *bool `json:"lock_assistant_features_enabled"`
	// UseAnalyticsStoreForAnalytics reads analytics from the analytics store, which must be
	// configured. Premium and Ultimate.
	UseAnalyticsStoreForAnalytics *bool `json:"use_analytics_store_for_analytics"`
	// SecretPushProtectionAvailable allows projects to enable secret push protection; it does not
	// enable it. Ultimate by §4.1.1; Premium and Ultimate by §2.1.
	SecretPushProtectionAvailable *bool `json:"secret_push_protection_available"`
	// VirtualRegistriesEndpointsAPILimit is how often an IP address may call virtual registries, per
	// 15 seconds. 0: no limit. Premium and Ultimate.
	VirtualRegistriesEndpointsAPILimit *int `json:"virtual_registries_endpoints_api_limit"`
	// LockMembershipsToSAML takes memberships from SAML groups only. Premium and Ultimate.
	LockMembershipsToSAML *bool `json:"lock_memberships_to_saml"`

	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`

	read   *settingsObject `json:"-"` // object that the value was decoded from; nil if a program created the value
	merged *settingsObject `json:"-"` // settings that Merge has set; nil for none

	fieldsOnly bool `json:"-"` // decodes the fields alone
}

// Format writes the names of the fields that are set. The values may be secrets.
func (s ApplicationSettings) Format(f fmt.State, _ rune) { writeNames(f, s) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (s ApplicationSettings) LogValue() slog.Value { return slog.StringValue(setFields(s)) }

// BranchProtectionDefaults is the protection of new default branches (Document 3 §2.1).
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

// BranchAccess is a role with a permission on a branch (Document 3 §2.1).
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
	// VisibilityPrivate is visible to its members.
	VisibilityPrivate Visibility = "private"
	// VisibilityInternal is visible to all users who are not external.
	VisibilityInternal Visibility = "internal"
	// VisibilityPublic is visible to everyone.
	VisibilityPublic Visibility = "public"
)
