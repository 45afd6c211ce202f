package simulation

import (
	"iter"

	forge "github.com/forge-sdk/forge-go"
)

func fileCalls() []*row {
	const of = "/projects/:project_id/secure_files"
	files := func(c *calling) *forge.SecureFilesService { return c.client.SecureFiles }
	id := func(c *calling) int64 { return c.f.file.Get("id").(int64) }
	return []*row{
		items("SecureFiles.List", "GET "+of, func(c *calling) iter.Seq2[*forge.SecureFile, error] {
			return files(c).List(c.ctx, app, c.opts...)
		}),
		value("SecureFiles.Get", "GET "+of+"/:id", func(c *calling) (*forge.SecureFile, error) {
			return files(c).Get(c.ctx, app, id(c), c.opts...)
		}),
		value("SecureFiles.Upload", "POST "+of, func(c *calling) (*forge.SecureFile, error) {
			return files(c).Upload(c.ctx, work, &forge.UploadSecureFileOptions{Name: "up-" + c.s.ID, File: c.file}, c.opts...)
		}).with(func(r *row) { r.upload = true }),
		stream("SecureFiles.Download", "GET "+of+"/:id/download", func(c *calling) (*forge.Download, error) {
			return files(c).Download(c.ctx, app, &forge.SecureFile{ID: id(c)}, c.opts...)
		}),
		nothing("SecureFiles.Delete", "DELETE "+of+"/:id", func(c *calling) error {
			return files(c).Delete(c.ctx, work, c.f.own[c.s.ID], c.opts...)
		}).with(func(r *row) {
			r.setup = func(f *fixtures, s *Step) {
				f.own[s.ID] = f.work.AddSecureFile("gone-"+s.ID, []byte("x"), nil).Get("id").(int64)
			}
		}),
	}
}

func settingCalls() []*row {
	moving := func(r *row) { r.moving = true }
	const approvals = "/merge_request_approval_setting"
	return []*row{
		items("ResourceGroups.List", "GET /projects/:id/resource_groups", func(c *calling) iter.Seq2[*forge.ResourceGroup, error] {
			return c.client.ResourceGroups.List(c.ctx, app, c.opts...)
		}),
		value("ResourceGroups.Get", "GET /projects/:id/resource_groups/:key", func(c *calling) (*forge.ResourceGroup, error) {
			return c.client.ResourceGroups.Get(c.ctx, app, "production_eu", c.opts...)
		}),
		items("ResourceGroups.ListUpcomingJobs", "GET /projects/:id/resource_groups/:key/upcoming_jobs",
			func(c *calling) iter.Seq2[*forge.UpcomingJob, error] {
				return c.client.ResourceGroups.ListUpcomingJobs(c.ctx, app, "production_eu", c.opts...)
			}),
		value("ResourceGroups.Update", "PUT /projects/:id/resource_groups/:key", func(c *calling) (*forge.ResourceGroup, error) {
			mode := []forge.ProcessMode{forge.ProcessModeUnordered, forge.ProcessModeOldestFirst, forge.ProcessModeNewestFirst}[c.s.Variant%3]
			return c.client.ResourceGroups.Update(c.ctx, work, "staging", &forge.UpdateResourceGroupOptions{ProcessMode: mode}, c.opts...)
		}),
		value("ApprovalSettings.GetForGroup", "GET /groups/:id"+approvals, func(c *calling) (*forge.ApprovalSettings, error) {
			return c.client.ApprovalSettings.GetForGroup(c.ctx, acme, c.opts...)
		}).with(moving),
		value("ApprovalSettings.UpdateForGroup", "PUT /groups/:id"+approvals, func(c *calling) (*forge.ApprovalSettings, error) {
			return c.client.ApprovalSettings.UpdateForGroup(c.ctx, acme,
				&forge.UpdateApprovalSettingsOptions{AllowAuthorApproval: new(c.s.Variant%2 == 0)}, c.opts...)
		}),
		value("ApprovalSettings.GetForProject", "GET /projects/:id"+approvals, func(c *calling) (*forge.ApprovalSettings, error) {
			return c.client.ApprovalSettings.GetForProject(c.ctx, app, c.opts...)
		}).with(moving),
		value("ApprovalSettings.UpdateForProject", "PUT /projects/:id"+approvals, func(c *calling) (*forge.ApprovalSettings, error) {
			return c.client.ApprovalSettings.UpdateForProject(c.ctx, work,
				&forge.UpdateApprovalSettingsOptions{RetainApprovalsOnPush: new(c.s.Variant%2 == 0)}, c.opts...)
		}),
		value("Settings.Get", "GET /application/settings", func(c *calling) (*forge.ApplicationSettings, error) {
			return c.client.Settings.Get(c.ctx, c.opts...)
		}).with(moving),
		value("Settings.Update", "PUT /application/settings", func(c *calling) (*forge.ApplicationSettings, error) {
			return c.client.Settings.Update(c.ctx, &forge.UpdateSettingsOptions{AfterSignUpText: new(c.s.ID)}, c.opts...)
		}),
	}
}

