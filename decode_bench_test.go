package forge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	osexec "os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// BenchmarkDecodeRatio compares the generated decoders with encoding/json, which decodes the same
// text from memory into the same structs. Both alternate in one run, so that other load of the
// machine affects both. The medians are compared.
func BenchmarkDecodeRatio(b *testing.B) {
	issue, page := largeIssue(b), largePage(b)
	b.Run("issue", func(b *testing.B) {
		ratio(b, issue, func() { _ = decodeInto(issue, new(Issue)) }, func() { _ = json.Unmarshal(issue, new(Issue)) })
	})
	b.Run("page", func(b *testing.B) {
		ratio(b, page, func() { _, _ = decodeIssues(page) }, func() { _ = json.Unmarshal(page, new([]*Issue)) })
	})
	b.Run("wide", func(b *testing.B) { // the same page with texts in Cyrillic
		wide := cyrillic(page)
		ratio(b, wide, func() { _, _ = decodeIssues(wide) }, func() { _ = json.Unmarshal(wide, new([]*Issue)) })
	})
}

// BenchmarkDecode measures the generated decoders alone, for profiles.
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

// ratio runs both in batches of about the same duration. On a busy machine a long measurement is
// interrupted more often than a short one, so medians of unequal durations would favor the faster
// decoder.
func ratio(b *testing.B, data []byte, ours, std func()) {
	took := func(f func(), times int) time.Duration {
		start := time.Now()
		for range times {
			f()
		}
		return time.Since(start) / time.Duration(times)
	}
	batch := func(f func()) int {
		fastest := took(f, 1)
		for range 20 {
			fastest = min(fastest, took(f, 1))
		}
		return max(1, int(10*time.Millisecond/fastest))
	}
	oursBatch, stdBatch := batch(ours), batch(std)
	var oursTimes, stdTimes []time.Duration
	for b.Loop() {
		oursTimes = append(oursTimes, took(ours, oursBatch))
		stdTimes = append(stdTimes, took(std, stdBatch))
	}
	us, them := median(oursTimes), median(stdTimes)
	b.ReportMetric(float64(len(data)), "bytes")
	b.ReportMetric(us.Seconds()*1e6, "us")
	b.ReportMetric(them.Seconds()*1e6, "us/std")
	b.ReportMetric(us.Seconds()/them.Seconds(), "time/std")
	b.ReportMetric(testing.AllocsPerRun(20, ours)/testing.AllocsPerRun(20, std), "allocs/std")
	b.ReportMetric(testing.AllocsPerRun(20, ours), "allocs")
	b.ReportMetric(0, "ns/op") // the sum of both has no meaning
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// BenchmarkFirstDecode measures the first decode of a process, in children of this test binary.
func BenchmarkFirstDecode(b *testing.B) {
	for _, how := range []string{"generated", "std"} {
		b.Run(how, func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				child := osexec.Command(os.Args[0], "-test.run=^TestFirstDecode$")
				child.Env = append(os.Environ(), "FORGE_FIRST_DECODE="+how)
				out, err := child.Output()
				require.NoError(b, err)
				_, text, _ := strings.Cut(string(out), "first: ")
				ns, err := strconv.Atoi(strings.Fields(text)[0])
				require.NoError(b, err)
				times = append(times, time.Duration(ns))
			}
			b.ReportMetric(median(times).Seconds()*1e6, "us/first")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// TestFirstDecode is the child of BenchmarkFirstDecode.
func TestFirstDecode(t *testing.T) {
	how := os.Getenv("FORGE_FIRST_DECODE")
	if how == "" {
		t.Skip("only as a child of BenchmarkFirstDecode")
	}
	data := largeIssue(t)
	var issue Issue
	var err error
	start := time.Now()
	if how == "std" {
		err = json.Unmarshal(data, &issue)
	} else {
		err = decodeInto(data, &issue)
	}
	fmt.Printf("first: %d\n", time.Since(start))
	require.NoError(t, err)
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

// cyrillic replaces the words of titles and descriptions.
func cyrillic(page []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(page, []byte("large projects"), []byte("больших проектах")),
		[]byte("Since the upgrade to 4.12 the"), []byte("После обновления до 4.12 выгрузка данных обрывается по времени, если в проекте больше тысячи записей; "))
}
