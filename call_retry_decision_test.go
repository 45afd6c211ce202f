package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"syscall"
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
		{"cut page", closing("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<html>"), lost, true, io.ErrUnexpectedEOF},
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
			for i, k := range []RetryClass{RetryClassSafe, RetryClassIdempotent, RetryClassNonIdempotent} {
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
	assert.Equal(t, f.ambiguous && k != RetryClassSafe, e.MaybeApplied)
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
	if extra := len(sent) - attempts; k != RetryClassSafe || !reused || extra < 0 || extra > 1 {
		// net/http itself sends a GET again, once, if its connection was closed while it was idle.
		assert.Len(t, sent, attempts)
	}
	for _, s := range sent {
		assert.Equal(t, sent[0].body, s.body)
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
		{io.ErrUnexpectedEOF, 1},
		{&net.OpError{Op: "read", Err: errors.New("reset")}, 1},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, 4},
	} {
		mock := httpmock.NewMockTransport()
		mock.RegisterNoResponder(httpmock.NewErrorResponder(test.err))
		c := wireClient(t, "https://forge.example.com", WithHTTPClient(&http.Client{Transport: mock}))
		e := asError(t, c.Do(t.Context(), callOf(RetryClassNonIdempotent), nil))
		assert.Equal(t, test.attempts, e.Attempts)
		assert.Equal(t, test.attempts == 1, e.MaybeApplied)
		assert.Equal(t, test.attempts, mock.GetTotalCallCount())
	}
}

// A finished context ends the call without another attempt.
func TestRetryFinishedContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := pipedWire(t, always(say(502, "")))
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		err := w.client(t, WithRetry(RetryPolicy{MinWait: time.Hour, MaxWait: time.Hour})).Do(ctx, callOf(RetryClassSafe), nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, ErrServer)
		require.ErrorContains(t, err, "the context ends before the next attempt, which is due in ")
		assert.Len(t, w.seen(), 1)
		patient := RetryPolicy{MinWait: time.Hour, MaxWait: time.Hour}
		registry := w.client(t, WithRetry(patient), WithRegistry(w.url, w.url), WithRegistryCredentials("robot", "registry-password"))
		require.ErrorContains(t, registry.RegistryNative.DeleteTagReference(t.Context(), "a/b", "v1"), "the client waits for a token for 30s at most, and the next attempt is due in ")
	})
}

// The first wait of the backoff depends on the failure.
func TestBackoffBase(t *testing.T) {
	policy := RetryPolicy{}.withDefaults()
	lost := result{err: io.ErrUnexpectedEOF}
	for want, attempts := range map[time.Duration][]result{
		50 * time.Millisecond:  {lost, {err: conn.ErrNotProcessed}},
		500 * time.Millisecond: {{status: 500}, {status: 502}, {status: 503}, {status: 504}, {status: 408}, {status: 425}, {status: 522}, {status: 530}, {status: 409}, {err: &sentinelError{sentinel: ErrTimeout}}, {err: &conn.ProxyError{Status: 502}}, {err: &net.OpError{Op: "dial"}}, {err: credentialError(&credential.Error{})}},
		time.Second:            {{status: 429}},
	} {
		for _, r := range attempts {
			assert.Equal(t, want, policy.base(&r), "%d %v", r.status, r.err)
		}
	}
	assert.Equal(t, 100*time.Microsecond, RetryPolicy{MinWait: time.Millisecond}.base(&lost))
}

