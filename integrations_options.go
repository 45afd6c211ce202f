package forge

import (
	"fmt"
	"log/slog"
	"strings"
)

// CustomIntegration sets up any integration, by its path segment and with any parameters. Use it
// for integrations without their own type of options.
type CustomIntegration struct {
	// Slug is the path segment: jira. Required.
	Slug string `json:"-"`
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// Params are the parameters, under the server's own names. They are not checked.
	Params map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o CustomIntegration) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o CustomIntegration) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (o *CustomIntegration) integration() IntegrationName {
	if o == nil {
		return nil
	}
	return IntegrationSlug(o.Slug)
}

func (o *CustomIntegration) extra() map[string]any { return o.Params }

func (o *CustomIntegration) check() error {
	if strings.Trim(o.Slug, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		return &ValidationError{Option: "CustomIntegration.Slug", Param: "slug", Reason: "slugs have lower-case letters, digits, dashes and underscores"}
	}
	return nil
}

// AsanaOptions set up Asana. The documents call it task_tracker.
type AsanaOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// APIKey is the token of a user. Comments are attributed to that user. Required.
	APIKey string `json:"api_key,omitempty"`
	// RestrictToBranch lists the branches that the integration works on, separated by commas. Empty:
	// all branches.
	RestrictToBranch string `json:"restrict_to_branch,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o AsanaOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o AsanaOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*AsanaOptions) integration() IntegrationName { return IntegrationAsana }

func (o *AsanaOptions) extra() map[string]any { return o.Extra }

func (o *AsanaOptions) check() error {
	return required("api_key", o.APIKey != "")
}

// AssemblaOptions set up Assembla. The documents call it project_tracker.
type AssemblaOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// Token is the token of Assembla. Required.
	Token string `json:"token,omitempty"`
	// Subdomain is the subdomain of Assembla.
	Subdomain string `json:"subdomain,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o AssemblaOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o AssemblaOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*AssemblaOptions) integration() IntegrationName { return IntegrationAssembla }

func (o *AssemblaOptions) extra() map[string]any { return o.Extra }

func (o *AssemblaOptions) check() error {
	return required("token", o.Token != "")
}

// BambooOptions set up Atlassian Bamboo. Automatic revision labeling and a repository trigger must
// be configured in Bamboo. The documents call it build_server.
type BambooOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// BambooURL is the root URL of Bamboo. Required. The documents do not name the parameter.
	BambooURL string `json:"bamboo_url,omitempty"`
	// EnableSSLVerification verifies the certificate of the other service. Default: true.
	EnableSSLVerification *bool `json:"enable_ssl_verification,omitempty"`
	// BuildKey is the key of the build plan. Required.
	BuildKey string `json:"build_key,omitempty"`
	// Username is the user that builds are started as. Required.
	Username string `json:"username,omitempty"`
	// Password is the password of that user. Required.
	Password string `json:"password,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o BambooOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o BambooOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*BambooOptions) integration() IntegrationName { return IntegrationBamboo }

func (o *BambooOptions) extra() map[string]any { return o.Extra }

func (o *BambooOptions) check() error {
	return firstError(
		required("bamboo_url", o.BambooURL != ""),
		required("build_key", o.BuildKey != ""),
		required("username", o.Username != ""),
		required("password", o.Password != ""),
	)
}

// BugzillaOptions set up Bugzilla. The documents call it issue_tracker.
type BugzillaOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// NewIssueURL is the address at which new issues are created. Required.
	NewIssueURL string `json:"new_issue_url,omitempty"`
	// IssuesURL is the address of an issue, with :id for its id. Required.
	IssuesURL string `json:"issues_url,omitempty"`
	// ProjectURL is the address of the project in the issue tracker. Required.
	ProjectURL string `json:"project_url,omitempty"`
	// PushEvents enables notifications for pushes. Not part of the contract.
	PushEvents *bool `json:"push_events,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o BugzillaOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o BugzillaOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*BugzillaOptions) integration() IntegrationName { return IntegrationBugzilla }

func (o *BugzillaOptions) extra() map[string]any { return o.Extra }

