package forgetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// settingsText has the fields of Document 3 §2.1 except for the identity, by their types. "texts"
// is an array of string, "weights" the object of names and integers, "protection" the one of the
// defaults for branches.
const settingsText = `
array: domain_allowlist, domain_denylist, restricted_visibility_levels,
 outbound_local_requests_whitelist
boolean: signup_enabled, password_authentication_enabled_for_web,
 require_admin_approval_after_user_signup, admin_mode, top_level_group_creation_enabled,
 disable_invite_members, user_oauth_applications, domain_denylist_enabled, gravatar_enabled,
 can_create_group, user_defaults_to_private_profile,
 container_expiration_policies_enable_historic_entries,
 container_registry_expiration_policies_caching, package_registry_allow_anyone_to_pull_option,
 maven_package_requests_forwarding, npm_package_requests_forwarding,
 pypi_package_requests_forwarding, keep_latest_artifact, enforce_terms,
 user_show_add_ssh_key_message, allow_account_deletion, updating_name_disabled_for_users,
 allow_local_requests_from_hooks_and_services, allow_local_requests_from_web_hooks_and_services,
 allow_local_requests_from_system_hooks, asset_proxy_enabled, require_personal_access_token_expiry,
 external_authorization_service_enabled, silent_admin_exports_enabled, silent_mode_enabled,
 floc_enabled, enforce_pipl_compliance, <diagram1>_enabled, <diagram2>_enabled, <diagram3>_enabled,
 <issue_tracker_connect: public-key-storage flag>, allow_all_integrations,
 group_owners_can_manage_default_branch_protection, default_project_deletion_protection,
 disable_personal_access_tokens, security_policy_global_group_approvers_enabled,
 delete_unconfirmed_users, assistant_features_enabled, lock_assistant_features_enabled,
 use_analytics_store_for_analytics, secret_push_protection_available, lock_memberships_to_saml
integer: session_expire_delay, max_login_attempts, failed_login_attempts_unlock_period_in_minutes,
 default_projects_limit, default_branch_protection, deletion_adjourned_period, first_day_of_week,
 max_attachment_size, max_decompressed_archive_size, max_export_size, max_import_size,
 max_import_remote_file_size, snippet_size_limit, wiki_page_max_content_bytes,
 bulk_import_max_download_file_size, container_registry_cleanup_tags_service_max_list_size,
 container_registry_delete_tags_service_timeout,
 container_registry_expiration_policies_worker_capacity, container_registry_token_expire_delay,
 package_registry_cleanup_policies_worker_capacity, decompress_archive_file_timeout,
 terminal_max_session_time, rsa_key_restriction, dsa_key_restriction, ecdsa_key_restriction,
 ed25519_key_restriction, ecdsa_sk_key_restriction, ed25519_sk_key_restriction,
 local_markdown_version, performance_bar_allowed_group_id, issues_create_limit,
 raw_blob_request_limit, project_jobs_api_rate_limit, projects_api_rate_limit_unauthenticated,
 users_api_limit_followers, users_api_limit_following, users_api_limit_status,
 users_api_limit_ssh_keys, users_api_limit_ssh_key, users_api_limit_gpg_keys,
 users_api_limit_gpg_key, downstream_pipeline_trigger_limit_per_project_user_sha,
 bulk_import_concurrent_pipeline_batch_limit, concurrent_relation_batch_export_limit,
 relation_export_batch_size, concurrent_github_import_jobs_limit,
 concurrent_bitbucket_import_jobs_limit, concurrent_bitbucket_server_import_jobs_limit,
 file_template_project_id, replica_status_timeout, security_approval_policies_limit,
 scan_execution_policies_action_limit, scan_execution_policies_schedule_limit,
 unconfirmed_users_delete_after_days, virtual_registries_endpoints_api_limit
integer or null: external_pipeline_validation_service_timeout
number: polling_interval_multiplier, external_authorization_service_timeout
object: sign_in_restrictions
protection: default_branch_protection_defaults
string: default_preferred_language, default_snippet_visibility, default_project_visibility,
 default_group_visibility, terms, asset_proxy_url, personal_access_token_prefix,
 external_authorization_service_url, external_authorization_service_default_label,
 globally_allowed_ips, <issue_tracker_connect: application key>, <issue_tracker_connect: proxy
 URL>, <issue_tracker_connect: additional audience URL>, replica_node_allowed_ips
string or null: after_sign_out_path, home_page_url, default_ci_config_path,
 rate_limiting_response_text, external_pipeline_validation_service_token,
 external_pipeline_validation_service_url, security_txt_content, <diagram1>_url, <diagram2>_url,
 <diagram3>_url
texts: asset_proxy_whitelist, asset_proxy_allowlist, allowed_integrations
weights: repository_storages_weighted`

// documentedSettings returns the types of the document by the names of the fields.
func documentedSettings() map[string]string {
	kinds := map[string]string{}
	for line := range strings.SplitSeq(strings.ReplaceAll(strings.TrimSpace(settingsText), "\n ", " "), "\n") {
		kind, names, _ := strings.Cut(line, ": ")
		for name := range strings.SplitSeq(names, ", ") {
			kinds[name] = kind
		}
	}
	return kinds
}

