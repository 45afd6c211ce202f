package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

// statusKind is a kind of call that gets a status.
type statusKind struct {
	name     string
	class    RetryClass
	value    bool   // the method returns a value
	settles  bool   // the route documents 304
	endpoint string // the token endpoint that sends the status, instead of the API
	ofCall   bool   // the token is obtained for the call, and is not its result
	body     string // body of a 2xx response
	run      func(context.Context, *Client, ...RequestOption) error
}

const (
	registryTokenPath = "/auth/jwt/auth"
	oauthTokenPath    = "/token"
	oneIssue          = `{"id":1,"time_estimate":1}`
	tokenOfBoth       = `{"token":"t0ken","access_token":"t0ken","token_type":"bearer","expires_in":7200}`
)

func statusKinds() []statusKind {
	return append(statusReads(), statusWrites()...)
}

// kindOf returns the call of a kind.
func kindOf(name string) func(context.Context, *Client, ...RequestOption) error {
	kinds := statusKinds()
	return kinds[slices.IndexFunc(kinds, func(k statusKind) bool { return k.name == name })].run
}

func statusReads() []statusKind {
	return []statusKind{
		{"get", RetryClassSafe, true, false, "", false, oneIssue, func(ctx context.Context, c *Client, opts ...RequestOption) error {
			_, err := c.Issues.GetTimeStats(ctx, ID(1), 2, opts...)
			return err
		}},
		{"list", RetryClassSafe, true, false, "", false, "[" + oneIssue + "]", func(ctx context.Context, c *Client, opts ...RequestOption) error {
			_, err := Collect(c.Issues.List(ctx, nil, opts...))
			return err
		}},
		{"download", RetryClassSafe, true, false, "", false, "content", func(ctx context.Context, c *Client, opts ...RequestOption) error {
			d, err := c.Repositories.Archive(ctx, ID(1), nil, opts...)
			if err != nil {
				return err
			}
			defer d.Close()
			_, err = io.Copy(io.Discard, d)
			return err
		}},
		{"registry token", RetryClassSafe, true, false, registryTokenPath, false, tokenOfBoth, func(ctx context.Context, c *Client, opts ...RequestOption) error {
			scopes := &GetRegistryTokenOptions{Scopes: []RegistryScope{RegistryScopeCatalog}}
			_, err := c.RegistryNative.GetToken(ctx, scopes, opts...)
			return err
		}},
		{"registry token of a call", RetryClassSafe, true, false, registryTokenPath, true, tokenOfBoth, func(ctx context.Context, c *Client, opts ...RequestOption) error {
			return c.RegistryNative.DeleteTagReference(ctx, "a/b", "v1", opts...)
		}},
	}
}

func statusWrites() []statusKind {
	spend := func(ctx context.Context, c *Client, opts ...RequestOption) error {
		_, err := c.Issues.AddSpentTime(ctx, ID(1), 2, &AddSpentTimeOptions{Duration: 1e9}, opts...)
		return err
	}
	return []statusKind{
		{"exec, idempotent", RetryClassIdempotent, false, false, "", false, `{}`, func(ctx context.Context, c *Client, opts ...RequestOption) error {
			return c.MergeRequests.DeleteBlock(ctx, ID(1), 2, 3, opts...)
		}},
		{"exec, once", RetryClassNonIdempotent, false, false, "", false, `{}`, func(ctx context.Context, c *Client, opts ...RequestOption) error {
			return c.Repositories.CreateChangelog(ctx, ID(1), &CreateChangelogOptions{Version: "1.0.0"}, opts...)
		}},
		{"value, PUT", RetryClassIdempotent, true, false, "", false, `{"id":1}`, func(ctx context.Context, c *Client, opts ...RequestOption) error {
			o := &UpdateResourceGroupOptions{ProcessMode: ProcessModeOldestFirst}
			_, err := c.ResourceGroups.Update(ctx, ID(1), "key", o, opts...)
			return err
		}},
		{"value, POST, documents 304", RetryClassIdempotent, true, true, "", false, `{"id":1}`, func(ctx context.Context, c *Client, opts ...RequestOption) error {
			_, err := c.Issues.CreateTodo(ctx, ID(1), 2, opts...)
			return err
		}},
		{"value, POST", RetryClassNonIdempotent, true, false, "", false, oneIssue, spend},
		{"upload", RetryClassNonIdempotent, true, false, "", false, `{"id":1}`, func(ctx context.Context, c *Client, opts ...RequestOption) error {
			o := &UploadSecureFileOptions{Name: "a", File: FileBytes([]byte("content")).Named("a")}
			_, err := c.SecureFiles.Upload(ctx, ID(1), o, opts...)
			return err
		}},
		{"OAuth token of a call", RetryClassNonIdempotent, true, false, oauthTokenPath, true, tokenOfBoth, spend},
	}
}