func (o *BugzillaOptions) check() error {
	return firstError(
		required("new_issue_url", o.NewIssueURL != ""),
		required("issues_url", o.IssuesURL != ""),
		required("project_url", o.ProjectURL != ""),
	)
}

// CustomIssueTrackerOptions set up a custom issue tracker: the fields are those of BugzillaOptions.
// The documents call it custom_issue_tracker.
type CustomIssueTrackerOptions BugzillaOptions

// Format writes the names of the fields that are set. The values may be secrets.
func (o CustomIssueTrackerOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o CustomIssueTrackerOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*CustomIssueTrackerOptions) integration() IntegrationName { return IntegrationCustomIssueTracker }

func (o *CustomIssueTrackerOptions) extra() map[string]any { return o.Extra }

func (o *CustomIssueTrackerOptions) check() error { return (*BugzillaOptions)(o).check() }

// EWMOptions set up IBM Engineering Workflow Management: the fields are those of BugzillaOptions.
// The documents call it engineering_workflow.
type EWMOptions BugzillaOptions

// Format writes the names of the fields that are set. The values may be secrets.
func (o EWMOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o EWMOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*EWMOptions) integration() IntegrationName { return IntegrationEWM }

func (o *EWMOptions) extra() map[string]any { return o.Extra }

func (o *EWMOptions) check() error { return (*BugzillaOptions)(o).check() }

// ClickUpOptions set up ClickUp. The documents call it issue_tracker_two_urls_1.
type ClickUpOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// IssuesURL is the address of an issue, with :id for its id. Required.
	IssuesURL string `json:"issues_url,omitempty"`
	// ProjectURL is the address of the project in the tracker. Required.
	ProjectURL string `json:"project_url,omitempty"`
	// PushEvents enables notifications for pushes. Not part of the contract.
	PushEvents *bool `json:"push_events,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o ClickUpOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o ClickUpOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*ClickUpOptions) integration() IntegrationName { return IntegrationClickUp }

func (o *ClickUpOptions) extra() map[string]any { return o.Extra }

func (o *ClickUpOptions) check() error {
	return firstError(required("issues_url", o.IssuesURL != ""), required("project_url", o.ProjectURL != ""))
}

// YouTrackOptions set up YouTrack: the fields are those of ClickUpOptions. The documents call it
// issue_tracker_two_urls_2.
type YouTrackOptions ClickUpOptions

// Format writes the names of the fields that are set. The values may be secrets.
func (o YouTrackOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o YouTrackOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*YouTrackOptions) integration() IntegrationName { return IntegrationYouTrack }

func (o *YouTrackOptions) extra() map[string]any { return o.Extra }

func (o *YouTrackOptions) check() error { return (*ClickUpOptions)(o).check() }

// BuildkiteOptions set up Buildkite. The documents call it pipeline_service.
type BuildkiteOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// Token is the token of Buildkite. Required.
	Token string `json:"token,omitempty"`
	// ProjectURL is the address of the pipeline in Buildkite. Required.
	ProjectURL string `json:"project_url,omitempty"`
	// EnableSSLVerification has no effect.
	//
	// Deprecated: certificates are always checked.
	EnableSSLVerification *bool `json:"enable_ssl_verification,omitempty"`
	// PushEvents enables notifications for pushes.
	PushEvents *bool `json:"push_events,omitempty"`
	// MergeRequestsEvents enables notifications for merge requests.
	MergeRequestsEvents *bool `json:"merge_requests_events,omitempty"`
	// TagPushEvents enables notifications for pushes of tags.
	TagPushEvents *bool `json:"tag_push_events,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o BuildkiteOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o BuildkiteOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*BuildkiteOptions) integration() IntegrationName { return IntegrationBuildkite }

func (o *BuildkiteOptions) extra() map[string]any { return o.Extra }

func (o *BuildkiteOptions) check() error {
	return firstError(required("token", o.Token != ""), required("project_url", o.ProjectURL != ""))
}

