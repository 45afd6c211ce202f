// Drives @gitbeaker/rest: prints one line of JSON for each row that the test knows, and waits for a line before it goes on.
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import { Gitlab, GitbeakerRequestError } from "@gitbeaker/rest";

const W = JSON.parse(process.env.WORLD);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const uploaded = new Uint8Array(1000).map((_, i) => i % 256);

async function see(row, call) {
  let saw;
  try {
    saw = await plain(await call());
  } catch (error) {
    if (!(error instanceof GitbeakerRequestError)) throw error;
    saw = { status: error.cause.response.status, text: error.cause.description };
  }
  process.stdout.write(JSON.stringify({ row, saw: saw ?? null }) + "\n");
  await lines.next();
}

async function plain(value) {
  if (!(value instanceof Blob)) return value;
  const bytes = Buffer.from(await value.arrayBuffer());
  return { size: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}

const nothing = async (promise) => void (await promise);
// Text comes as text: its bytes are compared.
const bytes = async (promise) => {
  const value = await promise;
  return typeof value === "string" ? new Blob([value]) : value;
};

const api = new Gitlab({ host: W.URL, token: W.Token });
const hosted = new Gitlab({ host: W.HostedURL, token: W.HostedToken });
const outsider = new Gitlab({ host: W.URL, token: W.OutsiderToken });
const owner = new Gitlab({ host: W.URL, oauthToken: W.OwnerToken });
const job = new Gitlab({ host: W.URL, jobToken: W.JobToken });
const nobody = new Gitlab({ host: W.URL });
const stranger = new Gitlab({ host: W.URL, token: "wrong" });
const project = W.ProjectPath;
const groupId = W.GroupPath;

async function registry() {
  const images = api.ContainerRegistry;
  await see("registry.list_project_repositories", () =>
    images.allRepositories({ projectId: W.Shop, tags: true, tagsCount: true }));
  await see("registry.list_project_repositories: of a job", () =>
    job.ContainerRegistry.allRepositories({ projectId: W.Shop }));
  await see("registry.list_group_repositories", () => images.allRepositories({ groupId }));
  await see("registry.get_repository", () => images.showRepository(W.Web, { tags: true, tagsCount: true }));
  await see("registry.list_tags", () => images.allTags(W.Shop, W.Web, { perPage: 7 }));
  const keyset = { pagination: "keyset", orderBy: "name", perPage: 7 };
  await see("registry.list_tags: keyset", () => hosted.ContainerRegistry.allTags(W.Shop, 1, { ...keyset, sort: "asc" }));
  await see("registry.list_tags: keyset without sort", () => hosted.ContainerRegistry.allTags(W.Shop, 1, keyset));
  await see("registry.list_tags: keyset on self-managed", () => images.allTags(W.Shop, W.Web, keyset));
  await see("registry.get_tag", () => images.showTag(W.Shop, W.Web, "latest"));
  await see("registry.get_tag: missing", () => images.showTag(W.Shop, W.Web, "nope"));
  await see("registry.delete_tag", () => nothing(images.removeTag(W.Shop, W.Web, "topic-30")));
  await see("registry.delete_tag: protected", () => nothing(images.removeTag(W.Shop, W.Web, "v1.0.0")));
  await see("registry.delete_tags_bulk", () => nothing(images.removeTags(W.Shop, W.Web, "mr-.*", { keepN: 1 })));
  await see("registry.delete_tags_bulk: twice in an hour", () => nothing(images.removeTags(W.Shop, W.Web, "mr-.*")));
  await see("registry.delete_repository", () => nothing(images.removeRepository(W.Shop, W.Cron)));
  await see("registry.update_visibility", () => api.Projects.edit(W.Shop, { containerRegistryAccessLevel: "private" }));
}

async function resources() {
  const groups = api.ResourceGroups;
  const key = "production/eu_west";
  await see("resource_groups.list", () => groups.all(project));
  await see("resource_groups.get", () => groups.show(project, key));
  await see("resource_groups.list_upcoming_jobs", () => groups.allUpcomingJobs(project, key));
  await see("resource_groups.update", () => groups.edit(project, key, { processMode: "oldest_first" }));
  await see("resource_groups.update: a wrong mode", () => groups.edit(project, key, { processMode: "backwards" }));
}

async function repository() {
  const code = api.Repositories;
  await see("repositories.tree", () => code.allRepositoryTrees(project, { recursive: true, perPage: 4 }));
  await see("repositories.tree: keyset", () =>
    code.allRepositoryTrees(project, { recursive: true, perPage: 4, pagination: "keyset" }));
  await see("repositories.tree: a folder of a branch", () => code.allRepositoryTrees(project, { path: "docs", ref: W.Last }));
  await see("repositories.tree: missing folder", () => code.allRepositoryTrees(project, { path: "no/such" }));
  await see("repositories.get_blob", () => code.showBlob(project, W.Blob));
  await see("repositories.get_blob_raw", () => bytes(code.showBlobRaw(project, W.Blob)));
  await see("repositories.get_blob_raw: of nobody", () => bytes(nobody.Repositories.showBlobRaw(project, W.Blob)));
  await see("repositories.archive", () => code.showArchive(project));
  await see("repositories.archive: a folder as zip", () =>
    code.showArchive(project, { fileType: "zip", path: "docs", sha: W.Last }));
  await see("repositories.compare", () => code.compare(project, "main", "experiment/http3", { straight: true }));
  await see("repositories.contributors", () => code.allContributors(project, { orderBy: "commits", sort: "desc", perPage: 2 }));
  await see("repositories.merge_base", () => code.mergeBase(project, [W.Plain, W.Last]));
  await see("repositories.merge_base: with trailers", () => code.mergeBase(project, ["main", "experiment/http3"]));
  await see("repositories.generate_changelog", () => code.showChangelog(project, "1.3.0"));
  await see("repositories.add_changelog", () => nothing(code.editChangelog(project, "1.3.0", { branch: "main", file: "CHANGES.md" })));
}

async function files() {
  const files = api.SecureFiles;
  const name = "größe & mehr.p12";
  const file = { content: new Blob([uploaded]), filename: name };
  await see("secure_files.list", () => files.all(W.Project));
  await see("secure_files.get", () => files.show(W.Project, W.File));
  let created;
  await see("secure_files.create", async () => (created = await files.create(W.Project, name, file)));
  await see("secure_files.create: the same name", () => files.create(W.Project, name, file));
  await see("secure_files.download", () => bytes(files.download(W.Project, W.File)));
  await see("secure_files.delete", () => nothing(files.remove(W.Project, created.id)));
  await see("secure_files.get: missing", () => files.show(W.Project, created.id));
}

async function namespaces() {
  const spaces = api.Namespaces;
  await see("namespaces.list", () => spaces.all({ perPage: 9 }));
  await see("namespaces.list: only top level", () => spaces.all({ topLevelOnly: true, ownedOnly: true }));
  await see("namespaces.get", () => spaces.show("acme/platform"));
  await see("namespaces.exists", () => spaces.exists("acme"));
  await see("namespaces.exists: below a group", () => spaces.exists("platform", { parentId: W.Group }));
}

async function audit() {
  const keyset = { pagination: "keyset", orderBy: "id", perPage: 50 };
  for (const [name, of, event] of [
    ["instance", {}, W.Event], ["group", { groupId }, W.GroupEvent], ["project", { projectId: project }, W.ProjectEvent],
  ]) {
    await see(`audit_events.list_${name}`, () => api.AuditEvents.all(of));
    await see(`audit_events.list_${name}: keyset`, () => api.AuditEvents.all({ ...of, ...keyset, sort: "desc" }));
    await see(`audit_events.list_${name}: keyset without sort`, () => api.AuditEvents.all({ ...of, ...keyset }));
    await see(`audit_events.get_${name}`, () => api.AuditEvents.show(event, of));
  }
  await see("audit_events.list_instance: of users", () => api.AuditEvents.all({ entityType: "User" }));
  await see("audit_events.list_instance: since", () => api.AuditEvents.all({ createdAfter: "2025-06-01T00:00:00Z" }));
  await see("audit_events.list_instance: outsider", () => outsider.AuditEvents.all());
  await see("audit_events.get_instance: missing", () => api.AuditEvents.show(999999));
}

async function issues() {
  const list = (options) => api.Issues.all({ scope: "all", ...options });
  await see("issues.list", () => list({ perPage: 100 }));
  await see("issues.list: filtered", () => list({
    confidential: true, labels: "security", state: "opened", orderBy: "title", sort: "asc",
    not: { author_username: "maya.lindqvist" },
  }));
  await see("issues.list: by numbers", () => list({ iids: [1, 2] }));
  await see("issues.list: nobody's", () => list({ assigneeId: "None" }));
  await see("issues.list: two who exclude each other", () => list({ authorId: 1, authorUsername: "root" }));
  await see("issues.list: bad token", () => stranger.Issues.all());
  await see("issues.list_group", () => api.Issues.all({ groupId, withLabelsDetails: true }));
  await see("issues.list_group: page", () => api.Issues.all({ groupId, page: 2, perPage: 7 }));
  await see("issues.list_group: two pages", () => api.Issues.all({ groupId, perPage: 7, maxPages: 2 }));
  await see("issues.list_group: figures", async () => {
    const { paginationInfo: of } = await api.Issues.all({ groupId, page: 2, perPage: 7, showExpanded: true });
    return { page: of.current, prev: of.previous, next: of.next, per_page: of.perPage, total: of.total, pages: of.totalPages };
  });
  const issue = (name, ...rest) => api.Issues[name](project, W.Issue, ...rest);
  await see("issues.subscribe", () => issue("subscribe"));
  await see("issues.subscribe: again", () => issue("subscribe"));
  await see("issues.unsubscribe", () => issue("unsubscribe"));
  await see("issues.unsubscribe: again", () => issue("unsubscribe"));
  await see("issues.create_todo", () => issue("createTodo"));
  await see("issues.create_todo: again", () => issue("createTodo"));
  await see("issues.set_time_estimate", () => issue("addTimeEstimate", "3h30m"));
  await see("issues.set_time_estimate: no duration", () => issue("addTimeEstimate", "soon"));
  await see("issues.add_spent_time", () => issue("addSpentTime", "1h"));
  await see("issues.time_stats", () => issue("showTimeStats"));
  await see("issues.reset_time_estimate", () => issue("resetTimeEstimate"));
  await see("issues.reset_spent_time", () => issue("resetSpentTime"));
  await see("issues.related_merge_requests", () => issue("allRelatedMergeRequests"));
  await see("issues.promote_by_note", () => api.Issues.promote(project, W.Quiet, "Large\n/promote"));
  await see("issues.time_stats: private project", () => outsider.Issues.showTimeStats(W.Private, 1));
}

async function mergeRequests() {
  const list = (options) => api.MergeRequests.all(options);
  await see("merge_requests.list", () =>
    list({ scope: "all", state: "merged", orderBy: "updated_at", sort: "asc", perPage: 5 }));
  await see("merge_requests.list: drafts", () => list({ scope: "all", wip: "no", withLabelsDetails: true }));
  await see("merge_requests.list_project", () => list({ projectId: project }));
  await see("merge_requests.list_project: by numbers", () => list({ projectId: project, iids: [1, 2] }));
  await see("merge_requests.list_project: moved", () => list({ projectId: W.Moved, perPage: 5 }));
  const mr = (name, ...rest) => api.MergeRequests[name](project, W.Merge, ...rest);
  await see("merge_requests.changes", () => mr("showChanges", { accessRawDiffs: true }));
  await see("merge_requests.subscribe", () => mr("subscribe"));
  await see("merge_requests.subscribe: again", () => mr("subscribe"));
  await see("merge_requests.unsubscribe", () => mr("unsubscribe"));
  await see("merge_requests.unsubscribe: again", () => mr("unsubscribe"));
  await see("merge_requests.create_todo", () => mr("createTodo"));
  await see("merge_requests.create_todo: again", () => mr("createTodo"));
  await see("merge_requests.list_versions", () => mr("allDiffVersions"));
  await see("merge_requests.get_version", () => mr("showDiffVersion", W.Version));
  await see("merge_requests.subscribe: missing", () => api.MergeRequests.subscribe(project, 999));
}

async function users() {
  const keyset = { pagination: "keyset", orderBy: "id", perPage: 10 };
  await see("users.list", () => api.Users.all());
  await see("users.list: keyset", () => api.Users.all({ ...keyset, sort: "asc" }));
  await see("users.list: keyset without sort", () => api.Users.all(keyset));
  await see("users.list: filtered", () => api.Users.all({ active: true, withoutProjectBots: true, search: "crowd1" }));
  await see("users.list: a name", () => api.Users.all({ username: "Tomas.Berg" }));
  await see("users.get", () => api.Users.show(W.User));
  await see("users.get: missing", () => api.Users.show(999999));
  await see("users.current", () => api.Users.showCurrentUser());
  await see("users.current: for another", () => api.Users.showCurrentUser({ sudo: W.User }));
}

async function emails() {
  const emails = api.UserEmails;
  const userId = W.User;
  await see("emails.list_current", () => emails.all());
  await see("emails.list_user", () => emails.all({ userId }));
  await see("emails.get_current", () => emails.show(W.Address));
  await see("emails.add_current", () => emails.create("root+third@example.com"));
  await see("emails.add_current: taken", () => emails.create("root+third@example.com"));
  await see("emails.add_user", () => emails.create("third@example.com", { userId, skipConfirmation: true }));
  await see("emails.add_user: outsider", () => outsider.UserEmails.create("fourth@example.com", { userId }));
  await see("emails.delete_current", () => nothing(emails.remove(W.Address)));
  await see("emails.delete_user", () => nothing(emails.remove(W.Another, { userId })));
  await see("emails.get_current: missing", () => emails.show(999999));
}

async function runners() {
  const runners = api.Runners;
  await see("runners.list", () => owner.Runners.all({ owned: true }));
  await see("runners.list_all", () => runners.all({ perPage: 2 }));
  await see("runners.list_all: filtered", () => runners.all({ type: "project_type", paused: false, tagList: ["go", "linux"] }));
  await see("runners.list_all: outsider", () => outsider.Runners.all());
  await see("runners.get", () => runners.show(W.Local));
  await see("runners.update", () =>
    runners.edit(W.Local, { description: "renamed", maximumTimeout: 3600, tagList: ["go", "new"] }));
  await see("runners.pause", () => runners.edit(W.Local, { paused: true }));
  await see("runners.list_jobs", () => runners.allJobs(W.Local, { status: "running", orderBy: "id", sort: "asc" }));
  await see("runners.list_project", () => runners.all({ projectId: project }));
  await see("runners.get: missing", () => runners.show(999999));
}

async function settings() {
  await see("settings.get", () => api.ApplicationSettings.show());
  await see("settings.update", () => api.ApplicationSettings.edit({
    afterSignUpText: "Bye", signupEnabled: true, terminalMaxSessionTime: 77, sidekiqJobLimiterMode: "compress",
    domainAllowlist: ["a.example.com", "b.example.com"],
  }));
  await see("settings.update: a companion is missing", () => api.ApplicationSettings.edit({ akismetEnabled: true }));
  await see("settings.get: outsider", () => outsider.ApplicationSettings.show());
}

for (const part of [
  registry, resources, repository, files, namespaces, audit, issues, mergeRequests, users, emails, runners, settings,
]) await part();
process.exit(0);
