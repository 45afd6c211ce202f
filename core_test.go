package forge

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

// deadService counts the requests to a dead service: those that it reads or, if no process listens,
// the attempts to connect.
type deadService struct {
	*wire
	dead act // nil: no process listens

	lock     sync.Mutex
	requests int
	each     map[string]int // requests by address
}

// newDeadService starts a dead service. With firstPages it serves the first pages of lists before
// it dies.
func newDeadService(t *testing.T, dead act, firstPages bool) *deadService {
	t.Helper()
	s := &deadService{dead: dead, each: map[string]int{}}
	s.wire = newWire(t, func(r seen) act {
		s.lock.Lock()
		defer s.lock.Unlock()
		if u, _ := url.Parse(r.uri); firstPages && slices.Contains([]string{"", "1"}, u.Query().Get("page")) {
			return say(200, `[{"id":1,"iid":1}]`, jsonType, "X-Page: 1", "X-Next-Page: 2", "X-Total-Pages: 100")
		}
		s.requests++
		s.each[r.uri]++
		return s.dead
	})
	return s
}

func (s *deadService) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if s.dead == nil {
		s.lock.Lock()
		defer s.lock.Unlock()
		s.requests++
		return dialRefused(ctx)
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

func (s *deadService) client(t *testing.T) *Client {
	t.Helper()
	transport := &http.Transport{DialContext: s.dial, MaxConnsPerHost: 50}
	return wireClient(t, s.url, WithHTTPClient(&http.Client{Transport: transport}), WithRetry(RetryPolicy{MinWait: 1, MaxWait: 1}))
}

// deadCalls are kinds of calls. Each call has a separate name, so that its requests can be counted.
var deadCalls = map[string]func(context.Context, *Client, int) error{
	"calls": func(ctx context.Context, c *Client, i int) error {
		return c.Do(ctx, callOf([]RetryClass{RetryClassSafe, RetryClassIdempotent}[i%2]), nil, Query("call", fmt.Sprint(i)))
	},
	"lists": func(ctx context.Context, c *Client, i int) error {
		_, err := Collect(c.Issues.List(ctx, nil, Ahead(8), Query("call", fmt.Sprint(i))))
		return err
	},
	"downloads": func(ctx context.Context, c *Client, i int) error {
		_, err := c.Repositories.Archive(ctx, ID(1), nil, Query("call", fmt.Sprint(i)))
		return err
	},
	"uploads": func(ctx context.Context, c *Client, i int) error {
		o := &UploadSecureFileOptions{Name: "a", File: FileBytes([]byte("content")).Named("a")}
		_, err := c.SecureFiles.Upload(ctx, ID(1), o, Query("call", fmt.Sprint(i)))
		return err
	},
}

// A dead service gets at most 40 requests more than there are calls, and at most 4 of each call,
// for sequential and for concurrent calls, and for each way in which it can fail.
func TestDeadService(t *testing.T) {
	for how, dead := range map[string]act{"refused": nil, "503": say(503, ""), "reset": reset(""), "closed": closing(""), "425": say(425, "")} {
		for kind, call := range deadCalls {
			for _, calls := range []int{100, 500} {
				if calls > 100 && kind != "calls" && !longForm() {
					continue
				}
				for _, concurrently := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%d %s, concurrently %t", how, calls, kind, concurrently), func(t *testing.T) {
						t.Parallel()
						checkDeadService(t, newDeadService(t, dead, false), call, calls, concurrently)
					})
				}
			}
		}
	}
}

func checkDeadService(t *testing.T, s *deadService, call func(context.Context, *Client, int) error, calls int, concurrently bool) {
	t.Helper()
	c := s.client(t)
	one := func(i int) {
		var e *Error
		if assert.ErrorAs(t, call(t.Context(), c, i), &e) {
			assert.LessOrEqual(t, e.Attempts, 4)
		}
	}
	var running sync.WaitGroup
	for i := range calls {
		if concurrently {
			running.Go(func() { one(i) })
		} else {
			one(i)
		}
	}
	running.Wait()
	s.lock.Lock()
	defer s.lock.Unlock()
	assert.LessOrEqual(t, s.requests, calls+40, "requests")
	assert.GreaterOrEqual(t, s.requests, calls, "requests")
	for uri, n := range s.each {
		assert.LessOrEqual(t, n, 4, uri)
	}
}

