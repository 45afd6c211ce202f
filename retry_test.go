package forge

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/conn"
	"github.com/forge-sdk/forge-go/internal/credential"
)

// The decision about a failed attempt follows from its class, its record, the policy and the
// context.
func TestDecide(t *testing.T) {
	const half, none = 500 * time.Millisecond, time.Duration(0)
	policy := RetryPolicy{}.withDefaults()
	reset := errors.New("reset")
	seven, jittered := 7*time.Second, 7700*time.Millisecond
	for _, test := range []struct {
		name     string
		attempts int
		class    RetryClass
		response responseState
		sent     bool
		deadline time.Duration // 0: none
		want     decision      // its wait is the shortest allowed wait
		longest  time.Duration
	}{
		{"a 503 to a PUT", 1, ClassIdempotent, responseState{status: 503}, true, none, decision{step: resend, wait: half / 2}, 3 * half / 2},
		{"the second 503", 2, ClassIdempotent, responseState{status: 503}, true, none, decision{step: resend, wait: half}, 3 * half},
		{"the last 503", 4, ClassIdempotent, responseState{status: 503}, true, none, decision{}, 0},
		{"a 503 to a POST", 1, ClassNonIdempotent, responseState{status: 503}, true, none, decision{}, 0},
		{"a 429 to a POST", 1, ClassNonIdempotent, responseState{status: 429}, true, none, decision{step: resend, wait: half}, 3 * half},
		{"a lock", 1, ClassNonIdempotent, responseState{status: 409, message: "Resource lock"}, true, none, decision{step: resend, wait: half / 2}, 3 * half / 2},
		{"another conflict", 1, ClassSafe, responseState{status: 409, message: "exists"}, true, none, decision{}, 0},
		{"a 404", 1, ClassSafe, responseState{status: 404}, true, none, decision{}, 0},
		{"a POST that was lost", 1, ClassNonIdempotent, responseState{err: reset}, true, none, decision{}, 0},
		{"a PUT that was lost", 1, ClassIdempotent, responseState{err: reset}, true, none, decision{step: resend, wait: half / 20}, 3 * half / 20},
		{"a POST that was not sent", 1, ClassNonIdempotent, responseState{err: reset}, false, none, decision{step: resend, wait: half / 20}, 3 * half / 20},
		{"a permanent failure", 1, ClassSafe, responseState{err: reset, permanent: true}, false, none, decision{}, 0},
		{"an unknown host", 1, ClassSafe, responseState{err: &net.DNSError{IsNotFound: true}}, false, none, decision{}, 0},
		{"Retry-After", 1, ClassNonIdempotent, responseState{status: 429, retryAfter: seven}, true, none, decision{step: resend, wait: seven, serverAsked: true}, jittered},
		{"Retry-After of a 503", 1, ClassIdempotent, responseState{status: 503, retryAfter: seven}, true, none, decision{step: resend, wait: seven, serverAsked: true}, jittered},
		{"Retry-After of a 503 to a POST", 1, ClassNonIdempotent, responseState{status: 503, retryAfter: seven}, true, none, decision{}, 0},
		{"the longest Retry-After", 1, ClassSafe, responseState{status: 429, retryAfter: time.Minute}, true, none, decision{step: resend, wait: time.Minute, serverAsked: true}, 61 * time.Second},
		{"a Retry-After that is too long", 1, ClassSafe, responseState{status: 429, retryAfter: 61 * time.Second}, true, none,
			decision{reason: "the server requests a wait of 1m1s; this client waits at most 1m0s (RetryPolicy.MaxRetryAfter)"}, 0},
		{"a Retry-After past the deadline", 1, ClassSafe, responseState{status: 429, retryAfter: seven}, true, 5 * time.Second,
			decision{reason: "the server requests a wait of 7s, which ends after the context's deadline", cause: context.DeadlineExceeded}, 0},
		{"a Retry-After that is too long and past the deadline", 1, ClassSafe, responseState{status: 429, retryAfter: time.Hour}, true, 5 * time.Second,
			decision{reason: "the server requests a wait of 1h0m0s, which ends after the context's deadline", cause: context.DeadlineExceeded}, 0},
		{"a wait within the deadline", 1, ClassSafe, responseState{status: 503}, true, time.Second, decision{step: resend, wait: half / 2}, 3 * half / 2},
		{"the last attempt before the deadline", 4, ClassSafe, responseState{status: 429, retryAfter: time.Hour}, true, time.Second, decision{}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if test.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.deadline)
					defer cancel()
				}
				for range 20 { // the waits are random
					got := policy.decide(ctx, test.attempts, test.class, test.sent, test.response)
					assert.GreaterOrEqual(t, got.wait, test.want.wait)
					assert.LessOrEqual(t, got.wait, test.longest)
					got.wait = test.want.wait
					require.Equal(t, test.want, got)
				}
			})
		})
	}
}