// end returns the result in the row for the kind; endNone if the row is not about the kind.
func (k statusKind) end(row statusRow) statusEnd {
	switch {
	case row.when == whenNoValue && k.value, row.when == whenValue && !k.value,
		(row.when == whenRange || row.when == whenCondition || row.when == whenSilent) && k.ofCall,
		row.when == whenDocumented && !k.settles:
		return endNone
	case k.endpoint == oauthTokenPath:
		return row.oauth
	}
	return map[RetryClass]statusEnd{RetryClassSafe: row.read, RetryClassIdempotent: row.idempotent, RetryClassNonIdempotent: row.once}[k.class]
}

// special reports whether a row of a special case replaces the row.
func (k statusKind) special(row statusRow) bool {
	return row.statuses == "304" && row.when == whenPlain && k.settles
}

// statusServer responds to all requests of a kind, and with the status to the tested request.
type statusServer struct {
	*wire
	kind   statusKind
	row    statusRow
	status int
	met    int // requests that got the status, and requests after a redirect
}

func newStatusServer(t *testing.T, kind statusKind, start func(*testing.T, func(seen) act) *wire) *statusServer {
	t.Helper()
	s := &statusServer{kind: kind}
	s.wire = start(t, s.respond)
	return s
}

func (s *statusServer) respond(r seen) act {
	path, _, _ := strings.Cut(r.uri, "?")
	token := path == registryTokenPath || path == oauthTokenPath
	switch {
	case path == "/landing":
		s.met++
		return s.good(200)
	case s.kind.endpoint == "" && !token, s.kind.endpoint == path:
		s.met++
		return s.tested()
	case token:
		return sayJSON(tokenOfBoth)
	}
	return sayJSON(oneIssue)
}

// good sends the status with the body of a success, so that only the status is wrong.
func (s *statusServer) good(status int) act {
	media := jsonType
	if s.kind.name == "download" {
		media = "Content-Type: application/octet-stream"
	}
	headers := []string{media}
	if status == http.StatusPartialContent {
		headers = append(headers, "Content-Range: bytes 0-6/1000000")
	}
	if status == http.StatusNoContent || status == http.StatusNotModified {
		return say(status, "")
	}
	return say(status, s.kind.body, headers...)
}

