package forge

import (
	"fmt"
	"log/slog"
)

// NotifiedBranches selects the branches whose events send notifications.
type NotifiedBranches string

const (
	// NotifiedBranchesAll are all branches.
	NotifiedBranchesAll NotifiedBranches = "all"
	// NotifiedBranchesDefault is the default branch.
	NotifiedBranchesDefault NotifiedBranches = "default"
	// NotifiedBranchesProtected are the protected branches.
	NotifiedBranchesProtected NotifiedBranches = "protected"
	// NotifiedBranchesDefaultAndProtected are the default branch and the protected ones.
	NotifiedBranchesDefaultAndProtected NotifiedBranches = "default_and_protected"
)

// ChatClassicOptions set up the classic chat. On GitLab this is the integration "campfire"
// (Campfire).
type ChatClassicOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// Token is the token of the chat. Required.
	Token string `json:"token,omitempty"`
	// Subdomain is the subdomain of the chat.
	Subdomain string `json:"subdomain,omitempty"`
	// Room is the id portion of the URL of the room.
	Room string `json:"room,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o ChatClassicOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o ChatClassicOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*ChatClassicOptions) integration() IntegrationName { return IntegrationChatClassic }

func (o *ChatClassicOptions) extra() map[string]any { return o.Extra }

func (o *ChatClassicOptions) check() error {
	return required("token", o.Token != "")
}

// EmailsOnPushOptions set up e-mails on push. On GitLab this is the integration "emails-on-push"
// (emails on push).
type EmailsOnPushOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// Recipients are the e-mail addresses, separated by whitespace. Required.
	Recipients string `json:"recipients,omitempty"`
	// DisableDiffs omits the diffs.
	DisableDiffs *bool `json:"disable_diffs,omitempty"`
	// SendFromCommitterEmail sends from the e-mail address of the committer.
	SendFromCommitterEmail *bool `json:"send_from_committer_email,omitempty"`
	// PushEvents enables notifications for pushes.
	PushEvents *bool `json:"push_events,omitempty"`
	// TagPushEvents enables notifications for pushes of tags.
	TagPushEvents *bool `json:"tag_push_events,omitempty"`
	// BranchesToBeNotified limits notifications to these branches: NotifiedBranchesAll,
	// NotifiedBranchesDefault, NotifiedBranchesProtected or NotifiedBranchesDefaultAndProtected.
	// Pushes of tags always notify. Default: NotifiedBranchesAll.
	BranchesToBeNotified NotifiedBranches `json:"branches_to_be_notified,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o EmailsOnPushOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o EmailsOnPushOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*EmailsOnPushOptions) integration() IntegrationName { return IntegrationEmailsOnPush }

func (o *EmailsOnPushOptions) extra() map[string]any { return o.Extra }

func (o *EmailsOnPushOptions) check() error {
	return required("recipients", o.Recipients != "")
}

