package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/forge-sdk/forge-go"
)

const (
	changedFiles  = 500
	bytesOfDiff   = 100_000 // of each file, decoded
	bytesOfDiffs  = changedFiles * bytesOfDiff
	versionFormat = `{"id":110,"head_commit_sha":"8888888888888888888888888888888888888888","created_at":"2026-03-02T09:30:00.123Z","merge_request_id":84,` +
		`"state":"collected","real_size":"%d","diffs":[%s]}`
	changesFormat = `{"id":84,"iid":14,"project_id":42,"title":"Generated clients","description":"Closes #5","state":"opened",` +
		`"created_at":"2026-03-01T09:30:00.123Z","updated_at":"2026-03-04T09:30:00.123Z","author":{"id":1,"username":"ada","name":"Ada","state":"active",` +
		`"avatar_url":"https://forge.example.com/uploads/1.png","web_url":"https://forge.example.com/ada"},"target_branch":"main","source_branch":"generated",` +
		`"sha":"8888888888888888888888888888888888888888","web_url":"https://forge.example.com/group/app/-/merge_requests/14","changes_count":"%d","changes":[%s],"overflow":false}`
)

// handChanges has every field of the document.
type handChanges struct {
	ID           int64       `json:"id"`
	IID          int64       `json:"iid"`
	ProjectID    int64       `json:"project_id"`
	Title        string      `json:"title"`
	Description  string      `json:"description"`
	State        string      `json:"state"`
	CreatedAt    time.Time   `json:"created_at"`
	UpdatedAt    time.Time   `json:"updated_at"`
	Author       handUser    `json:"author"`
	TargetBranch string      `json:"target_branch"`
	SourceBranch string      `json:"source_branch"`
	SHA          string      `json:"sha"`
	WebURL       string      `json:"web_url"`
	ChangesCount string      `json:"changes_count"`
	Changes      []*handDiff `json:"changes"`
	Overflow     bool        `json:"overflow"`
}

type handDiff struct {
	OldPath       string `json:"old_path"`
	NewPath       string `json:"new_path"`
	AMode         string `json:"a_mode"`
	BMode         string `json:"b_mode"`
	Diff          string `json:"diff"`
	NewFile       bool   `json:"new_file"`
	RenamedFile   bool   `json:"renamed_file"`
	DeletedFile   bool   `json:"deleted_file"`
	GeneratedFile *bool  `json:"generated_file"`
}

// linesOfDiffs have the escapes of program text: line ends, tabs, quotation marks and angle
// brackets.
var (
	linesOfDiffs = []string{
		`+\tfor name, value := range headers {\n`, `-\tif len(items) \u003c limit {\n`, `+\t\tlog.Info(\"sent\", \"name\", name, \"bytes\", len(value))\n`,
		` \treturn nil\n`, `@@ -12,7 +12,9 @@ func (c *Client) Send(ctx context.Context) error {\n`, `+// Send sends the request, and returns the response of the server.\n`,
	}
	unescaped = strings.NewReplacer(`\t`, "\t", `\n`, "\n", `\"`, `"`, `\u003c`, "<")
)

// changedFile returns the JSON of a file of the changes.
func changedFile(i int) string {
	var diff strings.Builder
	for n := 0; n < bytesOfDiff; {
		next := linesOfDiffs[(n+i)%len(linesOfDiffs)]
		size := len(unescaped.Replace(next))
		if n+size > bytesOfDiff {
			next, size = strings.Repeat("x", bytesOfDiff-n), bytesOfDiff-n
		}
		diff.WriteString(next)
		n += size
	}
	return fmt.Sprintf(`{"old_path":"internal/generated/file_%[1]d.go","new_path":"internal/generated/file_%[1]d.go","a_mode":"100644","b_mode":"100644",`+
		`"diff":"%[2]s","new_file":%[3]t,"renamed_file":false,"deleted_file":false,"generated_file":false}`, i, &diff, i%2 == 0)
}