// A service that dies while lists prefetch pages gets at most 40 requests more than there are
// requested pages, and at most 4 for each page.
func TestDeadServiceAhead(t *testing.T) {
	const lists = 20
	for how, dead := range map[string]act{"503": say(503, ""), "reset": reset(""), "closed": closing("")} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := newDeadService(t, dead, true)
			c := s.client(t)
			var first, running sync.WaitGroup
			first.Add(lists)
			for i := range lists {
				running.Go(func() {
					items := 0
					for issue, err := range c.Issues.List(t.Context(), nil, Ahead(8), Query("call", fmt.Sprint(i))) {
						if items++; items == 1 {
							first.Done()
							assert.NoError(t, err)
							first.Wait() // all first pages have arrived before a list continues
							continue
						}
						assert.Nil(t, issue)
						assert.Error(t, err)
					}
					assert.Equal(t, 2, items, "an item and the error")
				})
			}
			running.Wait()
			stats := c.Stats()
			s.lock.Lock()
			defer s.lock.Unlock()
			pages := int(stats.Calls) - lists
			t.Logf("%d requests for %d pages", s.requests, pages)
			assert.LessOrEqual(t, s.requests, pages+40, "requests")
			for uri, n := range s.each {
				assert.LessOrEqual(t, n, 4, uri)
			}
			require.Contains(t, strings.Join(slices.Collect(maps.Keys(s.each)), " "), "page=2")
		})
	}
}

// TestRedact checks that text of an exchange that a user stores contains none of the client's
// credentials after Redact.
func TestRedact(t *testing.T) {
	const password = "pass&word"
	pair := base64.StdEncoding.EncodeToString([]byte("bot:" + password))
	client, err := NewClient("https://forge.example.com", WithJobToken("job-token-9"),
		WithRegistry("https://registry.example.com", "https://forge.example.com"), WithRegistryCredentials("bot", password))
	require.NoError(t, err)
	for text, want := range map[string]string{
		"JOB-TOKEN: job-token-9":                 "JOB-TOKEN: [redacted]",
		`{"t":"job\u002dtoken-9","u":"x"}`:       `{"t":"[redacted]","u":"x"}`,
		"Basic " + pair:                          "Basic [redacted]",
		"password=pass%26word&job=job-token-9":   "password=[redacted]&job=[redacted]",
		"nothing to hide: job-token, tok, [1,2]": "nothing to hide: job-token, tok, [1,2]",
	} {
		assert.Equal(t, want, client.Redact(text))
	}

	const token = "token-of-a-source"
	w := newWire(t, always(sayJSON("{}")))
	used := wireClient(t, w.url, WithTokenSource(oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token})))
	require.NoError(t, used.Do(t.Context(), callOf(RetryClassSafe), nil))
	assert.Equal(t, "Bearer [redacted]", used.Redact("Bearer "+token))

	tokens, config := tokenServer(t, func(url.Values, int) act {
		return sayJSON(`{"access_token":"second-access","refresh_token":"second-refresh"}`)
	})
	config.ClientSecret = "a-client-secret"
	oauth := wireClient(t, w.url, WithOAuth(config, &oauth2.Token{AccessToken: "first-access", RefreshToken: "first-refresh"}))
	derived, err := oauth.With(WithUserAgent("derived/1"))
	require.NoError(t, err)
	const kept = "first-access first-refresh second-access second-refresh a-client-secret"
	for _, c := range []*Client{oauth, derived} {
		assert.Equal(t, "[redacted] [redacted] second-access second-refresh [redacted]", c.Redact(kept), "before the first call")
	}
	rejecting := newWire(t, script(say(401, ""), sayJSON("{}")))
	oauth = wireClient(t, rejecting.url, WithOAuth(config, &oauth2.Token{AccessToken: "first-access", RefreshToken: "first-refresh"}))
	require.NoError(t, oauth.Do(t.Context(), callOf(RetryClassSafe), nil))
	assert.Len(t, tokens.seen(), 1)
	assert.Equal(t, "first-access first-refresh [redacted] [redacted] [redacted]", oauth.Redact(kept), "the latest ones")
}