// shownTrials returns values for a field of a documented type, and values of other types. Null
// comes after a value.
func shownTrials(kind string) []trial {
	list, object := []any{}, map[string]any{}
	bare, mayBeNull := strings.CutSuffix(kind, " or null")
	var all []trial
	switch bare {
	case "boolean":
		all = append(legal(true, false), illegal("1", 1, list, object)...)
		all = append(append(append(all, textOf("true", true)...), textOf("False", false)...), badForm("1"))
	case "integer":
		all = append(legal(0.0, 8.0, 5.0), illegal(1.5, "x", true, list, object)...)
		all = append(append(all, textOf("9", 9.0)...), badForm("x"))
	case "number":
		all = append(legal(1.5, 0.0, 2.0), illegal("1.x", true, list, object)...)
		all = append(append(all, textOf("2.5", 2.5)...), badForm("x"))
	case "string":
		all = append(legal("one", "", "two"), illegal(1, true, list, object)...)
		all = append(all, formOf("a b", "a b"), formOf("4711", "4711"))
	case "array":
		all = append(append(legal([]any{"a", "b"}, list, []any{"c"}), illegal(1, true, object)...), textOf("a,b", []any{"a", "b"})...)
	case "texts":
		all = append(append(legal([]any{"a", "b"}, list, []any{"c"}), illegal(1, true, object, []any{1}, []any{"a", nil})...), textOf("a,b", []any{"a", "b"})...)
	case "weights":
		all = append(legal(map[string]any{"a": 1.0, "b": 99.0}, object), illegal(1, true, "a", list, map[string]any{"a": "b"}, map[string]any{"a": 1.5})...)
	case "protection":
		level := func(value any) []any { return []any{map[string]any{"access_level": value}} }
		all = append(legal(map[string]any{"allow_force_push": true, "allowed_to_push": level(40.0), "allowed_to_merge": level(30.0)}, object,
			map[string]any{"allowed_to_merge": list, "other": "x"}), illegal(1, true, "a", list)...)
		for _, name := range []string{"allowed_to_push", "allowed_to_merge"} {
			all = append(all, illegal(map[string]any{name: level("x")}, map[string]any{name: level(nil)}, map[string]any{name: []any{40}},
				map[string]any{name: object}, map[string]any{name: true})...)
		}
		all = append(all, illegal(map[string]any{"allow_force_push": "x"}, map[string]any{"allow_force_push": nil})...)
	default:
		all = append(legal(map[string]any{"a": true}, object), illegal(1, true, "a", list)...)
	}
	if mayBeNull {
		return append(all, legal(nil)...)
	}
	return append(all, illegal(nil)...)
}

// shownAs reports whether a value has a documented type.
func shownAs(kind string, value any) bool {
	bare, mayBeNull := strings.CutSuffix(kind, " or null")
	switch v := value.(type) {
	case nil:
		return mayBeNull
	case bool:
		return bare == "boolean"
	case float64:
		return bare == "number" || bare == "integer" && v == float64(int64(v))
	case string:
		return bare == "string"
	case []any:
		return bare == "array" || bare == "texts"
	}
	return slices.Contains([]string{"object", "weights", "protection"}, bare)
}

// Every field of §2.1 has its type from the start, where "or null" is null. It stores the value of
// a call that sets it alone, with any values of the other settings. Another type is rejected.
// TestSettingsKeepWhatWasSent tests the fields that are also parameters.
func TestSettingsHaveTheirTypes(t *testing.T) {
	kinds := documentedSettings()
	require.Len(t, kinds, 139)
	parameters := map[string]parameter{}
	for _, p := range specified(t).endpoints["PUT "+settingsPath].BodyParams {
		parameters[p.Name] = p
	}
	for i, on := range []platformOf{{"ultimate", nil}, {"GitLab", []Option{WithGitLabVocabulary()}}, {"free", []Option{WithTier(Free)}}} {
		t.Run(on.name, func(t *testing.T) {
			s := New(t, on.options...)
			m := &meeting{caller: newCaller(t, s), srv: s}
			m.before = m.get(settingsPath)
			shown, tried := m.before.object(t), 0
			for _, name := range slices.Sorted(maps.Keys(kinds)) {
				kind := kinds[name]
				p, isParameter := parameters[name]
				p.Name = name
				value, is := shown[inWords(s, name)]
				sold := soldSetting(s, p)
				assert.Equal(t, sold, is, name)
				if s.gitlab && deployedDecimals[name] {
					continue // it is text on this server
				}
				if is {
					assert.True(t, shownAs(kind, value), "%s is %v", name, value)
					assert.Equal(t, strings.HasSuffix(kind, " or null"), value == nil, "%s is %v", name, value)
				}
				if isParameter {
					continue
				}
				if name == "enforce_terms" {
					p.Type, p.Requires = "boolean", []string{"terms"}
				}
				for _, x := range shownTrials(kind) {
					if tried++; !triedOn(on, i, tried) {
						continue
					}
					for _, problem := range m.try(x, p, sold) {
						t.Errorf("%s = %s (form: %t): %s", name, asJSON(t, x.value), x.text, problem)
					}
				}
			}
			assert.Greater(t, tried, 700)
		})
	}
}