// The error of a backoff that the context does not allow names the time of the next attempt.
func TestDecidePastDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	policy := RetryPolicy{MinWait: time.Hour, MaxWait: time.Hour}.withDefaults()
	got := policy.decide(ctx, 1, ClassSafe, true, responseState{status: 503})
	assert.Equal(t, giveUp, got.step)
	assert.Regexp(t, `^the context ends before the next attempt, which is due in (30m|[345]\dm|1h)`, got.reason)
	assert.Equal(t, context.DeadlineExceeded, got.cause)
	tokens := context.WithValue(ctx, timeLimitKey{}, error(errTokenTimeout))
	got = policy.decide(tokens, 1, ClassSafe, true, responseState{status: 503})
	assert.Regexp(t, `^the client waits for a token for 30s at most, and the next attempt is due in `, got.reason)
	assert.Equal(t, errTokenTimeout, got.cause)
	page, end := withTimeout(t.Context(), "the page", time.Minute)
	defer end()
	got = policy.decide(page, 1, ClassSafe, true, responseState{status: 503})
	assert.Regexp(t, `^the next attempt is due in (30m|[345]\dm|1h)`, got.reason)
	require.ErrorIs(t, got.cause, ErrTimeout)
	require.EqualError(t, got.cause, "the page would take longer than 1m0s")
	got = policy.decide(page, 1, ClassSafe, true, responseState{status: 429, retryAfter: time.Hour})
	assert.Equal(t, "the server requests a wait of 1h0m0s", got.reason)
}

// An attempt is retryable by class, whether it was sent, and what went wrong.
func TestRetryable(t *testing.T) {
	all, lost, never := [3]bool{true, true, true}, [3]bool{true, true, false}, [3]bool{}
	for _, test := range []struct {
		name     string
		response responseState
		sent     bool
		want     [3]bool // safe, idempotent, once
	}{
		{"not sent", responseState{err: io.ErrUnexpectedEOF}, false, all},
		{"sent", responseState{err: io.ErrUnexpectedEOF}, true, lost},
		{"permanent", responseState{err: io.ErrUnexpectedEOF, permanent: true}, true, never},
		{"certificate", responseState{err: x509.UnknownAuthorityError{}}, false, never},
		{"alert", responseState{err: &net.OpError{Op: "remote error", Err: errors.New("bad certificate")}}, true, never},
		{"proxy", responseState{err: &conn.ProxyError{Status: 407}}, false, never},
		{"proxy that is overloaded", responseState{err: &conn.ProxyError{Status: 503}}, false, all},
		{"425", responseState{status: 425}, true, all},
		{"429", responseState{status: 429}, true, all},
		{"lock", responseState{status: 409, message: "409 Resource lock"}, true, all},
		{"conflict", responseState{status: 409}, true, never},
		{"408", responseState{status: 408}, true, lost},
		{"500", responseState{status: 500}, true, lost},
		{"501", responseState{status: 501}, true, never},
		{"522", responseState{status: 522}, true, lost},
		{"528", responseState{status: 528}, true, never},
		{"400", responseState{status: 400}, true, never},
		{"401", responseState{status: 401}, true, never},
		{"417", responseState{status: 417}, true, never},
	} {
		for i, k := range []RetryClass{ClassSafe, ClassIdempotent, ClassNonIdempotent} {
			assert.Equal(t, test.want[i], test.response.retryable(k, test.sent), "%s, %s", test.name, k)
		}
	}
}

// fault is a failure that a server repeats, and how often each class may be sent in this case.
type fault struct {
	name      string
	act       act
	attempts  [3]int // safe, idempotent, once
	ambiguous bool   // a write may have taken effect
	is        error
}

