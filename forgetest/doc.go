// Package forgetest is an embedded, stateful test server for the platform REST API v4.
//
// It keeps users, groups, projects, issues and git repositories in memory, answers as the API contract says, and fails on
// demand. Start one per test:
//
//	srv := forgetest.New(t)
//	app := srv.AddProject("group/app")
//	app.AddIssues(250, nil)
//	srv.Fail("GET /groups/:id/issues", forgetest.Status(502).Times(1))
//
// Routes are named as the contract spells them: method, space, path template. All methods are safe for concurrent use; the
// callbacks that fill documents must not keep their argument.
package forgetest
