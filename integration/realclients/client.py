# Drives python-gitlab: prints one line of JSON for each row that the test knows, and waits for a line before it goes on.
import hashlib
import io
import itertools
import json
import os
import sys

import gitlab

W = json.loads(os.environ["WORLD"])
UPLOADED = bytes(i % 256 for i in range(1000))
KEYSET = {"pagination": "keyset", "order_by": "id", "get_all": True}


def see(row, call):
    try:
        saw = plain(call())
    except gitlab.exceptions.GitlabError as error:
        assert isinstance(error, gitlab.exceptions.GitlabAuthenticationError) == (error.response_code == 401), error
        text = error.error_message
        saw = {"status": error.response_code, "text": text if isinstance(text, str) else str(text)}
    print(json.dumps({"row": row, "saw": saw}), flush=True)
    sys.stdin.readline()


def plain(value):
    if isinstance(value, gitlab.base.RESTObject):
        return value.asdict()
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return {"size": len(value), "sha256": hashlib.sha256(value).hexdigest()}
    return value


def nothing(value):
    return None


def after(obj, call, *args, **kwargs):
    """The object after a call that updates it in place."""
    call(*args, **kwargs)
    return obj


gl = gitlab.Gitlab(W["URL"], private_token=W["Token"])
hosted = gitlab.Gitlab(W["HostedURL"], private_token=W["HostedToken"])
outsider = gitlab.Gitlab(W["URL"], private_token=W["OutsiderToken"])
owner = gitlab.Gitlab(W["URL"], oauth_token=W["OwnerToken"])
job = gitlab.Gitlab(W["URL"], job_token=W["JobToken"])
nobody = gitlab.Gitlab(W["URL"])
stranger = gitlab.Gitlab(W["URL"], private_token="wrong")
project = gl.projects.get(W["ProjectPath"], lazy=True)
shop = gl.projects.get(W["Shop"], lazy=True)
group = gl.groups.get(W["GroupPath"], lazy=True)


def registry():
    see("registry.list_project_repositories", lambda: shop.repositories.list(tags=True, tags_count=True, get_all=True))
    see("registry.list_project_repositories: of a job",
        lambda: job.projects.get(W["Shop"], lazy=True).repositories.list(get_all=True))
    see("registry.list_group_repositories", lambda: group.registry_repositories.list(get_all=True))
    see("registry.get_repository", lambda: gl.registry_repositories.get(W["Web"], tags=True, tags_count=True))
    web = [r for r in shop.repositories.list(iterator=True) if r.id == W["Web"]][0]
    see("registry.list_tags", lambda: list(web.tags.list(iterator=True, per_page=7)))
    theirs = hosted.projects.get(W["Shop"], lazy=True).repositories.list(get_all=True)[0]
    keyset = {"pagination": "keyset", "order_by": "name", "per_page": 7, "get_all": True}
    see("registry.list_tags: keyset", lambda: theirs.tags.list(sort="asc", **keyset))
    see("registry.list_tags: keyset without sort", lambda: theirs.tags.list(**keyset))
    see("registry.list_tags: keyset on self-managed", lambda: web.tags.list(**keyset))
    see("registry.get_tag", lambda: web.tags.get("latest"))
    see("registry.get_tag: missing", lambda: web.tags.get("nope"))
    see("registry.delete_tag", lambda: nothing(web.tags.delete("topic-30")))
    see("registry.delete_tag: protected", lambda: nothing(web.tags.delete("v1.0.0")))
    see("registry.delete_tags_bulk", lambda: nothing(web.tags.delete_in_bulk("mr-.*", keep_n=1)))
    see("registry.delete_tags_bulk: twice in an hour", lambda: nothing(web.tags.delete_in_bulk("mr-.*")))
    see("registry.delete_repository", lambda: nothing(shop.repositories.delete(W["Cron"])))
    see("registry.update_visibility", lambda: gl.projects.update(W["Shop"], {"container_registry_access_level": "private"}))


