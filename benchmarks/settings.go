package main

import (
	"context"
	_ "embed"
	"errors"
	"net/http"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/forge-sdk/forge-go"
)

// settingsDocument is the settings of an instance, 238 of them, in the words of the contract. It
// lacks polling_interval_multiplier, which the peer expects as a string.
//
//go:embed testdata/settings.json
var settingsDocument string

// gitlabSettings are 177 settings in the words of GitLab.
//
//go:embed testdata/settings_gitlab.json
var gitlabSettings string

// peerSettingsLack are the settings of the document that the peer's type does not have, and one
// that it always has.
var peerSettingsLack = []string{
	"antispam_api_key", "antispam_enabled", "assistant_features_enabled", "chatapp_enabled", "chatapp_id", "chatapp_secret",
	"chatapp_signing_secret", "chatapp_verification_token", "codeintel_enabled", "codeintel_public_only", "codeintel_url",
	"concurrent_relation_batch_export_limit", "disable_invite_members", "editor_extension_marketplace.enabled",
	"editor_extension_marketplace.preset", "enforce_pipl_compliance", "helm_max_packages_count", "jira_connect_additional_audience_url",
	"jobqueue_job_limiter_compression_threshold_bytes", "jobqueue_job_limiter_limit_bytes", "jobqueue_job_limiter_mode",
	"lock_assistant_features_enabled", "polling_interval_multiplier", "relation_export_batch_size", "replica_node_allowed_ips",
	"replica_status_timeout", "scan_execution_policies_action_limit", "scan_execution_policies_schedule_limit",
	"sign_in_restrictions.disable_password_authentication_for_users_with_sso_identities", "signin_enabled",
	"throttle_authenticated_git_http_enabled", "throttle_authenticated_git_http_period_in_seconds",
	"throttle_authenticated_git_http_requests_per_period", "throttle_unauthenticated_git_http_enabled",
	"throttle_unauthenticated_git_http_period_in_seconds", "throttle_unauthenticated_git_http_requests_per_period",
	"top_level_group_creation_enabled", "tracker_app_id", "tracker_collector_hostname", "tracker_cookie_domain",
	"tracker_database_collector_hostname", "tracker_enabled", "use_analytics_store_for_analytics", "users_api_limit_followers",
	"users_api_limit_following", "users_api_limit_gpg_key", "users_api_limit_gpg_keys", "users_api_limit_ssh_key", "users_api_limit_ssh_keys",
	"users_api_limit_status", "virtual_registries_endpoints_api_limit",
}

// plainSettings has the fields of forge.ApplicationSettings, and none of its methods, so that
// encoding/json decodes them by reflection.
type plainSettings forge.ApplicationSettings

// applicationSettings measures settings from memory: reading them, finding one changed setting, and
// applying it, which sends it and reads the settings again.
func applicationSettings(ctx context.Context, b *bench) ([]line, error) {
	answer := fromMemory(settingsDocument)
	us := newOurs(noServer, forge.WithHTTPClient(&http.Client{Transport: answer}))
	contenders := []contender{
		{forgeName, us.settings}, {handName, newHand(noServer, answer).settings}, {peerName, newPeer(noServer, withTransport(answer)).settings},
	}
	contenders = withV2(contenders, noServer, func() http.RoundTripper { return answer }, func(c *byHand) work { return c.settings })
	r := race{rounds: 3 * b.rounds, times: b.scaled(200, 50), sent: documents{"settings", 1, func(int) string { return settingsDocument }}}
	taken, err := r.run(ctx, contenders)
	if err != nil {
		return nil, err
	}
	read, count := lineOf(taken, forgeName, "CPU of reading 238 settings", cpu, showTime), lineOf(taken, forgeName, "allocations of reading them", allocs, showCount)
	read.limit, count.exact = 60_000, true
	lines, err := changedSettings(ctx, r, us)
	return append([]line{read, count}, lines...), err
}

// changedSettings measures what only forge has: the words of a vocabulary, Diff and Apply.
func changedSettings(ctx context.Context, r race, us *ours) ([]line, error) {
	words := newOurs(noServer, forge.WithHTTPClient(&http.Client{Transport: fromMemory(gitlabSettings)}), forge.WithVocabulary(forge.GitLab))
	const translated, diff, apply = "translated", "diff", "apply"
	settings, err := us.client.Settings.Get(ctx)
	if err != nil {
		return nil, err
	}
	r.sent = documents{}
	taken, err := r.run(ctx, []contender{
		{translated, counted(words.settings)}, {diff, counted(differ(settings))}, {apply, counted(us.apply(settings))},
	})
	return []line{
		{what: "CPU of reading 177 settings in the words of GitLab", show: showTime, ours: taken[translated].of(cpu), limit: 60_000},
		{what: "allocations of reading these", show: showCount, ours: taken[translated].of(allocs), exact: true},
		{what: "CPU of Diff, one setting changed", show: showTime, ours: taken[diff].of(cpu), limit: 120_000},
		{what: "allocations of Diff", show: showCount, ours: taken[diff].of(allocs), exact: true},
		{what: "CPU of Diff and Apply, which sends it and reads the settings again", show: showTime, ours: taken[apply].of(cpu)},
		{what: "allocations of Diff and Apply", show: showCount, ours: taken[apply].of(allocs), exact: true},
	}, err
}

func (c *byHand) settings(ctx context.Context, d *digest) error {
	return c.one(ctx, d, http.MethodGet, "/api/v4/application/settings", new(plainSettings))
}

func (c *ours) settings(ctx context.Context, d *digest) error {
	s, err := c.client.Settings.Get(ctx)
	if err == nil {
		d.item(s)
	}
	return err
}

func (c *peer) settings(ctx context.Context, d *digest) error {
	s, _, err := c.client.Settings.GetSettings(gitlab.WithContext(ctx))
	if err == nil {
		d.item(s)
	}
	return err
}

// edit changes one of the settings, to another value each time.
func edit(settings *forge.ApplicationSettings) *forge.SettingsDiff {
	settings.SessionExpireDelay = 480 + (settings.SessionExpireDelay+1)%2
	return settings.Diff()
}

func differ(settings *forge.ApplicationSettings) work {
	edited := *settings
	return func(context.Context, *digest) error {
		if changes := edit(&edited); len(changes.Changes) != 1 || changes.Err() != nil {
			return errors.New("not one setting has changed")
		}
		return nil
	}
}

func (c *ours) apply(settings *forge.ApplicationSettings) work {
	edited := *settings
	return func(ctx context.Context, _ *digest) error {
		report, err := c.client.Settings.Apply(ctx, edit(&edited))
		if err == nil && len(report.NotApplied) != 1 { // the document from memory never changes
			return errors.New("the change is not reported")
		}
		return err
	}
}
