package forge

import "strings"

// CustomIntegration sets up any integration, by its path segment and with any parameters. Use it
// for integrations without their own type of options.
type CustomIntegration struct {
	Redacted
	// Slug is the path segment: jira. Required.
	Slug string `json:"-"`
	// UseInheritedSettings uses the settings of the instance or of the group above. Default: false.
	UseInheritedSettings *bool `json:"use_inherited_settings,omitempty"`
	// Params are the parameters, under the server's own names. They are not checked.
	Params map[string]any `json:"-"`
}

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
