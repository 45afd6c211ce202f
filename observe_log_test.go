package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/forge-sdk/forge-go/internal/safetext"
)

// records collects slog records as JSON.
type records struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *records) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *records) option(level slog.Level) Option {
	return WithLogger(slog.New(slog.NewJSONHandler(r, &slog.HandlerOptions{Level: level})))
}

// lines returns level and message of each record, and empties the collection.
func (r *records) lines(t *testing.T) (lines []string, text string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	text = r.text.String()
	r.text.Reset()
	for line := range strings.Lines(text) {
		var record struct{ Level, Msg string }
		require.NoError(t, json.Unmarshal([]byte(line), &record))
		lines = append(lines, record.Level+" "+record.Msg)
	}
	return lines, text
}

// Each attempt is a debug record, a wait before the next attempt an info record, and a failure a
// warning. "Nothing to change" is not a failure; a response that cannot be decoded is one.
func TestLogLevels(t *testing.T) {
	const attempt, call, retry, failed = "DEBUG forge: attempt", "DEBUG forge: call", "INFO forge: retry", "WARN forge: call failed"
	for _, test := range []struct {
		name   string
		answer func(seen) act
		want   []string
	}{
		{"success", always(sayJSON("{}")), []string{attempt, call}},
		{"retry", script(say(502, ""), sayJSON("{}")), []string{attempt, retry, attempt, call}},
		{"304", always(say(304, "")), []string{attempt, call}},
		{"404", always(say(404, "", "X-Request-Id: r-1")), []string{attempt, failed}},
		{"lost", script(reset(""), say(403, "")), []string{attempt, retry, attempt, failed}},
		{"no JSON", always(sayJSON("{")), []string{attempt, call, failed}},
		{"renewed token", script(say(401, ""), say(502, ""), sayJSON("{}")), []string{attempt, attempt, retry, attempt, call}},
	} {
		var log records
		w, n := newWire(t, test.answer), 0
		renewed := tokenSource(func() (*oauth2.Token, error) { n++; return &oauth2.Token{AccessToken: fmt.Sprint("token-", n)}, nil })
		_ = wireClient(t, w.url, WithTokenSource(renewed), log.option(slog.LevelDebug)).Do(t.Context(), callOf(RetryClassIdempotent), new(any))
		got, text := log.lines(t)
		assert.Equal(t, test.want, got, test.name)
		assert.Contains(t, text, `"route":"`+idempotentRoute+`"`)
		assert.Contains(t, text, `"service":"issues"`)
		assert.Equal(t, test.name == "404", strings.Contains(text, `"request_id":`))
		if test.name == "lost" { // the record of a retry has its cause: at info level there is none of the attempt
			assert.Regexp(t, `"msg":"forge: retry"[^\n]*"error":"[^"]*(reset by peer|closed)`, text)
		}
	}
}

// The end of the caller's context is a failure only if it is a deadline.
func TestLogOfEndedCalls(t *testing.T) {
	late, cancelLate := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	defer cancelLate()
	ends := func(want string, ctx context.Context, options ...Option) {
		t.Helper()
		var log records
		require.Error(t, bubbleClient(t, append(options, log.option(slog.LevelDebug))...).Do(ctx, callOf(RetryClassSafe), nil))
		got, _ := log.lines(t)
		assert.Equal(t, want, got[len(got)-1])
	}
	ends("DEBUG forge: call canceled", canceled)
	ends("WARN forge: call failed", late)
	ends("WARN forge: call failed", t.Context(), through(func(*http.Request) (*http.Response, error) { return nil, context.Canceled }))
}

// The context of a record has not ended, not even after Timeout's: a handler may send the record.
func TestLogContext(t *testing.T) {
	log := slog.New(recording{slog.DiscardHandler, func(ctx context.Context) { assert.NoError(t, ctx.Err()) }})
	c := wireClient(t, newWire(t, always(sayJSON("{"))).url, WithLogger(log))
	require.ErrorIs(t, c.Do(t.Context(), callOf(RetryClassSafe), new(any), Timeout(time.Hour)), ErrInvalidResponse)
}

// recording is a log handler that passes on the context of each record.
type recording struct {
	slog.Handler
	seen func(context.Context)
}

func (recording) Enabled(context.Context, slog.Level) bool { return true }
func (r recording) Handle(ctx context.Context, _ slog.Record) error {
	r.seen(ctx)
	return nil
}

// Without a logger nothing is logged, and records below the logger's level are not built.
func TestLogOff(t *testing.T) {
	var log records
	w := newWire(t, always(say(404, "")))
	require.Error(t, wireClient(t, w.url).Do(t.Context(), callOf(RetryClassSafe), nil))
	require.Error(t, wireClient(t, w.url, log.option(slog.LevelError)).Do(t.Context(), callOf(RetryClassSafe), nil))
	off, err := wireClient(t, w.url, log.option(slog.LevelDebug)).With(WithLogger(nil))
	require.NoError(t, err)
	require.Error(t, off.Do(t.Context(), callOf(RetryClassSafe), nil))
	got, _ := log.lines(t)
	assert.Empty(t, got)
}

