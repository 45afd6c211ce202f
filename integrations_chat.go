package forge

// NotifiedBranches says which branches are notified of.
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

// ChatClassicOptions set up the classic chat (Document 3 §4.2.1).
type ChatClassicOptions struct {
	// UseInheritedSettings takes the settings of the instance or of the group above; see
	// IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// Token is the token of the chat. Required.
	Token string `json:"token,omitempty"`
	// Subdomain is the subdomain there.
	Subdomain string `json:"subdomain,omitempty"`
	// Room is the id of the room: the last part of its address.
	Room string `json:"room,omitempty"`
	// Extra is sent too: parameters that no field names.
	Extra map[string]any `json:"-"`
}

func (*ChatClassicOptions) integration() IntegrationName { return IntegrationChatClassic }

func (o *ChatClassicOptions) extra() map[string]any { return o.Extra }

func (o *ChatClassicOptions) check() error {
	return required("token", o.Token != "")
}

// EmailsOnPushOptions set up e-mails on push (Document 3 §4.2.1).
type EmailsOnPushOptions struct {
	// UseInheritedSettings takes the settings of the instance or of the group above; see
	// IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// Recipients are the addresses, separated by white space. Required.
	Recipients string `json:"recipients,omitempty"`
	// DisableDiffs leaves the diffs out.
	DisableDiffs *bool `json:"disable_diffs,omitempty"`
	// SendFromCommitterEmail writes in the name of the committer.
	SendFromCommitterEmail *bool `json:"send_from_committer_email,omitempty"`
	// PushEvents tells of pushes.
	PushEvents *bool `json:"push_events,omitempty"`
	// TagPushEvents tells of pushes of tags.
	TagPushEvents *bool `json:"tag_push_events,omitempty"`
	// BranchesToBeNotified says which branches are notified of; empty for NotifiedBranchesAll. Pushes of tags always are.
	BranchesToBeNotified NotifiedBranches `json:"branches_to_be_notified,omitempty"`
	// Extra is sent too: parameters that no field names.
	Extra map[string]any `json:"-"`
}

func (*EmailsOnPushOptions) integration() IntegrationName { return IntegrationEmailsOnPush }

func (o *EmailsOnPushOptions) extra() map[string]any { return o.Extra }

func (o *EmailsOnPushOptions) check() error {
	return required("recipients", o.Recipients != "")
}

