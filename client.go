package forge

import (
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"golang.org/x/oauth2"
)

// Version is the version of this library, sent in the User-Agent header.
const Version = "0.1.0"

// Client calls one server with one credential. Its fields are the services. A Client is safe for concurrent
// use, costs little to build, and never changes; With derives others from it.
type Client struct {
	// Registry manages container registries: repositories, tags and their deletion (Document 1 §4.1).
	Registry *RegistryService
	// RegistryNative calls the registry itself: tokens, manifests and the catalogue (Document 1 §4.1.2).
	RegistryNative *RegistryNativeService
	// ResourceGroups reads and sets how CI jobs share a resource (Document 1 §4.2).
	ResourceGroups *ResourceGroupsService
	// Repositories reads trees, files, archives, comparisons and changelogs (Document 1 §4.3).
	Repositories *RepositoriesService
	// SecureFiles keeps files for CI jobs, such as certificates (Document 1 §4.4).
	SecureFiles *SecureFilesService
	// ApprovalSettings reads and sets the rules of merge request approvals (Document 1 §4.5).
	ApprovalSettings *ApprovalSettingsService
	// Namespaces reads users' and groups' namespaces (Document 1 §4.6).
	Namespaces *NamespacesService
	// AuditEvents reads what was done by whom (Document 1 §4.7).
	AuditEvents *AuditEventsService
	// Issues lists issues, and works with subscriptions, to-dos and time tracking (Document 2 §4.1).
	Issues *IssuesService
	// MergeRequests lists merge requests, their dependencies and their versions (Document 2 §4.2).
	MergeRequests *MergeRequestsService
	// Users reads users (Document 2 §4.3).
	Users *UsersService
	// Emails manages users' e-mail addresses (Document 2 §4.4).
	Emails *EmailsService
	// Runners reads and changes CI runners (Document 2 §4.5).
	Runners *RunnersService
	// PlaceholderReassignments assigns imported contributions to users (Document 2 §4.6).
	PlaceholderReassignments *PlaceholderReassignmentsService
	// Settings reads and changes the instance's settings (Document 3 §4.1).
	Settings *SettingsService
	// Integrations sets up a group's integrations with other services (Document 3 §4.2).
	Integrations *IntegrationsService

	config    config
	transport http.RoundTripper
	guard     *guard // of the API's credential
	native    *guard // of the registry's
	stats     *counters
	bare      http.Header // of requests that are shown to the retry loop and not sent; always empty
	tokens    registryTokens

	offsetLists *offsetLists
}

// config is what the options set.
type config struct {
	bases      [4]*url.URL // by base
	credential func(http.RoundTripper) credential
	cred       credential // of the API
	basic      credential // of the registry's token endpoint
	transport  http.RoundTripper
	rootCAs    *x509.CertPool // nil: the transport's own
	userAgent  string
	log        callLog
	limiter    Limiter
	retry      RetryPolicy
	plainHTTP  bool
	strict     bool
	onRefresh  func(*oauth2.Token)
	onAttempt  func(context.Context, Attempt)
	limits     limits
	words      *words

	given                                    []string // the options of one set
	newCredential, newTransport, newRegistry bool
}

// Option configures a Client. In one NewClient or With there is at most one credential, and each option
// is given at most once, as the first would be lost: With replaces what a client has. Of WithRetry and
// WithUserAgent the last counts.
type Option func(*config) error

// Limiter holds a caller to a rate of its own; *rate.Limiter of golang.org/x/time/rate is one. Wait is called
// before every attempt, retries included.
type Limiter interface {
	// Wait returns when the attempt may be sent, or an error when it may not.
	Wait(ctx context.Context) error
}

// service gives the services their verbs.
type service struct{ client *Client }

// owner is the client; one that sends nothing where the service was not made by NewClient.
func (s service) owner() *Client {
	if s.client == nil {
		return &Client{tokens: newRegistryTokens()}
	}
	return s.client
}

