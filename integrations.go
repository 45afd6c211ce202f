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

// IntegrationKind is an integration with a type of options, by its path segment, which is also
// IntegrationSummary.Slug. Each kind has its own type, also if the parameters are the same.
type IntegrationKind string

func (k IntegrationKind) isKnown() bool {
	_, known := integrationWords[string(k)]
	return known
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
		return "", argumentError("slug", "there is no such kind: use IntegrationSlug")
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

// IntegrationOptions are the options of an integration: those of a kind, such as
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
