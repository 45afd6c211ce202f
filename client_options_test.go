package forge

import (
	"context"
	"crypto/x509"
	"go/ast"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/forge-sdk/forge-go/internal/gosource"
)

// credentialOptions are the options of which a client has one.
func credentialOptions() map[string]Option {
	return map[string]Option{
		"WithToken": WithToken("access-token-1"), "WithJobToken": WithJobToken("job-token-1"), "WithoutCredential": WithoutCredential(),
		"WithOAuth":       WithOAuth(&oauth2.Config{}, &oauth2.Token{AccessToken: "oauth-token-1"}),
		"WithTokenSource": WithTokenSource(oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "source-token-1"})),
	}
}

// otherOptions are all other options, each with two different values.
func otherOptions(t *testing.T) map[string][2]Option {
	t.Helper()
	srv := httptest.NewTLSServer(nil)
	t.Cleanup(srv.Close)
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	const base = "https://registry.example.com"
	return map[string][2]Option{
		"WithHTTPClient": {WithHTTPClient(&http.Client{Transport: &http.Transport{}}), WithHTTPClient(&http.Client{})},
		"WithLogger":     {WithLogger(slog.Default()), WithLogger(nil)}, "WithLimiter": {WithLimiter(&limiter{}), WithLimiter(&limiter{})},
		"WithRegistry":            {WithRegistry(base, base), WithRegistry(base+"/other", base)},
		"WithRegistryCredentials": {WithRegistryCredentials("a", "password"), WithRegistryCredentials("b", "password")},
		"WithVocabulary":          {WithVocabulary(GitLab), WithVocabulary(Neutral)},
		"WithOnAttempt":           {WithOnAttempt(func(context.Context, Attempt) {}), WithOnAttempt(nil)},
		"WithRootCAs":             {WithRootCAs(pool), WithRootCAs(pool)},
		"WithDrift":               {WithDrift(new(Drift)), WithDrift(nil)},
		"WithPlainHTTP":           {WithPlainHTTP(), WithPlainHTTP()}, "WithoutPacing": {WithoutPacing(), WithoutPacing()}, "WithStrictDecoding": {WithStrictDecoding(), WithStrictDecoding()},
		"WithTimeout": {WithTimeout(time.Hour), WithTimeout(time.Minute)}, "WithHeaderTimeout": {WithHeaderTimeout(time.Hour), WithHeaderTimeout(time.Minute)},
		"WithMaxBytes": {WithMaxBytes(1 << 20), WithMaxBytes(1 << 21)}, "WithPerPage": {WithPerPage(1), WithPerPage(2)}, "WithHeader": {WithHeader("x-a", "1"), WithHeader("X-A", "2")},
		"WithUserAgent": {WithUserAgent("a/1"), WithUserAgent("b/1")}, "WithRetry": {WithRetry(RetryPolicy{MaxAttempts: 1}), WithRetry(RetryPolicy{})},
	}
}

// onRefresh is the option that requires WithOAuth in the same set.
const onRefresh = "WithOnRefresh"

// refusedOption checks that a set of options is refused, and returns the text.
func refusedOption(t *testing.T, err error, option string) string {
	t.Helper()
	var invalid *ValidationError
	require.ErrorAs(t, err, &invalid)
	assert.Equal(t, option, invalid.Option)
	assert.NotEmpty(t, invalid.Reason)
	return err.Error()
}

// NewClient and With refuse two credentials in one set of options and name both. A single
// credential in With replaces the parent's.
func TestTwoCredentials(t *testing.T) {
	const address = "https://forge.example.com"
	parent, err := NewClient(address, WithToken("access-token-0"))
	require.NoError(t, err)
	for first, one := range credentialOptions() {
		for second, two := range credentialOptions() {
			_, err := NewClient(address, one, WithUserAgent("x/1"), two)
			assert.Contains(t, refusedOption(t, err, second), first+" is set too")
			assert.Contains(t, err.Error(), "With")
			_, err = parent.With(one, nil, two)
			refusedOption(t, err, second)
			derived, err := parent.With(one)
			require.NoError(t, err, first)
			_, err = derived.With(two)
			require.NoError(t, err, second)
		}
	}
}