// TeamChatAOptions set up team chat A: one webhook, and others for single events (Document 3 §4.2.1 and §4.2.2).
type TeamChatAOptions struct {
	// UseInheritedSettings takes the settings of the instance or of the group above; see
	// IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// Webhook is the webhook that is called. Required.
	Webhook string `json:"webhook,omitempty"`
	// BranchesToBeNotified says which branches are notified of; empty for NotifiedBranchesDefault.
	BranchesToBeNotified NotifiedBranches `json:"branches_to_be_notified,omitempty"`
	// NotifyOnlyBrokenPipelines leaves out pipelines that succeed.
	NotifyOnlyBrokenPipelines *bool `json:"notify_only_broken_pipelines,omitempty"`
	// IssuesEvents tells of issues.
	IssuesEvents *bool `json:"issues_events,omitempty"`
	// IssueChannel is the webhook of these events in place of Webhook.
	IssueChannel string `json:"issue_channel,omitempty"`
	// ConfidentialIssuesEvents tells of confidential issues.
	ConfidentialIssuesEvents *bool `json:"confidential_issues_events,omitempty"`
	// ConfidentialIssueChannel is the webhook of these events in place of Webhook.
	ConfidentialIssueChannel string `json:"confidential_issue_channel,omitempty"`
	// MergeRequestsEvents tells of merge requests.
	MergeRequestsEvents *bool `json:"merge_requests_events,omitempty"`
	// MergeRequestChannel is the webhook of these events in place of Webhook.
	MergeRequestChannel string `json:"merge_request_channel,omitempty"`
	// NoteEvents tells of comments.
	NoteEvents *bool `json:"note_events,omitempty"`
	// NoteChannel is the webhook of these events in place of Webhook.
	NoteChannel string `json:"note_channel,omitempty"`
	// ConfidentialNoteEvents tells of comments that only members see.
	ConfidentialNoteEvents *bool `json:"confidential_note_events,omitempty"`
	// ConfidentialNoteChannel is the webhook of these events in place of Webhook.
	ConfidentialNoteChannel string `json:"confidential_note_channel,omitempty"`
	// PushEvents tells of pushes.
	PushEvents *bool `json:"push_events,omitempty"`
	// PushChannel is the webhook of these events in place of Webhook.
	PushChannel string `json:"push_channel,omitempty"`
	// TagPushEvents tells of pushes of tags.
	TagPushEvents *bool `json:"tag_push_events,omitempty"`
	// TagPushChannel is the webhook of these events in place of Webhook.
	TagPushChannel string `json:"tag_push_channel,omitempty"`
	// PipelineEvents tells of pipelines.
	PipelineEvents *bool `json:"pipeline_events,omitempty"`
	// PipelineChannel is the webhook of these events in place of Webhook.
	PipelineChannel string `json:"pipeline_channel,omitempty"`
	// WikiPageEvents tells of wiki pages.
	WikiPageEvents *bool `json:"wiki_page_events,omitempty"`
	// WikiPageChannel is the webhook of these events in place of Webhook.
	WikiPageChannel string `json:"wiki_page_channel,omitempty"`
	// DeploymentEvents tells of deployments.
	DeploymentEvents *bool `json:"deployment_events,omitempty"`
	// DeploymentChannel is the webhook of these events in place of Webhook.
	DeploymentChannel string `json:"deployment_channel,omitempty"`
	// GroupMentionsEvents tells of mentions of groups.
	GroupMentionsEvents *bool `json:"group_mentions_events,omitempty"`
	// GroupMentionsChannel is the webhook of these events in place of Webhook.
	GroupMentionsChannel string `json:"group_mentions_channel,omitempty"`
	// GroupConfidentialMentionsEvents tells of mentions of groups that only members see.
	GroupConfidentialMentionsEvents *bool `json:"group_confidential_mentions_events,omitempty"`
	// GroupConfidentialMentionsChannel is the webhook of these events in place of Webhook.
	GroupConfidentialMentionsChannel string `json:"group_confidential_mentions_channel,omitempty"`
	// AlertChannel is the webhook of alerts in place of Webhook. Not part of the contract.
	AlertChannel string `json:"alert_channel,omitempty"`
	// IncidentChannel is the webhook of incidents in place of Webhook. Not part of the contract.
	IncidentChannel string `json:"incident_channel,omitempty"`
	// VulnerabilityChannel is the webhook of vulnerabilities in place of Webhook. Not part of the contract.
	VulnerabilityChannel string `json:"vulnerability_channel,omitempty"`
	// Extra is sent too: parameters that no field names.
	Extra map[string]any `json:"-"`
}

func (*TeamChatAOptions) integration() IntegrationName { return IntegrationTeamChatA }

func (o *TeamChatAOptions) extra() map[string]any { return o.Extra }

func (o *TeamChatAOptions) check() error {
	return required("webhook", o.Webhook != "")
}

