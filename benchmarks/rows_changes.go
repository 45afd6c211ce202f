package main

import (
	"context"
	"errors"
	"fmt"
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
	ID           int64     `json:"id"`
	IID          int64     `json:"iid"`
	ProjectID    int64     `json:"project_id"`
	Title        string    `json:"title"`
	Description  string    `json:"description"`
	State        string    `json:"state"`
	CreatedAt    time.Time `json:"created_at"`
	UpdatedAt    time.Time `json:"updated_at"`
	Author       handUser  `json:"author"`
	TargetBranch string    `json:"target_branch"`
	SourceBranch string    `json:"source_branch"`
	SHA          string    `json:"sha"`
	WebURL       string    `json:"web_url"`
	ChangesCount string    `json:"changes_count"`
	Changes      []struct {
		OldPath       string `json:"old_path"`
		NewPath       string `json:"new_path"`
		AMode         string `json:"a_mode"`
		BMode         string `json:"b_mode"`
		Diff          string `json:"diff"`
		NewFile       bool   `json:"new_file"`
		RenamedFile   bool   `json:"renamed_file"`
		DeletedFile   bool   `json:"deleted_file"`
		GeneratedFile *bool  `json:"generated_file"`
	} `json:"changes"`
	Overflow bool `json:"overflow"`
}

// changesDocument returns a document with 50 MB of diffs. Their lines have the escapes of program
// text: line ends, tabs, quotation marks and angle brackets.
func changesDocument(format string) []byte {
	lines := []string{
		`+\tfor name, value := range headers {\n`, `-\tif len(items) \u003c limit {\n`, `+\t\tlog.Info(\"sent\", \"name\", name, \"bytes\", len(value))\n`,
		` \treturn nil\n`, `@@ -12,7 +12,9 @@ func (c *Client) Send(ctx context.Context) error {\n`, `+// Send sends the request, and returns the response of the server.\n`,
	}
	decoded := strings.NewReplacer(`\t`, "\t", `\n`, "\n", `\"`, `"`, `\u003c`, "<")
	files := make([]string, changedFiles)
	for i := range files {
		var diff strings.Builder
		for n := 0; n < bytesOfDiff; {
			next := lines[(n+i)%len(lines)]
			size := len(decoded.Replace(next))
			if n+size > bytesOfDiff {
				next, size = strings.Repeat("x", bytesOfDiff-n), bytesOfDiff-n
			}
			diff.WriteString(next)
			n += size
		}
		files[i] = fmt.Sprintf(`{"old_path":"internal/generated/file_%[1]d.go","new_path":"internal/generated/file_%[1]d.go","a_mode":"100644","b_mode":"100644",`+
			`"diff":"%[2]s","new_file":false,"renamed_file":false,"deleted_file":false,"generated_file":false}`, i, &diff)
	}
	return fmt.Appendf(nil, format, changedFiles, strings.Join(files, ","))
}

// changesReaders are the contenders that read the changes.
func changesReaders(base string) []contender {
	const path = "/api/v4/projects/42/merge_requests/14/changes"
	hand := newHand(base, transport())
	add := func(changes *handChanges, d *digest) {
		for i := range changes.Changes {
			d.count += uint64(len(changes.Changes[i].Diff))
		}
	}
	contenders := []contender{
		{forgeName, newOurs(base).changes}, {handName, handRead(hand, http.MethodGet, path, decodeJSON, add)},
		{wholeName, handRead(hand, http.MethodGet, path, decodeWhole, add)}, {peerName, newPeer(base).changes},
	}
	return withV2(contenders, v2Name, func(decode decoder) work { return handRead(hand, http.MethodGet, path, decode, add) })
}

func (c *ours) changes(ctx context.Context, d *digest) error {
	changes, err := c.client.MergeRequests.GetChanges(ctx, forge.ID(42), 14, nil, forge.MaxBytes(100<<20)) //nolint:staticcheck // the only endpoint with all diffs in a document
	if err != nil {
		return err
	}
	for i := range changes.Changes {
		d.count += uint64(len(changes.Changes[i].Diff))
	}
	return nil
}

// changes reads a version of the merge request, which has the same diffs: in this client, changes
// have none.
func (c *peer) changes(ctx context.Context, d *digest) error {
	version, _, err := c.client.MergeRequests.GetSingleMergeRequestDiffVersion(42, 14, 110, nil, gitlab.WithContext(ctx))
	if err != nil {
		return err
	}
	for _, diff := range version.Diffs {
		d.count += uint64(len(diff.Diff))
	}
	return nil
}

// changes measures a document of 50 MB, each time in a new process.
func changes(ctx context.Context, b *bench) ([]line, error) {
	base := b.at("n1")
	length := float64(len(changesDocument(changesFormat)))
	var who []string
	for _, c := range changesReaders(base) {
		who = append(who, c.name)
		if err := c.do(ctx, &digest{}); err != nil { // the server builds its documents now
			return nil, err
		}
	}
	taken, err := runChildren(ctx, "changes", base, b.scaled(7, 3), who, func(_ string, used usage) error {
		if used.Count != bytesOfDiffs {
			return errors.New("the diffs are incomplete")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	memory := func(u usage) float64 { return u.Above / length }
	lines := []line{childLine(taken, "memory above start ÷ length of the document", memory, showRatio)}
	lines[0].limit = 2
	lines = append(lines, childAgainst(taken, wholeName, "the same, by hand with io.ReadAll", memory, showRatio)...)
	lines = append(lines, childAgainst(taken, v2Name, "the same, by hand with encoding/json/v2", memory, showRatio)...)
	for _, figure := range []struct {
		name string
		pick func(usage) float64
	}{
		{"CPU", func(u usage) float64 { return u.CPU }}, {"wall", func(u usage) float64 { return u.Wall }},
	} {
		l := childLine(taken, fmt.Sprintf("%s; the limit is 300 MB/s", figure.name), figure.pick, showTime)
		l.limit = length / 300e6 * 1e9
		lines = append(lines, l)
		lines = append(lines, childAgainst(taken, wholeName, figure.name+", by hand with io.ReadAll", figure.pick, showTime)...)
		lines = append(lines, childAgainst(taken, v2Name, figure.name+", by hand with encoding/json/v2", figure.pick, showTime)...)
	}
	return lines, nil
}