// TeamChatAOptions set up team chat A: one webhook, and others for single events. On GitLab this is
// the integration "discord" (Discord).
type TeamChatAOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// Webhook is the webhook that is called. Required.
	Webhook string `json:"webhook,omitempty"`
	// BranchesToBeNotified limits notifications to these branches: NotifiedBranchesAll,
	// NotifiedBranchesDefault, NotifiedBranchesProtected or NotifiedBranchesDefaultAndProtected.
	// Default: NotifiedBranchesDefault.
	BranchesToBeNotified NotifiedBranches `json:"branches_to_be_notified,omitempty"`
	// NotifyOnlyBrokenPipelines excludes pipelines that succeed.
	NotifyOnlyBrokenPipelines *bool `json:"notify_only_broken_pipelines,omitempty"`
	// IssuesEvents enables notifications for issues.
	IssuesEvents *bool `json:"issues_events,omitempty"`
	// IssueChannel overrides Webhook for these events.
	IssueChannel string `json:"issue_channel,omitempty"`
	// ConfidentialIssuesEvents enables notifications for confidential issues.
	ConfidentialIssuesEvents *bool `json:"confidential_issues_events,omitempty"`
	// ConfidentialIssueChannel overrides Webhook for these events.
	ConfidentialIssueChannel string `json:"confidential_issue_channel,omitempty"`
	// MergeRequestsEvents enables notifications for merge requests.
	MergeRequestsEvents *bool `json:"merge_requests_events,omitempty"`
	// MergeRequestChannel overrides Webhook for these events.
	MergeRequestChannel string `json:"merge_request_channel,omitempty"`
	// NoteEvents enables notifications for comments.
	NoteEvents *bool `json:"note_events,omitempty"`
	// NoteChannel overrides Webhook for these events.
	NoteChannel string `json:"note_channel,omitempty"`
	// ConfidentialNoteEvents enables notifications for comments that only members see.
	ConfidentialNoteEvents *bool `json:"confidential_note_events,omitempty"`
	// ConfidentialNoteChannel overrides Webhook for these events.
	ConfidentialNoteChannel string `json:"confidential_note_channel,omitempty"`
	// PushEvents enables notifications for pushes.
	PushEvents *bool `json:"push_events,omitempty"`
	// PushChannel overrides Webhook for these events.
	PushChannel string `json:"push_channel,omitempty"`
	// TagPushEvents enables notifications for pushes of tags.
	TagPushEvents *bool `json:"tag_push_events,omitempty"`
	// TagPushChannel overrides Webhook for these events.
	TagPushChannel string `json:"tag_push_channel,omitempty"`
	// PipelineEvents enables notifications for pipelines.
	PipelineEvents *bool `json:"pipeline_events,omitempty"`
	// PipelineChannel overrides Webhook for these events.
	PipelineChannel string `json:"pipeline_channel,omitempty"`
	// WikiPageEvents enables notifications for wiki pages.
	WikiPageEvents *bool `json:"wiki_page_events,omitempty"`
	// WikiPageChannel overrides Webhook for these events.
	WikiPageChannel string `json:"wiki_page_channel,omitempty"`
	// DeploymentEvents enables notifications for deployments.
	DeploymentEvents *bool `json:"deployment_events,omitempty"`
	// DeploymentChannel overrides Webhook for these events.
	DeploymentChannel string `json:"deployment_channel,omitempty"`
	// GroupMentionsEvents enables notifications for mentions of groups.
	GroupMentionsEvents *bool `json:"group_mentions_events,omitempty"`
	// GroupMentionsChannel overrides Webhook for these events.
	GroupMentionsChannel string `json:"group_mentions_channel,omitempty"`
	// GroupConfidentialMentionsEvents enables notifications for mentions of groups that only members
	// see.
	GroupConfidentialMentionsEvents *bool `json:"group_confidential_mentions_events,omitempty"`
	// GroupConfidentialMentionsChannel overrides Webhook for these events.
	GroupConfidentialMentionsChannel string `json:"group_confidential_mentions_channel,omitempty"`
	// AlertChannel overrides Webhook for alerts. Not part of the contract.
	AlertChannel string `json:"alert_channel,omitempty"`
	// IncidentChannel overrides Webhook for incidents. Not part of the contract.
	IncidentChannel string `json:"incident_channel,omitempty"`
	// VulnerabilityChannel overrides Webhook for vulnerabilities. Not part of the contract.
	VulnerabilityChannel string `json:"vulnerability_channel,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o TeamChatAOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o TeamChatAOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*TeamChatAOptions) integration() IntegrationName { return IntegrationTeamChatA }

func (o *TeamChatAOptions) extra() map[string]any { return o.Extra }

func (o *TeamChatAOptions) check() error {
	return required("webhook", o.Webhook != "")
}

// TeamChatBOptions set up team chat B: a bot. On GitLab this is the integration "telegram"
// (Telegram).
type TeamChatBOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// Hostname is the address of the API of the chat service. Empty: its public address.
	Hostname string `json:"hostname,omitempty"`
	// Token is the token of the bot. Required.
	Token string `json:"token,omitempty"`
	// Room is the id of the chat, or the name of the channel with a leading @. Required.
	Room string `json:"room,omitempty"`
	// Thread is the id of the topic. 0: none.
	Thread int `json:"thread,omitempty"`
	// NotifyOnlyBrokenPipelines excludes pipelines that succeed.
	NotifyOnlyBrokenPipelines *bool `json:"notify_only_broken_pipelines,omitempty"`
	// BranchesToBeNotified limits notifications to these branches: NotifiedBranchesAll,
	// NotifiedBranchesDefault, NotifiedBranchesProtected or NotifiedBranchesDefaultAndProtected.
	// Default: NotifiedBranchesDefault.
	BranchesToBeNotified NotifiedBranches `json:"branches_to_be_notified,omitempty"`
	// PushEvents enables notifications for pushes. Required.
	PushEvents *bool `json:"push_events,omitempty"`
	// IssuesEvents enables notifications for issues. Required.
	IssuesEvents *bool `json:"issues_events,omitempty"`
	// ConfidentialIssuesEvents enables notifications for confidential issues. Required.
	ConfidentialIssuesEvents *bool `json:"confidential_issues_events,omitempty"`
	// MergeRequestsEvents enables notifications for merge requests. Required.
	MergeRequestsEvents *bool `json:"merge_requests_events,omitempty"`
	// TagPushEvents enables notifications for pushes of tags. Required.
	TagPushEvents *bool `json:"tag_push_events,omitempty"`
	// NoteEvents enables notifications for comments. Required.
	NoteEvents *bool `json:"note_events,omitempty"`
	// ConfidentialNoteEvents enables notifications for comments that only members see. Required.
	ConfidentialNoteEvents *bool `json:"confidential_note_events,omitempty"`
	// PipelineEvents enables notifications for pipelines. Required.
	PipelineEvents *bool `json:"pipeline_events,omitempty"`
	// WikiPageEvents enables notifications for wiki pages. Required.
	WikiPageEvents *bool `json:"wiki_page_events,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o TeamChatBOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o TeamChatBOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*TeamChatBOptions) integration() IntegrationName { return IntegrationTeamChatB }

