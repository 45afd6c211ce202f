package forgetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"bufio"
	"net"
	"net/http/httptrace"
	"net/textproto"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/racetest"
)

const subscribeRoute = "POST /projects/:id/issues/:issue_iid/subscribe"

func faultWorld(t *testing.T) (*Server, caller) {
	s := New(t)
	s.AddProject("group/app").AddIssues(60, nil)
	return s, newCaller(t, s)
}

func TestFaultsThatReplaceTheCall(t *testing.T) {
	for _, tc := range []struct {
		name   string
		fault  Fault
		status int
		header map[string]string
		body   string
	}{
		{"status", Status(502), 502, map[string]string{"Content-Type": "application/json"}, `{"message":"502 Bad Gateway"}`},
		{"the first one that is final", Status(200), 200, nil, `{"message":"200 OK"}`},
		{"no content", Status(204), 204, nil, ""},
		{"not modified", Status(304), 304, nil, ""},
		{"a status of net/http only", Status(226), 226, nil, `{"message":"226 IM Used"}`},
		{"a status of proxies", Status(520), 520, nil, `{"message":"520 Web Server Returned an Unknown Error"}`},
		{"the last one of proxies", Status(530), 530, nil, `{"message":"530 Origin DNS Error"}`},
		{"message", StatusMessage(409, `Resource lock "1"`), 409, nil, `{"message":"Resource lock \"1\""}`},
		{"answer", Respond(503, "text/html", "<html>"), 503, map[string]string{"Content-Type": "text/html"}, "<html>"},
		{"sign-in", SignInPage(), 200, map[string]string{"Content-Type": "text/html; charset=utf-8"}, ""},
		{"redirect to a host", RedirectTo("https://evil.example", 307), 307, map[string]string{"Location": "https://evil.example/api/v4/projects/1/issues/1/subscribe?x=1"}, ""},
		{"redirect to an address", RedirectTo("https://evil.example/new", 302), 302, map[string]string{"Location": "https://evil.example/new"}, ""},
		{"rate limit", TooManyRequests(1500 * time.Millisecond), 429, map[string]string{"Retry-After": "2", "RateLimit-Remaining": "0", "RateLimit-Limit": "60", "Content-Type": "text/plain; charset=utf-8"}, "Retry later\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, c := faultWorld(t)
			s.Fail(subscribeRoute, tc.fault.Times(1))
			r := c.post("/projects/1/issues/1/subscribe?x=1")
			assert.Equal(t, tc.status, r.Status)
			for name, value := range tc.header {
				assert.Equal(t, value, r.Header.Get(name))
			}
			assert.NotEmpty(t, r.Header.Get("X-Request-Id"))
			if tc.body != "" {
				assert.Equal(t, tc.body, r.Body)
			}
			assert.Equal(t, 0, s.CountApplied("*"))
			assert.Equal(t, tc.status, s.Requests()[0].Status)
			assert.Equal(t, 201, c.post("/projects/1/issues/1/subscribe").Status) // the call was not executed
		})
	}
}

func TestResets(t *testing.T) {
	s, c := faultWorld(t)
	s.Fail(subscribeRoute, DropRequest().Times(1))
	s.Fail(subscribeRoute, DropResponse().Times(1))
	for effects := range 2 {
		_, err := c.request("POST", "/projects/1/issues/1/subscribe", "", "")
		require.Error(t, err)
		require.ErrorIs(t, err, syscall.ECONNRESET)
		assert.Equal(t, effects, s.CountApplied(subscribeRoute))
		assert.Equal(t, 0, s.Requests()[effects].Status)
		assert.Equal(t, []string{"drop-request", "drop-response"}[effects], s.Requests()[effects].Fault)
	}
	assert.Equal(t, 304, c.post("/projects/1/issues/1/subscribe").Status)
	assert.Equal(t, 1, s.CountApplied(subscribeRoute))
}

