package forge

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// silentServer is a server that nothing may reach.
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

// badArguments address something else than their caller meant, to the server or to a proxy before it.
var badArguments = []string{
	"", " ", "\t", "\u00a0 ", ".", "..", "../b", "a/..", "a/../b", "a/./b", "./a", "%2e%2e", "%2E%2E", "%2e", ".%2e", "%2E.", "%2E/",
	"a/%2e%2e/b", "a%2F..%2Fb", "a%2f%2e%2e%2fb", "%2f", "a%2F", "%2Fa", "a%2f%2fb", "a\x00b", "a%00b", "a\nb", "a\rb", "a%0d%0ab", "a\x7fb",
	"a%7fb", "a\u0085b", "\xff", "a\xc3", "a//b", "/a", "a/", "/", "//", "a/b/", strings.Repeat("a", 2<<10+1),
}

func TestBadArguments(t *testing.T) {
	client := silentServer(t)
	ctx := t.Context()
	for _, text := range badArguments {
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
			call := Call{Method: http.MethodDelete, Route: "/projects/:id/things/:name", Args: []Ref{ID(1), path}}
			refused(t, client.Do(ctx, call, nil), "argument", "name")
			refused(t, client.Do(ctx, call, nil, Unchecked()), "argument", "name")
			_, err = collectIDs(ctx, client, Call{Method: http.MethodGet, Route: "/groups/:id/issues", Args: []Ref{path}})
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
		refused(t, client.Do(ctx, Call{Method: http.MethodGet, Route: "/projects/:id", Args: []Ref{ref}}, nil), "argument", "id")
	}
	for _, id := range []int64{0, -1} {
		_, err := client.Issues.Subscribe(ctx, ID(1), id)
		refused(t, err, "argument", "issue_iid")
	}
	for _, args := range [][]Ref{nil, {ID(1)}} {
		err := client.Do(ctx, Call{Method: http.MethodGet, Route: "/projects/:id/issues/:issue_iid/time_stats", Args: args}, nil)
		refused(t, err, "argument", []string{"id", "issue_iid"}[len(args)])
	}
	refused(t, client.Do(ctx, Call{Method: http.MethodGet, Route: "/user", Args: []Ref{ID(1)}}, nil), "argument", "/user")
}

// What is accepted arrives as one segment, byte for byte.
func TestGoodArguments(t *testing.T) {
	var got atomic.Value
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got.Store(r.RequestURI) }))
	defer srv.Close()
	client := onceClient(t, srv.URL+"/prefix")
	for _, text := range []string{
		"a", "42", "a.b", "...", "..a", "a..", ".a", "group/sub/app", "a b", " a", "ü/日本", "a%b", "100%", "%zz", "%2", "a+b", "a?b", "a#b", "a:b", "a;b", "a&b=c", "a,b", `a\b`,
		"~-_!$'()*@", "[x]", `"<>^{}|`, strings.Repeat("a", 2<<10), strings.Repeat("日", 600),
	} {
		require.NoError(t, client.Do(t.Context(), Call{Method: http.MethodGet, Route: "/projects/:id/x", Args: []Ref{Path(text)}}, nil), text)
		segments := strings.Split(got.Load().(string), "/")
		require.Len(t, segments, 7, text)
		assert.Equal(t, []string{"", "prefix", "api", "v4", "projects"}, segments[:5])
		decoded, err := url.PathUnescape(segments[5])
		require.NoError(t, err)
		assert.Equal(t, text, decoded)
	}
}

func TestBadCalls(t *testing.T) {
	client := silentServer(t)
	for _, method := range []string{"", "get", "TRACE", "CONNECT", "OPTIONS", "GET /x HTTP/1.1\r\nHost:"} {
		refused(t, client.Do(t.Context(), Call{Method: method, Route: "/user"}, nil), "Call.Method", "")
	}
	for _, route := range []string{"", "/", "user", "//user", "/a\nb", "/a b\x00", "/a/../b", "/..", "/./a", "/a//b", "/a/%2e%2e/b", "/a?b=c", "/user?", "/a#b"} {
		refused(t, client.Do(t.Context(), Call{Method: http.MethodGet, Route: route}, nil), "Call.Route", "")
	}
	for _, name := range []string{"private_token", "PRIVATE_TOKEN", "access_token", "job_token", "token", "sudo", "Sudo", "refresh_token", "client_secret"} {
		refused(t, client.Do(t.Context(), Call{Method: http.MethodGet, Route: "/user", Query: url.Values{name: {"x"}}}, nil), "Call.Query", name)
	}
	err := client.Do(t.Context(), Call{Method: http.MethodPost, Route: "/user", Body: make(chan int)}, nil)
	var invalid *ValidationError
	require.ErrorAs(t, err, &invalid)
}