func (o *TeamChatBOptions) extra() map[string]any { return o.Extra }

func (o *TeamChatBOptions) check() error {
	return firstError(
		required("token", o.Token != ""),
		required("room", o.Room != ""),
		required("push_events", o.PushEvents != nil),
		required("issues_events", o.IssuesEvents != nil),
		required("confidential_issues_events", o.ConfidentialIssuesEvents != nil),
		required("merge_requests_events", o.MergeRequestsEvents != nil),
		required("tag_push_events", o.TagPushEvents != nil),
		required("note_events", o.NoteEvents != nil),
		required("confidential_note_events", o.ConfidentialNoteEvents != nil),
		required("pipeline_events", o.PipelineEvents != nil),
		required("wiki_page_events", o.WikiPageEvents != nil),
	)
}

// TeamChatCOptions set up team chat C: one webhook. On GitLab this is the integration
// "unify-circuit" (Unify Circuit).
type TeamChatCOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// Webhook is the webhook that is called. Required.
	Webhook string `json:"webhook,omitempty"`
	// NotifyOnlyBrokenPipelines excludes pipelines that succeed.
	NotifyOnlyBrokenPipelines *bool `json:"notify_only_broken_pipelines,omitempty"`
	// BranchesToBeNotified limits notifications to these branches: NotifiedBranchesAll,
	// NotifiedBranchesDefault, NotifiedBranchesProtected or NotifiedBranchesDefaultAndProtected.
	// Default: NotifiedBranchesDefault.
	BranchesToBeNotified NotifiedBranches `json:"branches_to_be_notified,omitempty"`
	// PushEvents enables notifications for pushes.
	PushEvents *bool `json:"push_events,omitempty"`
	// IssuesEvents enables notifications for issues.
	IssuesEvents *bool `json:"issues_events,omitempty"`
	// ConfidentialIssuesEvents enables notifications for confidential issues.
	ConfidentialIssuesEvents *bool `json:"confidential_issues_events,omitempty"`
	// MergeRequestsEvents enables notifications for merge requests.
	MergeRequestsEvents *bool `json:"merge_requests_events,omitempty"`
	// TagPushEvents enables notifications for pushes of tags.
	TagPushEvents *bool `json:"tag_push_events,omitempty"`
	// NoteEvents enables notifications for comments.
	NoteEvents *bool `json:"note_events,omitempty"`
	// ConfidentialNoteEvents enables notifications for comments that only members see.
	ConfidentialNoteEvents *bool `json:"confidential_note_events,omitempty"`
	// PipelineEvents enables notifications for pipelines.
	PipelineEvents *bool `json:"pipeline_events,omitempty"`
	// WikiPageEvents enables notifications for wiki pages.
	WikiPageEvents *bool `json:"wiki_page_events,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o TeamChatCOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o TeamChatCOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*TeamChatCOptions) integration() IntegrationName { return IntegrationTeamChatC }

func (o *TeamChatCOptions) extra() map[string]any { return o.Extra }

func (o *TeamChatCOptions) check() error {
	return required("webhook", o.Webhook != "")
}

// TeamChatDOptions set up team chat D: the fields are those of TeamChatCOptions. On GitLab this is
// the integration "webex-teams" (Webex Teams).
type TeamChatDOptions TeamChatCOptions

// Format writes the names of the fields that are set. The values may be secrets.
func (o TeamChatDOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o TeamChatDOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*TeamChatDOptions) integration() IntegrationName { return IntegrationTeamChatD }

func (o *TeamChatDOptions) extra() map[string]any { return o.Extra }

func (o *TeamChatDOptions) check() error { return (*TeamChatCOptions)(o).check() }
