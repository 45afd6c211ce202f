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

// CampfireOptions set up Campfire. The documents call it chat_classic.
type CampfireOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// Token is the token of Campfire. Required.
	Token string `json:"token,omitempty"`
	// Subdomain is the subdomain of Campfire.
	Subdomain string `json:"subdomain,omitempty"`
	// Room is the id portion of the URL of the room.
	Room string `json:"room,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

// Format writes the names of the fields that are set. The values may be secrets.
func (o CampfireOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o CampfireOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*CampfireOptions) integration() IntegrationName { return IntegrationCampfire }

func (o *CampfireOptions) extra() map[string]any { return o.Extra }

func (o *CampfireOptions) check() error {
	return required("token", o.Token != "")
}

// EmailsOnPushOptions set up e-mails on push. The documents call it emails_on_push.
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

// DiscordOptions set up Discord: one webhook, and others for single events. The documents call it
// team_chat_a.
type DiscordOptions struct {
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
func (o DiscordOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o DiscordOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*DiscordOptions) integration() IntegrationName { return IntegrationDiscord }

func (o *DiscordOptions) extra() map[string]any { return o.Extra }

func (o *DiscordOptions) check() error {
	return required("webhook", o.Webhook != "")
}

// TelegramOptions set up Telegram: a bot. The documents call it team_chat_b.
type TelegramOptions struct {
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	// See IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// Hostname is the address of the Telegram API. Empty: its public address.
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
func (o TelegramOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o TelegramOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*TelegramOptions) integration() IntegrationName { return IntegrationTelegram }

func (o *TelegramOptions) extra() map[string]any { return o.Extra }

func (o *TelegramOptions) check() error {
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

// UnifyCircuitOptions set up Unify Circuit: one webhook. The documents call it team_chat_c.
type UnifyCircuitOptions struct {
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
func (o UnifyCircuitOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o UnifyCircuitOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*UnifyCircuitOptions) integration() IntegrationName { return IntegrationUnifyCircuit }

func (o *UnifyCircuitOptions) extra() map[string]any { return o.Extra }

func (o *UnifyCircuitOptions) check() error {
	return required("webhook", o.Webhook != "")
}

// WebexTeamsOptions set up Webex Teams: the fields are those of UnifyCircuitOptions. The documents
// call it team_chat_d.
type WebexTeamsOptions UnifyCircuitOptions

// Format writes the names of the fields that are set. The values may be secrets.
func (o WebexTeamsOptions) Format(f fmt.State, _ rune) { writeNames(f, o) }

// LogValue returns the names of the fields that are set. The values may be secrets.
func (o WebexTeamsOptions) LogValue() slog.Value { return slog.StringValue(setFields(o)) }

func (*WebexTeamsOptions) integration() IntegrationName { return IntegrationWebexTeams }

func (o *WebexTeamsOptions) extra() map[string]any { return o.Extra }

func (o *WebexTeamsOptions) check() error { return (*UnifyCircuitOptions)(o).check() }
