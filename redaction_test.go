package forge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/forge-sdk/forge-go/internal/safetext"
	"github.com/forge-sdk/forge-go/internal/safetext/safetexttest"
)

const (
	refreshSecret = "refresh/TOKEN+0123456789="
	clientSecret  = `client "SECRET" \ 0123456789`
	basicSecret   = `registry p@ss:"WORD"/\ 0123456789`
	proxySecret   = "proxy-PASSWORD-0123456789"
)

// witness stores everything that the library passes to hooks, loggers and limiters.
type witness struct {
	mu   sync.Mutex
	seen []any
	text bytes.Buffer
}

func (w *witness) see(values ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, values...)
}

// Write stores the records of slog's own handlers.
func (w *witness) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

// Enabled, Handle, WithAttrs and WithGroup make it a slog.Handler that stores contexts and
// attributes unchanged.
func (w *witness) Enabled(context.Context, slog.Level) bool { return true }

func (w *witness) Handle(ctx context.Context, record slog.Record) error {
	w.see(ctx, record)
	record.Attrs(func(a slog.Attr) bool { w.see(a, a.Value.Any()); return true })
	return nil
}

func (w *witness) WithAttrs([]slog.Attr) slog.Handler { return w }

func (w *witness) WithGroup(string) slog.Handler { return w }

// Wait makes it a Limiter.
func (w *witness) Wait(ctx context.Context) error {
	w.see(ctx)
	return nil
}

func (w *witness) options() []Option {
	debug := &slog.HandlerOptions{Level: slog.LevelDebug, AddSource: true}
	handlers := slog.NewMultiHandler(w, slog.NewTextHandler(w, debug), slog.NewJSONHandler(w, debug))
	return []Option{
		WithLogger(slog.New(handlers)), WithLimiter(w),
		WithOnAttempt(func(ctx context.Context, a Attempt) { w.see(ctx, a) }),
	}
}

// all returns everything that was stored, including the text of records.
func (w *witness) all() []any {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append(w.seen, w.text.String())
}

// echo returns the parts of a request that a server can send back: headers, address and body, and
// the decoded text of Basic authentication.
func echo(s seen) string {
	user, password, _ := (&http.Request{Header: s.header}).BasicAuth()
	return fmt.Sprint(s.header, s.uri, " ", s.body, " ", user, password)
}

// echoing returns servers that send back everything that they have received.
func echoing() map[string]func(text string) act {
	quote := func(text string) string { return safetexttest.Spellings()[3](text) }
	line := safetext.Printable
	return map[string]func(string) act{
		"401 message": func(text string) act {
			return say(401, `{"message":"`+quote(text)+`","error":"invalid_grant"}`, jsonType)
		},
		"403 field": func(text string) act {
			return say(403, `{"message":{"`+quote(text)+`":["`+quote(text)+`"]}}`, jsonType)
		},
		"404 header": func(text string) act {
			return say(404, "", "X-Request-Id: "+line(text), "X-Echo: "+line(text), "Set-Cookie: "+line(text))
		},
		"429":         func(text string) act { return say(429, text, "Retry-After: 0", "RateLimit-Reset: "+line(text)) },
		"500 HTML":    func(text string) act { return say(500, "<title>"+text+"</title>", "Content-Type: text/html") },
		"no JSON":     sayJSON,
		"wrong type":  func(text string) act { return sayJSON(`{"id":{"` + quote(text) + `":1},"token":7,"access_token":[]}`) },
		"status line": func(text string) act { return closing("HTTP/1.1 xyz " + line(text) + "\r\n\r\n") },
		"garbage":     func(text string) act { return closing(line(text) + "\r\n\r\n") },
		"header line": func(text string) act { return closing("HTTP/1.1 200 OK\r\n" + line(text) + "\r\n\r\n") },
		"redirect": func(text string) act {
			return say(302, text, "Location: https://127.0.0.1:1/?a="+url.QueryEscape(text))
		},
		"content type": func(text string) act { return say(200, text, "Content-Type: text/"+line(text)) },
		"success": func(text string) act {
			return say(200, "{}", jsonType, "X-Echo: "+line(text), "Link: <https://x?page=2&a="+url.QueryEscape(text)+">; rel=next", `Content-Disposition: a; filename="`+line(text)+`"`)
		},
		"lost":    func(string) act { return reset("") },
		"refused": nil, "no TLS": nil, // there is no server
		"silent": func(string) act { return silent("") },
	}
}