func TestTruncateBody(t *testing.T) {
	s, c := faultWorld(t)
	c.http.Transport.(*http.Transport).DisableCompression = true
	s.AddProject("group/big").AddGeneratedBlob("big.bin", 1<<20)
	for _, n := range []int{0, 1, 100} {
		s.ClearFaults()
		s.Fail("*", TruncateBody(n))
		for _, path := range []string{"/issues", "/projects/2/repository/blobs/" + s.store.projects[1].repo.branches["main"].tree.entries[0].id() + "/raw"} {
			response, err := c.request("GET", path, "", "")
			require.NoError(t, err)
			body, err := io.ReadAll(response.Body)
			response.Body.Close()
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			assert.Len(t, body, n)
			assert.Greater(t, response.ContentLength, int64(n))
		}
	}
}

func TestDelays(t *testing.T) {
	pause := 30 * time.Millisecond
	for name, f := range map[string]Fault{"delay": Delay(pause), "header": HeaderDelay(pause), "body": SlowBody(pause / 10)} {
		s, c := faultWorld(t)
		s.Fail(subscribeRoute, f)
		start := time.Now()
		response, err := c.request("POST", "/projects/1/issues/1/subscribe", "", "")
		require.NoError(t, err)
		if name != "body" {
			assert.GreaterOrEqual(t, time.Since(start), pause, name)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		require.NoError(t, err)
		assert.True(t, json.Valid(body), name)
		assert.GreaterOrEqual(t, time.Since(start), pause, name)
	}
	s, c := faultWorld(t)
	s.Fail(subscribeRoute, SlowBody(time.Hour)) // the header is not delayed
	response, err := c.request("POST", "/projects/1/issues/1/subscribe", "", "")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
}

// A stream is written in small pieces. The pauses of SlowBody depend on the number of bytes and not
// of writes.
func TestSlowBodyPausesByBytes(t *testing.T) {
	for size, want := range map[string]int{"": 3, "160000": 15} {
		w, pauses := httptest.NewRecorder(), 0
		w.Header().Set("Content-Length", size)
		slow := &slowWriter{ResponseWriter: w, pause: func() { pauses++ }}
		text := strings.Repeat("0123456789", 15_000)
		for piece := range slices.Chunk([]byte(text), 7) {
			n, err := slow.Write(piece)
			require.NoError(t, err)
			require.Len(t, piece, n)
		}
		assert.Equal(t, text, w.Body.String())
		assert.Equal(t, want, pauses)
	}
}

// A client that disconnects during a Delay stops the call; during a HeaderDelay the call has taken
// effect.
func TestDelayedCallHasItsEffectAfterTheDelay(t *testing.T) {
	s, c := faultWorld(t)
	s.Fail(subscribeRoute, Delay(time.Hour).Times(1))
	s.Fail(subscribeRoute, HeaderDelay(time.Hour).Times(1))
	for effects, path := range []string{"/projects/1/issues/1/subscribe", "/projects/1/issues/2/subscribe"} {
		ctx, giveUp := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, nil)
		require.NoError(t, err)
		r.Header.Set("PRIVATE-TOKEN", s.Token)
		arrived := func() bool {
			return s.CountRequests(subscribeRoute) == effects+1 && s.CountApplied(subscribeRoute) == effects
		}
		go func() {
			assert.Eventually(t, arrived, time.Minute, time.Millisecond)
			giveUp()
		}()
		_, err = c.http.Do(r)
		require.ErrorIs(t, err, context.Canceled)
	}
	s.Close()
	assert.Equal(t, 1, s.CountApplied(subscribeRoute))
}

func TestTimesAndAfter(t *testing.T) {
	s, c := faultWorld(t)
	s.Fail("GET /issues", Status(500).After(1).Times(2))
	s.Fail("*", Status(503).After(1).Times(1))
	var got []int
	for range 6 {
		got = append(got, c.get("/issues").Status)
	}
	assert.Equal(t, []int{200, 500, 500, 503, 200, 200}, got)
	always := Status(418)
	s.Fail("*", always)
	assert.Equal(t, 418, c.get("/namespaces").Status)
	assert.Equal(t, 418, c.get("/nowhere").Status)
	s.ClearFaults()
	assert.Equal(t, 200, c.get("/namespaces").Status)
}

