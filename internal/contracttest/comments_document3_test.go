package contracttest_test

import "testing"

// This is TestCommentsOfDocument1 for document 3, without the settings, for which
// testdata/spec/setting_meanings.tsv is used.
func TestCommentsOfDocument3(t *testing.T) {
	assertComments(t, map[string]string{
		"SettingsService":                     "an access token of an administrator, and a self-managed or dedicated instance",
		"SettingsService.Get":                 "Servers cache settings, by default for 60 seconds, so it may return the values before a change",
		"SettingsService.Update":              "changes the settings that o sets, and returns all settings",
		"IntegrationsService":                 "The user must be at least Maintainer of the group. Since 17.9",
		"IntegrationsService.List":            "lists the active integrations of a group",
		"IntegrationsService.Set":             "It replaces the configuration: current values that the options omit are not kept",
		"IntegrationsService.Disable":         "disables an integration and resets its settings",
		"NotifiedBranchesAll":                 "are all branches",
		"NotifiedBranchesDefault":             "is the default branch",
		"NotifiedBranchesProtected":           "are the protected branches",
		"NotifiedBranchesDefaultAndProtected": "the default branch and the protected ones",

		"IntegrationSummary.CommentOnEventEnabled":    "the integration comments on events that mention it",
		"IntegrationSummary.CommitEvents":             "is notified of commits.",
		"IntegrationSummary.PushEvents":               "is notified of pushes.",
		"IntegrationSummary.IssuesEvents":             "is notified of issues.",
		"IntegrationSummary.AlertEvents":              "is notified of alerts.",
		"IntegrationSummary.ConfidentialIssuesEvents": "is notified of confidential issues.",
		"IntegrationSummary.MergeRequestsEvents":      "is notified of merge requests.",
		"IntegrationSummary.TagPushEvents":            "is notified of pushes of tags.",
		"IntegrationSummary.DeploymentEvents":         "is notified of deployments.",
		"IntegrationSummary.NoteEvents":               "is notified of comments.",
		"IntegrationSummary.ConfidentialNoteEvents":   "is notified of comments that only members see.",
		"IntegrationSummary.PipelineEvents":           "is notified of pipelines.",
		"IntegrationSummary.WikiPageEvents":           "is notified of wiki pages.",
		"IntegrationSummary.JobEvents":                "is notified of jobs.",
	})
}
