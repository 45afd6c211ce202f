package forge

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRunners(t *testing.T) {
	ctx := t.Context()
	full := &UpdateRunnerOptions{MaximumTimeout: Value(time.Hour), TagList: []string{"docker"}, Extra: map[string]any{"new": []int{1}}}
	cleared := &UpdateRunnerOptions{Active: new(false), Description: new(""), TagList: []string{}, MaximumTimeout: Null[time.Duration](), MaintenanceNote: new("")}
	pause := func(o *PauseRunnerOptions) func(c *Client) (any, error) {
		return func(c *Client) (any, error) { return c.Runners.Pause(ctx, 8, o) }
	}
	runCalls(t, []callRow{
		{"PUT /runners/6", "", `{"tag_list":["docker"],"maximum_timeout":3600,"new":[1]}`, "runners/get.json", func(c *Client) (any, error) { return c.Runners.Update(ctx, 6, full) }},
		{"PUT /runners/6", "", `{"active":false,"description":"","tag_list":[],"maximum_timeout":null,"maintenance_note":""}`, "runners/runner_paused.json", func(c *Client) (any, error) {
			return c.Runners.Update(ctx, 6, cleared)
		}},
		{"PUT /runners/8", "", "paused=true", "runners/runner_paused.json", pause(nil)},
		{"PUT /runners/8", "", "paused=true", `403 {"message":"403 Forbidden"}`, pause(&PauseRunnerOptions{})},
		{"PUT /runners/8", "", "paused=false", "runners/get.json", pause(&PauseRunnerOptions{Paused: new(false)})},
		{"PUT /runners/8", "", "active=false", "runners/runner_paused.json", pause(&PauseRunnerOptions{Active: new(false)})},
	})
	options := &PauseRunnerOptions{}
	_, err := serve(t).Runners.Pause(ctx, 8, options, DryRun(nil))
	require.ErrorIs(t, err, ErrDryRun)
	assert.Empty(t, *options, "the caller's options do not change")
}

// TestRunnersRefused checks which arguments are refused before anything is sent, above all a
// deprecated parameter together with its replacement.
func TestRunnersRefused(t *testing.T) {
	c := serve(t)
	for _, row := range []struct {
		options     *ListRunnersOptions
		field, help string // the refused field, and the parameter to use
	}{
		{&ListRunnersOptions{Scope: RunnerScopeActive, Paused: new(false)}, "Scope", "paused"},
		{&ListRunnersOptions{Scope: RunnerScopePaused, Paused: new(true)}, "Scope", "paused"},
		{&ListRunnersOptions{Scope: RunnerScopePaused, Status: RunnerStatusActive}, "Scope", "status"},
		{&ListRunnersOptions{Status: RunnerStatusPaused, Paused: new(true)}, "Status", "paused"},
		{&ListRunnersOptions{Status: RunnerStatusActive, Paused: new(false)}, "Status", "paused"},
	} {
		_, err := Collect(c.Runners.List(t.Context(), row.options))
		assertRefused(t, err, "ListRunnersOptions."+row.field, strings.ToLower(row.field))
		assert.ErrorContains(t, err, row.help+" is set too")
	}
	// Each scope is refused with its replacement only.
	for help, scopes := range map[string][]RunnerScope{
		"paused": {RunnerScopeActive, RunnerScopePaused},
		"status": {RunnerScopeOnline, RunnerScopeOffline, RunnerScopeNeverContacted, RunnerScopeStale},
		"type":   {RunnerScopeSpecific, RunnerScopeShared, RunnerScopeInstanceType, RunnerScopeGroupType, RunnerScopeProjectType},
	} {
		for _, scope := range scopes {
			for replacement, o := range map[string]*ListRunnersOptions{
				"": {}, "paused": {Paused: new(true)}, "status": {Status: RunnerStatusOnline}, "type": {Type: RunnerTypeGroup},
			} {
				o.Scope = scope
				_, err := Collect(c.Runners.List(t.Context(), o, DryRun(nil)))
				if replacement == help {
					assertRefused(t, err, "ListRunnersOptions.Scope", "scope")
					assert.ErrorContains(t, err, help+" is set too")
				} else {
					assert.ErrorIs(t, err, ErrDryRun, "%s with %s", scope, replacement)
				}
			}
		}
	}
	_, err := c.Runners.Update(t.Context(), 6, &UpdateRunnerOptions{MaintenanceNote: new(strings.Repeat("日", 1025))})
	assertRefused(t, err, "UpdateRunnerOptions.MaintenanceNote", "maintenance_note")
	require.NoError(t, (&UpdateRunnerOptions{MaintenanceNote: new(strings.Repeat("日", 1024))}).check(), "characters, not bytes")
	_, err = Collect(c.Runners.ListJobs(t.Context(), 6, &ListRunnerJobsOptions{Sort: SortAsc}))
	assertRefused(t, err, "ListRunnerJobsOptions.Sort", "sort")
	assert.ErrorContains(t, err, "it needs order_by")
}
