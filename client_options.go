package forge

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/internal/conn"
	"github.com/forge-sdk/forge-go/internal/credential"
	"golang.org/x/oauth2"
)

// WithToken authenticates with a personal, project or group access token.
func WithToken(token string) Option {
	return withFixedToken("WithToken", credential.AccessToken, token)
}

// WithJobToken authenticates with a CI job token, usually CI_JOB_TOKEN. It grants access to the
// container registry of the job's project, and to generating a changelog.
func WithJobToken(token string) Option {
	return withFixedToken("WithJobToken", credential.JobToken, token)
}

func withFixedToken(option string, kind credential.Kind, token string) Option {
	return func(c *config) error {
		fixed, err := credential.Fixed(kind, token)
		if err != nil {
			err = &ValidationError{Option: option, Reason: err.Error()}
		}
		return firstError(c.use(option, nil, func(http.RoundTripper) credential.Credential { return fixed }), err)
	}
}

// use sets the client's credential. tokenURL is the address where it is refreshed; nil if it is not
// refreshed.
func (c *config) use(option string, tokenURL *url.URL, build func(http.RoundTripper) credential.Credential) error {
	if earlier := c.builder.credential; earlier != "" {
		return &ValidationError{Option: option, Reason: earlier + " is set too, and a client has only one credential: use With to derive a client with the other one"}
	}
	c.bases[tokenBase], c.newCredential, c.builder.credential = tokenURL, build, option
	c.builder.credentialChanged = true
	return nil
}

// WithOAuth authenticates with an OAuth token that the client refreshes: before it expires, and
// once when the server rejects it. WithOnRefresh receives the new tokens. After a lost connection
// to the token endpoint, or a status such as 503, the client requests the token again, but not
// before the Retry-After of the response.
func WithOAuth(oauth *oauth2.Config, token *oauth2.Token) Option {
	return func(c *config) error {
		if oauth == nil || token == nil {
			return &ValidationError{Option: "WithOAuth", Reason: "it needs a config and a token"}
		}
		options := c.builder
		state, err := credential.NewOAuth(token, func(fresh *oauth2.Token) {
			if options.onRefresh != nil {
				options.onRefresh(fresh)
			}
		})
		if err != nil {
			return &ValidationError{Option: "WithOAuth", Reason: err.Error()}
		}
		var endpoint *url.URL
		if token.RefreshToken != "" {
			if endpoint, err = parseBase("WithOAuth", "TokenURL", oauth.Endpoint.TokenURL); err != nil {
				return err
			}
		}
		own := *oauth
		return c.use("WithOAuth", endpoint, func(transport http.RoundTripper) credential.Credential {
			return state.Credential(own.ClientSecret, func(ctx context.Context, refreshToken string) (*oauth2.Token, error) {
				return exchangeToken(ctx, &own, transport, refreshToken)
			})
		})
	}
}

// WithOnRefresh calls f with each token that the WithOAuth of the same options obtains, so that it
// can be stored. A token with an empty access token means that the server sent an unusable access
// token: store the refresh token. f must not call the client. Without WithOAuth in the same
// options, WithOnRefresh is rejected.
func WithOnRefresh(f func(*oauth2.Token)) Option {
	return func(c *config) error {
		c.builder.onRefresh = f
		return nil
	}
}

// WithTokenSource authenticates with OAuth tokens from source, which is called before each attempt.
// If the server rejects a token, source is called again, and the request is sent again if the token
// differs.
func WithTokenSource(source oauth2.TokenSource) Option {
	return func(c *config) error {
		if isNil(source) {
			return &ValidationError{Option: "WithTokenSource", Reason: "the source is nil"}
		}
		shared := credential.FromSource(source, func(err error) error {
			return withoutTokenResponse("", err, conn.UnwrapURLError(err))
		})
		return c.use("WithTokenSource", nil, func(http.RoundTripper) credential.Credential { return shared })
	}
}

func noCredential(http.RoundTripper) credential.Credential { return credential.Credential{} }

// WithoutCredential makes the client send anonymous requests. With Client.With it removes a
// credential.
func WithoutCredential() Option {
	return func(c *config) error {
		return c.use("WithoutCredential", nil, noCredential)
	}
}

