package forge

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// BenchmarkDecode measures the generated decoders alone, for profiles. The module benchmarks/
// compares them with encoding/json, whole calls included.
func BenchmarkDecode(b *testing.B) {
	page := largePage(b)
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = decodeIssues(page)
	}
}

func decodeIssues(data []byte) ([]*Issue, error) {
	var r jsonread.Reader
	r.Reset(data)
	return decodePage[Issue](&r)
}

func largeIssue(t testing.TB) []byte {
	data, err := os.ReadFile("testdata/issues/issue_large.json")
	require.NoError(t, err)
	return data
}

// largePage returns a page of 100 issues that differ like the issues of one project.
func largePage(t testing.TB) []byte {
	issue := string(bytes.TrimSpace(largeIssue(t)))
	people := []string{"ada.okafor Ada", "bob_k Bob", "chen.wei Chen", "dara-s Dara", "emil.r Emil", "fatima Fatima", "goran.p Goran", "hana_t Hana"}
	topics := []string{"Nightly export", "Import of archives", "Webhook delivery", "Runner registration", "Diff view", "Full-text search", "Two-factor sign-in"}
	items := make([]string, 100)
	for i := range items {
		author, assignee, topic := strings.Fields(people[i%8]), strings.Fields(people[(i*5+3)%8]), topics[i%7]
		items[i] = strings.NewReplacer(
			`"id":84021`, `"id":`+strconv.Itoa(84021+37*i), `"iid":318`, `"iid":`+strconv.Itoa(318+i),
			"/issues/318", "/issues/"+strconv.Itoa(318+i), "#318", "#"+strconv.Itoa(318+i),
			"mara.lindqvist", author[0], "Mara", author[1], "1187", strconv.Itoa(1180+i%8),
			"tomas_weber", assignee[0], "Tomás", assignee[1], "2043", strconv.Itoa(1180+(i*5+3)%8),
			"Nightly export", topic, "nightly export", strings.ToLower(topic),
			"pipelines", []string{"pipelines", "issues", "packages"}[i%3],
			"2026-03-04T16:40:09", fmt.Sprintf("2026-03-%02dT%02d:%02d:09", 1+i%28, i%24, i%60),
			"2026-02-11T08:14:52", fmt.Sprintf("2026-02-%02dT%02d:%02d:52", 1+i%27, i%23, i%59),
			"priority::2", "priority::"+strconv.Itoa(1+i%4),
		).Replace(issue)
	}
	return []byte("[" + strings.Join(items, ",") + "]")
}