func (s *statusServer) tested() act {
	line := fmt.Sprintf("HTTP/1.1 %d Interim\r\nLink: </x>; rel=preload\r\n\r\n", s.status)
	switch {
	case s.row.when == whenInterim:
		final := s.good(200)
		return func(conn net.Conn) bool {
			_, _ = io.WriteString(conn, line)
			return final(conn)
		}
	case s.row.when == whenSilent:
		return silent(line)
	case s.status == http.StatusSwitchingProtocols:
		return silent("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
	case s.row.when == whenSameOrigin:
		return say(s.status, "", "Location: /landing")
	case s.row.when == whenLocked:
		return say(s.status, `{"message":"Resource lock"}`, jsonType)
	case s.status < 300 || s.status == http.StatusNotModified:
		return s.good(s.status)
	}
	return say(s.status, `{"message":"no"}`, jsonType)
}

// client returns a new client, so that retries and waits of other calls do not affect this one.
func (s *statusServer) client(t *testing.T) *Client {
	t.Helper()
	options := []Option{
		WithHTTPClient(&http.Client{Transport: &http.Transport{DialContext: s.dial}}),
		WithRetry(RetryPolicy{MaxAttempts: 2, MinWait: 1, MaxWait: 1}),
		WithRegistry(s.url+"/registry", s.url+"/auth"), WithRegistryCredentials("robot", "registry-password"),
	}
	if s.kind.endpoint == oauthTokenPath {
		config := &oauth2.Config{ClientID: "id", Endpoint: oauth2.Endpoint{
			TokenURL: s.url + oauthTokenPath, AuthStyle: oauth2.AuthStyleInParams,
		}}
		options = append(options, WithOAuth(config, expired("r1")))
	} else {
		options = append(options, WithToken(secret))
	}
	c, err := NewClient(s.url, options...)
	require.NoError(t, err)
	return c
}

// options returns the request options that the row requires.
func (s *statusServer) options() []RequestOption {
	switch s.row.when {
	case whenRange:
		return []RequestOption{Header("Range", "bytes=0-6")}
	case whenCondition:
		return []RequestOption{Header("If-None-Match", `"x"`)}
	case whenSilent:
		return []RequestOption{HeaderTimeout(300 * time.Millisecond)}
	}
	return nil
}

// check makes the call, and returns how it must end and how it has ended.
func (s *statusServer) check(t *testing.T, row statusRow, status int) (want, got string) {
	t.Helper()
	s.mu.Lock()
	s.row, s.status, s.met = row, status, 0
	s.mu.Unlock()
	c := s.client(t)
	defer c.CloseIdleConnections()
	err := s.kind.run(t.Context(), c, s.options()...)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wanted(s.kind.end(row)), s.outcome(err, c.Stats().Failures)
}

// requests returns how many requests get the status or follow its redirect.
func (s *statusServer) requests(end statusEnd) int {
	if end == endRetried || end == endRetryOpen || s.row.when == whenSameOrigin && end == endWell {
		return 2
	}
	return 1
}

// wanted describes the expected end in the form of outcome.
func (s *statusServer) wanted(end statusEnd) string {
	requests := s.requests(end)
	switch end {
	case endWell:
		return fmt.Sprintf("success, requests: %d", requests)
	case endUnchanged:
		return fmt.Sprintf("unchanged, requests: %d", requests)
	}
	var names []string
	if s.row.is != nil && s.kind.endpoint != oauthTokenPath {
		names = append(names, sentinelName(s.row.is))
	}
	if s.kind.ofCall {
		names = append(names, "ErrNoCredential")
	}
	status, attempts := s.status, requests
	if s.row.when == whenSilent {
		status = 0
	}
	open := (end == endOpen || end == endRetryOpen) && !s.kind.ofCall
	return s.failure(names, requests, attempts, status, open)
}

// failure describes a failed call. The status and the attempts of a token request do not belong to
// the call.
func (s *statusServer) failure(names []string, requests, attempts, status int, open bool) string {
	text := fmt.Sprintf("error %s, requests: %d, MaybeApplied: %t", names, requests, open)
	if s.kind.ofCall {
		return text
	}
	if status != 0 {
		status = s.status
	}
	return fmt.Sprintf("%s, attempts: %d, with the status: %t", text, attempts, status != 0)
}

// outcome describes how the call has ended.
func (s *statusServer) outcome(err error, failures int64) string {
	var e *Error
	switch {
	case err == nil && failures == 0:
		return fmt.Sprintf("success, requests: %d", s.met)
	case errors.Is(err, ErrNotModified) && failures == 0 && errors.As(err, &e):
		return fmt.Sprintf("unchanged, requests: %d", s.met)
	case failures == 0:
		return fmt.Sprintf("an error that is not counted: %v", err)
	case !errors.As(err, &e):
		return fmt.Sprintf("no *Error: %v", err)
	case e.Status != 0 && e.Status != s.status:
		return fmt.Sprintf("another status: %d", e.Status)
	}
	var names []string
	for _, sentinel := range statusSentinels {
		other := s.kind.endpoint == oauthTokenPath &&
			sentinel.name != "ErrNoCredential" && sentinel.name != "ErrNotModified"
		if errors.Is(err, sentinel.err) && !other {
			names = append(names, sentinel.name)
		}
	}
	return s.failure(names, s.met, e.Attempts, e.Status, e.MaybeApplied)
}

// For each status from 100 to 599, each kind of call ends as in the table: success, unchanged or an
// error, its sentinel, the number of requests, and whether a write may have been applied. Of the
// statuses inside a range, each kind of call gets every sixth; with FORGE_LONG=1 it gets all.
func TestStatuses(t *testing.T) {
	for i, kind := range statusKinds() {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			server, cells, wrong := newStatusServer(t, kind, newWire), 0, map[string][]string{}
			check := func(t *testing.T, server *statusServer, row statusRow, status int) {
				cells++
				if want, got := server.check(t, row, status); want != got {
					text := fmt.Sprintf("%s\n want %s\n got  %s", row.when, want, got)
					wrong[text] = append(wrong[text], strconv.Itoa(status))
				}
			}
			for _, row := range statusTable {
				if kind.end(row) == endNone || kind.special(row) {
					continue
				}
				for _, status := range row.some(t, i) {
					if row.when != whenSilent {
						check(t, server, row, status)
						continue
					}
					synctest.Test(t, func(t *testing.T) { check(t, newStatusServer(t, kind, pipedWire), row, status) })
				}
			}
			for text, statuses := range wrong {
				t.Errorf("%s %s", strings.Join(statuses, " "), text)
			}
			assert.GreaterOrEqual(t, cells, 100)
		})
	}
}

