package forge

import (
	"context"
	"crypto/x509"
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
	drift      *Drift

	// registryCredential is set with the registry's address: programs without one do not link it.
	registryCredential func(c *Client, scope RegistryScope) credential

	given                                    []string // the options of one set
	newCredential, newTransport, newRegistry bool
}

// Option configures a Client. In one NewClient or With there is at most one credential, and each
// option is given at most once, as the first would be lost: With replaces what a client has. Of
// WithRetry and WithUserAgent the last counts.
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

// NewClientFromEnv returns a client for FORGE_URL and FORGE_TOKEN or, in a CI job that sets
// neither, for CI_API_V4_URL and CI_JOB_TOKEN. The two pairs are never mixed. A job token reaches
// the registry of the job's project, and generates changelogs (Document 1 §5). For the server that
// runs the job, the certificates in CI_SERVER_TLS_CA_FILE are trusted besides the system's, unless
// WithRootCAs or the transport of WithHTTPClient say what to trust. A credential option is refused:
// derive a client with With, which keeps address and certificates.
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

// With returns a client that differs from c in the given options. It shares c's connections unless
// the transport or its certificates differ; the retry budget and the waits that the server has
// requested unless the credential differs, where the same token given again is the same credential,
// and a token source or an OAuth token given again is another; and the registry's tokens unless the
// registry or its credentials differ. c itself does not change.
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

// CloseIdleConnections closes the connections that no call is using. Clients made without
// WithHTTPClient and WithRootCAs share their idle connections, so it affects all of these.
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