// secretKind is a kind of credential, with the texts that must not be visible.
type secretKind struct {
	name    string
	secrets []string
	options func(t *testing.T, address string) []Option
}

func secretKinds() []secretKind {
	token := func(options ...Option) func(*testing.T, string) []Option {
		return func(*testing.T, string) []Option { return options }
	}
	oauth := func(address string, access string) Option {
		config := &oauth2.Config{ClientID: "id", ClientSecret: clientSecret, Endpoint: oauth2.Endpoint{TokenURL: address + "/token"}}
		return WithOAuth(config, &oauth2.Token{AccessToken: access, RefreshToken: refreshSecret, Expiry: time.Now().Add(time.Hour)})
	}
	basicPair := base64.StdEncoding.EncodeToString([]byte(registryUser + ":" + basicSecret))
	return []secretKind{
		{"token", nil, token(WithToken(secret))},
		{"job token", nil, token(WithJobToken(secret))},
		{"token source", nil, token(WithTokenSource(oauth2.StaticTokenSource(&oauth2.Token{AccessToken: secret})))},
		{"OAuth", []string{refreshSecret, clientSecret}, func(_ *testing.T, address string) []Option { return []Option{oauth(address, secret)} }},
		{"OAuth, to be refreshed", []string{refreshSecret, clientSecret}, func(_ *testing.T, address string) []Option { return []Option{oauth(address, "")} }},
		{"registry", []string{basicSecret, basicPair}, func(_ *testing.T, address string) []Option {
			return []Option{WithToken(secret), WithRegistry(address+"/registry", address), WithRegistryCredentials(registryUser, basicSecret)}
		}},
		{"proxy", []string{proxySecret}, func(t *testing.T, address string) []Option {
			proxy, err := url.Parse(address)
			require.NoError(t, err)
			proxy.User = url.UserPassword("user", proxySecret)
			return []Option{WithToken(secret), WithHTTPClient(&http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}})}
		}},
	}
}

// No credential of any kind is visible outside the library, whatever the server sends: not in
// errors and the errors that they wrap, responses, downloads, plans, attempts, contexts, log
// records, counters or clients.
func TestSecretsStayInside(t *testing.T) {
	for _, kind := range secretKinds() {
		for name, server := range echoing() {
			t.Run(kind.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := newWire(t, func(s seen) act {
					s.header.Del("Proxy-Authorization") // set by the transport and unknown to the library
					return server(echo(s))
				})
				seen := &witness{}
				base := map[string]string{"refused": refusedAddress(t), "no TLS": strings.Replace(w.url, "http:", "https:", 1)}[name]
				base = cmp.Or(base, w.url)
				address := base
				if kind.name == "proxy" {
					address = "http://forge.example.com"
				}
				options := append(kind.options(t, base), WithPlainHTTP(), WithRetry(RetryPolicy{MaxAttempts: 2, MinWait: time.Millisecond, MaxWait: time.Millisecond}))
				c := wireClient(t, address, append(options, seen.options()...)...)
				patience := time.Minute
				if name == "silent" {
					patience = 20 * time.Millisecond
				}
				everyCall(c, seen, patience)
				require.True(t, name == "silent" || base != w.url || len(w.seen()) > 0)
				derived, err := c.With(WithStrictDecoding())
				require.NoError(t, err)
				brief, cancel := context.WithTimeout(context.Background(), patience)
				defer cancel()
				seen.see(timeStats(brief, derived))
				seen.see(c, *c, derived, c.core.config.apiCredential, c.core.config.registryBasicAuth, c.Stats(), c.Issues, c.RegistryNative)
				assert.Empty(t, reveals(seen.all(), kind.secrets...))
			})
		}
	}
}

