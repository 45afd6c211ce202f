package forgetest

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// documentedDefaults returns the defaults of Document 3 as JSON, by setting or kind.parameter.
func documentedDefaults(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../testdata/spec/setting_defaults.tsv")
	require.NoError(t, err)
	defaults := map[string]string{}
	for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")[1:] {
		columns := strings.Split(line, "\t")
		require.Len(t, columns, 3, line)
		defaults[columns[0]] = columns[1]
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
		for _, p := range specified(t).endpoints["PUT "+settingsPath].BodyParams {
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
	// The documents do not show this default. Deployed servers warn a month before they delete.
	shown := newCaller(t, New(t)).get(settingsPath).object(t)
	assert.InDelta(t, 1, shown["inactive_projects_send_warning_email_after_months"], 0)
}

// An integration that is set with only its required parameters has the documented defaults, even if
// it had other values before.
func TestIntegrationDefaults(t *testing.T) {
	for name, options := range map[string][]Option{"neutral": nil, "GitLab": {WithGitLabVocabulary()}} {
		t.Run(name, func(t *testing.T) {
			s := New(t, options...)
			g := s.AddGroup("group")
			c, defaults := newCaller(t, s), documentedDefaults(t)
			for _, kind := range documentedIntegrations() {
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

// A deprecated setting that one or two others have replaced is a separate setting: all are accepted
// together, and none changes another one.
func TestDeprecatedSettingsBesideNewOnes(t *testing.T) {
	c := newCaller(t, New(t))
	sent := map[string]any{
		"housekeeping_full_repack_period": 50.0, "housekeeping_gc_period": 200.0, "housekeeping_incremental_repack_period": 10.0,
		"housekeeping_optimize_repository_period": 30.0, "default_branch_protection": 1.0,
		"default_branch_protection_defaults": map[string]any{"allow_force_push": true},
	}
	for i, family := range []string{"throttle_unauthenticated", "throttle_unauthenticated_web", "throttle_unauthenticated_api"} {
		sent[family+"_enabled"] = i != 1
		sent[family+"_period_in_seconds"], sent[family+"_requests_per_period"] = float64(60+i), float64(100+i)
	}
	require.Equal(t, 200, c.put(settingsPath, sent).Status)
	holds := func() {
		t.Helper()
		shown := c.get(settingsPath).object(t)
		for name, value := range sent {
			assert.Equal(t, value, shown[name], name)
		}
	}
	holds()
	for _, name := range []string{"housekeeping_gc_period", "housekeeping_optimize_repository_period", "throttle_unauthenticated_period_in_seconds",
		"throttle_unauthenticated_api_period_in_seconds", "default_branch_protection"} {
		sent[name] = sent[name].(float64) + 1
		require.Equal(t, 200, c.put(settingsPath, map[string]any{name: sent[name]}).Status, name)
		holds()
	}
}

// On Free, the settings (Document 3 §2.1) and the parameters (§4.1.1) of Premium and Ultimate are
// not shown, and their values are ignored. The same applies to settings of self-managed instances
// on a dedicated instance.
func TestSettingsOfTiers(t *testing.T) {
	added := strings.Fields(`allow_all_integrations allowed_integrations group_owners_can_manage_default_branch_protection file_template_project_id
		replica_node_allowed_ips replica_status_timeout default_project_deletion_protection disable_personal_access_tokens
		security_policy_global_group_approvers_enabled security_approval_policies_limit scan_execution_policies_action_limit
		scan_execution_policies_schedule_limit delete_unconfirmed_users unconfirmed_users_delete_after_days assistant_features_enabled
		lock_assistant_features_enabled use_analytics_store_for_analytics secret_push_protection_available virtual_registries_endpoints_api_limit
		lock_memberships_to_saml allow_account_deletion allow_group_owners_to_manage_ldap shared_runners_minutes`)
	for _, tier := range []Tier{Free, Premium, Ultimate} {
		c := newCaller(t, New(t, WithTier(tier)))
		shown := c.get(settingsPath).object(t)
		for _, name := range added {
			has := tier == Ultimate || tier == Premium && name != "secret_push_protection_available" // §4.1.1 says Ultimate
			_, is := shown[name]
			assert.Equal(t, has, is, "%s: %s", tier, name)
			if r := c.put(settingsPath, map[string]any{name: []any{map[string]any{}}}); !has {
				assert.Equal(t, 200, r.Status, "%s: %s", tier, name)
				assert.NotContains(t, r.object(t), name)
			}
		}
	}
	c := newCaller(t, New(t, WithTier(Ultimate), WithOffering(Dedicated)))
	for _, name := range strings.Fields("unconfirmed_users_delete_after_days assistant_features_enabled lock_assistant_features_enabled") {
		r := c.put(settingsPath, map[string]any{name: []any{}})
		assert.Equal(t, 200, r.Status, name)
		assert.NotContains(t, r.object(t), name, "of self-managed instances only")
	}
}

// A release before the one that introduced a setting does not show it, and ignores a value for it.
func TestSettingReleases(t *testing.T) {
	for name, releases := range map[string][2]string{ // the last without it, the first with it
		"user_defaults_to_private_profile":                      {"15.7", "15.8"},
		"unconfirmed_users_delete_after_days":                   {"16.0", "16.1"},
		"security_txt_content":                                  {"16.6", "16.7"},
		"allow_project_creation_for_guest_and_below":            {"16.7", "16.8"},
		"include_optional_metrics_in_service_ping":              {"16.9", "16.10"},
		"assistant_features_enabled":                            {"16.9", "16.10"},
		"lock_assistant_features_enabled":                       {"16.9", "16.10"},
		"silent_admin_exports_enabled":                          {"16.11", "17.0"},
		"nuget_skip_metadata_url_validation":                    {"16.11", "17.0"},
		"throttle_unauthenticated_git_http_enabled":             {"16.11", "17.0"},
		"throttle_unauthenticated_git_http_period_in_seconds":   {"16.11", "17.0"},
		"throttle_unauthenticated_git_http_requests_per_period": {"16.11", "17.0"},
		"receptive_cluster_agents_enabled":                      {"17.3", "17.4"},
		"concurrent_relation_batch_export_limit":                {"17.5", "17.6"},
		"throttle_authenticated_git_http_enabled":               {"18.0", "18.1"},
		"throttle_authenticated_git_http_period_in_seconds":     {"18.0", "18.1"},
		"throttle_authenticated_git_http_requests_per_period":   {"18.0", "18.1"},
	} {
		before, after := newCaller(t, New(t, WithRelease(releases[0]))), newCaller(t, New(t, WithRelease(releases[1])))
		assert.NotContains(t, before.get(settingsPath).object(t), name)
		assert.Contains(t, after.get(settingsPath).object(t), name)
		wrong := map[string]any{name: []any{}}
		r := before.put(settingsPath, wrong)
		assert.Equal(t, 200, r.Status, "%s on %s", name, releases[0])
		assert.NotContains(t, r.object(t), name)
		assert.Equal(t, 400, after.put(settingsPath, wrong).Status, "%s on %s", name, releases[1])
	}
}

// Removed fields are not shown (Document 3 §2.1), not even by older releases, since removals are
// not modelled.
func TestRemovedSettings(t *testing.T) {
	for _, options := range [][]Option{nil, {WithRelease("15.11")}} {
		shown := newCaller(t, New(t, options...)).get(settingsPath).object(t)
		for _, name := range strings.Fields("delayed_project_deletion delayed_group_deletion in_product_marketing_emails_enabled repository_storages user_email_lookup_limit") {
			assert.NotContains(t, shown, name)
		}
	}
}