func faults() []fault {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
	lost, all, never := [3]int{4, 4, 1}, [3]int{4, 4, 4}, [3]int{1, 1, 1}
	list := []fault{
		{"reset after the request", reset(""), lost, true, nil},
		{"closed after the request", closing(""), lost, true, io.ErrUnexpectedEOF},
		{"reset in the status line", reset("HTTP/1.1 20"), lost, true, nil},
		{"reset after the headers", reset(head), lost, true, nil},
		{"reset in the body", reset(head + `{"a":`), lost, true, nil},
		{"cut body", closing(head + `{"a":1}`), lost, true, io.ErrUnexpectedEOF},
		{"cut chunk", closing("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{}"), lost, true, io.ErrUnexpectedEOF},
		{"garbage", closing("\x00\x01 not HTTP\r\n\r\n"), lost, true, nil},
		{"429", say(429, "Retry later"), all, false, ErrRateLimited},
		{"501", say(501, ""), never, true, ErrServer},
		{"400", say(400, ""), never, false, ErrBadRequest},
		{"401", say(401, ""), never, false, ErrUnauthorized},
		{"403", say(403, ""), never, false, ErrForbidden},
		{"404", say(404, ""), never, false, ErrNotFound},
		{"409", say(409, ""), never, false, ErrConflict},
		{"complete but no JSON", sayJSON(`{"a":`), never, true, ErrInvalidResponse},
		{"HTML", say(200, "<html>", "Content-Type: text/html"), never, true, ErrInvalidResponse},
	}
	for _, status := range []int{408, 500, 502, 503, 504} {
		list = append(list, fault{strconv.Itoa(status), say(status, ""), lost, true, sentinelFor(status)})
	}
	return list
}

// The class of the route and the fault decide whether a request is retried, on new and on reused
// connections. A write that may have been applied is reported, and a route of class non-idempotent
// has at most one effect.
func TestRetryByClassAndFault(t *testing.T) {
	for _, f := range faults() {
		for _, reused := range []bool{false, true} {
			for i, k := range []RetryClass{ClassSafe, ClassIdempotent, ClassNonIdempotent} {
				t.Run(fmt.Sprintf("%s/%s/reused=%t", f.name, k, reused), func(t *testing.T) {
					t.Parallel()
					checkFault(t, f, k, f.attempts[i], reused)
				})
			}
		}
	}
}

func checkFault(t *testing.T, f fault, k RetryClass, attempts int, reused bool) {
	w := newWire(t, func(s seen) act {
		if s.uri == "/api/v4/user" {
			return sayJSON("{}")
		}
		return f.act
	})
	c := wireClient(t, w.url)
	var out any
	for pooled := !reused; !pooled; {
		pooled = putBack(t, c, &httptrace.ClientTrace{})
	}
	conns := w.accepted()
	err := c.Do(t.Context(), callOf(k), &out)
	e := asError(t, err)
	assert.Equal(t, attempts, e.Attempts)
	assert.Equal(t, f.ambiguous && k != ClassSafe, e.MaybeApplied)
	if f.is != nil {
		require.ErrorIs(t, err, f.is)
	}
	require.NotErrorIs(t, err, io.EOF) // a reader would treat it as a normal end

	var sent []seen
	for _, s := range w.seen() {
		if s.uri != "/api/v4/user" {
			sent = append(sent, s)
		}
	}
	if reused {
		require.Equal(t, 2, sent[0].nth)
		require.Equal(t, conns, sent[0].conn)
	}
	if extra := len(sent) - attempts; k != ClassSafe || !reused || extra < 0 || extra > 1 {
		// net/http itself sends a GET again, once, if its connection was closed while it was idle.
		assert.Len(t, sent, attempts)
	}
	for _, s := range sent {
		assert.Equal(t, sent[0].body, s.body)
	}
}

// Without a connection nothing was sent: every class is retried, and nothing was applied.
func TestRetryRefused(t *testing.T) {
	for _, k := range []RetryClass{ClassSafe, ClassIdempotent, ClassNonIdempotent} {
		err := wireClient(t, refusedAddress(t)).Do(t.Context(), callOf(k), nil)
		e := asError(t, err)
		assert.Equal(t, 4, e.Attempts)
		assert.Zero(t, e.Status)
		assert.False(t, e.MaybeApplied)
	}
}

// A server that accepts a connection and resets it may have processed the request, so class once is
// not retried.
func TestRetryResetImmediately(t *testing.T) {
	for i, k := range []RetryClass{ClassSafe, ClassIdempotent, ClassNonIdempotent} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer listener.Close()
		accepted := 0
		transport := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, addr)
			if peer, e := listener.Accept(); e == nil {
				accepted++ // the dial has succeeded; the connection is reset before anything is sent
				reset("")(peer)
			}
			return conn, err
		}}
		c := wireClient(t, "http://"+listener.Addr().String(), WithHTTPClient(&http.Client{Transport: transport}))
		e := asError(t, c.Do(t.Context(), callOf(k), nil))
		want := []int{4, 4, 1}[i]
		assert.Equal(t, want, e.Attempts)
		assert.Equal(t, want, accepted)
		assert.Equal(t, k != ClassSafe, e.MaybeApplied)
	}
}

