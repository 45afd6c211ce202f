package forgetest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// settingLines has the settings of the lines in doc.go that name an effect that the server does not
// have.
var settingLines = map[string]string{
	"Rate limits": `throttle_* issues_create_limit raw_blob_request_limit project_jobs_api_rate_limit projects_api_rate_limit_unauthenticated
		users_api_limit_* downstream_pipeline_trigger_limit_per_project_user_sha rate_limiting_response_text virtual_registries_endpoints_api_limit`,
	"Access": `admin_mode enforce_terms terms require_two_factor_authentication require_admin_two_factor_authentication two_factor_grace_period
		unique_ips_limit_* globally_allowed_ips disable_personal_access_tokens external_authorization_service_*`,
	"The lifetime of registry tokens": `container_registry_token_expire_delay`,
	"Hours in time statistics":        `time_tracking_limit_to_hours`,
	"Deletion of users and projects after a time": `delete_inactive_projects inactive_projects_* delete_unconfirmed_users
		unconfirmed_users_delete_after_days`,
	"Limits of registry cleanup": `container_registry_cleanup_tags_service_max_list_size container_registry_delete_tags_service_timeout
		container_registry_expiration_policies_* container_expiration_policies_*`,
	"Users": `gravatar_enabled can_create_group default_projects_limit user_default_external user_default_internal_regex
		user_defaults_to_private_profile default_preferred_language`,
	"Spam checks of notes":                             `antispam_* spam_check_*`,
	"Local addresses of integrations, and silent mode": `allow_local_requests_* outbound_local_requests_whitelist silent_mode_enabled`,
	"Runners": `shared_runners_* runner_token_expiration_interval group_runner_token_expiration_interval project_runner_token_expiration_interval
		valid_runner_registrars allow_runner_registration_token update_runner_versions_enabled`,
	"Settings without an endpoint to act on": `id created_at updated_at signup_enabled password_authentication_enabled_for_web signin_enabled sign_in_restrictions after_sign_out_path
		home_page_url session_expire_delay max_login_attempts failed_login_attempts_unlock_period_in_minutes require_admin_approval_after_user_signup
		top_level_group_creation_enabled disable_invite_members user_oauth_applications domain_* default_branch_protection* default_snippet_visibility
		default_project_visibility default_group_visibility default_ci_config_path restricted_visibility_levels deletion_adjourned_period first_day_of_week
		max_* snippet_size_limit wiki_page_max_content_bytes bulk_import_* package_registry_* maven_* npm_* pypi_* decompress_archive_file_timeout
		terminal_max_session_time polling_interval_multiplier repository_storages_weighted keep_latest_artifact *_key_restriction user_show_add_ssh_key_message
		allow_account_deletion updating_name_disabled_for_users local_markdown_version performance_bar_allowed_group_id asset_proxy_*
		require_personal_access_token_expiry personal_access_token_prefix external_pipeline_validation_service_* concurrent_* relation_export_batch_size
		silent_admin_exports_enabled security_txt_content floc_enabled enforce_pipl_compliance <diagram1>_* <diagram2>_* <diagram3>_* <issue_tracker_connect:*
		group_owners_can_manage_default_branch_protection file_template_project_id replica_* default_project_deletion_protection security_policy_*
		security_approval_policies_limit scan_execution_policies_* assistant_features_enabled lock_assistant_features_enabled use_analytics_store_for_analytics
		secret_push_protection_available lock_memberships_to_saml admin_notification_email abuse_notification_email notify_on_unknown_sign_in
		email_restrictions* after_sign_up_text allow_group_owners_to_manage_ldap allow_project_creation_for_guest_and_below archive_builds_in_human_readable
		service_access_tokens_expiration_enforced jobqueue_* chatapp_* tracker_* codeintel_* suggest_pipeline_enabled
		enable_artifact_external_redirect_warning_page usage_ping_enabled include_optional_metrics_in_service_ping user_deactivation_emails_enabled
		version_check_enabled editor_extension_marketplace whats_new_variant asciidoc_max_includes nuget_skip_metadata_url_validation helm_max_packages_count
		housekeeping_* receptive_cluster_agents_enabled`,
}

// modelledSettings act on other endpoints.
const modelledSettings = "allow_all_integrations allowed_integrations"

// named reports whether a list of names, of which some begin or end with a star, contains a name.
func named(list, name string) bool {
	return slices.ContainsFunc(strings.Fields(list), func(pattern string) bool {
		head, starred := strings.CutSuffix(pattern, "*")
		tail, ends := strings.CutPrefix(pattern, "*")
		return pattern == name || starred && strings.HasPrefix(name, head) || ends && strings.HasSuffix(name, tail)
	})
}

