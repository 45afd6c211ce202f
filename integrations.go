package forge

import (
	"context"
	"iter"
)

// IntegrationsService sets up, reads and disables the integrations of a group with other services.
// The user must be at least Maintainer of the group. Since 17.9.
//
// The contract omits the names of most of these services. For a GitLab server,
// WithVocabulary(forge.GitLab) supplies them; without it, use IntegrationSlug and
// CustomIntegration, which take any name.
// GitLab docs: https://docs.gitlab.com/api/group_integrations/
type IntegrationsService struct{ service }

// IntegrationName identifies an integration: an IntegrationKind, such as IntegrationTaskTracker, or
// an IntegrationSlug for any other.
type IntegrationName interface {
	// useIntegrationKindOrSlug returns the path segment. The compiler's message for other values has
	// its name.
	useIntegrationKindOrSlug(w *words) (string, error)
	// vocabularyKind returns the kind; "" for an integration that the contract does not describe.
	vocabularyKind(w *words) IntegrationKind
}

// IntegrationSlug is an integration by its path segment: IntegrationSlug("jira").
type IntegrationSlug string

// IntegrationKind is an integration that the contract describes. Each kind has its own type of
// options, also if the parameters are the same.
type IntegrationKind string

const (
	// IntegrationTaskTracker comments on tasks; see TaskTrackerOptions.
	IntegrationTaskTracker IntegrationKind = "task_tracker"
	// IntegrationProjectTracker tracks projects; see ProjectTrackerOptions.
	IntegrationProjectTracker IntegrationKind = "project_tracker"
	// IntegrationBuildServer runs plan-based builds; see BuildServerOptions.
	IntegrationBuildServer IntegrationKind = "build_server"
	// IntegrationIssueTracker links to issues; see IssueTrackerOptions.
	IntegrationIssueTracker IntegrationKind = "issue_tracker"
	// IntegrationPipelineService runs pipelines; see PipelineServiceOptions.
	IntegrationPipelineService IntegrationKind = "pipeline_service"
	// IntegrationChatClassic is the classic chat; see ChatClassicOptions.
	IntegrationChatClassic IntegrationKind = "chat_classic"
	// IntegrationTwoURLTrackerA is the first tracker with two addresses; see TwoURLTrackerAOptions.
	IntegrationTwoURLTrackerA IntegrationKind = "issue_tracker_two_urls_1"
	// IntegrationWikiWorkspace links to a wiki; see WikiWorkspaceOptions.
	IntegrationWikiWorkspace IntegrationKind = "wiki_workspace"
	// IntegrationCustomIssueTracker links to any tracker; see CustomIssueTrackerOptions.
	IntegrationCustomIssueTracker IntegrationKind = "custom_issue_tracker"
	// IntegrationMonitoring monitors pipelines; see MonitoringOptions.
	IntegrationMonitoring IntegrationKind = "monitoring"
	// IntegrationTestGeneration writes tests; see TestGenerationOptions.
	IntegrationTestGeneration IntegrationKind = "test_generation"
	// IntegrationTeamChatA is the team chat with webhooks by event; see TeamChatAOptions.
	IntegrationTeamChatA IntegrationKind = "team_chat_a"
	// IntegrationCIService runs CI; see CIServiceOptions.
	IntegrationCIService IntegrationKind = "ci_service"
	// IntegrationEmailsOnPush sends e-mails on pushes; see EmailsOnPushOptions.
	IntegrationEmailsOnPush IntegrationKind = "emails_on_push"
	// IntegrationEngineeringWorkflow links to work items; see EngineeringWorkflowOptions.
	IntegrationEngineeringWorkflow IntegrationKind = "engineering_workflow"
	// IntegrationTeamChatB is the team chat with a bot; see TeamChatBOptions.
	IntegrationTeamChatB IntegrationKind = "team_chat_b"
	// IntegrationTeamChatC is a team chat with one webhook; see TeamChatCOptions.
	IntegrationTeamChatC IntegrationKind = "team_chat_c"
	// IntegrationTeamChatD is a team chat with one webhook; see TeamChatDOptions.
	IntegrationTeamChatD IntegrationKind = "team_chat_d"
	// IntegrationTwoURLTrackerB is the second tracker with two addresses; see TwoURLTrackerBOptions.
	IntegrationTwoURLTrackerB IntegrationKind = "issue_tracker_two_urls_2"
)

func (k IntegrationKind) isKnown() bool {
	switch k {
	case IntegrationTaskTracker, IntegrationProjectTracker, IntegrationBuildServer, IntegrationIssueTracker, IntegrationPipelineService,
		IntegrationChatClassic, IntegrationTwoURLTrackerA, IntegrationWikiWorkspace, IntegrationCustomIssueTracker, IntegrationMonitoring,
		IntegrationTestGeneration, IntegrationTeamChatA, IntegrationCIService, IntegrationEmailsOnPush, IntegrationEngineeringWorkflow,
		IntegrationTeamChatB, IntegrationTeamChatC, IntegrationTeamChatD, IntegrationTwoURLTrackerB:
		return true
	}
	return false
}

// named returns the path segment of the three kinds whose name the contract shows.
func (k IntegrationKind) named() (slug string, is bool) {
	switch k {
	case IntegrationCustomIssueTracker:
		return "custom-issue-tracker", true
	case IntegrationEmailsOnPush:
		return "emails-on-push", true
	case IntegrationEngineeringWorkflow:
		return "ewm", true
	}
	return "", false
}

