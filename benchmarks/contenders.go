package main

import (
	"context"
	"net/http"
	"strings"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/forge-sdk/forge-go"
)

const token = "glpat-0123456789abcdefghij"

// memory is a transport that returns its documents in turn, without a network.
type memory struct {
	texts  []string
	next   int
	header http.Header
}

func fromMemory(texts ...string) *memory {
	return &memory{texts: texts, header: http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"01HZY3V4W5X6Y7Z8A9B0C1D2E3"}, "Date": {"Fri, 20 Nov 2026 12:00:00 GMT"}}}
}

// fromDocuments returns documents in turn.
func fromDocuments(docs documents) *memory {
	texts := make([]string, docs.n)
	for i := range texts {
		texts[i] = docs.at(i)
	}
	return fromMemory(texts...)
}

// RoundTrip returns a document. The response and its body are one allocation.
func (m *memory) RoundTrip(req *http.Request) (*http.Response, error) {
	text := m.texts[m.next%len(m.texts)]
	m.next++
	a := &memoryAnswer{Response: http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: m.header,
		ContentLength: int64(len(text)), Request: req,
	}}
	a.Reset(text)
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

// ours is this module's client.
type ours struct{ client *forge.Client }

func newOurs(base string, options ...forge.Option) *ours {
	return &ours{must(forge.NewClient(base, append(options, forge.WithToken(token))...))}
}

func (c *ours) issue(ctx context.Context, d *digest) error {
	i, err := c.client.Issues.Subscribe(ctx, forge.Path("group/app"), 318)
	if err == nil {
		d.item(i)
	}
	return err
}

func (c *ours) tag(ctx context.Context, d *digest) error {
	t, err := c.client.Registry.GetTag(ctx, forge.Path("group/app"), 7, "release/1.0")
	if err == nil {
		d.item(t)
	}
	return err
}

func (c *ours) issues(options ...forge.RequestOption) work {
	return func(ctx context.Context, d *digest) error {
		for i, err := range c.client.Issues.List(ctx, &forge.ListIssuesOptions{Scope: forge.ScopeAll}, options...) {
			if err != nil {
				return err
			}
			d.item(i)
		}
		return nil
	}
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
		d.item(i)
	}
	return err
}

func (c *peer) tag(ctx context.Context, d *digest) error {
	t, _, err := c.client.ContainerRegistry.GetRegistryRepositoryTagDetail("group/app", 7, "release/1.0", gitlab.WithContext(ctx))
	if err == nil {
		d.item(t)
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
		d.item(i)
	}
	return nil
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // a contender cannot be built
	}
	return v
}
