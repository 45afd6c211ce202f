package forge

import "context"

// SettingsService reads and changes the instance-wide configuration (Document 3 §4.1). It needs an access token of an administrator,
// and a self-managed or dedicated instance.
//
// The contract has neutral words for settings that a deployed product names after another product:
// [UpdateSettingsOptions].AntispamEnabled is sent as antispam_enabled. A client of a GitLab server needs WithVocabulary(forge.GitLab);
// without it the calls below fail as soon as the server's answer shows GitLab's words, because the server ignores words that it does not
// know.
type SettingsService struct{ service }

// words are what settings are called.
func (s *SettingsService) words() dictionary {
	return dictionary{config: &s.owner().config, kind: settingWord}
}

// Get reads the settings. Changes may show late: servers keep settings for 60 seconds by default. Document 3 §4.1.
func (s *SettingsService) Get(ctx context.Context, opts ...RequestOption) (*ApplicationSettings, error) {
	r := s.get("/application/settings").in(s.words())
	return do[ApplicationSettings](ctx, r, opts)
}

// Update changes the settings that are given, and returns all. A server ignores parameters that it does not know or whose tier it
// has not, without an error: Apply tells. Document 3 §4.1.
func (s *SettingsService) Update(ctx context.Context, o *UpdateSettingsOptions, opts ...RequestOption) (*ApplicationSettings, error) {
	r := s.put("/application/settings").json(o).in(s.words())
	return do[ApplicationSettings](ctx, r, opts)
}

// A companions rule: when the setting is enabled, the others must be given.
type companions struct {
	setting string
	needs   []string
}

// companionSettings lists the rules of Document 3 §4.1.1 and §4.1.2. The Git families of rate limits have none.
func companionSettings() []companions {
	rules := []companions{
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
		rules = append(rules, companions{family + "_enabled", []string{family + "_period_in_seconds", family + "_requests_per_period"}})
	}
	return rules
}

// replacement is a deprecated setting and what replaces it.
type replacement struct{ old, by string }

// replacedSettings lists the deprecated settings of Document 3 §4.1.1 and §4.1.2.
func replacedSettings() []replacement {
	rules := []replacement{
		{"admin_notification_email", "abuse_notification_email"},
		{"allow_local_requests_from_hooks_and_services", "allow_local_requests_from_web_hooks_and_services"},
		{"signin_enabled", "password_authentication_enabled_for_web"},
		{"housekeeping_full_repack_period", "housekeeping_optimize_repository_period"},
		{"housekeeping_gc_period", "housekeeping_optimize_repository_period"},
		{"housekeeping_incremental_repack_period", "housekeeping_optimize_repository_period"},
	}
	for _, suffix := range []string{"_enabled", "_period_in_seconds", "_requests_per_period"} {
		for _, family := range []string{"_web", "_api"} {
			rules = append(rules, replacement{"throttle_unauthenticated" + suffix, "throttle_unauthenticated" + family + suffix})
		}
	}
	return rules
}

func (o *UpdateSettingsOptions) check() error {
	given, err := membersOf(o)
	if err != nil {
		return err
	}
	for _, rule := range replacedSettings() {
		if given[rule.old] != nil && given[rule.by] != nil {
			return &ValidationError{Param: rule.old, Reason: "it is deprecated, and " + rule.by + ", which replaces it, is given too: leave it out"}
		}
	}
	for _, rule := range companionSettings() {
		for _, need := range rule.needs {
			if string(given[rule.setting]) == "true" && given[need] == nil {
				return &ValidationError{Param: need, Reason: "it must be given when " + rule.setting + " is true"}
			}
		}
	}
	return nil
}