def repository():
    see("repositories.tree", lambda: project.repository_tree(recursive=True, get_all=True, per_page=4))
    see("repositories.tree: keyset",
        lambda: project.repository_tree(recursive=True, pagination="keyset", get_all=True, per_page=4))
    see("repositories.tree: a folder of a branch", lambda: project.repository_tree("docs", W["Last"], get_all=True))
    see("repositories.tree: missing folder", lambda: project.repository_tree("no/such", get_all=True))
    see("repositories.get_blob", lambda: project.repository_blob(W["Blob"]))
    see("repositories.get_blob_raw", lambda: project.repository_raw_blob(W["Blob"]))
    see("repositories.get_blob_raw: of nobody",
        lambda: nobody.projects.get(W["ProjectPath"], lazy=True).repository_raw_blob(W["Blob"]))
    see("repositories.archive", lambda: project.repository_archive(format="tar.gz"))

    def streamed():
        chunks = []
        project.repository_archive(W["Last"], streamed=True, action=chunks.append, format="zip", path="docs")
        return b"".join(chunks)

    see("repositories.archive: a folder as zip", streamed)
    see("repositories.compare", lambda: project.repository_compare("main", "experiment/http3", straight=True))
    see("repositories.contributors",
        lambda: project.repository_contributors(order_by="commits", sort="desc", get_all=True, per_page=2))
    see("repositories.merge_base", lambda: project.repository_merge_base([W["Plain"], W["Last"]]))
    see("repositories.merge_base: with trailers", lambda: project.repository_merge_base(["main", "experiment/http3"]))


def files():
    see("secure_files.list", lambda: project.secure_files.list(get_all=True))
    see("secure_files.get", lambda: project.secure_files.get(W["File"]))
    created = []

    def create():
        created.append(project.secure_files.create({"name": "größe & mehr.p12", "file": io.BytesIO(UPLOADED)}))
        return created[0]

    see("secure_files.create", create)
    see("secure_files.create: the same name",
        lambda: project.secure_files.create({"name": "größe & mehr.p12", "file": io.BytesIO(b"x")}))
    see("secure_files.download", lambda: project.secure_files.get(W["File"], lazy=True).download())
    see("secure_files.delete", lambda: nothing(created[0].delete()))
    see("secure_files.get: missing", lambda: project.secure_files.get(created[0].id))


def namespaces():
    see("namespaces.list", lambda: gl.namespaces.list(get_all=True, per_page=9))
    see("namespaces.list: only top level", lambda: gl.namespaces.list(top_level_only=True, owned_only=True, get_all=True))
    see("namespaces.get", lambda: gl.namespaces.get("acme/platform"))
    see("namespaces.exists", lambda: gl.namespaces.exists("acme"))
    see("namespaces.exists: below a group", lambda: gl.namespaces.exists("platform", parent_id=W["Group"]))


def audit():
    for name, events, event in (("instance", gl.audit_events, W["Event"]), ("group", group.audit_events, W["GroupEvent"]),
                                ("project", project.audit_events, W["ProjectEvent"])):
        see(f"audit_events.list_{name}", lambda: events.list(get_all=True))
        see(f"audit_events.list_{name}: keyset", lambda: events.list(sort="desc", per_page=50, **KEYSET))
        see(f"audit_events.list_{name}: keyset without sort", lambda: events.list(per_page=50, **KEYSET))
        see(f"audit_events.get_{name}", lambda: events.get(event))
    see("audit_events.list_instance: of users", lambda: gl.audit_events.list(entity_type="User", get_all=True))
    see("audit_events.list_instance: since", lambda: gl.audit_events.list(created_after="2025-06-01T00:00:00Z", get_all=True))
    see("audit_events.list_instance: outsider", lambda: outsider.audit_events.list(get_all=True))
    see("audit_events.get_instance: missing", lambda: gl.audit_events.get(999999))


