package forge

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/contracttest/catalogue"
)

// silentServer returns a client of a server that must not receive a request.
func silentServer(t *testing.T) *Client {
	t.Helper()
	var requests atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	t.Cleanup(func() {
		srv.Close()
		assert.Zero(t, requests.Load(), "something was sent")
	})
	return onceClient(t, srv.URL)
}

// refused checks the refusal of a call.
func refused(t *testing.T, err error, option, param string) {
	t.Helper()
	var invalid *ValidationError
	require.ErrorAs(t, err, &invalid)
	assert.Equal(t, option, invalid.Option, "%s", err)
	assert.Equal(t, param, invalid.Param, "%s", err)
	assert.NotEmpty(t, invalid.Reason)
	assert.Contains(t, err.Error(), "nothing was sent")
}

func TestBadArguments(t *testing.T) {
	client := silentServer(t)
	ctx := t.Context()
	for _, text := range catalogue.BadSegments {
		t.Run(fmt.Sprintf("%.20q", text), func(t *testing.T) {
			path := Path(text)
			_, err := client.Issues.Subscribe(ctx, path, 5)
			refused(t, err, "argument", "id")
			assert.ErrorContains(t, err, "POST /projects/:id/issues/:issue_iid/subscribe")
			_, err = client.Repositories.Archive(ctx, path, nil)
			refused(t, err, "argument", "id")
			_, err = Collect(client.Repositories.ListTree(ctx, path, nil, Ahead(2)))
			refused(t, err, "argument", "id")
			_, err = client.Namespaces.Exists(ctx, text, nil)
			refused(t, err, "argument", "namespace")
			_, err = client.Repositories.GetBlob(ctx, ID(1), text)
			refused(t, err, "argument", "sha")
			call := Call{Method: http.MethodDelete, Route: "/projects/:id/things/:name", Args: []Arg{ID(1), path}}
			refused(t, client.Do(ctx, call, nil), "argument", "name")
			refused(t, client.Do(ctx, call, nil, SkipValidation()), "argument", "name")
			_, err = collectIDs(ctx, client, Call{Method: http.MethodGet, Route: "/groups/:id/issues", Args: []Arg{path}})
			refused(t, err, "argument", "id")
		})
	}
}

func TestBadIDs(t *testing.T) {
	client := silentServer(t)
	ctx := t.Context()
	for _, ref := range []Ref{nil, ID(0), ID(-1), (*ID)(nil), (*Path)(nil), new(ID(3))} {
		_, err := client.Issues.Subscribe(ctx, ref, 5)
		refused(t, err, "argument", "id")
		refused(t, client.Do(ctx, Call{Method: http.MethodGet, Route: "/projects/:id", Args: []Arg{ref}}, nil), "argument", "id")
	}
	for _, id := range []int64{0, -1} {
		_, err := client.Issues.Subscribe(ctx, ID(1), id)
		refused(t, err, "argument", "issue_iid")
	}
	for _, args := range [][]Arg{nil, {ID(1)}} {
		err := client.Do(ctx, Call{Method: http.MethodGet, Route: "/projects/:id/issues/:issue_iid/time_stats", Args: args}, nil)
		refused(t, err, "argument", []string{"id", "issue_iid"}[len(args)])
	}
	refused(t, client.Do(ctx, Call{Method: http.MethodGet, Route: "/user", Args: []Arg{ID(1)}}, nil), "argument", "/user")
}

// An accepted argument arrives as one segment, byte for byte.
func TestGoodArguments(t *testing.T) {
	var got atomic.Value
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got.Store(r.RequestURI) }))
	defer srv.Close()
	client := onceClient(t, srv.URL+"/prefix")
	for _, text := range []string{
		"a", "42", "a.b", "...", "..a", "a..", ".a", "group/sub/app", "a b", "ü/日本", "a%b", "100%", "%zz", "%2", "a+b", "a?b", "a#b", "a:b", "a;b", "a&b=c", "a,b",
		"~-_!$'()*@", "[x]", `"<>^{}|`, strings.Repeat("a", 2<<10), strings.Repeat("日", 600),
	} {
		require.NoError(t, client.Do(t.Context(), Call{Method: http.MethodGet, Route: "/projects/:id/x", Args: []Arg{Path(text)}}, nil), text)
		segments := strings.Split(got.Load().(string), "/")
		require.Len(t, segments, 7, text)
		assert.Equal(t, []string{"", "prefix", "api", "v4", "projects"}, segments[:5])
		decoded, err := url.PathUnescape(segments[5])
		require.NoError(t, err)
		assert.Equal(t, text, decoded)
	}
}

// Options are checked before anything is sent; the error names the Go option and the wire name.
func TestBadOptionValues(t *testing.T) {
	client := silentServer(t)
	ctx := context.Background()
	list := func(o *ListIssuesOptions) error {
		_, err := Collect(client.Issues.List(ctx, o))
		return err
	}
	refused(t, list(&ListIssuesOptions{Labels: Labels("a,b")}), "ListIssuesOptions.Labels", "labels")
	refused(t, list(&ListIssuesOptions{Labels: Labels(" ")}), "ListIssuesOptions.Labels", "labels")
	refused(t, list(&ListIssuesOptions{Labels: Labels()}), "ListIssuesOptions.Labels", "labels")
	refused(t, list(&ListIssuesOptions{Milestone: Text("")}), "ListIssuesOptions.Milestone", "milestone")
	refused(t, list(&ListIssuesOptions{EpicID: ID(-1)}), "ListIssuesOptions.EpicID", "epic_id")
	refused(t, list(&ListIssuesOptions{AssigneeID: ID(0)}), "ListIssuesOptions.AssigneeID", "assignee_id")
	refused(t, list(&ListIssuesOptions{Not: &IssueNot{Labels: Labels("a,b")}}), "ListIssuesOptions.Not.Labels", "not[labels]")
}

// The reason is the useful part of the error of package regexp, the same in every Go release.
func TestRE2(t *testing.T) {
	require.NoError(t, isRE2("name_regex", "v.+|[0-9]*"))
	assert.EqualError(t, isRE2("name_regex", "a(?!b)"), "forge: name_regex: it is not an RE2 pattern: invalid or unsupported Perl syntax: `(?!`; nothing was sent")
}
