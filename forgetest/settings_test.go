package forgetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const settingsPath = "/application/settings"

// put sends settings as a JSON body.
func (c caller) put(path string, body any) reply {
	c.t.Helper()
	data, err := json.Marshal(body)
	require.NoError(c.t, err)
	return c.sendJSON("PUT", path, string(data))
}

// The settings have the fields of the contract, and a query sets them as a body does.
// TestSettingsKeepWhatWasSent sets each of them, as JSON and in a form.
func TestSettingsAreStateful(t *testing.T) {
	require.Len(t, catalogue().endpoints["PUT "+settingsPath].BodyParams, 127)
	c := newCaller(t, New(t, WithNeutralNames()))
	object := c.send("PUT", settingsPath+"?snippet_size_limit=7&valid_runner_registrars[]=group&asset_proxy_allowlist=a,,b", "").object(t)
	assertShown(t, object, map[string]any{
		"id": 1.0, "snippet_size_limit": 7.0, "valid_runner_registrars": []any{"group"}, "asset_proxy_allowlist": []any{"a", "b"},
	})
	assert.Equal(t, object, c.get(settingsPath).object(t))
	assert.Len(t, settingFields(), 142)
	for _, f := range settingFields() {
		assert.Contains(t, object, f.Name)
	}
}

func TestSettingsRules(t *testing.T) {
	s := New(t, WithNeutralNames())
	c := newCaller(t, s)
	for form, body := range map[string]string{
		"antispam_enabled=true":                                                `{"error":"antispam_api_key is missing"}`,
		"shared_runners_enabled=true&shared_runners_text=x":                    `{"error":"shared_runners_minutes is missing"}`,
		"enforce_terms=true":                                                   `{"error":"terms is missing"}`,
		"require_two_factor_authentication=true":                               `{"error":"two_factor_grace_period is missing"}`,
		"throttle_authenticated_api_enabled=true":                              `{"error":"throttle_authenticated_api_period_in_seconds is missing, throttle_authenticated_api_requests_per_period is missing"}`,
		"unique_ips_limit_enabled=true&unique_ips_limit_per_user=2":            `{"error":"unique_ips_limit_time_window is missing"}`,
		"asciidoc_max_includes=65":                                             `{"message":{"asciidoc_max_includes":["must be less than or equal to 64"]}}`,
		"wiki_page_max_content_bytes=1023":                                     `{"message":{"wiki_page_max_content_bytes":["must be greater than or equal to 1024"]}}`,
		"runner_token_expiration_interval=60":                                  `{"message":{"runner_token_expiration_interval":["must be greater than or equal to 7200"]}}`,
		"rsa_key_restriction=-2":                                               `{"message":{"rsa_key_restriction":["must be greater than or equal to -1"]}}`,
		"max_attachment_size=-1":                                               `{"message":{"max_attachment_size":["must be greater than or equal to 0"]}}`,
		"spam_check_endpoint_url=grpc:host":                                    `{"message":{"spam_check_endpoint_url":["is blocked: Only allowed schemes are grpc, tls"]}}`,
		"spam_check_endpoint_url=http://host":                                  `{"message":{"spam_check_endpoint_url":["is blocked: Only allowed schemes are grpc, tls"]}}`,
		"email_restrictions=(":                                                 `{"message":{"email_restrictions":["not valid RE2 syntax"]}}`,
		"archive_builds_in_human_readable=soon":                                `{"message":{"archive_builds_in_human_readable":["is invalid"]}}`,
		"archive_builds_in_human_readable=23h":                                 `{"message":{"archive_builds_in_human_readable":["must be at least 1 day"]}}`,
		"valid_runner_registrars[]=group&valid_runner_registrars[]=group":      `{"message":{"valid_runner_registrars":["has a value twice"]}}`,
		"whats_new_variant=none":                                               `{"error":"whats_new_variant does not have a valid value"}`,
		"admin_mode=1":                                                         `{"error":"admin_mode is invalid"}`,
		"default_projects_limit=x":                                             `{"error":"default_projects_limit is invalid"}`,
		"valid_runner_registrars[]=group&valid_runner_registrars[]=x":          `{"error":"valid_runner_registrars does not have a valid value"}`,
		"unconfirmed_users_delete_after_days=3&delete_unconfirmed_users=false": `{"message":{"unconfirmed_users_delete_after_days":["can only be enabled when delete_unconfirmed_users is enabled"]}}`,
		"unconfirmed_users_delete_after_days=3":                                `{"message":{"unconfirmed_users_delete_after_days":["can only be enabled when delete_unconfirmed_users is enabled"]}}`,
	} {
		r := c.send("PUT", settingsPath, form)
		assert.Equal(t, 400, r.Status, form)
		assert.Equal(t, body, r.Body, form)
	}
	assert.Equal(t, 0, s.CountApplied("PUT "+settingsPath))
	for _, form := range []string{
		"", "antispam_enabled=false", "throttle_authenticated_git_http_enabled=true", "throttle_unauthenticated_git_http_enabled=true",
		"no_such_setting=1", "unconfirmed_users_delete_after_days=3&delete_unconfirmed_users=true",
		"rsa_key_restriction=-1&max_attachment_size=0&asciidoc_max_includes=64&wiki_page_max_content_bytes=1024", "archive_builds_in_human_readable=24h",
		"spam_check_endpoint_url=grpc://host", "spam_check_endpoint_url=tls://host", "spam_check_endpoint_url=",
	} {
		assert.Equal(t, 200, c.send("PUT", settingsPath, form).Status, form)
	}
	assert.NotContains(t, c.get(settingsPath).Body, "no_such_setting")
	assert.Equal(t, 403, newCaller(t, New(t, WithOffering(Hosted))).get(settingsPath).Status)
}

