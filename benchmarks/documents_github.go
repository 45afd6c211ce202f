package main

import (
	"encoding/json"
	"time"
)

// githubIssue returns the same issue as GitHub would send it: other names, about the same size.
func githubIssue(i int) string {
	var in handIssue
	if err := json.Unmarshal([]byte(issue(i)), &in); err != nil {
		panic(err) // the document is built here
	}
	labels := make([]object, len(in.Labels))
	for l, name := range in.Labels {
		labels[l] = object{
			{"id", 2000 + l}, {"node_id", "MDU6TGFiZWw="}, {"url", in.WebURL + "/labels/" + name}, {"name", name}, {"color", "f29513"},
			{"default", false}, {"description", ""},
		}
	}
	assignees, assignee := make([]object, len(in.Assignees)), any(nil)
	for a, user := range in.Assignees {
		assignees[a] = githubUser(user)
	}
	if in.Assignee != nil {
		assignee = githubUser(*in.Assignee)
	}
	milestone, closed := any(nil), any(nil)
	if in.Milestone != nil {
		milestone = object{{"id", in.Milestone.ID}, {"title", in.Milestone.Title}, {"state", "open"}}
	}
	state := "open"
	if !in.ClosedAt.IsZero() {
		state, closed = "closed", in.ClosedAt.Format(time.RFC3339)
	}
	return object{
		{"id", in.ID}, {"number", in.IID}, {"state", state}, {"title", in.Title}, {"body", in.Description}, {"user", githubUser(in.Author)}, {"labels", labels},
		{"assignee", assignee}, {"assignees", assignees}, {"milestone", milestone}, {"comments", in.UserNotesCount}, {"locked", false},
		{"created_at", in.CreatedAt.Format(time.RFC3339)}, {"updated_at", in.UpdatedAt.Format(time.RFC3339)}, {"closed_at", closed},
		{"html_url", in.WebURL}, {"url", in.Links.Self},
	}.text()
}

func githubUser(u handUser) object {
	address := "https://api.example.com/users/" + u.Username
	return object{
		{"login", u.Username}, {"id", u.ID}, {"node_id", "MDQ6VXNlcjE="}, {"avatar_url", u.AvatarURL}, {"gravatar_id", ""}, {"url", address}, {"html_url", u.WebURL},
		{"followers_url", address + "/followers"}, {"following_url", address + "/following{/other_user}"}, {"gists_url", address + "/gists{/gist_id}"},
		{"repos_url", address + "/repos"}, {"events_url", address + "/events{/privacy}"}, {"type", "User"}, {"site_admin", false},
	}
}
