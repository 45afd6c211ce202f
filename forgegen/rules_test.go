package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRules generates the example of each rule, with the rule and without it.
func TestRules(t *testing.T) {
	d, err := source{Spec: excerpt}.load(t.Context())
	require.NoError(t, err)
	all := rules
	t.Cleanup(func() { rules = all })
	examples := map[string]struct{ fact, is string }{
		"tag-of-scope":            {"POST /projects/:id/issues", "Issues.Create(ctx context.Context, project Ref, o *CreateIssueOptions, opts ...RequestOption) (*Issue, error)"},
		"list-as-object":          {"GET /projects/:id/job_token_scope/allowlist", "ProjectsJobTokenScope.ListAllowlist(ctx context.Context, project Ref, opts ...RequestOption) iter.Seq2[*BasicProjectDetails, error]"},
		"list-in-plural":          {"GET /projects/:id/merge_requests/:merge_request_iid/pipelines", "MergeRequests.ListPipelines(ctx context.Context, project Ref, mergeRequest int64, opts ...RequestOption) iter.Seq2[*PipelineBasic, error]"},
		"delete":                  {"DELETE /projects/:id/environments/:environment_id", "Environments.Delete(ctx context.Context, project Ref, environment int64, opts ...RequestOption) error"},
		"file-with-schema":        {"GET /projects/:id/jobs/:job_id/trace", "CIJobs.DownloadTrace(ctx context.Context, project Ref, job int64, opts ...RequestOption) (*Download, error)"},
		"file-without-schema":     {"GET /projects/:id/jobs/:job_id/artifacts", "JobArtifacts.DownloadArtifacts(ctx context.Context, project Ref, job int64, opts ...RequestOption) (*Download, error)"},
		"pages-are-options":       {"GET /projects/:id/pipelines parameter PerPage", ""},
		"keyset":                  {"GET /projects parameter Pagination", ""},
		"multipart-without-file":  {"POST /projects/:id/repository/commits parameter Actions", "[]CreateCommitActions `json:\"actions,omitzero\"`"},
		"workhorse":               {"POST /projects/:id/issues/:issue_iid/metric_images parameter FileSize", ""},
		"one-file":                {"PUT /application/appearance parameter File", "*forge.File `json:\"-\" url:\"-\"`"},
		"hash-and-keys":           {"GET /issues parameter Not", ""},
		"credentials":             {"GET /projects/:id/jobs/:job_id/artifacts parameter Token", ""},
		"id-of-two-types":         {"GET /issues parameter AssigneeID", "forge.IDFilter `url:\"assignee_id,omitempty\"`"},
		"labels":                  {"GET /issues parameter Labels", "forge.LabelFilter `url:\"labels,omitempty\"`"},
		"two-spellings":           {"GET /issues parameter Scope", "forge.Scope `url:\"scope,omitempty\"`"},
		"example-of-another-type": {"GetMetadataResponseKas field Enabled", "bool `json:\"enabled,omitzero\"`"},
		"number-as-text":          {"Project field StarCount", "int64 `json:\"star_count,omitzero\"`"},
		"boolean-as-text":         {"Project field RequirementsEnabled", "bool `json:\"requirements_enabled,omitzero\"`"},
		"time-as-text":            {"Project field LastActivityAt", "time.Time `json:\"last_activity_at,omitzero\"`"},
		"list-field-as-object":    {"Discussion field Notes", "[]forge.Note `json:\"notes,omitzero\"`"},
	}
	require.Len(t, examples, len(all))
	for i, r := range all {
		example, found := examples[r.Name]
		require.True(t, found, r.Name)
		rules = all
		facts, err := factsOf(&config{Package: "gitlab"}, d, []string{"/"})
		require.NoError(t, err)
		require.Equal(t, example.is, facts[example.fact], r.Name)
		rules = slices.Delete(slices.Clone(all), i, i+1)
		facts, err = factsOf(&config{Package: "gitlab"}, d, []string{"/"})
		require.NoError(t, err)
		require.NotEqual(t, example.is, facts[example.fact], "without %s", r.Name)
	}
}
