package main

import (
	"bytes"
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v92/github"
	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/forge-sdk/forge-go"
)

const token = "glpat-0123456789abcdefghij"

// work does the work of a contender once. It adds the decoded values to the digest.
type work func(ctx context.Context, d *digest) error

// digest checks that all contenders of a row decode the same values. During measurements it only
// counts them.
type digest struct {
	count, sum uint64
	full       bool
	pause      time.Duration // the caller's own work on each page
}

func (d *digest) add(a, b string, m, n int64) {
	if d.count++; d.pause > 0 && d.count%perPage == 0 {
		time.Sleep(d.pause)
	}
	if d.full {
		d.sum += maphash.String(seed(), fmt.Sprintf("%q %q %d %d", a, b, m, n)) // the order does not matter
	}
}

func (d *digest) issue(id int64, title, text, state string, created time.Time, author string, labels int) {
	if d.full {
		title += text + state + author
	}
	d.add(title, "", id, created.UnixMilli()+int64(labels))
}

var seed = sync.OnceValue(maphash.MakeSeed)

// memory is a transport that returns the same document for every request, without a network.
type memory struct {
	text   string
	header http.Header
}

func fromMemory(text string) *memory {
	return &memory{text, http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"01HZY3V4W5X6Y7Z8A9B0C1D2E3"}, "Date": {"Fri, 20 Nov 2026 12:00:00 GMT"}}}
}

// RoundTrip returns the document. The response and its body are one allocation.
func (m *memory) RoundTrip(req *http.Request) (*http.Response, error) {
	a := &memoryAnswer{Response: http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: m.header,
		ContentLength: int64(len(m.text)), Request: req,
	}}
	a.Reset(m.text)
	a.Body = a
	return &a.Response, nil
}

type memoryAnswer struct {
	http.Response
	strings.Reader
}

// Close does nothing.
func (*memoryAnswer) Close() error { return nil }

// transport returns a new plain transport, for contenders that accept one.
func transport() http.RoundTripper { return http.DefaultTransport.(*http.Transport).Clone() }

func newHand(base string, t http.RoundTripper) *byHand {
	return &byHand{base, &http.Client{Transport: t}}
}

var content = func() func() io.Reader {
	text := sync.OnceValue(func() []byte { return bytes.Repeat([]byte("0123456789abcdef"), uploadSize/16) })
	return func() io.Reader { return bytes.NewReader(text()) }
}()

// ours is this module's client.
type ours struct{ client *forge.Client }

func newOurs(base string, options ...forge.Option) *ours {
	return &ours{must(forge.NewClient(base, append(options, forge.WithToken(token))...))}
}

func (c *ours) issue(ctx context.Context, d *digest) error {
	i, err := c.client.Issues.Subscribe(ctx, forge.Path("group/app"), 318)
	if err == nil {
		d.issue(i.ID, i.Title, i.Description, string(i.State), i.CreatedAt, i.Author.Username, len(i.Labels))
	}
	return err
}

func (c *ours) tag(ctx context.Context, d *digest) error {
	t, err := c.client.Registry.GetTag(ctx, forge.Path("group/app"), 7, "release/1.0")
	if err == nil {
		d.add(t.Name, t.Digest, t.TotalSize, t.CreatedAt.Unix())
	}
	return err
}

func (c *ours) issues(options ...forge.RequestOption) work {
	return func(ctx context.Context, d *digest) error {
		for i, err := range c.client.Issues.List(ctx, &forge.ListIssuesOptions{Scope: forge.ScopeAll}, options...) {
			if err != nil {
				return err
			}
			d.issue(i.ID, i.Title, i.Description, string(i.State), i.CreatedAt, i.Author.Username, len(i.Labels))
		}
		return nil
	}
}

func (c *ours) events(options ...forge.RequestOption) work {
	return func(ctx context.Context, d *digest) error {
		for e, err := range c.client.AuditEvents.List(ctx, nil, options...) {
			if err != nil {
				return err
			}
			d.add(e.Details.AuthorEmail, e.EventName, e.ID, e.CreatedAt.Unix())
		}
		return nil
	}
}

func (c *ours) archive(ctx context.Context, d *digest) error {
	download, err := c.client.Repositories.Archive(ctx, forge.ID(1), nil)
	if err != nil {
		return err
	}
	defer download.Close()
	n, err := io.Copy(io.Discard, download)
	d.add("", "", n, 0)
	return err
}

func (c *ours) upload(ctx context.Context, d *digest) error {
	file, err := c.client.SecureFiles.Upload(ctx, forge.ID(1), &forge.UploadSecureFileOptions{Name: "archive", File: forge.FileReader(content(), uploadSize)})
	if err == nil {
		d.add("", "", file.ID, 0)
	}
	return err
}