// everyCall makes calls of all kinds, and passes all results to the witness.
func everyCall(c *Client, w *witness, patience time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*patience)
	defer cancel()
	quick := HeaderTimeout(patience)
	c.core.config.limits.Header = patience // also limits the exchange for registry tokens
	for _, r := range runners {
		var page Response
		var plan PlannedRequest
		err := r.run(ctx, c, Into(&page), quick)
		w.see(err, &page, page.Cursor, r.run(ctx, c, DryRun(&plan)), plan, plan.Curl())
		var limited *RateLimitError
		if errors.As(err, &limited) {
			w.see(limited.Until)
		}
	}
	if d, err := openArchive(ctx, c, quick); err == nil {
		w.see(d)
		_ = d.Close()
	}
	w.see(exec(ctx, service{c.core}.newPost("/projects/:project_id/secure_files", ID(1)).upload(nil, "file", FileBytes([]byte("x"))), []RequestOption{quick}))
	_, err := c.Settings.Get(ctx, quick)
	w.see(err)
	if c.core.config.bases[registryBase] == nil {
		return
	}
	ctx = context.Background() // the exchange is over before its caller is, and so are the values that it has
	token, err := c.RegistryNative.GetToken(ctx, &GetRegistryTokenOptions{Scopes: []RegistryScope{RegistryScopeCatalog}}, quick)
	w.see(err, fmt.Sprintf("%v %+v %#v %s", token, token, token, token))
	_, err = Collect(c.RegistryNative.ListCatalog(ctx, quick))
	w.see(err, c.RegistryNative.DeleteManifest(ctx, "group/app", "v1", nil, quick))
}

// A panic of a caller's hook that passes through the library shows no credential, and neither does
// its stack.
func TestSecretsInPanics(t *testing.T) {
	w := newWire(t, always(sayJSON("{}")))
	for _, kind := range secretKinds() {
		if kind.name == "OAuth, to be refreshed" || kind.name == "proxy" {
			continue // a refresh converts a panic into an error, and a caller's transport has no proxy of the test
		}
		for name, culprit := range map[string]Option{
			"limiter": WithLimiter(exploding{}), "hook": WithOnAttempt(func(context.Context, Attempt) { panic("hook") }), "logger": WithLogger(slog.New(&exploding{})),
			"transport": through(func(*http.Request) (*http.Response, error) { panic("transport") }),
		} {
			c := wireClient(t, w.url, append(kind.options(t, w.url), culprit)...)
			func() {
				defer func() {
					p := recover()
					assert.NotNil(t, p, name)
					assert.Empty(t, reveals([]any{p, string(debug.Stack())}, kind.secrets...), "%s, %s", kind.name, name)
				}()
				_ = c.Do(t.Context(), callOf(RetryClassSafe), nil)
			}()
		}
	}
}

// exploding is a Limiter and a slog.Handler whose methods panic.
type exploding struct{ slog.Handler }

func (exploding) Wait(context.Context) error                { panic("limiter") }
func (exploding) Enabled(context.Context, slog.Level) bool  { return true }
func (exploding) Handle(context.Context, slog.Record) error { panic("logger") }

// The server of a download can also send back a secret after the headers.
func TestSecretsInStreams(t *testing.T) {
	for text, cause := range map[string]error{
		"GOAWAY":                    errors.New("http2: GOAWAY, debug=" + secret),
		"the connection was closed": fmt.Errorf("debug=%s: %w", secret, io.EOF), // not the end of the stream
	} {
		c := wireClient(t, "https://forge.example.com", through(func(req *http.Request) (*http.Response, error) {
			header := http.Header{"Content-Disposition": {`a; filename*0="` + secret[:9] + `"; filename*1="` + secret[9:] + `"`}}
			return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(iotest.ErrReader(cause)), Request: req}, nil
		}))
		d, err := openArchive(t.Context(), c)
		require.NoError(t, err)
		defer d.Close()
		assert.NotEmpty(t, d.Name)
		_, err = d.Read(make([]byte, 1))
		require.ErrorContains(t, err, text)
		assert.Empty(t, reveals([]any{d, err, d.SaveTo(t.TempDir() + "/file")}))
	}
}