// Of two equal options in a set the last one counts, as if the first were not there; With replaces
// it, too. Each option of the package is in one of the tables above.
func TestOptionsGivenTwice(t *testing.T) {
	const address = "https://forge.example.com"
	for name, options := range otherOptions(t) {
		for i, last := range options {
			twice, once := config{builder: new(builder)}, config{builder: new(builder)}
			require.NoError(t, firstError(options[1-i](&twice), last(&twice), last(&once)), name)
			sameValues(t, reflect.ValueOf(&once).Elem(), reflect.ValueOf(&twice).Elem(), name)
			_, err := NewClient(address, options[1-i], last)
			require.NoError(t, err, name)
		}
		first, err := NewClient(address, options[0])
		require.NoError(t, err, name)
		second, err := first.With(options[1])
		require.NoError(t, err, name)
		_, err = second.With(options[0])
		require.NoError(t, err, name)
	}
	known := slices.Concat(slices.Collect(maps.Keys(credentialOptions())), slices.Collect(maps.Keys(otherOptions(t))), []string{onRefresh})
	assert.ElementsMatch(t, exportedFunctions(t, "Option"), known)
}

// exportedFunctions finds the exported functions of the package that return the type.
func exportedFunctions(t *testing.T, result string) (names []string) {
	t.Helper()
	_, files, err := gosource.Parse(".")
	require.NoError(t, err)
	for _, file := range files {
		for _, decl := range file.Decls {
			f, is := decl.(*ast.FuncDecl)
			if !is || f.Recv != nil || !f.Name.IsExported() || f.Type.Results.NumFields() != 1 {
				continue
			}
			if id, ok := f.Type.Results.List[0].Type.(*ast.Ident); ok && id.Name == result {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}

// WithOnRefresh requires WithOAuth in the same set of options: alone it would receive no tokens, or
// those of another credential.
func TestOnRefreshNeedsOAuth(t *testing.T) {
	const address = "https://forge.example.com"
	hook, oauth := WithOnRefresh(func(*oauth2.Token) {}), credentialOptions()["WithOAuth"]
	parent, err := NewClient(address, hook, oauth)
	require.NoError(t, err)
	_, err = parent.With(hook)
	assert.Contains(t, refusedOption(t, err, onRefresh), "WithOAuth")
	_, err = parent.With(hook, oauth)
	require.NoError(t, err)
	for name, option := range credentialOptions() {
		if name != "WithOAuth" {
			_, err = NewClient(address, option, hook)
			refusedOption(t, err, onRefresh)
		}
	}
	_, err = NewClient(address, WithOnRefresh(nil))
	require.NoError(t, err, "a nil hook needs no credential")
}

// The hook of a parent does not receive the tokens of another credential.
func TestOnRefreshIsNotInherited(t *testing.T) {
	endpoint := newWire(t, always(sayToken("new", "r9")))
	api := guarded(t, fixed("new"))
	config := &oauth2.Config{ClientID: "id", Endpoint: oauth2.Endpoint{TokenURL: endpoint.url, AuthStyle: oauth2.AuthStyleInParams}}
	var told []string
	parent := wireClient(t, api.url, WithOAuth(config, expired("r1")), WithOnRefresh(func(token *oauth2.Token) { told = append(told, token.RefreshToken) }))
	other, err := parent.With(WithOAuth(config, expired("r2")))
	require.NoError(t, err)
	require.NoError(t, other.Do(t.Context(), callOf(RetryClassSafe), nil))
	assert.Empty(t, told)
	derived, err := parent.With(WithUserAgent("x/1"))
	require.NoError(t, err)
	require.NoError(t, derived.Do(t.Context(), callOf(RetryClassSafe), nil))
	assert.Equal(t, []string{"r9"}, told)
}

// NewClientFromEnv has the credential of the environment, so it refuses another one; With replaces
// it.
func TestFromEnvWithACredential(t *testing.T) {
	for _, env := range []map[string]string{
		{"FORGE_URL": "https://forge.example.com", "FORGE_TOKEN": "env-token-1"},
		{"CI_API_V4_URL": "https://forge.example.com/api/v4", "CI_JOB_TOKEN": "env-token-1"},
	} {
		for _, name := range []string{"FORGE_URL", "FORGE_TOKEN", "CI_API_V4_URL", "CI_JOB_TOKEN", jobAuthorities} {
			t.Setenv(name, env[name])
		}
		variable := "FORGE_TOKEN"
		if env[variable] == "" {
			variable = "CI_JOB_TOKEN"
		}
		c, err := NewClientFromEnv(WithUserAgent("x/1"))
		require.NoError(t, err)
		for name, option := range credentialOptions() {
			_, err := NewClientFromEnv(option)
			assert.Contains(t, refusedOption(t, err, name), variable)
			_, err = c.With(option)
			require.NoError(t, err)
		}
		t.Setenv(variable, "two words")
		_, err = NewClientFromEnv()
		assert.Contains(t, refusedOption(t, err, variable), "spaces")
	}
}

// Registry credentials without the registry's address are accepted, since With may add it later.
// Until then the errors of calls name the missing option.
func TestRegistryCredentialsBeforeTheRegistry(t *testing.T) {
	c, err := NewClient("https://forge.example.com", WithRegistryCredentials("a", "password"))
	require.NoError(t, err)
	_, err = Collect(c.RegistryNative.ListCatalog(t.Context()))
	assertRefused(t, err, "WithRegistry", "")
	registry := newWire(t, func(s seen) act {
		if strings.HasPrefix(s.uri, "/jwt/auth") {
			return tokenAnswer("opaque-token", "")
		}
		return sayJSON(`{"repositories":[]}`)
	})
	c, err = c.With(WithRegistry(registry.url, registry.url))
	require.NoError(t, err)
	_, err = Collect(c.RegistryNative.ListCatalog(t.Context()))
	require.NoError(t, err)
	c.CloseIdleConnections()
}

// Of two equal request options, the last one counts, as if the first were not there.
func TestRequestOptionsGivenTwice(t *testing.T) {
	report := func(int64, int64) {}
	sum, other := strings.Repeat("0", 64), strings.Repeat("1", 64)
	kinds := map[string][2]RequestOption{
		"Into": {Into(&Response{}), Into(&Response{})}, "StartAt": {StartAt("a"), StartAt("b")}, "Progress": {Progress(report), Progress(nil)}, "DryRun": {DryRun(&PlannedRequest{}), DryRun(nil)},
		"Checksum": {Checksum(sum), Checksum(other)}, "Sudo": {Sudo(1), Sudo(2)}, "Header": {Header("x-a", "1"), Header("X-A", "2")},
		"PerPage": {PerPage(1), PerPage(2)}, "Ahead": {Ahead(1), Ahead(0)}, "Retry": {Retry(RetryPolicy{MaxAttempts: 1}), Retry(RetryPolicy{})}, "MaxBytes": {MaxBytes(1), MaxBytes(2)},
		"HeaderTimeout": {HeaderTimeout(time.Hour), HeaderTimeout(time.Minute)}, "Timeout": {Timeout(time.Hour), Timeout(time.Minute)}, "Since": {Since("a"), Since("b")}, "Overlap": {Overlap(time.Hour), Overlap(time.Minute)}, "OnePage": {OnePage(), OnePage()}, "SkipValidation": {SkipValidation(), SkipValidation()},
	}
	assert.ElementsMatch(t, exportedFunctions(t, "RequestOption"), append(slices.Collect(maps.Keys(kinds)), "Query")) // each Query adds a parameter
	for name, options := range kinds {
		for i, last := range options {
			twice, once := &callOptions{kind: kindAny}, &callOptions{kind: kindAny}
			options[1-i](twice)
			last(twice)
			last(once)
			require.NoError(t, twice.err, name)
			sameValues(t, reflect.ValueOf(once).Elem(), reflect.ValueOf(twice).Elem(), name)
		}
	}
}

// A default of the client applies to each call, also after With. The option of a call replaces it.
func TestClientDefaults(t *testing.T) {
	w := newWire(t, func(seen) act { return sayJSON(`[]`) })
	c, err := w.client(t, WithPerPage(7), WithHeader("X-A", "client"), WithHeader("X-B", "client"), WithMaxBytes(1),
		WithTimeout(time.Hour), WithHeaderTimeout(time.Minute)).With(WithUserAgent("x/1"))
	require.NoError(t, err)
	read := func(query url.Values, opts ...RequestOption) (string, error) {
		_, err := Collect(ListAs[Issue](t.Context(), c, Call{Route: "/issues", Query: query}, opts...))
		last := w.seen()[len(w.seen())-1]
		return last.uri + " " + last.header.Get("X-A") + " " + last.header.Get("X-B"), err
	}
	sent, err := read(nil)
	require.ErrorIs(t, err, ErrResponseTooLarge)
	assert.Equal(t, "/api/v4/issues?per_page=7 client client", sent)
	sent, err = read(url.Values{"per_page": {"8"}}, MaxBytes(2), Header("x-a", "call"))
	require.NoError(t, err)
	assert.Equal(t, "/api/v4/issues?per_page=8 call client", sent)
	sent, err = read(nil, PerPage(9), MaxBytes(2))
	require.NoError(t, err)
	assert.Equal(t, "/api/v4/issues?per_page=9 client client", sent, "the client's headers stay")

	r := &request{core: c.core}
	o, err := r.applyOptions(kindAny, nil)
	require.NoError(t, err)
	assert.Equal(t, []time.Duration{time.Hour, time.Minute}, []time.Duration{o.limits.call, o.limits.Header})
	o, err = r.applyOptions(kindAny, []RequestOption{Timeout(time.Second), HeaderTimeout(time.Second)})
	require.NoError(t, err)
	assert.Equal(t, []time.Duration{time.Second, time.Second}, []time.Duration{o.limits.call, o.limits.Header})
	for name, option := range map[string]Option{
		"WithPerPage": WithPerPage(0), "WithHeader": WithHeader("Authorization", "x"), "WithMaxBytes": WithMaxBytes(0), "WithTimeout": WithTimeout(30), "WithHeaderTimeout": WithHeaderTimeout(0),
		"WithRetry": WithRetry(RetryPolicy{MaxAttempts: -1}), "WithVocabulary": WithVocabulary(2), "WithUserAgent": WithUserAgent("a\n"), "WithUserAgent ": WithUserAgent(""),
		"WithToken": WithToken("two words"), "WithJobToken": WithJobToken(""), "WithOAuth": WithOAuth(&oauth2.Config{}, &oauth2.Token{AccessToken: "two words"}),
		"WithRegistry": WithRegistry("https://a.example.com/v2", "https://a.example.com"), "WithRegistry ": WithRegistry("https://a.example.com", "https://a.example.com/jwt/auth"),
		"WithRegistryCredentials": WithRegistryCredentials("a", ""), "WithRegistryCredentials ": WithRegistryCredentials("a:b", "c"),
	} {
		_, err := c.With(option)
		refusedOption(t, err, strings.TrimSpace(name))
	}
	for _, p := range []RetryPolicy{{MaxAttempts: -1}, {MinWait: -1}, {MaxWait: -1}, {MaxRetryAfter: -1}} {
		require.ErrorContains(t, p.check("Retry"), "a field is negative: use 0 for its default", p)
	}
	for name, option := range map[string]RequestOption{"HeaderTimeout": HeaderTimeout(0), "Timeout": Timeout(0), "Ahead": Ahead(-1)} {
		_, err := Collect(c.Issues.List(t.Context(), nil, option))
		refusedOption(t, err, name)
		assert.ErrorContains(t, err, map[bool]string{true: "it must not be negative", false: "it must be positive"}[name == "Ahead"])
	}
}

// sameValues compares the fields of two structs. Functions are the same if their code is.
func sameValues(t *testing.T, want, got reflect.Value, label string) {
	t.Helper()
	for f, field := range want.Fields() {
		other := got.FieldByIndex(f.Index)
		switch {
		case field.Kind() == reflect.Func:
			assert.Equal(t, field.Pointer(), other.Pointer(), "%s: %s", label, f.Name)
		case field.Kind() == reflect.Struct:
			sameValues(t, field, other, label+" "+f.Name)
		case f.Type == reflect.TypeFor[*x509.CertPool]():
			assert.Equal(t, field.IsNil(), other.IsNil(), label) // a pool holds functions
		default:
			value := func(v reflect.Value) any { return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem().Interface() }
			assert.Equal(t, value(field), value(other), "%s: %s", label, f.Name)
		}
	}
}

type pointerSource struct{ token *oauth2.Token }

func (s *pointerSource) Token() (*oauth2.Token, error) { return s.token, nil }

type pointerLimiter struct{ err error }

func (l *pointerLimiter) Wait(context.Context) error { return l.err }

type pointerTransport struct{ answer *http.Response }

func (p *pointerTransport) RoundTrip(*http.Request) (*http.Response, error) { return p.answer, nil }

// A nil option is ignored or refused and never causes a panic.
func TestNilOptions(t *testing.T) {
	options := map[string]Option{
		"Option": nil, "WithLogger": WithLogger(nil), "WithLimiter": WithLimiter(nil), "WithOnAttempt": WithOnAttempt(nil), "WithOnRefresh": WithOnRefresh(nil),
		"WithHTTPClient": WithHTTPClient(&http.Client{}),
	}
	requests := map[string]RequestOption{"RequestOption": nil, "Into": Into(nil), "Progress": Progress(nil)}
	for name, option := range options {
		w := newWire(t, always(sayJSON("{}")))
		c := wireClient(t, w.url, option)
		for _, k := range []RetryClass{RetryClassSafe, RetryClassNonIdempotent} {
			o := ends(t, func() error { return c.Do(t.Context(), callOf(k), nil) })
			assert.Equal(t, callOutcome{returned: true}, o, name)
		}
	}
	for name, option := range requests {
		w := newWire(t, always(sayJSON("[]")))
		c := wireClient(t, w.url)
		for _, r := range runners {
			if name != "Progress" || r.name != "list" {
				assert.Equal(t, callOutcome{returned: true}, ends(t, func() error { return r.run(t.Context(), c, option) }), "%s %s", name, r.name)
			}
		}
		assert.Equal(t, callOutcome{returned: true}, ends(t, func() error { return exec(t.Context(), uploadOf(c, FileBytes([]byte("x"))), []RequestOption{option}) }), name)
	}
	require.ErrorIs(t, silentServer(t).Do(t.Context(), callOf(RetryClassNonIdempotent), nil, DryRun(nil)), ErrDryRun)

	for name, option := range map[string]Option{
		"WithTokenSource": WithTokenSource((*pointerSource)(nil)), "WithLimiter": WithLimiter((*pointerLimiter)(nil)),
		"WithHTTPClient":  WithHTTPClient(&http.Client{Transport: (*pointerTransport)(nil)}),
		"WithHTTPClient ": WithHTTPClient(&http.Client{Transport: (*http.Transport)(nil)}), "WithHTTPClient  ": WithHTTPClient(nil),
		"WithTokenSource ": WithTokenSource(nil), "WithOAuth": WithOAuth(nil, nil), "WithHTTPClient   ": WithHTTPClient(&http.Client{Transport: roundTrip(nil)}),
	} {
		o := ends(t, func() error {
			_, err := NewClient("https://forge.example.com", option)
			return err
		})
		var invalid *ValidationError
		require.ErrorAs(t, o.err, &invalid, name)
		assert.Equal(t, strings.TrimSpace(name), invalid.Option)
	}
}
