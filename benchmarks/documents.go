package main

import (
	_ "embed"
	"fmt"
	"strings"
)

const (
	perPage = 100
	archive = 1 << 30
)

// issueTexts are 20 issues without the beginning of their documents, one in a line, 3.7 kB on
// average. They have texts in several scripts, escapes, and null fields, as those of international
// teams.
//
//go:embed testdata/issues.ndjson
var issueTexts string

var issues = strings.Split(strings.TrimSpace(issueTexts), "\n")

// issue returns the JSON of an issue. Issues of a list differ in their numbers.
func issue(i int) string {
	return fmt.Sprintf(`{"id":%d,"iid":%d,%s`, 84021+37*i, 318+i, issues[i%len(issues)])
}

// tagDocument is the detail of a registry tag.
const tagDocument = `{"name":"release/1.0","path":"group/app:release/1.0","location":"registry.forge.example.com/group/app:release/1.0",` +
	`"revision":"d7a513a663c1a6dcdba9ed832ca53c02ac2af0c333322cd6ca92936d1d9917ac","short_revision":"d7a513a66",` +
	`"digest":"sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a","created_at":"2026-03-01T09:30:00.123+02:00","total_size":350224384}`

// documents are what the server sends in a row: n documents of a kind. The contenders' values are
// compared with them.
type documents struct {
	kind string
	n    int
	at   func(int) string
}

func someIssues(n int) documents { return documents{"issue", n, issue} }

// issuePage returns a page of n issues as a list, with an index from 0.
func issuePage(index, n int) []byte {
	items := make([]string, n)
	for i := range items {
		items[i] = issue(index*n + i)
	}
	return []byte("[" + strings.Join(items, ",") + "]")
}