// The search finds a secret in every supported form and place.
func TestRevealsForms(t *testing.T) {
	for _, text := range []string{
		fmt.Sprintf("%x", clientSecret), fmt.Sprintf("%q", clientSecret), url.QueryEscape(clientSecret), url.PathEscape(clientSecret), fmt.Sprintf("%d", []byte(clientSecret)),
		base64.StdEncoding.EncodeToString([]byte(clientSecret)), base64.StdEncoding.EncodeToString([]byte("id:" + clientSecret)), base64.RawURLEncoding.EncodeToString([]byte("user:" + clientSecret)),
	} {
		assert.NotEmpty(t, reveals(text, clientSecret), text)
	}
	type hidden struct{ inner any }
	for _, v := range []any{
		&hidden{[]byte(secret)}, map[string]any{"a": []hidden{{secret}}}, &Error{cause: fmt.Errorf("x %w", errors.New(secret))},
		&Response{Header: http.Header{"A": {secret}}}, &Error{Fields: map[string][]string{secret: nil}},
	} {
		assert.NotEmpty(t, reveals(v), "%T", v)
	}
	assert.Empty(t, reveals(&hidden{"nothing"}))
	assert.NotEmpty(t, reveals(context.WithValue(context.Background(), routeKey{}, clientSecret), clientSecret))
	assert.NotEmpty(t, reveals(slog.AnyValue(errors.Join(errors.New("x"), fmt.Errorf("y %w", &sentinelError{cause: errors.New(clientSecret)}))), clientSecret))
}

// credentialNames are spellings under which servers accept a parameter with a credential: the plain
// name, as an element of an array or of a hash, escaped once or twice, in upper or lower case, after
// another separator than &.
var credentialNames = []string{
	"private_token", "PRIVATE_TOKEN", "private_token[]", "private_token[x]", "private_token[x][]", "private_token[", "private_token]", "[private_token]",
	"private%5Ftoken", "private%5ftoken[]", "private_token%5B%5D", "PRIVATE%5FTOKEN%5Bx%5D", "private%255Ftoken", " private_token", "private_token ",
	"a;private_token", "a%3Bprivate_token[]", "a=1;%20Sudo", "a&private_token", "private_token;a", "private_token=1;a", ";access_token",
	"%70rivate_token", "access_token[]", "job_token[0]", "Sudo[]", "%53udo", "refresh_token[a]", "client_secret[]", "token[]",
	"access_token", "job_token", "token", "oauth_token", "authorization", "client_secret", "refresh_token", "feed_token", "rss_token", "sudo",
}

// harmlessNames contain or resemble the name of a credential but do not carry one.
var harmlessNames = []string{"tokens", "sudox", "xsudo", "token_type", "private", "x[private_token]", "not[private_token]", "private_token_id", "in", "iids[]", "%zz", "[]", "100%", "a;b", ";", "a;tokens"}

// A parameter with a credential is recognised in every spelling of its name: in Query, in
// Call.Query, in the address of a request of HTTPClient, and in the links of the server.
func TestCredentialNames(t *testing.T) {
	asked := make(chan string, 10)
	w := newWire(t, func(s seen) act {
		asked <- s.uri
		return sayJSON("[]")
	})
	c := wireClient(t, w.url)
	for _, name := range credentialNames {
		var invalid *ValidationError
		err := c.Do(t.Context(), callOf(RetryClassSafe), nil, Query(name, secret))
		require.ErrorAs(t, err, &invalid, name)
		assert.Equal(t, "Query", invalid.Option)
		assert.Empty(t, reveals(err))
		err = c.Do(t.Context(), Call{Method: http.MethodGet, Route: "/user", Query: url.Values{name: {secret}}}, nil)
		require.ErrorAs(t, err, &invalid, name)
		assert.Equal(t, "Call.Query", invalid.Option)
		assert.Empty(t, reveals(err))
		for _, query := range []string{name, "a=1;" + name, "a=1&" + name, ";" + name, url.QueryEscape(name)} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url, http.NoBody)
			require.NoError(t, err)
			req.URL.RawQuery = strings.ReplaceAll(query, " ", "+") + "=" + secret
			_, err = c.HTTPClient().Transport.RoundTrip(req)
			require.ErrorAs(t, err, &invalid, query)
			assert.Equal(t, "Request.URL", invalid.Option)
			assert.Empty(t, reveals(err))
		}
	}
	assert.Empty(t, w.seen())
	for _, name := range harmlessNames {
		require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil, Query(name, "x")), name)
		got, err := url.Parse(<-asked)
		require.NoError(t, err)
		assert.Equal(t, url.Values{name: {"x"}}, got.Query())
		status, _, err := send(t.Context(), c.HTTPClient(), http.MethodGet, w.url+"?"+url.QueryEscape(name)+"=a;b=token&q=private_token", "")
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, status)
		<-asked
	}
}