func someChanges() documents { return documents{"diff", changedFiles, changedFile} }

// changesDocument returns a document with 50 MB of diffs.
func changesDocument(format string) []byte {
	files := make([]string, changedFiles)
	for i := range files {
		files[i] = changedFile(i)
	}
	return fmt.Appendf(nil, format, changedFiles, strings.Join(files, ","))
}

// changesReaders are the contenders that read the changes.
func changesReaders(base string) []contender {
	whole := newHand(base, transport())
	whole.unmarshal = unmarshalWhole
	contenders := []contender{
		{forgeName, newOurs(base).changes}, {handName, newHand(base, transport()).changes}, {wholeName, whole.changes}, {peerName, newPeer(base).changes},
	}
	return withV2(contenders, base, transport, func(c *byHand) work { return c.changes })
}

// wholeName is the contender that reads the whole response before it decodes it.
const wholeName = "whole"

func unmarshalWhole(r io.Reader, out any) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, out)
}

func (c *ours) changes(ctx context.Context, d *digest) error {
	changes, err := c.client.MergeRequests.GetChanges(ctx, forge.ID(42), 14, nil, forge.MaxBytes(100<<20)) //nolint:staticcheck // the only endpoint with all diffs in a document
	if err != nil {
		return err
	}
	for i := range changes.Changes {
		d.item(&changes.Changes[i])
	}
	return nil
}

func (c *byHand) changes(ctx context.Context, d *digest) error {
	var changes handChanges
	err := c.decode(ctx, http.MethodGet, c.base+"/api/v4/projects/42/merge_requests/14/changes", http.NoBody, "", &changes)
	for _, diff := range changes.Changes {
		d.item(diff)
	}
	return err
}

// changes reads a version of the merge request, which has the same diffs: in this client, changes
// have none.
func (c *peer) changes(ctx context.Context, d *digest) error {
	version, _, err := c.client.MergeRequests.GetSingleMergeRequestDiffVersion(42, 14, 110, nil, gitlab.WithContext(ctx))
	if err != nil {
		return err
	}
	for _, diff := range version.Diffs {
		d.item(diff)
	}
	return nil
}

// changes measures a document of 50 MB, each time in a new process. Memory and time are those of
// the text of the diffs, which is a little shorter than the document.
func changes(ctx context.Context, b *bench) ([]line, error) {
	base := b.at("n1")
	readers := changesReaders(base)
	if err := (race{sent: someChanges()}).agree(ctx, readers); err != nil {
		return nil, err
	}
	var names []string
	for _, c := range readers {
		names = append(names, c.name)
	}
	taken, err := children{work: "changes", base: base, turns: b.scaled(7, 3), check: func(_ string, used usage) error {
		if used.Count != changedFiles {
			return errors.New("the changes are incomplete")
		}
		return nil
	}}.run(ctx, names...)
	if err != nil {
		return nil, err
	}
	length := float64(len(changesDocument(changesFormat)))
	var lines []line
	const megabytes = bytesOfDiffs / 1e6
	for _, figure := range []struct {
		name  string
		pick  usageOf
		show  unit
		limit float64
	}{
		{"memory above start ÷ text", func(u usage) float64 { return u.Above / bytesOfDiffs }, showRatio, 2},
		{"memory above start ÷ document", func(u usage) float64 { return u.Above / length }, showRatio, 0},
		{"CPU a MB; the limit is 300 MB/s", func(u usage) float64 { return u.CPU / megabytes }, showTime, 1e9 / 300},
		{"wall a MB; the limit is 300 MB/s", func(u usage) float64 { return u.Wall / megabytes }, showTime, 1e9 / 300},
	} {
		l := childLine(taken, figure.name, figure.pick, figure.show)
		l.limit = figure.limit
		lines = append(lines, l, childAgainst(taken, wholeName, figure.name+", by hand with io.ReadAll", figure.pick, figure.show))
	}
	return lines, nil
}