func TestSettingsCache(t *testing.T) {
	s := New(t)
	now := noon()
	s.SetClock(func() time.Time { return now })
	s.SetSettingsCacheTTL(time.Minute)
	c := newCaller(t, s)
	shown := func() any { return c.get(settingsPath).object(t)["snippet_size_limit"] }
	assert.InDelta(t, 52428800, shown(), 0)
	assert.InDelta(t, 1, c.send("PUT", settingsPath, "snippet_size_limit=1").object(t)["snippet_size_limit"], 0)
	now = now.Add(30 * time.Second)
	assert.InDelta(t, 2, c.send("PUT", settingsPath, "snippet_size_limit=2").object(t)["snippet_size_limit"], 0)
	assert.InDelta(t, 52428800, shown(), 0)
	now = now.Add(30 * time.Second)
	assert.InDelta(t, 2, shown(), 0)
	c.send("PUT", settingsPath, "snippet_size_limit=3")
	now = now.Add(time.Minute)
	c.send("PUT", settingsPath, "snippet_size_limit=4")
	assert.InDelta(t, 3, shown(), 0, "no read was between the writes")
	s.EditSettings(func(d *Document) { d.Set("snippet_size_limit", 5) })
	assert.InDelta(t, 5, shown(), 0)
}

func TestSettingsInGitLabVocabulary(t *testing.T) {
	c := newCaller(t, New(t))
	object := c.get(settingsPath).object(t)
	for neutral, word := range vocabulary().Settings {
		assert.NotContains(t, object, neutral)
		assert.Contains(t, object, word)
		d := NewDocument("ApplicationSettings").Omit(neutral)
		assert.Equal(t, absent{}, d.Get(word), "the methods of a Document take both names")
	}
	for key := range object {
		assert.NotContains(t, key, "<")
	}
	changed := c.send("PUT", settingsPath, "akismet_enabled=true&akismet_api_key=k&plantuml_url=http://x&codeintel_enabled=true").object(t)
	assert.Equal(t, true, changed["akismet_enabled"])
	assert.Equal(t, "http://x", changed["plantuml_url"])
	assert.Equal(t, false, changed["sourcegraph_enabled"]) // the neutral name is unknown on this server
	assert.Equal(t, 400, c.send("PUT", settingsPath, "akismet_enabled=true").Status)
	assert.Equal(t, "1,2", fmt.Sprint(c.put(settingsPath, map[string]any{"geo_node_allowed_ips": "1,2"}).object(t)["geo_node_allowed_ips"]))
}