// A credential in a link of the server, or in a cursor, is not put into the next request.
func TestCredentialNamesInLinks(t *testing.T) {
	for _, name := range credentialNames {
		w := newWire(t, func(s seen) act {
			if strings.Contains(s.uri, "page=2") {
				return sayJSON("[]")
			}
			return say(200, "[{}]", jsonType, "Link: <https://x/?"+url.QueryEscape(name)+"="+secret+"&page=2&labels[]=a>; rel=next")
		})
		c := wireClient(t, w.url)
		var page Response
		_, err := Collect(ListAs[map[string]any](t.Context(), c, Call{Method: http.MethodGet, Route: "/issues"}, OnePage(), Into(&page)))
		require.NoError(t, err)
		parts := strings.Split(string(page.Cursor), ".")
		place, err := base64.RawURLEncoding.DecodeString(parts[2])
		require.NoError(t, err)
		assert.NotContains(t, string(place), secret, name)
		query := url.Values{name: {secret}, "page": {"2"}}.Encode()
		parts[2] = base64.RawURLEncoding.EncodeToString([]byte(cursorChecksum(query) + query))
		_, err = Collect(ListAs[map[string]any](t.Context(), c, Call{Method: http.MethodGet, Route: "/issues"}, StartAt(Cursor(strings.Join(parts, ".")))))
		require.NoError(t, err)
		_, err = Collect(ListAs[map[string]any](t.Context(), c, Call{Method: http.MethodGet, Route: "/issues"}))
		require.NoError(t, err)
		require.Len(t, w.seen(), 4)
		for _, s := range w.seen() {
			assert.NotContains(t, s.uri, secret, name)
		}
		assert.Contains(t, w.seen()[3].uri, "labels%5B%5D=a")
	}
}

// A log record never shows the value of such a parameter, in any form of address.
func TestCredentialNamesInLogs(t *testing.T) {
	for _, name := range credentialNames {
		for _, written := range []string{name, url.QueryEscape(name)} {
			shown := redactURL(&url.URL{Scheme: "https", Host: "x", Path: "/", RawQuery: "state=opened&" + written + "=" + secret})
			assert.NotContains(t, shown, secret, name)
			assert.Contains(t, shown, "state=opened")
			assert.NotContains(t, redactURL(&url.URL{RawQuery: "state=opened;x=" + secret}), secret)
		}
	}
}

// FuzzEcho checks that the caller never gets the credential that a server sends back, in any
// spelling and split by characters that are not shown.
func FuzzEcho(f *testing.F) {
	for form := range safetexttest.Spellings() {
		f.Add(uint8(form), `{"message":"bad token `, `"}`, "\x00", uint8(9), uint16(200))
		f.Add(uint8(form), `{"message":{"`, `":["x"]}}`, "\u202e", uint8(3), uint16(201))
		f.Add(uint8(form), `<title>`, `</title>`, "", uint8(4), uint16(303))
		f.Add(uint8(form), "", "", "\x7f", uint8(5), uint16(102))
	}
	spellings := safetexttest.Spellings()
	var resp *http.Response
	client := fuzzClient(f, func(*http.Request) (*http.Response, error) { return resp, nil })
	f.Fuzz(func(t *testing.T, form uint8, before, after, split string, at uint8, status uint16) {
		if safetext.Printable(split) != "" || strings.ContainsAny(split, "\t\r\n ") {
			split = ""
		}
		spell, cut := spellings[int(form)%len(spellings)], int(at)%len(secret)
		hidden := spell(secret[:cut]) + split + spell(secret[cut:])
		text := before + hidden + after
		for _, r := range runners {
			contentType := []string{"application/json", "text/html", "text/" + hidden}[at%3]
			resp = fuzzAnswer(nil, 200+int(status)%400, http.Header{
				"X-Request-Id": {text}, "X-Echo": {text}, "Content-Type": {contentType}, "Content-Disposition": {`attachment; filename="` + text + `"`},
				"Location": {"https://x" + hidden + ".example.com/" + text},
			}, text)
			var page Response
			err := r.run(context.Background(), client, Into(&page))
			shown := []string{page.RequestID}
			for _, values := range page.Header {
				shown = append(shown, values...)
			}
			var failed *Error
			if errors.As(err, &failed) {
				shown = append(shown, err.Error(), failed.Message, failed.RequestID)
				for name, texts := range failed.Fields {
					shown = append(append(shown, name), texts...)
				}
			}
			for _, text := range shown {
				safetexttest.RequireHidden(t, secret, text)
			}
		}
	})
}