func integrationCalls() []*row {
	return []*row{
		items("Integrations.List", "GET /groups/:id/integrations", func(c *calling) iter.Seq2[*forge.IntegrationSummary, error] {
			return c.client.Integrations.List(c.ctx, acme, c.opts...)
		}).with(func(r *row) { r.moving = true }),
		value("Integrations.Get", "GET /groups/:id/integrations/:slug", func(c *calling) (*forge.Integration, error) {
			return c.client.Integrations.Get(c.ctx, forge.Path("quiet"), forge.IntegrationEmailsOnPush, c.opts...)
		}),
		nothing("Integrations.Set", "PUT /groups/:id/integrations/:slug", func(c *calling) error {
			return c.client.Integrations.Set(c.ctx, acme, &forge.EmailsOnPushOptions{Recipients: "a@example.com b@example.com"}, c.opts...)
		}),
		nothing("Integrations.Disable", "DELETE /groups/:id/integrations/:slug", func(c *calling) error {
			return c.client.Integrations.Disable(c.ctx, acme, forge.IntegrationEmailsOnPush, c.opts...)
		}),
	}
}

func runnerCalls() []*row {
	moving := func(r *row) { r.moving = true }
	runners := func(c *calling) *forge.RunnersService { return c.client.Runners }
	reassignments := func(c *calling) *forge.PlaceholderReassignmentsService { return c.client.PlaceholderReassignments }
	const placeholders = "/groups/:id/placeholder_reassignments"
	return []*row{
		items("Runners.List", "GET /runners", func(c *calling) iter.Seq2[*forge.Runner, error] {
			return runners(c).List(c.ctx, nil, c.opts...)
		}).with(moving),
		items("Runners.ListAll", "GET /runners/all", func(c *calling) iter.Seq2[*forge.Runner, error] {
			return runners(c).ListAll(c.ctx, nil, c.opts...)
		}).with(moving),
		value("Runners.Get", "GET /runners/:id", func(c *calling) (*forge.Runner, error) {
			return runners(c).Get(c.ctx, c.f.runner.ID, c.opts...)
		}),
		value("Runners.Update", "PUT /runners/:id", func(c *calling) (*forge.Runner, error) {
			return runners(c).Update(c.ctx, c.f.workRunner.ID, &forge.UpdateRunnerOptions{Description: new(c.s.ID)}, c.opts...)
		}),
		value("Runners.Pause", "PUT /runners/:runner_id", func(c *calling) (*forge.Runner, error) {
			return runners(c).Pause(c.ctx, c.f.workRunner.ID, &forge.PauseRunnerOptions{Paused: new(c.s.Variant%2 == 0)}, c.opts...)
		}),
		items("Runners.ListJobs", "GET /runners/:id/jobs", func(c *calling) iter.Seq2[*forge.RunnerJob, error] {
			return runners(c).ListJobs(c.ctx, c.f.runner.ID, &forge.ListRunnerJobsOptions{OrderBy: forge.RunnerJobOrderByID, Sort: forge.SortDesc}, c.opts...)
		}),
		items("Runners.ListManagers", "GET /runners/:id/managers", func(c *calling) iter.Seq2[*forge.RunnerManager, error] {
			return runners(c).ListManagers(c.ctx, c.f.runner.ID, c.opts...)
		}),
		items("Runners.ListForProject", "GET /projects/:id/runners", func(c *calling) iter.Seq2[*forge.Runner, error] {
			return runners(c).ListForProject(c.ctx, app, nil, c.opts...)
		}),
		items("PlaceholderReassignments.List", "GET "+placeholders, func(c *calling) iter.Seq2[*forge.PlaceholderReassignment, error] {
			return reassignments(c).List(c.ctx, acme, c.opts...)
		}).with(func(r *row) { r.moving, r.whole = true, true }),
		stream("PlaceholderReassignments.Download", "GET "+placeholders, func(c *calling) (*forge.Download, error) {
			return reassignments(c).Download(c.ctx, acme, c.opts...)
		}).with(moving),
		value("PlaceholderReassignments.Upload", "POST "+placeholders, func(c *calling) (*forge.Message, error) {
			return reassignments(c).Upload(c.ctx, acme, c.file, c.opts...)
		}).with(func(r *row) { r.upload = true }),
		items("Namespaces.List", "GET /namespaces", func(c *calling) iter.Seq2[*forge.Namespace, error] {
			return c.client.Namespaces.List(c.ctx, nil, c.opts...)
		}),
		value("Namespaces.Get", "GET /namespaces/:id", func(c *calling) (*forge.Namespace, error) {
			return c.client.Namespaces.Get(c.ctx, acme, c.opts...)
		}),
		value("Namespaces.Exists", "GET /namespaces/:namespace/exists", func(c *calling) (*forge.NamespaceAvailability, error) {
			return c.client.Namespaces.Exists(c.ctx, "acme", nil, c.opts...)
		}),
	}
}