// WithHTTPClient uses the Transport of h, for proxies, certificates, connection limits and mocks.
// If it is nil, as in http.DefaultClient, it is http.DefaultTransport at the time of NewClient or
// With. An *http.Transport is cloned, and the library's limits are set on the clone. An h with a
// Jar, Timeout or CheckRedirect is rejected: cookies are never sent, contexts, WithTimeout
// and WithHeaderTimeout limit the time, and redirects follow the rules of the package.
//
// Over HTTP/2 the client sends a ping after 30 s without data. If no response to it arrives within
// 15 s, it closes the connection, and the next attempt opens another one. The HTTP2 field of an
// *http.Transport sets other times.
//
// Without WithHTTPClient a client has its own transport, and does not use http.DefaultTransport. A
// program that replaces http.DefaultTransport, as httpmock.Activate does, does not reach such a
// client: its requests go to the real server, with the real credential.
//
// If another RoundTripper, such as a mock, fails, a write has Error.MaybeApplied: the client cannot
// know whether it was sent. An error of net.Dial says that it was not.
func WithHTTPClient(h *http.Client) Option {
	return func(c *config) error {
		reason := ""
		switch {
		case h == nil:
			reason = "the client is nil"
		case h.Jar != nil:
			reason = "Jar is set: cookies are never sent; authenticate with WithToken"
		case h.Timeout != 0:
			reason = "Timeout is set: it would truncate downloads; use a context, or WithTimeout and WithHeaderTimeout"
		case h.CheckRedirect != nil:
			reason = "CheckRedirect is set: redirects are followed by the package's own rules"
		}
		if reason != "" {
			return &ValidationError{Option: "WithHTTPClient", Reason: reason}
		}
		c.transport, c.builder.transportChanged, c.builder.givenClient = h.Transport, true, true
		if c.transport == nil {
			c.transport = http.DefaultTransport
		}
		return nil
	}
}

// WithUserAgent puts product, such as "report/1.2", in front of the library's own User-Agent.
func WithUserAgent(product string) Option {
	return func(c *config) error {
		if product == "" || hasControl(product) {
			return &ValidationError{Option: "WithUserAgent", Reason: "the product is empty or has control bytes"}
		}
		c.userAgent = product + " forge-go/" + Version
		return nil
	}
}

// WithLogger logs calls: each attempt at debug level, retries and waits at info, failures at warn,
// and the end of a call that the caller canceled at debug. No record contains a credential, and
// query values are logged only if they are known to be harmless. A call's duration includes its
// waits for the Limiter and for the server. nil logs nothing.
func WithLogger(logger *slog.Logger) Option {
	return func(c *config) error {
		c.log = logger
		return nil
	}
}

// WithLimiter limits the client's request rate: every attempt waits for limiter, and then for
// pacing and the server. A nil Limiter means no limit. A Limiter that holds a nil pointer is
// rejected.
func WithLimiter(limiter Limiter) Option {
	return func(c *config) error {
		if limiter != nil && isNil(limiter) {
			return &ValidationError{Option: "WithLimiter", Reason: fmt.Sprintf("the limiter is a nil %T", limiter)}
		}
		c.limiter = limiter
		return nil
	}
}

// WithoutPacing switches pacing off: the client sends requests until the server refuses one with a
// 429. By default it reads what the responses say of the server's rate limits (RateLimit-Remaining
// and RateLimit-Reset), and delays calls that would exceed them.
func WithoutPacing() Option {
	return func(c *config) error {
		c.withoutPacing = true
		return nil
	}
}

// WithRetry sets the retry policy of all calls. The request option Retry sets it for one call.
func WithRetry(policy RetryPolicy) Option {
	return func(c *config) error {
		c.retry = policy
		return policy.check("WithRetry")
	}
}

// WithTimeout is Timeout for all calls, and for each page of a list. It does not apply to
// Client.HTTPClient: set the Timeout of the http.Client.
func WithTimeout(d time.Duration) Option { return withDefault("WithTimeout", Timeout(d)) }

// WithHeaderTimeout is HeaderTimeout for all calls.
func WithHeaderTimeout(d time.Duration) Option {
	return withDefault("WithHeaderTimeout", HeaderTimeout(d))
}

// WithMaxBytes is MaxBytes for all calls, downloads included.
func WithMaxBytes(n int64) Option { return withDefault("WithMaxBytes", MaxBytes(n)) }