// peer is the most widely used client of the same API.
type peer struct{ client *gitlab.Client }

func newPeer(base string, options ...gitlab.ClientOptionFunc) *peer {
	return &peer{must(gitlab.NewClient(token, append(options, gitlab.WithBaseURL(base))...))}
}

// withTransport is the peer's option for a transport.
func withTransport(t http.RoundTripper) gitlab.ClientOptionFunc {
	return gitlab.WithHTTPClient(&http.Client{Transport: t})
}

func (c *peer) issue(ctx context.Context, d *digest) error {
	i, _, err := c.client.Issues.SubscribeToIssue("group/app", 318, gitlab.WithContext(ctx))
	if err == nil {
		d.issue(i.ID, i.Title, i.Description, i.State, *i.CreatedAt, i.Author.Username, len(i.Labels))
	}
	return err
}

func (c *peer) tag(ctx context.Context, d *digest) error {
	t, _, err := c.client.ContainerRegistry.GetRegistryRepositoryTagDetail("group/app", 7, "release/1.0", gitlab.WithContext(ctx))
	if err == nil {
		d.add(t.Name, t.Digest, t.TotalSize, t.CreatedAt.Unix())
	}
	return err
}

func (c *peer) issues(ctx context.Context, d *digest) error {
	o := &gitlab.ListIssuesOptions{Scope: new("all"), ListOptions: gitlab.ListOptions{PerPage: perPage}}
	for i, err := range gitlab.Scan2(func(page gitlab.PaginationOptionFunc) ([]*gitlab.Issue, *gitlab.Response, error) {
		return c.client.Issues.ListIssues(o, page, gitlab.WithContext(ctx))
	}) {
		if err != nil {
			return err
		}
		d.issue(i.ID, i.Title, i.Description, i.State, *i.CreatedAt, i.Author.Username, len(i.Labels))
	}
	return nil
}

func (c *peer) events(ctx context.Context, d *digest) error {
	o := &gitlab.ListAuditEventsOptions{ListOptions: gitlab.ListOptions{Pagination: "keyset", OrderBy: "id", Sort: "desc", PerPage: perPage}}
	for e, err := range gitlab.Scan2(func(page gitlab.PaginationOptionFunc) ([]*gitlab.AuditEvent, *gitlab.Response, error) {
		return c.client.AuditEvents.ListInstanceAuditEvents(o, page, gitlab.WithContext(ctx))
	}) {
		if err != nil {
			return err
		}
		d.add(e.Details.AuthorEmail, e.EventName, e.ID, e.CreatedAt.Unix())
	}
	return nil
}

func (c *peer) archive(ctx context.Context, d *digest) error {
	var n counter
	_, err := c.client.Repositories.StreamArchive(1, &n, nil, gitlab.WithContext(ctx))
	d.add("", "", int64(n), 0)
	return err
}

// counter is a writer that counts bytes.
type counter int64

// Write counts the bytes of p.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func (c *peer) upload(ctx context.Context, d *digest) error {
	file, _, err := c.client.SecureFiles.CreateSecureFile(1, content(), &gitlab.CreateSecureFileOptions{Name: new("archive")}, gitlab.WithContext(ctx))
	if err == nil {
		d.add("", "", file.ID, 0)
	}
	return err
}

// githubClient is the most used client of another service, with documents in the form of that
// service.
type githubClient struct{ client *github.Client }

func newGitHub(base string, t http.RoundTripper) *githubClient {
	base += "/"
	return &githubClient{must(github.NewClient(github.WithTransport(t), github.WithURLs(&base, &base), github.WithAuthToken(token)))}
}

func (c *githubClient) issue(ctx context.Context, d *digest) error {
	i, _, err := c.client.Issues.Get(ctx, "o", "r", 1)
	if err == nil {
		d.issue(i.GetID(), i.GetTitle(), i.GetBody(), i.GetState(), i.GetCreatedAt().Time, i.GetUser().GetLogin(), len(i.Labels))
	}
	return err
}

func (c *githubClient) issues(ctx context.Context, d *digest) error {
	o := &github.IssueListByRepoOptions{ListOptions: github.ListOptions{PerPage: perPage}}
	for {
		page, answer, err := c.client.Issues.ListByRepo(ctx, "o", "r", o)
		if err != nil {
			return err
		}
		for _, i := range page {
			d.issue(i.GetID(), i.GetTitle(), i.GetBody(), i.GetState(), i.GetCreatedAt().Time, i.GetUser().GetLogin(), len(i.Labels))
		}
		if o.ListOptions.Page = answer.NextPage; answer.NextPage == 0 {
			return nil
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // a contender cannot be built
	}
	return v
}
