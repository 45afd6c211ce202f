package contracttest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// commentsOfDocument1 returns the texts that comments must contain, by the name that has the
// comment; " | " separates two parts of one comment.
func commentsOfDocument1() map[string]string {
	return map[string]string{
		"RegistryRepository.Name":                  "empty for the repository at the project's own path",
		"RegistryRepository.Size":                  "in bytes; data that they share counts once. nil unless it was requested, and for repositories created before 2021-11-05. Hosted offering only",
		"RegistryRepository.TagsCount":             "nil unless it was requested",
		"RegistryService.ListForGroup":             "no tags here since 15.0",
		"RegistryService.ListTags":                 "the hosted offering has since 16.10",
		"RepositoriesService.ListTree":             "servers before 17.7 return an empty list",
		"TreeOptions.Path":                         "the directory to list; empty for the root",
		"TreeOptions.Ref":                          "a branch or tag",
		"ArchiveOptions.Path":                      "empty for the whole repository",
		"ArchiveOptions.SHA":                       "a commit, tag or branch; empty for the tip of the default branch",
		"CompareOptions.From":                      "the commit or branch to compare from",
		"CompareOptions.To":                        "the commit or branch to compare to",
		"CompareOptions.FromProjectID":             "the project that From is in",
		"CompareOptions.Straight":                  "compares From itself with To (from..to), not their merge base",
		"CompareOptions.Unidiff":                   "in the unified format",
		"RepositoriesService.GenerateChangelog":    "commits nothing. A CI job token may call it since 17.7",
		"CreateChangelogOptions.Version":           "the semantic version of the section; a leading v is accepted since 17.0. Required",
		"GenerateChangelogOptions.Version":         "the semantic version of the section; a leading v is accepted since 17.0. Required",
		"CreateChangelogOptions.From":              "the commit after which the range starts",
		"GenerateChangelogOptions.From":            "the commit after which the range starts",
		"CreateChangelogOptions.To":                "the last commit of the range",
		"GenerateChangelogOptions.To":              "the last commit of the range",
		"CreateChangelogOptions.Trailer":           "selects commits, case-sensitive",
		"GenerateChangelogOptions.Trailer":         "selects commits, case-sensitive",
		"ApprovalSettingsService.GetForGroup":      "Owner of the group",
		"ApprovalSettingsService.UpdateForGroup":   "Owner of the group",
		"ApprovalSettingsService.GetForProject":    "Maintainer of the project",
		"ApprovalSettingsService.UpdateForProject": "Maintainer of the project",
		"Namespace.MembersCountWithDescendants":    "groups only",
		"Namespace.MaxSeatsUsed":                   "Get only, and only for group owners or on the hosted offering",
		"Namespace.SeatsInUse":                     "under the conditions of MaxSeatsUsed",
		"Namespace.MaxSeatsUsedChangedAt":          "under the conditions of MaxSeatsUsed",
		"ListNamespacesOptions.Search":             "whose name or path contains the text",
		"ListNamespacesOptions.OwnedOnly":          "that the user owns",
		"ListNamespacesOptions.TopLevelOnly":       "excludes subgroups",
		"ListNamespacesOptions.FullPathSearch":     "compares Search with full paths",
		"NamespacesService.List":                   "an administrator sees all of them",
		"NamespaceExistsOptions.ParentID":          "If it is 0, only top-level namespaces are checked",
		"AuditEventsService.List":                  "Administrators only; self-managed and dedicated",
		"AuditEventsService.Get":                   "Administrators only; self-managed and dedicated",
		"AuditEventsService.ListForGroup":          "Owners see the events of all users; Developers and Maintainers see their own",
		"AuditEventsService.GetForGroup":           "Owner of the group",
		"AuditEventsService.ListForProject":        "Maintainers see the events of all users; Developers see their own",
		"AuditEventsService.GetForProject":         "Maintainer of the project",

		// Shared rules.
		"SortAsc":               "the smallest, oldest or first by name first",
		"SortDesc":              "the largest, newest or last by name first",
		"Issue.ID":              "calls take IID",
		"Issue.IID":             "the id within the project",
		"MergeRequest.ID":       "calls take IID",
		"MergeRequest.IID":      "the id within the target project",
		"PerPage":               "The default is 100, the maximum that servers return",
		"Response.Total":        "Servers omit it above 10,000",
		"Response.TotalPages":   "known is false if the server omits it",
		"Sudo":                  "makes the call as the user with the id; administrators only",
		"UsersService.List":     "the only kind for 50,000 users and more",
		"WithJobToken":          "the container registry of the job's project",
		"WithToken":             "personal, project or group access token",
		"NewClientFromEnv":      "CI_API_V4_URL and CI_JOB_TOKEN",
		"RegistryNativeService": "authorized by registry tokens | API credentials are not used",

		// Registry.
		"RegistryStatus":                            "empty when it is not",
		"RegistryStatusDeleteScheduled":             "will be deleted",
		"RegistryStatusDeleteOngoing":               "is being deleted",
		"RegistryRepository.Location":               "the address of the registry, and Path",
		"RegistryRepository.Tags":                   "if they were requested",
		"RegistryTag.Path":                          "the repository's path, a colon, and Name",
		"RegistryTagDetail.Revision":                "64 hex digits",
		"RegistryTagDetail.Digest":                  "sha256:<hex>",
		"RegistryTagDetail.CreatedAt":               "when the manifest was created, not when it was pushed",
		"RegistryTagDetail.TotalSize":               "in bytes",
		"RegistryProject":                           "The project's other fields are in Extra",
		"RegistryEnabled":                           "to everyone who can access the project",
		"RegistryPrivate":                           "to members of the project with the Reporter role or higher",
		"RegistryDisabled":                          "turns the registry off",
		"SetRegistryVisibilityOptions.Visibility":   "empty does not change it",
		"ListRegistryRepositoriesOptions.Tags":      "requests the tags of each repository",
		"ListRegistryRepositoriesOptions.TagsCount": "requests the number of tags of each repository",
		"GetRegistryRepositoryOptions.Tags":         "requests the tags",
		"GetRegistryRepositoryOptions.TagsCount":    "requests the number of tags",
		"GetRegistryRepositoryOptions.Size":         "requests the size of all images together. Hosted offering only",
		"ListRegistryTagsOptions.Sort":              "the hosted offering has since 16.10",
		"RegistryService.Delete":                    "with all its tags. It returns before the work is done",
		"RegistryService.DeleteTag":                 "It returns ErrForbidden for a protected tag",
		"RegistryService.DeleteTags": "It returns before the work is done. A repository accepts one such call an hour | " +
			"The hosted offering removes a limited number of tags at a time",
		"DeleteTagsOptions":                    "Patterns are RE2. The tag latest and protected tags are never deleted",
		"DeleteTagsOptions.NameRegexDelete":    "the names to delete; .* matches all names. Required, unless NameRegex is given",
		"DeleteTagsOptions.NameRegexKeep":      "the names to keep, even if NameRegexDelete matches them",
		"DeleteTagsOptions.KeepN":              "the number of matching tags to keep: those with the newest manifests",
		"DeleteTagsOptions.OlderThan":          "the minimum age of the tags to delete: Hours(1), Days(7), Months(1)",
		"RegistryPull":                         "reads images",
		"RegistryPush":                         "writes images",
		"RegistryDelete":                       "deletes manifests and tags",
		"CatalogScope":                         "Administrators only",
		"RegistryNativeService.ListCatalog":    "lists all repositories of the registry. The credentials must be an administrator's",
		"RegistryNativeService.DeleteManifest": "The feature tag_delete of the registry must be enabled",
		"WithRegistryCredentials":              "of a registry user, or gitlab-ci-token and CI_JOB_TOKEN in a job",

		// Resource groups, repositories and secure files.
		"ProcessModeUnordered":                   "as soon as the resource is free, in any order",
		"ProcessModeOldestFirst":                 "the job of the oldest pipeline first.",
		"ProcessModeNewestFirst":                 "the job of the newest pipeline first.",
		"ProcessModeNewestReadyFirst":            "of the jobs that are ready, the job of the newest pipeline first.",
		"ContributorOrderByName":                 "sorts by name",
		"ContributorOrderByEmail":                "sorts by e-mail address",
		"ContributorOrderByCommits":              "sorts by the number of commits",
		"TarGz":                                  "compressed with gzip; the default",
		"ArchiveOptions.Format":                  "empty for the server's default, TarGz",
		"JobStatusWaitingForResource":            "waits for its resource group",
		"ResourceGroupsService.Update":           "If the server does not know the mode, Update returns ErrBadRequest and changes nothing",
		"TreeEntryTree":                          "is a directory",
		"TreeEntryBlob":                          "is a file",
		"Diff.AMode":                             "empty if the server does not send it",
		"Diff.Diff":                              "empty if it exceeds the server's limits",
		"Comparison.CompareTimeout":              "the comparison timed out on the server",
		"Comparison.CompareSameRef":              "both sides are the same commit",
		"Contributor.Commits":                    "without merge commits",
		"Contributor.Additions":                  "the lines added",
		"Contributor.Deletions":                  "the lines deleted",
		"Changelog.Notes":                        "in Markdown",
		"Blob.Size":                              "in bytes",
		"Blob.Content":                           "decoded from Base64",
		"TreeOptions.Recursive":                  "lists the contents of the directories below",
		"TreeOptions.PageToken":                  "It needs keyset pagination",
		"RepositoriesService.GetBlob":            "Blobs over 10 MB are limited to 5 calls a minute",
		"RepositoriesService.Archive":            "The hosted offering allows 5 calls a minute",
		"RepositoriesService.CreateChangelog":    "into the changelog file and commits it",
		"ArchiveOptions.IncludeLFSBlobs":         "whether LFS objects are in the archive",
		"ArchiveOptions.ExcludePaths":            "are the paths that the archive omits. Each is sent as a separate parameter",
		"ContributorsOptions.Ref":                "a branch or tag",
		"MergeBaseOptions.Refs":                  "at least two. Required",
		"CreateChangelogOptions.Branch":          "the branch to commit to",
		"CreateChangelogOptions.ConfigFile":      "the path of the changelog configuration",
		"GenerateChangelogOptions.ConfigFile":    "the path of the changelog configuration",
		"CreateChangelogOptions.ConfigFileRef":   "the ref that holds ConfigFile",
		"GenerateChangelogOptions.ConfigFileRef": "the ref that holds ConfigFile",
		"CreateChangelogOptions.Date":            "the release date",
		"GenerateChangelogOptions.Date":          "the release date",
		"CreateChangelogOptions.File":            "the file that the section is written to",
		"CreateChangelogOptions.Message":         "the commit message",
		"SecureFile.Name":                        "unique in the project",
		"SecureFile.Checksum":                    "in hex",
		"SecureFile.ExpiresAt":                   "zero when there is none",
		"SecureFile.Metadata":                    "nil otherwise",
		"CertificateName.UID":                    "of subjects only",
		"UploadSecureFileOptions.Name":           "unique in the project. Required",
		"UploadSecureFileOptions.File":           "5 MB at most; it is streamed. Required",
		"SecureFilesService.Upload":              "It returns ErrBadRequest if the project has a file with the name already",

		// Approval settings, namespaces and audit events.
		"ApprovalSettingsService":                                        "Premium and Ultimate",
		"ApprovalSetting.Value":                                          "whether the rule is on",
		"ApprovalSetting.Locked":                                         "the value cannot be changed in this group or project",
		"ApprovalSetting.InheritedFrom":                                  "the origin of a locked value | Empty if the value was set in this group or project",
		"ApprovalSourceGroup":                                            "a value that a group sets for its projects",
		"UpdateApprovalSettingsOptions":                                  "A rule whose field is nil does not change",
		"UpdateApprovalSettingsOptions.AllowAuthorApproval":              "lets authors approve their own merge requests",
		"UpdateApprovalSettingsOptions.AllowCommitterApproval":           "that contain their commits",
		"UpdateApprovalSettingsOptions.RetainApprovalsOnPush":            "keeps approvals when commits are added",
		"UpdateApprovalSettingsOptions.SelectiveCodeOwnerRemovals":       "RetainApprovalsOnPush must be off",
		"UpdateApprovalSettingsOptions.RequireReauthenticationToApprove": "asks approvers to authenticate again",
		"NamespaceKindUser":                                              "the personal namespace of a user",
		"NamespaceKindGroup":                                             "the namespace of a group or subgroup",
		"Namespace.ParentID":                                             "nil at the top level",
		"Namespace.AvatarURL":                                            "empty if there is none",
		"Namespace.Plan":                                                 "empty where the server does not send it",
		"Namespace.EndDate":                                              "when the subscription ends",
		"Namespace.TrialEndsOn":                                          "when the trial ends",
		"Namespace.RootRepositorySize":                                   "in bytes",
		"NamespacesService.Exists":                                       "whether a path is taken by a namespace, and returns similar paths that are free",
		"NamespaceAvailability.Exists":                                   "the path is taken",
		"NamespaceAvailability.Suggests":                                 "similar paths that are free",
		"AuditEventsService":                                             "Premium and Ultimate. Lists request keyset pagination; offset pagination is deprecated since 17.8 and ends in 19.0",
		"AuditEntityUser":                                                "is a user",
		"AuditEntityGroup":                                               "is a group",
		"AuditEntityProject":                                             "is a project",
		"AuditEntityInstance":                                            "is the instance itself",
		"AuditEvent.IPAddress":                                           "only in events of the instance",
		"AuditEvent.AuthorName":                                          "only in events of the instance",
		"AuditEvent.EntityPath":                                          "only in events of the instance",
		"AuditEvent.TargetDetails":                                       "only in events of the instance",
		"AuditEvent.TargetType":                                          "only in events of the instance",
		"AuditEvent.TargetID":                                            "only in events of the instance",
		"AuditEvent.EventType":                                           "only in events of the instance",
		"AuditEventDetails.IPAddress":                                    "empty if it is not known",
		"ListAuditEventsOptions.CreatedAfter":                            "at this time or later. It is sent in UTC, in seconds",
		"ListAuditEventsOptions.CreatedBefore":                           "at this time or earlier. It is sent in UTC, in seconds",
		"ListAuditEventsOptions.EntityType":                              "the events of one type of entity | List only",
		"ListAuditEventsOptions.EntityID":                                "It needs EntityType. List only",
	}
}

// Comments state the behaviour of the server that document 1 describes and that no request of a
// test can check. So no other test detects that such a sentence is wrong.
func TestCommentsOfDocument1(t *testing.T) {
	assertComments(t, commentsOfDocument1())
}

// assertComments checks that the comments contain all of the texts.
func assertComments(t *testing.T, want map[string]string) {
	t.Helper()
	comments := sourceComments(t)
	for name, parts := range want {
		for words := range strings.SplitSeq(parts, " | ") {
			assert.Contains(t, comments[name], words, name)
		}
	}
}

// The comment of a field or an option states the limit that only the server enforces.
func TestLimitsAreDocumented(t *testing.T) {
	comments := sourceComments(t)
	for field, words := range map[string]string{
		"CreateChangelogOptions.To":   "A range has at most 15000 commits.",
		"GenerateChangelogOptions.To": "A range has at most 15000 commits.",
	} {
		assert.Contains(t, comments[field], words, field)
	}
}