// TeamChatBOptions set up team chat B: a bot (Document 3 §4.2.1).
type TeamChatBOptions struct {
	// UseInheritedSettings takes the settings of the instance or of the group above; see
	// IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// Hostname is the address of the API of the chat; empty for the public one.
	Hostname string `json:"hostname,omitempty"`
	// Token is the token of the bot. Required.
	Token string `json:"token,omitempty"`
	// Room is the id of the chat, or the @name of the channel. Required.
	Room string `json:"room,omitempty"`
	// Thread is the id of the topic; 0 for none.
	Thread int `json:"thread,omitempty"`
	// NotifyOnlyBrokenPipelines leaves out pipelines that succeed.
	NotifyOnlyBrokenPipelines *bool `json:"notify_only_broken_pipelines,omitempty"`
	// BranchesToBeNotified says which branches are notified of; empty for NotifiedBranchesDefault.
	BranchesToBeNotified NotifiedBranches `json:"branches_to_be_notified,omitempty"`
	// PushEvents tells of pushes. Required.
	PushEvents *bool `json:"push_events,omitempty"`
	// IssuesEvents tells of issues. Required.
	IssuesEvents *bool `json:"issues_events,omitempty"`
	// ConfidentialIssuesEvents tells of confidential issues. Required.
	ConfidentialIssuesEvents *bool `json:"confidential_issues_events,omitempty"`
	// MergeRequestsEvents tells of merge requests. Required.
	MergeRequestsEvents *bool `json:"merge_requests_events,omitempty"`
	// TagPushEvents tells of pushes of tags. Required.
	TagPushEvents *bool `json:"tag_push_events,omitempty"`
	// NoteEvents tells of comments. Required.
	NoteEvents *bool `json:"note_events,omitempty"`
	// ConfidentialNoteEvents tells of comments that only members see. Required.
	ConfidentialNoteEvents *bool `json:"confidential_note_events,omitempty"`
	// PipelineEvents tells of pipelines. Required.
	PipelineEvents *bool `json:"pipeline_events,omitempty"`
	// WikiPageEvents tells of wiki pages. Required.
	WikiPageEvents *bool `json:"wiki_page_events,omitempty"`
	// Extra is sent too: parameters that no field names.
	Extra map[string]any `json:"-"`
}

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

// TeamChatCOptions set up team chat C: one webhook (Document 3 §4.2.1).
type TeamChatCOptions struct {
	// UseInheritedSettings takes the settings of the instance or of the group above; see
	// IntegrationsService.Set.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// Webhook is the webhook that is called. Required.
	Webhook string `json:"webhook,omitempty"`
	// NotifyOnlyBrokenPipelines leaves out pipelines that succeed.
	NotifyOnlyBrokenPipelines *bool `json:"notify_only_broken_pipelines,omitempty"`
	// BranchesToBeNotified says which branches are notified of; empty for NotifiedBranchesDefault.
	BranchesToBeNotified NotifiedBranches `json:"branches_to_be_notified,omitempty"`
	// PushEvents tells of pushes.
	PushEvents *bool `json:"push_events,omitempty"`
	// IssuesEvents tells of issues.
	IssuesEvents *bool `json:"issues_events,omitempty"`
	// ConfidentialIssuesEvents tells of confidential issues.
	ConfidentialIssuesEvents *bool `json:"confidential_issues_events,omitempty"`
	// MergeRequestsEvents tells of merge requests.
	MergeRequestsEvents *bool `json:"merge_requests_events,omitempty"`
	// TagPushEvents tells of pushes of tags.
	TagPushEvents *bool `json:"tag_push_events,omitempty"`
	// NoteEvents tells of comments.
	NoteEvents *bool `json:"note_events,omitempty"`
	// ConfidentialNoteEvents tells of comments that only members see.
	ConfidentialNoteEvents *bool `json:"confidential_note_events,omitempty"`
	// PipelineEvents tells of pipelines.
	PipelineEvents *bool `json:"pipeline_events,omitempty"`
	// WikiPageEvents tells of wiki pages.
	WikiPageEvents *bool `json:"wiki_page_events,omitempty"`
	// Extra is sent too: parameters that no field names.
	Extra map[string]any `json:"-"`
}

func (*TeamChatCOptions) integration() IntegrationName { return IntegrationTeamChatC }

func (o *TeamChatCOptions) extra() map[string]any { return o.Extra }

func (o *TeamChatCOptions) check() error {
	return required("webhook", o.Webhook != "")
}

// TeamChatDOptions set up team chat D: the fields are those of TeamChatCOptions (Document 3 §4.2.1).
type TeamChatDOptions TeamChatCOptions

func (*TeamChatDOptions) integration() IntegrationName { return IntegrationTeamChatD }

func (o *TeamChatDOptions) extra() map[string]any { return o.Extra }

func (o *TeamChatDOptions) check() error { return (*TeamChatCOptions)(o).check() }
