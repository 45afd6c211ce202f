package forge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/internal/safetext"
)

// TreeEntryType is the type of an entry of a tree.
type TreeEntryType string

const (
	// TreeEntryTree is a directory.
	TreeEntryTree TreeEntryType = "tree"
	// TreeEntryBlob is a file.
	TreeEntryBlob TreeEntryType = "blob"
)

// TreeEntry is a file or directory of a repository (Document 1 §2.4).
type TreeEntry struct {
	// ID is the object id; GetBlob takes that of a file.
	ID string `json:"id"`
	// Name is the last part of Path.
	Name string `json:"name"`
	// Type is the type of the entry: TreeEntryTree for a directory, TreeEntryBlob for a file.
	Type TreeEntryType `json:"type"`
	// Path is the path from the root of the repository.
	Path string `json:"path"`
	// Mode is the file mode, six octal digits.
	Mode string `json:"mode"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}

// Blob is the content of a file (Document 1 §4.3).
type Blob struct {
	// Size is the length of the content in bytes.
	Size int64 `json:"size"`
	// Content is the content itself; its Base64 on the wire is undone.
	Content []byte `json:"content"`
	// Encoding is how Content was sent: base64. Not part of the contract.
	Encoding string `json:"encoding"`
	// SHA is the object id. Not part of the contract.
	SHA string `json:"sha"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}

// countsToQuota reports whether the server limits how often the blob may be read.
func (b *Blob) countsToQuota() bool { return b.Size > largeBlob }

// Comparison holds the commits and diffs between two commits (Document 1 §2.4).
type Comparison struct {
	// Commit is the last of Commits; nil when there is none.
	Commit *ComparisonCommit `json:"commit"`
	// Commits are the commits, the oldest first.
	Commits []ComparisonCommit `json:"commits"`
	// Diffs are the changed files.
	Diffs []Diff `json:"diffs"`
	// CompareTimeout reports whether the server ran out of time; Diffs is then incomplete.
	CompareTimeout bool `json:"compare_timeout"`
	// CompareSameRef reports whether both sides are the same commit.
	CompareSameRef bool `json:"compare_same_ref"`
	// WebURL is the address of the page.
	WebURL string `json:"web_url"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}

// ComparisonCommit is a commit of a comparison (Document 1 §2.4).
type ComparisonCommit struct {
	// ID is the full SHA.
	ID string `json:"id"`
	// ShortID is the abbreviated SHA.
	ShortID string `json:"short_id"`
	// Title is the first line of the message.
	Title string `json:"title"`
	// AuthorName is the author's name as recorded in Git.
	AuthorName string `json:"author_name"`
	// AuthorEmail is the author's address as recorded in Git.
	AuthorEmail string `json:"author_email"`
	// CreatedAt is when the commit was made.
	CreatedAt time.Time `json:"created_at"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}

// Diff is the change of one file (Document 1 §2.4, Document 2 §2.6: Diff and VersionDiff).
type Diff struct {
	// OldPath is the path before.
	OldPath string `json:"old_path"`
	// NewPath is the path after.
	NewPath string `json:"new_path"`
	// AMode is the file mode before; empty when the server sends none.
	AMode string `json:"a_mode"`
	// BMode is the file mode after.
	BMode string `json:"b_mode"`
	// Diff is the text of the change; empty when limits of the server are reached.
	Diff string `json:"diff"`
	// NewFile reports whether the file was added.
	NewFile bool `json:"new_file"`
	// RenamedFile reports whether the file was renamed.
	RenamedFile bool `json:"renamed_file"`
	// DeletedFile reports whether the file was deleted.
	DeletedFile bool `json:"deleted_file"`
	// GeneratedFile reports whether the file is made by a tool; merge requests only, nil elsewhere.
	// Since 16.9.
	GeneratedFile *bool `json:"generated_file"`
	// Collapsed reports whether Diff was omitted and can be requested. Since 18.4. Not part of the
	// contract.
	Collapsed bool `json:"collapsed"`
	// TooLarge reports whether Diff was omitted as too large. Since 18.4. Not part of the contract.
	TooLarge bool `json:"too_large"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}

// Incomplete reports whether the server is known to have truncated the diffs: see
// MergeRequestChanges.Incomplete. The request option RequireComplete makes truncated diffs an
// error.
func (c *Comparison) Incomplete() bool {
	missing, _ := c.truncation(false)
	return missing != ""
}

func (c *Comparison) truncation(bool) (missing, remedy string) {
	if c.CompareTimeout {
		return "the server ran out of time (compare_timeout)", "compare fewer commits"
	}
	return truncatedDiffs(c.Diffs), "compare fewer commits, or read the files themselves"
}

// Contributor is an author of commits in a repository (Document 1 §2.4).
type Contributor struct {
	// Name is the author's name as recorded in Git.
	Name string `json:"name"`
	// Email is the author's address as recorded in Git.
	Email string `json:"email"`
	// Commits counts the commits, without merge commits.
	Commits int `json:"commits"`
	// Additions counts the lines added.
	Additions int `json:"additions"`
	// Deletions counts the lines deleted.
	Deletions int `json:"deletions"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}

// Changelog is a section of a changelog (Document 1 §2.4).
type Changelog struct {
	// Notes is the section, in Markdown.
	Notes string `json:"notes"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}

// truncatedDiffs describes how many diffs were omitted; "" if none was. Servers before 18.4 mark
// none: a diff without text that changes nothing else counts as omitted, too.
func truncatedDiffs(diffs []Diff) string {
	n, first := 0, ""
	for _, d := range diffs {
		same := d.OldPath == d.NewPath && d.AMode == d.BMode && !d.NewFile && !d.DeletedFile && !d.RenamedFile
		if d.Collapsed || d.TooLarge || d.Diff == "" && same {
			n, first = n+1, cmp.Or(first, d.NewPath)
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d diffs are collapsed or too large, the first is that of %q", n, len(diffs), safetext.Clean(first, 256))
}

// cutCount describes how many diffs are missing from the server's count; "" if none are, or if it
// is not known. A count with a + is a lower bound: the server has more diffs.
func cutCount(diffs []Diff, name, count string) string {
	number, more := strings.CutSuffix(count, "+")
	counted, err := strconv.Atoi(number)
	switch {
	case diffs == nil || err != nil:
		return ""
	case more && len(diffs) <= counted:
		return fmt.Sprintf("%d diffs, and the server counted more (%s %d+)", len(diffs), name, counted)
	case len(diffs) < counted:
		return fmt.Sprintf("%d diffs of %d (%s)", len(diffs), counted, name)
	}
	return ""
}
