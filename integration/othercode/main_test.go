package othercode

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
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
	method, uri, body string
	header            http.Header
	at                time.Time
}

// world is a set of named hosts on this machine.
type world struct {
	t         *testing.T
	roots     *x509.CertPool
	addrs     map[string]string // by host:port
	mu        sync.Mutex
	got       map[string][]request // by address
	transport *http.Transport
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, roots: x509.NewCertPool(), addrs: map[string]string{}, got: map[string][]request{}}
	w.transport = &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: w.roots, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, w.addrs[addr])
		},
	}
	t.Cleanup(w.transport.CloseIdleConnections)
	return w
}

// host adds a host. Certificates are for example.com and *.example.com.
func (w *world) host(address string, handler http.HandlerFunc) {
	u, err := url.Parse(address)
	require.NoError(w.t, err)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		w.mu.Lock()
		w.got[address] = append(w.got[address], request{r.Method, r.RequestURI, string(body), r.Header, time.Now()})
		w.mu.Unlock()
		handler(rw, r)
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	port := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	if u.Scheme == "https" {
		srv.StartTLS()
		w.roots.AddCert(srv.Certificate())
	} else {
		srv.Start()
	}
	w.t.Cleanup(srv.Close)
	if u.Port() != "" {
		port = u.Port()
	}
	w.addrs[net.JoinHostPort(u.Hostname(), port)] = srv.Listener.Addr().String()
}

// at returns the requests to a host since the last call of at.
func (w *world) at(address string) []request {
	w.mu.Lock()
	defer w.mu.Unlock()
	got := w.got[address]
	w.got[address] = nil
	return got
}

// client returns a forge client with short waits.
func (w *world) client(base string, options ...forge.Option) *forge.Client {
	w.t.Helper()
	client, err := forge.NewClient(base, append([]forge.Option{
		forge.WithHTTPClient(&http.Client{Transport: w.transport}), forge.WithToken(token),
		forge.WithRetry(forge.RetryPolicy{MinWait: time.Millisecond, MaxWait: 2 * time.Millisecond}),
	}, options...)...)
	require.NoError(w.t, err)
	w.t.Cleanup(client.CloseIdleConnections)
	return client
}

// sender is code that builds its own requests, with the http.Client that sends them. token is empty
// if that is the one of forge.
type sender struct {
	base, token string
	http        *http.Client
	options     []gitlab.ClientOptionFunc
}

// over returns a sender over forge.
func over(client *forge.Client) sender {
	return sender{base: client.BaseURL(), http: client.HTTPClient(), options: []gitlab.ClientOptionFunc{gitlab.WithoutRetries()}}
}

// alone returns a sender without forge. client-go has its default retries, with short waits.
func (w *world) alone(base string) sender {
	return sender{base: base + "/api/v4", token: token, http: &http.Client{Transport: w.transport},
		options: []gitlab.ClientOptionFunc{gitlab.WithCustomRetryWaitMinMax(time.Millisecond, 2*time.Millisecond)}}
}

func (s sender) clientGo() (*gitlab.Client, error) {
	return gitlab.NewClient(s.token, append(s.options, gitlab.WithBaseURL(s.base), gitlab.WithHTTPClient(s.http))...)
}

// plain sends a request with net/http, and returns an error for every status but those of success.
func (s sender) plain(ctx context.Context, method, path, body string) error {
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if s.token != "" {
		req.Header.Set("Private-Token", s.token)
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s", resp.Status, text)
	}
	return err
}

// kind is a kind of request that other code makes. Each has the title in its body, unless it is a
// read.
type kind struct {
	name, method string
	send         func(ctx context.Context, s sender, title string) error
}

var kinds = []kind{
	{"client-go GetIssue", "GET", func(ctx context.Context, s sender, _ string) error {
		return s.withClientGo(func(git *gitlab.Client) error {
			_, _, err := git.Issues.GetIssue("group/app", 5, gitlab.WithContext(ctx))
			return err
		})
	}},
	{"client-go UpdateIssue", "PUT", func(ctx context.Context, s sender, title string) error {
		return s.withClientGo(func(git *gitlab.Client) error {
			_, _, err := git.Issues.UpdateIssue("group/app", 5, &gitlab.UpdateIssueOptions{Title: &title}, gitlab.WithContext(ctx))
			return err
		})
	}},
	{"client-go CreateIssue", "POST", func(ctx context.Context, s sender, title string) error {
		return s.withClientGo(func(git *gitlab.Client) error {
			_, _, err := git.Issues.CreateIssue("group/app", &gitlab.CreateIssueOptions{Title: &title}, gitlab.WithContext(ctx))
			return err
		})
	}},
	{"client-go GraphQL", "POST", func(ctx context.Context, s sender, title string) error {
		return s.withClientGo(func(git *gitlab.Client) error {
			var out any
			_, err := git.GraphQL.Do(gitlab.GraphQLQuery{Query: mutation, Variables: map[string]any{"title": title}}, &out, gitlab.WithContext(ctx))
			return err
		})
	}},
	{"net/http GET", "GET", func(ctx context.Context, s sender, _ string) error {
		return s.plain(ctx, http.MethodGet, "/projects/1/issues/5", "")
	}},
	{"net/http PUT", "PUT", func(ctx context.Context, s sender, title string) error {
		return s.plain(ctx, http.MethodPut, "/projects/1/issues/5", document(map[string]any{"title": title}))
	}},
	{"net/http POST", "POST", func(ctx context.Context, s sender, title string) error {
		return s.plain(ctx, http.MethodPost, "/projects/1/issues", document(map[string]any{"title": title}))
	}},
	{"net/http GraphQL", "POST", func(ctx context.Context, s sender, title string) error {
		return s.plain(ctx, http.MethodPost, "/../graphql", document(map[string]any{"query": mutation, "variables": map[string]any{"title": title}}))
	}},
}

const mutation = "mutation($title: String!) { createIssue(input: {projectPath: \"group/app\", title: $title}) { errors } }"

func (s sender) withClientGo(do func(*gitlab.Client) error) error {
	git, err := s.clientGo()
	if err != nil {
		return err
	}
	return do(git)
}

func document(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// titleOf returns the title in the body of a write.
func titleOf(body []byte) string {
	var write struct {
		Title     string `json:"title"`
		Variables struct {
			Title string `json:"title"`
		} `json:"variables"`
	}
	_ = json.Unmarshal(body, &write)
	return write.Title + write.Variables.Title
}

// issue responds with an issue, which is a GraphQL response, too.
func issue(rw http.ResponseWriter, status int) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_, _ = io.WriteString(rw, `{"id": 1, "iid": 5, "title": "t", "data": {}}`)
}

// reset ends the connection of a request with a RST, after the first part of a response if there is
// one.
func reset(rw http.ResponseWriter, first string) {
	conn, out, err := http.NewResponseController(rw).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = out.WriteString(first)
	_ = out.Flush()
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
