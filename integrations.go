package forge

import (
	"context"
	"iter"
)

// IntegrationsService sets up, reads and disables the integrations of a group with other services.
// For one of a project, pass the same options as the Body of a [Call] to
// PUT /projects/:id/integrations/discord.
// The user must be at least Maintainer of the group. Since 17.9.
//
// GitLab docs: https://docs.gitlab.com/api/group_integrations/
type IntegrationsService struct{ service }

// IntegrationName identifies an integration: an IntegrationKind, such as IntegrationAsana, or
// an IntegrationSlug for any other.
type IntegrationName interface {
	// useIntegrationKindOrSlug returns the path segment, or an error if a client with the vocabulary
	// cannot send it. The compiler's message for other values has its name.
	useIntegrationKindOrSlug(v Vocabulary) (string, error)
}

// IntegrationSlug is an integration by its path segment: IntegrationSlug("jira").
type IntegrationSlug string

// IntegrationKind is an integration that the contract describes, by its path segment, which is also
// IntegrationSummary.Slug. Each kind has its own type of options, also if the parameters are the
// same.
type IntegrationKind string

const (
	// IntegrationAsana comments on Asana tasks; see AsanaOptions. The documents call it task_tracker.
	IntegrationAsana IntegrationKind = "asana"
	// IntegrationAssembla tracks Assembla projects; see AssemblaOptions. The documents call it
	// project_tracker.
	IntegrationAssembla IntegrationKind = "assembla"
	// IntegrationBamboo runs Atlassian Bamboo builds; see BambooOptions. The documents call it
	// build_server.
	IntegrationBamboo IntegrationKind = "bamboo"
	// IntegrationBugzilla links to Bugzilla issues; see BugzillaOptions. The documents call it
	// issue_tracker.
	IntegrationBugzilla IntegrationKind = "bugzilla"
	// IntegrationBuildkite runs Buildkite pipelines; see BuildkiteOptions. The documents call it
	// pipeline_service.
	IntegrationBuildkite IntegrationKind = "buildkite"
	// IntegrationCampfire notifies a Campfire room; see CampfireOptions. The documents call it
	// chat_classic.
	IntegrationCampfire IntegrationKind = "campfire"
	// IntegrationClickUp links to ClickUp issues; see ClickUpOptions. The documents call it
	// issue_tracker_two_urls_1.
	IntegrationClickUp IntegrationKind = "clickup"
	// IntegrationConfluence links to a Confluence wiki; see ConfluenceOptions. The documents call it
	// wiki_workspace.
	IntegrationConfluence IntegrationKind = "confluence"
	// IntegrationCustomIssueTracker links to any tracker; see CustomIssueTrackerOptions. The
	// documents call it custom_issue_tracker.
	IntegrationCustomIssueTracker IntegrationKind = "custom-issue-tracker"
	// IntegrationDatadog monitors pipelines with Datadog; see DatadogOptions. The documents call it
	// monitoring.
	IntegrationDatadog IntegrationKind = "datadog"
	// IntegrationDiffblueCover writes tests with Diffblue Cover; see DiffblueCoverOptions. The
	// documents call it test_generation.
	IntegrationDiffblueCover IntegrationKind = "diffblue-cover"
	// IntegrationDiscord notifies Discord channels; see DiscordOptions. The documents call it
	// team_chat_a.
	IntegrationDiscord IntegrationKind = "discord"
	// IntegrationDroneCI runs Drone builds; see DroneCIOptions. The documents call it ci_service.
	IntegrationDroneCI IntegrationKind = "drone-ci"
	// IntegrationEmailsOnPush sends e-mails on pushes; see EmailsOnPushOptions. The documents call it
	// emails_on_push.
	IntegrationEmailsOnPush IntegrationKind = "emails-on-push"
	// IntegrationEWM links to work items of IBM Engineering Workflow Management; see EWMOptions. The
	// documents call it engineering_workflow.
	IntegrationEWM IntegrationKind = "ewm"
	// IntegrationTelegram notifies a Telegram chat, by a bot; see TelegramOptions. The documents call
	// it team_chat_b.
	IntegrationTelegram IntegrationKind = "telegram"
	// IntegrationUnifyCircuit notifies a Unify Circuit conversation; see UnifyCircuitOptions. The
	// documents call it team_chat_c.
	IntegrationUnifyCircuit IntegrationKind = "unify-circuit"
	// IntegrationWebexTeams notifies a Webex Teams space; see WebexTeamsOptions. The documents call
	// it team_chat_d.
	IntegrationWebexTeams IntegrationKind = "webex-teams"
	// IntegrationYouTrack links to YouTrack issues; see YouTrackOptions. The documents call it
	// issue_tracker_two_urls_2.
	IntegrationYouTrack IntegrationKind = "youtrack"
)