def issues():
    see("issues.list", lambda: list(gl.issues.list(scope="all", iterator=True, per_page=100)))
    see("issues.list: filtered", lambda: gl.issues.list(
        scope="all", confidential=True, labels=["security"], state="opened", get_all=True, order_by="title", sort="asc",
        **{"not": {"author_username": "maya.lindqvist"}}))
    see("issues.list: by numbers", lambda: gl.issues.list(scope="all", iids=[1, 2], get_all=True))
    see("issues.list: nobody's", lambda: gl.issues.list(scope="all", assignee_id="None", get_all=True))
    see("issues.list: two who exclude each other", lambda: gl.issues.list(author_id=1, author_username="root", get_all=True))
    see("issues.list: bad token", lambda: stranger.issues.list(get_all=True))
    see("issues.list_group", lambda: group.issues.list(with_labels_details=True, get_all=True))
    see("issues.list_group: page", lambda: group.issues.list(page=2, per_page=7))
    see("issues.list_group: two pages", lambda: list(itertools.islice(group.issues.list(iterator=True, per_page=7), 14)))
    page = group.issues.list(iterator=True, page=2, per_page=7)
    see("issues.list_group: figures", lambda: {
        "page": page.current_page, "prev": page.prev_page, "next": page.next_page, "per_page": page.per_page,
        "total": page.total, "pages": page.total_pages})
    issue = project.issues.get(W["Issue"], lazy=True)
    # An object of its own for each answer that fills it: time_stats reads from the object what it has there.
    see("issues.subscribe", lambda: after(fresh := project.issues.get(W["Issue"], lazy=True), fresh.subscribe))
    see("issues.subscribe: again", lambda: issue.subscribe())
    see("issues.unsubscribe", lambda: after(fresh := project.issues.get(W["Issue"], lazy=True), fresh.unsubscribe))
    see("issues.unsubscribe: again", lambda: issue.unsubscribe())
    see("issues.create_todo", lambda: issue.todo())
    see("issues.create_todo: again", lambda: issue.todo())
    see("issues.set_time_estimate", lambda: issue.time_estimate("3h30m"))
    see("issues.set_time_estimate: no duration", lambda: issue.time_estimate("soon"))
    see("issues.add_spent_time", lambda: issue.add_spent_time("1h"))
    see("issues.time_stats", lambda: issue.time_stats())
    see("issues.reset_time_estimate", lambda: issue.reset_time_estimate())
    see("issues.reset_spent_time", lambda: issue.reset_spent_time())
    see("issues.related_merge_requests", lambda: issue.related_merge_requests())
    see("issues.promote_by_note",
        lambda: project.issues.get(W["Quiet"], lazy=True).notes.create({"body": "Large\n/promote"}))
    private = outsider.projects.get(W["Private"], lazy=True)
    see("issues.time_stats: private project", lambda: private.issues.get(1, lazy=True).time_stats())


def merge_requests():
    see("merge_requests.list", lambda: gl.mergerequests.list(
        scope="all", state="merged", order_by="updated_at", sort="asc", get_all=True, per_page=5))
    see("merge_requests.list: drafts", lambda: gl.mergerequests.list(scope="all", wip="no", with_labels_details=True, get_all=True))
    see("merge_requests.list_project", lambda: project.mergerequests.list(get_all=True))
    see("merge_requests.list_project: by numbers", lambda: project.mergerequests.list(iids=[1, 2], get_all=True))
    see("merge_requests.list_project: moved",
        lambda: gl.projects.get(W["Moved"], lazy=True).mergerequests.list(get_all=True, per_page=5))
    mr = project.mergerequests.get(W["Merge"], lazy=True)
    see("merge_requests.changes", lambda: mr.changes(access_raw_diffs=True))
    see("merge_requests.subscribe", lambda: after(fresh := project.mergerequests.get(W["Merge"], lazy=True), fresh.subscribe))
    see("merge_requests.subscribe: again", lambda: mr.subscribe())
    see("merge_requests.unsubscribe", lambda: after(fresh := project.mergerequests.get(W["Merge"], lazy=True), fresh.unsubscribe))
    see("merge_requests.unsubscribe: again", lambda: mr.unsubscribe())
    see("merge_requests.create_todo", lambda: mr.todo())
    see("merge_requests.create_todo: again", lambda: mr.todo())
    see("merge_requests.list_versions", lambda: mr.diffs.list(get_all=True))
    see("merge_requests.get_version", lambda: mr.diffs.get(W["Version"]))
    see("merge_requests.subscribe: missing", lambda: project.mergerequests.get(999, lazy=True).subscribe())