// A request option that does not fit its executor, or has an impossible value, is refused.
func TestOptionsThatDoNotFit(t *testing.T) {
	client := silentServer(t)
	ctx := t.Context()
	executors := map[executor]func(RequestOption) error{
		kindDo: func(o RequestOption) error {
			_, err := client.Issues.GetTimeStats(ctx, ID(1), 1, o)
			return err
		},
		kindExec: func(o RequestOption) error {
			return client.Do(ctx, Call{Method: http.MethodGet, Route: "/user"}, nil, o)
		},
		kindOpen: func(o RequestOption) error {
			_, err := client.Repositories.DownloadBlob(ctx, ID(1), "abc", o)
			return err
		},
		kindList: func(o RequestOption) error {
			_, err := Collect(client.Issues.List(ctx, nil, o))
			return err
		},
	}
	const none = executor(0)
	for _, test := range []struct {
		name, param string
		option      RequestOption
		fits        executor // where it would be accepted, and is therefore not tried
	}{
		{"OnePage", "", OnePage(), kindList},
		{"Complete", "", Complete(), kindDo},
		{"PerPage", "", PerPage(5), kindList},
		{"StartAt", "", StartAt("x"), kindList},
		{"Ahead", "", Ahead(2), kindList},
		{"Progress", "", Progress(func(int64, int64) {}), kindAny &^ kindList},
		{"MaxBytes", "", MaxBytes(1), kindAny &^ kindExec},
		{"PerPage", "per_page", PerPage(0), kindAny &^ kindList},
		{"PerPage", "per_page", PerPage(-1), kindAny &^ kindList},
		{"Ahead", "", Ahead(-1), none},
		{"StartAt", "", StartAt("x"), none},
		{"MaxBytes", "", MaxBytes(0), none},
		{"MaxBytes", "", MaxBytes(-1), none},
		{"HeaderTimeout", "", HeaderTimeout(0), none},
		{"HeaderTimeout", "", HeaderTimeout(-time.Second), none},
		{"Sudo", "sudo", Sudo(0), none},
		{"Sudo", "sudo", Sudo(-1), none},
		{"Retry", "", Retry(RetryPolicy{MaxAttempts: -1}), none},
		{"Retry", "", Retry(RetryPolicy{MinWait: -1}), none},
		{"Query", "", Query("", "x"), none},
		{"Query", "private_token", Query("private_token", "x"), none},
		{"Query", "SUDO", Query("SUDO", "1"), none},
		{"Header", "", Header("", "x"), none},
		{"Header", "", Header("a b", "x"), none},
		{"Header", "", Header("A:b", "x"), none},
		{"Header", "", Header("Private_Token", "x"), none},
		{"Header", "", Header("ü", "x"), none},
		{"Header", "", Header("X", "a\nb"), none},
		{"Header", "", Header("X", "a\x00"), none},
		{"Header", "Private-Token", Header("PRIVATE-TOKEN", "x"), none},
		{"Header", "Private-Token", Header("private-token", "x"), none},
		{"Header", "Job-Token", Header("JOB-TOKEN", "x"), none},
		{"Header", "Deploy-Token", Header("Deploy-Token", "x"), none},
		{"Header", "Authorization", Header("authorization", "x"), none},
		{"Header", "Proxy-Authorization", Header("proxy-authorization", "x"), none},
		{"Header", "Cookie", Header("cookie", "x"), none},
		{"Header", "Sudo", Header("sudo", "1"), none},
		{"Header", "Idempotency-Key", Header("idempotency-key", "x"), none},
		{"Header", "X-Idempotency-Key", Header("X-Idempotency-Key", "x"), none},
		{"Header", "Host", Header("Host", "x"), none},
		{"Header", "Content-Length", Header("Content-Length", "1"), none},
		{"Header", "Transfer-Encoding", Header("Transfer-Encoding", "x"), none},
		{"Header", "Connection", Header("Connection", "x"), none},
		{"Header", "Accept-Encoding", Header("Accept-Encoding", "gzip"), none},
	} {
		for kind, send := range executors {
			if test.fits&kind != 0 {
				continue
			}
			err := send(test.option)
			var invalid *ValidationError
			require.ErrorAs(t, err, &invalid, "%s, executor %d", test.name, kind)
			assert.Equal(t, test.name, invalid.Option)
			assert.NotEmpty(t, invalid.Route)
			if test.param != "" && test.fits == none {
				assert.Equal(t, test.param, invalid.Param)
			}
		}
	}
}