// If a connection was closed while it was idle, net/http may detect this in time and use a new one,
// or not. In both cases a non-idempotent call has at most one effect.
func TestRetryIdleConnectionDied(t *testing.T) {
	for range 20 {
		w := newWire(t, func(s seen) act {
			if s.conn == 1 {
				return reset("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
			}
			return sayJSON("{}")
		})
		c := wireClient(t, w.url)
		_ = c.Do(t.Context(), callOf(ClassSafe), nil)
		before := len(w.seen())
		err := c.Do(t.Context(), callOf(ClassNonIdempotent), nil)
		effects := len(w.seen()) - before
		assert.LessOrEqual(t, effects, 1)
		if err != nil {
			assert.True(t, asError(t, err).MaybeApplied)
		}
	}
}

// A 404 or 304 after an attempt that may have been applied is an error, which states what it may
// mean.
func TestRetryAmbiguousThenGone(t *testing.T) {
	for _, status := range []int{404, 304} {
		w := newWire(t, script(reset(""), say(status, "")))
		err := wireClient(t, w.url).Do(t.Context(), callOf(ClassIdempotent), nil)
		e := asError(t, err)
		assert.Equal(t, status, e.Status)
		assert.Equal(t, 2, e.Attempts)
		assert.True(t, e.MaybeApplied)
		assert.Equal(t, status == 304, IsNotModified(err))
	}
	w := newWire(t, always(say(304, "")))
	err := wireClient(t, w.url).Do(t.Context(), callOf(ClassIdempotent), nil)
	require.ErrorIs(t, err, ErrNotModified)
	assert.False(t, asError(t, err).MaybeApplied)
}

// A successful attempt ends the call, and Response counts the attempts. A stream is retried until
// its headers have arrived.
func TestRetryThenSuccess(t *testing.T) {
	for _, r := range runners {
		w := newWire(t, script(say(502, "", "Connection: close"), reset(""), say(429, ""), say(200, "[]", jsonType)))
		var got Response
		require.NoError(t, r.run(t.Context(), wireClient(t, w.url), Into(&got)), r.name)
		assert.Equal(t, 4, got.Attempts, r.name)
		assert.Equal(t, 200, got.Status)
	}
}

// A truncated stream is an error of Read, not an early end, and causes no second request.
func TestTruncatedStreamIsNotRetried(t *testing.T) {
	w := newWire(t, always(closing("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")))
	d, err := openArchive(t.Context(), wireClient(t, w.url))
	require.NoError(t, err)
	defer d.Close()
	data, err := io.ReadAll(d)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Equal(t, archiveRoute, asError(t, err).Route)
	assert.Equal(t, "half", string(data))
	assert.Len(t, w.seen(), 1)
}

// Certificate errors, TLS alerts, plain HTTP instead of TLS and unknown hosts are not retried.
func TestRetryNeverForTLSAndUnknownHosts(t *testing.T) {
	quiet := log.New(io.Discard, "", 0)
	start := func(config *tls.Config) *httptest.Server {
		srv := httptest.NewUnstartedServer(http.NotFoundHandler())
		srv.TLS, srv.Config.ErrorLog = config, quiet
		srv.StartTLS()
		t.Cleanup(srv.Close)
		return srv
	}
	plain := httptest.NewUnstartedServer(http.NotFoundHandler())
	plain.Config.ErrorLog = quiet
	plain.Start()
	t.Cleanup(plain.Close)
	old := start(&tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}) //nolint:gosec // what must be refused
	mutual := start(&tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12})
	for name, address := range map[string]string{
		"unknown authority": start(nil).URL, "plain http": strings.Replace(plain.URL, "http:", "https:", 1),
		"old TLS": old.URL, "client certificate wanted": mutual.URL, "unknown host": "https://nowhere.example",
	} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
		switch name {
		case "old TLS", "client certificate wanted":
			transport.TLSClientConfig.RootCAs = mutual.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
		case "unknown host":
			transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
				return nil, &net.DNSError{Err: "no such host", Name: "nowhere.example", IsNotFound: true}
			}
		}
		c := wireClient(t, address, WithHTTPClient(&http.Client{Transport: transport}))
		err := c.Do(t.Context(), callOf(ClassSafe), nil)
		assert.Equal(t, 1, asError(t, err).Attempts, "%s: %v", name, err)
	}
}