// A 1xx that a RoundTripper of the caller returns as the final status is an error immediately. Its
// body is not read: it may be a connection, whose reads no context ends.
func TestStatusesOfOtherTransports(t *testing.T) {
	for _, status := range []int{100, 101, 102, 103, 150, 199} {
		for _, k := range []RetryClass{RetryClassSafe, RetryClassIdempotent, RetryClassNonIdempotent} {
			read := false
			body := &closeCounter{Reader: readFunc(func([]byte) (int, error) { read = true; return 0, io.EOF })}
			c := wireClient(t, "https://forge.example.com", through(func(req *http.Request) (*http.Response, error) {
				if req.Body != nil {
					_, _ = io.Copy(io.Discard, req.Body)
					_ = req.Body.Close()
				}
				return &http.Response{StatusCode: status, Header: http.Header{}, Body: body, Request: req}, nil
			}))
			err := c.Do(t.Context(), callOf(k), new(any))
			assert.ErrorIs(t, err, ErrInvalidResponse, "%d %s", status, k)
			e := asError(t, err)
			assert.Equal(t, 1, e.Attempts, "%d %s", status, k)
			assert.Equal(t, k != RetryClassSafe, e.MaybeApplied, "%d %s", status, k)
			assert.False(t, read, "%d %s: the body was read", status, k)
			assert.EqualValues(t, 1, body.closed.Load(), "%d %s: the body is open", status, k)
		}
	}
}

// A status that the endpoint does not return is an error that says what the status means. Range
// changes that for a GET only.
func TestUnexpectedStatuses(t *testing.T) {
	for status, text := range map[int]string{
		101: "switched to another protocol", 206: "a part of the content", 300: "a proxy or a cache may have changed the response", 304: "the request had no condition",
	} {
		c := wireClient(t, newWire(t, always(say(status, ""))).url)
		err := c.Do(t.Context(), callOf(RetryClassNonIdempotent), nil, Header("Range", "bytes=0-1"))
		require.ErrorIs(t, err, ErrInvalidResponse)
		require.ErrorContains(t, err, text)
		assert.True(t, asError(t, err).MaybeApplied, status)
	}
}

// A number that is no status is named as such, up to the limits of both ends.
func TestStatusesThatAreNone(t *testing.T) {
	for status, none := range map[int]bool{0: true, 99: true, 100: false, 101: false, 599: false, 600: true, 999: true} {
		c := wireClient(t, "https://forge.example.com", WithRetry(RetryPolicy{MaxAttempts: 1}), through(func(req *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
		}))
		err := c.Do(t.Context(), callOf(RetryClassSafe), new(any))
		require.Error(t, err)
		assert.Equal(t, none, strings.Contains(err.Error(), fmt.Sprintf("%03d is not an HTTP status", status)), err)
		assert.Equal(t, none, strings.Contains(unexpectedText(status), "is not an HTTP status"), status)
	}
}