func inOldForm(old string, value any) any {
	if on, isBool := value.(bool); isBool && old == "signin_enabled" {
		return fmt.Sprint(on)
	}
	return value
}

// Two different values for one setting are rejected; two equal values are accepted.
func TestSettingAliasesTogether(t *testing.T) {
	c := newCaller(t, New(t))
	for _, tc := range []struct {
		old, name, value, other string
		status                  int
	}{
		{"admin_notification_email", "abuse_notification_email", `"a@x"`, `"b@x"`, 400},
		{"admin_notification_email", "abuse_notification_email", `null`, `"a@x"`, 400},
		{"admin_notification_email", "abuse_notification_email", `null`, `null`, 200},
		{"allow_local_requests_from_hooks_and_services", "allow_local_requests_from_web_hooks_and_services", `true`, `false`, 400},
		{"asset_proxy_whitelist", "asset_proxy_allowlist", `["a"]`, `["b"]`, 400},
		{"asset_proxy_whitelist", "asset_proxy_allowlist", `["a"]`, `["a"]`, 200},
		{"signin_enabled", "password_authentication_enabled_for_web", `"false"`, `true`, 400},
		{"signin_enabled", "password_authentication_enabled_for_web", `"false"`, `false`, 200},
	} {
		before := c.get(settingsPath).Body
		r := c.put(settingsPath, map[string]json.RawMessage{tc.old: json.RawMessage(tc.value), tc.name: json.RawMessage(tc.other)})
		assert.Equal(t, tc.status, r.Status, "%s = %s, %s = %s", tc.old, tc.value, tc.name, tc.other)
		if tc.status == 400 {
			assert.Equal(t, before, c.get(settingsPath).Body)
		}
	}
	for range 10 { // the order of problems does not vary
		r := c.put(settingsPath, map[string]any{
			"admin_notification_email": "a@x", "abuse_notification_email": "b@x", "signin_enabled": "maybe",
		})
		assert.JSONEq(t, `{"error":"admin_notification_email, abuse_notification_email are mutually exclusive, signin_enabled does not have a valid value"}`, r.Body)
	}
}

// EditSettings sets both names of a setting too.
func TestSettingAliasesOfFillSettings(t *testing.T) {
	s := New(t)
	c := newCaller(t, s)
	s.EditSettings(func(d *Document) { d.Set("signin_enabled", "false").Set("abuse_notification_email", "a@x") })
	object := c.get(settingsPath).object(t)
	assert.Equal(t, false, object["password_authentication_enabled_for_web"])
	assert.Equal(t, "a@x", object["admin_notification_email"])
}