// WithPerPage is PerPage for all lists. A per_page in Call.Query replaces it.
func WithPerPage(n int) Option { return withDefault("WithPerPage", PerPage(n)) }

// WithHeader is Header for all calls, those to the registry included. Options of different names
// add up. It does not apply to Client.HTTPClient, whose requests have their own headers.
func WithHeader(name, value string) Option { return withDefault("WithHeader", Header(name, value)) }

// withDefault makes a request option the default of the client. The option of a call replaces it.
func withDefault(name string, option RequestOption) Option {
	return func(c *config) error {
		o := &callOptions{kind: kindAny, header: c.header.Clone(), perPage: c.perPage, limits: c.limits}
		option(o)
		var invalid *ValidationError
		if errors.As(o.err, &invalid) {
			return &ValidationError{Option: name, Param: invalid.Param, Reason: invalid.Reason}
		}
		c.header, c.perPage, c.limits = o.header, o.perPage, o.limits
		return nil
	}
}

// WithPlainHTTP allows a credential to be sent over plain http to an address that is not loopback.
// Anyone between the client and the server can read and use it. It also permits the redirect of a
// download to plain http, which has no credential.
func WithPlainHTTP() Option {
	return func(c *config) error {
		c.plainHTTP = true
		return nil
	}
}

// WithStrictDecoding makes a call fail if its response has unknown JSON fields, or values of a type
// other than the documented one. Use it in tests that check a server. Without it, such a call
// succeeds; see Response.Mismatches and the Extra fields.
func WithStrictDecoding() Option {
	return func(c *config) error {
		c.strict = true
		return nil
	}
}

// WithRegistry sets the addresses of the container registry and of its token endpoint, for the
// registry-native calls. API credentials are never sent there.
func WithRegistry(registryURL, authURL string) Option {
	return func(c *config) error {
		registry, err := parseRegistry("registryURL", registryURL, "/v2")
		if err != nil {
			return err
		}
		auth, err := parseRegistry("authURL", authURL, "/jwt/auth")
		c.bases[registryBase], c.bases[authBase], c.builder.registryChanged = registry, auth, true
		return err
	}
}

// parseRegistry parses an address of WithRegistry. end is the path that calls add to it.
func parseRegistry(param, raw, end string) (*url.URL, error) {
	u, err := parseBase("WithRegistry", param, raw)
	if err == nil && strings.HasSuffix(u.Path, end) {
		err = &ValidationError{Option: "WithRegistry", Param: param, Reason: "the address ends in " + end + ", and the client adds it: omit it"}
	}
	return u, err
}

// WithRegistryCredentials sets the user and password for obtaining registry tokens: those of a
// registry user, or gitlab-ci-token and CI_JOB_TOKEN in a job of a GitLab server. They are sent
// only to the token endpoint of WithRegistry, which With can set later.
func WithRegistryCredentials(user, password string) Option {
	return func(c *config) error {
		switch {
		case user == "" || password == "":
			return &ValidationError{Option: "WithRegistryCredentials", Reason: "the user or the password is empty"}
		case strings.Contains(user, ":") || hasControl(user) || hasControl(password):
			return &ValidationError{Option: "WithRegistryCredentials", Reason: "the user contains a colon, or the user or the password contains control bytes"}
		}
		c.registryBasicAuth, c.builder.registryChanged = credential.Basic(user, password), true
		return nil
	}
}

// WithDrift records in d the unknown fields, and the values of an unexpected type, in the responses
// that the client decodes. Use it for reports, and for tests against a new release of a server. It
// does not change what is in Extra and in Response.Mismatches. nil records nothing. An unknown
// column of PlaceholderReassignmentsService.List is recorded for each row.
func WithDrift(d *Drift) Option {
	return func(c *config) error {
		c.drift = d
		return nil
	}
}

// WithVocabulary selects the words that the client sends and reads. A client without it uses
// GitLab's. For a server that has the neutral words of the documents, such as forgetest with
// WithNeutralNames, use Neutral: settings, audit event types, columns of placeholder reassignments
// and media types then have those words in requests and responses, and GitLab's in Go.
func WithVocabulary(v Vocabulary) Option {
	return func(c *config) error {
		if v != GitLab && v != Neutral {
			return &ValidationError{Option: "WithVocabulary", Reason: "there are only GitLab and Neutral"}
		}
		c.vocabulary = v
		return nil
	}
}