// NewClient returns a client for the server at baseURL: https, with or without a path prefix, a trailing slash
// and /api/v4. Without a credential option it reads what is public. Plain http is accepted for loopback
// addresses, and elsewhere without a credential or with WithPlainHTTP. Nothing is sent.
func NewClient(baseURL string, options ...Option) (*Client, error) {
	api, err := parseBase("baseURL", baseURL)
	if err != nil {
		return nil, err
	}
	api.Path = strings.TrimSuffix(strings.TrimSuffix(api.Path, "/api/v4"), "/") + "/api/v4"
	cfg := config{
		bases:      [4]*url.URL{apiBase: api},
		credential: func(http.RoundTripper) credential { return noCredential() },
		basic:      noCredential(),
		userAgent:  "forge-go/" + Version,
		limits:     defaultLimits,
		log:        silence{},

		newCredential: true, newTransport: true, newRegistry: true,
	}
	return build(cfg, nil, options)
}

// NewClientFromEnv returns a client for FORGE_URL and FORGE_TOKEN or, in a CI job that sets neither, for
// CI_API_V4_URL and CI_JOB_TOKEN. The two pairs are never mixed. A job token reaches the registry of the
// job's project, and generates changelogs (Document 1 §5). For the server that runs the job, the
// certificates in CI_SERVER_TLS_CA_FILE are trusted besides the system's, unless WithRootCAs or the
// transport of WithHTTPClient say what to trust. A credential option is refused: derive a client with
// With, which keeps address and certificates.
func NewClientFromEnv(options ...Option) (*Client, error) {
	address, token := os.Getenv("FORGE_URL"), os.Getenv("FORGE_TOKEN")
	credential, missing := withFixedToken("FORGE_TOKEN", accessToken, tokenHeader, token), "FORGE_URL and FORGE_TOKEN go together: one of them is not set"
	if address == "" && token == "" {
		address, token = os.Getenv("CI_API_V4_URL"), os.Getenv("CI_JOB_TOKEN")
		credential, missing = withFixedToken("CI_JOB_TOKEN", jobToken, jobTokenHeader, token), "set FORGE_URL and FORGE_TOKEN, or run in a CI job that sets CI_API_V4_URL and CI_JOB_TOKEN"
	}
	if address == "" || token == "" {
		return nil, &ValidationError{Option: "environment", Reason: missing}
	}
	return NewClient(address, slices.Concat([]Option{credential}, options, []Option{trustJobServer})...)
}

// With returns a client that differs from c in the given options. It shares c's connections unless the
// transport or its certificates differ; the retry budget and the waits that the server has requested
// unless the credential differs, where the same token given again is the same credential, and a token
// source or an OAuth token given again is another; and the registry's tokens unless the registry or its
// credentials differ. c itself does not change.
func (c *Client) With(options ...Option) (*Client, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	cfg := c.config
	cfg.newCredential, cfg.newTransport, cfg.newRegistry = false, false, false
	return build(cfg, c, options)
}

// build applies the options and puts the client together.
func build(cfg config, parent *Client, options []Option) (*Client, error) {
	cfg.given, cfg.onRefresh = nil, nil
	for _, option := range options {
		if option == nil {
			continue
		}
		if err := option(&cfg); err != nil {
			return nil, err
		}
	}
	if cfg.onRefresh != nil && !slices.Contains(cfg.given, "WithOAuth") {
		return nil, &ValidationError{Option: "WithOnRefresh", Reason: "it needs WithOAuth in the same options: the client refreshes no other token"}
	}
	c := &Client{stats: new(counters), bare: http.Header{}, offsetLists: new(offsetLists)}
	if parent != nil {
		c.transport, c.stats, c.offsetLists = parent.transport, parent.stats, parent.offsetLists
	}
	if cfg.newTransport {
		transport, err := cfg.openTransport()
		if err != nil {
			return nil, err
		}
		c.transport = transport
	}
	if cfg.newCredential || cfg.newTransport {
		cfg.cred = cfg.credential(c.transport)
	}
	c.share(&cfg, parent)
	if (cfg.cred.kind != anonymous || cfg.basic.kind != anonymous) && !cfg.plainHTTP {
		for _, base := range cfg.bases {
			if base != nil && base.Scheme == "http" && !isLoopback(base.Hostname()) {
				return nil, &ValidationError{Option: "baseURL", Reason: "plain http would show the credential to everybody on the way: use https, or WithPlainHTTP"}
			}
		}
	}
	c.config = cfg
	c.connect()
	return c, nil
}