func (k IntegrationKind) isKnown() bool {
	switch k {
	case IntegrationAsana, IntegrationAssembla, IntegrationBamboo, IntegrationBugzilla, IntegrationBuildkite,
		IntegrationCampfire, IntegrationClickUp, IntegrationConfluence, IntegrationCustomIssueTracker, IntegrationDatadog,
		IntegrationDiffblueCover, IntegrationDiscord, IntegrationDroneCI, IntegrationEmailsOnPush, IntegrationEWM,
		IntegrationTelegram, IntegrationUnifyCircuit, IntegrationWebexTeams, IntegrationYouTrack:
		return true
	}
	return false
}

// isNamed reports whether the documents show the path segment.
func (k IntegrationKind) isNamed() bool {
	return k == IntegrationCustomIssueTracker || k == IntegrationEmailsOnPush || k == IntegrationEWM
}

func (k IntegrationKind) useIntegrationKindOrSlug(v Vocabulary) (string, error) {
	switch reason := GitLab.foreign(slugWord, string(k)); {
	case reason != "":
		return "", argumentError("slug", reason)
	case !k.isKnown():
		return "", argumentError("slug", "the contract does not describe this integration: use IntegrationSlug")
	case v == Neutral && !k.isNamed():
		nameless := unnamed("slug", ", as IntegrationSlug or CustomIntegration")
		nameless.Option = "argument"
		return "", nameless
	}
	return string(k), nil
}

func (s IntegrationSlug) useIntegrationKindOrSlug(v Vocabulary) (string, error) {
	if reason := v.foreign(slugWord, string(s)); reason != "" {
		return "", argumentError("slug", reason)
	}
	return string(s), nil
}

// segment returns the path argument of an integration. It is empty if the integration has no name;
// named then sets the error.
func (s *IntegrationsService) segment(name IntegrationName) string {
	if isNil(name) {
		return ""
	}
	slug, _ := name.useIntegrationKindOrSlug(s.owner().config.vocabulary)
	return slug
}

// named rejects an integration that the client cannot name.
func (r *request) named(name IntegrationName) *request {
	err := argumentError("slug", "it is nil: pass the options of an integration, an IntegrationKind or an IntegrationSlug")
	if !isNil(name) {
		_, err = name.useIntegrationKindOrSlug(r.core.config.vocabulary)
	}
	if err != nil {
		r.err = err
	}
	return r
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
	r := s.newGet("/groups/:id/integrations/:slug", group, s.segment(name)).named(name)
	return do[Integration](ctx, r, opts)
}

// IntegrationOptions are the options of an integration: those of one of the 19 kinds, such as
// *AsanaOptions, or a *CustomIntegration.
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
	r := s.newPut("/groups/:id/integrations/:slug", group, s.segment(nameOf(o))).named(nameOf(o)).json(o)
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
	r := s.newDelete("/groups/:id/integrations/:slug", group, s.segment(name)).named(name)
	return exec(ctx, r, opts)
}