// A transport other than net/http's reports no connections, so its failures count as sent, except
// those of a dial.
func TestRetryForeignTransport(t *testing.T) {
	for _, test := range []struct {
		err      error
		attempts int
	}{
		{errors.New("lost after sending"), 1},
		{&net.OpError{Op: "read", Err: errors.New("reset")}, 1},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, 4},
	} {
		mock := httpmock.NewMockTransport()
		mock.RegisterNoResponder(httpmock.NewErrorResponder(test.err))
		c := wireClient(t, "https://forge.example.com", WithHTTPClient(&http.Client{Transport: mock}))
		e := asError(t, c.Do(t.Context(), callOf(ClassNonIdempotent), nil))
		assert.Equal(t, test.attempts, e.Attempts)
		assert.Equal(t, test.attempts == 1, e.MaybeApplied)
		assert.Equal(t, test.attempts, mock.GetTotalCallCount())
	}
}

// A body that cannot be read again is sent once; one that can is retried with the same bytes.
func TestRetryUploads(t *testing.T) {
	for _, test := range []struct {
		name     string
		file     File
		answer   act
		attempts int
	}{
		{"bytes", FileBytes([]byte("content")), say(429, ""), 4},
		{"reader", FileReader(strings.NewReader("content"), 7), say(429, ""), 1},
	} {
		w := newWire(t, always(test.answer))
		c := wireClient(t, w.url)
		r := service{c.core}.newPost("/projects/:project_id/secure_files", ID(1)).upload(map[string]string{"name": "a"}, "file", test.file)
		require.Equal(t, test.attempts, asError(t, exec(t.Context(), r, nil)).Attempts, test.name)
		got := w.seen()
		require.Len(t, got, test.attempts)
		for _, s := range got {
			assert.Equal(t, got[0].body, s.body)
			assert.Contains(t, s.body, "content")
		}
	}
}

// A finished context ends the call without another attempt.
func TestRetryFinishedContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := pipedWire(t, always(say(502, "")))
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		err := w.client(t, WithRetry(RetryPolicy{MinWait: time.Hour, MaxWait: time.Hour})).Do(ctx, callOf(ClassSafe), nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, ErrServer)
		assert.Len(t, w.seen(), 1)
	})
}

// The first wait of the backoff depends on the failure.
func TestBackoffBase(t *testing.T) {
	policy := RetryPolicy{}.withDefaults()
	lost := responseState{err: io.ErrUnexpectedEOF}
	for want, attempts := range map[time.Duration][]responseState{
		50 * time.Millisecond:  {lost, {err: conn.ErrNotProcessed}},
		500 * time.Millisecond: {{status: 503}, {status: 408}, {status: 425}, {status: 522}, {status: 409}, {err: &sentinelError{sentinel: ErrTimeout}}, {err: &conn.ProxyError{Status: 502}}, {err: &net.OpError{Op: "dial"}}, {err: credentialError(&credential.Error{})}},
		time.Second:            {{status: 429}},
	} {
		for _, r := range attempts {
			assert.Equal(t, want, policy.base(r), "%d %v", r.status, r.err)
		}
	}
	assert.Equal(t, 100*time.Microsecond, RetryPolicy{MinWait: time.Millisecond}.base(lost))
}

// 60 calls to a service that always fails in one way make at most 100 requests, for every status
// and every fault, in every class, whether the failure is retried or not.
func TestRetryBudgetOfEachFault(t *testing.T) {
	type answer = func(*http.Request) (*http.Response, error)
	fails := func(err error) answer { return func(*http.Request) (*http.Response, error) { return nil, err } }
	says := func(status int, body io.Reader) answer {
		return func(req *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(body), Request: req}, nil
		}
	}
	services := map[string]answer{
		"refused": fails(&net.OpError{Op: "dial", Err: errors.New("refused")}), "lost": fails(io.ErrUnexpectedEOF),
		"truncated": says(200, iotest.ErrReader(io.ErrUnexpectedEOF)),
		"silent": func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		},
	}
	for status := 400; status < 600; status++ {
		services[strconv.Itoa(status)] = func(req *http.Request) (*http.Response, error) {
			return says(status, strings.NewReader(`{"message":"Resource lock"}`))(req)
		}
	}
	retried := 0
	for name, service := range services {
		for _, k := range []RetryClass{ClassSafe, ClassIdempotent, ClassNonIdempotent} {
			synctest.Test(t, func(t *testing.T) {
				requests := 0
				c := bubbleClient(t, through(func(req *http.Request) (*http.Response, error) {
					requests++
					return service(req)
				}))
				for range 60 {
					require.Error(t, c.Do(t.Context(), callOf(k), new(any)), name)
				}
				assert.LessOrEqual(t, requests, 60+40, "%s, %s", name, k)
				if requests > 60 {
					retried++
					assert.Equal(t, 60+40, requests, "%s, %s: the budget is not used up", name, k)
				}
			})
		}
	}
	assert.Equal(t, 3*4+2*(5+9+3), retried, "classes of statuses and faults that are retried")
}