// ConfluenceOptions set up Confluence. The documents call it wiki_workspace.
type ConfluenceOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// ConfluenceURL is the URL of the workspace in Confluence. Required. The documents do not name
	// the parameter.
	ConfluenceURL string `json:"confluence_url,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o ConfluenceOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o ConfluenceOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*ConfluenceOptions) integration() IntegrationName { return IntegrationConfluence }

func (o *ConfluenceOptions) extra() map[string]any { return o.Extra }

func (o *ConfluenceOptions) check() error {
	return required("confluence_url", o.ConfluenceURL != "")
}

// DatadogOptions set up Datadog. Deployed servers also accept flags for events; send them in Extra.
// The documents call it monitoring.
type DatadogOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// APIKey is the API key of Datadog. Required.
	APIKey string `json:"api_key,omitempty"`
	// APIURL is the full URL of the site's API, for advanced use.
	APIURL string `json:"api_url,omitempty"`
	// DatadogEnv is the env tag of all data. Self-managed only. The documents do not name the
	// parameter.
	DatadogEnv string `json:"datadog_env,omitempty"`
	// DatadogService is the service tag of all data. The documents do not name the parameter.
	DatadogService string `json:"datadog_service,omitempty"`
	// DatadogSite is the site that receives the data. For the EU site it is the domain of that site.
	// The documents do not name the parameter.
	DatadogSite string `json:"datadog_site,omitempty"`
	// DatadogTags are tags of all data, one key:value per line. The documents do not name the
	// parameter.
	DatadogTags string `json:"datadog_tags,omitempty"`
	// ArchiveTraceEvents collects job logs with the traces of pipelines.
	ArchiveTraceEvents *bool `json:"archive_trace_events,omitempty"`
	// DatadogCIVisibility collects the data of pipelines and jobs. Not part of the contract.
	DatadogCIVisibility *bool `json:"datadog_ci_visibility,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o DatadogOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o DatadogOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*DatadogOptions) integration() IntegrationName { return IntegrationDatadog }

func (o *DatadogOptions) extra() map[string]any { return o.Extra }

func (o *DatadogOptions) check() error {
	return required("api_key", o.APIKey != "")
}

// DiffblueCoverOptions set up Diffblue Cover. The documents call it test_generation, and do not
// name the parameters.
type DiffblueCoverOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// DiffblueLicenseKey is the key of the license. Required.
	DiffblueLicenseKey string `json:"diffblue_license_key,omitempty"`
	// DiffblueAccessTokenName is the name of the access token that Diffblue Cover uses. Required.
	DiffblueAccessTokenName string `json:"diffblue_access_token_name,omitempty"`
	// DiffblueAccessTokenSecret is that access token. Required.
	DiffblueAccessTokenSecret string `json:"diffblue_access_token_secret,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o DiffblueCoverOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o DiffblueCoverOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*DiffblueCoverOptions) integration() IntegrationName { return IntegrationDiffblueCover }

func (o *DiffblueCoverOptions) extra() map[string]any { return o.Extra }

func (o *DiffblueCoverOptions) check() error {
	return firstError(
		required("diffblue_license_key", o.DiffblueLicenseKey != ""),
		required("diffblue_access_token_name", o.DiffblueAccessTokenName != ""),
		required("diffblue_access_token_secret", o.DiffblueAccessTokenSecret != ""),
	)
}

// DroneCIOptions set up Drone. The documents call it ci_service.
type DroneCIOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// Token is the token of the project in Drone. Required.
	Token string `json:"token,omitempty"`
	// DroneURL is the address of Drone. Required. The documents do not name the parameter.
	DroneURL string `json:"drone_url,omitempty"`
	// EnableSSLVerification verifies the certificate of the other service. Default: true.
	EnableSSLVerification *bool `json:"enable_ssl_verification,omitempty"`
	// PushEvents enables notifications for pushes.
	PushEvents *bool `json:"push_events,omitempty"`
	// MergeRequestsEvents enables notifications for merge requests.
	MergeRequestsEvents *bool `json:"merge_requests_events,omitempty"`
	// TagPushEvents enables notifications for pushes of tags.
	TagPushEvents *bool `json:"tag_push_events,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o DroneCIOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o DroneCIOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*DroneCIOptions) integration() IntegrationName { return IntegrationDroneCI }

func (o *DroneCIOptions) extra() map[string]any { return o.Extra }

func (o *DroneCIOptions) check() error {
	return firstError(required("token", o.Token != ""), required("drone_url", o.DroneURL != ""))
}
