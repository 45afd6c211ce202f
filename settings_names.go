package forge

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// requiredWith is a rule: enabling a setting requires others in the same update.
type requiredWith struct {
	setting string
	needs   []string
}

// companionSettings lists the rules of Document 3 §4.1.1 and §4.1.2. The Git families of rate
// limits have no rules. The contract also requires shared_runners_minutes, which only Premium and
// Ultimate have: a server that has it can require it.
func companionSettings() []requiredWith {
	rules := []requiredWith{
		{"email_restrictions_enabled", []string{"email_restrictions"}},
		{"antispam_enabled", []string{"antispam_api_key"}},
		{"shared_runners_enabled", []string{"shared_runners_text", "shared_runners_minutes"}},
		{"chatapp_enabled", []string{"chatapp_id", "chatapp_secret", "chatapp_signing_secret", "chatapp_verification_token"}},
		{"tracker_enabled", []string{"tracker_collector_hostname"}},
		{"codeintel_enabled", []string{"codeintel_url"}},
		{"enforce_terms", []string{"terms"}},
		{"require_two_factor_authentication", []string{"two_factor_grace_period"}},
		{"unique_ips_limit_enabled", []string{"unique_ips_limit_per_user", "unique_ips_limit_time_window"}},
	}
	for _, family := range []string{"authenticated_api", "authenticated_web", "authenticated_packages_api", "unauthenticated_api", "unauthenticated_web",
		"unauthenticated_packages_api", "unauthenticated"} {
		family = "throttle_" + family
		rules = append(rules, requiredWith{family + "_enabled", []string{family + "_period_in_seconds", family + "_requests_per_period"}})
	}
	return rules
}

// checkCompanions rejects an enabled setting without the settings that it requires. Settings that
// only some tiers have are not required.
func checkCompanions(given map[string]json.RawMessage) error {
	for _, rule := range companionSettings() {
		for _, need := range rule.needs {
			if isValue(given[rule.setting], "true") && given[need] == nil && !isTierSetting(need) {
				return &ValidationError{Param: need, Reason: "it must be set if " + rule.setting + " is true"}
			}
		}
	}
	return nil
}

// checkNeeds rejects a setting whose effect the value of another disables (Document 3 §4.1.1). If
// the other is not given, the server's value counts. Apply sends both: deployed servers keep the
// period for later.
func checkNeeds(given map[string]json.RawMessage) error {
	if given["unconfirmed_users_delete_after_days"] != nil && isValue(given["delete_unconfirmed_users"], "false") {
		return &ValidationError{Param: "unconfirmed_users_delete_after_days", Reason: "it needs delete_unconfirmed_users, which is false"}
	}
	return nil
}

// deprecatedSetting is a deprecated setting and the one that replaces it.
type deprecatedSetting struct{ name, use string }

// replacedSettings lists the deprecated settings of Document 3 §4.1.1 and §4.1.2.
func replacedSettings() []deprecatedSetting {
	rules := []deprecatedSetting{
		{"housekeeping_full_repack_period", "housekeeping_optimize_repository_period"},
		{"housekeeping_gc_period", "housekeeping_optimize_repository_period"},
		{"housekeeping_incremental_repack_period", "housekeeping_optimize_repository_period"},
	}
	for _, alias := range settingAliases() {
		rules = append(rules, alias.deprecatedSetting)
	}
	for _, suffix := range []string{"_enabled", "_period_in_seconds", "_requests_per_period"} {
		for _, family := range []string{"_web", "_api"} {
			rules = append(rules, deprecatedSetting{"throttle_unauthenticated" + suffix, "throttle_unauthenticated" + family + suffix})
		}
	}
	return rules
}

// checkDeprecated rejects a deprecated setting together with its replacement.
func checkDeprecated(given map[string]json.RawMessage) error {
	for _, rule := range replacedSettings() {
		if given[rule.name] != nil && given[rule.use] != nil {
			return &ValidationError{Param: rule.name, Reason: "it is deprecated, and " + rule.use + ", which replaces it, is set too: omit " + rule.name}
		}
	}
	return nil
}

// checkReplaced rejects a deprecated setting and its replacement with different values.
func checkReplaced(given map[string]json.RawMessage) error {
	for _, rule := range replacedSettings() {
		old, by := given[rule.name], given[rule.use]
		if old != nil && by != nil && !equalJSON(aliasValue(rule, old), by) {
			return &ValidationError{Param: rule.name, Reason: "it is deprecated, and " + rule.use + ", which replaces it, has another value: omit " + rule.name}
		}
	}
	return nil
}

