package forge

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRunners(t *testing.T) {
	runScenarios(t, []scenario{
		{
			name: "list",
			exchanges: []exchange{
				{sent: "GET /runners", query: "per_page=100", answer: "runners/runners.json"},
				{sent: "GET /runners/all", query: "paused=false&per_page=100&status=never_contacted&tag_list[]=a%2Cb&tag_list[]=c&type=project_type&version_prefix=16.1", answer: "runners/runners.json"},
				{sent: "GET /projects/group%2Fapp/runners", query: "per_page=100&scope=specific&status=stale", answer: "runners/runners.json"},
				{sent: "GET /runners/all", query: "per_page=100", status: 403, answer: `{"message":"403 Forbidden"}`},
			},
			run: func(t *testing.T, c *Client) {
				runners, err := Collect(c.Runners.List(t.Context(), nil))
				require.NoError(t, err)
				assertWhole(t, "runners/runners.json", runners)
				assert.False(t, runners[1].Active, "null is false")
				assert.Nil(t, runners[1].CreatedBy)
				runners, err = Collect(c.Runners.ListAll(t.Context(), &ListRunnersOptions{
					Type: RunnerTypeProject, Status: RunnerStatusNeverContacted, Paused: new(false), TagList: []string{"a,b", "c"}, VersionPrefix: "16.1",
				}))
				require.NoError(t, err)
				assertWhole(t, "runners/runners.json", runners)
				runners, err = Collect(c.Runners.ListForProject(t.Context(), Path("group/app"), &ListRunnersOptions{Scope: RunnerScopeSpecific, Status: RunnerStatusStale}))
				require.NoError(t, err)
				assertWhole(t, "runners/runners.json", runners)
				_, err = Collect(c.Runners.ListAll(t.Context(), nil))
				require.ErrorIs(t, err, ErrForbidden)
				assert.ErrorContains(t, err, "self-managed or dedicated")
			},
		},
		{
			name: "get",
			exchanges: []exchange{
				{sent: "GET /runners/6", answer: "runners/runner.json"},
				{sent: "GET /runners/8", answer: "runners/runner_paused.json"},
				{sent: "GET /runners/9", status: 404, answer: `{"message":"404 Runner Not Found"}`},
			},
			run: func(t *testing.T, c *Client) {
				runner, err := c.Runners.Get(t.Context(), 6)
				require.NoError(t, err)
				assertWhole(t, "runners/runner.json", runner)
				assert.Equal(t, new(3600), runner.MaximumTimeout)
				runner, err = c.Runners.Get(t.Context(), 8)
				require.NoError(t, err)
				assertWhole(t, "runners/runner_paused.json", runner)
				assert.Nil(t, runner.MaximumTimeout)
				assert.True(t, runner.ContactedAt.IsZero())
				_, err = c.Runners.Get(t.Context(), 9)
				require.ErrorIs(t, err, ErrNotFound)
			},
		},
		{
			name: "update",
			exchanges: []exchange{
				{sent: "PUT /runners/6", body: `{}`, answer: "runners/runner.json"},
				{sent: "PUT /runners/6", answer: "runners/runner.json", body: `{"description":"Builds","paused":false,"tag_list":["docker","linux"],"run_untagged":false,"locked":true,
					"access_level":"ref_protected","maximum_timeout":3600,"maintenance_note":"Rack 7","new":[1]}`},
				{sent: "PUT /runners/6", answer: "runners/runner_paused.json", body: `{"active":false,"description":"","tag_list":[],"maximum_timeout":null,"maintenance_note":""}`},
			},
			run: func(t *testing.T, c *Client) {
				for _, options := range []*UpdateRunnerOptions{nil, {
					Description: new("Builds"), Paused: new(false), TagList: []string{"docker", "linux"}, RunUntagged: new(false), Locked: new(true), AccessLevel: RunnerAccessRefProtected,
					MaximumTimeout: Value(time.Hour), MaintenanceNote: new("Rack 7"), Extra: map[string]any{"new": []int{1}},
				}} {
					runner, err := c.Runners.Update(t.Context(), 6, options)
					require.NoError(t, err)
					assertWhole(t, "runners/runner.json", runner)
				}
				runner, err := c.Runners.Update(t.Context(), 6, &UpdateRunnerOptions{
					Active: new(false), Description: new(""), TagList: []string{}, MaximumTimeout: Null[time.Duration](), MaintenanceNote: new(""),
				})
				require.NoError(t, err)
				assertWhole(t, "runners/runner_paused.json", runner)
			},
		},
		{
			name: "pause",
			exchanges: []exchange{
				{sent: "PUT /runners/8", form: "paused=true", answer: "runners/runner_paused.json"},
				{sent: "PUT /runners/8", form: "paused=true", answer: "runners/runner_paused.json"},
				{sent: "PUT /runners/8", form: "paused=false", answer: "runners/runner.json"},
				{sent: "PUT /runners/8", form: "active=false", answer: "runners/runner_paused.json"},
				{sent: "PUT /runners/8", form: "paused=true", status: 403, answer: `{"message":"403 Forbidden"}`},
			},
			run: func(t *testing.T, c *Client) {
				runner, err := c.Runners.Pause(t.Context(), 8, nil)
				require.NoError(t, err)
				assertWhole(t, "runners/runner_paused.json", runner)
				options := &PauseRunnerOptions{}
				_, err = c.Runners.Pause(t.Context(), 8, options)
				require.NoError(t, err)
				assert.Empty(t, *options, "the caller's options do not change")
				runner, err = c.Runners.Pause(t.Context(), 8, &PauseRunnerOptions{Paused: new(false)})
				require.NoError(t, err)
				assertWhole(t, "runners/runner.json", runner)
				_, err = c.Runners.Pause(t.Context(), 8, &PauseRunnerOptions{Active: new(false)})
				require.NoError(t, err)
				_, err = c.Runners.Pause(t.Context(), 8, nil)
				require.ErrorIs(t, err, ErrForbidden)
			},
		},
		{
			name: "jobs and managers",
			exchanges: []exchange{
				{sent: "GET /runners/6/jobs", query: "per_page=100", answer: "runners/jobs.json"},
				{sent: "GET /runners/6/jobs", query: "order_by=id&per_page=100&sort=asc&status=canceled&system_id=s_1", answer: "runners/jobs.json"},
				{sent: "GET /runners/6/managers", query: "per_page=100", answer: "runners/managers.json"},
			},
			run: func(t *testing.T, c *Client) {
				jobs, err := Collect(c.Runners.ListJobs(t.Context(), 6, nil))
				require.NoError(t, err)
				assertWhole(t, "runners/jobs.json", jobs)
				assert.Equal(t, new(98.29), jobs[0].Coverage)
				assert.Equal(t, map[string]string{"Closes": "#6"}, jobs[0].Commit.Trailers)
				assert.Nil(t, jobs[1].Duration)
				assert.Nil(t, jobs[1].User)
				jobs, err = Collect(c.Runners.ListJobs(t.Context(), 6, &ListRunnerJobsOptions{SystemID: "s_1", Status: JobStatusCanceled, OrderBy: RunnerJobOrderByID, Sort: SortAsc}))
				require.NoError(t, err)
				assertWhole(t, "runners/jobs.json", jobs)
				managers, err := Collect(c.Runners.ListManagers(t.Context(), 6))
				require.NoError(t, err)
				assertWhole(t, "runners/managers.json", managers)
			},
		},
	})
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
		{&ListRunnersOptions{Scope: RunnerScopeOnline, Status: RunnerStatusOnline}, "Scope", "status"},
		{&ListRunnersOptions{Scope: RunnerScopeOffline, Status: RunnerStatusStale}, "Scope", "status"},
		{&ListRunnersOptions{Scope: RunnerScopeSpecific, Type: RunnerTypeProject}, "Scope", "type"},
		{&ListRunnersOptions{Scope: RunnerScopeShared, Type: RunnerTypeInstance}, "Scope", "type"},
		{&ListRunnersOptions{Status: RunnerStatusPaused, Paused: new(true)}, "Status", "paused"},
		{&ListRunnersOptions{Status: RunnerStatusActive, Paused: new(false)}, "Status", "paused"},
	} {
		for _, list := range []func() error{
			func() error { _, err := Collect(c.Runners.List(t.Context(), row.options)); return err },
			func() error { _, err := Collect(c.Runners.ListAll(t.Context(), row.options)); return err },
			func() error {
				_, err := Collect(c.Runners.ListForProject(t.Context(), ID(42), row.options))
				return err
			},
		} {
			err := list()
			assertRefused(t, err, "ListRunnersOptions."+row.field, strings.ToLower(row.field))
			assert.ErrorContains(t, err, row.help+" is set too")
		}
	}
	_, err := c.Runners.Update(t.Context(), 6, &UpdateRunnerOptions{Active: new(true), Paused: new(false)})
	assertRefused(t, err, "UpdateRunnerOptions.Active", "active")
	assert.ErrorContains(t, err, "deprecated")
	_, err = c.Runners.Update(t.Context(), 6, &UpdateRunnerOptions{MaintenanceNote: new(strings.Repeat("日", 1025))})
	assertRefused(t, err, "UpdateRunnerOptions.MaintenanceNote", "maintenance_note")
	require.NoError(t, (&UpdateRunnerOptions{MaintenanceNote: new(strings.Repeat("日", 1024))}).check(), "characters, not bytes")
	_, err = c.Runners.Pause(t.Context(), 6, &PauseRunnerOptions{Active: new(true), Paused: new(false)})
	assertRefused(t, err, "PauseRunnerOptions.Active", "active")
	_, err = Collect(c.Runners.ListJobs(t.Context(), 6, &ListRunnerJobsOptions{Sort: SortAsc}))
	assertRefused(t, err, "ListRunnerJobsOptions.Sort", "sort")
	assert.ErrorContains(t, err, "it needs order_by")
	_, err = c.Runners.Get(t.Context(), 0)
	assertRefused(t, err, "argument", "id")
}