// The decision not to send a request again names the wait, rounded to a millisecond, and what does
// not allow it.
func TestRetryRefused(t *testing.T) {
	limited, end := withTimeout(t.Context(), "the call", time.Hour)
	defer end()
	token, endToken := withTokenTimeout(t.Context())
	defer endToken()
	for _, test := range []struct {
		ctx    context.Context //nolint:containedctx // a row
		asked  time.Duration
		cause  error
		reason string
	}{
		{t.Context(), time.Minute + 1, context.DeadlineExceeded, "the server requests a wait of 1m0s, which ends after the context's deadline"},
		{t.Context(), 0, context.DeadlineExceeded, "the context ends before the next attempt, which is due in 1h0m0s"},
		{limited, time.Minute + 1, ErrTimeout, "the server requests a wait of 1m0s"},
		{t.Context(), 1, context.DeadlineExceeded, "the server requests a wait of 1ms, which ends after the context's deadline"},
		{limited, 1, ErrTimeout, "the server requests a wait of 1ms"},
		{limited, 0, ErrTimeout, "the next attempt is due in 1h0m0s"},
		{token, time.Minute + 1, errTokenTimeout, "the client waits for a token for 30s at most, and the next attempt is due in 1h0m0s"},
		{token, 0, errTokenTimeout, "the client waits for a token for 30s at most, and the next attempt is due in 1h0m0s"},
	} {
		d := pastDeadlineDecision(test.ctx, time.Hour+1, test.asked)
		assert.Equal(t, test.reason, d.reason)
		require.ErrorIs(t, d.cause, test.cause)
		assert.Equal(t, giveUp, d.step)
	}
	d := RetryPolicy{}.withDefaults().decide(t.Context(), 1, RetryClassSafe, &result{status: 503, retryAfter: time.Minute + 1})
	assert.Equal(t, decision{reason: "the server requests a wait of 1m0s; this client waits at most 1m0s (RetryPolicy.MaxRetryAfter)"}, d)
	for ctx, why := range map[context.Context]string{limited: "held: " + pastDeadline(limited).Error(), token: "held", t.Context(): "held"} {
		got, err := tooLongWait(ctx, time.Now().Add(2*time.Hour), "held")
		assert.Equal(t, why, got)
		assert.Equal(t, ctx == t.Context(), errors.Is(err, ErrRateLimited))
	}
}

// A wait may end with the deadline, and not later. A call waits 30 s for a token.
func TestRetryAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for limit, want := range map[time.Duration]nextStep{1: resend, 0: giveUp} {
			ctx, end := context.WithDeadline(t.Context(), time.Now().Add(limit))
			d := RetryPolicy{}.withDefaults().decide(ctx, 1, RetryClassSafe, &result{status: 503, retryAfter: 1})
			end()
			assert.Equal(t, want, d.step)
			assert.Equal(t, want == resend, d.serverAsked)
		}
		ctx, end := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
		defer end()
		why, err := tooLongWait(ctx, time.Now().Add(time.Hour), "held")
		assert.Equal(t, []any{"held", ErrRateLimited}, []any{why, err}, "the wait ends with the deadline")
		why, err = tooLongWait(ctx, time.Now().Add(time.Hour+1), "held")
		assert.Equal(t, []any{"held", context.DeadlineExceeded}, []any{why, err})
		token, endToken := withTokenTimeout(t.Context())
		defer endToken()
		deadline, _ := token.Deadline()
		assert.Equal(t, 30*time.Second, time.Until(deadline))
	})
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
		"refused": fails(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), "lost": fails(io.ErrUnexpectedEOF),
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
		for _, k := range []RetryClass{RetryClassSafe, RetryClassIdempotent, RetryClassNonIdempotent} {
			synctest.Test(t, func(t *testing.T) {
				requests := 0
				c := bubbleClient(t, through(func(req *http.Request) (*http.Response, error) {
					requests++
					return service(req)
				}))
				var err error
				for range 60 {
					err = c.Do(t.Context(), callOf(k), new(any))
					require.Error(t, err, name)
				}
				assert.LessOrEqual(t, requests, 60+40, "%s, %s", name, k)
				if requests > 60 {
					retried++
					require.ErrorContains(t, err, "retry budget")
					assert.Equal(t, 60+40, requests, "%s, %s: the budget is not used up", name, k)
				}
			})
		}
	}
	assert.Equal(t, 3*4+2*(5+9+3), retried, "classes of statuses and faults that are retried")
}
