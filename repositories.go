package forge

import (
	"context"
	"iter"
	"strings"
	"time"
)

// RepositoriesService reads the content of a project's Git repository: tree, blobs, archives,
// comparisons, contributors, merge bases and changelogs.
// GitLab docs: https://docs.gitlab.com/api/repositories/
type RepositoriesService struct{ service }

// ListTreeOptions selects which part of a repository's tree is listed.
type ListTreeOptions struct {
	// Path is the directory to list; empty for the root.
	Path string `url:"path,omitempty"`
	// Ref is a branch or tag; empty for the default branch.
	Ref string `url:"ref,omitempty"`
	// Recursive also lists the contents of the directories below.
	Recursive *bool `url:"recursive,omitempty"`
	// WithLastCommit requests the last commit of each entry, in TreeEntry.Extra. Not together with
	// Recursive. Not part of the contract.
	WithLastCommit *bool `url:"with_last_commit,omitempty"`
	// PageToken is a position that an earlier response returned. It needs keyset pagination, which is
	// the default. It is rarely needed: the list follows the pages by itself, and StartAt resumes a
	// list. Since 17.1.
	PageToken string `url:"page_token,omitempty"`
}

func (o *ListTreeOptions) check() error {
	return exclusive("with_last_commit", isTrue(o.WithLastCommit), "recursive", isTrue(o.Recursive))
}

// ListTree lists the files and directories of a repository. For a path that does not exist it
// returns ErrNotFound; servers before 17.7 return an empty list.
// GitLab docs: https://docs.gitlab.com/api/repositories/
func (s *RepositoriesService) ListTree(ctx context.Context, project Ref, o *ListTreeOptions, opts ...RequestOption) iter.Seq2[*TreeEntry, error] {
	r := s.newGet("/projects/:id/repository/tree", project).params(o)
	return list[TreeEntry](ctx, r, opts)
}

// GetBlob reads a blob with its content into memory. Blobs over 10 MB are limited to 5 calls a
// minute; DownloadBlob, which streams the content, is not.
// GitLab docs: https://docs.gitlab.com/api/repositories/
func (s *RepositoriesService) GetBlob(ctx context.Context, project Ref, sha string, opts ...RequestOption) (*Blob, error) {
	r := s.newGet("/projects/:id/repository/blobs/:sha", project, sha)
	return do[Blob](ctx, r, opts)
}

// DownloadBlob streams the raw content of a blob. Its calls are not limited, for blobs of any size.
// GitLab docs: https://docs.gitlab.com/api/repositories/
func (s *RepositoriesService) DownloadBlob(ctx context.Context, project Ref, sha string, opts ...RequestOption) (*Download, error) {
	r := s.newGet("/projects/:id/repository/blobs/:sha/raw", project, sha)
	return open(ctx, r, opts)
}

// ArchiveFormat is the file format of an archive.
type ArchiveFormat string

const (
	// ArchiveFormatBz2 is a tar file compressed with bzip2.
	ArchiveFormatBz2 ArchiveFormat = "bz2"
	// ArchiveFormatTar is a tar file without compression.
	ArchiveFormatTar ArchiveFormat = "tar"
	// ArchiveFormatTarBz2 is a tar file compressed with bzip2.
	ArchiveFormatTarBz2 ArchiveFormat = "tar.bz2"
	// ArchiveFormatTarGz is a tar file compressed with gzip; the default.
	ArchiveFormatTarGz ArchiveFormat = "tar.gz"
	// ArchiveFormatTB2 is a tar file compressed with bzip2.
	ArchiveFormatTB2 ArchiveFormat = "tb2"
	// ArchiveFormatTBZ is a tar file compressed with bzip2.
	ArchiveFormatTBZ ArchiveFormat = "tbz"
	// ArchiveFormatTBZ2 is a tar file compressed with bzip2.
	ArchiveFormatTBZ2 ArchiveFormat = "tbz2"
	// ArchiveFormatZip is a zip file.
	ArchiveFormatZip ArchiveFormat = "zip"
)

// RefType is the kind of a ref.
type RefType string

const (
	// RefTypeHeads is a branch.
	RefTypeHeads RefType = "heads"
	// RefTypeTags is a tag.
	RefTypeTags RefType = "tags"
)