// linesOfTheList returns the beginnings of the lines in doc.go, up to the colon or the reference.
func linesOfTheList(t *testing.T) (lines []string) {
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, list, found := strings.Cut(string(text), "# Not modelled")
	require.True(t, found)
	item := regexp.MustCompile(`(?m)^//   - ([^:(.]+?)(?::| \(|\.)`)
	for _, match := range item.FindAllStringSubmatch(list, -1) {
		lines = append(lines, match[1])
	}
	return lines
}

// The server does not model any line of the list, and each setting is modelled or in the list.
func TestNotModelled(t *testing.T) {
	probes := conditionProbes()
	assert.ElementsMatch(t, linesOfTheList(t), slices.Concat(slices.Collect(maps.Keys(probes)), slices.Collect(maps.Keys(settingLines))))
	for line, probe := range probes {
		t.Run(line, probe)
	}
	for line, settings := range settingLines {
		t.Run(line, func(t *testing.T) { sameEverywhere(t, settings) })
	}
	for _, name := range catalogue().shapes["ApplicationSettings"].fields {
		places := 0
		for _, list := range append(slices.Collect(maps.Values(settingLines)), modelledSettings) {
			if named(list, name.Name) {
				places++
			}
		}
		assert.Equal(t, 1, places, "%s: is its effect modelled?", name.Name)
	}
}

// conditionProbes show that the conditions of the list are not modelled.
func conditionProbes() map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"Feature flags": func(t *testing.T) {
			r := newCaller(t, New(t)).put(settingsPath, map[string]any{"throttle_authenticated_git_http_enabled": true})
			assert.Equal(t, true, r.object(t)["throttle_authenticated_git_http_enabled"])
		},
		"The community edition": func(t *testing.T) {
			s := contractServer(t)
			c := newCaller(t, s)
			assert.Equal(t, 200, c.get("/issues?scope=all&assignee_username[]=jane&assignee_username[]=root").Status)
			c.send("PUT", "/groups/group/integrations/emails-on-push", "recipients=a@example.com")
			assert.Contains(t, c.get("/groups/group/integrations").Body, "vulnerability_events")
			assert.Subset(t, slices.Collect(maps.Keys(c.get("/user").object(t))), []string{"plan", "trial"})
		},
		"Projects without instance runners": func(t *testing.T) { // the setting applies only to new projects
			s := contractServer(t)
			c := newCaller(t, s)
			s.AddRunner(nil)
			require.Equal(t, 200, c.put(settingsPath, map[string]any{"shared_runners_enabled": false}).Status)
			s.AddProject("group/later")
			for _, path := range []string{"/projects/1/runners", "/projects/group%2Flater/runners"} {
				assert.Contains(t, c.get(path).column(t, "is_shared"), true)
			}
		},
		"Behaviour of older releases": func(t *testing.T) { // 15.0 removed the tags (Document 1 §4.1)
			c := newCaller(t, contractServer(t, WithRelease("14.10")))
			repository := c.get("/groups/group/registry/repositories?tags=true&tags_count=true").array(t)[0]
			assert.NotContains(t, repository, "tags")
		},
		"LFS objects": pointerProbe,
		"The largest offset of offset pagination": func(t *testing.T) {
			assert.Equal(t, 200, newCaller(t, contractServer(t)).get("/issues?page=1000000000").Status)
		},
		"The configuration of changelogs": func(t *testing.T) {
			s := contractServer(t)
			s.AddProject("group/app").AddFiles(map[string]string{changelogConfig: "template: '{% broken'\ncategories:\n  added: New\n"})
			r := newCaller(t, s).get("/projects/1/repository/changelog?version=1.0.0&from=v0.9.0")
			assert.Equal(t, 200, r.Status, r.Body)
		},
		"Notifications": func(t *testing.T) {
			s := contractServer(t)
			c := newCaller(t, s)
			c.send("PUT", "/groups/group/integrations/team_chat_a", "note_events=true&issues_events=true&webhook="+s.URL+"/hook")
			c.send("POST", "/projects/1/issues/1/notes", "body=x%0A/promote")
			s.FinishBackgroundJobs()
			for _, r := range s.Requests() {
				assert.NotContains(t, r.Path, "/hook")
			}
		},
		"Integrations of the instance": func(t *testing.T) {
			r := newCaller(t, contractServer(t)).send("PUT", "/groups/group/integrations/emails-on-push", "recipients=own@example.com&use_inherited_settings=true")
			assert.Equal(t, "own@example.com", r.object(t)["properties"].(map[string]any)["recipients"])
		},
		"The end of an allowed integration": func(t *testing.T) {
			c := newCaller(t, contractServer(t))
			c.send("PUT", "/groups/group/integrations/emails-on-push", "recipients=own@example.com")
			c.put(settingsPath, map[string]any{"allow_all_integrations": false})
			assert.Equal(t, true, c.get("/groups/group/integrations/emails-on-push").object(t)["active"])
		},
	}
}