// The settings have the time of their creation and the time of their latest update. A rejected
// update does not change the times.
func TestSettingTimes(t *testing.T) {
	s := New(t)
	now := noon()
	s.SetClock(func() time.Time { return now })
	c := newCaller(t, s)
	stamps := func(r reply) []any {
		object := r.object(t)
		return []any{object["created_at"], object["updated_at"], object["id"]}
	}
	const first, later = "2026-03-04T12:00:00.000Z", "2026-03-04T13:00:00.000Z"
	assert.Equal(t, []any{first, first, 1.0}, stamps(c.get(settingsPath)))
	now = now.Add(time.Hour)
	assert.Equal(t, []any{first, first, 1.0}, stamps(c.get(settingsPath)))
	assert.Equal(t, []any{first, later, 1.0}, stamps(c.put(settingsPath, map[string]any{"id": 7, "created_at": later, "admin_mode": true})))
	now = now.Add(time.Hour)
	require.Equal(t, 400, c.put(settingsPath, map[string]any{"admin_mode": 7}).Status)
	assert.Equal(t, []any{first, later, 1.0}, stamps(c.get(settingsPath)))
}

// Every administrator can read and change the settings. No other user can, not even an auditor or
// an Owner of groups.
func TestSettingsNeedAnAdministrator(t *testing.T) {
	s := New(t)
	auditor, owner := s.AddUser("auditor"), s.AddUser("owner")
	auditor.Edit(func(d *Document) { d.Set("is_auditor", true) })
	s.AddGroup("group").AddMember(owner, Owner)
	root := newCaller(t, s)
	before := root.get(settingsPath).Body
	for name, token := range map[string]string{"auditor": auditor.Token, "owner": owner.Token, "nobody": s.AddUser("nobody").Token} {
		c := root.as(token)
		assert.Equal(t, 403, c.get(settingsPath).Status, name)
		assert.Equal(t, 403, c.put(settingsPath, map[string]any{"admin_mode": true}).Status, name)
	}
	assert.Equal(t, 401, root.as("").put(settingsPath, map[string]any{"admin_mode": true}).Status)
	assert.Equal(t, before, root.get(settingsPath).Body)
	second := root.as(s.AddAdmin("second").Token)
	assert.Equal(t, true, second.put(settingsPath, map[string]any{"admin_mode": true}).object(t)["admin_mode"])
	assert.Equal(t, true, second.get(settingsPath).object(t)["admin_mode"])
}

// The settings that another setting requires must be in the call that enables it, but not in later
// calls.
func TestSettingCompanionsOfOneCall(t *testing.T) {
	c := newCaller(t, New(t))
	for rule, companions := range map[string]string{
		"antispam_enabled": "antispam_api_key", "shared_runners_enabled": "shared_runners_text shared_runners_minutes",
		"enforce_terms": "terms", "require_two_factor_authentication": "two_factor_grace_period",
		"throttle_unauthenticated_web_enabled": "throttle_unauthenticated_web_period_in_seconds throttle_unauthenticated_web_requests_per_period",
	} {
		all := map[string]any{rule: true}
		for name := range strings.FieldsSeq(companions) {
			all[name] = companionValue(name)
			assert.Equal(t, 200, c.put(settingsPath, map[string]any{name: all[name]}).Status, "%s alone", name)
		}
		assert.Equal(t, 400, c.put(settingsPath, map[string]any{rule: true}).Status, "%s: given before", rule)
		require.Equal(t, 200, c.put(settingsPath, all).Status, rule)
		assert.Equal(t, 200, c.put(settingsPath, map[string]any{"admin_mode": true}).Status, "%s is on", rule)
		assert.Equal(t, 200, c.put(settingsPath, map[string]any{}).Status, "%s is on", rule)
	}
}

// Without [WithGitLabVocabulary] no setting contains the name of a vendor; with it, each neutral
// term is replaced by one.
func TestSettingsNameNoVendor(t *testing.T) {
	vendors := map[string]int{
		"akismet": 2, "sidekiq": 3, "slack": 5, "snowplow": 5, "sourcegraph": 3, "duo": 2, "geo": 2, "vscode": 1,
		"clickhouse": 1, "plantuml": 2, "diagramsnet": 2, "kroki": 2, "jira": 4,
	}
	for _, s := range []*Server{New(t), New(t, WithGitLabVocabulary())} {
		shown := newCaller(t, s).get(settingsPath).object(t)
		for vendor, count := range vendors {
			if !s.gitlab {
				count = 0
			}
			found := slices.DeleteFunc(slices.Collect(maps.Keys(shown)), func(name string) bool { return !slices.Contains(strings.Split(name, "_"), vendor) })
			assert.Len(t, found, count, fmt.Sprint(vendor, ": ", found))
		}
	}
}