// ArchiveOptions sets the content and the format of an archive.
type ArchiveOptions struct {
	// Format is the file format: one of the ArchiveFormat constants, such as ArchiveFormatZip; empty
	// for the server's default, ArchiveFormatTarGz.
	Format ArchiveFormat `url:"-"`
	// Path is the directory to archive; empty for the whole repository.
	Path string `url:"path,omitempty"`
	// SHA is a commit, tag or branch; empty for the tip of the default branch.
	SHA string `url:"sha,omitempty"`
	// RefType distinguishes a branch (RefTypeHeads) from a tag (RefTypeTags) of the same name. Not
	// part of the contract.
	RefType RefType `url:"ref_type,omitempty"`
	// IncludeLFSBlobs sets whether LFS objects are in the archive; nil for the server's default, true.
	IncludeLFSBlobs *bool `url:"include_lfs_blobs,omitempty"`
	// ExcludePaths are the paths that the archive omits. Each is sent as a separate parameter, so that
	// a path may contain a comma. For a server that expects one joined parameter, use
	// Query("exclude_paths", "docs,vendor").
	ExcludePaths []string `url:"exclude_paths,brackets,omitempty"`
}

func (o *ArchiveOptions) check() error {
	if strings.HasPrefix(string(o.Format), ".") {
		return &ValidationError{Option: "ArchiveOptions.Format", Param: "format", Reason: "omit the dot"}
	}
	return nil
}

// format returns the path argument; nil options omit it.
func (o *ArchiveOptions) format() string {
	if o == nil {
		return ""
	}
	return string(o.Format)
}

// Archive streams an archive of a repository, in constant memory. The hosted offering allows 5
// calls a minute. GitLab docs: https://docs.gitlab.com/api/repositories/
func (s *RepositoriesService) Archive(ctx context.Context, project Ref, o *ArchiveOptions, opts ...RequestOption) (*Download, error) {
	r := s.newGet("/projects/:id/repository/archive[.:format]", project, o.format()).params(o)
	return open(ctx, r, opts)
}

// CompareOptions sets the two sides of a comparison.
type CompareOptions struct {
	// From is the commit or branch to compare from. Required.
	From string `url:"from,omitempty"`
	// To is the commit or branch to compare to. Required.
	To string `url:"to,omitempty"`
	// FromProjectID is the id of the project that From is in; 0 for the same project.
	FromProjectID int64 `url:"from_project_id,omitempty"`
	// Straight compares From itself with To (from..to), not their merge base (from...to).
	Straight *bool `url:"straight,omitempty"`
	// Unidiff requests diffs in the unified format. Since 16.5.
	Unidiff *bool `url:"unidiff,omitempty"`
}

func (o *CompareOptions) check() error {
	return firstError(required("from", o.From != ""), required("to", o.To != ""))
}

// Compare reads the commits and diffs between two commits, branches or tags.
// GitLab docs: https://docs.gitlab.com/api/repositories/
func (s *RepositoriesService) Compare(ctx context.Context, project Ref, o *CompareOptions, opts ...RequestOption) (*Comparison, error) {
	r := s.newGet("/projects/:id/repository/compare", project).params(o)
	return do[Comparison](ctx, r, opts)
}

// ContributorOrderBy is the sort key of a list of contributors.
type ContributorOrderBy string

const (
	// ContributorOrderByName sorts by name.
	ContributorOrderByName ContributorOrderBy = "name"
	// ContributorOrderByEmail sorts by e-mail address.
	ContributorOrderByEmail ContributorOrderBy = "email"
	// ContributorOrderByCommits sorts by the number of commits.
	ContributorOrderByCommits ContributorOrderBy = "commits"
)

// ListContributorsOptions filters and sorts a list of contributors.
type ListContributorsOptions struct {
	// Ref is a branch or tag; empty for the default branch. Since 17.4.
	Ref string `url:"ref,omitempty"`
	// OrderBy is the sort key: ContributorOrderByName, ContributorOrderByEmail or
	// ContributorOrderByCommits; empty for the commit date.
	OrderBy ContributorOrderBy `url:"order_by,omitempty"`
	// Sort is the direction: SortAsc or SortDesc; empty for SortAsc.
	Sort Sort `url:"sort,omitempty"`
}

// ListContributors lists the authors of the commits in a repository.
// GitLab docs: https://docs.gitlab.com/api/repositories/
func (s *RepositoriesService) ListContributors(ctx context.Context, project Ref, o *ListContributorsOptions, opts ...RequestOption) iter.Seq2[*Contributor, error] {
	r := s.newGet("/projects/:id/repository/contributors", project).params(o)
	return list[Contributor](ctx, r, opts)
}

// GetMergeBaseOptions sets the commits whose common ancestor is read.
type GetMergeBaseOptions struct {
	// Refs are commits, branches or tags, at least two. Required.
	Refs []string `url:"refs,brackets,omitempty"`
}

