package forge

// JobLimiterMode says what becomes of background jobs that are too large.
type JobLimiterMode string

const (
	// JobLimiterTrack only notes them.
	JobLimiterTrack JobLimiterMode = "track"
	// JobLimiterCompress compresses them, and rejects what is too large all the same; the default.
	JobLimiterCompress JobLimiterMode = "compress"
)

// WhatsNewVariant says who is shown what is new.
type WhatsNewVariant string

const (
	// WhatsNewAllTiers shows what is new in all tiers.
	WhatsNewAllTiers WhatsNewVariant = "all_tiers"
	// WhatsNewCurrentTier shows what is new in the instance's own tier.
	WhatsNewCurrentTier WhatsNewVariant = "current_tier"
	// WhatsNewDisabled shows nothing.
	WhatsNewDisabled WhatsNewVariant = "disabled"
)

// UpdateSettingsOptions are the settings to change (Document 3 §4.1.1 and §4.1.2). What is nil or zero stays as it is.
type UpdateSettingsOptions struct {
	// Sign-up and sign-in.

	// AdminMode makes administrators sign in again before administrative tasks.
	AdminMode *bool `json:"admin_mode,omitempty"`
	// SignupEnabled lets anybody create an account; the server's default is true.
	SignupEnabled *bool `json:"signup_enabled,omitempty"`
	// SigninEnabled says whether users may sign in with a password. The contract has it as a string.
	//
	// Deprecated: use password_authentication_enabled_for_web, which is no documented parameter: give it in Extra.
	SigninEnabled *string `json:"signin_enabled,omitempty"`
	// SignInRestrictions limits who may sign in and how. The contract does not show the keys. An empty map clears it.
	SignInRestrictions map[string]any `json:"sign_in_restrictions,omitzero"`
	// NotifyOnUnknownSignIn tells users of sign-ins from unknown IP addresses.
	NotifyOnUnknownSignIn *bool `json:"notify_on_unknown_sign_in,omitempty"`
	// AfterSignOutPath is where users are sent after signing out.
	AfterSignOutPath Nullable[string] `json:"after_sign_out_path,omitzero"`
	// AfterSignUpText is shown after signing up.
	AfterSignUpText *string `json:"after_sign_up_text,omitempty"`
	// EmailRestrictionsEnabled restricts sign-up by e-mail address. With true EmailRestrictions is required.
	EmailRestrictionsEnabled *bool `json:"email_restrictions_enabled,omitempty"`
	// EmailRestrictions is a regular expression that e-mail addresses are checked against at sign-up. Required by
	// EmailRestrictionsEnabled.
	EmailRestrictions *string `json:"email_restrictions,omitempty"`
	// RequireAdminTwoFactorAuthentication makes two-factor authentication a duty of administrators.
	RequireAdminTwoFactorAuthentication *bool `json:"require_admin_two_factor_authentication,omitempty"`
	// TwoFactorGracePeriod is how long users may put two-factor authentication off, in hours. Required when Extra sets
	// require_two_factor_authentication.
	TwoFactorGracePeriod *int `json:"two_factor_grace_period,omitempty"`
	// UniqueIPsLimitEnabled limits from how many addresses a user signs in. With true UniqueIPsLimitPerUser and
	// UniqueIPsLimitTimeWindow are required.
	UniqueIPsLimitEnabled *bool `json:"unique_ips_limit_enabled,omitempty"`
	// UniqueIPsLimitPerUser is the most IP addresses of a user. Required by UniqueIPsLimitEnabled.
	UniqueIPsLimitPerUser *int `json:"unique_ips_limit_per_user,omitempty"`
	// UniqueIPsLimitTimeWindow is how long an IP address counts, in seconds. Required by UniqueIPsLimitEnabled.
	UniqueIPsLimitTimeWindow *int `json:"unique_ips_limit_time_window,omitempty"`
	// UnconfirmedUsersDeleteAfterDays is how long an unconfirmed account is kept, in days: at least 1, the server's default is 7. It
	// needs delete_unconfirmed_users to be true. Self-managed Premium and Ultimate, since 16.1.
	UnconfirmedUsersDeleteAfterDays *int `json:"unconfirmed_users_delete_after_days,omitempty"`
	// DisableInviteMembers keeps everybody from inviting members to groups and projects.
	DisableInviteMembers *bool `json:"disable_invite_members,omitempty"`
	// TopLevelGroupCreationEnabled lets users create top-level groups; the server's default is true.
	TopLevelGroupCreationEnabled *bool `json:"top_level_group_creation_enabled,omitempty"`
	// Terms are the terms of service, in Markdown. Required when Extra sets enforce_terms.
	Terms *string `json:"terms,omitempty"`

	// Users.

	// AllowAccountDeletion lets users delete their own accounts. Premium and Ultimate.
	AllowAccountDeletion *bool `json:"allow_account_deletion,omitempty"`
	// AllowGroupOwnersToManageLDAP lets owners of groups manage LDAP. Premium and Ultimate.
	AllowGroupOwnersToManageLDAP *bool `json:"allow_group_owners_to_manage_ldap,omitempty"`
	// AllowProjectCreationForGuestAndBelow lets users who have the Guest role at most create groups and personal projects; the
	// server's default is true. Since 16.8.
	AllowProjectCreationForGuestAndBelow *bool `json:"allow_project_creation_for_guest_and_below,omitempty"`
	// UserDeactivationEmailsEnabled writes to users whose account is deactivated.
	UserDeactivationEmailsEnabled *bool `json:"user_deactivation_emails_enabled,omitempty"`
	// UserDefaultExternal makes new users external.
	UserDefaultExternal *bool `json:"user_default_external,omitempty"`
	// UserDefaultInternalRegex is a regular expression of the e-mail addresses of users who are internal all the same.
	UserDefaultInternalRegex *string `json:"user_default_internal_regex,omitempty"`
	// UserDefaultsToPrivateProfile makes the profiles of new users private; the server's default is false. Since 15.8.
	UserDefaultsToPrivateProfile *bool `json:"user_defaults_to_private_profile,omitempty"`
	// UserOAuthApplications lets users register OAuth applications. Applications of groups are not affected.
	UserOAuthApplications *bool `json:"user_oauth_applications,omitempty"`
	// UserShowAddSSHKeyMessage asks users without an SSH key to add one.
	UserShowAddSSHKeyMessage *bool `json:"user_show_add_ssh_key_message,omitempty"`
	// ServiceAccessTokensExpirationEnforced says whether tokens of service accounts must expire.
	ServiceAccessTokensExpirationEnforced *bool `json:"service_access_tokens_expiration_enforced,omitempty"`

	// Notifications, texts and usage data.

	// AdminNotificationEmail is where reports of abuse go.
	//
	// Deprecated: use AbuseNotificationEmail.
	AdminNotificationEmail *string `json:"admin_notification_email,omitempty"`
	// AbuseNotificationEmail is where reports of abuse go, when set.
	AbuseNotificationEmail *string `json:"abuse_notification_email,omitempty"`
	// SecurityTXTContent is the public security contact information. Since 16.7.
	SecurityTXTContent Nullable[string] `json:"security_txt_content,omitzero"`
	// WhatsNewVariant says who is shown what is new.
	WhatsNewVariant WhatsNewVariant `json:"whats_new_variant,omitempty"`
	// UsagePingEnabled reports the usage of the license weekly.
	UsagePingEnabled *bool `json:"usage_ping_enabled,omitempty"`
	// IncludeOptionalMetricsInServicePing adds optional metrics to that report. Since 16.10.
	IncludeOptionalMetricsInServicePing *bool `json:"include_optional_metrics_in_service_ping,omitempty"`
	// VersionCheckEnabled asks the vendor whether there is a newer version.
	VersionCheckEnabled *bool `json:"version_check_enabled,omitempty"`
	// SuggestPipelineEnabled suggests to set up a pipeline.
	SuggestPipelineEnabled *bool `json:"suggest_pipeline_enabled,omitempty"`
	// SilentAdminExportsEnabled keeps exports by administrators from notifying anybody; the server's default is false. Since 17.0.
	SilentAdminExportsEnabled *bool `json:"silent_admin_exports_enabled,omitempty"`
	// SilentModeEnabled keeps the instance from sending anything out; the server's default is false.
	SilentModeEnabled *bool `json:"silent_mode_enabled,omitempty"`
	// EnforcePIPLCompliance treats accounts as Chinese data protection law asks.
	EnforcePIPLCompliance *bool `json:"enforce_pipl_compliance,omitempty"`

	// Spam protection.

	// AntispamEnabled uses the spam service. With true AntispamAPIKey is required.
	AntispamEnabled *bool `json:"antispam_enabled,omitempty"`
	// AntispamAPIKey is the key of the spam service. Required by AntispamEnabled.
	AntispamAPIKey *string `json:"antispam_api_key,omitempty"`
	// SpamCheckEndpointEnabled uses an external spam check; the server's default is false.
	SpamCheckEndpointEnabled *bool `json:"spam_check_endpoint_enabled,omitempty"`
	// SpamCheckEndpointURL is the address of the external spam check: grpc:// or tls://, which encrypts.
	SpamCheckEndpointURL *string `json:"spam_check_endpoint_url,omitempty"`
	// SpamCheckAPIKey is the key of the external spam check.
	SpamCheckAPIKey *string `json:"spam_check_api_key,omitempty"`

	// Integrations.

	// AllowAllIntegrations lets all integrations be used; with false those of AllowedIntegrations. Premium and Ultimate.
	AllowAllIntegrations *bool `json:"allow_all_integrations,omitempty"`
	// AllowedIntegrations lists the integrations that may be used when AllowAllIntegrations is false. Empty and not nil clears the
	// list. Premium and Ultimate.
	AllowedIntegrations []string `json:"allowed_integrations,omitzero"`
	// AllowLocalRequestsFromHooksAndServices lets hooks and integrations call addresses in the local network.
	//
	// Deprecated: use AllowLocalRequestsFromWebHooksAndServices.
	AllowLocalRequestsFromHooksAndServices *bool `json:"allow_local_requests_from_hooks_and_services,omitempty"`
	// AllowLocalRequestsFromWebHooksAndServices lets web hooks and integrations call addresses in the local network.
	AllowLocalRequestsFromWebHooksAndServices *bool `json:"allow_local_requests_from_web_hooks_and_services,omitempty"`
	// AllowLocalRequestsFromSystemHooks lets system hooks call addresses in the local network.
	AllowLocalRequestsFromSystemHooks *bool `json:"allow_local_requests_from_system_hooks,omitempty"`
	// ChatAppEnabled uses the team-chat app. With true the other four ChatApp settings are required.
	ChatAppEnabled *bool `json:"chatapp_enabled,omitempty"`
	// ChatAppID is the client id of the team-chat app. Required by ChatAppEnabled.
	ChatAppID *string `json:"chatapp_id,omitempty"`
	// ChatAppSecret is the client secret of the team-chat app, for OAuth. Required by ChatAppEnabled.
	ChatAppSecret *string `json:"chatapp_secret,omitempty"`
	// ChatAppSigningSecret is what the team-chat app signs its API requests with. Required by ChatAppEnabled.
	ChatAppSigningSecret *string `json:"chatapp_signing_secret,omitempty"`
	// ChatAppVerificationToken is the token of the team-chat app's slash commands. Required by ChatAppEnabled although it is
	// deprecated.
	//
	// Deprecated: the server wants it all the same.
	ChatAppVerificationToken *string `json:"chatapp_verification_token,omitempty"`
	// TrackerEnabled uses the analytics tracker. With true TrackerCollectorHostname is required.
	TrackerEnabled *bool `json:"tracker_enabled,omitempty"`
	// TrackerAppID is the application's id at the analytics tracker.
	TrackerAppID *string `json:"tracker_app_id,omitempty"`
	// TrackerCollectorHostname is the host of the tracker's collector. Required by TrackerEnabled.
	TrackerCollectorHostname *string `json:"tracker_collector_hostname,omitempty"`
	// TrackerDatabaseCollectorHostname is the host of the tracker's database collector.
	TrackerDatabaseCollectorHostname *string `json:"tracker_database_collector_hostname,omitempty"`
	// TrackerCookieDomain is the domain of the tracker's cookies.
	TrackerCookieDomain *string `json:"tracker_cookie_domain,omitempty"`
	// CodeIntelEnabled uses the code-intelligence tool; the server's default is false. With true CodeIntelURL is required.
	CodeIntelEnabled *bool `json:"codeintel_enabled,omitempty"`
	// CodeIntelPublicOnly keeps private projects from the code-intelligence tool; the server's default is true.
	CodeIntelPublicOnly *bool `json:"codeintel_public_only,omitempty"`
	// CodeIntelURL is the address of the code-intelligence tool. Required by CodeIntelEnabled.
	CodeIntelURL *string `json:"codeintel_url,omitempty"`
	// EditorExtensionMarketplace sets up the extension marketplace of the Web IDE and of workspaces. The contract does not show the
	// keys. An empty map clears it.
	EditorExtensionMarketplace map[string]any `json:"editor_extension_marketplace,omitzero"`
	// AssistantFeaturesEnabled makes the AI assistant available. Self-managed Premium and Ultimate, since 16.10.
	AssistantFeaturesEnabled *bool `json:"assistant_features_enabled,omitempty"`
	// LockAssistantFeaturesEnabled keeps groups and projects from changing AssistantFeaturesEnabled. Self-managed Premium and
	// Ultimate, since 16.10.
	LockAssistantFeaturesEnabled *bool `json:"lock_assistant_features_enabled,omitempty"`
	// UseAnalyticsStoreForAnalytics reads analytics from the analytics store, which must be configured. Premium and Ultimate.
	UseAnalyticsStoreForAnalytics *bool `json:"use_analytics_store_for_analytics,omitempty"`
	// ReceptiveClusterAgentsEnabled lets cluster agents wait for connections. Since 17.4.
	ReceptiveClusterAgentsEnabled *bool `json:"receptive_cluster_agents_enabled,omitempty"`

	// CI, runners and jobs.

	// ArchiveBuildsInHumanReadable is the age after which jobs are archived and cannot be retried: 15 days, at least 1 day; the empty
	// string for never.
	ArchiveBuildsInHumanReadable *string `json:"archive_builds_in_human_readable,omitempty"`
	// SharedRunnersEnabled gives new projects the instance runners. With true SharedRunnersText and SharedRunnersMinutes are required.
	SharedRunnersEnabled *bool `json:"shared_runners_enabled,omitempty"`
	// SharedRunnersMinutes is how many compute minutes a group has each month. Required by SharedRunnersEnabled. Premium and Ultimate.
	SharedRunnersMinutes *int `json:"shared_runners_minutes,omitempty"`
	// SharedRunnersText is shown beside the instance runners. Required by SharedRunnersEnabled.
	SharedRunnersText *string `json:"shared_runners_text,omitempty"`
	// AllowRunnerRegistrationToken lets runners be registered with a token; the server's default is true.
	AllowRunnerRegistrationToken *bool `json:"allow_runner_registration_token,omitempty"`
	// ValidRunnerRegistrars lists whose members may register runners: group, project, both or, empty and not nil, nobody's.
	ValidRunnerRegistrars []string `json:"valid_runner_registrars,omitzero"`
	// RunnerTokenExpirationInterval is how long tokens of newly registered instance runners are valid, in seconds; at least 7200.
	RunnerTokenExpirationInterval *int `json:"runner_token_expiration_interval,omitempty"`
	// GroupRunnerTokenExpirationInterval is how long tokens of newly registered group runners are valid, in seconds; at least 7200.
	GroupRunnerTokenExpirationInterval *int `json:"group_runner_token_expiration_interval,omitempty"`
	// ProjectRunnerTokenExpirationInterval is how long tokens of newly registered project runners are valid, in seconds; at least
	// 7200.
	ProjectRunnerTokenExpirationInterval *int `json:"project_runner_token_expiration_interval,omitempty"`
	// UpdateRunnerVersionsEnabled asks the vendor for the versions of runners.
	UpdateRunnerVersionsEnabled *bool `json:"update_runner_versions_enabled,omitempty"`
	// EnableArtifactExternalRedirectWarningPage warns before a page of artifacts leads elsewhere.
	EnableArtifactExternalRedirectWarningPage *bool `json:"enable_artifact_external_redirect_warning_page,omitempty"`
	// JobQueueJobLimiterMode says what becomes of background jobs that are too large; the server's default is JobLimiterCompress.
	JobQueueJobLimiterMode JobLimiterMode `json:"jobqueue_job_limiter_mode,omitempty"`
	// JobQueueJobLimiterCompressionThresholdBytes is the size from which background jobs are compressed, in bytes; the server's
	// default is 100000.
	JobQueueJobLimiterCompressionThresholdBytes *int `json:"jobqueue_job_limiter_compression_threshold_bytes,omitempty"`
	// JobQueueJobLimiterLimitBytes is the size from which background jobs are rejected, in bytes; the server's default is 0, for
	// never.
	JobQueueJobLimiterLimitBytes *int `json:"jobqueue_job_limiter_limit_bytes,omitempty"`
	// TerminalMaxSessionTime is how long a session of the web terminal may last, in seconds; 0 for no limit.
	TerminalMaxSessionTime *int `json:"terminal_max_session_time,omitempty"`

	// Content, packages and imports.

	// SnippetSizeLimit is the most that a snippet may have, in bytes; the server's default is 52428800.
	SnippetSizeLimit *int `json:"snippet_size_limit,omitempty"`
	// WikiPageMaxContentBytes is the most that a wiki page may have, in bytes: at least 1024, the server's default is 5242880.
	WikiPageMaxContentBytes *int `json:"wiki_page_max_content_bytes,omitempty"`
	// AsciiDocMaxIncludes is how many include directives a document may have: at most 64, the server's default is 32.
	AsciiDocMaxIncludes *int `json:"asciidoc_max_includes,omitempty"`
	// TimeTrackingLimitToHours shows tracked time in hours; the server's default is false.
	TimeTrackingLimitToHours *bool `json:"time_tracking_limit_to_hours,omitempty"`
	// NuGetSkipMetadataURLValidation leaves the addresses in the metadata of NuGet packages unchecked. Since 17.0.
	NuGetSkipMetadataURLValidation *bool `json:"nuget_skip_metadata_url_validation,omitempty"`
	// HelmMaxPackagesCount is how many Helm packages a channel lists: at least 1, the server's default is 1000.
	HelmMaxPackagesCount *int `json:"helm_max_packages_count,omitempty"`
	// BulkImportConcurrentPipelineBatchLimit is how many batches of a direct transfer run at a time.
	BulkImportConcurrentPipelineBatchLimit *int `json:"bulk_import_concurrent_pipeline_batch_limit,omitempty"`
	// ConcurrentRelationBatchExportLimit is how many batches of an export run at a time. Since 17.6.
	ConcurrentRelationBatchExportLimit *int `json:"concurrent_relation_batch_export_limit,omitempty"`

	// Security policies.

	// ScanExecutionPoliciesScheduleLimit is how many rules of type schedule a scan execution policy may have: at most 20, the server's
	// default is 0.
	ScanExecutionPoliciesScheduleLimit *int `json:"scan_execution_policies_schedule_limit,omitempty"`
	// SecretPushProtectionAvailable lets projects use secret push protection; it does not turn that on. Ultimate.
	SecretPushProtectionAvailable *bool `json:"secret_push_protection_available,omitempty"`

	// Dormant projects and housekeeping.

	// DeleteInactiveProjects deletes dormant projects; the server's default is false.
	DeleteInactiveProjects *bool `json:"delete_inactive_projects,omitempty"`
	// InactiveProjectsDeleteAfterMonths is how long a dormant project is kept, in months; the server's default is 2.
	InactiveProjectsDeleteAfterMonths *int `json:"inactive_projects_delete_after_months,omitempty"`
	// InactiveProjectsMinSizeMB is the size from which dormant projects are deleted, in MB; the server's default is 0.
	InactiveProjectsMinSizeMB *int `json:"inactive_projects_min_size_mb,omitempty"`
	// InactiveProjectsSendWarningEmailAfterMonths is after how many months the Maintainers of a dormant project are warned.
	InactiveProjectsSendWarningEmailAfterMonths *int `json:"inactive_projects_send_warning_email_after_months,omitempty"`
	// HousekeepingFullRepackPeriod is after how many pushes a repository was repacked whole.
	//
	// Deprecated: since 15.8; use HousekeepingOptimizeRepositoryPeriod.
	HousekeepingFullRepackPeriod *int `json:"housekeeping_full_repack_period,omitempty"`
	// HousekeepingGCPeriod is after how many pushes garbage was collected.
	//
	// Deprecated: since 15.8; use HousekeepingOptimizeRepositoryPeriod.
	HousekeepingGCPeriod *int `json:"housekeeping_gc_period,omitempty"`
	// HousekeepingIncrementalRepackPeriod is after how many pushes a repository was repacked in part.
	//
	// Deprecated: since 15.8; use HousekeepingOptimizeRepositoryPeriod.
	HousekeepingIncrementalRepackPeriod *int `json:"housekeeping_incremental_repack_period,omitempty"`
	// HousekeepingOptimizeRepositoryPeriod is after how many pushes a repository is optimized.
	HousekeepingOptimizeRepositoryPeriod *int `json:"housekeeping_optimize_repository_period,omitempty"`

	// Rate limits (Document 3 §4.1.2): each family is a switch, a period and a number of requests.

	// ThrottleAuthenticatedAPIEnabled limits API requests of each user. With true ThrottleAuthenticatedAPIPeriodInSeconds and
	// ThrottleAuthenticatedAPIRequestsPerPeriod are required.
	ThrottleAuthenticatedAPIEnabled *bool `json:"throttle_authenticated_api_enabled,omitempty"`
	// ThrottleAuthenticatedAPIPeriodInSeconds is the period of that limit, in seconds. Required by ThrottleAuthenticatedAPIEnabled.
	ThrottleAuthenticatedAPIPeriodInSeconds *int `json:"throttle_authenticated_api_period_in_seconds,omitempty"`
	// ThrottleAuthenticatedAPIRequestsPerPeriod is how many requests a period allows. Required by ThrottleAuthenticatedAPIEnabled.
	ThrottleAuthenticatedAPIRequestsPerPeriod *int `json:"throttle_authenticated_api_requests_per_period,omitempty"`
	// ThrottleAuthenticatedWebEnabled limits page requests of each user. With true ThrottleAuthenticatedWebPeriodInSeconds and
	// ThrottleAuthenticatedWebRequestsPerPeriod are required.
	ThrottleAuthenticatedWebEnabled *bool `json:"throttle_authenticated_web_enabled,omitempty"`
	// ThrottleAuthenticatedWebPeriodInSeconds is the period of that limit, in seconds. Required by ThrottleAuthenticatedWebEnabled.
	ThrottleAuthenticatedWebPeriodInSeconds *int `json:"throttle_authenticated_web_period_in_seconds,omitempty"`
	// ThrottleAuthenticatedWebRequestsPerPeriod is how many requests a period allows. Required by ThrottleAuthenticatedWebEnabled.
	ThrottleAuthenticatedWebRequestsPerPeriod *int `json:"throttle_authenticated_web_requests_per_period,omitempty"`
	// ThrottleAuthenticatedPackagesAPIEnabled limits requests of each user to the package registry. With true
	// ThrottleAuthenticatedPackagesAPIPeriodInSeconds and ThrottleAuthenticatedPackagesAPIRequestsPerPeriod are required.
	ThrottleAuthenticatedPackagesAPIEnabled *bool `json:"throttle_authenticated_packages_api_enabled,omitempty"`
	// ThrottleAuthenticatedPackagesAPIPeriodInSeconds is the period of that limit, in seconds. Required by
	// ThrottleAuthenticatedPackagesAPIEnabled.
	ThrottleAuthenticatedPackagesAPIPeriodInSeconds *int `json:"throttle_authenticated_packages_api_period_in_seconds,omitempty"`
	// ThrottleAuthenticatedPackagesAPIRequestsPerPeriod is how many requests a period allows. Required by
	// ThrottleAuthenticatedPackagesAPIEnabled.
	ThrottleAuthenticatedPackagesAPIRequestsPerPeriod *int `json:"throttle_authenticated_packages_api_requests_per_period,omitempty"`
	// ThrottleAuthenticatedGitHTTPEnabled limits Git requests of each user over HTTP; the server's default is false. Since 18.1,
	// behind a feature flag and not ready for production.
	ThrottleAuthenticatedGitHTTPEnabled *bool `json:"throttle_authenticated_git_http_enabled,omitempty"`
	// ThrottleAuthenticatedGitHTTPPeriodInSeconds is the period of that limit, in seconds. The server's default is 3600. Since 18.1,
	// behind a feature flag and not ready for production.
	ThrottleAuthenticatedGitHTTPPeriodInSeconds *int `json:"throttle_authenticated_git_http_period_in_seconds,omitempty"`
	// ThrottleAuthenticatedGitHTTPRequestsPerPeriod is how many requests a period allows. The server's default is 3600. Since 18.1,
	// behind a feature flag and not ready for production.
	ThrottleAuthenticatedGitHTTPRequestsPerPeriod *int `json:"throttle_authenticated_git_http_requests_per_period,omitempty"`
	// ThrottleUnauthenticatedAPIEnabled limits API requests of each IP address that does not sign in. With true
	// ThrottleUnauthenticatedAPIPeriodInSeconds and ThrottleUnauthenticatedAPIRequestsPerPeriod are required.
	ThrottleUnauthenticatedAPIEnabled *bool `json:"throttle_unauthenticated_api_enabled,omitempty"`
	// ThrottleUnauthenticatedAPIPeriodInSeconds is the period of that limit, in seconds. Required by
	// ThrottleUnauthenticatedAPIEnabled.
	ThrottleUnauthenticatedAPIPeriodInSeconds *int `json:"throttle_unauthenticated_api_period_in_seconds,omitempty"`
	// ThrottleUnauthenticatedAPIRequestsPerPeriod is how many requests a period allows. Required by ThrottleUnauthenticatedAPIEnabled.
	ThrottleUnauthenticatedAPIRequestsPerPeriod *int `json:"throttle_unauthenticated_api_requests_per_period,omitempty"`
	// ThrottleUnauthenticatedWebEnabled limits page requests of each IP address that does not sign in. With true
	// ThrottleUnauthenticatedWebPeriodInSeconds and ThrottleUnauthenticatedWebRequestsPerPeriod are required.
	ThrottleUnauthenticatedWebEnabled *bool `json:"throttle_unauthenticated_web_enabled,omitempty"`
	// ThrottleUnauthenticatedWebPeriodInSeconds is the period of that limit, in seconds. Required by
	// ThrottleUnauthenticatedWebEnabled.
	ThrottleUnauthenticatedWebPeriodInSeconds *int `json:"throttle_unauthenticated_web_period_in_seconds,omitempty"`
	// ThrottleUnauthenticatedWebRequestsPerPeriod is how many requests a period allows. Required by ThrottleUnauthenticatedWebEnabled.
	ThrottleUnauthenticatedWebRequestsPerPeriod *int `json:"throttle_unauthenticated_web_requests_per_period,omitempty"`
	// ThrottleUnauthenticatedPackagesAPIEnabled limits requests to the package registry without sign-in. With true
	// ThrottleUnauthenticatedPackagesAPIPeriodInSeconds and ThrottleUnauthenticatedPackagesAPIRequestsPerPeriod are required.
	ThrottleUnauthenticatedPackagesAPIEnabled *bool `json:"throttle_unauthenticated_packages_api_enabled,omitempty"`
	// ThrottleUnauthenticatedPackagesAPIPeriodInSeconds is the period of that limit, in seconds. Required by
	// ThrottleUnauthenticatedPackagesAPIEnabled.
	ThrottleUnauthenticatedPackagesAPIPeriodInSeconds *int `json:"throttle_unauthenticated_packages_api_period_in_seconds,omitempty"`
	// ThrottleUnauthenticatedPackagesAPIRequestsPerPeriod is how many requests a period allows. Required by
	// ThrottleUnauthenticatedPackagesAPIEnabled.
	ThrottleUnauthenticatedPackagesAPIRequestsPerPeriod *int `json:"throttle_unauthenticated_packages_api_requests_per_period,omitempty"`
	// ThrottleUnauthenticatedGitHTTPEnabled limits Git requests over HTTP without sign-in; the server's default is false. Since 17.0.
	ThrottleUnauthenticatedGitHTTPEnabled *bool `json:"throttle_unauthenticated_git_http_enabled,omitempty"`
	// ThrottleUnauthenticatedGitHTTPPeriodInSeconds is the period of that limit, in seconds. The server's default is 3600. Since 17.0.
	ThrottleUnauthenticatedGitHTTPPeriodInSeconds *int `json:"throttle_unauthenticated_git_http_period_in_seconds,omitempty"`
	// ThrottleUnauthenticatedGitHTTPRequestsPerPeriod is how many requests a period allows. The server's default is 3600. Since 17.0.
	ThrottleUnauthenticatedGitHTTPRequestsPerPeriod *int `json:"throttle_unauthenticated_git_http_requests_per_period,omitempty"`
	// ThrottleUnauthenticatedEnabled limits requests of each IP address that does not sign in. With true
	// ThrottleUnauthenticatedPeriodInSeconds and ThrottleUnauthenticatedRequestsPerPeriod are required.
	//
	// Deprecated: since 14.3; use ThrottleUnauthenticatedWebEnabled or ThrottleUnauthenticatedAPIEnabled.
	ThrottleUnauthenticatedEnabled *bool `json:"throttle_unauthenticated_enabled,omitempty"`
	// ThrottleUnauthenticatedPeriodInSeconds is the period of that limit, in seconds. Required by ThrottleUnauthenticatedEnabled.
	//
	// Deprecated: since 14.3; use ThrottleUnauthenticatedWebPeriodInSeconds or ThrottleUnauthenticatedAPIPeriodInSeconds.
	ThrottleUnauthenticatedPeriodInSeconds *int `json:"throttle_unauthenticated_period_in_seconds,omitempty"`
	// ThrottleUnauthenticatedRequestsPerPeriod is how many requests a period allows. Required by ThrottleUnauthenticatedEnabled.
	//
	// Deprecated: since 14.3; use ThrottleUnauthenticatedWebRequestsPerPeriod or ThrottleUnauthenticatedAPIRequestsPerPeriod.
	ThrottleUnauthenticatedRequestsPerPeriod *int `json:"throttle_unauthenticated_requests_per_period,omitempty"`

	// What the contract describes without a name: it needs WithVocabulary, or Extra.

	// DiagramAEnabled uses the first diagram renderer (PlantUML). Not part of the contract.
	DiagramAEnabled *bool `json:"plantuml_enabled,omitempty"`
	// DiagramAURL is the address of the first diagram renderer. Not part of the contract.
	DiagramAURL Nullable[string] `json:"plantuml_url,omitzero"`
	// DiagramBEnabled uses the second diagram renderer (diagrams.net). Not part of the contract.
	DiagramBEnabled *bool `json:"diagramsnet_enabled,omitempty"`
	// DiagramBURL is the address of the second diagram renderer. Not part of the contract.
	DiagramBURL Nullable[string] `json:"diagramsnet_url,omitzero"`
	// DiagramCEnabled uses the third diagram renderer (Kroki). Not part of the contract.
	DiagramCEnabled *bool `json:"kroki_enabled,omitempty"`
	// DiagramCURL is the address of the third diagram renderer. Not part of the contract.
	DiagramCURL Nullable[string] `json:"kroki_url,omitzero"`
	// IssueTrackerConnectApplicationKey is the id of the OAuth application that issue-tracker connect signs in with. Not part of the
	// contract.
	IssueTrackerConnectApplicationKey *string `json:"jira_connect_application_key,omitempty"`
	// IssueTrackerConnectPublicKeyStorageEnabled stores public keys for issue-tracker connect. Not part of the contract.
	IssueTrackerConnectPublicKeyStorageEnabled *bool `json:"jira_connect_public_key_storage_enabled,omitempty"`
	// IssueTrackerConnectProxyURL is the address of the instance that proxies issue-tracker connect. Not part of the contract.
	IssueTrackerConnectProxyURL *string `json:"jira_connect_proxy_url,omitempty"`
	// IssueTrackerConnectAdditionalAudienceURL is a further audience of the tokens of issue-tracker connect. Not part of the contract.
	IssueTrackerConnectAdditionalAudienceURL *string `json:"jira_connect_additional_audience_url,omitempty"`

	// Extra is sent too: parameters that no field names. A name in it goes out as it is, without WithVocabulary.
	Extra map[string]any `json:"-"`
}

func (o *UpdateSettingsOptions) extra() map[string]any { return o.Extra }
