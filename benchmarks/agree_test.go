package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/forge-sdk/forge-go"
)

// raceOf returns a race over a short list, and its address.
func raceOf(t *testing.T, docs func(int) documents) (race, string) {
	t.Helper()
	srv := httptest.NewServer(newServer())
	t.Cleanup(srv.Close)
	return race{times: 1, sent: docs(500)}, srv.URL + "/n500"
}

func issueContenders(base string) []contender {
	return withV2([]contender{
		{forgeName, newOurs(base).issues()},
		{handName, newHand(base, transport()).issues},
		{peerName, newPeer(base).issues},
		{githubName, newGitHub(base, transport()).issues},
		{ahead(8), newOurs(base).issues(forge.Ahead(8))},
		{handAhead(8), newHand(base, pooled(8)).issuesAhead(8)},
	}, base, transport, func(c *byHand) work { return c.issues })
}

func eventContenders(base string) []contender {
	return withV2([]contender{
		{forgeName, newOurs(base).events()},
		{handName, newHand(base, transport()).events},
		{peerName, newPeer(base).events},
	}, base, transport, func(c *byHand) work { return c.events })
}

// TestContendersDecodeTheDocuments compares all contenders with the documents, as each row does
// before its first round.
func TestContendersDecodeTheDocuments(t *testing.T) {
	for name, of := range map[string]struct {
		docs       func(int) documents
		contenders func(string) []contender
	}{"issues": {someIssues, issueContenders}, "events": {someEvents, eventContenders}} {
		r, base := raceOf(t, of.docs)
		for _, c := range of.contenders(base) {
			if err := r.agree(t.Context(), []contender{c}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	tags := fromDocuments(oneTag())
	err := race{times: 1, sent: oneTag()}.agree(t.Context(), []contender{
		{forgeName, newOurs("https://forge.example.com", forge.WithHTTPClient(&http.Client{Transport: tags})).tag},
		{handName, newHand("https://forge.example.com", tags).tag},
		{peerName, newPeer("https://forge.example.com", withTransport(tags)).tag},
	})
	if err != nil {
		t.Error("tags:", err)
	}
}

// TestWrongValuesEndTheRun changes what a contender decodes. Each change ends the run.
func TestWrongValuesEndTheRun(t *testing.T) {
	r, base := raceOf(t, someIssues)
	var issues []*handIssue
	read := newHand(base, transport()).issues
	if err := read(t.Context(), &digest{check: func(item any) error {
		issues = append(issues, item.(*handIssue))
		return nil
	}}); err != nil {
		t.Fatal(err)
	}
	pass := func(change func([]*handIssue) []*handIssue) error {
		copies := make([]*handIssue, len(issues))
		for i, issue := range issues {
			of := *issue
			copies[i] = &of
		}
		copies = change(copies)
		do := func(_ context.Context, d *digest) error {
			for _, i := range copies {
				d.item(i)
			}
			return nil
		}
		_, err := r.run(t.Context(), []contender{{handName, do}})
		return err
	}
	if err := pass(func(all []*handIssue) []*handIssue { return all }); err != nil {
		t.Fatal("unchanged:", err)
	}
	for want, change := range map[string]func([]*handIssue) []*handIssue{
		".title is":                 func(all []*handIssue) []*handIssue { all[250].Title += "x"; return all },
		".weight is":                func(all []*handIssue) []*handIssue { all[499].Weight = new(99); return all },
		".created_at is":            func(all []*handIssue) []*handIssue { all[0].CreatedAt = all[0].CreatedAt.Add(1); return all },
		".references.full is":       func(all []*handIssue) []*handIssue { all[3].References.Full = ""; return all },
		"item 7 differs: ":          func(all []*handIssue) []*handIssue { all[7], all[8] = all[8], all[7]; return all },
		"499 items, not 500":        func(all []*handIssue) []*handIssue { return all[:499] },
		"item 500 is one too many":  func(all []*handIssue) []*handIssue { return append(all, all[0]) },
		"has passed no item":        func([]*handIssue) []*handIssue { return nil },
		"item 100 differs: ._links": func(all []*handIssue) []*handIssue { return append(all[:100:100], all[200:]...) },
	} {
		if err := pass(change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not the error: %v", want, err)
		}
	}
}

// TestWithoutDocuments compares contenders that decode no document with each other.
func TestWithoutDocuments(t *testing.T) {
	passes := func(values ...int64) work {
		return func(_ context.Context, d *digest) error {
			for _, v := range values {
				d.add("", "", v, v)
			}
			return nil
		}
	}
	for _, other := range []work{passes(1, 3), passes(1), passes(1, 2, 3), passes()} {
		if err := (race{}).agree(t.Context(), []contender{{forgeName, passes(1, 2)}, {handName, other}}); err == nil {
			t.Error("values that differ agree")
		}
	}
	if err := (race{}).agree(t.Context(), []contender{{forgeName, passes(1, 2)}, {handName, passes(1, 2)}}); err != nil {
		t.Error(err)
	}
}

// TestDocuments checks that documents have the size that the guide names, and never change.
func TestDocuments(t *testing.T) {
	size, shapes := 0, map[string]bool{}
	const n = 2000
	for i := range n {
		text := issue(i)
		if size += len(text); text != issue(i) {
			t.Fatal("an issue has changed")
		}
		for _, part := range []string{`"labels":[]`, `"assignee":null`, `"milestone":null`, `"closed_at":null`, `\u003c`, `\u0026`, `\n`, `\"`, "ü", "й", "导", "設", "🎉"} {
			shapes[part] = shapes[part] || strings.Contains(text, part)
		}
	}
	if mean := size / n; mean < 3600 || mean > 4000 {
		t.Errorf("an issue has %d bytes on average", mean)
	}
	for part, found := range shapes {
		if !found {
			t.Errorf("no issue has %s", part)
		}
	}
}
