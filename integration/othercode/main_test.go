package othercode

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	gitlab "gitlab.com/gitlab-org/api/client-go/v2"
	"go.uber.org/goleak"

	forge "github.com/forge-sdk/forge-go"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "glpat-THE-SECRET-0123456789"

// request is a request as a server has parsed it.
type request struct {
	method, title string
	header        http.Header
}

// server is a server with TLS that records its requests.
type server struct {
	*httptest.Server
	t         *testing.T
	transport *http.Transport // trusts each server of a test
	mu        sync.Mutex
	got       []request
}

func newServer(t *testing.T, handler http.HandlerFunc) *server {
	t.Helper()
	s := &server{t: t}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.got = append(s.got, request{r.Method, titleOf(r), r.Header})
		s.mu.Unlock()
		handler(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	s.transport = s.Client().Transport.(*http.Transport)
	t.Cleanup(s.Close)
	return s
}

// titleOf returns the title in the body of a write, which can be read again.
func titleOf(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var write struct {
		Title     string
		Variables struct{ Title string }
	}
	_ = json.Unmarshal(body, &write)
	return write.Title + write.Variables.Title
}

// requests returns the requests since the last call of requests.
func (s *server) requests() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.got
	s.got = nil
	return got
}

// sender is the http.Client that sends the requests of client-go. token is empty if that is the one
// of forge.
type sender struct {
	base, token string
	http        *http.Client
	options     []gitlab.ClientOptionFunc
}

// over returns a sender over a forge client with short waits.
func (s *server) over() sender {
	s.t.Helper()
	client, err := forge.NewClient(s.URL, forge.WithToken(token), forge.WithHTTPClient(&http.Client{Transport: s.transport}),
		forge.WithRetry(forge.RetryPolicy{MinWait: time.Millisecond, MaxWait: 2 * time.Millisecond}))
	require.NoError(s.t, err)
	return sender{base: client.BaseURL(), http: client.HTTPClient(), options: []gitlab.ClientOptionFunc{gitlab.WithoutRetries()}}
}

// alone returns a sender without forge. client-go has its default retries, with short waits.
func (s *server) alone() sender {
	return sender{base: s.URL + "/api/v4", token: token, http: &http.Client{Transport: s.transport},
		options: []gitlab.ClientOptionFunc{gitlab.WithCustomRetryWaitMinMax(time.Millisecond, 2*time.Millisecond)}}
}

func (s sender) clientGo() (*gitlab.Client, error) {
	return gitlab.NewClient(s.token, append(s.options, gitlab.WithBaseURL(s.base), gitlab.WithHTTPClient(s.http))...)
}

const mutation = "mutation($title: String!) { createIssue(input: {projectPath: \"group/app\", title: $title}) { errors } }"

// kind is a kind of request of client-go. Each has the title in its body, unless it is a read.
type kind struct {
	name, method string
	send         func(ctx context.Context, s sender, title string) error
}

var kinds = []kind{
	{"GetIssue", "GET", withClientGo(func(git *gitlab.Client, _ string, with gitlab.RequestOptionFunc) error {
		_, _, err := git.Issues.GetIssue("group/app", 5, with)
		return err
	})},
	{"UpdateIssue", "PUT", withClientGo(func(git *gitlab.Client, title string, with gitlab.RequestOptionFunc) error {
		_, _, err := git.Issues.UpdateIssue("group/app", 5, &gitlab.UpdateIssueOptions{Title: &title}, with)
		return err
	})},
	{"CreateIssue", "POST", withClientGo(func(git *gitlab.Client, title string, with gitlab.RequestOptionFunc) error {
		_, _, err := git.Issues.CreateIssue("group/app", &gitlab.CreateIssueOptions{Title: &title}, with)
		return err
	})},
	{"GraphQL", "POST", withClientGo(func(git *gitlab.Client, title string, with gitlab.RequestOptionFunc) error {
		var out any
		_, err := git.GraphQL.Do(gitlab.GraphQLQuery{Query: mutation, Variables: map[string]any{"title": title}}, &out, with)
		return err
	})},
}

func withClientGo(do func(git *gitlab.Client, title string, with gitlab.RequestOptionFunc) error) func(context.Context, sender, string) error {
	return func(ctx context.Context, s sender, title string) error {
		git, err := s.clientGo()
		if err != nil {
			return err
		}
		return do(git, title, gitlab.WithContext(ctx))
	}
}

// issue responds with an issue, which is a GraphQL response, too.
func issue(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"id": 1, "iid": 5, "title": "t", "data": {}}`)
}

// lost ends the connection of a request without a response.
func lost(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