func TestRateLimits(t *testing.T) {
	s, c := faultWorld(t)
	c.http.Transport.(*http.Transport).DisableCompression = true
	now := noon()
	s.SetClock(func() time.Time { return now })
	s.SetRateLimit("GET /issues", 2)
	for _, status := range []int{200, 200, 429} {
		assert.Equal(t, status, c.get("/issues").Status)
	}
	now = now.Add(45 * time.Second)
	limited := c.get("/issues").Header
	for name, want := range map[string]int64{"Retry-After": 15, "RateLimit-Limit": 2, "RateLimit-Observed": 3, "RateLimit-Remaining": 0, "RateLimit-Reset": now.Unix() + 15} {
		assert.Equal(t, decimal(want), limited.Get(name), name)
	}
	now = now.Add(15 * time.Second)
	assert.Equal(t, 200, c.get("/issues").Status)
}

// Reading a blob of more than 10 MB as JSON is limited to five calls a minute (Document 1 §8).
func TestLargeBlobsAreLimited(t *testing.T) {
	racetest.SkipSequential(t)
	s, c := faultWorld(t)
	c.http.Transport.(*http.Transport).DisableCompression = true
	now := noon()
	s.SetClock(func() time.Time { return now })
	big := s.AddProject("group/big")
	blob := func(size int64) string {
		return "/projects/group%2Fbig/repository/blobs/" + big.AddGeneratedBlob(fmt.Sprint(size), size)
	}
	large, limit, small := blob(10<<20+1), blob(10<<20), blob(10)
	for range 5 {
		assert.Equal(t, 200, c.get(large).Status)
	}
	r := c.get(large)
	assert.Equal(t, 429, r.Status)
	assert.Equal(t, "60", r.Header.Get("Retry-After"))
	for _, other := range []string{small, limit, limit, large + "/raw"} {
		assert.Equal(t, 200, c.get(other).Status, other)
	}
	now = now.Add(59 * time.Second)
	assert.Equal(t, 429, c.get(large).Status)
	now = now.Add(time.Second)
	assert.Equal(t, 200, c.get(large).Status)
	s.store.rates[largeBlobs].used = limitedCalls
	assert.Equal(t, 429, c.get(large).Status)
	s.SetRateLimit("GET /projects/:id/repository/blobs/:sha", 0)
	assert.Equal(t, 200, c.get(large).Status)
}

func TestHijackedConnectionsDoNotLeak(t *testing.T) {
	s, c := faultWorld(t)
	s.Fail("*", DropRequest())
	for range 20 {
		_, err := c.request("POST", "/issues", "text/plain", strings.Repeat("x", 1<<20))
		require.Error(t, err)
	}
	s.Close()
	assert.Equal(t, http.ErrServerClosed, s.http.ListenAndServe())
}

// The response of the call is sent with another status.
func TestRestate(t *testing.T) {
	for _, code := range []int{202, 204, 205, 206, 226, 500} {
		s, c := faultWorld(t)
		want := c.post("/projects/1/issues/2/subscribe")
		s.Fail(subscribeRoute, OverrideStatus(code).Times(1))
		r := c.post("/projects/1/issues/1/subscribe")
		assert.Equal(t, code, r.Status)
		if code != 204 {
			assert.Len(t, r.Body, len(want.Body))
		}
		assert.Equal(t, code, s.Requests()[1].Status)
		assert.Equal(t, 2, s.CountApplied(subscribeRoute), "the call was executed")
	}
}