// To enable a setting, exactly those companions are required that the platform has.
func TestSettingCompanions(t *testing.T) {
	params := catalogue().endpoints["PUT "+settingsPath].BodyParams
	rules := map[string][]string{"enforce_terms": {"terms"}, "require_two_factor_authentication": {"two_factor_grace_period"}}
	for _, p := range params {
		if len(p.Requires) > 0 {
			rules[p.Name] = p.Requires
		}
		if p.RequiredWhen != "" && !slices.Contains(rules[p.RequiredWhen], p.Name) {
			t.Errorf("%s needs %s, which the list of the other does not have", p.RequiredWhen, p.Name)
		}
	}
	require.Len(t, rules, 16)
	limited := 0
	for _, on := range settingPlatforms() {
		s := New(t, on.options...)
		c := newCaller(t, s)
		for rule, companions := range rules {
			all := map[string]any{inWords(s, rule): true}
			var needed []string
			for _, p := range params {
				if slices.Contains(companions, p.Name) && soldSetting(s, p) {
					all[inWords(s, p.Name)] = companionValue(p.Name)
					needed = append(needed, inWords(s, p.Name))
				}
			}
			limited += len(companions) - len(needed)
			r := c.put(settingsPath, all)
			require.Equal(t, 200, r.Status, "%s: %s: %s", on.name, rule, r.Body)
			for _, without := range needed {
				for name, value := range map[string]any{"left out": nil, "null": nil, "blank": ""} {
					less := map[string]any{}
					for key, v := range all {
						less[key] = v
					}
					if less[without] = value; name == "left out" {
						delete(less, without)
					}
					r := c.put(settingsPath, less)
					if name == "blank" && (without == "shared_runners_text" || without == "email_restrictions") {
						assert.Equal(t, 200, r.Status, "%s: %s is given, and blank", on.name, without)
						continue
					}
					assert.Equal(t, 400, r.Status, "%s: %s with %s %s", on.name, rule, without, name)
					assert.Contains(t, r.Body, without)
				}
			}
			assert.Equal(t, 200, c.put(settingsPath, map[string]any{inWords(s, rule): false}).Status)
		}
	}
	assert.Positive(t, limited, "no platform lacks a companion: the rule is not tested")
	assert.Equal(t, 403, newCaller(t, New(t, WithOffering(Hosted))).put(settingsPath, map[string]any{"shared_runners_enabled": true}).Status)
}

// defaultsText has the defaults of Document 3 §4.1.1, §4.1.2, §4.2.1 and §4.2.2 as JSON.
const defaultsText = `allow_project_creation_for_guest_and_below true, allow_runner_registration_token true, scan_execution_policies_schedule_limit 0,
	jobqueue_job_limiter_mode "compress", jobqueue_job_limiter_compression_threshold_bytes 100000, jobqueue_job_limiter_limit_bytes 0, signup_enabled true,
	silent_admin_exports_enabled false, silent_mode_enabled false, snippet_size_limit 52428800, codeintel_enabled false, codeintel_public_only true,
	spam_check_endpoint_enabled false, time_tracking_limit_to_hours false, top_level_group_creation_enabled true, unconfirmed_users_delete_after_days 7,
	user_defaults_to_private_profile false, wiki_page_max_content_bytes 5242880, asciidoc_max_includes 32, helm_max_packages_count 1000,
	delete_inactive_projects false, inactive_projects_delete_after_months 2, inactive_projects_min_size_mb 0,
	throttle_authenticated_git_http_enabled false, throttle_authenticated_git_http_period_in_seconds 3600,
	throttle_authenticated_git_http_requests_per_period 3600, throttle_unauthenticated_git_http_enabled false,
	throttle_unauthenticated_git_http_period_in_seconds 3600, throttle_unauthenticated_git_http_requests_per_period 3600,
	build_server.enable_ssl_verification true, ci_service.enable_ssl_verification true, emails_on_push.branches_to_be_notified "all",
	team_chat_a.branches_to_be_notified "default", team_chat_b.branches_to_be_notified "default", team_chat_c.branches_to_be_notified "default",
	team_chat_d.branches_to_be_notified "default"`

// documentedDefaults returns the defaults as JSON, by setting or kind.parameter. No kind inherits by default.
func documentedDefaults(t *testing.T) map[string]string {
	defaults := map[string]string{}
	for line := range strings.SplitSeq(defaultsText, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		defaults[name] = value
	}
	for _, kind := range documentedIntegrations(t) {
		defaults[kind.id+"."+inheritance] = "false"
	}
	return defaults
}

// asJSON returns a value in the form of a line of the table.
func asJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}

