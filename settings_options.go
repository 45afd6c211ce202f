package forge

import (
	"fmt"
	"log/slog"
)

// UpdateSettingsOptions are the settings to change (Document 3 §4.1.1 and §4.1.2). Fields that are
// nil or zero are not sent.
//
// Before anything is sent, the client checks that the settings that an enabled setting requires are
// set (except SharedRunnersMinutes, which only some tiers have), that no deprecated setting is set
// together with its replacement, and that UnconfirmedUsersDeleteAfterDays is not set while
// DeleteUnconfirmedUsers is false. The server checks ranges, sets of values, and regular
// expressions, whose syntax the contract does not name.
type UpdateSettingsOptions struct {
	// Sign-up and sign-in.

	// SignupEnabled allows users to create their own accounts. Default: true.
	SignupEnabled *bool `json:"signup_enabled,omitempty"`
	// EmailRestrictionsEnabled checks the e-mail address against EmailRestrictions at sign-up. True
	// requires EmailRestrictions.
	EmailRestrictionsEnabled *bool `json:"email_restrictions_enabled,omitempty"`
	// EmailRestrictions is the regular expression that e-mail addresses are checked against at
	// sign-up. Required by EmailRestrictionsEnabled.
	EmailRestrictions *string `json:"email_restrictions,omitempty"`
	// AfterSignUpText is shown after sign-up.
	AfterSignUpText *string `json:"after_sign_up_text,omitempty"`
	// PasswordAuthenticationEnabledForWeb allows users to sign in to the web interface with a
	// password. Not in the contract's list of parameters; it replaces SigninEnabled.
	PasswordAuthenticationEnabledForWeb *bool `json:"password_authentication_enabled_for_web,omitempty"`
	// SigninEnabled is "true" if users may sign in to the web interface with a password, otherwise
	// "false".
	//
	// Deprecated: use PasswordAuthenticationEnabledForWeb.
	SigninEnabled *string `json:"signin_enabled,omitempty"`
	// SignInRestrictions restricts who may sign in and how. The contract does not show the keys. An
	// empty map clears it.
	SignInRestrictions map[string]any `json:"sign_in_restrictions,omitzero"`
	// NotifyOnUnknownSignIn notifies users of sign-ins from unknown IP addresses.
	NotifyOnUnknownSignIn *bool `json:"notify_on_unknown_sign_in,omitempty"`
	// AfterSignOutPath is where users are redirected after sign-out. Null: the sign-in page.
	AfterSignOutPath Nullable[string] `json:"after_sign_out_path,omitzero"`
	// AdminMode requires administrators to authenticate again for administrative tasks.
	AdminMode *bool `json:"admin_mode,omitempty"`
	// RequireTwoFactorAuthentication requires two-factor authentication of all users. True requires
	// TwoFactorGracePeriod. Not in the contract's list of parameters; TwoFactorGracePeriod depends on
	// it.
	RequireTwoFactorAuthentication *bool `json:"require_two_factor_authentication,omitempty"`
	// RequireAdminTwoFactorAuthentication requires two-factor authentication of administrators.
	RequireAdminTwoFactorAuthentication *bool `json:"require_admin_two_factor_authentication,omitempty"`
	// TwoFactorGracePeriod is how long users may postpone two-factor authentication, in hours.
	// Required by RequireTwoFactorAuthentication.
	TwoFactorGracePeriod *int `json:"two_factor_grace_period,omitempty"`
	// UniqueIPsLimitEnabled limits the number of IP addresses that a user signs in from. True
	// requires UniqueIPsLimitPerUser and UniqueIPsLimitTimeWindow.
	UniqueIPsLimitEnabled *bool `json:"unique_ips_limit_enabled,omitempty"`
	// UniqueIPsLimitPerUser is the maximum number of IP addresses per user. Required by
	// UniqueIPsLimitEnabled.
	UniqueIPsLimitPerUser *int `json:"unique_ips_limit_per_user,omitempty"`
	// UniqueIPsLimitTimeWindow is how long an IP address counts, in seconds. Required by
	// UniqueIPsLimitEnabled.
	UniqueIPsLimitTimeWindow *int `json:"unique_ips_limit_time_window,omitempty"`
	// TopLevelGroupCreationEnabled allows users to create top-level groups. Default: true.
	TopLevelGroupCreationEnabled *bool `json:"top_level_group_creation_enabled,omitempty"`
	// DisableInviteMembers prevents all users from inviting members to groups and projects.
	DisableInviteMembers *bool `json:"disable_invite_members,omitempty"`
	// UserOAuthApplications allows users to register OAuth applications. It does not affect
	// applications of groups.
	UserOAuthApplications *bool `json:"user_oauth_applications,omitempty"`

	// Defaults.

	// AllowProjectCreationForGuestAndBelow allows users with at most the Guest role to create groups
	// and personal projects. Default: true. Since 16.8.
	AllowProjectCreationForGuestAndBelow *bool `json:"allow_project_creation_for_guest_and_below,omitempty"`
	// UserDefaultsToPrivateProfile makes the profiles of new users private. Default: false. Since
	// 15.8.
	UserDefaultsToPrivateProfile *bool `json:"user_defaults_to_private_profile,omitempty"`
	// UserDefaultExternal makes new users external.
	UserDefaultExternal *bool `json:"user_default_external,omitempty"`
	// UserDefaultInternalRegex is a regular expression. New users whose e-mail address matches are
	// internal, despite UserDefaultExternal.
	UserDefaultInternalRegex *string `json:"user_default_internal_regex,omitempty"`

	// Size limits.

	// SnippetSizeLimit is the maximum size of a snippet, in bytes. Default: 52428800.
	SnippetSizeLimit *int `json:"snippet_size_limit,omitempty"`
	// WikiPageMaxContentBytes is the maximum size of a wiki page, in bytes. Minimum: 1024. Default:
	// 5242880.
	WikiPageMaxContentBytes *int `json:"wiki_page_max_content_bytes,omitempty"`
	// AsciiDocMaxIncludes is the maximum number of include directives in an AsciiDoc document.
	// Default: 32. Maximum: 64.
	AsciiDocMaxIncludes *int `json:"asciidoc_max_includes,omitempty"`

	// Registry and packages.

	// NuGetSkipMetadataURLValidation skips the validation of URLs in the metadata of NuGet packages.
	// Since 17.0.
	NuGetSkipMetadataURLValidation *bool `json:"nuget_skip_metadata_url_validation,omitempty"`
	// HelmMaxPackagesCount is the maximum number of Helm packages listed per channel. Minimum: 1.
	// Default: 1000.
	HelmMaxPackagesCount *int `json:"helm_max_packages_count,omitempty"`

	// Processing.

	// TerminalMaxSessionTime is how long a session of the web terminal may last, in seconds. 0: no
	// limit.
	TerminalMaxSessionTime *int `json:"terminal_max_session_time,omitempty"`
	// JobQueueJobLimiterMode is how background jobs that are too large are handled: JobLimiterTrack or
	// JobLimiterCompress. Default: JobLimiterCompress.
	JobQueueJobLimiterMode JobLimiterMode `json:"jobqueue_job_limiter_mode,omitempty"`
	// JobQueueJobLimiterCompressionThresholdBytes is the size from which background jobs are
	// compressed, in bytes. Default: 100000.
	JobQueueJobLimiterCompressionThresholdBytes *int `json:"jobqueue_job_limiter_compression_threshold_bytes,omitempty"`
	// JobQueueJobLimiterLimitBytes is the size from which background jobs are rejected, in bytes.
	// Default: 0, no job is rejected.
	JobQueueJobLimiterLimitBytes *int `json:"jobqueue_job_limiter_limit_bytes,omitempty"`
	// TimeTrackingLimitToHours shows tracked time in hours, without days and weeks. Default: false.
	TimeTrackingLimitToHours *bool `json:"time_tracking_limit_to_hours,omitempty"`

	// CI and runners.

	// ArchiveBuildsInHumanReadable is the age after which jobs are archived and cannot be retried,
	// such as "15 days". Minimum: 1 day. Empty: never.
	ArchiveBuildsInHumanReadable *string `json:"archive_builds_in_human_readable,omitempty"`
	// SharedRunnersEnabled enables instance runners for new projects. True requires SharedRunnersText
	// and, on Premium and Ultimate, SharedRunnersMinutes.
	SharedRunnersEnabled *bool `json:"shared_runners_enabled,omitempty"`
	// SharedRunnersText is shown with the instance runners. Required by SharedRunnersEnabled.
	SharedRunnersText *string `json:"shared_runners_text,omitempty"`
	// AllowRunnerRegistrationToken allows runners to be registered with a registration token.
	// Default: true.
	AllowRunnerRegistrationToken *bool `json:"allow_runner_registration_token,omitempty"`
	// ValidRunnerRegistrars lists whose members may register runners: RunnerRegistrarGroup,
	// RunnerRegistrarProject or both. Empty: only administrators. An empty slice clears it.
	ValidRunnerRegistrars []RunnerRegistrar `json:"valid_runner_registrars,omitzero"`
	// RunnerTokenExpirationInterval is how long tokens of newly registered instance runners are
	// valid, in seconds. Minimum: 7200. Null: tokens do not expire.
	RunnerTokenExpirationInterval Nullable[int] `json:"runner_token_expiration_interval,omitzero"`
	// GroupRunnerTokenExpirationInterval is how long tokens of newly registered group runners are
	// valid, in seconds. Minimum: 7200. Null: tokens do not expire.
	GroupRunnerTokenExpirationInterval Nullable[int] `json:"group_runner_token_expiration_interval,omitzero"`
	// ProjectRunnerTokenExpirationInterval is how long tokens of newly registered project runners are
	// valid, in seconds. Minimum: 7200. Null: tokens do not expire.
	ProjectRunnerTokenExpirationInterval Nullable[int] `json:"project_runner_token_expiration_interval,omitzero"`
	// UpdateRunnerVersionsEnabled loads the list of runner releases from the vendor.
	UpdateRunnerVersionsEnabled *bool `json:"update_runner_versions_enabled,omitempty"`
	// EnableArtifactExternalRedirectWarningPage shows a warning before pages in artifacts redirect to
	// another site.
	EnableArtifactExternalRedirectWarningPage *bool `json:"enable_artifact_external_redirect_warning_page,omitempty"`
	// SuggestPipelineEnabled suggests a pipeline to projects without one.
	SuggestPipelineEnabled *bool `json:"suggest_pipeline_enabled,omitempty"`
	// ReceptiveClusterAgentsEnabled enables cluster agents that wait for connections from the server.
	// Since 17.4.
	ReceptiveClusterAgentsEnabled *bool `json:"receptive_cluster_agents_enabled,omitempty"`

	// Dormant projects and housekeeping.

	// DeleteInactiveProjects deletes dormant projects. Default: false.
	DeleteInactiveProjects *bool `json:"delete_inactive_projects,omitempty"`
	// InactiveProjectsDeleteAfterMonths is how long a dormant project is kept, in months. Default: 2.
	InactiveProjectsDeleteAfterMonths *int `json:"inactive_projects_delete_after_months,omitempty"`
	// InactiveProjectsMinSizeMB is the size from which dormant projects are deleted, in MB. Default:
	// 0.
	InactiveProjectsMinSizeMB *int `json:"inactive_projects_min_size_mb,omitempty"`
	// InactiveProjectsSendWarningEmailAfterMonths is the time after which Maintainers of a dormant
	// project are warned of its deletion, in months.
	InactiveProjectsSendWarningEmailAfterMonths *int `json:"inactive_projects_send_warning_email_after_months,omitempty"`
	// HousekeepingOptimizeRepositoryPeriod is the number of pushes after which a repository is
	// optimized.
	HousekeepingOptimizeRepositoryPeriod *int `json:"housekeeping_optimize_repository_period,omitempty"`
	// HousekeepingFullRepackPeriod is the number of pushes after which a repository is fully
	// repacked.
	//
	// Deprecated: since 15.8; use HousekeepingOptimizeRepositoryPeriod.
	HousekeepingFullRepackPeriod *int `json:"housekeeping_full_repack_period,omitempty"`
	// HousekeepingGCPeriod is the number of pushes after which garbage is collected.
	//
	// Deprecated: since 15.8; use HousekeepingOptimizeRepositoryPeriod.
	HousekeepingGCPeriod *int `json:"housekeeping_gc_period,omitempty"`
	// HousekeepingIncrementalRepackPeriod is the number of pushes after which a repository is partly
	// repacked.
	//
	// Deprecated: since 15.8; use HousekeepingOptimizeRepositoryPeriod.
	HousekeepingIncrementalRepackPeriod *int `json:"housekeeping_incremental_repack_period,omitempty"`

	// Terms and profile.

	// EnforceTerms requires users to accept Terms. True requires Terms. Not in the contract's list of
	// parameters; Terms depends on it.
	EnforceTerms *bool `json:"enforce_terms,omitempty"`
	// Terms are the terms of service, in Markdown. Required by EnforceTerms.
	Terms *string `json:"terms,omitempty"`
	// UserShowAddSSHKeyMessage reminds users without an SSH key to add one.
	UserShowAddSSHKeyMessage *bool `json:"user_show_add_ssh_key_message,omitempty"`
	// UserDeactivationEmailsEnabled sends users an e-mail when their account is deactivated.
	UserDeactivationEmailsEnabled *bool `json:"user_deactivation_emails_enabled,omitempty"`
	// AllowAccountDeletion allows users to delete their own accounts. Premium and Ultimate.
	AllowAccountDeletion *bool `json:"allow_account_deletion,omitempty"`

	// Notifications and usage data.

	// AbuseNotificationEmail is the address that receives abuse reports.
	AbuseNotificationEmail *string `json:"abuse_notification_email,omitempty"`
	// AdminNotificationEmail is AbuseNotificationEmail under its old name.
	//
	// Deprecated: use AbuseNotificationEmail.
	AdminNotificationEmail *string `json:"admin_notification_email,omitempty"`
	// WhatsNewVariant is which users see the page "What's new": WhatsNewAllTiers, WhatsNewCurrentTier
	// or WhatsNewDisabled.
	WhatsNewVariant WhatsNewVariant `json:"whats_new_variant,omitempty"`
	// UsagePingEnabled reports license usage to the vendor weekly.
	UsagePingEnabled *bool `json:"usage_ping_enabled,omitempty"`
	// IncludeOptionalMetricsInServicePing adds optional metrics to the usage report. Since 16.10.
	IncludeOptionalMetricsInServicePing *bool `json:"include_optional_metrics_in_service_ping,omitempty"`
	// VersionCheckEnabled checks with the vendor for newer versions.
	VersionCheckEnabled *bool `json:"version_check_enabled,omitempty"`

	// Spam protection.

	// AntispamEnabled enables the spam service. True requires AntispamAPIKey.
	AntispamEnabled *bool `json:"antispam_enabled,omitempty"`
	// AntispamAPIKey is the API key of the spam service. A secret. Required by AntispamEnabled.
	AntispamAPIKey *string `json:"antispam_api_key,omitempty"`
	// SpamCheckEndpointEnabled enables an external spam check. Default: false.
	SpamCheckEndpointEnabled *bool `json:"spam_check_endpoint_enabled,omitempty"`
	// SpamCheckEndpointURL is the URL of the external spam check. Its scheme is grpc or tls; tls
	// encrypts.
	SpamCheckEndpointURL *string `json:"spam_check_endpoint_url,omitempty"`
	// SpamCheckAPIKey is the API key of the external spam check. A secret.
	SpamCheckAPIKey *string `json:"spam_check_api_key,omitempty"`

	// Requests.

	// AllowLocalRequestsFromWebHooksAndServices allows webhooks and integrations to call the local
	// network.
	AllowLocalRequestsFromWebHooksAndServices *bool `json:"allow_local_requests_from_web_hooks_and_services,omitempty"`
	// AllowLocalRequestsFromHooksAndServices is AllowLocalRequestsFromWebHooksAndServices under its
	// old name.
	//
	// Deprecated: use AllowLocalRequestsFromWebHooksAndServices.
	AllowLocalRequestsFromHooksAndServices *bool `json:"allow_local_requests_from_hooks_and_services,omitempty"`
	// AllowLocalRequestsFromSystemHooks allows system hooks to call the local network.
	AllowLocalRequestsFromSystemHooks *bool `json:"allow_local_requests_from_system_hooks,omitempty"`

	// Rate-limit families: each has a switch, a period and a number of requests.

	// ThrottleAuthenticatedAPIEnabled limits API requests per user. True requires
	// ThrottleAuthenticatedAPIPeriodInSeconds and ThrottleAuthenticatedAPIRequestsPerPeriod.
	ThrottleAuthenticatedAPIEnabled *bool `json:"throttle_authenticated_api_enabled,omitempty"`
	// ThrottleAuthenticatedAPIPeriodInSeconds is the period of that limit, in seconds. Required by
	// ThrottleAuthenticatedAPIEnabled.
	ThrottleAuthenticatedAPIPeriodInSeconds *int `json:"throttle_authenticated_api_period_in_seconds,omitempty"`
	// ThrottleAuthenticatedAPIRequestsPerPeriod is the number of requests per period. Required by
	// ThrottleAuthenticatedAPIEnabled.
	ThrottleAuthenticatedAPIRequestsPerPeriod *int `json:"throttle_authenticated_api_requests_per_period,omitempty"`
	// ThrottleAuthenticatedWebEnabled limits web requests per user. True requires
	// ThrottleAuthenticatedWebPeriodInSeconds and ThrottleAuthenticatedWebRequestsPerPeriod.
	ThrottleAuthenticatedWebEnabled *bool `json:"throttle_authenticated_web_enabled,omitempty"`
	// ThrottleAuthenticatedWebPeriodInSeconds is the period of that limit, in seconds. Required by
	// ThrottleAuthenticatedWebEnabled.
	ThrottleAuthenticatedWebPeriodInSeconds *int `json:"throttle_authenticated_web_period_in_seconds,omitempty"`
	// ThrottleAuthenticatedWebRequestsPerPeriod is the number of requests per period. Required by
	// ThrottleAuthenticatedWebEnabled.
	ThrottleAuthenticatedWebRequestsPerPeriod *int `json:"throttle_authenticated_web_requests_per_period,omitempty"`
	// ThrottleAuthenticatedPackagesAPIEnabled limits requests to the package registry per user. True
	// requires ThrottleAuthenticatedPackagesAPIPeriodInSeconds and
	// ThrottleAuthenticatedPackagesAPIRequestsPerPeriod.
	ThrottleAuthenticatedPackagesAPIEnabled *bool `json:"throttle_authenticated_packages_api_enabled,omitempty"`
	// ThrottleAuthenticatedPackagesAPIPeriodInSeconds is the period of that limit, in seconds.
	// Required by ThrottleAuthenticatedPackagesAPIEnabled.
	ThrottleAuthenticatedPackagesAPIPeriodInSeconds *int `json:"throttle_authenticated_packages_api_period_in_seconds,omitempty"`
	// ThrottleAuthenticatedPackagesAPIRequestsPerPeriod is the number of requests per period.
	// Required by ThrottleAuthenticatedPackagesAPIEnabled.
	ThrottleAuthenticatedPackagesAPIRequestsPerPeriod *int `json:"throttle_authenticated_packages_api_requests_per_period,omitempty"`
	// ThrottleAuthenticatedGitHTTPEnabled limits Git requests over HTTP per user. Default: false.
	// Since 18.1, behind a feature flag and not ready for production.
	ThrottleAuthenticatedGitHTTPEnabled *bool `json:"throttle_authenticated_git_http_enabled,omitempty"`
	// ThrottleAuthenticatedGitHTTPPeriodInSeconds is the period of that limit, in seconds. It
	// applies only if ThrottleAuthenticatedGitHTTPEnabled is true. Default: 3600. Since 18.1,
	// behind a feature flag and not ready for production.
	ThrottleAuthenticatedGitHTTPPeriodInSeconds *int `json:"throttle_authenticated_git_http_period_in_seconds,omitempty"`
	// ThrottleAuthenticatedGitHTTPRequestsPerPeriod is the number of requests per period. It
	// applies only if ThrottleAuthenticatedGitHTTPEnabled is true. Default: 3600. Since 18.1,
	// behind a feature flag and not ready for production.
	ThrottleAuthenticatedGitHTTPRequestsPerPeriod *int `json:"throttle_authenticated_git_http_requests_per_period,omitempty"`
	// ThrottleUnauthenticatedAPIEnabled limits anonymous API requests per IP address. True requires
	// ThrottleUnauthenticatedAPIPeriodInSeconds and ThrottleUnauthenticatedAPIRequestsPerPeriod.
	ThrottleUnauthenticatedAPIEnabled *bool `json:"throttle_unauthenticated_api_enabled,omitempty"`
	// ThrottleUnauthenticatedAPIPeriodInSeconds is the period of that limit, in seconds. Required by
	// ThrottleUnauthenticatedAPIEnabled.
	ThrottleUnauthenticatedAPIPeriodInSeconds *int `json:"throttle_unauthenticated_api_period_in_seconds,omitempty"`
	// ThrottleUnauthenticatedAPIRequestsPerPeriod is the number of requests per period. Required by
	// ThrottleUnauthenticatedAPIEnabled.
	ThrottleUnauthenticatedAPIRequestsPerPeriod *int `json:"throttle_unauthenticated_api_requests_per_period,omitempty"`
	// ThrottleUnauthenticatedWebEnabled limits anonymous web requests per IP address. True requires
	// ThrottleUnauthenticatedWebPeriodInSeconds and ThrottleUnauthenticatedWebRequestsPerPeriod.
	ThrottleUnauthenticatedWebEnabled *bool `json:"throttle_unauthenticated_web_enabled,omitempty"`
	// ThrottleUnauthenticatedWebPeriodInSeconds is the period of that limit, in seconds. Required by
	// ThrottleUnauthenticatedWebEnabled.
	ThrottleUnauthenticatedWebPeriodInSeconds *int `json:"throttle_unauthenticated_web_period_in_seconds,omitempty"`
	// ThrottleUnauthenticatedWebRequestsPerPeriod is the number of requests per period. Required by
	// ThrottleUnauthenticatedWebEnabled.
	ThrottleUnauthenticatedWebRequestsPerPeriod *int `json:"throttle_unauthenticated_web_requests_per_period,omitempty"`
	// ThrottleUnauthenticatedPackagesAPIEnabled limits anonymous requests to the package registry.
	// True requires ThrottleUnauthenticatedPackagesAPIPeriodInSeconds and
	// ThrottleUnauthenticatedPackagesAPIRequestsPerPeriod.
	ThrottleUnauthenticatedPackagesAPIEnabled *bool `json:"throttle_unauthenticated_packages_api_enabled,omitempty"`
	// ThrottleUnauthenticatedPackagesAPIPeriodInSeconds is the period of that limit, in seconds.
	// Required by ThrottleUnauthenticatedPackagesAPIEnabled.
	ThrottleUnauthenticatedPackagesAPIPeriodInSeconds *int `json:"throttle_unauthenticated_packages_api_period_in_seconds,omitempty"`
	// ThrottleUnauthenticatedPackagesAPIRequestsPerPeriod is the number of requests per period.
	// Required by ThrottleUnauthenticatedPackagesAPIEnabled.
	ThrottleUnauthenticatedPackagesAPIRequestsPerPeriod *int `json:"throttle_unauthenticated_packages_api_requests_per_period,omitempty"`
	// ThrottleUnauthenticatedGitHTTPEnabled limits anonymous Git requests over HTTP. Default: false.
	// Since 17.0.
	ThrottleUnauthenticatedGitHTTPEnabled *bool `json:"throttle_unauthenticated_git_http_enabled,omitempty"`
	// ThrottleUnauthenticatedGitHTTPPeriodInSeconds is the period of that limit, in seconds. It
	// applies only if ThrottleUnauthenticatedGitHTTPEnabled is true. Default: 3600. Since 17.0.
	ThrottleUnauthenticatedGitHTTPPeriodInSeconds *int `json:"throttle_unauthenticated_git_http_period_in_seconds,omitempty"`
	// ThrottleUnauthenticatedGitHTTPRequestsPerPeriod is the number of requests per period. It
	// applies only if ThrottleUnauthenticatedGitHTTPEnabled is true. Default: 3600. Since 17.0.
	ThrottleUnauthenticatedGitHTTPRequestsPerPeriod *int `json:"throttle_unauthenticated_git_http_requests_per_period,omitempty"`
	// ThrottleUnauthenticatedEnabled limits anonymous requests per IP address. True requires
	// ThrottleUnauthenticatedPeriodInSeconds and ThrottleUnauthenticatedRequestsPerPeriod.
	//
	// Deprecated: since 14.3; use ThrottleUnauthenticatedWebEnabled or
	// ThrottleUnauthenticatedAPIEnabled.
	ThrottleUnauthenticatedEnabled *bool `json:"throttle_unauthenticated_enabled,omitempty"`
	// ThrottleUnauthenticatedPeriodInSeconds is the period of that limit, in seconds. Required by
	// ThrottleUnauthenticatedEnabled.
	//
	// Deprecated: since 14.3; use ThrottleUnauthenticatedWebPeriodInSeconds or
	// ThrottleUnauthenticatedAPIPeriodInSeconds.
	ThrottleUnauthenticatedPeriodInSeconds *int `json:"throttle_unauthenticated_period_in_seconds,omitempty"`
	// ThrottleUnauthenticatedRequestsPerPeriod is the number of requests per period. Required by
	// ThrottleUnauthenticatedEnabled.
	//
	// Deprecated: since 14.3; use ThrottleUnauthenticatedWebRequestsPerPeriod or
	// ThrottleUnauthenticatedAPIRequestsPerPeriod.
	ThrottleUnauthenticatedRequestsPerPeriod *int `json:"throttle_unauthenticated_requests_per_period,omitempty"`

	// Tokens.

	// ServiceAccessTokensExpirationEnforced requires tokens of service accounts to have an expiry
	// date.
	ServiceAccessTokensExpirationEnforced *bool `json:"service_access_tokens_expiration_enforced,omitempty"`

	// Imports.

	// BulkImportConcurrentPipelineBatchLimit is the number of concurrent batch exports of direct
	// transfers.
	BulkImportConcurrentPipelineBatchLimit *int `json:"bulk_import_concurrent_pipeline_batch_limit,omitempty"`
	// ConcurrentRelationBatchExportLimit is the number of concurrent batches of an export. Since
	// 17.6.
	ConcurrentRelationBatchExportLimit *int `json:"concurrent_relation_batch_export_limit,omitempty"`
	// SilentAdminExportsEnabled disables notifications of exports by administrators. Default: false.
	// Since 17.0.
	SilentAdminExportsEnabled *bool `json:"silent_admin_exports_enabled,omitempty"`

	// Integrations.

	// ChatAppEnabled enables the team-chat app. True requires ChatAppID, ChatAppSecret,
	// ChatAppSigningSecret and ChatAppVerificationToken.
	ChatAppEnabled *bool `json:"chatapp_enabled,omitempty"`
	// ChatAppID is the client id of the team-chat app. Required by ChatAppEnabled.
	ChatAppID *string `json:"chatapp_id,omitempty"`
	// ChatAppSecret is the client secret of the team-chat app, for OAuth. A secret. Required by
	// ChatAppEnabled.
	ChatAppSecret *string `json:"chatapp_secret,omitempty"`
	// ChatAppSigningSecret is the signing secret of the team-chat app, for API requests. A secret.
	// Required by ChatAppEnabled.
	ChatAppSigningSecret *string `json:"chatapp_signing_secret,omitempty"`
	// ChatAppVerificationToken is the verification token of the team-chat app, for slash commands. A
	// secret. Required by ChatAppEnabled.
	//
	// Deprecated: ChatAppEnabled still requires it.
	ChatAppVerificationToken *string `json:"chatapp_verification_token,omitempty"`
	// TrackerEnabled enables the analytics tracker. True requires TrackerCollectorHostname.
	TrackerEnabled *bool `json:"tracker_enabled,omitempty"`
	// TrackerAppID is the application id at the analytics tracker.
	TrackerAppID *string `json:"tracker_app_id,omitempty"`
	// TrackerCollectorHostname is the host name of the tracker's collector. Required by
	// TrackerEnabled.
	TrackerCollectorHostname *string `json:"tracker_collector_hostname,omitempty"`
	// TrackerDatabaseCollectorHostname is the host name of the tracker's database collector.
	TrackerDatabaseCollectorHostname *string `json:"tracker_database_collector_hostname,omitempty"`
	// TrackerCookieDomain is the domain of the tracker's cookies.
	TrackerCookieDomain *string `json:"tracker_cookie_domain,omitempty"`
	// CodeIntelEnabled enables the code-intelligence tool. Default: false. True requires
	// CodeIntelURL.
	CodeIntelEnabled *bool `json:"codeintel_enabled,omitempty"`
	// CodeIntelPublicOnly limits the code-intelligence tool to public projects. Default: true.
	CodeIntelPublicOnly *bool `json:"codeintel_public_only,omitempty"`
	// CodeIntelURL is the URL of the code-intelligence tool. Required by CodeIntelEnabled.
	CodeIntelURL *string `json:"codeintel_url,omitempty"`
	// EditorExtensionMarketplace configures the extension marketplace of the Web IDE and workspaces.
	// The contract does not show the keys. An empty map clears it.
	EditorExtensionMarketplace map[string]any `json:"editor_extension_marketplace,omitzero"`

	// Other.

	// SilentModeEnabled stops all outbound traffic of the instance: e-mails, webhooks and mirroring.
	// Default: false.
	SilentModeEnabled *bool `json:"silent_mode_enabled,omitempty"`
	// SecurityTXTContent is the public security contact information. Null: none. Since 16.7.
	SecurityTXTContent Nullable[string] `json:"security_txt_content,omitzero"`
	// EnforcePIPLCompliance handles accounts as Chinese data protection law (PIPL) requires.
	EnforcePIPLCompliance *bool `json:"enforce_pipl_compliance,omitempty"`

	// The contract describes these without a name: they need WithVocabulary, or Extra.

	// DiagramAEnabled enables the first diagram renderer (PlantUML).
	DiagramAEnabled *bool `json:"plantuml_enabled,omitempty"`
	// DiagramAURL is the URL of the first diagram renderer. Null: none.
	DiagramAURL Nullable[string] `json:"plantuml_url,omitzero"`
	// DiagramBEnabled enables the second diagram renderer (diagrams.net).
	DiagramBEnabled *bool `json:"diagramsnet_enabled,omitempty"`
	// DiagramBURL is the URL of the second diagram renderer. Null: none.
	DiagramBURL Nullable[string] `json:"diagramsnet_url,omitzero"`
	// DiagramCEnabled enables the third diagram renderer (Kroki).
	DiagramCEnabled *bool `json:"kroki_enabled,omitempty"`
	// DiagramCURL is the URL of the third diagram renderer. Null: none.
	DiagramCURL Nullable[string] `json:"kroki_url,omitzero"`
	// IssueTrackerConnectApplicationKey is the id of the OAuth application of issue-tracker connect.
	IssueTrackerConnectApplicationKey *string `json:"jira_connect_application_key,omitempty"`
	// IssueTrackerConnectPublicKeyStorageEnabled stores public keys for issue-tracker connect.
	IssueTrackerConnectPublicKeyStorageEnabled *bool `json:"jira_connect_public_key_storage_enabled,omitempty"`
	// IssueTrackerConnectProxyURL is the URL of the instance that proxies issue-tracker connect.
	IssueTrackerConnectProxyURL *string `json:"jira_connect_proxy_url,omitempty"`
	// IssueTrackerConnectAdditionalAudienceURL is an additional audience of the tokens of
	// issue-tracker connect.
	IssueTrackerConnectAdditionalAudienceURL *string `json:"jira_connect_additional_audience_url,omitempty"`

	// Premium and Ultimate.

	// AllowAllIntegrations allows all integrations. If false, only AllowedIntegrations are allowed.
	// Premium and Ultimate.
	AllowAllIntegrations *bool `json:"allow_all_integrations,omitempty"`
	// AllowedIntegrations lists the integrations that are allowed if AllowAllIntegrations is false.
	// Premium and Ultimate. An empty slice clears it.
	AllowedIntegrations []string `json:"allowed_integrations,omitzero"`
	// AllowGroupOwnersToManageLDAP allows owners of groups to manage LDAP. Premium and Ultimate.
	AllowGroupOwnersToManageLDAP *bool `json:"allow_group_owners_to_manage_ldap,omitempty"`
	// SharedRunnersMinutes is the quota of compute minutes per group and month. Premium and Ultimate.
	// SharedRunnersEnabled requires it on these tiers.
	SharedRunnersMinutes *int `json:"shared_runners_minutes,omitempty"`
	// ScanExecutionPoliciesScheduleLimit is the maximum number of rules of type schedule per scan
	// execution policy. Default: 0. Maximum: 20. Premium and Ultimate by §2.1; §4.1.1 names no tier.
	ScanExecutionPoliciesScheduleLimit *int `json:"scan_execution_policies_schedule_limit,omitempty"`
	// DeleteUnconfirmedUsers deletes accounts whose e-mail address is not confirmed, after
	// UnconfirmedUsersDeleteAfterDays. Premium and Ultimate. Not in the contract's list of
	// parameters; UnconfirmedUsersDeleteAfterDays depends on it.
	DeleteUnconfirmedUsers *bool `json:"delete_unconfirmed_users,omitempty"`
	// UnconfirmedUsersDeleteAfterDays is how long an unconfirmed account is kept, in days. Minimum:
	// 1. Default: 7. Self-managed Premium and Ultimate. Since 16.1. It has effect only if
	// DeleteUnconfirmedUsers is true, here or on the server; false here is refused.
	UnconfirmedUsersDeleteAfterDays *int `json:"unconfirmed_users_delete_after_days,omitempty"`
	// AssistantFeaturesEnabled enables the AI assistant. Self-managed Premium and Ultimate. Since
	// 16.10.
	AssistantFeaturesEnabled *bool `json:"assistant_features_enabled,omitempty"`
	// LockAssistantFeaturesEnabled prevents groups and projects from changing
	// AssistantFeaturesEnabled. Self-managed Premium and Ultimate. Since 16.10.
	LockAssistantFeaturesEnabled *bool `json:"lock_assistant_features_enabled,omitempty"`
	// UseAnalyticsStoreForAnalytics reads analytics from the analytics store, which must be
	// configured. Premium and Ultimate.
	UseAnalyticsStoreForAnalytics *bool `json:"use_analytics_store_for_analytics,omitempty"`
	// SecretPushProtectionAvailable allows projects to enable secret push protection; it does not
	// enable it. Ultimate by §4.1.1; Premium and Ultimate by §2.1.
	SecretPushProtectionAvailable *bool `json:"secret_push_protection_available,omitempty"`

	// Extra holds parameters without a field. They are sent too, under unchanged names, without
	// WithVocabulary.
	Extra map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o UpdateSettingsOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o UpdateSettingsOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (o *UpdateSettingsOptions) extra() map[string]any { return o.Extra }