// A logged address shows only the values of query parameters that are on the allow-list, and no
// credential, in whichever part of it the caller put the credential.
func TestLogQuery(t *testing.T) {
	var log records
	w := newWire(t, always(say(404, "")))
	c := wireClient(t, w.url, log.option(slog.LevelDebug))
	require.Error(t, c.Do(t.Context(), callOf(RetryClassSafe), nil, Query("search", "a person"), Query("state", "opened"), Query("signature", "s3"), Query("ünïcode", "x9x9")))
	_, text := log.lines(t)
	assert.Contains(t, text, "state=opened")
	assert.Contains(t, text, "search=...")
	assert.Contains(t, text, `"address":"`+w.url+`/api/v4/`)
	for _, hidden := range []string{"person", "s3", "x9x9"} {
		assert.NotContains(t, text, hidden)
	}
	for _, name := range []string{
		"page", "per_page", "pagination", "order_by", "sort", "scope", "state", "recursive", "view", "in", "issue_type", "with_labels_details", "non_archived",
		"straight", "unidiff", "tags", "tags_count", "size", "type", "status", "paused",
	} {
		assert.Equal(t, "https://x/a?"+name+"=v&x_"+name+"=...", redactURL(&url.URL{Scheme: "https", Host: "x", Path: "/a", RawQuery: name + "=v&x_" + name + "=w"}))
	}
	call := Call{Method: http.MethodGet, Route: "/tokens/:id", Args: []Arg{Path(secret)}}
	err := c.Do(t.Context(), call, nil, Query("state", secret))
	require.Error(t, err)
	assert.Empty(t, reveals(err))
	_, text = log.lines(t)
	assert.Contains(t, text, "/tokens/"+safetext.Redacted)
	assert.NotContains(t, text, secret)
}

// A call redacts the token that it was sent with, even if another call has renewed it in the
// meantime.
func TestNoSecretAfterRenewal(t *testing.T) {
	tokens := []string{secret, secret, "other", "other", "other"}
	n := 0
	c := wireClient(t, "https://forge.example.com", WithTokenSource(tokenSource(func() (*oauth2.Token, error) {
		n++
		return &oauth2.Token{AccessToken: tokens[n]}, nil
	})), through(nothing))
	c.core.transport = roundTrip(func(req *http.Request) (*http.Response, error) {
		if strings.Contains(req.Header.Get("Authorization"), secret) {
			require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil)) // another call, with the next token
			return nil, errors.New("lost " + secret)
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
	})
	err := c.Do(t.Context(), callOf(RetryClassNonIdempotent), nil)
	require.Error(t, err)
	assert.Empty(t, reveals(err))
}

// Headers that the client sets itself cannot be set by the caller, in upper or lower case or with the
// underscores that servers read as dashes. TestCredentialNames has the queries.
func TestHeadersRefused(t *testing.T) {
	w := newWire(t, always(sayJSON("{}")))
	c := wireClient(t, w.url)
	for _, name := range []string{
		"private-token", "PRIVATE_TOKEN", "Private_Token", "JOB-TOKEN", "job_token", "AUTHORIZATION", "proxy-authorization", "Cookie", "sudo", "Deploy_Token", "Deploy-Token", "Idempotency-Key", "Host", "Content-Length", "Connection",
		"Transfer-Encoding", "Expect", "Accept-Encoding", "Upgrade", "Trailer", "TE", "Keep-Alive", "", "a b", "a\nb",
		"a/", "a:", "a@", "a[", "a`", "a{",
	} {
		var v *ValidationError
		require.ErrorAs(t, c.Do(t.Context(), callOf(RetryClassSafe), nil, Header(name, "x")), &v, name)
	}
	require.Error(t, c.Do(t.Context(), callOf(RetryClassSafe), nil, Header("X-A", "a\r\nb")))
	require.Error(t, c.Do(t.Context(), callOf(RetryClassSafe), nil, Query("", "x")))
	assert.Empty(t, w.seen())
	require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil, Header("azAZ-09", "x")))
}

// Credentials and headers of the API are not sent to the registry, which is a separate origin.
func TestRegistryGetsNothing(t *testing.T) {
	api, registry := newWire(t, always(sayJSON("{}"))), newWire(t, always(sayJSON("{}")))
	call := Call{Method: http.MethodGet, Route: "/v2/_catalog"}
	for name, credential := range credentials {
		c := wireClient(t, api.url, credential, WithRegistry(registry.url, registry.url))
		require.NoError(t, c.Do(t.Context(), call, nil), name)
		var v *ValidationError
		require.ErrorAs(t, c.Do(t.Context(), call, nil, Sudo(42)), &v, name)
	}
	require.Len(t, registry.seen(), len(credentials))
	for _, s := range registry.seen() {
		bare(t, s)
	}
	assert.Empty(t, api.seen())
}

// A wait that the server has requested is logged at info level.
func TestLogWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		client := pipedWire(t, always(sayJSON(`{"id":1}`))).client(t, WithLogger(slog.New(slog.NewTextHandler(&out, nil))))
		call := func() {
			_, err := client.Namespaces.Get(t.Context(), ID(1))
			require.NoError(t, err)
		}
		call()
		assert.NotContains(t, out.String(), "forge: wait")
		route, _ := findRoute("GET", "/namespaces/:id")
		client.core.apiGate.Hold(keyFor(&request{core: client.core, route: route}), time.Now().Add(30*time.Second))
		call()
		assert.Contains(t, out.String(), `msg="forge: wait"`)
	})
}

type waitFunc func(context.Context) error

func (f waitFunc) Wait(ctx context.Context) error { return f(ctx) }
