package forgetest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// unset are the fields, by type, that are not set in at least one place of the records of
// contractServer.
var unset = []string{
	"ApprovalSettingValue: inherited_from",
	"CertificateName: C CN O OU",
	"Contributor: deletions",
	"Diff: a_mode",
	"Email: confirmed_at",
	`Issue: blocking_issues_count description downvotes due_date health_status moved_to_id
		service_desk_reply_to task_status upvotes user_notes_count weight`,
	"IssueLinks: closed_as_duplicate_of",
	`Iteration: created_at description due_date group_id id iid sequence start_date state
		title updated_at web_url`,
	"JobCommit: parent_ids trailers",
	"MergeBaseCommit: extended_trailers parent_ids trailers",
	`MergeRequest: approvals_before_merge closed_at closed_by diverged_commits_count
		downvotes first_deployed_to_production_at latest_build_finished_at
		latest_build_started_at merge_after merge_commit_sha merge_error merged_at milestone
		squash_commit_sha upvotes user_notes_count`,
	`MergeRequestChanges: approvals_before_merge closed_at closed_by diverged_commits_count
		downvotes first_deployed_to_production_at latest_build_finished_at
		latest_build_started_at merge_after merge_commit_sha merge_error merged_at milestone
		squash_commit_sha upvotes user_notes_count`,
	"MergeRequestPipeline: ref sha status web_url",
	"Milestone: description",
	"Namespace: avatar_url end_date parent_id trial_ends_on",
	"Note: attachment body type",
	"RegistryRepository: cleanup_policy_started_at status",
	"Runner: ip_address maintenance_note maximum_timeout name tag_list",
	"RunnerJob: coverage duration finished_at queued_duration",
	"ScimIdentity: group_id",
	"SecureFile: expires_at metadata",
	"SecureFileMetadata: expires_at id",
	"TaskCompletionStatus: completed_count count",
	"TimeStats: human_time_estimate human_total_time_spent time_estimate total_time_spent",
	"UpcomingJob: coverage duration finished_at queued_duration started_at",
	`User: auditors avatar_url bio created_by current_sign_in_ip discord
		email_reset_offered_at extra_shared_runners_minutes_limit followers following github
		job_title last_sign_in_ip linkedin location note organization pronouns
		provisioned_by_group_id public_email shared_runners_minutes_limit sign_in_count twitter
		website_url work_information`,
	`UserProfile: avatar_url bio followers following job_title linkedin location organization
		pronouns public_email twitter website_url work_information`,
	"UserSummary: avatar_url",
	"VersionDiff: a_mode",
}

// filling is the set of response fields that had a value, by endpoint and path in the response.
type filling map[string]bool

// look records the fields of a value of a type. kind is the type and the name of each field.
func (f filling) look(kind *shape, path string, value any, kinds map[string]string) {
	if items, isList := value.([]any); isList {
		for _, item := range items {
			f.look(kind, path, item, kinds)
		}
		return
	}
	object, isObject := value.(map[string]any)
	if !isObject {
		return
	}
	details := conditional()[kind.name]
	for _, field := range kind.fields {
		value, found := object[field.Name]
		if !found || field.Type == "boolean" {
			continue
		}
		at := path + "." + field.Name
		kinds[at] = kind.name + "." + field.Name
		f[at] = f[at] || !blank(value)
		for _, ref := range []string{field.Ref, details[field.Name].Items.Ref} {
			if ref != "" {
				f.look(catalogue().shapes[ref], at, value, kinds)
			}
		}
	}
}

// blank reports whether a JSON value is that of a field without a value.
func blank(value any) bool {
	switch typed := value.(type) {
	case []any:
		return len(typed) == 0
	case map[string]any:
		return len(typed) == 0
	}
	return slices.Contains([]any{nil, false, 0.0, ""}, value)
}

// Each field of each response, including nested objects, has a value in at least one response, so
// that the server does not send only empty fields. Flags and settings have their own tests.
func TestFieldsAreFilled(t *testing.T) {
	s := contractServer(t)
	endpoints := map[string]*endpoint{}
	for _, e := range specified(t).endpoints {
		endpoints[e.ID] = e
	}
	filled, kinds := filling{}, map[string]string{}
	for _, x := range examples() {
		e := endpoints[x.id]
		answer := x.send(t, s, e).Body
		if e.Response.Kind != "object" && e.Response.Kind != "array" || e.Response.Type == "ApplicationSettings" {
			continue
		}
		var value any
		require.NoError(t, json.Unmarshal([]byte(answer), &value), x.id)
		filled.look(catalogue().shapes[e.Response.Type], e.ID, value, kinds)
	}
	need := map[string]bool{}
	for _, line := range unset {
		kind, names, _ := strings.Cut(line, ": ")
		for name := range strings.FieldsSeq(names) {
			need[kind+"."+name] = false
		}
	}
	for at, is := range filled {
		if _, known := need[kinds[at]]; known {
			need[kinds[at]] = need[kinds[at]] || !is
			continue
		}
		assert.True(t, is, "%s (%s) is in answers, and empty in all", at, kinds[at])
	}
	for name, needed := range need {
		assert.True(t, needed, "%s is filled everywhere", name)
	}
	assert.Greater(t, len(filled), 700)
}