// WithOnAttempt calls f after each attempt of each call, before the wait for the next one, for
// metrics and traces. The pages of a list and the exchange for a registry token are calls; the
// refresh of an OAuth token is not. A request that is not sent because of a Limiter or a rate limit
// is not an attempt. f runs in the goroutine of the call, which it must not block, and may run for
// several calls concurrently. Its context is that of the call, so RouteFromContext returns the
// route.
func WithOnAttempt(f func(context.Context, Attempt)) Option {
	return func(c *config) error {
		c.onAttempt = f
		return nil
	}
}

// WithRootCAs trusts only the certificate authorities in pool. To add to those of the system, begin
// with x509.SystemCertPool. They apply to all addresses of the client: those of the API, of the
// registry and of OAuth tokens, and the targets of redirected downloads. The pool is copied, and
// the client has its own connections. With WithHTTPClient it needs an *http.Transport whose RootCAs
// are not set.
func WithRootCAs(pool *x509.CertPool) Option {
	return func(c *config) error {
		switch {
		case pool == nil:
			return &ValidationError{Option: "WithRootCAs", Reason: "the pool is nil"}
		case pool.Equal(x509.NewCertPool()):
			return &ValidationError{Option: "WithRootCAs", Reason: "the pool is empty: AppendCertsFromPEM reports whether it found a certificate"}
		}
		c.rootCAs, c.builder.transportChanged, c.builder.givenRootCAs = pool.Clone(), true, true
		return nil
	}
}

// openTransport returns the client's transport. The certificates of a caller's transport take
// precedence over those from a parent client or a CI job.
func (c *config) openTransport() (http.RoundTripper, error) {
	transport, err := newTransport(c.transport)
	if err != nil || c.rootCAs == nil {
		return transport, err
	}
	own, isTransport := transport.(*http.Transport)
	asked, reason := c.builder.givenRootCAs, "the transport of WithHTTPClient has its own RootCAs"
	switch {
	case !isTransport:
		reason = "the RoundTripper of WithHTTPClient is not an *http.Transport: set the certificates there"
	case own.DialTLSContext != nil || own.DialTLS != nil: //nolint:staticcheck // a caller's DialTLS is respected
		reason = "the transport of WithHTTPClient opens its TLS connections itself: set the certificates there"
	case own.TLSClientConfig.RootCAs == nil || asked && !c.builder.givenClient:
		own = own.Clone()
		own.TLSClientConfig.RootCAs = c.rootCAs
		return own, nil
	}
	if asked {
		return nil, &ValidationError{Option: "WithRootCAs", Reason: reason}
	}
	return transport, nil
}

// newTransport returns the shared transport for nil, a clone with the library's limits for an
// *http.Transport, and any other RoundTripper unchanged.
func newTransport(given http.RoundTripper) (http.RoundTripper, error) {
	if given != nil && isNil(given) {
		return nil, &ValidationError{Option: "WithHTTPClient", Reason: fmt.Sprintf("the Transport is a nil %T: omit it for the default", given)}
	}
	switch t := given.(type) {
	case nil:
		return conn.Shared(), nil
	case *http.Transport:
		if t.TLSClientConfig != nil && t.TLSClientConfig.InsecureSkipVerify {
			return nil, &ValidationError{Option: "WithHTTPClient", Reason: "the transport skips certificate checks: set TLSClientConfig.RootCAs to the server's authority"}
		}
		return conn.Transport(t), nil
	default:
		return t, nil
	}
}

// isJobServer reports whether the client's server is the one that runs the CI job.
func (c *config) isJobServer() bool {
	server, err := url.Parse(os.Getenv("CI_API_V4_URL"))
	return err == nil && sameOrigin(server, c.bases[apiBase])
}

// trustJobServer trusts the certificates that a CI job has for its server, in addition to the
// system's. An explicit WithRootCAs takes precedence.
func trustJobServer(c *config) error {
	file := os.Getenv(jobAuthorities)
	if file == "" || c.rootCAs != nil || !c.isJobServer() {
		return nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return &ValidationError{Option: jobAuthorities, Reason: "the file cannot be read: " + err.Error()}
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // as on a system without certificates
	}
	if !pool.AppendCertsFromPEM(pem) {
		return &ValidationError{Option: jobAuthorities, Reason: "the file has no certificate in PEM form: " + file}
	}
	c.rootCAs = pool
	return nil
}