func (o *GetMergeBaseOptions) check() error {
	if len(o.Refs) < 2 {
		return &ValidationError{Param: "refs[]", Reason: "a merge base needs two refs or more"}
	}
	return nil
}

// GetMergeBase reads the common ancestor of two or more commits, branches or tags.
// GitLab docs: https://docs.gitlab.com/api/repositories/
func (s *RepositoriesService) GetMergeBase(ctx context.Context, project Ref, o *GetMergeBaseOptions, opts ...RequestOption) (*Commit, error) {
	r := s.newGet("/projects/:id/repository/merge_base", project).params(o)
	return do[Commit](ctx, r, opts)
}

// CreateChangelogOptions sets which commits a changelog section covers, and where it is committed.
type CreateChangelogOptions struct {
	// Version is the semantic version of the section; a leading v is accepted since 17.0. Required.
	Version string `json:"version,omitempty"`
	// Branch is the branch to commit to; empty for the default branch.
	Branch string `json:"branch,omitempty"`
	// ConfigFile is the path of the changelog configuration; empty for changelog_config.yml in the
	// project's hidden configuration directory.
	ConfigFile string `json:"config_file,omitempty"`
	// ConfigFileRef is the ref that holds ConfigFile; empty for the default branch. Since 18.2.
	ConfigFileRef string `json:"config_file_ref,omitempty"`
	// Date is the release date, sent in UTC, in milliseconds; zero for now.
	Date time.Time `json:"date,omitzero"`
	// File is the file that the section is written to; empty for CHANGELOG.md.
	File string `json:"file,omitempty"`
	// From is the commit after which the range starts; empty for the latest stable version tag before
	// Version. Without such a tag (vX.Y.Z or X.Y.Z) the call fails.
	From string `json:"from,omitempty"`
	// To is the last commit of the range; empty for the tip of Branch. A range has at most 15000
	// commits.
	To string `json:"to,omitempty"`
	// Message is the commit message; empty for "Add changelog for version X".
	Message string `json:"message,omitempty"`
	// Trailer is the Git trailer that selects commits, case-sensitive; empty for Changelog.
	Trailer string `json:"trailer,omitempty"`
}

func (o *CreateChangelogOptions) check() error { return required("version", o.Version != "") }

// CreateChangelog writes a section for the version into the changelog file and commits it;
// GenerateChangelog only returns the section. It returns ErrUnprocessable if the project has no tag
// vX.Y.Z or X.Y.Z below Version and From is empty. A call that failed with Error.MaybeApplied may
// have made the commit. GitLab docs: https://docs.gitlab.com/api/repositories/
func (s *RepositoriesService) CreateChangelog(ctx context.Context, project Ref, o *CreateChangelogOptions, opts ...RequestOption) error {
	r := s.newPost("/projects/:id/repository/changelog", project).json(o)
	return exec(ctx, r, opts)
}

// GenerateChangelogOptions sets which commits a changelog section covers.
type GenerateChangelogOptions struct {
	// Version is the semantic version of the section; a leading v is accepted since 17.0. Required.
	Version string `url:"version,omitempty"`
	// ConfigFile is the path of the changelog configuration; empty for changelog_config.yml in the
	// project's hidden configuration directory.
	ConfigFile string `url:"config_file,omitempty"`
	// ConfigFileRef is the ref that holds ConfigFile; empty for the default branch. Since 18.2.
	ConfigFileRef string `url:"config_file_ref,omitempty"`
	// Date is the release date, sent in UTC, in milliseconds; zero for now.
	Date time.Time `url:"date,omitempty"`
	// From is the commit after which the range starts; empty for the latest stable version tag before
	// Version. Without such a tag (vX.Y.Z or X.Y.Z) the call fails.
	From string `url:"from,omitempty"`
	// To is the last commit of the range; empty for the tip of the default branch. A range has at most
	// 15000 commits.
	To string `url:"to,omitempty"`
	// Trailer is the Git trailer that selects commits, case-sensitive; empty for Changelog.
	Trailer string `url:"trailer,omitempty"`
}

func (o *GenerateChangelogOptions) check() error { return required("version", o.Version != "") }

// GenerateChangelog returns a changelog section for the version, and commits nothing. A CI job
// token may call it since 17.7. GitLab docs: https://docs.gitlab.com/api/repositories/
func (s *RepositoriesService) GenerateChangelog(ctx context.Context, project Ref, o *GenerateChangelogOptions, opts ...RequestOption) (*Changelog, error) {
	r := s.newGet("/projects/:id/repository/changelog", project).params(o)
	return do[Changelog](ctx, r, opts)
}
