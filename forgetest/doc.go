// Package forgetest is an embedded, stateful test server for the platform REST API v4.
//
// It keeps users, groups, projects, issues and git repositories in memory, responds as specified in
// the API contract, and fails on demand. Start one per test:
//
//	srv := forgetest.New(t)
//	app := srv.AddProject("group/app")
//	app.AddIssues(250, nil)
//	srv.Fail("GET /groups/:id/issues", forgetest.Status(502).Times(1))
//
// Routes are named as in the contract: method, space, path template. [Server.Handle] adds others.
// All methods are safe for concurrent use. Callbacks that fill documents must not keep their
// argument.
//
// A request that matches no route is 404 or 405, with the header X-Forgetest-Route and three near
// routes. List parameters that are not documented are ignored, and a wrong value of a documented
// one is 400. Text is compared exactly. None and Any are keywords only where they are documented.
// The 200 of a GET has an ETag, and a request whose If-None-Match has it gets a 304.
//
// The server runs with GODEBUG=fips140=only. The object ids of its git data are SHA-1, as in git;
// they protect nothing, and are computed outside the enforcement.
//
// # Not modelled
//
// The documents describe these conditions, but the server does not model them. A test that needs
// one uses a fault or a fixture.
//
//   - Feature flags: features behind a flag are always enabled.
//   - The community edition: it accepts only one assignee_username, and lacks vulnerability_events
//     and the plan and trial of users.
//   - Projects without instance runners: every project can use the runners of the instance.
//   - Behaviour of older releases: what a newer release removed is also missing in older ones, for
//     example the tags of a group's registry before 15.0.
//   - LFS objects: an archive contains the files as committed, for every value of
//     include_lfs_blobs.
//   - The largest offset of offset pagination.
//   - The configuration of changelogs: only the titles of categories are read, without a time
//     limit.
//   - Notifications: integrations are stored and never called, and no mail is sent.
//   - Integrations of the instance: a group that inherits an integration that no group above has
//     keeps its own values.
//   - The end of an allowed integration: an integration that is set up stays when
//     allowed_integrations later excludes it.
//
// Application settings are stored, checked and shown, and allow_all_integrations and
// allowed_integrations are enforced. Other settings also affect documented endpoints, but have no
// effect here:
//
//   - Rate limits: throttle_*, *_limit and rate_limiting_response_text; use SetThrottle,
//     SetRateLimit or the fault TooManyRequests instead.
//   - Access: administrator mode, terms, second factors, addresses, personal tokens and external
//     authorization.
//   - The lifetime of registry tokens: container_registry_token_expire_delay.
//   - Hours in time statistics: time_tracking_limit_to_hours.
//   - Deletion of users and projects after a time.
//   - Limits of registry cleanup.
//   - Users: gravatar_enabled, and the defaults of new users; use AddUser and Edit instead.
//   - Spam checks of notes.
//   - Local addresses of integrations, and silent mode.
//   - Runners: instance runners for new projects, compute minutes, versions and token lifetimes.
//
// The rest affects features without a documented endpoint:
//
//   - Settings without an endpoint to act on: sign-up and sign-in, abuse reports, new projects and
//     groups, the web interface, uploads and snippets, Git, jobs and background jobs, packages,
//     imports and exports, usage reports, and services that the platform calls.
package forgetest