// settingAlias is a deprecated setting that is another name of its replacement: each shows the
// value of the other.
type settingAlias struct {
	deprecatedSetting
	text bool // the old name takes the strings "true" and "false", the new one booleans
}

func settingAliases() []settingAlias {
	return []settingAlias{
		{deprecatedSetting: deprecatedSetting{"admin_notification_email", "abuse_notification_email"}},
		{deprecatedSetting: deprecatedSetting{"allow_local_requests_from_hooks_and_services", "allow_local_requests_from_web_hooks_and_services"}},
		{deprecatedSetting: deprecatedSetting{"asset_proxy_whitelist", "asset_proxy_allowlist"}},
		{deprecatedSetting: deprecatedSetting{"signin_enabled", "password_authentication_enabled_for_web"}, text: true},
	}
}

// forward converts a value of the old name to one of the new name.
func (a settingAlias) forward(value json.RawMessage) json.RawMessage {
	var text string
	if a.text && json.Unmarshal(value, &text) == nil && (text == "true" || text == "false") {
		return json.RawMessage(text)
	}
	return value
}

// backward converts a value of the new name to one of the old name.
func (a settingAlias) backward(value json.RawMessage) json.RawMessage {
	if a.text && (isValue(value, "true") || isValue(value, "false")) {
		return json.RawMessage(`"` + strings.TrimSpace(string(value)) + `"`)
	}
	return value
}

// aliasValue converts a value of a deprecated setting to one of its replacement.
func aliasValue(rule deprecatedSetting, old json.RawMessage) json.RawMessage {
	for _, alias := range settingAliases() {
		if alias.deprecatedSetting == rule {
			return alias.forward(old)
		}
	}
	return old
}

// aliasBackward converts a value of a setting to one of its deprecated name.
func aliasBackward(old string, value json.RawMessage) json.RawMessage {
	for _, alias := range settingAliases() {
		if alias.name == old {
			return alias.backward(value)
		}
	}
	return value
}

// shownSetting returns a setting's value under any of its names; nil if the server shows none of
// them.
func shownSetting(shown map[string]json.RawMessage, name string) json.RawMessage {
	if value := shown[name]; value != nil {
		return value
	}
	for _, alias := range settingAliases() {
		switch old, by := shown[alias.name], shown[alias.use]; {
		case name == alias.use && old != nil:
			return alias.forward(old)
		case name == alias.name && by != nil:
			return alias.backward(by)
		}
	}
	return nil
}

// isIdentity reports whether a key of the settings object is not a setting.
func isIdentity(name string) bool {
	return name == "id" || name == "created_at" || name == "updated_at"
}

// isTierSetting reports whether only Premium and Ultimate have a setting (Document 3 §2.1 and
// §4.1.1).
func isTierSetting(name string) bool {
	switch name {
	case "allow_account_deletion", "allow_all_integrations", "allow_group_owners_to_manage_ldap", "allowed_integrations", "assistant_features_enabled",
		"default_project_deletion_protection", "delete_unconfirmed_users", "disable_personal_access_tokens", "file_template_project_id",
		"group_owners_can_manage_default_branch_protection", "lock_assistant_features_enabled", "lock_memberships_to_saml", "replica_node_allowed_ips",
		"replica_status_timeout", "scan_execution_policies_action_limit", "scan_execution_policies_schedule_limit", "secret_push_protection_available",
		"security_approval_policies_limit", "security_policy_global_group_approvers_enabled", "shared_runners_minutes",
		"unconfirmed_users_delete_after_days", "use_analytics_store_for_analytics", "virtual_registries_endpoints_api_limit":
		return true
	}
	return false
}

// isSecretSetting reports whether a setting's value is a key, a token, a secret or a password. It
// goes by the name, since servers have settings that the contract does not name.
func isSecretSetting(name string) bool {
	if f, known := settingStructField(name); known && !slices.Contains([]reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[*string](), reflect.TypeFor[Nullable[string]]()}, f.Type) {
		return false
	}
	return slices.ContainsFunc([]string{"_key", "_token", "_secret", "_password", "_pass", "_passphrase", "_salt", "_credentials"}, func(end string) bool { return strings.HasSuffix(name, end) })
}