// A new server shows the documented defaults, on every platform that has the setting.
func TestSettingDefaults(t *testing.T) {
	defaults := documentedDefaults(t)
	for _, on := range settingPlatforms() {
		s := New(t, on.options...)
		shown, found := newCaller(t, s).get(settingsPath).object(t), 0
		for _, p := range catalogue().endpoints["PUT "+settingsPath].BodyParams {
			want, has := defaults[p.Name]
			if !has {
				continue
			}
			value, is := shown[inWords(s, p.Name)]
			assert.Equal(t, soldSetting(s, p), is, "%s: %s", on.name, p.Name)
			if is {
				assert.JSONEq(t, want, asJSON(t, value), "%s: %s", on.name, p.Name)
				found++
			}
		}
		if on.name == string(Ultimate) {
			assert.Equal(t, 29, found, "all of the table")
		}
	}
	// The documents do not show these defaults. They are those of deployed servers.
	assertShown(t, newCaller(t, New(t, WithNeutralNames())).get(settingsPath).object(t), map[string]any{
		"password_authentication_enabled_for_web": true, "session_expire_delay": 10080.0, "can_create_group": true, "default_projects_limit": 100000.0,
		"default_branch_protection": 2.0, "default_preferred_language": "en", "default_snippet_visibility": "private", "terms": "",
		"default_project_visibility": "private", "default_group_visibility": "private", "gravatar_enabled": true, "deletion_adjourned_period": 30.0,
		"max_attachment_size": 100.0, "polling_interval_multiplier": 1.0, "whats_new_variant": "all_tiers", "allow_all_integrations": true,
		"inactive_projects_send_warning_email_after_months": 1.0, "repository_storages_weighted": map[string]any{"default": 100.0}, "restricted_visibility_levels": []any{},
	})
}

// An integration that is set with only its required parameters has the documented defaults, even if
// it had other values before.
func TestIntegrationDefaults(t *testing.T) {
	for name, options := range map[string][]Option{"neutral": {WithNeutralNames()}, "GitLab": nil} {
		t.Run(name, func(t *testing.T) {
			s := New(t, options...)
			g := s.AddGroup("group")
			c, defaults := newCaller(t, s), documentedDefaults(t)
			for _, kind := range documentedIntegrations(t) {
				slug, body, before := kind.slug(s), map[string]any{}, map[string]any{}
				for _, p := range kind.params {
					before[p.wire(s, kind)] = p.otherThan(t, defaults[kind.id+"."+p.name])
					if p.required {
						body[p.wire(s, kind)] = p.values()[0]
					}
				}
				r := c.put("/groups/group/integrations/"+slug, before)
				require.Equal(t, 200, r.Status, r.Body)
				r = c.put("/groups/group/integrations/"+slug, body)
				require.Equal(t, 200, r.Status, r.Body)
				object := r.object(t)
				properties := object["properties"].(map[string]any)
				assert.Equal(t, false, object["inherited"], kind.id)
				for _, p := range kind.params {
					set, has := g.Integration(slug)[p.wire(s, kind)]
					want, documented := defaults[kind.id+"."+p.name]
					assert.Equal(t, p.required || documented, has, "%s.%s", kind.id, p.name)
					if !documented {
						continue
					}
					assert.JSONEq(t, want, asJSON(t, set), "%s.%s", kind.id, p.name)
					if p.name != inheritance {
						assert.JSONEq(t, want, asJSON(t, properties[p.wire(s, kind)]), "%s.%s is not shown", kind.id, p.name)
					}
					delete(defaults, kind.id+"."+p.name)
				}
			}
			for name := range defaults {
				assert.NotContains(t, name, ".", "no kind has it")
			}
		})
	}
}

// otherThan returns a value of the parameter that is not its default.
func (p documentedParam) otherThan(t *testing.T, fallback string) any {
	for _, value := range p.values() {
		if asJSON(t, value) != fallback {
			return value
		}
	}
	t.Fatal(p.name, "has no other value")
	return nil
}
