package forge

import (
	"encoding/json"
	"time"
)

// ApplicationSettings is the instance-wide configuration (Document 3 §2.1). Settings that no field names, as servers have many, are
// in Extra. A setting that a server of another tier or release does not have is zero; units that the contract does not give
// are those of deployed servers. What only [UpdateSettingsOptions] names (AntispamEnabled) is in Extra under the contract's word, and
// DiffSettings finds it there.
type ApplicationSettings struct {
	// Identity.

	// ID is the id of the settings object.
	ID int64 `json:"id"`
	// CreatedAt is when the settings were first stored.
	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is when a setting last changed.
	UpdatedAt time.Time `json:"updated_at"`

	// Sign-up and sign-in.

	// SignupEnabled: anybody may create an account.
	SignupEnabled bool `json:"signup_enabled"`
	// PasswordAuthenticationEnabledForWeb: users may sign in to the web pages with a password.
	PasswordAuthenticationEnabledForWeb bool `json:"password_authentication_enabled_for_web"`
	// SignInRestrictions limits who may sign in and how, as an object whose keys the contract does not show; see
	// UpdateSettingsOptions.SignInRestrictions.
	SignInRestrictions json.RawMessage `json:"sign_in_restrictions"`
	// AfterSignOutPath is where users are sent after signing out; empty for the sign-in page.
	AfterSignOutPath string `json:"after_sign_out_path"`
	// HomePageURL is where visitors who are not signed in are sent; empty for the sign-in page.
	HomePageURL string `json:"home_page_url"`
	// SessionExpireDelay is how long a session lasts, in minutes.
	SessionExpireDelay int `json:"session_expire_delay"`
	// MaxLoginAttempts is how many failed sign-ins lock an account.
	MaxLoginAttempts int `json:"max_login_attempts"`
	// FailedLoginAttemptsUnlockPeriodInMinutes is how long a locked account stays so, in minutes.
	FailedLoginAttemptsUnlockPeriodInMinutes int `json:"failed_login_attempts_unlock_period_in_minutes"`
	// RequireAdminApprovalAfterUserSignup: an administrator approves each new account.
	RequireAdminApprovalAfterUserSignup bool `json:"require_admin_approval_after_user_signup"`
	// AdminMode: administrators sign in again before administrative tasks.
	AdminMode bool `json:"admin_mode"`
	// TopLevelGroupCreationEnabled: users may create top-level groups.
	TopLevelGroupCreationEnabled bool `json:"top_level_group_creation_enabled"`
	// DisableInviteMembers: nobody can invite members to groups and projects.
	DisableInviteMembers bool `json:"disable_invite_members"`
	// UserOAuthApplications: users may register OAuth applications. Applications of groups are not affected.
	UserOAuthApplications bool `json:"user_oauth_applications"`
	// DomainAllowlist lists the e-mail domains that accounts may be created with; empty for all.
	DomainAllowlist []string `json:"domain_allowlist"`
	// DomainDenylistEnabled: DomainDenylist is in force.
	DomainDenylistEnabled bool `json:"domain_denylist_enabled"`
	// DomainDenylist lists the e-mail domains that accounts may not be created with.
	DomainDenylist []string `json:"domain_denylist"`

	// Defaults.

	// DefaultProjectsLimit is how many personal projects a new user may have.
	DefaultProjectsLimit int `json:"default_projects_limit"`
	// DefaultBranchProtection is the level of protection of new default branches, as a number.
	//
	// Deprecated: since 17.0; use DefaultBranchProtectionDefaults.
	DefaultBranchProtection int `json:"default_branch_protection"`
	// DefaultBranchProtectionDefaults says how new default branches are protected.
	DefaultBranchProtectionDefaults BranchProtectionDefaults `json:"default_branch_protection_defaults"`
	// DefaultPreferredLanguage is the language of users who have chosen none.
	DefaultPreferredLanguage string `json:"default_preferred_language"`
	// DefaultSnippetVisibility is who sees new snippets.
	DefaultSnippetVisibility string `json:"default_snippet_visibility"`
	// DefaultProjectVisibility is who sees new projects.
	DefaultProjectVisibility string `json:"default_project_visibility"`
	// DefaultGroupVisibility is who sees new groups.
	DefaultGroupVisibility string `json:"default_group_visibility"`
	// DefaultCIConfigPath is the path of the CI configuration in new projects; empty for the server's own.
	DefaultCIConfigPath string `json:"default_ci_config_path"`
	// RestrictedVisibilityLevels lists the visibilities that only administrators may choose.
	RestrictedVisibilityLevels []string `json:"restricted_visibility_levels"`
	// DeletionAdjournedPeriod is how long deleted projects and groups can be restored, in days.
	DeletionAdjournedPeriod int `json:"deletion_adjourned_period"`
	// GravatarEnabled: pictures of users come from the avatar service.
	GravatarEnabled bool `json:"gravatar_enabled"`
	// FirstDayOfWeek is the first day of calendars, 0 for Sunday.
	FirstDayOfWeek int `json:"first_day_of_week"`
	// CanCreateGroup: new users may create groups.
	CanCreateGroup bool `json:"can_create_group"`
	// UserDefaultsToPrivateProfile: the profiles of new users are private. Since 15.8.
	UserDefaultsToPrivateProfile bool `json:"user_defaults_to_private_profile"`

	// Size limits.

	// MaxAttachmentSize is the most that an attachment may have, in MB.
	MaxAttachmentSize int `json:"max_attachment_size"`
	// MaxDecompressedArchiveSize is the most that an imported archive may have once decompressed, in MB; 0 for no limit.
	MaxDecompressedArchiveSize int `json:"max_decompressed_archive_size"`
	// MaxExportSize is the most that an export may have, in MB; 0 for no limit.
	MaxExportSize int `json:"max_export_size"`
	// MaxImportSize is the most that an import may have, in MB; 0 for no limit.
	MaxImportSize int `json:"max_import_size"`
	// MaxImportRemoteFileSize is the most that a file imported from another store may have, in MB; 0 for no limit.
	MaxImportRemoteFileSize int `json:"max_import_remote_file_size"`
	// SnippetSizeLimit is the most that a snippet may have, in bytes.
	SnippetSizeLimit int `json:"snippet_size_limit"`
	// WikiPageMaxContentBytes is the most that a wiki page may have, in bytes.
	WikiPageMaxContentBytes int `json:"wiki_page_max_content_bytes"`
	// BulkImportMaxDownloadFileSize is the most that a file fetched by direct transfer may have, in MB.
	BulkImportMaxDownloadFileSize int `json:"bulk_import_max_download_file_size"`

	// Registry and packages.

	// ContainerExpirationPoliciesEnableHistoricEntries: clean-up policies run in projects that are older than the policies, too.
	ContainerExpirationPoliciesEnableHistoricEntries bool `json:"container_expiration_policies_enable_historic_entries"`
	// ContainerRegistryCleanupTagsServiceMaxListSize is how many tags one run of a clean-up policy deletes at most.
	ContainerRegistryCleanupTagsServiceMaxListSize int `json:"container_registry_cleanup_tags_service_max_list_size"`
	// ContainerRegistryDeleteTagsServiceTimeout is how long one batch of tag deletions of a clean-up policy may take, in seconds.
	ContainerRegistryDeleteTagsServiceTimeout int `json:"container_registry_delete_tags_service_timeout"`
	// ContainerRegistryExpirationPoliciesCaching: clean-up policies cache the creation times of tags.
	ContainerRegistryExpirationPoliciesCaching bool `json:"container_registry_expiration_policies_caching"`
	// ContainerRegistryExpirationPoliciesWorkerCapacity is how many workers run clean-up policies.
	ContainerRegistryExpirationPoliciesWorkerCapacity int `json:"container_registry_expiration_policies_worker_capacity"`
	// ContainerRegistryTokenExpireDelay is how long a registry token is valid, in minutes.
	ContainerRegistryTokenExpireDelay int `json:"container_registry_token_expire_delay"`
	// PackageRegistryCleanupPoliciesWorkerCapacity is how many workers run the clean-up policies of packages.
	PackageRegistryCleanupPoliciesWorkerCapacity int `json:"package_registry_cleanup_policies_worker_capacity"`
	// PackageRegistryAllowAnyoneToPullOption: projects may let anybody pull their packages.
	PackageRegistryAllowAnyoneToPullOption bool `json:"package_registry_allow_anyone_to_pull_option"`
	// MavenPackageRequestsForwarding: requests for Maven packages that the server has not are sent on to the public repository.
	MavenPackageRequestsForwarding bool `json:"maven_package_requests_forwarding"`
	// NPMPackageRequestsForwarding: requests for npm packages that the server has not are sent on to the public registry.
	NPMPackageRequestsForwarding bool `json:"npm_package_requests_forwarding"`
	// PyPIPackageRequestsForwarding: requests for PyPI packages that the server has not are sent on to the public index.
	PyPIPackageRequestsForwarding bool `json:"pypi_package_requests_forwarding"`

	// Processing.

	// DecompressArchiveFileTimeout is how long the decompression of an archive may take, in seconds; 0 for no limit.
	DecompressArchiveFileTimeout int `json:"decompress_archive_file_timeout"`
	// TerminalMaxSessionTime is how long a session of the web terminal may last, in seconds; 0 for no limit.
	TerminalMaxSessionTime int `json:"terminal_max_session_time"`
	// PollingIntervalMultiplier stretches the intervals at which pages ask for news; 0 turns that off.
	PollingIntervalMultiplier float64 `json:"polling_interval_multiplier"`
	// RepositoryStoragesWeighted is the weight of each repository storage, by name: how likely new repositories go there.
	RepositoryStoragesWeighted map[string]int `json:"repository_storages_weighted"`
	// KeepLatestArtifact: the artifacts of the latest successful pipelines never expire.
	KeepLatestArtifact bool `json:"keep_latest_artifact"`

	// Key restrictions.

	// RSAKeyRestriction is the least number of bits of RSA keys; 0 for any, -1 to forbid them.
	RSAKeyRestriction int `json:"rsa_key_restriction"`
	// DSAKeyRestriction is the least number of bits of DSA keys; 0 for any, -1 to forbid them.
	DSAKeyRestriction int `json:"dsa_key_restriction"`
	// ECDSAKeyRestriction is the least number of bits of ECDSA keys; 0 for any, -1 to forbid them.
	ECDSAKeyRestriction int `json:"ecdsa_key_restriction"`
	// Ed25519KeyRestriction is the least number of bits of Ed25519 keys; 0 for any, -1 to forbid them.
	Ed25519KeyRestriction int `json:"ed25519_key_restriction"`
	// ECDSASKKeyRestriction is the least number of bits of ECDSA keys on hardware tokens; 0 for any, -1 to forbid them.
	ECDSASKKeyRestriction int `json:"ecdsa_sk_key_restriction"`
	// Ed25519SKKeyRestriction is the least number of bits of Ed25519 keys on hardware tokens; 0 for any, -1 to forbid them.
	Ed25519SKKeyRestriction int `json:"ed25519_sk_key_restriction"`

	// Terms and profile.

	// EnforceTerms: users must accept Terms.
	EnforceTerms bool `json:"enforce_terms"`
	// Terms are the terms of service, in Markdown.
	Terms string `json:"terms"`
	// UserShowAddSSHKeyMessage: users without an SSH key are asked to add one.
	UserShowAddSSHKeyMessage bool `json:"user_show_add_ssh_key_message"`
	// AllowAccountDeletion: users may delete their own accounts.
	AllowAccountDeletion bool `json:"allow_account_deletion"`
	// UpdatingNameDisabledForUsers: users cannot change their names.
	UpdatingNameDisabledForUsers bool `json:"updating_name_disabled_for_users"`
	// LocalMarkdownVersion is raised to have all cached Markdown rendered anew.
	LocalMarkdownVersion int `json:"local_markdown_version"`
	// PerformanceBarAllowedGroupID is the group whose members may see the performance bar; 0 for none.
	PerformanceBarAllowedGroupID int64 `json:"performance_bar_allowed_group_id"`

	// Requests.

	// AllowLocalRequestsFromHooksAndServices is AllowLocalRequestsFromWebHooksAndServices under its old name.
	AllowLocalRequestsFromHooksAndServices bool `json:"allow_local_requests_from_hooks_and_services"`
	// AllowLocalRequestsFromWebHooksAndServices: web hooks and integrations may call addresses in the local network.
	AllowLocalRequestsFromWebHooksAndServices bool `json:"allow_local_requests_from_web_hooks_and_services"`
	// AllowLocalRequestsFromSystemHooks: system hooks may call addresses in the local network.
	AllowLocalRequestsFromSystemHooks bool `json:"allow_local_requests_from_system_hooks"`
	// OutboundLocalRequestsWhitelist lists the hosts and addresses in the local network that hooks may call all the same.
	OutboundLocalRequestsWhitelist []string `json:"outbound_local_requests_whitelist"`

	// Asset proxy.

	// AssetProxyEnabled: images from elsewhere are fetched through a proxy. A change needs a restart of the server.
	AssetProxyEnabled bool `json:"asset_proxy_enabled"`
	// AssetProxyURL is the address of the proxy.
	AssetProxyURL string `json:"asset_proxy_url"`
	// AssetProxyWhitelist is AssetProxyAllowlist under its old name.
	AssetProxyWhitelist []string `json:"asset_proxy_whitelist"`
	// AssetProxyAllowlist lists the domains whose images are not sent through the proxy.
	AssetProxyAllowlist []string `json:"asset_proxy_allowlist"`

	// Rate limits.

	// IssuesCreateLimit is how many issues a user may create a minute; 0 for no limit.
	IssuesCreateLimit int `json:"issues_create_limit"`
	// RawBlobRequestLimit is how many raw blobs of a project and path may be read a minute; 0 for no limit.
	RawBlobRequestLimit int `json:"raw_blob_request_limit"`
	// ProjectJobsAPIRateLimit is how often a user may list jobs of a project a minute; 0 for no limit.
	ProjectJobsAPIRateLimit int `json:"project_jobs_api_rate_limit"`
	// ProjectsAPIRateLimitUnauthenticated is how often an address may list projects without signing in, in 10 minutes; 0 for no limit.
	ProjectsAPIRateLimitUnauthenticated int `json:"projects_api_rate_limit_unauthenticated"`
	// UsersAPILimitFollowers is how often a user may list followers a minute.
	UsersAPILimitFollowers int `json:"users_api_limit_followers"`
	// UsersAPILimitFollowing is how often a user may list followed users a minute.
	UsersAPILimitFollowing int `json:"users_api_limit_following"`
	// UsersAPILimitStatus is how often a user may read statuses a minute.
	UsersAPILimitStatus int `json:"users_api_limit_status"`
	// UsersAPILimitSSHKeys is how often a user may list SSH keys a minute.
	UsersAPILimitSSHKeys int `json:"users_api_limit_ssh_keys"`
	// UsersAPILimitSSHKey is how often a user may read one SSH key a minute.
	UsersAPILimitSSHKey int `json:"users_api_limit_ssh_key"`
	// UsersAPILimitGPGKeys is how often a user may list GPG keys a minute.
	UsersAPILimitGPGKeys int `json:"users_api_limit_gpg_keys"`
	// UsersAPILimitGPGKey is how often a user may read one GPG key a minute.
	UsersAPILimitGPGKey int `json:"users_api_limit_gpg_key"`
	// DownstreamPipelineTriggerLimitPerProjectUserSHA is how many downstream pipelines a project, user and commit may trigger a
	// minute; 0 for no limit.
	DownstreamPipelineTriggerLimitPerProjectUserSHA int `json:"downstream_pipeline_trigger_limit_per_project_user_sha"`
	// RateLimitingResponseText is what a caller over a limit reads; empty for the server's own text.
	RateLimitingResponseText string `json:"rate_limiting_response_text"`

	// Tokens.

	// RequirePersonalAccessTokenExpiry: access tokens must expire.
	RequirePersonalAccessTokenExpiry bool `json:"require_personal_access_token_expiry"`
	// PersonalAccessTokenPrefix is what all personal access tokens begin with.
	PersonalAccessTokenPrefix string `json:"personal_access_token_prefix"`

	// External validation.

	// ExternalPipelineValidationServiceTimeout is how long the service that judges pipelines may take, in seconds; nil for the
	// server's own limit.
	ExternalPipelineValidationServiceTimeout *int `json:"external_pipeline_validation_service_timeout"`
	// ExternalPipelineValidationServiceToken is the token sent to the service; empty for none.
	ExternalPipelineValidationServiceToken string `json:"external_pipeline_validation_service_token"`
	// ExternalPipelineValidationServiceURL is the address of the service; empty when pipelines are not judged.
	ExternalPipelineValidationServiceURL string `json:"external_pipeline_validation_service_url"`
	// ExternalAuthorizationServiceEnabled: an external service decides who may reach a project.
	ExternalAuthorizationServiceEnabled bool `json:"external_authorization_service_enabled"`
	// ExternalAuthorizationServiceURL is the address of that service.
	ExternalAuthorizationServiceURL string `json:"external_authorization_service_url"`
	// ExternalAuthorizationServiceDefaultLabel is the label of projects that have none.
	ExternalAuthorizationServiceDefaultLabel string `json:"external_authorization_service_default_label"`
	// ExternalAuthorizationServiceTimeout is how long the service may take, in seconds.
	ExternalAuthorizationServiceTimeout float64 `json:"external_authorization_service_timeout"`

	// Imports.

	// BulkImportConcurrentPipelineBatchLimit is how many batches of a direct transfer run at a time.
	BulkImportConcurrentPipelineBatchLimit int `json:"bulk_import_concurrent_pipeline_batch_limit"`
	// ConcurrentRelationBatchExportLimit is how many batches of an export run at a time. Since 17.6.
	ConcurrentRelationBatchExportLimit int `json:"concurrent_relation_batch_export_limit"`
	// RelationExportBatchSize is how many records a batch of an export holds.
	RelationExportBatchSize int `json:"relation_export_batch_size"`
	// ConcurrentGitHubImportJobsLimit is how many jobs of an import from GitHub run at a time.
	ConcurrentGitHubImportJobsLimit int `json:"concurrent_github_import_jobs_limit"`
	// ConcurrentBitbucketImportJobsLimit is how many jobs of an import from Bitbucket Cloud run at a time.
	ConcurrentBitbucketImportJobsLimit int `json:"concurrent_bitbucket_import_jobs_limit"`
	// ConcurrentBitbucketServerImportJobsLimit is how many jobs of an import from Bitbucket Server run at a time.
	ConcurrentBitbucketServerImportJobsLimit int `json:"concurrent_bitbucket_server_import_jobs_limit"`
	// SilentAdminExportsEnabled: exports by administrators notify nobody. Since 17.0.
	SilentAdminExportsEnabled bool `json:"silent_admin_exports_enabled"`

	// Other.

	// SilentModeEnabled: the instance sends nothing out: no mail, no hooks, no mirrors.
	SilentModeEnabled bool `json:"silent_mode_enabled"`
	// SecurityTXTContent is the public security contact information. Since 16.7.
	SecurityTXTContent string `json:"security_txt_content"`
	// FLoCEnabled: browsers may take part in federated learning of cohorts here.
	FLoCEnabled bool `json:"floc_enabled"`
	// EnforcePIPLCompliance: accounts are treated as Chinese data protection law asks.
	EnforcePIPLCompliance bool `json:"enforce_pipl_compliance"`
	// GloballyAllowedIPs are the addresses and ranges that are always let in, separated by commas.
	GloballyAllowedIPs string `json:"globally_allowed_ips"`
	// DiagramAEnabled: the first diagram renderer (PlantUML) is in use. The contract does not name the setting.
	DiagramAEnabled bool `json:"plantuml_enabled"`
	// DiagramAURL is the address of the first diagram renderer; empty for none. The contract does not name the setting.
	DiagramAURL string `json:"plantuml_url"`
	// DiagramBEnabled: the second diagram renderer (diagrams.net) is in use. The contract does not name the setting.
	DiagramBEnabled bool `json:"diagramsnet_enabled"`
	// DiagramBURL is the address of the second diagram renderer; empty for none. The contract does not name the setting.
	DiagramBURL string `json:"diagramsnet_url"`
	// DiagramCEnabled: the third diagram renderer (Kroki) is in use. The contract does not name the setting.
	DiagramCEnabled bool `json:"kroki_enabled"`
	// DiagramCURL is the address of the third diagram renderer; empty for none. The contract does not name the setting.
	DiagramCURL string `json:"kroki_url"`
	// IssueTrackerConnectApplicationKey is the id of the OAuth application that issue-tracker connect signs in with. The contract does
	// not name the setting.
	IssueTrackerConnectApplicationKey string `json:"jira_connect_application_key"`
	// IssueTrackerConnectPublicKeyStorageEnabled: the instance stores public keys for issue-tracker connect. The contract does not
	// name the setting.
	IssueTrackerConnectPublicKeyStorageEnabled bool `json:"jira_connect_public_key_storage_enabled"`
	// IssueTrackerConnectProxyURL is the address of the instance that proxies issue-tracker connect. The contract does not name the
	// setting.
	IssueTrackerConnectProxyURL string `json:"jira_connect_proxy_url"`
	// IssueTrackerConnectAdditionalAudienceURL is a further audience of the tokens of issue-tracker connect. The contract does not
	// name the setting.
	IssueTrackerConnectAdditionalAudienceURL string `json:"jira_connect_additional_audience_url"`

	// Premium and Ultimate.

	// AllowAllIntegrations: all integrations may be used; if not, those of AllowedIntegrations.
	AllowAllIntegrations bool `json:"allow_all_integrations"`
	// AllowedIntegrations lists the integrations that may be used when AllowAllIntegrations is false.
	AllowedIntegrations []string `json:"allowed_integrations"`
	// GroupOwnersCanManageDefaultBranchProtection: owners of groups may change how default branches are protected.
	GroupOwnersCanManageDefaultBranchProtection bool `json:"group_owners_can_manage_default_branch_protection"`
	// FileTemplateProjectID is the project that file templates come from; 0 for none.
	FileTemplateProjectID int64 `json:"file_template_project_id"`
	// ReplicaNodeAllowedIPs are the addresses and ranges that replicas connect from, separated by commas.
	ReplicaNodeAllowedIPs string `json:"replica_node_allowed_ips"`
	// ReplicaStatusTimeout is how long a replica may take to tell its status, in seconds.
	ReplicaStatusTimeout int `json:"replica_status_timeout"`
	// DefaultProjectDeletionProtection: only administrators may delete projects.
	DefaultProjectDeletionProtection bool `json:"default_project_deletion_protection"`
	// DisablePersonalAccessTokens: nobody can use or create personal access tokens.
	DisablePersonalAccessTokens bool `json:"disable_personal_access_tokens"`
	// SecurityPolicyGlobalGroupApproversEnabled: approvers of security policies are looked up in all groups.
	SecurityPolicyGlobalGroupApproversEnabled bool `json:"security_policy_global_group_approvers_enabled"`
	// SecurityApprovalPoliciesLimit is how many approval policies a security policy project may have.
	SecurityApprovalPoliciesLimit int `json:"security_approval_policies_limit"`
	// ScanExecutionPoliciesActionLimit is how many actions a scan execution policy may have; 0 for no limit.
	ScanExecutionPoliciesActionLimit int `json:"scan_execution_policies_action_limit"`
	// ScanExecutionPoliciesScheduleLimit is how many rules of type schedule a scan execution policy may have; at most 20.
	ScanExecutionPoliciesScheduleLimit int `json:"scan_execution_policies_schedule_limit"`
	// DeleteUnconfirmedUsers: accounts whose address is not confirmed are deleted after UnconfirmedUsersDeleteAfterDays.
	DeleteUnconfirmedUsers bool `json:"delete_unconfirmed_users"`
	// UnconfirmedUsersDeleteAfterDays is how long an unconfirmed account is kept, in days. Since 16.1.
	UnconfirmedUsersDeleteAfterDays int `json:"unconfirmed_users_delete_after_days"`
	// AssistantFeaturesEnabled: the AI assistant is available. Since 16.10.
	AssistantFeaturesEnabled bool `json:"assistant_features_enabled"`
	// LockAssistantFeaturesEnabled: groups and projects cannot change AssistantFeaturesEnabled. Since 16.10.
	LockAssistantFeaturesEnabled bool `json:"lock_assistant_features_enabled"`
	// UseAnalyticsStoreForAnalytics: analytics are read from the analytics store.
	UseAnalyticsStoreForAnalytics bool `json:"use_analytics_store_for_analytics"`
	// SecretPushProtectionAvailable: projects may use secret push protection. Premium and Ultimate by Document 3 §2.1, Ultimate by
	// §4.1.1.
	SecretPushProtectionAvailable bool `json:"secret_push_protection_available"`
	// VirtualRegistriesEndpointsAPILimit is how often an address may call the endpoints of virtual registries in 15 seconds; 0 for no
	// limit.
	VirtualRegistriesEndpointsAPILimit int `json:"virtual_registries_endpoints_api_limit"`
	// LockMembershipsToSAML: memberships come from SAML groups alone.
	LockMembershipsToSAML bool `json:"lock_memberships_to_saml"`

	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`

	read   *settingsObject `json:"-"` // what the value was decoded from; nil for one that a program made
	merged *settingsObject `json:"-"` // what Merge has set; nil for nothing
}

// BranchProtectionDefaults says how new default branches are protected (Document 3 §2.1).
type BranchProtectionDefaults struct {
	// AllowedToPush lists who may push.
	AllowedToPush []BranchAccess `json:"allowed_to_push"`
	// AllowForcePush: whoever may push may force it.
	AllowForcePush bool `json:"allow_force_push"`
	// AllowedToMerge lists who may merge.
	AllowedToMerge []BranchAccess `json:"allowed_to_merge"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}

// BranchAccess is a role that may do something to a branch (Document 3 §2.1).
type BranchAccess struct {
	// AccessLevel is the role, as a number: 30 Developer, 40 Maintainer, 60 administrator, 0 nobody.
	AccessLevel int `json:"access_level"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}