func TestInterim(t *testing.T) {
	s, c := faultWorld(t)
	s.Fail("GET /user", Informational(103).Times(1))
	var got []string
	trace := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
		got = append(got, fmt.Sprint(code, " ", h.Get("Link")))
		return nil
	}})
	r, err := http.NewRequestWithContext(trace, http.MethodGet, c.base+"/user", nil)
	require.NoError(t, err)
	r.Header.Set("PRIVATE-TOKEN", s.Token)
	response, err := c.http.Do(r)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	require.NoError(t, err)
	assert.Equal(t, []string{"103 </assets/style.css>; rel=preload; as=style"}, got)
	assert.Equal(t, 200, response.StatusCode)
	assert.Empty(t, response.Header.Get("Link"))
	assert.Equal(t, c.get("/user").Body, string(body))
}

// After an interim response without a final one the connection is closed; after 101 it stays open
// and silent until the client or the server closes it.
func TestUnfinished(t *testing.T) {
	for code, want := range map[int]string{
		100: "HTTP/1.1 100 Continue\r\n\r\n",
		101: "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
		103: "HTTP/1.1 103 Early Hints\r\n\r\n",
	} {
		s := New(t)
		s.Fail("GET /issues", Status(code))
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		require.NoError(t, err)
		defer conn.Close()
		_, err = fmt.Fprintf(conn, "GET /api/v4/issues HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: %s\r\n\r\n", s.Token)
		require.NoError(t, err)
		reader := bufio.NewReader(conn)
		head := make([]byte, len(want))
		_, err = io.ReadFull(reader, head)
		require.NoError(t, err)
		assert.Equal(t, want, string(head))
		if code == 101 {
			require.NoError(t, conn.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
			_, err = reader.ReadByte()
			require.ErrorContains(t, err, "timeout", "it is still open")
			require.NoError(t, conn.SetReadDeadline(time.Time{}))
			s.Close()
		}
		_, err = reader.ReadByte()
		require.ErrorIs(t, err, io.EOF)
		s.Close()
		assert.Equal(t, code, s.Requests()[0].Status)
	}
}

func TestRefuseKeyset(t *testing.T) {
	s := New(t)
	s.AddUsers(3, "user")
	c := newCaller(t, s)
	s.Fail("GET /users", RefuseKeyset().After(1).Times(1))
	const keyset = "/users?pagination=keyset&order_by=id&sort=asc"
	var got []int
	for _, path := range []string{"/users", keyset, "/users?page=2", keyset, "/users", keyset} {
		got = append(got, c.get(path).Status)
	}
	assert.Equal(t, []int{200, 200, 200, 405, 200, 200}, got)
	s.Fail("*", RefuseKeyset())
	assert.JSONEq(t, `{"message":"405 Method Not Allowed"}`, c.get(keyset).Body)
}

// recorder is a testing.TB that records failures instead of failing this test.
type recorder struct {
	testing.TB
	errors []string
	ended  bool
}

func (r *recorder) Helper() {}
func (r *recorder) Error(args ...any) {
	r.errors = append(r.errors, strings.TrimSpace(fmt.Sprintln(args...)))
}
func (r *recorder) FailNow() { r.ended = true }
func (r *recorder) Fatalf(format string, args ...any) {
	r.Error(fmt.Sprintf(format, args...))
	runtime.Goexit()
}

func TestAssertions(t *testing.T) {
	s := New(t)
	s.AddProject("group/app").AddIssue(nil)
	c := newCaller(t, s)
	const subscribe, list = "POST /projects/:id/issues/:issue_iid/subscribe", "GET /issues"
	s.AssertNoRequest(t)
	c.post("/projects/1/issues/1/subscribe")
	c.send("POST", "/projects/1/issues/1/subscribe?private_token=secret", "a=b")
	c.get("/nothing?x=1")

	s.AssertRequestCount(t, subscribe, 2)
	s.AssertRequestCount(t, "*", 3)
	s.AssertAppliedCount(t, subscribe, 1)
	s.AssertNoRequest(t, list, "PUT /runners/:runner_id")
	s.AssertRequests(t, subscribe, subscribe, "")
	assert.Equal(t, 304, s.LastRequest(t, subscribe).Status)
	assert.Equal(t, "a=b", string(s.LastRequest(t, subscribe).Body))
	assert.Len(t, s.Requests()[0].ResponseBody, 300)
	assert.Equal(t, "/api/v4/nothing", s.LastRequest(t, "*").Path)
	assert.Contains(t, string(s.Requests()[0].ResponseBody), `{"id":1`)

	first := s.Requests()[0]
	assert.Equal(t, []string{"/api/v4/projects/1/issues/1/subscribe", s.Token}, []string{first.Path, first.Header.Get("PRIVATE-TOKEN")})
	assert.Equal(t, "1", s.Requests()[2].Query.Get("x"))

	r := &recorder{TB: t}
	assert.False(t, s.AssertRequestCount(r, subscribe, 1))
	assert.False(t, s.AssertAppliedCount(r, subscribe, 2))
	assert.False(t, s.AssertNoRequest(r))
	assert.False(t, s.AssertRequests(r, list))
	s.LastRequest(r, list)
	assert.True(t, r.ended)
	assert.Len(t, r.errors, 5)
	assert.Contains(t, r.errors[0], "forgetest: "+subscribe+": 2 requests, want 1\nPOST /api/v4/projects/1/issues/1/subscribe -> 201\n    response: {\"id\":1")
	assert.Contains(t, r.errors[0], "POST /api/v4/projects/1/issues/1/subscribe?private_token=%2A%2A%2A -> 304\n    request:  a=b\nGET /api/v4/nothing?x=1 -> 404 (matches no route)")
	assert.Contains(t, r.errors[1], ": changed something 1 time, want 2")
	assert.Contains(t, r.errors[3], "in this order:\n  GET /issues\ngot:\nPOST /api/v4/projects/1/issues/1/subscribe -> 201")

	s, c = faultWorld(t)
	c.send("PUT", "/runners/9", "")
	s.AssertRequests(t, "PUT /runners/:runner_id")                        // another name of PUT /runners/:id
	assert.Panics(t, func() { s.AssertRequestCount(t, "GET /issue", 0) }) // a misspelled route would always have 0
}

// The text of a request has the start of its bodies on one line, and no credential.
// A server that cannot start ends the test.
func TestNewFails(t *testing.T) {
	r := &recorder{TB: t}
	var ended sync.WaitGroup
	ended.Go(func() { New(r, WithAddr("256.0.0.1:0")) })
	ended.Wait()
	require.Len(t, r.errors, 1)
	assert.Contains(t, r.errors[0], "forgetest: ")
}

func TestRequestText(t *testing.T) {
	for n, more := range map[int]string{1: "", 299: "", 300: "...", 301: "..."} {
		r := Request{Method: "GET", Path: "/x", Route: "GET /x", Body: []byte(" a\n b\xff"), ResponseBody: bytes.Repeat([]byte("x"), n)}
		assert.Equal(t, "GET /x -> no response\n    request:  a b\uFFFD\n    response: "+strings.Repeat("x", min(n, 300))+more, r.String())
	}
	for _, name := range []string{"private_token", "access_token", "job_token"} {
		assert.Equal(t, "GET /x?"+name+"=%2A%2A%2A&y=1 -> 200", Request{Method: "GET", Path: "/x", Route: "*", Status: 200, Query: url.Values{name: {"secret"}, "y": {"1"}}}.String())
	}
}

// noRouteBody is the beginning of the body of the response to a request that matches no route: which
// routes are the next but one depends on the others that there are.
func noRouteBody(method, path, nearest string) string {
	text := strconv.Quote(fmt.Sprintf("forgetest has no such route: %s /api/v4%s (near: %q", method, path, nearest))
	return `{"error":` + strings.TrimSuffix(text, `"`)
}