// pointerProbe shows that an archive contains the pointer to an LFS object and not the object.
func pointerProbe(t *testing.T) {
	s := contractServer(t)
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + helloBlob + "\nsize 6\n"
	s.AddProject("group/app").AddFiles(map[string]string{"large.bin": pointer})
	c := newCaller(t, s)
	const archive = "/projects/1/repository/archive.tar"
	with, without := c.get(archive), c.get(archive+"?include_lfs_blobs=false")
	assert.Contains(t, with.Body, "git-lfs")
	assert.Equal(t, with.Body, without.Body)
}

// sameEverywhere changes settings and fails if a response of any endpoint of the contract changes.
func sameEverywhere(t *testing.T, settings string) {
	plain, changed := tour(t, ""), tour(t, settings)
	for id, answer := range plain {
		if changed[id] != answer {
			t.Errorf("%s has an effect: it is modelled now: remove it from the list\nwith:    %.300s\nwithout: %.300s", id, changed[id], answer)
		}
	}
}

// tour changes the settings of a server, calls every endpoint, and returns the responses by
// endpoint.
func tour(t *testing.T, settings string) map[string]string {
	s := contractServer(t, func(s *Server) { s.clock = noon })
	issue := s.AddProject("group/app").AddIssue(nil)
	newCaller(t, s).send("POST", fmt.Sprintf("/projects/1/issues/%d/time_estimate", issue.IID), "duration=3w")
	before := newCaller(t, s).get(settingsPath).object(t)
	bite := map[string]any{}
	for _, p := range catalogue().endpoints["PUT "+settingsPath].BodyParams {
		if named(settings, p.Name) {
			bite[p.Name] = bitingValue(p)
		}
	}
	for _, f := range settingFields() {
		if _, isParam := bite[f.Name]; named(settings, f.Name) && !isParam && f.Format == "" && f.Name != "id" {
			bite[f.Name] = bitingField(f, before[f.Name])
		}
	}
	for old, name := range settingAliases() {
		if _, both := bite[name]; both {
			delete(bite, old)
		}
	}
	bite["delete_unconfirmed_users"] = named(settings, "delete_unconfirmed_users")
	r := newCaller(t, s).put(settingsPath, bite)
	require.Equal(t, 200, r.Status, r.Body)

	answers := map[string]string{}
	day := regexp.MustCompile(`\d{4}-\d\d-\d\d`) // the milestone is due today
	for _, x := range examples() {
		e := catalogue().endpoints[routeOf(x.id)]
		if strings.HasPrefix(x.id, "settings.") || strings.HasPrefix(x.id, "audit_events.") {
			continue
		}
		a := x.send(t, s, e)
		body := strings.ReplaceAll(strings.ReplaceAll(a.Body, s.URL, "URL"), strings.TrimPrefix(s.URL, "http://"), "HOST")
		switch x.id {
		case "registry_native.get_token":
			body = lifetimeOf(t, a)
		case "repositories.archive":
			body = ""
		}
		answers[x.id] = fmt.Sprint(a.Status, " ", day.ReplaceAllString(body, "DAY"))
	}
	s.FinishBackgroundJobs()
	c := newCaller(t, s)
	answers["users later"] = fmt.Sprint(len(c.get("/users?per_page=100").array(t)))
	answers["time statistics"] = c.get(fmt.Sprintf("/projects/1/issues/%d/time_stats", issue.IID)).Body
	chat := c.send("PUT", "/groups/group/integrations/team_chat_a", "webhook=http://127.0.0.1/hook")
	answers["local address"] = fmt.Sprint(chat.Status)
	return answers
}

func routeOf(id string) string {
	for name, e := range catalogue().endpoints {
		if e.ID == id {
			return name
		}
	}
	return ""
}

// bitingValue returns a valid value far from the default, which would change a response if the
// setting had an effect.
func bitingValue(p parameter) any {
	switch {
	case p.Type == "boolean":
		return p.Default != true
	case p.Type == "integer" && p.Min == nil:
		return 1
	}
	return sample(p)
}

func bitingField(f field, before any) any {
	switch f.Type {
	case "boolean":
		return before != true
	case "integer":
		return 1
	case "number":
		return 1.5
	case "array":
		return []string{"x"}
	case "object":
		return map[string]any{}
	}
	return "x"
}

// lifetimeOf returns the lifetime of a registry token in seconds.
func lifetimeOf(t *testing.T, r reply) string {
	parts := strings.Split(fmt.Sprint(r.object(t)["token"]), ".")
	require.Len(t, parts, 3)
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(t, err)
	var held claims
	require.NoError(t, json.Unmarshal(payload, &held))
	return (time.Duration(held.Expires-held.Issued) * time.Second).String()
}