// Slug returns the path segment of k in the vocabulary v (such as GitLab) or, if the contract names
// it, in the contract. known is false if neither names it.
func (k IntegrationKind) Slug(v Vocabulary) (slug string, known bool) {
	if slug, known = v.WireName(slugWord, string(k)); known {
		return slug, true
	}
	return k.named()
}

// Kind returns the kind with the path segment s, such as an IntegrationSummary.Slug. It uses the
// vocabulary v (such as GitLab) and the names in the contract, and returns "" for all other
// segments.
func (s IntegrationSlug) Kind(v Vocabulary) IntegrationKind {
	if kind, known := v.NeutralName(slugWord, string(s)); known {
		return IntegrationKind(kind)
	}
	return s.named()
}

func (s IntegrationSlug) named() IntegrationKind {
	for _, kind := range []IntegrationKind{IntegrationCustomIssueTracker, IntegrationEmailsOnPush, IntegrationEngineeringWorkflow} {
		if slug, _ := kind.named(); slug == string(s) {
			return kind
		}
	}
	return ""
}

func (k IntegrationKind) useIntegrationKindOrSlug(w *words) (string, error) {
	if slug, known := w.word(slugWord, string(k)); known {
		return slug, nil
	}
	if slug, known := k.named(); known {
		return slug, nil
	}
	if !k.isKnown() {
		return "", argumentError("slug", "the contract does not describe this integration: use IntegrationSlug")
	}
	nameless := unnamed("slug", ", as IntegrationSlug or CustomIntegration")
	nameless.Option = "argument"
	return "", nameless
}

func (k IntegrationKind) vocabularyKind(*words) IntegrationKind { return k }

func (s IntegrationSlug) useIntegrationKindOrSlug(*words) (string, error) { return string(s), nil }

func (s IntegrationSlug) vocabularyKind(w *words) IntegrationKind {
	if kind, known := w.neutral(slugWord, string(s)); known {
		return IntegrationKind(kind)
	}
	return s.named()
}

// segment returns the path argument of an integration. It is empty if the integration has no name;
// vocabulary then returns the error.
func (s *IntegrationsService) segment(name IntegrationName) string {
	if isNil(name) {
		return ""
	}
	slug, _ := name.useIntegrationKindOrSlug(s.owner().config.vocabulary)
	return slug
}

// vocabulary returns the renamer for the integration and its parameters.
func (s *IntegrationsService) vocabulary(name IntegrationName) renamer {
	rename := renamer{words: s.owner().config.vocabulary, inner: "properties"}
	if isNil(name) {
		rename.err = argumentError("slug", "it is nil: pass the options of an integration, an IntegrationKind or an IntegrationSlug")
		return rename
	}
	rename.kind = string(name.vocabularyKind(rename.words))
	_, rename.err = name.useIntegrationKindOrSlug(rename.words)
	return rename
}

// List lists the active integrations of a group.
// GitLab docs: https://docs.gitlab.com/api/group_integrations/
func (s *IntegrationsService) List(ctx context.Context, group Ref, opts ...RequestOption) iter.Seq2[*IntegrationSummary, error] {
	r := s.newGet("/groups/:id/integrations", group)
	return list[IntegrationSummary](ctx, r, opts)
}

// Get reads an integration and its properties, which servers show without the secrets.
// GitLab docs: https://docs.gitlab.com/api/group_integrations/
func (s *IntegrationsService) Get(ctx context.Context, group Ref, name IntegrationName, opts ...RequestOption) (*Integration, error) {
	r := s.newGet("/groups/:id/integrations/:slug", group, s.segment(name)).withVocabulary(s.vocabulary(name))
	return do[Integration](ctx, r, opts)
}

// IntegrationOptions are the options of an integration: those of one of the 19 kinds, such as
// *TaskTrackerOptions, or a *CustomIntegration.
type IntegrationOptions interface {
	checker
	extender
	integration() IntegrationName
}

// Set sets an integration up. It replaces the configuration: current values that the options omit
// are not kept. The contract does not specify whether an omitted parameter is reset to its default
// or cleared, so set every parameter that is needed, including secrets. Get and Integration.Decode
// return the current values. With UseInheritedSettings, the settings of the instance or of the
// group above are used. By the contract, required parameters are required even then. To send
// UseInheritedSettings alone, add SkipValidation.
// GitLab docs: https://docs.gitlab.com/api/group_integrations/
func (s *IntegrationsService) Set(ctx context.Context, group Ref, o IntegrationOptions, opts ...RequestOption) error {
	r := s.newPut("/groups/:id/integrations/:slug", group, s.segment(nameOf(o))).json(o).withVocabulary(s.vocabulary(nameOf(o)))
	return exec(ctx, r, opts)
}

func nameOf(o IntegrationOptions) IntegrationName {
	if o == nil {
		return nil
	}
	return o.integration()
}

// Disable disables an integration and resets its settings.
// GitLab docs: https://docs.gitlab.com/api/group_integrations/
func (s *IntegrationsService) Disable(ctx context.Context, group Ref, name IntegrationName, opts ...RequestOption) error {
	r := s.newDelete("/groups/:id/integrations/:slug", group, s.segment(name)).withVocabulary(s.vocabulary(name))
	return exec(ctx, r, opts)
}
