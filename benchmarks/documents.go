package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// issueDocument is an issue as servers send it, 3.8 KB.
//
//go:embed testdata/issue.json
var issueDocument string

const (
	perPage    = 100
	distinct   = 100 // distinct pages; longer lists use them again
	archive    = 1 << 30
	uploadSize = 5 << 20
)

// tagDocument is the detail of a registry tag.
const tagDocument = `{"name":"release/1.0","path":"group/app:release/1.0","location":"registry.forge.example.com/group/app:release/1.0",` +
	`"revision":"d7a513a663c1a6dcdba9ed832ca53c02ac2af0c333322cd6ca92936d1d9917ac","short_revision":"d7a513a66",` +
	`"digest":"sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a","created_at":"2026-03-01T09:30:00.123+02:00","total_size":350224384}`

// eventDocument is the format of an audit event.
const eventDocument = `{"id":%d,"author_id":%d,"entity_id":60,"entity_type":"Group","details":{"add":"group","custom_message":"Group marked for deletion",` +
	`"author_name":"%[3]s","author_email":"%[3]s@example.com","author_class":"User","target_id":60,"target_type":"Group","target_details":"group",` +
	`"ip_address":"10.11.12.%[2]d","entity_path":"group/%[3]s"},"created_at":"2026-03-%02[4]dT09:30:00.123Z","ip_address":"10.11.12.%[2]d","author_name":"%[3]s",` +
	`"entity_path":"group/%[3]s","target_details":"group","target_type":"Group","target_id":60,"event_type":"group_deletion_marked","event_name":"group_deletion_marked"}`

// issue returns the JSON of one of the issues of a project. The issues share people, labels and
// topics, like those of real projects.
func issue(i int) string {
	people := []string{"ada.okafor Ada", "bob_k Bob", "chen.wei Chen", "dara-s Dara", "emil.r Emil", "fatima Fatima", "goran.p Goran", "hana_t Hana"}
	topics := []string{"Nightly export", "Import of archives", "Webhook delivery", "Runner registration", "Diff view", "Full-text search", "Two-factor sign-in"}
	author, assignee, topic := strings.Fields(people[i%8]), strings.Fields(people[(i*5+3)%8]), topics[i%7]
	return strings.NewReplacer(
		`"id":84021`, `"id":`+strconv.Itoa(84021+37*i), `"iid":318`, `"iid":`+strconv.Itoa(318+i),
		"/issues/318", "/issues/"+strconv.Itoa(318+i), "#318", "#"+strconv.Itoa(318+i),
		"mara.lindqvist", author[0], "Mara", author[1], "1187", strconv.Itoa(1180+i%8),
		"tomas_weber", assignee[0], "Tomás", assignee[1], "2043", strconv.Itoa(1180+(i*5+3)%8),
		"Nightly export", topic, "nightly export", strings.ToLower(topic),
		"2026-03-04T16:40:09", fmt.Sprintf("2026-03-%02dT%02d:%02d:09", 1+i%28, i%24, i%60),
		"2026-02-11T08:14:52", fmt.Sprintf("2026-02-%02dT%02d:%02d:52", 1+i%27, i%23, i%59),
		"priority::2", "priority::"+strconv.Itoa(1+i%4),
	).Replace(strings.TrimSpace(issueDocument))
}

// githubIssue returns the same issue as GitHub would send it: other names, about the same size.
func githubIssue(i int) string {
	var in handIssue
	if err := json.Unmarshal([]byte(issue(i)), &in); err != nil {
		panic(err) // the document is a constant
	}
	user := func(u handUser) map[string]any {
		home := "https://api.example.com/users/" + u.Username
		return map[string]any{
			"login": u.Username, "id": u.ID, "node_id": "MDQ6VXNlcjE=", "avatar_url": u.AvatarURL, "gravatar_id": "", "url": home, "html_url": u.WebURL,
			"followers_url": home + "/followers", "following_url": home + "/following{/other_user}", "gists_url": home + "/gists{/gist_id}",
			"repos_url": home + "/repos", "events_url": home + "/events{/privacy}", "type": "User", "site_admin": false,
		}
	}
	labels := make([]map[string]any, len(in.Labels))
	for l, name := range in.Labels {
		labels[l] = map[string]any{"id": 2000 + l, "node_id": "MDU6TGFiZWw=", "name": name, "color": "f29513", "default": false, "description": "", "url": in.WebURL + "/labels/" + name}
	}
	text, err := json.Marshal(map[string]any{
		"id": in.ID, "number": in.IID, "state": in.State, "title": in.Title, "body": in.Description, "user": user(in.Author), "assignee": user(*in.Assignee),
		"assignees": []any{user(in.Assignees[0])}, "labels": labels, "comments": in.UserNotesCount, "locked": false, "created_at": in.CreatedAt, "updated_at": in.UpdatedAt,
		"closed_at": in.ClosedAt, "html_url": in.WebURL, "url": in.Links["self"], "milestone": map[string]any{"id": in.Milestone.ID, "title": in.Milestone.Title, "state": "open"},
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// event returns the JSON of an audit event.
func event(i int) string {
	people := []string{"ada.okafor", "bob_k", "chen.wei", "dara-s", "emil.r", "fatima", "goran.p", "hana_t"}
	return fmt.Sprintf(eventDocument, 1_000_000-i, i%200, people[i%8], 1+i%28)
}

// pages returns a function that builds the pages of a list on its first call.
func pages(item func(int) string) func() [][]byte {
	return sync.OnceValue(func() [][]byte {
		all := make([][]byte, distinct)
		for p := range all {
			items := make([]string, perPage)
			for i := range items {
				items[i] = item(p*perPage + i)
			}
			all[p] = []byte("[" + strings.Join(items, ",") + "]")
		}
		return all
	})
}