// share takes over what belongs to the parent's credentials, where they are the client's own too.
func (c *Client) share(cfg *config, parent *Client) {
	if parent != nil && (!cfg.newCredential || cfg.cred.same(parent.config.cred)) {
		c.guard = parent.guard
	} else {
		c.guard = newGuard()
	}
	if parent != nil && (!cfg.newRegistry || cfg.sameRegistry(&parent.config)) {
		c.native, c.tokens = parent.native, parent.tokens
	} else {
		c.native, c.tokens = newGuard(), newRegistryTokens()
	}
}

// sameRegistry reports whether both have the same registry, and the same credentials for it.
func (c *config) sameRegistry(other *config) bool {
	for _, b := range []base{registryBase, authBase} {
		one, two := c.bases[b], other.bases[b]
		if (one == nil) != (two == nil) || one != nil && one.String() != two.String() {
			return false
		}
	}
	return c.basic.same(other.basic)
}

// guardOf is the guard of the credential that requests to the address have.
func (c *Client) guardOf(b base) *guard {
	if b == registryBase || b == authBase {
		return c.native
	}
	return c.guard
}

// check refuses a Client that was not made by NewClient.
func (c *Client) check() error {
	if c == nil || c.config.bases[apiBase] == nil {
		return &ValidationError{Option: "Client", Reason: "it was not made by NewClient, NewClientFromEnv or With"}
	}
	return nil
}

// give notes an option. One that is given twice in one set is refused, and so is one that excludes an
// earlier one.
func (c *config) give(option string, excludes ...string) error {
	for _, earlier := range c.given {
		switch {
		case earlier == option:
			return &ValidationError{Option: option, Reason: "it is given twice, so the first would be lost: to replace an option, use With"}
		case slices.Contains(excludes, earlier):
			return &ValidationError{Option: option, Reason: earlier + " is given too, and a client has one credential: derive a client for the other with With"}
		}
	}
	c.given = append(c.given, option)
	return nil
}

// connect gives the services their client.
func (c *Client) connect() {
	s := service{c}
	c.Registry, c.RegistryNative = &RegistryService{s}, &RegistryNativeService{s}
	c.ResourceGroups, c.Repositories = &ResourceGroupsService{s}, &RepositoriesService{s}
	c.SecureFiles, c.ApprovalSettings = &SecureFilesService{s}, &ApprovalSettingsService{s}
	c.Namespaces, c.AuditEvents = &NamespacesService{s}, &AuditEventsService{s}
	c.Issues, c.MergeRequests = &IssuesService{s}, &MergeRequestsService{s}
	c.Users, c.Emails = &UsersService{s}, &EmailsService{s}
	c.Runners, c.PlaceholderReassignments = &RunnersService{s}, &PlaceholderReassignmentsService{s}
	c.Settings, c.Integrations = &SettingsService{s}, &IntegrationsService{s}
}