func TestBadBaseURLs(t *testing.T) {
	for _, address := range []string{
		"", " ", " https://forge.example.com", "https://forge.example.com ", "https://forge.example.com\n", "forge.example.com", "//forge.example.com", "/api/v4", "https:", "https://", "https:///a",
		"ftp://forge.example.com", "file:///etc/passwd", "javascript:x", "https:forge.example.com", "https://user@forge.example.com", "https://user:hunter2@forge.example.com", "https://@forge.example.com",
		"https://forge.example.com?a=b", "https://forge.example.com?", "https://forge.example.com#a", "https://forge.example.com#", "https://forge.example.com:", "https://:443", "https://forge.example.com:port",
		"https://forge example.com", "https://forge%2eexample.com", "https://forge\\example.com", "https://[::1", "https://forge.example.com/a/../b", "https://forge.example.com/..", "https://forge.example.com/a//b",
		"https://forge.example.com//a", "https://forge.example.com/a%2Fb", "https://forge.example.com/%zz", "https://forge.example.com/\x00", "https://<forge>", "http://forge.example.com",
	} {
		_, err := NewClient(address, WithToken("secret-token"))
		refused(t, err, "baseURL", "")
		assert.NotContains(t, err.Error(), "hunter2")
		if strings.HasPrefix(address, "http://") {
			continue // good with another option
		}
		_, err = NewClient("https://forge.example.com", WithRegistry(address, "https://auth.example.com"))
		refused(t, err, "WithRegistry", "")
		_, err = NewClient("https://forge.example.com", WithRegistry("https://auth.example.com", address))
		refused(t, err, "WithRegistry", "")
	}
	for address, want := range map[string]string{
		"https://forge.example.com":               "https://forge.example.com/api/v4",
		"https://forge.example.com/":              "https://forge.example.com/api/v4",
		"https://forge.example.com///":            "https://forge.example.com/api/v4",
		"https://forge.example.com/api/v4":        "https://forge.example.com/api/v4",
		"https://forge.example.com/api/v4/":       "https://forge.example.com/api/v4",
		"https://FORGE.example.com:8443/git/":     "https://forge.example.com:8443/git/api/v4",
		"https://forge.example.com/git/api/v4":    "https://forge.example.com/git/api/v4",
		"https://forge.example.com/ümlaut/api/v4": "https://forge.example.com/%C3%BCmlaut/api/v4",
		"http://localhost:3000":                   "http://localhost:3000/api/v4",
		"http://127.0.0.1":                        "http://127.0.0.1/api/v4",
		"http://[::1]:80":                         "http://[::1]:80/api/v4",
		"HTTPS://forge.example.com":               "https://forge.example.com/api/v4",
	} {
		client, err := NewClient(address, WithToken("secret-token"))
		require.NoError(t, err, address)
		assert.Equal(t, want, client.BaseURL())
	}
}

func TestBadTokens(t *testing.T) {
	for _, token := range []string{"", " ", "a b", " a", "a ", "a\n", "a\r\nX: y", "a\x00", "a\x7f", "tökén", "\xff"} {
		_, err := NewClient("https://forge.example.com", WithToken(token))
		refused(t, err, "WithToken", "")
		if strings.TrimSpace(token) != "" {
			assert.NotContains(t, err.Error(), token)
		}
		_, err = NewClient("https://forge.example.com", WithJobToken(token))
		refused(t, err, "WithJobToken", "")
	}
	for name, env := range map[string]map[string]string{
		"nothing":       {},
		"address only":  {"FORGE_URL": "https://forge.example.com"},
		"token only":    {"FORGE_TOKEN": "x"},
		"never mixed":   {"FORGE_URL": "https://forge.example.com", "CI_JOB_TOKEN": "x"},
		"never mixed 2": {"FORGE_TOKEN": "x", "CI_API_V4_URL": "https://forge.example.com/api/v4", "CI_JOB_TOKEN": "y"},
		"job, no token": {"CI_API_V4_URL": "https://forge.example.com/api/v4"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, key := range []string{"FORGE_URL", "FORGE_TOKEN", "CI_API_V4_URL", "CI_JOB_TOKEN"} {
				t.Setenv(key, env[key])
			}
			_, err := NewClientFromEnv()
			refused(t, err, "environment", "")
		})
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

// MaxBytes bounds an answer exactly, whatever it is set to.
func TestMaxBytes(t *testing.T) {
	const body = `[{"id":1},{"id":2}]`
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body[:5])
		_ = http.NewResponseController(w).Flush() // no Content-Length
		_, _ = io.WriteString(w, body[5:])
	}))
	defer srv.Close()
	client := onceClient(t, srv.URL)
	for _, limit := range []int64{1, 5, int64(len(body)) - 1, int64(len(body)), math.MaxInt64 - 1, math.MaxInt64} {
		var rows []listRow
		_, err := collectIDs(t.Context(), client, offsetCall, MaxBytes(limit))
		failed := client.Do(t.Context(), offsetCall, &rows, MaxBytes(limit))
		d, opened := client.Repositories.DownloadBlob(t.Context(), ID(1), "abc", MaxBytes(limit))
		require.NoError(t, opened)
		_, read := io.ReadAll(d)
		require.NoError(t, d.Close())
		for _, err := range []error{err, failed, read} {
			if limit < int64(len(body)) {
				require.ErrorIs(t, err, ErrTooLarge, "limit %d", limit)
			} else {
				require.NoError(t, err, "limit %d", limit)
			}
		}
	}
}

// The reason is the part of the error that says something, in every Go release.
func TestRE2(t *testing.T) {
	require.NoError(t, isRE2("name_regex", "v.+|[0-9]*"))
	assert.EqualError(t, isRE2("name_regex", "a(?!b)"), "forge: (name_regex): it is no RE2 pattern: invalid or unsupported Perl syntax: `(?!`; nothing was sent")
}