def users():
    see("users.list", lambda: gl.users.list(get_all=True))
    see("users.list: keyset", lambda: gl.users.list(sort="asc", per_page=10, **KEYSET))
    see("users.list: keyset without sort", lambda: gl.users.list(per_page=10, **KEYSET))
    see("users.list: filtered", lambda: gl.users.list(active=True, without_project_bots=True, search="crowd1", get_all=True))
    see("users.list: a name", lambda: gl.users.list(username="Tomas.Berg"))
    see("users.get", lambda: gl.users.get(W["User"]))
    see("users.get: missing", lambda: gl.users.get(999999))
    see("users.current", lambda: after(gl, gl.auth).user)
    see("users.current: for another", lambda: gl.http_get("/user", sudo=W["User"]))


def emails():
    gl.auth()
    own, theirs = gl.user.emails, gl.users.get(W["User"], lazy=True).emails
    see("emails.list_current", lambda: own.list(get_all=True))
    see("emails.list_user", lambda: theirs.list(get_all=True))
    see("emails.get_current", lambda: own.get(W["Address"]))
    see("emails.add_current", lambda: own.create({"email": "root+third@example.com"}))
    see("emails.add_current: taken", lambda: own.create({"email": "root+third@example.com"}))
    see("emails.add_user", lambda: theirs.create({"email": "third@example.com", "skip_confirmation": True}))
    see("emails.add_user: outsider",
        lambda: outsider.users.get(W["User"], lazy=True).emails.create({"email": "fourth@example.com"}))
    see("emails.delete_current", lambda: nothing(own.delete(W["Address"])))
    see("emails.delete_user", lambda: nothing(theirs.delete(W["Another"])))
    see("emails.get_current: missing", lambda: own.get(999999))


def runners():
    see("runners.list", lambda: owner.runners.list(get_all=True))
    see("runners.list_all", lambda: gl.runners_all.list(get_all=True, per_page=2))
    see("runners.list_all: filtered",
        lambda: gl.runners_all.list(type="project_type", paused=False, tag_list=["go", "linux"], get_all=True))
    see("runners.list_all: outsider", lambda: outsider.runners.all(get_all=True))
    see("runners.get", lambda: gl.runners.get(W["Local"]))

    def save():
        runner = gl.runners.get(W["Local"])
        runner.description, runner.maximum_timeout, runner.tag_list = "renamed", 3600, ["go", "new"]
        runner.save()
        return runner

    see("runners.update", save)
    see("runners.pause", lambda: gl.runners.update(W["Local"], {"paused": True}))
    local = gl.runners.get(W["Local"], lazy=True)
    see("runners.list_jobs", lambda: local.jobs.list(status="running", order_by="id", sort="asc", get_all=True))
    see("runners.list_project", lambda: project.runners.list(get_all=True))
    see("runners.get: missing", lambda: gl.runners.get(999999))


def settings():
    see("settings.get", lambda: gl.settings.get())

    def save():
        current = gl.settings.get()
        current.after_sign_up_text, current.signup_enabled, current.terminal_max_session_time = "Bye", True, 77
        current.domain_allowlist = ["a.example.com", "b.example.com"]
        current.sidekiq_job_limiter_mode = "compress"
        current.save()
        return current

    see("settings.update", save)
    see("settings.update: a companion is missing", lambda: gl.settings.update(new_data={"akismet_enabled": True}))
    see("settings.get: outsider", lambda: outsider.settings.get())


for part in (registry, repository, files, namespaces, audit, issues, merge_requests, users, emails, runners, settings):
    part()