// CloseIdleConnections closes the connections that no call is using. Clients made without WithHTTPClient
// and WithRootCAs share their idle connections, so it affects all of these.
func (c *Client) CloseIdleConnections() {
	if c.check() != nil {
		return
	}
	if t, ok := c.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// String gives the address of the API. It keeps fmt out of the client's parts, which are in use.
func (c Client) String() string { return "forge.Client(" + c.BaseURL() + ")" }

// GoString is String, for %#v.
func (c Client) GoString() string { return c.String() }

// BaseURL returns the address of the API, /api/v4 included.
func (c *Client) BaseURL() string {
	if c.check() != nil {
		return ""
	}
	return c.config.bases[apiBase].String()
}

// Redact takes the client's credentials out of text that will be kept, such as a recorded exchange: the token it sends, of WithOAuth
// and WithTokenSource the latest, and what WithRegistryCredentials was given, as they are and as JSON and addresses write them. Of
// credentials shorter than 8 bytes no text is made unreadable.
func (c *Client) Redact(text string) string {
	if c.check() != nil {
		return text
	}
	return c.config.basic.scrub(c.config.cred.scrub(text))
}

// WithToken authenticates with a personal, project or group access token (Document 1 §5).
func WithToken(token string) Option {
	return withFixedToken("WithToken", accessToken, tokenHeader, token)
}

// WithJobToken authenticates with a CI job token, usually CI_JOB_TOKEN. It grants access to the container
// registry of the job's project, and to generating a changelog (Document 1 §5).
func WithJobToken(token string) Option {
	return withFixedToken("WithJobToken", jobToken, jobTokenHeader, token)
}

func withFixedToken(option string, kind credentialKind, header, token string) Option {
	return func(c *config) error {
		return firstError(
			c.use(option, nil, func(http.RoundTripper) credential { return fixedToken(kind, header, token) }),
			checkToken(option, token),
		)
	}
}

// use makes a credential the client's own; tokenURL is where it will be refreshed, if anywhere.
func (c *config) use(option string, tokenURL *url.URL, build func(http.RoundTripper) credential) error {
	c.bases[tokenBase], c.credential, c.newCredential = tokenURL, build, true
	return c.give(option, "WithToken", "WithJobToken", "WithOAuth", "WithTokenSource", "WithoutCredential", "FORGE_TOKEN", "CI_JOB_TOKEN")
}

// WithOAuth authenticates with an OAuth token that the client keeps and refreshes itself: before it expires, and
// once when the server refuses it. WithOnRefresh tells of new tokens.
func WithOAuth(oauth *oauth2.Config, token *oauth2.Token) Option {
	return func(c *config) error {
		switch {
		case oauth == nil || token == nil:
			return &ValidationError{Option: "WithOAuth", Reason: "it needs a config and a token"}
		case token.AccessToken == "" && token.RefreshToken == "":
			return &ValidationError{Option: "WithOAuth", Reason: "the token is empty"}
		case token.AccessToken != "" && checkToken("", token.AccessToken) != nil:
			return checkToken("WithOAuth", token.AccessToken)
		case !isTokenType(token.Type()):
			return &ValidationError{Option: "WithOAuth", Reason: "the token's type has bytes that no header can have"}
		}
		var endpoint *url.URL
		if token.RefreshToken != "" {
			var err error
			if endpoint, err = parseBase("WithOAuth", oauth.Endpoint.TokenURL); err != nil {
				return err
			}
		}
		ownToken := *token
		state := &oauthState{config: *oauth, current: &ownToken, saved: func(fresh *oauth2.Token) {
			if c.onRefresh != nil {
				c.onRefresh(fresh)
			}
		}}
		return c.use("WithOAuth", endpoint, state.credential)
	}
}

// WithOnRefresh is called with each token that the WithOAuth of the same options obtains, so that it can
// be stored. A token without an access token came with one that cannot be used: its refresh token is the
// one to keep. f must not call the client. Without WithOAuth in the same options it is refused.
func WithOnRefresh(f func(*oauth2.Token)) Option {
	return func(c *config) error {
		c.onRefresh = f
		return c.give("WithOnRefresh")
	}
}

// WithTokenSource authenticates with OAuth tokens from a source of the caller's, which is asked before each request.
// When the server refuses a token the source is asked again, and the call repeated if the token differs.
func WithTokenSource(source oauth2.TokenSource) Option {
	return func(c *config) error {
		if isNil(source) {
			return &ValidationError{Option: "WithTokenSource", Reason: "the source is nil"}
		}
		state := &sourceState{source: source}
		return c.use("WithTokenSource", nil, state.credential)
	}
}

// WithoutCredential calls without any credential; of use with With.
func WithoutCredential() Option {
	return func(c *config) error {
		return c.use("WithoutCredential", nil, func(http.RoundTripper) credential { return noCredential() })
	}
}

// WithHTTPClient takes over the Transport of h, for proxies, certificates and connection limits. An *http.Transport is cloned,
// and the library's limits are set on the clone. A Jar, Timeout or CheckRedirect is refused: cookies are never sent, contexts
// and HeaderTimeout set limits of time, and redirects follow the rules of the package.
func WithHTTPClient(h *http.Client) Option {
	return func(c *config) error {
		reason := ""
		switch {
		case h == nil:
			reason = "the client is nil"
		case h.Jar != nil:
			reason = "Jar is set: cookies are never sent; authenticate with WithToken"
		case h.Timeout != 0:
			reason = "Timeout is set: it would cut downloads; use a context, and HeaderTimeout for a call"
		case h.CheckRedirect != nil:
			reason = "CheckRedirect is set: redirects are followed by the package's own rules"
		}
		if reason != "" {
			return &ValidationError{Option: "WithHTTPClient", Reason: reason}
		}
		c.transport, c.newTransport = h.Transport, true
		return c.give("WithHTTPClient")
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

// WithLogger logs calls: each attempt at debug level, retries and waits at info, failures at warn. No record holds a
// credential, and of a query only values that are known to be harmless. A call's duration includes its waits for the Limiter and for the
// server. nil logs nothing.
func WithLogger(logger *slog.Logger) Option {
	return func(c *config) error {
		if c.log = (silence{}); logger != nil {
			c.log = journal{logger}
		}
		return c.give("WithLogger")
	}
}

// WithLimiter holds the client to a rate of the caller's choice; every attempt waits for it. nil is
// no limiter, and a nil pointer is refused.
func WithLimiter(limiter Limiter) Option {
	return func(c *config) error {
		if limiter != nil && isNil(limiter) {
			return &ValidationError{Option: "WithLimiter", Reason: fmt.Sprintf("the limiter is a nil %T", limiter)}
		}
		c.limiter = limiter
		return c.give("WithLimiter")
	}
}

// WithRetry sets the retry policy of all calls; the request option Retry sets it for one.
func WithRetry(policy RetryPolicy) Option {
	return func(c *config) error {
		c.retry = policy
		return policy.check("WithRetry")
	}
}

// WithPlainHTTP lets a credential travel over plain http to an address that is not loopback. Anybody on the way
// can read and use it.
func WithPlainHTTP() Option {
	return func(c *config) error {
		c.plainHTTP = true
		return nil
	}
}

// WithStrictDecoding makes every member that no field names, and every value of another type than the documented one, an
// error: for tests that watch a server's answers. Without it nothing of the kind fails a call; see Response.Mismatches and
// the Extra fields.
func WithStrictDecoding() Option {
	return func(c *config) error {
		c.strict = true
		return nil
	}
}

// WithRegistry sets the addresses of the container registry and of its token endpoint, for the registry-native
// calls (Document 1 §4.1.2). Credentials of the API never go there.
func WithRegistry(registryURL, authURL string) Option {
	return func(c *config) error {
		registry, err := parseBase("WithRegistry", registryURL)
		if err != nil {
			return err
		}
		auth, err := parseBase("WithRegistry", authURL)
		c.bases[registryBase], c.bases[authBase], c.newRegistry = registry, auth, true
		return firstError(err, c.give("WithRegistry"))
	}
}

// WithRegistryCredentials sets the user and password that registry tokens are obtained with: of a registry
// user, or gitlab-ci-token and CI_JOB_TOKEN in a job of such a server. They go to the token endpoint of
// WithRegistry, which may be given later with With, and nowhere else.
func WithRegistryCredentials(user, password string) Option {
	return func(c *config) error {
		switch {
		case user == "" || password == "":
			return &ValidationError{Option: "WithRegistryCredentials", Reason: "the user or the password is empty"}
		case strings.Contains(user, ":") || hasControl(user) || hasControl(password):
			return &ValidationError{Option: "WithRegistryCredentials", Reason: "the user has a colon, or one of them control bytes"}
		}
		c.basic, c.newRegistry = basic(user, password), true
		return c.give("WithRegistryCredentials")
	}
}
