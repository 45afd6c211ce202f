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

// TaskTrackerOptions set up the task tracker. On GitLab this is the integration "asana" (Asana).
type TaskTrackerOptions struct {
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
func (o TaskTrackerOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o TaskTrackerOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*TaskTrackerOptions) integration() IntegrationName { return IntegrationTaskTracker }

func (o *TaskTrackerOptions) extra() map[string]any { return o.Extra }

func (o *TaskTrackerOptions) check() error {
	return required("api_key", o.APIKey != "")
}

// ProjectTrackerOptions set up the project tracker. On GitLab this is the integration "assembla"
// (Assembla).
type ProjectTrackerOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// Token is the token of the project tracker. Required.
	Token string `json:"token,omitempty"`
	// Subdomain is the subdomain of the project tracker.
	Subdomain string `json:"subdomain,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o ProjectTrackerOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o ProjectTrackerOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*ProjectTrackerOptions) integration() IntegrationName { return IntegrationProjectTracker }

func (o *ProjectTrackerOptions) extra() map[string]any { return o.Extra }

func (o *ProjectTrackerOptions) check() error {
	return required("token", o.Token != "")
}

// BuildServerOptions set up the plan-based build server. Automatic revision labeling and a
// repository trigger must be configured on the build server. On GitLab this is the integration
// "bamboo" (Atlassian Bamboo).
type BuildServerOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// URL is the root URL of the build server. Required. The documents do not name the
	// parameter.
	URL string `json:"bamboo_url,omitempty"`
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
func (o BuildServerOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o BuildServerOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*BuildServerOptions) integration() IntegrationName { return IntegrationBuildServer }

func (o *BuildServerOptions) extra() map[string]any { return o.Extra }

func (o *BuildServerOptions) check() error {
	return firstError(
		required("bamboo_url", o.URL != ""),
		required("build_key", o.BuildKey != ""),
		required("username", o.Username != ""),
		required("password", o.Password != ""),
	)
}

// IssueTrackerOptions set up the issue tracker. On GitLab this is the integration "bugzilla"
// (Bugzilla).
type IssueTrackerOptions struct {
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
func (o IssueTrackerOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o IssueTrackerOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*IssueTrackerOptions) integration() IntegrationName { return IntegrationIssueTracker }

func (o *IssueTrackerOptions) extra() map[string]any { return o.Extra }

func (o *IssueTrackerOptions) check() error {
	return firstError(
		required("new_issue_url", o.NewIssueURL != ""),
		required("issues_url", o.IssuesURL != ""),
		required("project_url", o.ProjectURL != ""),
	)
}

// CustomIssueTrackerOptions set up a custom issue tracker: the fields are those of
// IssueTrackerOptions. On GitLab this is the integration "custom-issue-tracker" (custom issue
// tracker).
type CustomIssueTrackerOptions IssueTrackerOptions

// Format writes the names of the fields that are set. The values may be secrets.
func (o CustomIssueTrackerOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o CustomIssueTrackerOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*CustomIssueTrackerOptions) integration() IntegrationName { return IntegrationCustomIssueTracker }

func (o *CustomIssueTrackerOptions) extra() map[string]any { return o.Extra }

func (o *CustomIssueTrackerOptions) check() error { return (*IssueTrackerOptions)(o).check() }

// EngineeringWorkflowOptions set up the engineering workflow: the fields are those of
// IssueTrackerOptions. On GitLab this is the integration "ewm" (IBM Engineering Workflow
// Management).
type EngineeringWorkflowOptions IssueTrackerOptions

// Format writes the names of the fields that are set. The values may be secrets.
func (o EngineeringWorkflowOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o EngineeringWorkflowOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*EngineeringWorkflowOptions) integration() IntegrationName {
	return IntegrationEngineeringWorkflow
}

func (o *EngineeringWorkflowOptions) extra() map[string]any { return o.Extra }

func (o *EngineeringWorkflowOptions) check() error { return (*IssueTrackerOptions)(o).check() }

// TwoURLTrackerAOptions set up the first tracker with two addresses. On GitLab this is the
// integration "clickup" (ClickUp).
type TwoURLTrackerAOptions struct {
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
func (o TwoURLTrackerAOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o TwoURLTrackerAOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*TwoURLTrackerAOptions) integration() IntegrationName { return IntegrationTwoURLTrackerA }

func (o *TwoURLTrackerAOptions) extra() map[string]any { return o.Extra }

func (o *TwoURLTrackerAOptions) check() error {
	return firstError(required("issues_url", o.IssuesURL != ""), required("project_url", o.ProjectURL != ""))
}

// TwoURLTrackerBOptions set up the second tracker with two addresses: the fields are those of
// TwoURLTrackerAOptions. On GitLab this is the integration "youtrack" (YouTrack).
type TwoURLTrackerBOptions TwoURLTrackerAOptions

// Format writes the names of the fields that are set. The values may be secrets.
func (o TwoURLTrackerBOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o TwoURLTrackerBOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*TwoURLTrackerBOptions) integration() IntegrationName { return IntegrationTwoURLTrackerB }

func (o *TwoURLTrackerBOptions) extra() map[string]any { return o.Extra }

func (o *TwoURLTrackerBOptions) check() error { return (*TwoURLTrackerAOptions)(o).check() }

// PipelineServiceOptions set up the pipeline service. On GitLab this is the integration "buildkite"
// (Buildkite).
type PipelineServiceOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// Token is the token of the pipeline service. Required.
	Token string `json:"token,omitempty"`
	// ProjectURL is the address of the pipeline in the pipeline service. Required.
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
func (o PipelineServiceOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o PipelineServiceOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*PipelineServiceOptions) integration() IntegrationName { return IntegrationPipelineService }

func (o *PipelineServiceOptions) extra() map[string]any { return o.Extra }

func (o *PipelineServiceOptions) check() error {
	return firstError(required("token", o.Token != ""), required("project_url", o.ProjectURL != ""))
}

// WikiWorkspaceOptions set up the wiki workspace. On GitLab this is the integration "confluence"
// (Confluence).
type WikiWorkspaceOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// URL is the URL of the hosted workspace. Required. The documents do not name the
	// parameter.
	URL string `json:"confluence_url,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o WikiWorkspaceOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o WikiWorkspaceOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*WikiWorkspaceOptions) integration() IntegrationName { return IntegrationWikiWorkspace }

func (o *WikiWorkspaceOptions) extra() map[string]any { return o.Extra }

func (o *WikiWorkspaceOptions) check() error {
	return required("confluence_url", o.URL != "")
}

// MonitoringOptions set up the monitoring. Deployed servers also accept flags for events; send them
// in Extra. On GitLab this is the integration "datadog" (Datadog).
type MonitoringOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// APIKey is the key of the monitoring service. Required.
	APIKey string `json:"api_key,omitempty"`
	// APIURL is the full URL of the site's API, for advanced use.
	APIURL string `json:"api_url,omitempty"`
	// Env is the env tag of all data. Self-managed only. The documents do not name the
	// parameter.
	Env string `json:"datadog_env,omitempty"`
	// Service is the service tag of all data. The documents do not name the parameter.
	Service string `json:"datadog_service,omitempty"`
	// Site is the site that receives the data. For the EU site it is the domain of that site. The
	// documents do not name the parameter.
	Site string `json:"datadog_site,omitempty"`
	// Tags are tags of all data, one key:value per line. The documents do not name the
	// parameter.
	Tags string `json:"datadog_tags,omitempty"`
	// ArchiveTraceEvents collects job logs with the traces of pipelines.
	ArchiveTraceEvents *bool `json:"archive_trace_events,omitempty"`
	// CIVisibility collects the data of pipelines and jobs. Not part of the contract.
	CIVisibility *bool `json:"datadog_ci_visibility,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o MonitoringOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o MonitoringOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*MonitoringOptions) integration() IntegrationName { return IntegrationMonitoring }

func (o *MonitoringOptions) extra() map[string]any { return o.Extra }

func (o *MonitoringOptions) check() error {
	return required("api_key", o.APIKey != "")
}

// TestGenerationOptions set up the test-generation tool. The documents do not name the parameters.
// On GitLab this is the integration "diffblue-cover" (Diffblue Cover).
type TestGenerationOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// LicenseKey is the key of the license. Required.
	LicenseKey string `json:"diffblue_license_key,omitempty"`
	// AccessTokenName is the name of the access token that the tool uses. Required.
	AccessTokenName string `json:"diffblue_access_token_name,omitempty"`
	// AccessTokenSecret is that access token. Required.
	AccessTokenSecret string `json:"diffblue_access_token_secret,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o TestGenerationOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o TestGenerationOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*TestGenerationOptions) integration() IntegrationName { return IntegrationTestGeneration }

func (o *TestGenerationOptions) extra() map[string]any { return o.Extra }

func (o *TestGenerationOptions) check() error {
	return firstError(
		required("diffblue_license_key", o.LicenseKey != ""),
		required("diffblue_access_token_name", o.AccessTokenName != ""),
		required("diffblue_access_token_secret", o.AccessTokenSecret != ""),
	)
}

// CIServiceOptions set up the CI service. On GitLab this is the integration "drone-ci" (Drone).
type CIServiceOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// Token is the token of the project in the CI service. Required.
	Token string `json:"token,omitempty"`
	// URL is the address of the CI service. Required. The documents do not name the
	// parameter.
	URL string `json:"drone_url,omitempty"`
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
func (o CIServiceOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o CIServiceOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*CIServiceOptions) integration() IntegrationName { return IntegrationCIService }

func (o *CIServiceOptions) extra() map[string]any { return o.Extra }

func (o *CIServiceOptions) check() error {
	return firstError(required("token", o.Token != ""), required("drone_url", o.URL != ""))
}
